// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <muster/admission/gates.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/explain/missing_members.hpp>
#include <muster/problem/members.hpp>
#include <muster/vocabulary/answer.hpp>
#include <muster/vocabulary/gang.hpp>
#include <muster/vocabulary/reason.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Returns the reason for which a gate before the search stopped the gang.
template<class Traits>
[[nodiscard]] reason gate_reason(const cluster_state<Traits>& cluster, gang_index which,
                                 const gang_members<Traits::width>& members, gate at) {
    const auto& group = cluster[which];
    reason made;
    made.queue = group.queue;
    switch (at) {
    case gate::group:
        made.code = group.spec.fault == gang_fault::missing     ? reason_code::group_missing
                    : group.spec.fault == gang_fault::malformed ? reason_code::group_malformed
                                                                : reason_code::members_disagree;
        break;
    case gate::members:
    case gate::unsupported:
    case gate::volumes: {
        made.code = at == gate::members   ? reason_code::not_enough_members
                    : at == gate::volumes ? reason_code::volume_not_ready
                                          : reason_code::unsupported_constraint;
        detail::sequence<std::int64_t> counts = members.alive;
        if (at != gate::members)
            for (std::size_t role = 0; role < counts.size(); ++role)
                counts[role] -= members.unsupported[role];
        // Each minimum is checked separately: members of a role below its minimum still count for
        // the minimum of the group.
        const gang_tree& tree = *members.tree;
        counts = members_below(tree, counts);
        const detail::sequence<std::int64_t> held = members_below(tree, members.holding);
        for (std::size_t vertex = 0; vertex < tree.size(); ++vertex) {
            if (counts[vertex] >= tree[vertex].min_member)
                continue;
            const std::int64_t placed = at == gate::members ? 0 : held[vertex];
            made.roles.push_back({vertex_index{vertex}, tree[vertex].min_member - placed, placed,
                                  counts[vertex] - placed});
        }
        break;
    }
    case gate::queue: {
        const auto& queue = cluster[*group.queue];
        made.code = !queue.present ? reason_code::queue_unknown
                    : !queue.spec.tenants || !queue.spec.tenants->matches(group.spec.tenant)
                        ? reason_code::queue_forbidden
                        : reason_code::queue_closed;
        if (made.code == reason_code::queue_closed)
            made.queue = closed_at(cluster, *group.queue);
        break;
    }
    default:
        made.code = reason_code::behind_in_queue;
    }
    return made;
}

} // namespace detail
} // namespace v0_1
} // namespace muster
