// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/base/assert.hpp>
#include <muster/base/checked.hpp>

namespace muster {
inline namespace v0_1 {

/// What a queue brings to the division of one kind among its siblings, and what it gets.
struct share_claim {
    /// Rightfully its own, however little there is.
    std::int64_t deserved = 0;
    /// What it holds and asks for, no more than its ceiling: it never gets more than that.
    std::int64_t wanted = 0;
    /// Its part of what the deserved ones leave over; 0 = nothing of it.
    std::int64_t weight = 1;
    /// Claims of higher priority are served completely from the rest before others.
    std::int64_t priority = 0;
    /// The fair share.
    std::int64_t share = 0;
};

namespace detail {

/// Divides `rest` among claims of one priority by weight, none above its demand. Claims that demand
/// less than their part are satisfied, and the remainder is divided again (water-filling). The
/// other claims get their parts in whole units; units left by rounding go to the largest
/// remainders, then to the first claim. Returns the undivided rest. O(claims²).
inline std::int64_t fill(std::int64_t rest, std::span<share_claim*> claims) {
    auto open = claims;
    const auto close = [&](std::size_t at) {
        // The others keep their order.
        std::rotate(open.begin() + static_cast<std::ptrdiff_t>(at),
                    open.begin() + static_cast<std::ptrdiff_t>(at) + 1, open.end());
        open = open.first(open.size() - 1);
    };
    int128 weights = 0;
    for (std::size_t at = open.size(); at-- > 0;) {
        if (open[at]->weight > 0 && open[at]->wanted > open[at]->share)
            weights += open[at]->weight;
        else
            close(at);
    }
    for (bool satisfied = true; satisfied && rest > 0;) {
        satisfied = false;
        const int128 round = rest;
        const int128 all = weights;
        for (std::size_t at = open.size(); at-- > 0;) {
            share_claim& one = *open[at];
            const std::int64_t lacks = one.wanted - one.share;
            if (lacks * all > round * one.weight)
                continue;
            one.share += lacks;
            rest -= lacks;
            weights -= one.weight;
            close(at);
            satisfied = true;
        }
    }
    if (open.empty() || rest == 0)
        return rest;
    const int128 round = rest;
    for (share_claim* each : open) {
        const auto part = static_cast<std::int64_t>(round * each->weight / weights);
        each->share += part;
        rest -= part;
    }
    std::stable_sort(open.begin(), open.end(), [&](const share_claim* lhs, const share_claim* rhs) {
        return round * lhs->weight % weights > round * rhs->weight % weights;
    });
    for (share_claim* each : open) {
        if (rest == 0)
            break;
        ++each->share;
        --rest;
    }
    return rest;
}

} // namespace detail

/// Divides `total` units of one kind among sibling queues. Each claim first gets its deserved
/// amount, up to its demand, even if the sum exceeds `total`. The rest goes by priority and, within
/// a priority, by weight, only to claims with unmet demand. Exact. Preconditions: `claims` is
/// sorted by key, which decides ties; `scratch` is as long as `claims`. Returns the units without
/// demand. O(claims²) at worst, O(claims · log claims) if few are satisfied early.
///
/// (Max-min fairness with weights, as KAI's queues divide a department's share.)
inline std::int64_t divide_fairly(std::int64_t total, std::span<share_claim> claims,
                                  std::span<share_claim*> scratch) {
    MUSTER_ASSERT(scratch.size() == claims.size(), "a pointer for each claim");
    int128 left = total;
    for (std::size_t at = 0; at < claims.size(); ++at) {
        share_claim& one = claims[at];
        one.share = std::max<std::int64_t>(0, std::min(one.deserved, one.wanted));
        left -= one.share;
        scratch[at] = &one;
    }
    std::int64_t rest = left > 0 ? static_cast<std::int64_t>(left) : 0;
    std::stable_sort(scratch.begin(), scratch.end(),
                     [](const share_claim* lhs, const share_claim* rhs) {
                         return lhs->priority > rhs->priority;
                     });
    for (std::size_t first = 0; first < scratch.size() && rest > 0;) {
        std::size_t last = first;
        while (last < scratch.size() && scratch[last]->priority == scratch[first]->priority)
            ++last;
        rest = detail::fill(rest, scratch.subspan(first, last - first));
        first = last;
    }
    return rest;
}

} // namespace v0_1
} // namespace muster
