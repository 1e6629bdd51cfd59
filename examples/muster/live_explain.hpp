// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <muster/base/id.hpp>
#include <muster/cycle/decision.hpp>

#include "group_lines.hpp"
#include "live_cluster.hpp"
#include "policy_options.hpp"
#include "report.hpp"

namespace cli {

/// Answers why groups of a live cluster wait, with the text of `muster explain`. Works on copies of
/// the scheduler's state, on the scheduler's thread. To be made anew for each turn of its loop: all
/// answers of one turn share one cycle and one number of tries, so that many requests do not hold
/// up the loop for longer than one.
///
/// A copy and its cycle take time in proportion to the nodes, pods and groups, so the number of
/// tries falls as they grow: `most_objects` divided by their number, but 1 to `most_tries`. A
/// large cluster gets a position and reasons, but few changes or none.
class live_explainer {
public:
    static constexpr std::int64_t most_objects = 50'000;
    static constexpr std::int64_t most_tries = 100;

    /// The cluster and its state must outlive the explainer, and not change meanwhile.
    live_explainer(const live_cluster& cluster, const live_state& known, const policy_options& how)
        : cluster_(&cluster), known_(&known), how_(&how) {}

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

    const live_cluster* cluster_;
    const live_state* known_;
    const policy_options* how_;
    std::optional<plan> next_;
    std::int64_t now_ = 0;
    std::int64_t tries_left_ = 0;
};

} // namespace cli
