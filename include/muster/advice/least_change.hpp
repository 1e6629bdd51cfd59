// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Returns a number in (low, high] that is enough, while one less is not; nullopt if `high` is not
/// enough. Precondition: `low` is not enough. Doubles and bisects: O(log(high - low)) tests.
template<class Enough>
[[nodiscard]] std::optional<std::int64_t> least_number(std::int64_t low, std::int64_t high,
                                                       const Enough& enough) {
    if (high <= low || !enough(high))
        return std::nullopt;
    for (std::int64_t step = 1; step < high - low; step *= 2) {
        if (enough(low + step)) {
            high = low + step;
            break;
        }
        low += step;
    }
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        if (enough(middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/// Returns the indices, ascending, of some of `count` things that are enough together, but not
/// without any one of them. Prefers low indices. Returns nullopt if all things together are not
/// enough. Precondition: the empty set is not enough. O(size · log(count)) tests if more is never
/// worse.
template<class Enough>
[[nodiscard]] std::optional<std::vector<std::size_t>> least_subset(std::size_t count,
                                                                   const Enough& enough) {
    std::vector<std::size_t> kept;
    const auto with_first = [&](std::int64_t many) {
        std::vector<std::size_t> chosen(static_cast<std::size_t>(many));
        std::iota(chosen.begin(), chosen.end(), std::size_t{0});
        chosen.insert(chosen.end(), kept.begin(), kept.end());
        return enough(chosen);
    };
    // The last thing of the shortest prefix that is enough together with `kept` is needed. Adds it
    // to `kept`, and repeats with the things before it until `kept` is enough.
    for (auto left = static_cast<std::int64_t>(count);;) {
        if (!kept.empty() && enough(kept))
            break;
        const auto many = least_number(0, left, with_first);
        if (!many)
            return std::nullopt;
        left = *many - 1;
        kept.insert(kept.begin(), static_cast<std::size_t>(left));
    }
    // If more can be worse, some things may not be needed any more.
    for (std::size_t at = 0; at < kept.size() && kept.size() > 1;) {
        std::vector<std::size_t> without = kept;
        without.erase(without.begin() + static_cast<std::ptrdiff_t>(at));
        if (!enough(without)) {
            ++at;
            continue;
        }
        kept = std::move(without);
        at = 0;
    }
    return kept;
}

} // namespace detail
} // namespace v0_1
} // namespace muster
