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

/// A number above `low` and at most `high` that is enough, while one less is not; `low` is known
/// not to be. Nothing when `high` is not enough. By doubling and bisecting: O(log(high - low))
/// tests.
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

/// Some of `count` things that are enough together, while without any one of them they are not;
/// those with low numbers are taken first. Ascending. The empty set is known not to be enough;
/// nothing when all of them are not. O(size · log(count)) tests where more is never worse.
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
    // The last of the fewest first ones that are enough is needed; so is, beside it, the last of
    // the fewest others.
    for (auto left = static_cast<std::int64_t>(count);;) {
        if (!kept.empty() && enough(kept))
            break;
        const auto many = least_number(0, left, with_first);
        if (!many)
            return std::nullopt;
        left = *many - 1;
        kept.insert(kept.begin(), static_cast<std::size_t>(left));
    }
    // Where more can be worse, some may have become needless.
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
