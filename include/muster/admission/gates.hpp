// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/problem/members.hpp>
#include <muster/vocabulary/answer.hpp>

namespace muster {
inline namespace v0_1 {

/// Returns the nearest closed queue, starting with the queue itself and going up; nullopt if all
/// are open. O(depth).
template<class Traits>
[[nodiscard]] std::optional<queue_index> closed_at(const cluster_state<Traits>& cluster,
                                                   queue_index queue) {
    for (std::optional<queue_index> at = queue; at; at = cluster[*at].parent)
        if (cluster[*at].spec.closed)
            return at;
    return std::nullopt;
}

/// True if the gang's queue accepts the gang: it exists, admits the gang's tenant, and it and all
/// queues above are open. A gang that already holds resources may complete in a closed queue. True
/// for a gang without a queue.
template<class Traits>
[[nodiscard]] bool queue_takes(const cluster_state<Traits>& cluster, gang_index which) {
    const auto& group = cluster[which];
    if (!group.queue)
        return true;
    const auto& queue = cluster[*group.queue];
    if (!queue.present || !queue.spec.tenants || !queue.spec.tenants->matches(group.spec.tenant))
        return false;
    return !closed_at(cluster, *group.queue) ||
           detail::any_of(group.members,
                          [&](pod_index member) { return cluster[member].charged(); });
}

/// Memory for `gate_before_search`.
struct gate_scratch {
    subtree_status status;
    detail::sequence<std::int64_t> placeable;
};

/// True if every waiting member that no node can take only waits for volumes. O(members).
template<class Traits>
[[nodiscard]] bool only_volumes_hold(const cluster_state<Traits>& cluster, gang_index which) {
    return detail::none_of(cluster[which].members, [&](pod_index member) {
        return cluster[member].placeable() && cluster.where(member).value.unsupported;
    });
}

/// Returns the first gate that stops the gang before any search, or `gate::none`. O(members).
template<class Traits>
[[nodiscard]] gate gate_before_search(const cluster_state<Traits>& cluster, gang_index which,
                                      const gang_members<Traits::width>& members,
                                      gate_scratch& scratch) {
    const auto& group = cluster[which];
    if (group.spec.fault != gang_fault::none)
        return gate::group;
    if (!reaches_minima(*members.tree, members.alive, scratch.status))
        return gate::members;
    // A gang without waiting members does not need its queue.
    if (members.alive == members.holding)
        return gate::none;
    if (!queue_takes(cluster, which))
        return gate::queue;
    if (!members.any_held())
        return gate::none;
    detail::sequence<std::int64_t>& placeable = scratch.placeable;
    placeable = members.alive;
    for (std::size_t at = 0; at < placeable.size(); ++at)
        placeable[at] -= members.unsupported[at];
    if (reaches_minima(*members.tree, placeable, scratch.status))
        return gate::none;
    return only_volumes_hold(cluster, which) ? gate::volumes : gate::unsupported;
}
template<class Traits>
[[nodiscard]] gate gate_before_search(const cluster_state<Traits>& cluster, gang_index which,
                                      const gang_members<Traits::width>& members) {
    gate_scratch scratch;
    return gate_before_search(cluster, which, members, scratch);
}

/// Returns the answer for a gang that a gate stops before any search.
[[nodiscard]] constexpr answer answer_at_gate(gang_fault fault) noexcept {
    return fault == gang_fault::malformed ? answer::never : answer::waiting;
}

} // namespace v0_1
} // namespace muster
