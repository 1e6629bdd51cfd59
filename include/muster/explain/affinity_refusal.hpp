// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/greedy/affinity_board.hpp>
#include <muster/index/any_score.hpp>
#include <muster/plan/plan.hpp>
#include <muster/problem/affinity_counts.hpp>
#include <muster/problem/affinity_members.hpp>
#include <muster/problem/members.hpp>

namespace muster {
inline namespace v0_1 {

/// A member that finds no node, and for each node the pod term that excludes the node.
struct affinity_refusal {
    struct place {
        node_index node;
        affinity_violation why = affinity_violation::none;
        /// The topology label of the term.
        std::string topology;
    };

    pod_index pod;
    /// Index of the member's class in `gang_members`.
    std::size_t member_class = 0;
    /// All present nodes in the order of keys, including those that no term excludes.
    detail::sequence<place> nodes;
};

/// True if pod terms may exclude nodes for waiting members of the gang.
template<class Traits>
[[nodiscard]] bool terms_bear_on(const cluster_state<Traits>& cluster,
                                 const gang_members<Traits::width>& members) {
    return detail::affinity_effect_on(cluster, members) == detail::affinity_effect::required;
}

/// Places members in the order of turns, as for a gang without a minimum, and returns the first
/// member that finds no node; nullopt if all find one. With `by_terms`, passes over members for
/// which no term excludes a node. The members placed before stay in `into`. Precondition: `into` is
/// a plan on a copy of the state's accounts.
template<class Traits>
[[nodiscard]] std::optional<affinity_refusal>
first_refusal(const cluster_state<Traits>& cluster, const gang_members<Traits::width>& members,
              plan<Traits::width>& into, const any_score<Traits::width>& score,
              bool by_terms = false) {
    detail::affinity_board board(cluster, members, into, score);
    detail::sequence<std::size_t> used(board.members().classes.size(), 0);
    for (std::size_t turn = 0; turn < board.members().turns.size(); ++turn) {
        const std::size_t of_class = board.members().turns[turn];
        const auto& from = board.members().classes[of_class];
        const pod_index pod = from.pods[used[of_class]++];
        if (board.place(of_class, 1, true) > 0)
            continue;
        bool stopped = false;
        affinity_refusal found;
        found.pod = pod;
        found.member_class = static_cast<std::size_t>(from.shape - members.classes.data());
        for (const node_index node : cluster.node_order()) {
            if (!cluster[node].present)
                continue;
            const detail::violated_affinity what = board.counts().violation_on(of_class, node);
            stopped = stopped || what.kind != affinity_violation::none;
            found.nodes.push_back(
                {node, what.kind, what.by ? what.by->value().levels.front() : std::string()});
        }
        if (stopped || !by_terms)
            return found;
    }
    return std::nullopt;
}

} // namespace v0_1
} // namespace muster
