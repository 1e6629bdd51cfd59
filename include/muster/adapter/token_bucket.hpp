// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <muster/adapter/instant.hpp>
#include <muster/base/assert.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// How many may pass in a second, and how many at once.
struct rate {
    std::int64_t per_second = 100;
    std::int64_t burst = 100;
};

/// Lets so many through per second, and at most `burst` at once. Each kind of write has a bucket of
/// its own, so that status and events cannot starve binds. Exact: no time is lost to rounding.
class token_bucket {
public:
    /// Full at first. Both at least 1; per_second at most 10^9.
    explicit token_bucket(rate how) : interval_(second / how.per_second), burst_(how.burst) {
        MUSTER_ASSERT(how.per_second >= 1 && how.per_second <= second && how.burst >= 1,
                      "a bucket lets something through");
    }

    /// Takes one when there is one.
    [[nodiscard]] bool take(std::int64_t now) noexcept {
        if (ready(now) > now)
            return false;
        full_at_ = std::max(full_at_, now) + interval_;
        return true;
    }

    /// The earliest time at or after `now` at which one can be taken.
    [[nodiscard]] std::int64_t ready(std::int64_t now) const noexcept {
        return std::max(now, full_at_ - (burst_ - 1) * interval_);
    }

    /// Nothing before then, whatever is in the bucket: the server asked for a pause.
    void pause(std::int64_t until) noexcept {
        full_at_ = std::max(full_at_, until + (burst_ - 1) * interval_);
    }

private:
    std::int64_t interval_;
    std::int64_t burst_;
    /// When it is full again if nothing more is taken.
    std::int64_t full_at_ = 0;
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
