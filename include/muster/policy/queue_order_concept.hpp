// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

#include <muster/resource/share.hpp>

namespace muster::inline v0_1 {

/// What an order of queues may look at; asked anew after every gang that starts.
struct queue_rank {
    std::int64_t priority = 0;
    share dominant;
};

/// A strict weak order of queues. Queues that it holds equal stand in the order of their keys.
template<class Order>
concept queue_order = std::copyable<Order> && requires(const Order before, queue_rank lhs) {
    { before(lhs, lhs) }
    noexcept->std::same_as<bool>;
};

} // namespace muster::inline v0_1
