// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/claims/device_reader.hpp>
#include <muster/apis/core/numa/node_topology_reader.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/storage_catalog.hpp>
#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/apis/core/volumes/storage_reader.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/apis/core/volumes/volume_planner.hpp>
#include <muster/apis/koordinator/devices/device_reader.hpp>
#include <muster/input/membership.hpp>
#include <muster/kube/live_devices.hpp>
#include <muster/kube/live_gangs.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// Calls `take` with the function that reads objects of a storage or device kind.
template<class Take>
void with_storage_reader(std::string_view kind, const Take& take) {
    if (kind == "PersistentVolumeClaim")
        take(&codec::read_claim);
    else if (kind == "PersistentVolume")
        take(&codec::read_volume);
    else if (kind == "StorageClass")
        take(&codec::read_storage_class);
    else if (kind == "CSINode")
        take(&codec::read_csi_node);
    else if (kind == "CSIDriver")
        take(&codec::read_csi_driver);
    else if (kind == "VolumeAttachment")
        take(&codec::read_attachment);
    else if (kind == "ResourceClaim")
        take(&codec::read_resource_claim);
    else if (kind == "ResourceSlice")
        take(&codec::read_resource_slice);
    else if (kind == "DeviceClass")
        take(&codec::read_device_class);
    else if (kind == "Device")
        take(&codec::read_koordinator_device);
    else if (kind == "NodeResourceTopology")
        take(&codec::read_node_topology);
    else
        take(&codec::read_storage_capacity);
}

/// The storage and device objects of a live cluster, and the plan of their effects on pods and
/// nodes.
class live_storage {
public:
    using object_key = codec::object_key;

    /// Pods and nodes for which a plan differs from the one before.
    struct changes {
        std::set<object_key> pods;
        std::set<std::string> nodes;
    };
    template<class Object>
    struct versioned {
        Object object;
        std::string version;
    };

    /// See live_devices::serve_fractions().
    void serve_fractions(const std::string& reservations, const std::string& scheduler) {
        devices_.serve_fractions(reservations, scheduler);
    }

    void put(codec::claim_object object, std::string version) {
        const object_key key = object.metadata.key;
        set(claims_, key, versioned<codec::claim_object>{std::move(object), std::move(version)});
    }
    void put(codec::volume_object object, std::string version) {
        const object_key key = object.metadata.key;
        set(volumes_, key, versioned<codec::volume_object>{std::move(object), std::move(version)});
    }
    void put(codec::storage_class_object object, std::string) {
        const object_key key = object.metadata.key;
        set(classes_, key, std::move(object));
    }
    void put(codec::csi_node_object object, std::string) {
        const object_key key = object.metadata.key;
        set(nodes_, key, std::move(object));
    }
    void put(codec::csi_driver_object object, std::string) {
        const object_key key = object.metadata.key;
        set(drivers_, key, std::move(object));
    }
    void put(codec::storage_capacity_object object, std::string) {
        const object_key key = object.metadata.key;
        set(capacities_, key, std::move(object));
    }
    /// Changes of the status, which are frequent, do not cause a new plan.
    void put(codec::attachment_object object, std::string) {
        const object_key key = object.metadata.key;
        const auto known = attachments_.find(key);
        if (known == attachments_.end() || !known->second.attaches_same(object))
            set(attachments_, key, std::move(object));
    }
    void put(codec::resource_claim_object object, std::string version) {
        devices_.put(std::move(object), std::move(version));
    }
    void put(codec::group_claims_object object) { devices_.put(std::move(object)); }
    void lose_group(const object_key& key) { devices_.lose_group(key); }
    void put(codec::resource_slice_object object, std::string) { devices_.put(std::move(object)); }
    void put(codec::device_class_object object, std::string) { devices_.put(std::move(object)); }
    /// `api`: the API version that serves the object.
    void put(codec::device_taint_rule_object object, std::string_view api) {
        devices_.put(std::move(object), api);
    }
    void lose_taint_rule(const object_key& key, std::string_view api) {
        devices_.lose_taint_rule(key, api);
    }
    void put(codec::koordinator_device_object object, std::string) {
        devices_.put(std::move(object));
    }
    void put(codec::node_topology_object object, std::string) { devices_.put(std::move(object)); }
    void lose(std::string_view kind, const object_key& key) {
        if (devices_.lose(kind, key))
            return;
        is_old_ = true;
        // The catalog holds pointers to the objects.
        catalog_ = {};
        if (kind == "PersistentVolumeClaim")
            claims_.erase(key);
        else if (kind == "PersistentVolume")
            volumes_.erase(key);
        else if (kind == "StorageClass")
            classes_.erase(key);
        else if (kind == "CSINode")
            nodes_.erase(key);
        else if (kind == "CSIDriver")
            drivers_.erase(key);
        else if (kind == "VolumeAttachment")
            attachments_.erase(key);
        else
            capacities_.erase(key);
    }

