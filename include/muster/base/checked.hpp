// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

namespace muster {
inline namespace v0_1 {

/// For intermediate results: a product of two int64 always fits.
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

/// Returns true and stores the sum in `out`. If the sum overflows: false, and `out` is unspecified.
[[nodiscard]] constexpr bool checked_add(std::int64_t lhs, std::int64_t rhs,
                                         std::int64_t& out) noexcept {
    return !__builtin_add_overflow(lhs, rhs, &out);
}

/// Returns true and stores the product in `out`. If the product overflows: false, and `out` is
/// unspecified.
[[nodiscard]] constexpr bool checked_multiply(std::int64_t lhs, std::int64_t rhs,
                                              std::int64_t& out) noexcept {
    return !__builtin_mul_overflow(lhs, rhs, &out);
}

/// Returns the int64 nearest to the value.
[[nodiscard]] constexpr std::int64_t saturate(int128 value) noexcept {
    constexpr auto top = std::numeric_limits<std::int64_t>::max();
    constexpr auto bottom = std::numeric_limits<std::int64_t>::min();
    if (value > top)
        return top;
    if (value < bottom)
        return bottom;
    return static_cast<std::int64_t>(value);
}

/// Returns the sum, clamped to int64.
[[nodiscard]] constexpr std::int64_t saturating_add(std::int64_t lhs, std::int64_t rhs) noexcept {
    return saturate(static_cast<int128>(lhs) + rhs);
}

/// Returns the product, clamped to int64.
[[nodiscard]] constexpr std::int64_t saturating_multiply(std::int64_t lhs,
                                                         std::int64_t rhs) noexcept {
    return saturate(static_cast<int128>(lhs) * rhs);
}

} // namespace v0_1
} // namespace muster
