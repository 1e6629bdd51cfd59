// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

namespace muster::inline v0_1 {

/// What an order of gangs may look at.
struct gang_rank {
    std::int64_t priority = 0;
    /// Creation time in the caller's unit.
    std::int64_t created = 0;
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
