// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <muster/base/assert.hpp>
#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// Usage of a queue over time with exponential decay, for orders of queues (KAI's time-based fair
/// share, Kueue's AdmissionFairSharing). The sums are amount × time, in exact integers. At each
/// multiple of the half-life the sums are halved, rounded down. The result does not depend on how
/// often `update` is called: while the use is constant, one update has the same result as many.
/// Copies are snapshots.
template<std::size_t Width>
class decayed_usage {
public:
    /// Maximum half-life, in the caller's unit of time.
    static constexpr std::int64_t longest = std::int64_t{1} << 60;

    decayed_usage() = default;
    /// Starts at `now` without past usage. Precondition: 0 < `half_life` <= `longest`.
    constexpr decayed_usage(std::int64_t half_life, std::int64_t now) noexcept
        : half_life_(half_life), seen_(now) {
        MUSTER_ASSERT(half_life > 0 && half_life <= longest, "a half-life is a time that passes");
    }

    /// Records that `used` was in use from the last update until `now`. Does nothing if `now` is
    /// not after the last update. Precondition: no amount is negative. O(width), and O(width) more
    /// for each half-life that has passed, up to about 130 of them.
    constexpr void update(std::int64_t now, const resources<Width>& used) noexcept {
        if (now <= seen_)
            return;
        const int128 before = period(seen_);
        const int128 cuts = period(now) - before;
        if (cuts == 0) {
            add(used, int128{now} - seen_);
        } else {
            add(used, (before + 1) * half_life_ - seen_);
            halve();
            bool moves = true;
            // With constant use the sums reach a fixed point, after which more half-lives change
            // nothing.
            for (int128 cut = 1; cut < cuts && moves; ++cut) {
                const auto last = sums_;
                add(used, half_life_);
                halve();
                moves = last != sums_;
            }
            add(used, now - period(now) * half_life_);
        }
        seen_ = now;
    }

    /// Returns the decayed usage of the kind, as amount × time.
    [[nodiscard]] constexpr int128 operator[](kind_id kind) const noexcept {
        return sums_[kind.value()];
    }
    /// Returns the decayed usage divided by the half-life, an amount. With constant use it
    /// approaches the amount in use right after a halving, and twice that amount right before the
    /// next.
    [[nodiscard]] constexpr std::int64_t mean(kind_id kind) const noexcept {
        return saturate(sums_[kind.value()] / half_life_);
    }

    [[nodiscard]] friend constexpr bool operator==(const decayed_usage&,
                                                   const decayed_usage&) = default;

private:
    /// Returns the number of the half-life that contains `time`; negative for times before 0.
    [[nodiscard]] constexpr int128 period(std::int64_t time) const noexcept {
        const int128 whole = int128{time} / half_life_;
        return whole * half_life_ > time ? whole - 1 : whole;
    }
    constexpr void add(const resources<Width>& used, int128 time) noexcept {
        for (std::size_t column = 0; column < Width; ++column)
            sums_[column] += used[column] * time;
    }
    constexpr void halve() noexcept {
        for (int128& sum : sums_)
            sum /= 2;
    }

    std::int64_t half_life_ = 1;
    std::int64_t seen_ = 0;
    /// Each is less than twice the largest amount × the half-life, so below 2^124.
    std::array<int128, Width> sums_{};
};

} // namespace v0_1
} // namespace muster