    /// Call when a pod was added or changed.
    void note_pod(const codec::pod_object& pod) {
        const object_key& key = pod.metadata.key;
        devices_.note_pod(pod);
        if (pod.volumes.empty()) {
            is_old_ |= users_.erase(key) > 0 || plan_.hands_out;
            return;
        }
        users_.insert(key);
        is_old_ = true;
    }
    void lose_pod(const object_key& key) {
        is_old_ |= users_.erase(key) > 0 || plan_.hands_out;
        devices_.lose_pod(key);
    }
    /// The name, a label, a taint or the allocatable of a node is new or changed, or the node is
    /// gone.
    void note_nodes() {
        is_old_ = true;
        devices_.note_nodes();
    }

    /// Plans again if something changed that affects volumes or devices. Returns the pods and nodes
    /// whose effects differ. O(1) if no pod has volumes, claims or extended resources that a
    /// DeviceClass serves; else O(such pods + storage objects + devices + nodes).
    template<std::size_t Width>
    [[nodiscard]] changes renew(const std::map<std::string, codec::node_object>& nodes,
                                const live_gangs<Width>& gangs) {
        is_old_ |= devices_.renew(nodes, gangs);
        if (std::exchange(minima_seen_, gangs.minima_changes()) != gangs.minima_changes())
            is_old_ |= plan_.hands_out;
        if (!std::exchange(is_old_, false) ||
            (users_.empty() && devices_.effects().empty() && devices_.kinds().empty() &&
             plan_.pods.empty() && plan_.kinds.empty() && !devices_.shares_gpus() &&
             !plan_.shares_gpus))
            return {};
        catalog_ = make_catalog();
        std::vector<const codec::node_object*> all;
        for (const auto& [name, node] : nodes)
            all.push_back(&node);
        std::vector<codec::volume_gang> minima;
        const std::vector<codec::volume_user> users = rank_users(gangs, minima);
        std::vector<const codec::pod_object*> standing;
        for (const auto& [key, pod] : gangs.pods())
            if (!pod.object.node.empty() && pod.object.phase != pod_phase::succeeded &&
                pod.object.phase != pod_phase::failed)
                standing.push_back(&pod.object);
        codec::volume_plan made =
            codec::volume_planner(catalog_, all, users, minima, std::move(standing)).plan();
        for (const auto& [key, each] : devices_.effects())
            made.pods[key].add_devices(each);
        made.kinds.insert(devices_.kinds().begin(), devices_.kinds().end());
        made.stocks = devices_.stocks();
        made.judge = devices_.judge();
        made.marks_nodes |= devices_.marks_nodes();
        for (const auto& [name, labels] : devices_.node_labels())
            for (const auto& [key, value] : labels)
                made.node_labels[name].set(key, value);
        made.gpu_ids = devices_.gpu_ids();
        made.function_ids = devices_.function_ids();
        made.unread_registers = devices_.unread_registers();
        made.shares_gpus = devices_.shares_gpus();
        const changes found = differences(plan_, made, nodes);
        plan_ = std::move(made);
        return found;
    }

    [[nodiscard]] const codec::volume_plan& plan() const noexcept { return plan_; }
    /// The catalog of the last plan; empty if an object was removed since.
    [[nodiscard]] const codec::storage_catalog& catalog() const noexcept { return catalog_; }
    [[nodiscard]] const versioned<codec::claim_object>* claim(const object_key& key) const {
        const auto at = claims_.find(key);
        return at == claims_.end() ? nullptr : &at->second;
    }
    [[nodiscard]] const live_devices& devices() const noexcept { return devices_; }
    [[nodiscard]] const versioned<codec::volume_object>* volume(const std::string& name) const {
        const auto at = volumes_.find(object_key{{}, name});
        return at == volumes_.end() ? nullptr : &at->second;
    }

    /// Appends copies of all objects, and marks the lists of claims, volumes and classes as
    /// complete.
    void append_copies(codec::storage_objects& to, codec::device_objects& devices) const {
        for (const auto& [key, each] : claims_)
            to.claims.push_back(each.object);
        for (const auto& [key, each] : volumes_)
            to.volumes.push_back(each.object);
        const auto append = [](const auto& from, auto& list) {
            for (const auto& [key, each] : from)
                list.push_back(each);
        };
        append(classes_, to.classes);
        append(nodes_, to.nodes);
        append(drivers_, to.drivers);
        append(capacities_, to.capacities);
        append(attachments_, to.attachments);
        to.lists_claims = to.lists_volumes = to.lists_classes = true;
        devices_.append_copies(devices);
    }
    /// The effects of devices on pods.
    [[nodiscard]] const std::map<object_key, codec::volume_effects>&
    device_effects() const noexcept {
        return devices_.effects();
    }

private:
    template<class Map, class Object>
    void set(Map& in, const object_key& key, Object object) {
        in.insert_or_assign(key, std::move(object));
        is_old_ = true;
    }

