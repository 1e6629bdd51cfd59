// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/cluster/ledger.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// One weight per kind for the whole cluster: 2^s with s = 57 - ceil(log2(largest allocatable)).
/// All kinds then count about equally, and a request lowers the key of every node by the same
/// amount. Kinds that no node has, and the kind that counts pods, have weight 0.
template<std::size_t Width>
struct placement_weights {
    std::array<std::int64_t, Width> per_unit{};

    /// Returns K, the weighted sum of the free amounts. Exact for every node whose shortage is not
    /// larger than its allocatable could be; beyond that it is clamped to int64.
    [[nodiscard]] constexpr std::int64_t key(const resources<Width>& free) const noexcept {
        int128 sum = 0;
        for (std::size_t column = 0; column < Width; ++column)
            sum += static_cast<int128>(free[column]) * per_unit[column];
        return saturate(sum);
    }

    [[nodiscard]] friend bool operator==(const placement_weights&,
                                         const placement_weights&) = default;
};

/// Returns the weights for the nodes that are present. O(width).
template<std::size_t Width>
[[nodiscard]] placement_weights<Width> weigh(const ledger<Width>& accounts,
                                             std::optional<kind_id> pods_kind) {
    placement_weights<Width> weights;
    for (std::size_t column = 0; column < Width; ++column) {
        if (pods_kind == kind_id{column})
            continue;
        if (const auto log = accounts.largest(column))
            weights.per_unit[column] = std::int64_t{1} << (57 - *log);
    }
    return weights;
}

} // namespace v0_1
} // namespace muster
