// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>

#include <muster/base/checked.hpp>

namespace muster {
inline namespace v0_1 {

/// The input of an order of domains, computed for each gang with a topology constraint.
struct domain_rank {
    /// Nodes in it.
    std::size_t nodes = 0;
    /// The weighted sum of what is free on them, by the cluster's weights; no node counts below
    /// zero.
    int128 free = 0;
};

/// A strict weak order of domains of one level, the first to be tried first. Domains that it holds
/// equal stand in the order of their labels' values.
template<class Order>
concept domain_order = std::copyable<Order> && requires(const Order before, domain_rank lhs) {
    { before(lhs, lhs) }
    noexcept->std::same_as<bool>;
};

} // namespace v0_1
} // namespace muster
