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

/// What a leaf of a proof weighs with: per class, and per quota of the problem.
struct multipliers {
    detail::sequence<std::int64_t> weights;
    detail::sequence<std::int64_t> prices;
};

/// The amount of a quota that counts like about one member: quotas are in thousandths or bytes,
/// which would dwarf every number of members.
template<std::size_t Width>
[[nodiscard]] std::int64_t quota_unit(const fit_problem<Width>& problem,
                                      std::size_t quota) noexcept {
    std::int64_t unit = 1;
    for (const auto& member : problem.members)
        unit = std::max(unit, member.charge[problem.quotas[quota].kind] / 64);
    return unit;
}

/// True when so many members of each class stay within every quota.
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

/// Turns weights per class, and after them prices per quota's unit, into a weighing. Large ones are
/// rounded: they are other weights then, which prove no less.
template<std::size_t Width>
void set_multipliers(const fit_problem<Width>& problem, const detail::sequence<std::int64_t>& raw,
                     multipliers& by) {
    const std::size_t classes = problem.members.size();
    int128 unit = 1;
    for (std::size_t at = classes; at < raw.size(); ++at)
        unit = std::max<int128>(unit, quota_unit(problem, at - classes));
    int128 largest = 1;
    for (const std::int64_t each : raw)
        largest = std::max(largest, each * unit);
    int128 smaller = 1;
    while (largest / smaller >= std::int64_t{1} << 36U)
        smaller *= 2;
    for (std::size_t at = 0; at < classes; ++at)
        by.weights[at] = saturate(raw[at] * unit / smaller);
    for (std::size_t at = classes; at < raw.size(); ++at)
        by.prices[at - classes] =
            saturate(raw[at] * unit / quota_unit(problem, at - classes) / smaller);
}

/// A class without weight still breaks ties among patterns: all are scaled so that weights of one
/// do not matter beside them. `upper` is how many of each class the nodes could take.
inline void spread_zeros(const detail::sequence<std::int64_t>& upper, multipliers& by) {
    if (detail::find(by.weights, 0) == by.weights.end())
        return;
    std::int64_t most = 1;
    for (const std::int64_t sum : upper)
        most = saturating_add(most, sum);
    std::int64_t largest = 1;
    for (const std::int64_t weight : by.weights)
        largest = std::max(largest, weight);
    for (const std::int64_t price : by.prices)
        largest = std::max(largest, price);
    // Beside weights that leave no room for that, one does not matter as it is.
    if (most > (std::int64_t{1} << 48U) / largest)
        most = 1;
    for (std::int64_t& price : by.prices)
        price *= most;
    for (std::int64_t& weight : by.weights)
        weight = weight * most + 1;
}

} // namespace detail
} // namespace v0_1
} // namespace muster
