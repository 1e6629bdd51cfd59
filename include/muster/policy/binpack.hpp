// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <muster/base/checked.hpp>
#include <muster/index/placement_score.hpp>
#include <muster/index/weights.hpp>
#include <muster/resource/kind_table.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// Scores a node by its utilization after the pod is placed, as the binpack of T9k and Kubernetes
/// does: the weighted mean of the allocated fraction of each kind. Kinds with weight 0 and kinds
/// that the node lacks do not count. `most_allocated` packs pods, `least_allocated` spreads them.
/// Fractions are of each node's own capacity, so all nodes are scanned. They are integers in units
/// of 2^-40, rounded down. O(width) per node.
struct binpack {
    enum class strategy : std::uint8_t { most_allocated, least_allocated };

    strategy which = strategy::most_allocated;
    /// Weights from 0 to 10, by the column of the kind.
    std::array<std::uint8_t, max_kinds> weight_of{};

    template<std::size_t Width>
    [[nodiscard]] constexpr std::int64_t
    operator()(const placement_weights<Width>&, const resources<Width>& capacity,
               const resources<Width>& free, const resources<Width>& request) const noexcept {
        constexpr std::int64_t whole = std::int64_t{1} << 40U;
        int128 sum = 0;
        std::int64_t weights = 0;
        for (std::size_t column = 0; column < Width; ++column) {
            if (weight_of[column] == 0 || capacity[column] <= 0)
                continue;
            const int128 taken =
                static_cast<int128>(capacity[column]) - free[column] + request[column];
            sum += taken * whole / capacity[column] * weight_of[column];
            weights += weight_of[column];
        }
        const std::int64_t mean = weights > 0 ? saturate(sum / weights) : 0;
        return which == strategy::most_allocated ? mean : whole - mean;
    }

    [[nodiscard]] friend constexpr bool operator==(const binpack&, const binpack&) = default;
};

static_assert(placement_score<binpack, 4>);

} // namespace v0_1
} // namespace muster
