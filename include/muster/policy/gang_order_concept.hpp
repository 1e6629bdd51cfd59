// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>

#include <muster/base/checked.hpp>

namespace muster {
inline namespace v0_1 {

/// The input of an order of gangs. Times are in the caller's unit.
struct gang_rank {
    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

    std::int64_t priority = 0;
    std::int64_t created = 0;
    /// Latest desired start; `none` if not declared.
    std::int64_t start_by = none;
    /// Run time after the start; `none` if not declared.
    std::int64_t duration = none;
    /// Start of the first running member; `none` if no member runs or the time is unknown.
    std::int64_t since = none;

    /// Remaining run time; `none` if no duration is declared.
    [[nodiscard]] constexpr std::int64_t remaining(std::int64_t now) const noexcept {
        if (duration == none || since >= now)
            return duration;
        const auto left = static_cast<int128>(duration) - now + since;
        return left > 0 ? static_cast<std::int64_t>(left) : 0;
    }

    /// True if the gang meets its minima and waits for surplus members (see `surplus_rule`).
    bool surplus = false;

    [[nodiscard]] friend constexpr bool operator==(const gang_rank&, const gang_rank&) = default;
};

/// A strict weak order of gangs within a queue at time `now`. Ties are broken by key.
template<class Order>
concept gang_order = std::copyable<Order> &&
    requires(const Order before, gang_rank lhs, std::int64_t now) {
    { before(lhs, lhs, now) }
    noexcept->std::same_as<bool>;
};

/// True if the order declares `timeless`: it does not depend on `now`, so sorted backlogs stay
/// sorted.
template<class Order>
inline constexpr bool timeless_order = requires {
    requires Order::timeless;
};
/// Same as `timeless_order`; an order chosen at run time has `order.is_timeless()` instead.
template<class Order>
[[nodiscard]] constexpr bool is_timeless(const Order& order) noexcept {
    if constexpr (requires {
                      { order.is_timeless() } -> std::same_as<bool>;
                  })
        return order.is_timeless();
    else
        return timeless_order<Order>;
}

} // namespace v0_1
} // namespace muster
