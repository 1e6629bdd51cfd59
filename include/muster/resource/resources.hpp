// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>

namespace muster {
inline namespace v0_1 {

/// Allocatable amounts above this are input errors: placement keys weigh columns by powers of two
/// and must fit int64.
inline constexpr std::int64_t largest_allocatable = std::int64_t{1} << 57;

/// Amounts per resource kind, dense, absent = 0. CPU is in thousandths, everything else in units
/// (bytes, devices, pods). The kind table says what a column means. Amounts are only partially
/// ordered: compare them by `fits` or `dominates`; `<` is lexicographic, for sorting.
template<std::size_t Width>
class resources {
public:
    static constexpr std::size_t width = Width;

    [[nodiscard]] constexpr std::int64_t operator[](kind_id kind) const noexcept {
        return amounts_[kind.value()];
    }
    [[nodiscard]] constexpr std::int64_t& operator[](kind_id kind) noexcept {
        return amounts_[kind.value()];
    }
    [[nodiscard]] constexpr std::int64_t operator[](std::size_t column) const noexcept {
        return amounts_[column];
    }
    [[nodiscard]] constexpr std::int64_t& operator[](std::size_t column) noexcept {
        return amounts_[column];
    }

    /// Arithmetic on each amount. Precondition: no amount overflows; where one may, use
    /// `checked_add`, `checked_subtract`, `checked_multiply` or `saturating_add`.
    constexpr resources& operator+=(const resources& by) noexcept {
        for (std::size_t column = 0; column < Width; ++column)
            amounts_[column] += by[column];
        return *this;
    }
    constexpr resources& operator-=(const resources& by) noexcept {
        for (std::size_t column = 0; column < Width; ++column)
            amounts_[column] -= by[column];
        return *this;
    }
    constexpr resources& operator*=(std::int64_t by) noexcept {
        for (std::int64_t& amount : amounts_)
            amount *= by;
        return *this;
    }
    [[nodiscard]] friend constexpr resources operator+(resources lhs,
                                                       const resources& rhs) noexcept {
        return lhs += rhs;
    }
    [[nodiscard]] friend constexpr resources operator-(resources lhs,
                                                       const resources& rhs) noexcept {
        return lhs -= rhs;
    }
    [[nodiscard]] friend constexpr resources operator-(const resources& of) noexcept {
        return resources{} - of;
    }
    [[nodiscard]] friend constexpr resources operator*(resources lhs, std::int64_t rhs) noexcept {
        return lhs *= rhs;
    }

    [[nodiscard]] friend constexpr auto operator<=>(const resources&, const resources&) = default;

private:
    std::array<std::int64_t, Width> amounts_{};
};

/// True if `free` has what is requested. A kind that is not requested is never short, not even if
/// its free amount is negative. O(width).
template<std::size_t Width>
[[nodiscard]] constexpr bool fits(const resources<Width>& request,
                                  const resources<Width>& free) noexcept {
    bool ok = true;
    for (std::size_t column = 0; column < Width; ++column)
        ok &= request[column] <= free[column] || request[column] == 0;
    return ok;
}

/// True if every amount of `lhs` is at least that of `rhs`. O(width).
template<std::size_t Width>
[[nodiscard]] constexpr bool dominates(const resources<Width>& lhs,
                                       const resources<Width>& rhs) noexcept {
    bool ok = true;
    for (std::size_t column = 0; column < Width; ++column)
        ok &= lhs[column] >= rhs[column];
    return ok;
}

/// Stores lhs + rhs in `out`. Returns false, with `out` unspecified, if a column overflows.
template<std::size_t Width>
[[nodiscard]] constexpr bool checked_add(const resources<Width>& lhs, const resources<Width>& rhs,
                                         resources<Width>& out) noexcept {
    bool ok = true;
    for (std::size_t column = 0; column < Width; ++column)
        ok &= checked_add(lhs[column], rhs[column], out[column]);
    return ok;
}

/// Stores lhs - rhs in `out`. Returns false, with `out` unspecified, if a column overflows.
template<std::size_t Width>
[[nodiscard]] constexpr bool checked_subtract(const resources<Width>& lhs,
                                              const resources<Width>& rhs,
                                              resources<Width>& out) noexcept {
    bool ok = true;
    for (std::size_t column = 0; column < Width; ++column)
        ok &= !__builtin_sub_overflow(lhs[column], rhs[column], &out[column]);
    return ok;
}

/// Stores `of` times `by` in `out`. Returns false, with `out` unspecified, if a column overflows.
template<std::size_t Width>
[[nodiscard]] constexpr bool checked_multiply(const resources<Width>& of, std::int64_t by,
                                              resources<Width>& out) noexcept {
    bool ok = true;
    for (std::size_t column = 0; column < Width; ++column)
        ok &= !__builtin_mul_overflow(of[column], by, &out[column]);
    return ok;
}

/// Returns lhs + rhs, each amount clamped to int64. O(width).
template<std::size_t Width>
[[nodiscard]] constexpr resources<Width> saturating_add(resources<Width> lhs,
                                                        const resources<Width>& rhs) noexcept {
    for (std::size_t column = 0; column < Width; ++column)
        lhs[column] = saturating_add(lhs[column], rhs[column]);
    return lhs;
}

/// Returns the lesser of each amount. O(width).
template<std::size_t Width>
[[nodiscard]] constexpr resources<Width> lesser(resources<Width> lhs,
                                                const resources<Width>& rhs) noexcept {
    for (std::size_t column = 0; column < Width; ++column)
        lhs[column] = rhs[column] < lhs[column] ? rhs[column] : lhs[column];
    return lhs;
}

/// Returns the greater of each amount. O(width).
template<std::size_t Width>
[[nodiscard]] constexpr resources<Width> greater(resources<Width> lhs,
                                                 const resources<Width>& rhs) noexcept {
    for (std::size_t column = 0; column < Width; ++column)
        lhs[column] = lhs[column] < rhs[column] ? rhs[column] : lhs[column];
    return lhs;
}

/// Returns max(of - over, 0) for each amount. Precondition: no difference overflows. O(width).
template<std::size_t Width>
[[nodiscard]] constexpr resources<Width> excess(const resources<Width>& of,
                                                const resources<Width>& over) noexcept {
    return greater(of - over, resources<Width>{});
}

/// Returns how many equal requests fit into `free`, at most `most`. O(width).
template<std::size_t Width>
[[nodiscard]] constexpr std::int64_t fit_count(const resources<Width>& request,
                                               const resources<Width>& free,
                                               std::int64_t most) noexcept {
    for (std::size_t column = 0; column < Width; ++column) {
        if (request[column] <= 0)
            continue;
        if (free[column] < request[column])
            return 0;
        // A product costs less than a quotient, and usually only one kind is short.
        std::int64_t total = 0;
        if (__builtin_mul_overflow(request[column], most, &total) || total > free[column])
            most = free[column] / request[column];
    }
    return most;
}

} // namespace v0_1
} // namespace muster
