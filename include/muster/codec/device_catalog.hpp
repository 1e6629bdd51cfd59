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

#include <muster/codec/device_objects.hpp>
#include <muster/codec/object_metadata.hpp>

namespace muster::inline v0_1 {
namespace codec {

/// The extended resource by which every DeviceClass can be asked for is this and the class's name.
inline constexpr std::string_view implicit_device_resource = "deviceclass.resource.kubernetes.io/";

/// Objects about devices by name. The objects outlive it.
class device_catalog {
public:
    /// An input that holds no claims says nothing of them.
    explicit device_catalog(const device_objects& objects) : knows_claims(!objects.claims.empty()) {
        for (const resource_claim_object& each : objects.claims)
            claims.emplace(each.metadata.key, &each);
        for (const resource_slice_object& each : objects.slices)
            slices.push_back(&each);
        for (const device_class_object& each : objects.classes)
            add(each);
    }
    device_catalog() = default;

    std::map<object_key, const resource_claim_object*> claims;
    std::vector<const resource_slice_object*> slices;
    std::map<std::string_view, const device_class_object*> classes;
    bool knows_claims = true;

    void add(const device_class_object& each) {
        classes.emplace(each.metadata.key.name, &each);
        if (each.resource.empty())
            return;
        const device_class_object*& known = by_resource_[each.resource];
        if (!known || is_before(each, *known))
            known = &each;
    }

    /// The class whose devices serve an extended resource, or nullptr. O(log classes).
    [[nodiscard]] const device_class_object* class_of(std::string_view resource) const {
        const auto& in = resource.starts_with(implicit_device_resource) ? classes : by_resource_;
        if (&in == &classes)
            resource.remove_prefix(implicit_device_resource.size());
        const auto found = in.find(resource);
        return found == in.end() ? nullptr : found->second;
    }

private:
    /// Of several classes of one resource the newest counts, then the first by name.
    static bool is_before(const device_class_object& lhs, const device_class_object& rhs) {
        const auto created = [](const device_class_object& of) {
            return of.metadata.created.value_or(0);
        };
        return created(lhs) != created(rhs) ? created(lhs) > created(rhs)
                                            : lhs.metadata.key.name < rhs.metadata.key.name;
    }

    std::map<std::string_view, const device_class_object*> by_resource_;
};

/// A device of a complete pool.
struct pooled_device {
    device_key key;
    const device_object* device = nullptr;
    const device_nodes* nodes = nullptr;
};

/// The devices of all pools of which the newest generation is complete, in the order of their
/// keys. A pool that names a device twice has none. O(devices · log).
[[nodiscard]] inline std::vector<pooled_device>
devices_of(const std::vector<const resource_slice_object*>& slices) {
    std::map<std::pair<std::string_view, std::string_view>,
             std::vector<const resource_slice_object*>>
        pools;
    for (const resource_slice_object* const each : slices) {
        auto& pool = pools[{each->driver, each->pool}];
        if (!pool.empty() && pool.front()->generation < each->generation)
            pool.clear();
        if (pool.empty() || pool.front()->generation == each->generation)
            pool.push_back(each);
    }
    std::vector<pooled_device> found;
    for (const auto& [name, pool] : pools) {
        const auto count = static_cast<std::int64_t>(pool.size());
        if (std::ranges::any_of(pool, [&](const auto* each) { return each->slices != count; }))
            continue;
        std::map<std::string_view, pooled_device> devices;
        std::size_t listed = 0;
        for (const resource_slice_object* const slice : pool)
            for (const device_object& each : slice->devices) {
                ++listed;
                devices.emplace(each.name, pooled_device{{slice->driver, slice->pool, each.name},
                                                         &each,
                                                         slice->nodes_per_device ? &each.nodes
                                                                                 : &slice->nodes});
            }
        if (devices.size() == listed)
            for (auto& [key, each] : devices)
                found.push_back(std::move(each));
    }
    return found;
}

} // namespace codec
} // namespace muster::inline v0_1
