// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/base/id.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/policy/victim_rule_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// Returns a gang as rules see it, without the fields that depend on time or on the other gang.
/// O(1).
template<class Traits>
[[nodiscard]] gang_view gang_view_of(const cluster_state<Traits>& cluster, gang_index which) {
    const auto& group = cluster[which];
    gang_view side;
    side.queue = group.queue;
    if (group.queue) {
        const auto& queue = cluster[*group.queue];
        side.queue_priority = queue.spec.priority;
        side.queue_preemptible = queue.present && queue.spec.preemptible;
        side.within_queue = queue.spec.within_queue;
        side.within_cohort = queue.spec.within_cohort;
        side.borrow_within_cohort = queue.spec.borrow_within_cohort;
    }
    side.preemptible = group.spec.preemptible;
    side.priority = group.spec.priority;
    side.created = group.spec.created;
    return side;
}

/// Returns how long a gang of the queue `victim_queue` must run before more than its surplus may be
/// evicted for a gang of `starting_queue`. If both are the same queue, the nearest setting at or
/// above it applies; otherwise the search starts at the child of their lowest common ancestor on
/// the victim's side. Nothing if no queue has the setting. O(depth²).
template<class Traits>
[[nodiscard]] std::optional<std::int64_t>
min_runtime_of(const cluster_state<Traits>& cluster, std::optional<queue_index> victim_queue,
               std::optional<queue_index> starting_queue) {
    const auto& queues = cluster.accounts().queues();
    const bool own = victim_queue == starting_queue;
    auto from = victim_queue;
    if (!own && starting_queue)
        for (auto at = victim_queue; at && !queues.within(*starting_queue, *at);
             at = queues.parent(*at))
            from = at;
    for (auto at = from; at; at = queues.parent(*at)) {
        const auto& spec = cluster[*at].spec;
        if (const auto& said = own ? spec.preempt_min_runtime : spec.reclaim_min_runtime)
            return said;
    }
    return std::nullopt;
}

/// Returns the number of common ancestors of the two queues. O(depth²).
template<class Traits>
[[nodiscard]] std::int64_t queues_in_common(const cluster_state<Traits>& cluster,
                                            std::optional<queue_index> first,
                                            std::optional<queue_index> other) {
    const auto& queues = cluster.accounts().queues();
    std::int64_t count = 0;
    if (first && other)
        for (auto at = queues.parent(*first); at; at = queues.parent(*at))
            count += queues.within(*other, *at) ? 1 : 0;
    return count;
}

} // namespace v0_1
} // namespace muster
