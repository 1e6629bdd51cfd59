// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

#include <muster/resource/share.hpp>

namespace muster {
inline namespace v0_1 {

/// The input of an order of queues, recomputed after every gang that starts. Use includes the
/// queues below. Each share is the dominant share: the largest over the kinds.
///
/// The amount due of a kind is the fair share or, if that is more, the deserved amount; it is at
/// most the quota. If the deserved amount is absent, the total of all nodes takes the place of
/// both.
struct queue_rank {
    std::int64_t priority = 0;
    /// Use as a share of the quota, over the kinds that the quota names.
    share dominant{};
    /// Use as a share of the deserved amount, over the kinds that `deserved` names.
    share of_deserved{};
    /// Use as a share of the total of all nodes, over all kinds except the number of pods.
    share of_cluster{};
    /// `past_use` as a share of the total of all nodes, over all kinds except the number of pods.
    share of_past{};
    std::int64_t weight = 1;
    /// True if the queue uses more than its deserved amount of some kind.
    bool borrowing = false;
    /// Use as a share of the amount due. Set only for orders with `by_fair_share`.
    share of_due{};
    /// Like `of_due`, without the next gang.
    share of_due_now{};
    /// The amount due as a share of the total of all nodes, over the kinds that `deserved` names.
    /// Set only for orders with `by_fair_share`.
    share due_of_cluster{};
    /// True if the queue, without its next gang, uses more than its fair share of some kind. Set
    /// only for orders with `by_fair_share`.
    bool over_fair_share = false;
    /// Priority and creation time of the next gang. Set only for orders with `counts_next_gang`.
    std::int64_t next_priority = 0;
    std::int64_t next_created = 0;
};

/// True if the order declares `by_fair_share`: it uses fair shares, which are then computed once
/// per cycle. An order chosen at run time has `order.by_fair_share()` instead.
template<class Order>
inline constexpr bool by_fair_share = requires {
    requires Order::by_fair_share;
};
template<class Order>
inline constexpr bool may_be_by_fair_share = by_fair_share<Order> || requires(const Order order) {
    { order.by_fair_share() } -> std::same_as<bool>;
};

/// True if the order declares `counts_next_gang`: `borrowing` and the shares then include the next
/// gang as if it had started; `of_past`, `of_due_now` and `over_fair_share` do not. An order chosen
/// at run time has `order.counts_next_gang()` instead.
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

/// A strict weak order of queues with the same parent. The cycle walks the tree down from the root,
/// at each level to the first child with waiting gangs in its subtree. Ties are broken by key.
template<class Order>
concept queue_order = std::copyable<Order> && requires(const Order before, queue_rank lhs) {
    { before(lhs, lhs) }
    noexcept->std::same_as<bool>;
};

} // namespace v0_1
} // namespace muster
