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
/// the longest-waiting gang first and equals in the order of their turns. If `per_cycle` covers the
/// searches of s gangs twice, each of n such gangs is searched within ⌈n / s⌉ cycles, whatever is
/// asked again in between.
class search_turns {
public:
    void begin(const budget& limit) noexcept {
        limit_ = limit;
        left_ = limit.per_cycle;
        since_.clear();
    }
    /// A gang that was not reached since that cycle. 0 = it was: no need to tell.
    void add(std::uint64_t since) {
        if (since > 0)
            since_.push_back(since);
    }
    /// All were added. O(gangs not reached).
    void share_out() {
        const std::int64_t each = full_share();
        const std::int64_t shares = each > 0 ? limit_.per_cycle / each : 0;
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

    /// The steps of a gang whose turn it is.
    [[nodiscard]] std::int64_t share(std::uint64_t since) const noexcept {
        const bool granted = since > 0 && since <= newest_;
        const std::int64_t kept = granted && since < newest_ ? 0
                                  : granted && last_ > 0     ? before_
                                                             : before_ + last_;
        return saturate(std::clamp<int128>(left_ - static_cast<int128>(kept) * full_share(), 0,
                                           limit_.per_gang));
    }
    /// It was asked, and took so many steps.
    void asked(std::uint64_t since, std::int64_t steps) noexcept {
        left_ = std::max<std::int64_t>(0, left_ - steps);
        if (since == 0 || since > newest_)
            return;
        std::int64_t& kept = since < newest_ ? before_ : last_;
        kept = std::max<std::int64_t>(0, kept - 1);
    }
    /// More is never given to one gang: with less it was cut short.
    [[nodiscard]] bool whole(std::int64_t steps) const noexcept {
        return steps >= limit_.per_gang || (steps > 0 && steps == limit_.per_cycle);
    }

private:
    /// With the question whether it could ever start.
    [[nodiscard]] std::int64_t full_share() const noexcept {
        return std::min(saturating_add(limit_.per_gang, limit_.per_gang), limit_.per_cycle);
    }

    budget limit_;
    std::int64_t left_ = 0;
    /// Per gang that waits for its search.
    detail::sequence<std::uint64_t> since_;
    /// Shares that are kept for those not reached since before `newest_`, and since then.
    std::int64_t before_ = 0;
    std::int64_t last_ = 0;
    std::uint64_t newest_ = 0;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
