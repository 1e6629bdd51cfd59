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

/// Maximum number of links that are read for one choice. 8 of 16 devices need 360,360.
inline constexpr std::int64_t most_link_reads = 400'000;

[[nodiscard]] inline std::int64_t link_of(std::span<const shared_device> devices, std::size_t from,
                                          std::size_t to) noexcept {
    return to < devices[from].links.size() ? devices[from].links[to] : 0;
}

/// Returns whether the links of all ways to choose `count` of `size` devices are at most
/// `most_link_reads`. O(count). Precondition: count <= size.
[[nodiscard]] constexpr bool has_few_combinations(std::size_t size, std::size_t count) noexcept {
    if (size > static_cast<std::size_t>(most_link_reads))
        return false;
    const auto chosen = static_cast<std::int64_t>(count);
    const std::int64_t pairs = std::max<std::int64_t>(1, chosen * (chosen - 1) / 2);
    std::int64_t ways = 1;
    for (std::size_t at = 1; at <= std::min(count, size - count); ++at) {
        ways = ways * static_cast<std::int64_t>(size - at + 1) / static_cast<std::int64_t>(at);
        if (ways > most_link_reads / pairs)
            return false;
    }
    return pairs <= most_link_reads;
}

/// Returns whether `most_link_reads` allows the links between all of `size` devices. O(1).
[[nodiscard]] constexpr bool has_few_links(std::size_t size) noexcept {
    const auto most = static_cast<std::size_t>(most_link_reads);
    return size == 0 || size <= most / size;
}

/// Returns the position of the device with the smallest sum of link scores to the others; if
/// several tie, the first one. Precondition: there is a device. O(n²).
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
    int128 best_sum = 0;
    // By position: the links between the chosen devices before it.
    std::vector<int128> sums(count + 1);
    std::size_t changed = 0;
    while (true) {
        for (; changed < count; ++changed) {
            sums[changed + 1] = sums[changed];
            for (std::size_t at = 0; at < changed; ++at)
                sums[changed + 1] += link_of(devices, among[chosen[at]], among[chosen[changed]]);
        }
        if (best.empty() || sums[count] > best_sum) {
            best = chosen;
            best_sum = sums[count];
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
        changed = last - 1;
    }
}

/// Returns the positions of `count` devices with good links between them: the two with the best
/// link, and then each time the one with the best links to those. The first one if several have.
/// O(n²). Precondition: 1 < count <= size.
[[nodiscard]] inline std::vector<std::size_t> well_linked(const std::vector<std::size_t>& among,
                                                          std::span<const shared_device> devices,
                                                          std::size_t count) {
    const auto link = [&](std::size_t lhs, std::size_t rhs) {
        return link_of(devices, among[std::min(lhs, rhs)], among[std::max(lhs, rhs)]);
    };
    std::vector<std::size_t> chosen{0, 1};
    for (std::size_t lhs = 0; lhs < among.size(); ++lhs)
        for (std::size_t rhs = lhs + 1; rhs < among.size(); ++rhs)
            if (link(lhs, rhs) > link(chosen[0], chosen[1]))
                chosen = {lhs, rhs};
    std::vector<int128> sums(among.size());
    std::vector<bool> is_chosen(among.size());
    const auto add = [&](std::size_t position) {
        is_chosen[position] = true;
        for (std::size_t at = 0; at < among.size(); ++at)
            if (!is_chosen[at])
                sums[at] += link(at, position);
    };
    add(chosen[0]);
    add(chosen[1]);
    while (chosen.size() < count) {
        std::optional<std::size_t> next;
        for (std::size_t at = 0; at < among.size(); ++at)
            if (!is_chosen[at] && (!next || sums[at] > sums[*next]))
                next = at;
        chosen.push_back(*next);
        add(*next);
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

/// Moves the `count` devices that HAMi chooses by links to the front of the candidates: for several
/// devices those with the best links to each other, for one device the one with the least links to
/// the other candidates, so that well linked ones stay free. If all combinations have more links
/// than `most_link_reads`, the devices are chosen one after the other (well_linked()), and HAMi can
/// choose others. The order is kept if the candidates have more links than that between them, or if
/// a device is partitioned. O(n²), and O(count² × combinations) up to `most_link_reads`.
inline void put_linked_first(std::vector<std::size_t>& candidates,
                             std::span<const shared_device> devices, std::size_t count) {
    const auto is_partitioned = [&](std::size_t index) { return devices[index].is_partitioned; };
    if (count == 0 || candidates.size() <= count || !has_few_links(candidates.size()) ||
        std::any_of(candidates.begin(), candidates.end(), is_partitioned))
        return;
    const std::vector<std::size_t> first =
        count == 1 ? std::vector{least_linked(candidates, devices)}
        : has_few_combinations(candidates.size(), count) ? best_linked(candidates, devices, count)
                                                         : well_linked(candidates, devices, count);
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
