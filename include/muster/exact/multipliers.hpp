// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <muster/base/checked.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/problem/fit_problem.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// The multipliers of a leaf of a proof: weights per class, and prices per quota of the problem.
struct multipliers {
    detail::sequence<std::int64_t> weights;
    detail::sequence<std::int64_t> prices;
};

/// Returns the amount of a quota that counts about as much as one member. Quotas are in thousandths
/// or bytes, which would dwarf the numbers of members.
template<std::size_t Width>
[[nodiscard]] std::int64_t quota_unit(const fit_problem<Width>& problem,
                                      std::size_t quota) noexcept {
    std::int64_t unit = 1;
    for (const auto& member : problem.members)
        unit = std::max(unit, member.charge[problem.quotas[quota].kind] / 64);
    return unit;
}

/// Returns true if these numbers of members of each class stay within every quota.
template<std::size_t Width>
[[nodiscard]] bool within_quotas(const fit_problem<Width>& problem,
                                 const detail::sequence<std::int64_t>& counts) {
    return detail::all_of(problem.quotas, [&](const auto& quota) {
        int128 sum = 0;
        for (std::size_t at = 0; at < counts.size(); ++at)
            sum += static_cast<int128>(counts[at]) * problem.members[at].charge[quota.kind];
        return sum <= quota.left;
    });
}

/// Converts raw weights (per class) and prices (per unit of a quota, after the weights) to
/// multipliers. Large values are rounded. The result is then a different but equally valid set of
/// multipliers.
template<std::size_t Width>
void set_multipliers(const fit_problem<Width>& problem, const detail::sequence<std::int64_t>& raw,
                     multipliers& result) {
    const std::size_t classes = problem.members.size();
    int128 unit = 1;
    for (std::size_t at = classes; at < raw.size(); ++at)
        unit = std::max<int128>(unit, quota_unit(problem, at - classes));
    int128 largest = 1;
    for (const std::int64_t value : raw)
        largest = std::max(largest, value * unit);
    int128 smaller = 1;
    while (largest / smaller >= std::int64_t{1} << 36U)
        smaller *= 2;
    for (std::size_t at = 0; at < classes; ++at)
        result.weights[at] = saturate(raw[at] * unit / smaller);
    for (std::size_t at = classes; at < raw.size(); ++at)
        result.prices[at - classes] =
            saturate(raw[at] * unit / quota_unit(problem, at - classes) / smaller);
}

/// Gives classes of weight 0 a small weight, so that they break ties among patterns. All
/// multipliers are scaled so that the small weights do not matter otherwise. `upper` is how many
/// members of each class the nodes could take.
inline void spread_zeros(const detail::sequence<std::int64_t>& upper, multipliers& scaled) {
    if (detail::find(scaled.weights, 0) == scaled.weights.end())
        return;
    std::int64_t most = 1;
    for (const std::int64_t sum : upper)
        most = saturating_add(most, sum);
    std::int64_t largest = 1;
    for (const std::int64_t weight : scaled.weights)
        largest = std::max(largest, weight);
    for (const std::int64_t price : scaled.prices)
        largest = std::max(largest, price);
    // If the multipliers are too large to scale, a weight of 1 does not matter anyway.
    if (most > (std::int64_t{1} << 48U) / largest)
        most = 1;
    for (std::int64_t& price : scaled.prices)
        price *= most;
    for (std::int64_t& weight : scaled.weights)
        weight = weight * most + 1;
}

} // namespace detail
} // namespace v0_1
} // namespace muster
