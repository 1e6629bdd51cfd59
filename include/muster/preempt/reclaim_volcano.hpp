// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/preempt/queue_use.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Returns true if, before `last` was evicted, the queue used more of some kind than it deserves,
/// and more of every kind that `last` has and of which the queue deserves any. The number of pods
/// is exempt from the latter. O(width).
template<class Traits>
[[nodiscard]] bool was_above_in_all(const queue_use<Traits>& use, queue_index queue,
                                    const resources<Traits::width>& last) {
    bool any = false;
    for (std::size_t column = 0; column < Traits::width; ++column) {
        const auto keeps = use.deserved(queue)[kind_id{column}];
        if (!keeps)
            continue;
        const bool more = saturating_add(use.used(queue)[column], last[column]) > *keeps;
        any = any || more;
        if (!more && *keeps > 0 && last[column] > 0 && kind_id{column} != use.cluster().pods_kind())
            return false;
    }
    return any;
}
/// Returns true if the queue deserves some of a kind that the gang requests. O(width).
template<class Traits>
[[nodiscard]] bool deserves_some(const queue_use<Traits>& use, queue_index queue) {
    for (std::size_t column = 0; column < Traits::width; ++column)
        if (const auto top = use.deserved(queue)[kind_id{column}];
            top && *top > 0 && use.asked()[column] > 0 &&
            kind_id{column} != use.cluster().pods_kind())
            return true;
    return false;
}
/// Returns true if, with the gang, the queue uses no more than it deserves of some kind that the
/// gang requests. O(width).
template<class Traits>
[[nodiscard]] bool within_some(const queue_use<Traits>& use, queue_index queue) {
    for (std::size_t column = 0; column < Traits::width; ++column)
        if (const auto top = use.deserved(queue)[kind_id{column}];
            top && use.asked()[column] > 0 &&
            saturating_add(use.used(queue)[column], use.asked()[column]) <= *top)
            return true;
    return false;
}

/// Checks `reclaim_rule::volcano`. `levels` levels of ancestors count on both sides. On the gang's
/// side, one of them may stay within what it deserves instead of the gang's queue. On the other
/// side, each must be above what it deserves, as the victim's queue must, unless it is above the
/// gang's queue too. If one of the levels is above both queues, and neither queue deserves any kind
/// that the gang requests, nothing is reclaimed. The root queue does not count. O(depth² + depth ×
/// width).
template<class Traits>
[[nodiscard]] bool volcano_reclaims(const queue_use<Traits>& use, queue_index from,
                                    const resources<Traits::width>& last, std::int64_t levels) {
    const auto& own = use.own();
    if (use.is_above_gang(from) || own.empty() || !was_above_in_all(use, from, last))
        return false;
    const auto& queues = use.cluster().accounts().queues();
    const bool deserves = deserves_some(use, own.front().queue) || deserves_some(use, from);
    bool within = within_some(use, own.front().queue);
    for (std::size_t level = 1;
         level + 1 < own.size() && static_cast<std::int64_t>(level) <= levels; ++level) {
        within = within || within_some(use, own[level].queue);
        if (!deserves && queues.within(from, own[level].queue))
            return false;
    }
    std::optional<queue_index> above = queues.parent(from);
    for (std::int64_t level = 1; within && level <= levels && above && queues.parent(*above);
         ++level, above = queues.parent(*above))
        within = use.is_above_gang(*above) || was_above_in_all(use, *above, last);
    return within;
}

} // namespace detail
} // namespace v0_1
} // namespace muster
