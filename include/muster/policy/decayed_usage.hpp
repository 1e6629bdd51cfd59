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

/// What a queue has used over time, of which half is forgotten with every half-life (KAI's
/// time-based fair share, Kueue's AdmissionFairSharing), for orders of queues. Amounts
/// are amount × time, exact integers: time is cut at the multiples of the half-life, and at each
/// cut what had been added up so far is halved, rounded down. So it does not matter when one looks:
/// as long as the use stays the same, one update says what many would. A value; copies are
/// snapshots.
template<std::size_t Width>
class decayed_usage {
public:
    /// Half-lives are up to 2^60 of the caller's units of time.
    static constexpr std::int64_t longest = std::int64_t{1} << 60;

    decayed_usage() = default;
    /// Nothing was used before `now`.
    constexpr decayed_usage(std::int64_t half_life, std::int64_t now) noexcept
        : half_life_(half_life), seen_(now) {
        MUSTER_ASSERT(half_life > 0 && half_life <= longest, "a half-life is a time that passes");
    }

    /// From the last time on until `now` that much was in use, no kind of it negative. A time that
    /// lies before the last one changes nothing. O(width), and O(width) more for each half-life
    /// that has passed, up to some 130 of them.
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
            // What is added and halved again and again comes to rest.
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

    /// What counts, as amount × time.
    [[nodiscard]] constexpr int128 operator[](kind_id kind) const noexcept {
        return sums_[kind.value()];
    }
    /// The same per half-life: what comes near the amount that is in use all the time, and is at
    /// most twice that, at once before a cut.
    [[nodiscard]] constexpr std::int64_t mean(kind_id kind) const noexcept {
        return saturate(sums_[kind.value()] / half_life_);
    }

    [[nodiscard]] friend constexpr bool operator==(const decayed_usage&,
                                                   const decayed_usage&) = default;

private:
    /// The half-life in which a time lies, also before 0.
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
    /// Less than twice the largest amount × the half-life: below 2^124.
    std::array<int128, Width> sums_{};
};

} // namespace v0_1
} // namespace muster
