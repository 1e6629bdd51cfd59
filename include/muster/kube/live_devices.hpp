// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/codec/device_catalog.hpp>
#include <muster/codec/device_claims.hpp>
#include <muster/codec/device_objects.hpp>
#include <muster/codec/device_planner.hpp>
#include <muster/codec/objects.hpp>
#include <muster/codec/volume_plan.hpp>
#include <muster/kube/live_gangs.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// The device objects of a live cluster, and their effects on pods with ResourceClaims or extended
/// resources. Muster does not write allocations yet, so pods that need one wait.
class live_devices {
public:
    using object_key = codec::object_key;

    void put(codec::resource_claim_object object) { set(claims_, std::move(object)); }
    void put(codec::resource_slice_object object) { set(slices_, std::move(object)); }
    void put(codec::device_class_object object) { set(classes_, std::move(object)); }
    /// Removes an object. Returns false if the kind is not a device kind.
    bool lose(std::string_view kind, const object_key& key) {
        if (kind == "ResourceClaim")
            claims_.erase(key);
        else if (kind == "ResourceSlice")
            slices_.erase(key);
        else if (kind == "DeviceClass")
            classes_.erase(key);
        else
            return false;
        is_old_ = true;
        return true;
    }

    /// Call when a pod was added or changed.
    void note_pod(const codec::pod_object& pod) {
        const object_key& key = pod.metadata.key;
        const bool has_claims = !pod.claims.empty();
        const bool may_be_served = std::ranges::any_of(pod.requests, [](const auto& each) {
            return each.first.find('/') != std::string::npos;
        });
        if (!pod.node.empty() || (!has_claims && !may_be_served))
            return lose_pod(key);
        users_.insert(key);
        is_old_ =
            is_old_ || has_claims || !classes_.empty() || any_agent_ || effects_.contains(key);
    }
    void lose_pod(const object_key& key) {
        users_.erase(key);
        is_old_ |= effects_.contains(key);
    }
    /// Call when a node was added or removed, or its labels or allocatable changed.
    void note_nodes() { is_old_ = true; }

    /// Recomputes the effects if something changed. Returns true if they differ from before. O(1)
    /// if nothing changed, O(nodes) if no pod needs devices, else
    /// O(devices + pods of `users_` × nodes).
    template<std::size_t Width>
    [[nodiscard]] bool renew(const std::map<std::string, codec::node_object>& nodes,
                             const live_gangs<Width>& gangs) {
        if (!std::exchange(is_old_, false))
            return false;
        any_agent_ = std::ranges::any_of(
            nodes, [](const auto& each) { return !each.second.of_agents.empty(); });
        if (users_.empty() && effects_.empty())
            return false;
        codec::device_catalog catalog;
        for (const auto& [key, each] : claims_)
            catalog.claims.emplace(key, &each);
        for (const auto& [key, each] : slices_)
            catalog.slices.push_back(&each);
        for (const auto& [key, each] : classes_)
            catalog.add(each);
        std::vector<const codec::node_object*> all;
        for (const auto& [name, node] : nodes)
            all.push_back(&node);
        std::vector<const codec::pod_object*> pods;
        for (const object_key& key : users_)
            if (const auto at = gangs.pods().find(key); at != gangs.pods().end())
                pods.push_back(&at->second.object);
        codec::volume_plan made;
        codec::device_planner(catalog, all, codec::device_writes::reservations)
            .plan(pods, {}, made);
        const bool differs = made.pods != effects_;
        effects_ = std::move(made.pods);
        return differs;
    }

    /// The effects of devices on pods: reasons to wait, and allowed nodes.
    [[nodiscard]] const std::map<object_key, codec::volume_effects>& effects() const noexcept {
        return effects_;
    }

    /// Appends copies of all device objects.
    void append_copies(codec::device_objects& to) const {
        for (const auto& [key, each] : claims_)
            to.claims.push_back(each);
        for (const auto& [key, each] : slices_)
            to.slices.push_back(each);
        for (const auto& [key, each] : classes_)
            to.classes.push_back(each);
    }

    /// Returns nullptr if there is no such ResourceClaim.
    [[nodiscard]] const codec::resource_claim_object* claim(const object_key& key) const {
        const auto at = claims_.find(key);
        return at == claims_.end() ? nullptr : &at->second;
    }

private:
    template<class Object>
    void set(std::map<object_key, Object>& in, Object object) {
        object_key key = object.metadata.key;
        in.insert_or_assign(std::move(key), std::move(object));
        is_old_ = true;
    }

    std::map<object_key, codec::resource_claim_object> claims_;
    std::map<object_key, codec::resource_slice_object> slices_;
    std::map<object_key, codec::device_class_object> classes_;
    /// Pods without a node that have claims or request a resource that a DeviceClass might serve.
    std::set<object_key> users_;
    std::map<object_key, codec::volume_effects> effects_;
    /// Some node has a resource that only the agent of another scheduler gives.
    bool any_agent_ = false;
    bool is_old_ = false;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
