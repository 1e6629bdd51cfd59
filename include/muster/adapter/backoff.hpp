// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <muster/adapter/instant.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// Spreads points in time, so that those who failed together do not come back together. The same
/// seed gives the same spread.
class jitter {
public:
    explicit jitter(std::uint64_t seed) noexcept : state_(seed) {}

    /// A span of [low, high).
    [[nodiscard]] std::int64_t between(std::int64_t low, std::int64_t high) noexcept {
        if (high <= low)
            return low;
        // splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
        state_ += 0x9e37'79b9'7f4a'7c15U;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30U)) * 0xbf58'476d'1ce4'e5b9U;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94d0'49bb'1331'11ebU;
        mixed ^= mixed >> 31U;
        return low + static_cast<std::int64_t>(mixed % static_cast<std::uint64_t>(high - low));
    }

private:
    std::uint64_t state_;
};

struct backoff_options {
    std::int64_t first = 800 * millisecond;
    std::int64_t most = 30 * second;
    /// What lies further back than this is forgotten.
    std::int64_t memory = 2 * minute;
};

/// How long to wait after one failure and the next: twice as long each time, up to a most, each
/// with up to as much again of jitter; the first again when there was no failure for a while.
class backoff {
public:
    explicit backoff(backoff_options how = {}) noexcept : how_(how), span_(how.first) {}

    /// After a failure at `now`: how long to wait; at most one and a half times `most`.
    [[nodiscard]] std::int64_t failed(std::int64_t now, jitter& spread) noexcept {
        if (failures_ > 0 && now - last_ > how_.memory)
            reset();
        last_ = now;
        ++failures_;
        const std::int64_t wait = span_ + spread.between(0, span_);
        span_ = std::min(how_.most, span_ * 2);
        return std::min(wait, how_.most + how_.most / 2);
    }

    void reset() noexcept {
        span_ = how_.first;
        failures_ = 0;
    }

    /// How many failures in a row.
    [[nodiscard]] std::int64_t failures() const noexcept { return failures_; }

private:
    backoff_options how_;
    std::int64_t span_;
    std::int64_t last_ = 0;
    std::int64_t failures_ = 0;
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
