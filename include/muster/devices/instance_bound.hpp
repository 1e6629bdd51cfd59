// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/devices/gpu_instance.hpp>

namespace muster {
inline namespace v0_1 {

/// Equal shares of a request.
struct instance_need {
    /// The least memory of an instance for a share on any of the request's devices.
    std::int64_t memory = 0;
    /// Number of shares; less than 1 = none.
    std::int64_t count = 1;
    /// Only partitioned devices can serve the shares. False: they do not count.
    bool only_partitioned = true;
};

/// A partitioned device. The instances must outlive this object.
struct instance_supply {
    std::span<const gpu_instance> instances = {};
    /// The slices in use.
    std::uint64_t used = 0;
};

namespace detail {

/// Returns whether the instances with `beside` form groups of which, on an unused device, only one
/// can be used: each instance is in its own group, and groups do not overlap. O(instances²).
[[nodiscard]] inline bool has_groups(std::span<const gpu_instance> among) noexcept {
    return std::all_of(among.begin(), among.end(), [&](const gpu_instance& each) {
        return each.beside == 0 ||
               ((each.slices & ~each.beside) == 0 &&
                std::all_of(among.begin(), among.end(), [&](const gpu_instance& other) {
                    return other.beside == each.beside ||
                           ((other.beside | other.slices) & each.beside) == 0;
                }));
    });
}

/// Returns an upper bound, up to `most`, on the number of shares with at least this memory that the
/// device can serve beyond its present use. O(instances² + instances × most).
[[nodiscard]] inline std::size_t most_shares_of(const instance_supply& device, std::int64_t memory,
                                                std::size_t most) noexcept {
    const auto& among = device.instances;
    const std::size_t limit = std::min(most, static_cast<std::size_t>(most_slices));
    const auto count = [&](const auto& accepts) {
        return static_cast<std::size_t>(
            std::count_if(among.begin(), among.end(), [&](const gpu_instance& each) {
                return each.memory >= memory && each.slices != 0 && accepts(each);
            }));
    };
    if (std::none_of(among.begin(), among.end(),
                     [](const gpu_instance& each) { return each.beside != 0; }))
        return most_instances(among, device.used, memory, 0, limit);
    if (!has_groups(among))
        // An instance can become free when one beside it is used.
        return std::min(limit, count([&](const gpu_instance& each) {
                            return (device.used & (each.slices | each.apart_from)) == 0;
                        }));
    const auto free_beside = [&](std::uint64_t beside) {
        return count([&](const gpu_instance& each) {
            return each.beside == beside && each.is_free(device.used);
        });
    };
    // In use, a device keeps the groups that are in use. Else the first instance decides.
    if (device.used != 0)
        return most_instances(among, device.used, memory, 0, limit);
    std::size_t most_beside = 0;
    for (const gpu_instance& each : among)
        if (each.beside != 0)
            most_beside = std::max(most_beside, free_beside(each.beside));
    return std::min(limit, free_beside(0) + most_beside);
}

} // namespace detail

/// Returns false only if no choice of instances serves all shares: for some amount of memory, more
/// shares need at least that much than there are such instances that can be used together. True
/// says nothing about whether they fit. Only memory and slices are compared, not slots or cores.
/// O(n log n + distinct amounts × devices × instances²) for n needs. Precondition: no memory is
/// negative.
[[nodiscard]] inline bool may_fit_instances(std::span<const instance_supply> devices,
                                            std::span<const instance_need> needs) {
    std::vector<std::pair<std::int64_t, std::int64_t>> sorted;
    sorted.reserve(needs.size());
    for (const instance_need& each : needs)
        if (each.only_partitioned && each.count > 0)
            sorted.emplace_back(each.memory, each.count);
    std::sort(sorted.begin(), sorted.end(), std::greater<>{});
    std::int64_t shares = 0;
    for (std::size_t at = 0; at < sorted.size(); ++at) {
        shares = saturating_add(shares, sorted[at].second);
        if (at + 1 < sorted.size() && sorted[at + 1].first == sorted[at].first)
            continue;
        std::int64_t left = shares;
        for (std::size_t device = 0; device < devices.size() && left > 0; ++device)
            left -= static_cast<std::int64_t>(detail::most_shares_of(
                devices[device], sorted[at].first, static_cast<std::size_t>(left)));
        if (left > 0)
            return false;
    }
    return true;
}

} // namespace v0_1
} // namespace muster
