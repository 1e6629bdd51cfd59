// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/records.hpp>
#include <muster/cycle/decision.hpp>
#include <muster/vocabulary/answer.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// The visit at which a decision was made, and the previous answer.
struct noted {
    std::uint32_t visit = 0;
    last_verdict before;
};

/// Returns the decision that was made at that visit of a cycle; null if none was noted. `made` has
/// the visits of the first `count` decisions of the result, in ascending order.
[[nodiscard]] inline decision* decision_of(cycle_result& result, const sequence<noted>& made,
                                           std::size_t count, std::uint32_t visit) {
    const auto first = made.begin();
    const auto end = first + static_cast<std::ptrdiff_t>(count);
    const auto found = std::lower_bound(
        first, end, visit, [](const noted& lhs, std::uint32_t other) { return lhs.visit < other; });
    return found != end && found->visit == visit
               ? &result.decisions[static_cast<std::size_t>(found - first)]
               : nullptr;
}

/// Sorts decisions by visit, since some are noted late.
inline void order_by_visits(cycle_result& result, sequence<noted>& made) {
    detail::sequence<std::size_t> order(made.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    detail::stable_sort(order, {}, [&](std::size_t at) { return made[at].visit; });
    std::vector<decision> decisions;
    sequence<noted> notes;
    for (const std::size_t at : order) {
        decisions.push_back(std::move(result.decisions[at]));
        notes.push_back(made[at]);
    }
    result.decisions = std::move(decisions);
    made = std::move(notes);
}

} // namespace detail
} // namespace v0_1
} // namespace muster
