// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

namespace muster {
inline namespace v0_1 {

/// Wide intermediates: a product of two int64 always fits.
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

/// True and the sum in `out`, or false when it does not fit (then `out` is unspecified).
[[nodiscard]] constexpr bool checked_add(std::int64_t lhs, std::int64_t rhs,
                                         std::int64_t& out) noexcept {
    return !__builtin_add_overflow(lhs, rhs, &out);
}

/// True and the product in `out`, or false when it does not fit (then `out` is unspecified).
[[nodiscard]] constexpr bool checked_multiply(std::int64_t lhs, std::int64_t rhs,
                                              std::int64_t& out) noexcept {
    return !__builtin_mul_overflow(lhs, rhs, &out);
}

/// The nearest int64 to a wide value.
[[nodiscard]] constexpr std::int64_t saturate(int128 value) noexcept {
    constexpr auto top = std::numeric_limits<std::int64_t>::max();
    constexpr auto bottom = std::numeric_limits<std::int64_t>::min();
    if (value > top)
        return top;
    if (value < bottom)
        return bottom;
    return static_cast<std::int64_t>(value);
}

/// The sum, held at the end of the range that it would leave.
[[nodiscard]] constexpr std::int64_t saturating_add(std::int64_t lhs, std::int64_t rhs) noexcept {
    return saturate(static_cast<int128>(lhs) + rhs);
}

/// The product, held at the end of the range that it would leave.
[[nodiscard]] constexpr std::int64_t saturating_multiply(std::int64_t lhs,
                                                         std::int64_t rhs) noexcept {
    return saturate(static_cast<int128>(lhs) * rhs);
}

} // namespace v0_1
} // namespace muster
