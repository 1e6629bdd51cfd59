// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/devices/share_links.hpp>
#include <muster/devices/share_order.hpp>
#include <muster/devices/share_request.hpp>
#include <muster/devices/share_rules.hpp>
#include <muster/devices/shared_device.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Devices from which all devices of a request are chosen, in the order in which they are tried.
using share_place = std::vector<std::size_t>;

[[nodiscard]] inline bool at_same_place(const shared_device& lhs, const shared_device& rhs,
                                        share_nearness level) noexcept {
    switch (level) {
    case share_nearness::same_pcie:
        return lhs.numa == rhs.numa && lhs.pcie == rhs.pcie;
    case share_nearness::same_numa:
        return lhs.numa == rhs.numa;
    case share_nearness::same_node:
    case share_nearness::anywhere:
        return true;
    }
    return true;
}

/// Groups candidates by place. The places are in the order of their first candidates. O(n ×
/// places).
[[nodiscard]] inline std::vector<share_place> places_of(const std::vector<std::size_t>& candidates,
                                                        std::span<const shared_device> devices,
                                                        share_nearness level) {
    std::vector<share_place> places;
    for (const std::size_t index : candidates) {
        const auto found =
            std::find_if(places.begin(), places.end(), [&](const share_place& place) {
                return at_same_place(devices[place.front()], devices[index], level);
            });
        if (found == places.end())
            places.push_back({index});
        else
            found->push_back(index);
    }
    return places;
}

/// Returns how many of a device's places (node, NUMA node, PCIe root), up to `level`, have a device
/// of its type in use, which may be the device itself. O(devices).
[[nodiscard]] inline int places_in_use(std::size_t index, std::span<const shared_device> devices,
                                       const std::vector<share_use>& uses, share_nearness level) {
    int count = 0;
    for (const auto at :
         {share_nearness::same_node, share_nearness::same_numa, share_nearness::same_pcie}) {
        if (at > level)
            break;
        for (std::size_t other = 0; other < devices.size(); ++other)
            if (uses[other].amounts != share_amounts{} &&
                devices[index].type == devices[other].type &&
                at_same_place(devices[index], devices[other], at)) {
                ++count;
                break;
            }
    }
    return count;
}

/// Adds the places of one level, sorted by places_in_use() of their first device, largest first;
/// then by the first key of `near_order`; then by NUMA node and PCIe root. O(n²) for n devices.
inline void add_near_places(const std::vector<std::size_t>& candidates,
                            std::span<const shared_device> devices,
                            const std::vector<share_use>& uses, const share_request& request,
                            share_nearness level, std::vector<share_place>& to) {
    struct entry {
        int company;
        int128 key;
        share_place place;
    };
    std::vector<entry> entries;
    for (share_place& place : places_of(candidates, devices, level)) {
        const std::size_t first = place.front();
        const int company = places_in_use(first, devices, uses, level);
        const int128 key = value_of(request.near_order.front(), devices[first], uses[first].amounts,
                                    request, first);
        entries.push_back({company, key, std::move(place)});
    }
    std::stable_sort(entries.begin(), entries.end(), [&](const entry& lhs, const entry& rhs) {
        const shared_device& left = devices[lhs.place.front()];
        const shared_device& right = devices[rhs.place.front()];
        if (lhs.company != rhs.company)
            return lhs.company > rhs.company;
        if (lhs.key != rhs.key)
            return lhs.key < rhs.key;
        return std::pair(left.numa, std::string_view(left.pcie)) <
               std::pair(right.numa, std::string_view(right.pcie));
    });
    for (entry& each : entries)
        to.push_back(std::move(each.place));
}

/// Adds the partitions of `count` devices that suit the request, each as one place. O(partitions² ×
/// devices).
inline void add_partitions(const std::vector<std::size_t>& candidates, std::size_t count,
                           const partition_table& table, const std::vector<share_use>& uses,
                           const partition_wish& wish, std::vector<share_place>& to) {
    std::vector<bool> used;
    for (const share_use& each : uses)
        used.push_back(each.amounts != share_amounts{});
    std::vector<bool> accepted(uses.size());
    for (const std::size_t index : candidates)
        accepted[index] = true;
    for (const device_partition* const each :
         suiting_partitions(table, count, wish, used, accepted))
        to.push_back(each->devices);
}

/// Returns the places from which the `count` devices of a request can be chosen, best first: first
/// the partitions, if the request uses them. Each choice of devices that the request allows lies in
/// at least one place. O(n²) for n devices.
[[nodiscard]] inline std::vector<share_place>
share_places(std::vector<std::size_t> candidates, std::size_t count,
             std::span<const shared_device> devices, const std::vector<share_use>& uses,
             const share_request& request, const partition_table& table) {
    if (candidates.empty())
        return {};
    std::vector<share_place> places;
    if (request.partition) {
        add_partitions(candidates, count, table, uses, *request.partition, places);
        if (request.partition->is_required || table.is_required)
            return places;
        std::erase_if(candidates,
                      [&](std::size_t index) { return is_lost(devices[index], request.within); });
    }
    // Places are sorted only if the place of every device of the type is known.
    const bool is_known =
        std::all_of(devices.begin(), devices.end(), [&](const shared_device& each) {
            return each.type != request.filter.type || (each.numa && !each.pcie.empty());
        });
    const bool is_near = request.prefers_near && is_known;
    sort_devices(candidates, devices, uses, request, is_near ? request.near_order : request.order);
    if (!is_near) {
        for (share_place& each : places_of(candidates, devices, request.within)) {
            if (request.prefers_links)
                put_linked_first(each, devices, count);
            places.push_back(std::move(each));
        }
        return places;
    }
    for (const auto level :
         {share_nearness::same_pcie, share_nearness::same_numa, share_nearness::same_node}) {
        if (level < request.within)
            break;
        add_near_places(candidates, devices, uses, request, level, places);
        // A single device already lies in a place of the first level.
        if (count <= 1)
            break;
    }
    return places;
}

} // namespace detail
} // namespace v0_1
} // namespace muster
