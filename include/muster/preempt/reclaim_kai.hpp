// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/preempt/queue_use.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Returns false if, for a kind that the gang requests or that is evicted, the gang's queue would
/// exceed its fair share and use as large a part of its fair share as the other queue does of its
/// own. O(width).
template<class Traits>
[[nodiscard]] bool keeps_smaller_part(const queue_use<Traits>& use, queue_index own,
                                      queue_index other, const resources<Traits::width>& last) {
    const auto* due = use.fair_shares();
    for (std::size_t column = 0; due && column < Traits::width; ++column) {
        const kind_id kind{column};
        if ((use.asked()[column] == 0 && last[column] == 0) || !use.deserved(own)[kind] ||
            !use.deserved(other)[kind])
            continue;
        const int128 used = int128{use.used(own)[column]} + use.asked()[column];
        const int128 own_due = (*due)[own.value()][kind];
        const int128 other_due = (*due)[other.value()][kind];
        if (used > own_due && other_due > 0 &&
            saturate(used) * other_due >= use.used(other)[column] * own_due)
            return false;
    }
    return true;
}

/// Checks `reclaim_rule::kai` or, with `fair`, `reclaim_rule::kai_fair_share`. O(depth² + width).
template<class Traits>
[[nodiscard]] bool kai_reclaims(const queue_use<Traits>& use, queue_index from,
                                const resources<Traits::width>& last, bool fair) {
    const std::optional<queue_index> top = use.top_of(from);
    const auto* own = use.own_top(from);
    if (!top || !own)
        return false;
    const bool deserves = own->within_deserved && use.was_above(*top, last, false);
    if (!fair)
        return deserves;
    return (deserves || use.was_above(*top, last, true)) &&
           keeps_smaller_part(use, own->queue, *top, last);
}

} // namespace detail
} // namespace v0_1
} // namespace muster
