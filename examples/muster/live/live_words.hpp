// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include <muster/apis/core/volumes/volume_words.hpp>
#include <muster/base/id.hpp>
#include <muster/explain/explain.hpp>
#include <muster/vocabulary/answer.hpp>
#include <muster/vocabulary/reason.hpp>
#include <muster/words/node_filter_text.hpp>

#include "live_cluster.hpp"

namespace cli {

/// What `reason_lines` asks of a group of a live cluster.
struct live_facts {
    const live_cluster* cluster = nullptr;
    muster::codec::group_key key;
    std::string queue_name;
    /// The member to which the facts are restricted; null = all members.
    const muster::codec::object_key* only = nullptr;

    [[nodiscard]] std::string detail(muster::reason_code why) const;
    [[nodiscard]] std::set<std::string> gates() const;
    [[nodiscard]] muster::codec::volumes_of_pods volumes() const;
    [[nodiscard]] const muster::codec::volume_plan& volume_plan() const;
    [[nodiscard]] const std::string& queue() const { return queue_name; }
    template<class Write>
    [[nodiscard]] std::string filter_text(const muster::words::node_filter_key&,
                                          const Write& write) const {
        return write();
    }
};

/// Returns the options of the search for reasons on a live cluster, for a gang with this answer.
[[nodiscard]] muster::explain_options explain_options_of(const live_cluster& cluster,
                                                         muster::answer last);

/// Why a gang of a live cluster waits, in one line: that with which `muster explain` begins.
struct live_words {
    const live_cluster* cluster = nullptr;
    const policy_options* how = nullptr;

    [[nodiscard]] std::string operator()(const live_state& known, muster::gang_index which) const;
};

} // namespace cli
