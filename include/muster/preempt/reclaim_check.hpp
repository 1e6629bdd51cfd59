// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <muster/base/id.hpp>
#include <muster/policy/victim_rule_concept.hpp>
#include <muster/preempt/queue_use.hpp>
#include <muster/preempt/reclaim_above_deserved.hpp>
#include <muster/preempt/reclaim_kai.hpp>
#include <muster/preempt/reclaim_kueue.hpp>
#include <muster/preempt/reclaim_volcano.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Returns true if the rule checks the last unit that is evicted from a queue, and not each pod.
[[nodiscard]] constexpr bool checks_last_unit(reclaim_rule rule) noexcept {
    return rule != reclaim_rule::none && rule != reclaim_rule::above_deserved;
}

/// Returns true if the terms allow to evict `last` from the queue as the last unit. O(depth² +
/// depth × width).
template<class Traits>
[[nodiscard]] bool may_reclaim(const queue_use<Traits>& use, queue_index from,
                               const resources<Traits::width>& last, const victim_terms& terms) {
    switch (terms.reclaim) {
    case reclaim_rule::none:
        break;
    case reclaim_rule::above_deserved:
        return reclaims_above_deserved(use, from, last);
    case reclaim_rule::kai:
    case reclaim_rule::kai_fair_share:
        return kai_reclaims(use, from, last, terms.reclaim == reclaim_rule::kai_fair_share);
    case reclaim_rule::volcano:
        return volcano_reclaims(use, from, last, terms.ancestor_levels);
    case reclaim_rule::kueue:
    case reclaim_rule::kueue_borrowing:
        return kueue_reclaims(use, from, last, terms.reclaim == reclaim_rule::kueue_borrowing);
    }
    return true;
}

/// Returns the most that may be reclaimed from the queue and its descendants. O(depth² + depth ×
/// width).
template<class Traits>
[[nodiscard]] resources<Traits::width> most_reclaimed(const queue_use<Traits>& use,
                                                      queue_index from, reclaim_rule rule) {
    if (!checks_last_unit(rule))
        return most_above_deserved(use, from);
    // Reclaiming from other queues may later bring the gang's own queues within their shares, so
    // all of the use counts.
    return use.is_above_gang(from) ? resources<Traits::width>{} : use.used(from);
}

} // namespace detail
} // namespace v0_1
} // namespace muster
