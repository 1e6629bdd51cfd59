// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <muster/base/checked.hpp>
#include <muster/base/sequence.hpp>
#include <muster/vocabulary/budget.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Divides the cycle's budget of steps. Gangs that earlier cycles did not reach are served first,
/// the longest-waiting gang first; ties in the order of their turns. If `per_cycle` covers two
/// searches for each of s gangs, each of n such gangs is searched within ⌈n / s⌉ cycles, whatever
/// other gangs are asked in between.
class search_turns {
public:
    void begin(const budget& limit) noexcept {
        limit_ = limit;
        left_ = limit.per_cycle;
        since_.clear();
    }
    /// Adds a gang that no cycle has reached since cycle `since`. Does nothing for 0: the gang was
    /// reached.
    void add(std::uint64_t since) {
        if (since > 0)
            since_.push_back(since);
    }
    /// Computes the shares once all gangs are added. O(gangs not reached).
    void share_out() {
        const std::int64_t full = full_share();
        const std::int64_t shares = full > 0 ? limit_.per_cycle / full : 0;
        before_ = last_ = 0;
        newest_ = 0;
        if (since_.empty() || shares == 0)
            return;
        const auto granted = std::min(since_.size(), static_cast<std::size_t>(shares));
        const auto nth = since_.begin() + static_cast<std::ptrdiff_t>(granted - 1);
        std::nth_element(since_.begin(), nth, since_.end());
        newest_ = *nth;
        before_ = std::count_if(since_.begin(), nth,
                                [&](std::uint64_t since) { return since < newest_; });
        last_ = static_cast<std::int64_t>(granted) - before_;
    }

    /// Returns the steps for the gang whose turn it is.
    [[nodiscard]] std::int64_t share(std::uint64_t since) const noexcept {
        const bool granted = since > 0 && since <= newest_;
        const std::int64_t kept = granted && since < newest_ ? 0
                                  : granted && last_ > 0     ? before_
                                                             : before_ + last_;
        return saturate(std::clamp<int128>(left_ - static_cast<int128>(kept) * full_share(), 0,
                                           limit_.per_gang));
    }
    /// Records that the gang was asked and used `steps`.
    void asked(std::uint64_t since, std::int64_t steps) noexcept {
        left_ = std::max<std::int64_t>(0, left_ - steps);
        if (since == 0 || since > newest_)
            return;
        std::int64_t& kept = since < newest_ ? before_ : last_;
        kept = std::max<std::int64_t>(0, kept - 1);
    }
    /// True if `steps` is the most that one gang gets. With fewer, its search was cut short.
    [[nodiscard]] bool whole(std::int64_t steps) const noexcept {
        return steps >= limit_.per_gang || (steps > 0 && steps == limit_.per_cycle);
    }

private:
    /// Steps of a search for one gang and of the check whether it could ever start.
    [[nodiscard]] std::int64_t full_share() const noexcept {
        return std::min(saturating_add(limit_.per_gang, limit_.per_gang), limit_.per_cycle);
    }

    budget limit_;
    std::int64_t left_ = 0;
    /// One entry per gang that was not reached.
    detail::sequence<std::uint64_t> since_;
    /// Number of shares reserved for gangs not reached since before `newest_`; `last_`: since
    /// `newest_`.
    std::int64_t before_ = 0;
    std::int64_t last_ = 0;
    std::uint64_t newest_ = 0;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
