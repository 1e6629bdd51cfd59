// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include <muster/base/checked.hpp>
#include <muster/resource/limits.hpp>
#include <muster/resource/resources.hpp>

namespace muster::inline v0_1 {

/// An exact fraction used/total of non-negative amounts, compared by cross-multiplication. With a
/// total of 0 it is 0 when nothing is used and above every other share when something is.
struct share {
    std::int64_t used = 0;
    std::int64_t total = 1;

    [[nodiscard]] friend constexpr std::strong_ordering operator<=>(share lhs, share rhs) noexcept {
        const bool lhs_beyond = lhs.total == 0 && lhs.used > 0;
        const bool rhs_beyond = rhs.total == 0 && rhs.used > 0;
        if (lhs_beyond || rhs_beyond)
            return lhs_beyond <=> rhs_beyond;
        const int128 left = lhs.total == 0 ? 0 : static_cast<int128>(lhs.used) * rhs_total(rhs);
        const int128 right = rhs.total == 0 ? 0 : static_cast<int128>(rhs.used) * rhs_total(lhs);
        return left < right   ? std::strong_ordering::less
               : left > right ? std::strong_ordering::greater
                              : std::strong_ordering::equal;
    }
    [[nodiscard]] friend constexpr bool operator==(share lhs, share rhs) noexcept {
        return (lhs <=> rhs) == 0;
    }

private:
    static constexpr int128 rhs_total(share s) noexcept { return s.total == 0 ? 1 : s.total; }
};

/// The dominant share of a consumer: the largest used/quota over the kinds that the quota names;
/// 0 when it names none (Ghodsi et al., Dominant Resource Fairness, NSDI 2011). O(width).
template<std::size_t Width>
[[nodiscard]] constexpr share dominant_share(const resources<Width>& used,
                                             const limits<Width>& quota) noexcept {
    share dominant;
    for (std::size_t column = 0; column < Width; ++column) {
        const auto total = quota[kind_id{column}];
        if (!total)
            continue;
        const share candidate{used[column], *total};
        if (candidate > dominant)
            dominant = candidate;
    }
    return dominant;
}

} // namespace muster::inline v0_1
