// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <muster/policy/queue_order_concept.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// A share for the queue's weight.
[[nodiscard]] constexpr share weighed(const share& what, const queue_rank& of) noexcept {
    return {what.used, what.total * of.weight};
}

} // namespace detail

/// The higher priority first, then the smaller dominant share.
struct priority_then_share {
    [[nodiscard]] constexpr bool operator()(const queue_rank& lhs,
                                            const queue_rank& rhs) const noexcept {
        if (lhs.priority != rhs.priority)
            return lhs.priority > rhs.priority;
        return lhs.dominant < rhs.dominant;
    }
};

/// The smaller dominant share of the cluster for its weight first (weighted dominant resource
/// fairness; level by level in a tree: Volcano's drf with hierarchy, KAI beyond quotas). The share
/// of an inner queue is that of all that is used below it. Of two that use something, one of weight
/// 0 goes last.
struct weighted_share {
    [[nodiscard]] constexpr bool operator()(const queue_rank& lhs,
                                            const queue_rank& rhs) const noexcept {
        return detail::weighed(lhs.of_cluster, lhs) < detail::weighed(rhs.of_cluster, rhs);
    }
};

/// The smaller past use for its weight first, then as `weighted_share` (time-based fair share:
/// KAI's usage history, Kueue's AdmissionFairSharing). A queue with much recent use comes after
/// others even if it uses nothing now.
struct least_past_use {
    [[nodiscard]] constexpr bool operator()(const queue_rank& lhs,
                                            const queue_rank& rhs) const noexcept {
        const share left = detail::weighed(lhs.of_past, lhs);
        const share right = detail::weighed(rhs.of_past, rhs);
        return left < right || (!(right < left) && weighted_share{}(lhs, rhs));
    }
};

/// Queues that use no more than they deserve before those that borrow, then the smaller share of
/// what is deserved (Volcano's proportion and capacity).
struct deserved_first {
    [[nodiscard]] constexpr bool operator()(const queue_rank& lhs,
                                            const queue_rank& rhs) const noexcept {
        if (lhs.borrowing != rhs.borrowing)
            return rhs.borrowing;
        return lhs.of_deserved < rhs.of_deserved;
    }
};

/// Queues that stay within what they deserve with their next gang before those that would borrow
/// for it, then that gang's priority, then its age (Kueue).
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

/// The queue whose next gang has the highest priority first, then the one whose next gang is the
/// oldest, whatever the queues use: one order of all gangs (YuniKorn's fifo).
struct next_gang_first {
    static constexpr bool counts_next_gang = true;

    [[nodiscard]] constexpr bool operator()(const queue_rank& lhs,
                                            const queue_rank& rhs) const noexcept {
        if (lhs.next_priority != rhs.next_priority)
            return lhs.next_priority > rhs.next_priority;
        return lhs.next_created < rhs.next_created;
    }
};

/// Queues within their fair share before those beyond it, then queues within what they deserve
/// before those that borrow, then the higher priority, then the smaller share of the amount due
/// with the next gang, then without it, then the smaller amount due (KAI).
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

/// The higher priority first, then the smaller share of what they are due (Volcano, where what is
/// deserved comes of weights).
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
