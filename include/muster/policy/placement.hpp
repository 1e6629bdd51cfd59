// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <muster/index/placement_order.hpp>
#include <muster/index/placement_score.hpp>

namespace muster {
inline namespace v0_1 {

/// Packs pods: prefers the node with the least free resources, by the cluster's weights.
struct best_fit {
    static constexpr placement_order order = placement_order::most_allocated;

    template<std::size_t Width>
    [[nodiscard]] constexpr std::int64_t operator()(const placement_weights<Width>& weights,
                                                    const resources<Width>& free,
                                                    const resources<Width>&) const noexcept {
        // The complement reverses the order like negation, but cannot overflow.
        return ~weights.key(free);
    }
};

/// Spreads pods: prefers the node with the most free resources, by the cluster's weights.
struct worst_fit {
    static constexpr placement_order order = placement_order::least_allocated;

    template<std::size_t Width>
    [[nodiscard]] constexpr std::int64_t operator()(const placement_weights<Width>& weights,
                                                    const resources<Width>& free,
                                                    const resources<Width>&) const noexcept {
        return weights.key(free);
    }
};

/// Uses the first node that fits, in the order of keys.
struct first_fit {
    static constexpr placement_order order = placement_order::by_key;

    template<std::size_t Width>
    [[nodiscard]] constexpr std::int64_t operator()(const placement_weights<Width>&,
                                                    const resources<Width>&,
                                                    const resources<Width>&) const noexcept {
        return 0;
    }
};

static_assert(placement_score<best_fit, 4> && placement_score<worst_fit, 4> &&
              placement_score<first_fit, 4>);
static_assert(!placement_score<int, 4>);

} // namespace v0_1
} // namespace muster
