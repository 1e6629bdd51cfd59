// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <muster/base/checked.hpp>
#include <muster/base/sequence.hpp>
#include <muster/exact/choice.hpp>
#include <muster/exact/multipliers.hpp>
#include <muster/problem/fit_problem.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Lagrange multipliers that follow the subgradient of the bound: more weight for classes of which
/// the nodes carry less than is chosen, a higher price where the choice exceeds a quota, in steps
/// that shrink with every turn. For gangs with more classes and quotas than `column_generation`
/// accepts.
class subgradient {
public:
    static constexpr std::int64_t scale = std::int64_t{1} << 40;

    /// Sets the initial weights.
    static void start(std::size_t classes, multipliers& moved) {
        moved.weights.assign(classes, scale);
    }

    /// Moves the multipliers for which `chosen` and `carried` were computed. Returns false if they
    /// do not change. O(classes × (1 + quotas)).
    template<std::size_t Width>
    [[nodiscard]] static bool step(const fit_problem<Width>& problem, const choice& chosen,
                                   const detail::sequence<std::int64_t>& carried, std::int64_t turn,
                                   multipliers& current) {
        const std::size_t classes = carried.size();
        std::int64_t largest = 0;
        for (std::size_t at = 0; at < classes; ++at) {
            const std::int64_t gap = chosen.counts[at] - carried[at];
            largest = std::max(largest, gap < 0 ? -gap : gap);
        }
        const int128 length = scale / (1 + turn / 2);
        bool moved = largest > 0;
        for (std::size_t at = 0; at < classes && largest > 0; ++at) {
            const std::int64_t gap = chosen.counts[at] - carried[at];
            current.weights[at] =
                saturate(std::max<int128>(0, current.weights[at] + length * gap / largest));
        }
        for (std::size_t quota = 0; quota < problem.quotas.size(); ++quota) {
            int128 use = 0;
            std::int64_t unit = 1;
            for (std::size_t at = 0; at < classes; ++at) {
                const std::int64_t charge = problem.members[at].charge[problem.quotas[quota].kind];
                use += static_cast<int128>(charge) * chosen.counts[at];
                unit = std::max(unit, charge);
            }
            const int128 gap = (use - problem.quotas[quota].left) / unit;
            const int128 price =
                current.prices[quota] + length / unit * gap / std::max<std::int64_t>(1, largest);
            const auto next = saturate(std::clamp<int128>(price, 0, scale));
            moved = moved || next != current.prices[quota];
            current.prices[quota] = next;
        }
        return moved;
    }
};

} // namespace detail
} // namespace v0_1
} // namespace muster
