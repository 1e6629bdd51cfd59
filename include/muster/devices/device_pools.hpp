// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/devices/device_features.hpp>
#include <muster/devices/device_slice.hpp>

namespace muster {
inline namespace v0_1 {

/// A slice, as one node sees it. The caller evaluates the node selectors.
struct slice_view {
    /// Not null; must outlive the view.
    const device_slice* slice = nullptr;
    /// The node reaches at least one of its devices, or its counter sets.
    bool reaches_node = false;
    /// By index: the node reaches the device. Empty = the slice does not select nodes per device,
    /// and the node reaches all of them or none.
    std::vector<bool> reached;
    /// False if the node lacks a feature that the slice needs: its devices match requests, but
    /// cannot be allocated.
    bool allocatable = true;

    [[nodiscard]] bool reaches(std::size_t device) const {
        return reached.empty() || (device < reached.size() && reached[device]);
    }
};

enum class pool_state : std::uint8_t {
    complete,
    /// Not all slices of the newest generation are known. Nothing is allocated from the pool.
    incomplete,
    /// The slices contradict one another. Nothing is allocated from the pool.
    invalid
};

/// The slices of a pool, as one node sees them.
struct device_pool {
    std::string driver;
    std::string name;
    pool_state state = pool_state::complete;
    /// Why the pool is invalid.
    std::string defect;
    /// Slices with devices that the node reaches, by name. Empty if the pool is not complete.
    std::vector<const slice_view*> on_node;
    /// Further slices with devices. Their devices in use consume counters, too.
    std::vector<const slice_view*> elsewhere;
    std::vector<const counter_set*> counter_sets;
};

namespace detail {

[[nodiscard]] inline bool has_compatibility_groups(const device_slice& slice) noexcept {
    for (const device& device : slice.devices)
        for (const counter_consumption& consumption : device.consumes)
            if (!consumption.compatibility_groups.empty())
                return true;
    return false;
}

[[nodiscard]] inline bool has_binding_conditions(const device_pool& pool) noexcept {
    for (const slice_view* view : pool.on_node)
        for (const device& device : view->slice->devices)
            if (!device.binding_conditions.empty())
                return true;
    return false;
}

/// Returns what is wrong with the names of the devices; empty if nothing is.
[[nodiscard]] inline std::string name_defect(const std::vector<const slice_view*>& slices) {
    std::set<std::string_view> names;
    for (const slice_view* view : slices)
        for (const device& device : view->slice->devices)
            if (!names.insert(device.name).second)
                return "duplicate device name " + device.name;
    return {};
}

using counter_sets_by_name = std::map<std::string_view, const counter_set*>;

/// Returns what is wrong with the counters that devices consume; empty if nothing is.
[[nodiscard]] inline std::string counter_defect(const std::vector<const slice_view*>& slices,
                                                const counter_sets_by_name& sets) {
    for (const slice_view* view : slices)
        for (const device& device : view->slice->devices)
            for (const counter_consumption& consumption : device.consumes) {
                const auto found = sets.find(consumption.counter_set);
                if (found == sets.end())
                    return "device " + device.name + " consumes the unknown counter set " +
                           consumption.counter_set;
                for (const auto& [name, amount] : consumption.counters)
                    if (!found->second->counters.contains(name))
                        return "device " + device.name + " consumes the unknown counter " + name +
                               " of counter set " + consumption.counter_set;
            }
    return {};
}

/// Returns what is wrong with the pool, and fills its counter sets; empty if nothing is.
[[nodiscard]] inline std::string pool_defect(device_pool& pool,
                                             const std::vector<const slice_view*>& with_counters,
                                             const device_features& features) {
    if (auto defect = name_defect(pool.on_node); !defect.empty())
        return defect;
    if (!features.partitionable_devices)
        return {};
    counter_sets_by_name sets;
    for (const slice_view* view : with_counters)
        for (const counter_set& set : view->slice->counter_sets) {
            if (!sets.emplace(set.name, &set).second)
                return "duplicate counter set " + set.name;
            pool.counter_sets.push_back(&set);
        }
    auto defect = counter_defect(pool.on_node, sets);
    return defect.empty() ? counter_defect(pool.elsewhere, sets) : defect;
}

/// The slices of one pool.
struct slices_of_pool {
    /// Slices of the newest generation that reach the node.
    std::vector<const slice_view*> on_node;
    /// All slices, of every generation.
    std::vector<const slice_view*> all;
};

/// Returns true if a newer generation exists that does not reach the node. As in Kubernetes, a
/// generation of which all slices reach the node is used until it is deleted.
[[nodiscard]] inline bool is_replaced(const slices_of_pool& slices) noexcept {
    const device_slice& first = *slices.on_node.front()->slice;
    if (static_cast<std::int64_t>(slices.on_node.size()) == first.slice_count)
        return false;
    for (const slice_view* view : slices.all)
        if (view->slice->generation > first.generation)
            return true;
    return false;
}

[[nodiscard]] inline device_pool make_pool(slices_of_pool slices, const device_features& features) {
    const device_slice& first = *slices.on_node.front()->slice;
    device_pool pool{first.driver, first.pool, pool_state::complete, {}, {}, {}, {}};
    std::stable_sort(slices.on_node.begin(), slices.on_node.end(),
                     [](const slice_view* lhs, const slice_view* rhs) {
                         return lhs->slice->name < rhs->slice->name;
                     });
    std::vector<const slice_view*> with_counters;
    const auto add = [&](const slice_view* view, std::vector<const slice_view*>& others) {
        const bool counters = features.partitionable_devices && !view->slice->counter_sets.empty();
        (counters ? with_counters : others).push_back(view);
    };
    for (const slice_view* view : slices.on_node)
        add(view, pool.on_node);
    if (static_cast<std::int64_t>(slices.on_node.size()) != first.slice_count) {
        std::int64_t known = 0;
        for (const slice_view* view : slices.all) {
            if (view->slice->generation != first.generation ||
                (!features.compatibility_groups && has_compatibility_groups(*view->slice)))
                continue;
            ++known;
            if (std::find(slices.on_node.begin(), slices.on_node.end(), view) ==
                slices.on_node.end())
                add(view, pool.elsewhere);
        }
        if (known != first.slice_count)
            pool.state = pool_state::incomplete;
    }
    if (pool.state == pool_state::complete) {
        pool.defect = pool_defect(pool, with_counters, features);
        if (!pool.defect.empty())
            pool.state = pool_state::invalid;
    }
    if (pool.state != pool_state::complete) {
        pool.on_node.clear();
        pool.elsewhere.clear();
        pool.counter_sets.clear();
    }
    return pool;
}

} // namespace detail

/// Groups slices into the pools that a node reaches, in the order in which Kubernetes allocates
/// from them: by driver and name, pools with binding conditions last. `views` has all slices of the
/// cluster, or at least all slices of every pool that the node reaches, and must outlive the pools.
/// A pool of which the newest generation does not reach the node is left out.
/// O(devices log devices).
[[nodiscard]] inline std::vector<device_pool> gather_pools(const std::vector<slice_view>& views,
                                                           const device_features& features) {
    std::map<std::pair<std::string_view, std::string_view>, detail::slices_of_pool> slices;
    for (const slice_view& view : views) {
        auto& pool = slices[{view.slice->driver, view.slice->pool}];
        pool.all.push_back(&view);
        const bool ignored =
            (!features.partitionable_devices &&
             (!view.slice->counter_sets.empty() || !view.reached.empty())) ||
            (!features.compatibility_groups && detail::has_compatibility_groups(*view.slice));
        if (!view.reaches_node || ignored)
            continue;
        if (!pool.on_node.empty()) {
            const auto newest = pool.on_node.front()->slice->generation;
            if (view.slice->generation < newest)
                continue;
            if (view.slice->generation > newest)
                pool.on_node.clear();
        }
        pool.on_node.push_back(&view);
    }
    std::vector<device_pool> pools;
    std::vector<device_pool> with_conditions;
    for (auto& [id, of_pool] : slices) {
        if (of_pool.on_node.empty())
            continue;
        if (detail::is_replaced(of_pool))
            continue;
        auto pool = detail::make_pool(std::move(of_pool), features);
        (detail::has_binding_conditions(pool) ? with_conditions : pools).push_back(std::move(pool));
    }
    for (device_pool& pool : with_conditions)
        pools.push_back(std::move(pool));
    return pools;
}

} // namespace v0_1
} // namespace muster
