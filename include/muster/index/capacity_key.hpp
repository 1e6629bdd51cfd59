// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// The sort key of a row: the rank, then the label, which no two rows share.
struct capacity_key {
    std::int64_t rank = 0;
    std::uint64_t label = 0;

    [[nodiscard]] friend constexpr bool operator==(const capacity_key&,
                                                   const capacity_key&) = default;
    [[nodiscard]] friend constexpr bool operator<(const capacity_key& lhs,
                                                  const capacity_key& rhs) noexcept {
        return lhs.rank < rhs.rank || (lhs.rank == rhs.rank && lhs.label < rhs.label);
    }
};

inline constexpr capacity_key lowest_key{std::numeric_limits<std::int64_t>::min(), 0};
inline constexpr capacity_key highest_key{std::numeric_limits<std::int64_t>::max(),
                                          std::numeric_limits<std::uint64_t>::max()};

/// A number that stands for no block, no node and no place.
inline constexpr std::uint32_t no_place = std::numeric_limits<std::uint32_t>::max();

/// The upper bound of an empty set of rows.
template<std::size_t Width>
[[nodiscard]] constexpr resources<Width> no_rows_bound() noexcept {
    resources<Width> bound;
    for (std::size_t column = 0; column < Width; ++column)
        bound[column] = std::numeric_limits<std::int64_t>::min();
    return bound;
}

/// Returns true if the free amount of some kind is negative. O(width).
template<std::size_t Width>
[[nodiscard]] constexpr bool any_short(const resources<Width>& free) noexcept {
    std::int64_t signs = 0;
    for (std::size_t column = 0; column < Width; ++column)
        signs |= free[column];
    return signs < 0;
}

/// Raises the bound to cover the amounts. Returns true if it was raised. O(width).
template<std::size_t Width>
constexpr bool raise_to(resources<Width>& bound, const resources<Width>& amounts) noexcept {
    bool raised = false;
    for (std::size_t column = 0; column < Width; ++column) {
        raised |= amounts[column] > bound[column];
        bound[column] = amounts[column] > bound[column] ? amounts[column] : bound[column];
    }
    return raised;
}

/// Returns true if the bound may be too high after a row below it changed from `from` to `to`.
/// O(width).
template<std::size_t Width>
[[nodiscard]] constexpr bool loosens(const resources<Width>& bound, const resources<Width>& from,
                                     const resources<Width>& to) noexcept {
    bool loose = false;
    for (std::size_t column = 0; column < Width; ++column)
        if (to[column] < from[column])
            loose |= from[column] >= bound[column];
    return loose;
}

} // namespace detail
} // namespace v0_1
} // namespace muster
