// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Maximum number of combinations of devices that are compared by their links.
inline constexpr std::int64_t most_link_combinations = 10'000;

[[nodiscard]] inline std::int64_t link_of(std::span<const shared_device> devices, std::size_t from,
                                          std::size_t to) noexcept {
    return to < devices[from].links.size() ? devices[from].links[to] : 0;
}

/// Returns whether there are at most `most_link_combinations` ways to choose `count` of `size`.
/// O(count).
[[nodiscard]] constexpr bool has_few_combinations(std::size_t size, std::size_t count) noexcept {
    std::int64_t ways = 1;
    for (std::size_t at = 1; at <= std::min(count, size - count); ++at) {
        ways = ways * static_cast<std::int64_t>(size - at + 1) / static_cast<std::int64_t>(at);
        if (ways > most_link_combinations)
            return false;
    }
    return true;
}

/// Returns the position of the device with the least links to the others; the first if several
/// have. Precondition: there is a device. O(n²).
[[nodiscard]] inline std::size_t least_linked(const std::vector<std::size_t>& among,
                                              std::span<const shared_device> devices) {
    std::size_t least = 0;
    std::optional<std::int64_t> least_sum;
    for (std::size_t at = 0; at < among.size(); ++at) {
        std::int64_t sum = 0;
        for (const std::size_t other : among)
            if (other != among[at])
                sum = saturating_add(sum, link_of(devices, among[at], other));
        if (!least_sum || sum < *least_sum) {
            least_sum = sum;
            least = at;
        }
    }
    return least;
}

/// Returns the positions of `count` devices with the best links between them; the first ones if
/// several combinations have. O(count² × combinations). Precondition: 0 < count <= size.
[[nodiscard]] inline std::vector<std::size_t> best_linked(const std::vector<std::size_t>& among,
                                                          std::span<const shared_device> devices,
                                                          std::size_t count) {
    std::vector<std::size_t> chosen(count);
    for (std::size_t at = 0; at < count; ++at)
        chosen[at] = at;
    std::vector<std::size_t> best;
    std::int64_t best_sum = 0;
    while (true) {
        std::int64_t sum = 0;
        for (std::size_t lhs = 0; lhs < count; ++lhs)
            for (std::size_t rhs = lhs + 1; rhs < count; ++rhs)
                sum = saturating_add(sum, link_of(devices, among[chosen[lhs]], among[chosen[rhs]]));
        if (best.empty() || sum > best_sum) {
            best = chosen;
            best_sum = sum;
        }
        // The next combination: advances the last position that is not at its end.
        std::size_t last = count;
        while (last > 0 && chosen[last - 1] == among.size() - count + last - 1)
            --last;
        if (last == 0)
            return best;
        ++chosen[last - 1];
        for (std::size_t at = last; at < count; ++at)
            chosen[at] = chosen[at - 1] + 1;
    }
}

/// Moves the `count` devices that HAMi chooses by links to the front of the candidates: for several
/// devices those with the best links to each other, for one device the one with the least links to
/// the other candidates, so that well linked ones stay free. The order is kept if there are too
/// many combinations, or if a device is partitioned. O(n² + count² × combinations).
inline void put_linked_first(std::vector<std::size_t>& candidates,
                             std::span<const shared_device> devices, std::size_t count) {
    const auto is_partitioned = [&](std::size_t index) { return devices[index].is_partitioned; };
    if (count == 0 || candidates.size() <= count ||
        std::any_of(candidates.begin(), candidates.end(), is_partitioned) ||
        !has_few_combinations(candidates.size(), count))
        return;
    const std::vector<std::size_t> first = count == 1
                                               ? std::vector{least_linked(candidates, devices)}
                                               : best_linked(candidates, devices, count);
    std::vector<std::size_t> sorted;
    for (const std::size_t at : first)
        sorted.push_back(candidates[at]);
    for (std::size_t at = 0; at < candidates.size(); ++at)
        if (std::find(first.begin(), first.end(), at) == first.end())
            sorted.push_back(candidates[at]);
    candidates = std::move(sorted);
}

} // namespace detail
} // namespace v0_1
} // namespace muster
