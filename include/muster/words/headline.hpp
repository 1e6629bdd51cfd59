// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <muster/base/ranges.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/problem/members.hpp>
#include <muster/resource/kind_table.hpp>
#include <muster/resource/storage_kinds.hpp>
#include <muster/vocabulary/answer.hpp>
#include <muster/vocabulary/reason.hpp>
#include <muster/words/node_refusal.hpp>
#include <muster/words/reason_name.hpp>
#include <muster/words/refusal_counts.hpp>
#include <muster/words/told_reason.hpp>

namespace muster {
inline namespace v0_1 {
namespace words {
namespace detail {

/// True if the reason is about volumes, which the counts of nodes do not name.
[[nodiscard]] inline bool names_claims(const told_reason& why) {
    return why.code == name_of(reason_code::volume_out_of_reach) || why.code == volume_in_use ||
           (why.code == name_of(reason_code::insufficient_resource) && why.resource &&
            (storage_kinds::counts_storage(*why.resource) ||
             !storage_kinds::driver_in(*why.resource).empty()));
}

} // namespace detail

/// Returns why the gang waits, in one line with the messages of kube-scheduler: "0/3 nodes are
/// available: 2 Insufficient cpu, 1 node(s) were unschedulable." The members are placed one by one,
/// and the numbers are those of the first member that finds no node. The texts of reasons about
/// volumes follow. If all members find nodes, or if a quota is exceeded, the text of the first
/// reason follows instead. If the gang was stopped before nodes were tried, there are no numbers,
/// only the text of the first reason.
///
/// `at`: the gate that stopped the gang. `why`: its reasons. `score`: orders the nodes, as in the
/// cycle. O(members × nodes).
template<class Traits, class Score>
[[nodiscard]] std::string headline(const cluster_state<Traits>& cluster, const kind_table& kinds,
                                   const gang_members<Traits::width>& members, gate at,
                                   const Score& score, const std::vector<told_reason>& why) {
    std::size_t nodes = 0;
    for (const node_index node : cluster.node_order())
        nodes += cluster[node].present ? 1U : 0U;
    std::map<std::string, std::size_t> counts;
    bool nodes_alone = false;
    if (at == gate::space || at == gate::quota) {
        counts = detail::node_refusals(cluster, kinds, members, score);
        nodes_alone = at == gate::space && !counts.empty();
        if (counts.empty())
            counts = detail::node_refusals_of_gang(cluster, kinds, members, why);
    }
    std::string listed;
    const bool aligns =
        muster::detail::any_of(why, [](const told_reason& each) { return each.is_about_zones; });
    for (const auto& [text, count] : counts)
        listed += (listed.empty() ? "" : ", ") + std::to_string(count) + " " +
                  (aligns && text == detail::devices_taken_text ? "cannot align pod" : text);
    // The counts of nodes do not name the claim, so the reason is added.
    for (const told_reason& each : why)
        if (nodes_alone ? detail::names_claims(each) : &each == &why.front())
            listed += (listed.empty() ? "" : ". ") + each.message;
    return "0/" + std::to_string(nodes) + " nodes are available: " + listed + ".";
}

} // namespace words
} // namespace v0_1
} // namespace muster
