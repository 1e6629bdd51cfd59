// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <muster/index/offered_node.hpp>
#include <muster/index/placement_score.hpp>
#include <muster/policy/binpack.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// Keeps nodes with scarce resources, such as GPUs, for the pods that request them. Prefers the
/// node with the fewest scarce kinds that the pod does not request; if nodes tie, the most
/// allocated one (Koordinator's ScarceResourceAvoidance). Scans all nodes; O(width) per node.
struct avoid_scarce {
    /// The scarce kinds, by column.
    std::array<bool, max_kinds> scarce{};
    /// Weights for nodes that tie, from 0 to 10, by the column of the kind.
    std::array<std::uint8_t, max_kinds> weight_of{};

    template<std::size_t Width>
    [[nodiscard]] constexpr std::int64_t
    operator()(const placement_weights<Width>& weights, const resources<Width>& capacity,
               const resources<Width>& free, const resources<Width>& request) const noexcept {
        std::int64_t wasted = 0;
        for (std::size_t column = 0; column < Width; ++column)
            wasted += scarce[column] && capacity[column] > 0 && request[column] == 0 ? 1 : 0;
        const binpack packing{binpack::strategy::most_allocated, weight_of};
        return packing(weights, capacity, free, request) - wasted * (std::int64_t{2} << 40U);
    }

    [[nodiscard]] friend constexpr bool operator==(const avoid_scarce&,
                                                   const avoid_scarce&) = default;
};

static_assert(placement_score<avoid_scarce, 4>);

} // namespace v0_1
} // namespace muster
