// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <muster/base/id.hpp>
#include <muster/cycle/decision.hpp>

#include "../plan/group_lines.hpp"
#include "../plan/policy_options.hpp"
#include "../plan/report.hpp"
#include "live_cluster.hpp"

namespace cli {

/// Answers why groups of a live cluster wait, with the text of `muster explain`, from the
/// scheduler's state. Construct and call it once, in a forked copy of the process (live_forks.hpp):
/// it modifies the cluster's objects and may run for a minute.
class live_explainer {
public:
    /// The cluster and its state must outlive the explainer.
    live_explainer(live_cluster& cluster, const live_state& known, const policy_options& how)
        : cluster_(&cluster), known_(&known), how_(how) {
        // The last cycle may have been in a cluster with other devices.
        static_cast<void>(live_policy_source{cluster_, known_, &how_}());
    }

    /// Returns why each group of that name (NAMESPACE/NAME) waits, or nullopt if there is none.
    /// Several groups may have the name: a pod may have the same name as a group.
    [[nodiscard]] std::optional<std::string> operator()(const std::string& name);

private:
    /// The next cycle, made on a copy.
    struct plan {
        live_state state;
        muster::cycle_result result;
        std::map<muster::gang_index, const muster::decision*> decision_of{};
        std::map<muster::gang_index, queue_position> position_of{};
    };

    void look_ahead();
    [[nodiscard]] group_line line_of_gang(muster::gang_index which);
    void find_changes(muster::gang_index which, group_line& line);

    live_cluster* cluster_;
    const live_state* known_;
    policy_options how_;
    std::optional<plan> next_;
    std::int64_t now_ = 0;
};

} // namespace cli
