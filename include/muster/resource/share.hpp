// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <muster/base/checked.hpp>
#include <muster/resource/limits.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// An exact fraction used/total of non-negative amounts, compared by cross-multiplication. If the
/// total is 0, the share is 0 if nothing is used, else above every share with a total. A total may
/// be a sum over a cluster times a weight: up to 2^126.
struct share {
    std::int64_t used = 0;
    int128 total = 1;

    [[nodiscard]] friend constexpr std::strong_ordering operator<=>(share lhs, share rhs) noexcept {
        const bool lhs_beyond = lhs.total == 0 && lhs.used > 0;
        const bool rhs_beyond = rhs.total == 0 && rhs.used > 0;
        if (lhs_beyond || rhs_beyond)
            return lhs_beyond <=> rhs_beyond;
        if (lhs.total == 0 || rhs.total == 0)
            return (lhs.total != 0 && lhs.used > 0) <=> (rhs.total != 0 && rhs.used > 0);
        if (small(lhs.total) && small(rhs.total)) {
            const auto left =
                static_cast<uint128>(lhs.used) * static_cast<std::uint64_t>(rhs.total);
            const auto right =
                static_cast<uint128>(rhs.used) * static_cast<std::uint64_t>(lhs.total);
            return left < right   ? std::strong_ordering::less
                   : left > right ? std::strong_ordering::greater
                                  : std::strong_ordering::equal;
        }
        return product(lhs.used, rhs.total) <=> product(rhs.used, lhs.total);
    }
    [[nodiscard]] friend constexpr bool operator==(share lhs, share rhs) noexcept {
        return (lhs <=> rhs) == 0;
    }

private:
    static constexpr bool small(int128 total) noexcept {
        return total <= std::numeric_limits<std::int64_t>::max();
    }
    /// 192 bits, the high ones first.
    struct wide {
        uint128 high = 0;
        std::uint64_t low = 0;

        [[nodiscard]] friend constexpr std::strong_ordering operator<=>(wide lhs,
                                                                        wide rhs) noexcept {
            if (lhs.high != rhs.high)
                return lhs.high < rhs.high ? std::strong_ordering::less
                                           : std::strong_ordering::greater;
            return lhs.low <=> rhs.low;
        }
    };
    static constexpr wide product(std::int64_t amount, int128 by) noexcept {
        const auto factor = static_cast<std::uint64_t>(amount);
        const auto other = static_cast<uint128>(by);
        const uint128 low = uint128{factor} * static_cast<std::uint64_t>(other);
        return {uint128{factor} * (other >> 64U) + (low >> 64U), static_cast<std::uint64_t>(low)};
    }
};

/// Returns the dominant share of a consumer: the largest used/quota over the kinds that the quota
/// limits, or 0 if it limits none (Ghodsi et al., Dominant Resource Fairness, NSDI 2011). O(width).
template<std::size_t Width>
[[nodiscard]] constexpr share dominant_share(const resources<Width>& used,
                                             const limits<Width>& quota) noexcept {
    share dominant;
    for (std::size_t column = 0; column < Width; ++column) {
        const auto total = quota[kind_id{column}];
        if (!total || used[column] == 0)
            continue;
        const share candidate{used[column], *total};
        if (candidate > dominant)
            dominant = candidate;
    }
    return dominant;
}

} // namespace v0_1
} // namespace muster
