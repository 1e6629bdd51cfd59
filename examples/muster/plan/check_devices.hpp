// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/apis/core/claims/device_homes.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/vocabulary/node.hpp>

namespace cli {

/// How many devices can serve extended resources, counted from the ResourceSlices alone. A bound
/// from above: devices that share counters, and devices of which a class cannot be decided, count.
class device_room {
public:
    /// The objects outlive it.
    explicit device_room(const muster::codec::manifests& objects)
        : objects_(&objects), catalog_(objects.devices) {}

    /// The name of the class that serves a resource on a node: one that lists none of it. Empty:
    /// none.
    [[nodiscard]] std::string_view class_on(const muster::codec::node_object& node,
                                            const std::string& resource) const {
        const auto listed = node.allocatable.find(resource);
        if (listed != node.allocatable.end() && listed->second > 0)
            return {};
        const auto* const serving = catalog_.class_of(resource);
        return serving ? std::string_view(serving->metadata.key.name) : std::string_view{};
    }

    /// Devices of a class in the cluster. The first call for a class is O(devices).
    [[nodiscard]] std::int64_t in_cluster(std::string_view name) {
        return static_cast<std::int64_t>(devices_of_class(name).size());
    }

    /// Devices of a class that reach a node. O(devices).
    [[nodiscard]] std::int64_t on(const muster::codec::node_object& node, std::string_view name) {
        muster::node<1> view;
        view.name = node.metadata.key.name;
        view.labels = node.metadata.labels;
        return std::ranges::count_if(devices_of_class(name),
                                     [&](const muster::codec::device_nodes* reached) {
                                         return muster::codec::reaches(view, *reached);
                                     });
    }

private:
    using reached_nodes = std::vector<const muster::codec::device_nodes*>;

    /// Of each device of the class, the nodes that it reaches.
    const reached_nodes& devices_of_class(std::string_view name) {
        const auto [at, is_new] = found_.try_emplace(name);
        if (!is_new)
            return at->second;
        if (!uses_) {
            uses_.emplace(find_uses());
            devices_ = muster::codec::devices_of(catalog_.slices);
        }
        const auto& selectors = catalog_.classes.at(name)->selectors.selectors;
        for (const muster::codec::pooled_device& one : devices_) {
            const auto use = uses_->find(one.id);
            const bool is_out =
                use == uses_->end() ? muster::codec::is_tainted(*one.of) : !use->second;
            if (!is_out && std::ranges::none_of(selectors, [&](const auto& each) {
                    return each.matches(one.of->attributes).outcome ==
                           muster::selector_outcome::differs;
                }))
                at->second.push_back(one.nodes);
        }
        return at->second;
    }

    /// Devices that are allocated; true of those that a pod on a node holds by what it requests.
    [[nodiscard]] std::map<muster::device_id, bool> find_uses() const {
        std::set<std::string_view> standing;
        for (const auto& pod : objects_->pods)
            if (!pod.node.empty())
                standing.insert(pod.metadata.uid);
        std::map<muster::device_id, bool> uses;
        for (const auto& claim : objects_->devices.claims)
            if (claim.allocation)
                for (const auto& each : claim.allocation->devices)
                    if (!each.admin_access)
                        uses[each.id] = claim.is_extended && standing.contains(claim.owner_uid);
        return uses;
    }

    const muster::codec::manifests* objects_;
    muster::codec::device_catalog catalog_;
    std::vector<muster::codec::pooled_device> devices_;
    std::optional<std::map<muster::device_id, bool>> uses_;
    std::map<std::string_view, reached_nodes> found_;
};

} // namespace cli
