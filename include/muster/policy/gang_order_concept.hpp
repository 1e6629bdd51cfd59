// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>

#include <muster/base/checked.hpp>

namespace muster::inline v0_1 {

/// What an order of gangs may look at. Times are in the caller's unit.
struct gang_rank {
    static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

    std::int64_t priority = 0;
    std::int64_t created = 0;
    /// When it should have started at the latest; `none` when nobody said.
    std::int64_t start_by = none;
    /// How long it will run once started; `none` when nobody said.
    std::int64_t duration = none;
    /// When the first of its members started that stand; `none` when nobody stands, or nobody
    /// knows.
    std::int64_t since = none;

    /// How long it is to run yet; `none` when nobody said.
    [[nodiscard]] constexpr std::int64_t remaining(std::int64_t now) const noexcept {
        if (duration == none || since >= now)
            return duration;
        const auto left = static_cast<int128>(duration) - now + since;
        return left > 0 ? static_cast<std::int64_t>(left) : 0;
    }

    /// It has its minima and stands in line for more (see `surplus_rule`).
    bool surplus = false;

    [[nodiscard]] friend constexpr bool operator==(const gang_rank&, const gang_rank&) = default;
};

/// A strict weak order of gangs within a queue at time `now`. Gangs that it holds equal stand in
/// the order of their keys.
template<class Order>
concept gang_order = std::copyable<Order> &&
    requires(const Order before, gang_rank lhs, std::int64_t now) {
    { before(lhs, lhs, now) }
    noexcept->std::same_as<bool>;
};

/// The order does not depend on `now`, and says so: lines once sorted stay so.
template<class Order>
inline constexpr bool timeless_order = requires {
    requires Order::timeless;
};

} // namespace muster::inline v0_1
