// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <muster/base/id.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/policy/victim_rule_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// How a rule sees a gang, apart from what depends on time or on the other side. O(1).
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

/// How long a gang of the queue `of` runs before more than its surplus may be had for one of `by`,
/// as its queues say: in its own queue the nearest above that says so, else from the one below
/// which both queues part. O(depth²).
template<class Traits>
[[nodiscard]] std::optional<std::int64_t> min_runtime_of(const cluster_state<Traits>& cluster,
                                                         std::optional<queue_index> of,
                                                         std::optional<queue_index> by) {
    const auto& queues = cluster.accounts().queues();
    const bool own = of == by;
    auto from = of;
    if (!own && by)
        for (auto at = of; at && !queues.within(*by, *at); at = queues.parent(*at))
            from = at;
    for (auto at = from; at; at = queues.parent(*at)) {
        const auto& spec = cluster[*at].spec;
        if (const auto& said = own ? spec.preempt_min_runtime : spec.reclaim_min_runtime)
            return said;
    }
    return std::nullopt;
}

/// How many queues are above both. O(depth²).
template<class Traits>
[[nodiscard]] std::int64_t queues_in_common(const cluster_state<Traits>& cluster,
                                            std::optional<queue_index> one,
                                            std::optional<queue_index> other) {
    const auto& queues = cluster.accounts().queues();
    std::int64_t count = 0;
    if (one && other)
        for (auto at = queues.parent(*one); at; at = queues.parent(*at))
            count += queues.within(*other, *at) ? 1 : 0;
    return count;
}

} // namespace v0_1
} // namespace muster
