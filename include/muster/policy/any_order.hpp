// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

#include <muster/base/any_value.hpp>
#include <muster/policy/gang_order.hpp>
#include <muster/policy/gang_order_concept.hpp>
#include <muster/policy/queue_order.hpp>
#include <muster/policy/queue_order_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// Holds any order of gangs (type erasure).
class any_gang_order {
public:
    any_gang_order() : any_gang_order(priority_then_age{}) {}

    template<class Order>
        requires(!std::same_as<Order, any_gang_order> && gang_order<Order>)
    any_gang_order(const Order& order)
        : timeless_(muster::is_timeless(order)), value_(order), call_(&call<Order>) {}

    [[nodiscard]] bool operator()(const gang_rank& lhs, const gang_rank& rhs,
                                  std::int64_t now) const noexcept {
        return call_(value_, lhs, rhs, now);
    }
    [[nodiscard]] bool is_timeless() const noexcept { return timeless_; }

    [[nodiscard]] friend bool operator==(const any_gang_order& lhs, const any_gang_order& rhs) {
        return lhs.value_ == rhs.value_;
    }

private:
    template<class Order>
    static bool call(const detail::any_value& value, const gang_rank& lhs, const gang_rank& rhs,
                     std::int64_t now) noexcept {
        return value.as<Order>()(lhs, rhs, now);
    }

    bool timeless_;
    detail::any_value value_;
    bool (*call_)(const detail::any_value&, const gang_rank&, const gang_rank&,
                  std::int64_t) noexcept;
};

/// Holds any order of queues (type erasure).
class any_queue_order {
public:
    any_queue_order() : any_queue_order(priority_then_share{}) {}

    template<class Order>
        requires(!std::same_as<Order, any_queue_order> && queue_order<Order>)
    any_queue_order(const Order& order)
        : by_fair_share_(detail::looks_at_fair_shares(order)),
          counts_next_(detail::counts_next(order)),
          value_(order),
          call_(&call<Order>) {}

    [[nodiscard]] bool operator()(const queue_rank& lhs, const queue_rank& rhs) const noexcept {
        return call_(value_, lhs, rhs);
    }
    [[nodiscard]] bool by_fair_share() const noexcept { return by_fair_share_; }
    [[nodiscard]] bool counts_next_gang() const noexcept { return counts_next_; }

private:
    template<class Order>
    static bool call(const detail::any_value& value, const queue_rank& lhs,
                     const queue_rank& rhs) noexcept {
        return value.as<Order>()(lhs, rhs);
    }

    bool by_fair_share_;
    bool counts_next_;
    detail::any_value value_;
    bool (*call_)(const detail::any_value&, const queue_rank&, const queue_rank&) noexcept;
};

} // namespace v0_1
} // namespace muster