    [[nodiscard]] codec::storage_catalog make_catalog() const {
        codec::storage_catalog made;
        for (const auto& [key, each] : claims_)
            made.claims.emplace(key, &each.object);
        for (const auto& [key, each] : volumes_)
            made.volumes.emplace(key.name, &each.object);
        for (const auto& [key, each] : classes_)
            made.classes.emplace(key.name, &each);
        for (const auto& [key, each] : nodes_)
            made.nodes.emplace(key.name, &each);
        for (const auto& [key, each] : drivers_)
            made.drivers.emplace(key.name, &each);
        for (const auto& [key, each] : capacities_)
            made.capacities[each.storage_class].push_back(&each);
        for (const auto& [key, each] : attachments_)
            made.attachments[each.driver].push_back(&each);
        return made;
    }

    /// Ranks gangs for the assignment of volumes: by priority, then by the age of their oldest pod
    /// with volumes, then by name.
    template<std::size_t Width>
    [[nodiscard]] std::vector<codec::volume_user>
    rank_users(const live_gangs<Width>& gangs, std::vector<codec::volume_gang>& minima) {
        std::map<codec::group_key, std::vector<const pod_record*>> by_gang;
        for (const object_key& key : users_) {
            const auto at = gangs.pods().find(key);
            if (at == gangs.pods().end())
                continue;
            codec::group_key gang = at->second.told_in;
            // The pod's gang is determined when the pod is published; the next plan knows it.
            if (gang.name.empty()) {
                gang = {key.name_space, key.name, codec::group_origin::single_pod};
                is_old_ = true;
            }
            by_gang[gang].push_back(&at->second);
        }
        struct ranked {
            std::pair<std::int64_t, std::int64_t> rank;
            const std::vector<const pod_record*>* pods;
            typename live_gangs<Width>::gang_minima minima;
        };
        std::vector<ranked> order;
        for (const auto& [gang, pods] : by_gang) {
            std::int64_t oldest = std::numeric_limits<std::int64_t>::max();
            for (const pod_record* const pod : pods)
                oldest = std::min(oldest, pod->object.metadata.created.value_or(oldest));
            auto of = gangs.minima_of(gang);
            order.push_back({{~of.priority, oldest}, &pods, std::move(of)});
        }
        std::ranges::stable_sort(order, {}, &ranked::rank);
        std::vector<codec::volume_user> found;
        for (const ranked& each : order) {
            codec::volume_gang& gang = minima.emplace_back(each.minima.tree);
            const auto role_of = [&](const pod_record& pod) {
                return pod.told_role.value() < gang.tree.size() ? pod.told_role : vertex_index{0};
            };
            if (each.minima.pods)
                for (const object_key& key : *each.minima.pods)
                    if (const auto pod = gangs.pods().find(key); pod != gangs.pods().end())
                        gang.count(pod->second.object, role_of(pod->second));
            for (const pod_record* const pod : *each.pods) {
                if (!each.minima.pods)
                    gang.count(pod->object, role_of(*pod));
                found.push_back({&pod->object, minima.size() - 1, role_of(*pod)});
            }
        }
        return found;
    }

    [[nodiscard]] static changes
    differences(const codec::volume_plan& before, const codec::volume_plan& after,
                const std::map<std::string, codec::node_object>& nodes) {
        changes found;
        for (const auto& [key, each] : before.pods)
            if (const auto* const now = after.find(key); !now || !(*now == each))
                found.pods.insert(key);
        for (const auto& [key, each] : after.pods)
            if (!before.pods.contains(key))
                found.pods.insert(key);
        const codec::volume_supply none;
        const auto compare = [&](const codec::volume_plan& from, const codec::volume_plan& to) {
            for (const auto& [kind, supply] : from.kinds) {
                const auto other = to.kinds.find(kind);
                const codec::volume_supply& there = other == to.kinds.end() ? none : other->second;
                for (const auto& [name, node] : nodes)
                    if (supply.at(name) != there.at(name))
                        found.nodes.insert(name);
            }
        };
        compare(before, after);
        compare(after, before);
        for (const auto* stocks : {&before.stocks, &after.stocks})
            for (const auto& [name, each] : *stocks)
                if (before.stock_of(name) != after.stock_of(name))
                    found.nodes.insert(name);
        const bool marks =
            before.marks_nodes != after.marks_nodes || before.node_labels != after.node_labels;
        for (const auto& [name, node] : nodes)
            if (marks || before.shares_gpus != after.shares_gpus)
                found.nodes.insert(name);
        return found;
    }

    std::map<object_key, versioned<codec::claim_object>> claims_;
    std::map<object_key, versioned<codec::volume_object>> volumes_;
    std::map<object_key, codec::storage_class_object> classes_;
    std::map<object_key, codec::csi_node_object> nodes_;
    std::map<object_key, codec::csi_driver_object> drivers_;
    std::map<object_key, codec::storage_capacity_object> capacities_;
    std::map<object_key, codec::attachment_object> attachments_;
    std::set<object_key> users_;
    live_devices devices_;
    codec::storage_catalog catalog_;
    codec::volume_plan plan_;
    std::uint64_t minima_seen_ = 0;
    bool is_old_ = false;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
