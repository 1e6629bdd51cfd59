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

/// Input and result of the division of one resource kind, for one queue among its siblings.
struct share_claim {
    /// Granted first, up to `wanted`, even if the total is too small.
    std::int64_t deserved = 0;
    /// Demand: what the queue holds and requests, at most its quota. The share never exceeds it.
    std::int64_t wanted = 0;
    /// Weight in the division of what remains after the deserved amounts; 0 = no part of it.
    std::int64_t weight = 1;
    /// Of the rest, claims of higher priority are served completely before others.
    std::int64_t priority = 0;
    /// Result: the fair share.
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
        // Rotating, not swapping, keeps the order of the other claims.
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
            share_claim& claim = *open[at];
            const std::int64_t lacks = claim.wanted - claim.share;
            if (lacks * all > round * claim.weight)
                continue;
            claim.share += lacks;
            rest -= lacks;
            weights -= claim.weight;
            close(at);
            satisfied = true;
        }
    }
    if (open.empty() || rest == 0)
        return rest;
    const int128 round = rest;
    for (share_claim* claim : open) {
        const auto part = static_cast<std::int64_t>(round * claim->weight / weights);
        claim->share += part;
        rest -= part;
    }
    std::stable_sort(open.begin(), open.end(), [&](const share_claim* lhs, const share_claim* rhs) {
        return round * lhs->weight % weights > round * rhs->weight % weights;
    });
    for (share_claim* claim : open) {
        if (rest == 0)
            break;
        ++claim->share;
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
        share_claim& claim = claims[at];
        claim.share = std::max<std::int64_t>(0, std::min(claim.deserved, claim.wanted));
        left -= claim.share;
        scratch[at] = &claim;
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
