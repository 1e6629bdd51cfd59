// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

#include <muster/resource/share.hpp>

namespace muster {
inline namespace v0_1 {

/// The input of an order of queues, computed again after every gang that starts. Use includes the
/// queues below; each share is the dominant one, the largest over the kinds.
struct queue_rank {
    std::int64_t priority = 0;
    /// Of the quota, over the kinds that it names.
    share dominant{};
    /// Of what is deserved, over the kinds that that names.
    share of_deserved{};
    /// Of what all nodes have, over all kinds but the one that counts pods.
    share of_cluster{};
    /// What its `past_use` is of what all nodes have, likewise.
    share of_past{};
    std::int64_t weight = 1;
    /// It uses more than it deserves of some kind.
    bool borrowing = false;
    /// Of what it is due: its fair share, or what it deserves where that is more, and never more
    /// than its quota; of a kind that it deserves without a bound its quota, or all that the nodes
    /// have. Known to orders that are `by_fair_share`.
    share of_due{};
    /// The same without the next gang.
    share of_due_now{};
    /// What it is due of what all nodes have, over the kinds that it deserves within bounds.
    share due_of_cluster{};
    /// It uses more than its fair share of some kind. Likewise.
    bool over_fair_share = false;
    /// The priority of the next gang, and when that was created. Known to orders that count it.
    std::int64_t next_priority = 0;
    std::int64_t next_created = 0;
};

/// The order looks at fair shares, and says so: they are reckoned once for every cycle. One that is
/// a choice between several says it of itself: `order.by_fair_share()`.
template<class Order>
inline constexpr bool by_fair_share = requires {
    requires Order::by_fair_share;
};
template<class Order>
inline constexpr bool may_be_by_fair_share = by_fair_share<Order> || requires(const Order order) {
    { order.by_fair_share() } -> std::same_as<bool>;
};

/// The order wants ranks in which the next gang counts as if it stood already, and says so: what is
/// borrowed, and the shares. Whether a queue is over its fair share is told without it. One that is
/// a choice between several says it of itself: `order.counts_next_gang()`.
template<class Order>
inline constexpr bool counts_next_gang = requires {
    requires Order::counts_next_gang;
};
template<class Order>
inline constexpr bool may_count_next_gang = counts_next_gang<Order> || requires(const Order order) {
    { order.counts_next_gang() } -> std::same_as<bool>;
};

namespace detail {

template<class Order>
[[nodiscard]] constexpr bool counts_next(const Order& order) noexcept {
    if constexpr (counts_next_gang<Order>)
        return true;
    else if constexpr (may_count_next_gang<Order>)
        return order.counts_next_gang();
    else
        return false;
}

template<class Order>
[[nodiscard]] constexpr bool looks_at_fair_shares(const Order& order) noexcept {
    if constexpr (by_fair_share<Order>)
        return true;
    else if constexpr (may_be_by_fair_share<Order>)
        return order.by_fair_share();
    else
        return false;
}

} // namespace detail

/// A strict weak order of queues with one parent: the tree is walked down from the root, each time
/// to the first child with waiting gangs in its subtree. Ties are broken by key.
template<class Order>
concept queue_order = std::copyable<Order> && requires(const Order before, queue_rank lhs) {
    { before(lhs, lhs) }
    noexcept->std::same_as<bool>;
};

} // namespace v0_1
} // namespace muster
