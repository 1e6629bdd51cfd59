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

/// Lagrange multipliers moved along the subgradient of the bound: more weight to classes of which
/// the nodes carry less than is chosen, a higher price where the choice exceeds a quota, in steps
/// that shrink with every turn. For gangs with more classes and quotas than `column_generation`
/// takes.
class subgradient {
public:
    static constexpr std::int64_t scale = std::int64_t{1} << 40;

    /// The weights to start with.
    static void start(std::size_t classes, multipliers& by) { by.weights.assign(classes, scale); }

    /// Moves the weighing under which `chosen` and `carried` came out; false when that is no move.
    /// O(classes × (1 + quotas)).
    template<std::size_t Width>
    [[nodiscard]] static bool step(const fit_problem<Width>& problem, const choice& chosen,
                                   const detail::sequence<std::int64_t>& carried, std::int64_t turn,
                                   multipliers& by) {
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
            by.weights[at] = saturate(std::max<int128>(0, by.weights[at] + length * gap / largest));
        }
        for (std::size_t quota = 0; quota < problem.quotas.size(); ++quota) {
            int128 use = 0;
            std::int64_t unit = 1;
            for (std::size_t at = 0; at < classes; ++at) {
                const std::int64_t each = problem.members[at].charge[problem.quotas[quota].kind];
                use += static_cast<int128>(each) * chosen.counts[at];
                unit = std::max(unit, each);
            }
            const int128 gap = (use - problem.quotas[quota].left) / unit;
            const int128 price =
                by.prices[quota] + length / unit * gap / std::max<std::int64_t>(1, largest);
            const auto next = saturate(std::clamp<int128>(price, 0, scale));
            moved = moved || next != by.prices[quota];
            by.prices[quota] = next;
        }
        return moved;
    }
};

} // namespace detail
} // namespace v0_1
} // namespace muster
