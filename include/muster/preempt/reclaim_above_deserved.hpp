// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <muster/base/id.hpp>
#include <muster/preempt/queue_use.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Returns true if the gang's queues below the meeting queue stay within what they deserve.
template<class Traits>
[[nodiscard]] bool own_stays_within(const queue_use<Traits>& use, queue_index other) {
    for (const auto& own_entry : use.own()) {
        if (use.cluster().accounts().queues().within(other, own_entry.queue))
            return true;
        if (!own_entry.within_deserved)
            return false;
    }
    return true;
}

/// Checks `reclaim_rule::above_deserved` after `gone` was evicted from the queue. O(depth² + depth
/// × width).
template<class Traits>
[[nodiscard]] bool reclaims_above_deserved(const queue_use<Traits>& use, queue_index from,
                                           const resources<Traits::width>& gone) {
    if (use.is_above_gang(from) || !own_stays_within(use, from))
        return false;
    bool admitted = true;
    use.each_below_common_ancestor(from, [&](queue_index at) {
        bool any = false;
        for (std::size_t column = 0; admitted && column < Traits::width; ++column) {
            const auto keeps = use.deserved(at)[kind_id{column}];
            if (!keeps || gone[column] == 0)
                continue;
            any = true;
            admitted = use.used(at)[column] >= *keeps;
        }
        admitted = admitted && any;
        return admitted;
    });
    return admitted;
}

/// Returns the most that the rule allows to evict from the queue and its descendants. O(depth² +
/// depth × width).
template<class Traits>
[[nodiscard]] resources<Traits::width> most_above_deserved(const queue_use<Traits>& use,
                                                           queue_index from) {
    if (!own_stays_within(use, from))
        return {};
    resources<Traits::width> most = greater(use.used(from), {});
    use.each_below_common_ancestor(from, [&](queue_index at) {
        for (std::size_t column = 0; column < Traits::width; ++column)
            if (const auto keeps = use.deserved(at)[kind_id{column}])
                most[column] = std::min(most[column],
                                        std::max<std::int64_t>(0, use.used(at)[column] - *keeps));
        return true;
    });
    return most;
}

} // namespace detail
} // namespace v0_1
} // namespace muster
