// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/devices/device_pools.hpp>
#include <muster/devices/device_slice.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A device of a pool.
struct pooled_device {
    device_id id;
    const device* of = nullptr;
    const device_nodes* nodes = nullptr;
};

/// A pool that gives no devices.
struct unusable_pool {
    std::string driver;
    std::string name;
    /// Why it gives none: "1 of 2 slices", "duplicate device name gpu-0".
    std::string why;
    /// The devices of the slices that are present.
    std::vector<pooled_device> devices;
};

/// The devices of all pools.
struct pooled_devices {
    /// Those of complete and valid pools, in the order of their ids.
    std::vector<pooled_device> usable;
    /// The other pools, by driver and name.
    std::vector<unusable_pool> unusable;
};

namespace detail {

/// Returns the slices of the newest generation of each pool, by driver and name. O(slices · log
/// slices).
[[nodiscard]] inline std::map<std::pair<std::string_view, std::string_view>,
                              std::vector<const resource_slice_object*>>
newest_slices(const std::vector<const resource_slice_object*>& slices) {
    std::map<std::pair<std::string_view, std::string_view>,
             std::vector<const resource_slice_object*>>
        pools;
    for (const resource_slice_object* const each : slices) {
        auto& pool = pools[{each->slice.driver, each->slice.pool}];
        if (!pool.empty() && pool.front()->slice.generation < each->slice.generation)
            pool.clear();
        if (pool.empty() || pool.front()->slice.generation == each->slice.generation)
            pool.push_back(each);
    }
    return pools;
}

/// Returns why a pool with these slices gives no devices; empty if it does. O(devices · log
/// devices).
[[nodiscard]] inline std::string
why_no_devices(const std::vector<const resource_slice_object*>& of) {
    const auto count = static_cast<std::int64_t>(of.size());
    for (const resource_slice_object* const each : of)
        if (each->slice.slice_count != count)
            return std::to_string(count) + " of " + std::to_string(each->slice.slice_count) +
                   " slices";
    std::vector<slice_view> views;
    for (const resource_slice_object* const each : of) {
        slice_view& view = views.emplace_back();
        view.slice = &each->slice;
        view.reaches_node = true;
        view.reached.assign(each->nodes_of.size(), true);
    }
    for (device_pool& each : gather_pools(views, {}))
        if (each.state != pool_state::complete)
            return std::move(each.defect);
    return {};
}

} // namespace detail

/// Returns the devices of all pools. A pool gives devices if all slices of its newest generation
/// are present, list no device or counter set twice, and have all counters that the devices
/// consume. O(devices · log devices).
[[nodiscard]] inline pooled_devices
find_pooled_devices(const std::vector<const resource_slice_object*>& slices) {
    pooled_devices found;
    for (const auto& [name, pool] : detail::newest_slices(slices)) {
        std::vector<pooled_device> devices;
        for (const resource_slice_object* const from : pool) {
            const device_slice& slice = from->slice;
            for (std::size_t at = 0; at < slice.devices.size(); ++at)
                devices.push_back({{slice.driver, slice.pool, slice.devices[at].name},
                                   &slice.devices[at],
                                   &from->nodes_at(at)});
        }
        std::ranges::sort(devices, {}, [](const pooled_device& each) -> const std::string& {
            return each.id.device;
        });
        std::string why = detail::why_no_devices(pool);
        const auto twice = std::ranges::adjacent_find(
            devices, {},
            [](const pooled_device& each) -> const std::string& { return each.id.device; });
        if (why.empty() && twice != devices.end())
            why = "duplicate device name " + twice->id.device;
        if (!why.empty())
            found.unusable.push_back({std::string(name.first), std::string(name.second),
                                      std::move(why), std::move(devices)});
        else
            std::ranges::move(devices, std::back_inserter(found.usable));
    }
    return found;
}

/// Returns the devices of complete and valid pools; see find_pooled_devices().
[[nodiscard]] inline std::vector<pooled_device>
devices_of(const std::vector<const resource_slice_object*>& slices) {
    return std::move(find_pooled_devices(slices).usable);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
