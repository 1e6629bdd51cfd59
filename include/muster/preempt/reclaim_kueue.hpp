// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include <muster/base/id.hpp>
#include <muster/preempt/queue_use.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Returns true if, after `gone` was evicted, the victim's queues below the meeting queue still use
/// at least what they deserve of each evicted kind. O(depth² + depth × width).
template<class Traits>
[[nodiscard]] bool keep_deserved(const queue_use<Traits>& use, queue_index from,
                                 const resources<Traits::width>& gone) {
    bool kept = true;
    use.each_below_common_ancestor(from, [&](queue_index at) {
        for (std::size_t column = 0; kept && column < Traits::width; ++column)
            if (const auto keeps = use.deserved(at)[kind_id{column}]; keeps && gone[column] > 0)
                kept = use.used(at)[column] >= *keeps;
        return kept;
    });
    return kept;
}

/// Checks `reclaim_rule::kueue` or, with `may_borrow`, `reclaim_rule::kueue_borrowing`. O(depth² +
/// depth × width).
template<class Traits>
[[nodiscard]] bool kueue_reclaims(const queue_use<Traits>& use, queue_index from,
                                  const resources<Traits::width>& last, bool may_borrow) {
    const std::optional<queue_index> top = use.top_of(from);
    if (!top || !use.was_above(*top, last, false))
        return false;
    if (may_borrow && keep_deserved(use, from, last))
        return true;
    const auto* own = use.own_top(from);
    return own && own->within_deserved;
}

} // namespace detail
} // namespace v0_1
} // namespace muster
