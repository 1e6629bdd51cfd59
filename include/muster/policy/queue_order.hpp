// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <muster/policy/queue_order_concept.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Returns the share divided by the queue's weight.
[[nodiscard]] constexpr share weighed(const share& what, const queue_rank& queue) noexcept {
    return {what.used, what.total * queue.weight};
}

} // namespace detail

/// Orders by priority, the highest first, then by dominant share of the quota, the smallest first.
struct priority_then_share {
    [[nodiscard]] constexpr bool operator()(const queue_rank& lhs,
                                            const queue_rank& rhs) const noexcept {
        if (lhs.priority != rhs.priority)
            return lhs.priority > rhs.priority;
        return lhs.dominant < rhs.dominant;
    }
};

/// Weighted dominant resource fairness: orders by dominant share of the cluster divided by weight,
/// the smallest first, level by level in the tree (Volcano's drf with hierarchy, KAI beyond
/// quotas). The use of an inner queue includes all queues below it. A queue with weight 0 that uses
/// resources comes after all queues with a positive weight.
struct weighted_share {
    [[nodiscard]] constexpr bool operator()(const queue_rank& lhs,
                                            const queue_rank& rhs) const noexcept {
        return detail::weighed(lhs.of_cluster, lhs) < detail::weighed(rhs.of_cluster, rhs);
    }
};

/// Time-based fair share (KAI's usage history, Kueue's AdmissionFairSharing): orders by past use
/// divided by weight, the smallest first, then by `weighted_share`. A queue with high recent use
/// comes after others even if it uses nothing now.
struct least_past_use {
    [[nodiscard]] constexpr bool operator()(const queue_rank& lhs,
                                            const queue_rank& rhs) const noexcept {
        const share left = detail::weighed(lhs.of_past, lhs);
        const share right = detail::weighed(rhs.of_past, rhs);
        return left < right || (!(right < left) && weighted_share{}(lhs, rhs));
    }
};

/// Queues within their deserved amounts precede queues that borrow; then by share of the deserved
/// amount, the smallest first (Volcano's proportion and capacity).
struct deserved_first {
    [[nodiscard]] constexpr bool operator()(const queue_rank& lhs,
                                            const queue_rank& rhs) const noexcept {
        if (lhs.borrowing != rhs.borrowing)
            return rhs.borrowing;
        return lhs.of_deserved < rhs.of_deserved;
    }
};

/// Queues that stay within their deserved amounts with their next gang precede queues that would
/// borrow for it; then by that gang's priority, then by its age (Kueue).
struct borrowing_last {
    static constexpr bool counts_next_gang = true;

    [[nodiscard]] constexpr bool operator()(const queue_rank& lhs,
                                            const queue_rank& rhs) const noexcept {
        if (lhs.borrowing != rhs.borrowing)
            return rhs.borrowing;
        if (lhs.next_priority != rhs.next_priority)
            return lhs.next_priority > rhs.next_priority;
        return lhs.next_created < rhs.next_created;
    }
};

/// Orders by the priority of the next gang, the highest first, then by its age, the oldest first.
/// The use of queues does not count, so this is one order of all gangs (YuniKorn's fifo).
struct next_gang_first {
    static constexpr bool counts_next_gang = true;

    [[nodiscard]] constexpr bool operator()(const queue_rank& lhs,
                                            const queue_rank& rhs) const noexcept {
        if (lhs.next_priority != rhs.next_priority)
            return lhs.next_priority > rhs.next_priority;
        return lhs.next_created < rhs.next_created;
    }
};

/// KAI's order. Queues within their fair share come first; then queues within their deserved
/// amounts; then the higher priority; then the smaller share of the amount due, with the next gang
/// and then without it; then the smaller amount due.
struct fair_share_first {
    static constexpr bool by_fair_share = true;
    static constexpr bool counts_next_gang = true;

    [[nodiscard]] constexpr bool operator()(const queue_rank& lhs,
                                            const queue_rank& rhs) const noexcept {
        if (lhs.over_fair_share != rhs.over_fair_share)
            return rhs.over_fair_share;
        if (lhs.borrowing != rhs.borrowing)
            return rhs.borrowing;
        if (lhs.priority != rhs.priority)
            return lhs.priority > rhs.priority;
        if (lhs.of_due != rhs.of_due)
            return lhs.of_due < rhs.of_due;
        if (lhs.of_due_now != rhs.of_due_now)
            return lhs.of_due_now < rhs.of_due_now;
        return lhs.due_of_cluster < rhs.due_of_cluster;
    }
};

/// Orders by priority, the highest first, then by share of the amount due, the smallest first
/// (Volcano when deserved amounts result from weights).
struct priority_then_due {
    static constexpr bool by_fair_share = true;

    [[nodiscard]] constexpr bool operator()(const queue_rank& lhs,
                                            const queue_rank& rhs) const noexcept {
        if (lhs.priority != rhs.priority)
            return lhs.priority > rhs.priority;
        return lhs.of_due < rhs.of_due;
    }
};

static_assert(counts_next_gang<fair_share_first> && queue_order<fair_share_first> &&
              queue_order<priority_then_due> && by_fair_share<fair_share_first> &&
              !by_fair_share<priority_then_share>);
static_assert(queue_order<priority_then_share> && queue_order<weighted_share> &&
              queue_order<deserved_first> && queue_order<least_past_use> &&
              queue_order<borrowing_last> && counts_next_gang<borrowing_last>);
static_assert(!queue_order<int>);

} // namespace v0_1
} // namespace muster
