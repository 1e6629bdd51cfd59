// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/storage_catalog.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/vocabulary/node_names.hpp>

namespace cli {

/// Binds a claim to a new volume that every node can use. It is attached by the driver of the
/// claim's class, if the class makes volumes. Returns an error if no pod uses the claim, else an
/// empty text.
[[nodiscard]] inline std::string bind_claim(const muster::codec::object_key& key,
                                            muster::codec::manifests& objects) {
    using namespace muster::codec;
    const pod_object* user = nullptr;
    const pod_volume* use = nullptr;
    for (const pod_object& pod : objects.pods)
        for (const pod_volume& each : pod.volumes)
            if (pod.metadata.key.name_space == key.name_space && each.claim == key.name) {
                user = &pod;
                use = &each;
            }
    if (!user)
        return "no pod uses a claim " + in_quotes(key.name);
    const auto known = std::ranges::find(
        objects.storage.claims, key, [](const claim_object& each) { return each.metadata.key; });
    claim_object& claim =
        known == objects.storage.claims.end() ? objects.storage.claims.emplace_back() : *known;
    claim.metadata.key = key;
    claim.metadata.terminating = false;
    claim.lost = false;
    claim.bound = true;
    claim.selected_node.clear();
    claim.asks.volume = "volume-for-" + key.name_space + "-" + key.name;
    if (use->from == pod_volume::source::ephemeral) {
        claim.owner_uid = user->metadata.uid;
        claim.owner_name = user->metadata.key.name;
    }
    // If the input may have left out its volumes, all volumes already count as usable.
    if (!objects.storage.knows_volumes())
        return {};
    volume_object volume;
    volume.metadata.key.name = claim.asks.volume;
    volume.available = false;
    const storage_catalog catalog(objects.storage);
    if (const auto* const of = storage_catalog::find(catalog.classes, catalog.class_of(claim.asks));
        of && of->provisions())
        volume.driver = of->provisioner;
    objects.storage.volumes.push_back(std::move(volume));
    return {};
}

/// Names of volumes (or handles, of disks that pods name), each with a node.
using volumes_on_nodes = std::set<std::pair<std::string, std::string>>;

/// Returns the volumes that placed pods use. Empty if there are no VolumeAttachments.
[[nodiscard]] inline volumes_on_nodes volumes_in_use(const muster::codec::manifests& objects) {
    using namespace muster::codec;
    volumes_on_nodes found;
    if (objects.storage.attachments.empty())
        return found;
    std::map<object_key, const claim_object*> claims;
    for (const claim_object& each : objects.storage.claims)
        claims.emplace(each.metadata.key, &each);
    for (const pod_object& pod : objects.pods)
        for (const pod_volume& each : pod.volumes) {
            if (pod.node.empty())
                continue;
            if (!each.handle.empty())
                found.emplace(pod.node, each.handle);
            const auto claim = claims.find(object_key{pod.metadata.key.name_space, each.claim});
            if (claim != claims.end())
                found.emplace(pod.node, claim->second->asks.volume);
        }
    return found;
}

/// Removes the VolumeAttachments of volumes that were in use on their nodes and are no longer.
inline void detach_unused(const volumes_on_nodes& were_in_use, muster::codec::manifests& objects) {
    const volumes_on_nodes in_use = volumes_in_use(objects);
    std::erase_if(objects.storage.attachments, [&](const auto& each) {
        const std::pair on_node(each.node, each.volume.empty() ? each.handle : each.volume);
        return were_in_use.contains(on_node) && !in_use.contains(on_node);
    });
}

/// Copies each object, and appends the copies for which `change` returns true.
template<class Object, class Change>
void copy_objects(std::vector<Object>& objects, const Change& change) {
    for (std::size_t at = 0, count = objects.size(); at < count; ++at) {
        Object made = objects[at];
        if (change(made))
            objects.push_back(std::move(made));
    }
}

/// Replaces the node's name or host name in requirements by the name of the copy. Returns false if
/// no requirement names the node.
[[nodiscard]] inline bool rename_in(std::vector<muster::label_requirement>& requirements,
                                    const muster::codec::node_object& like,
                                    const std::string& name) {
    bool renamed = false;
    for (muster::label_requirement& each : requirements)
        if (muster::names_node(each, like.metadata.key.name, like.metadata.labels)) {
            each.values.front() = name;
            renamed = true;
        }
    return renamed;
}

/// Gives the copy of a node the same storage as the original (`like`): its CSI drivers, and copies
/// of the storage pools that only the original can use. Volumes stay on the original.
inline void copy_storage(const muster::codec::node_object& like, const std::string& name,
                         muster::codec::storage_objects& storage) {
    using namespace muster::codec;
    const auto rename = [&](auto& requirements) { return rename_in(requirements, like, name); };
    copy_objects(storage.nodes, [&](csi_node_object& of) {
        return of.metadata.key.name == like.metadata.key.name &&
               !(of.metadata.key.name = name).empty();
    });
    copy_objects(storage.capacities, [&](storage_capacity_object& of) {
        of.metadata.key.name += "-on-" + name;
        return of.nodes && rename(of.nodes->requirements);
    });
}

/// Gives the copy of a node copies of the ResourceSlices of the original (`like`).
inline void copy_devices(const muster::codec::node_object& like, const std::string& name,
                         muster::codec::device_objects& devices) {
    copy_objects(devices.slices, [&](muster::codec::resource_slice_object& of) {
        if (!of.nodes_of.empty() || of.nodes.name != like.metadata.key.name)
            return false;
        of.metadata.key.name += "-on-" + name;
        of.slice.name += "-on-" + name;
        of.slice.pool += "-on-" + name;
        of.nodes.name = name;
        return true;
    });
}

/// Adds the NUMA zones of the node for a copy of it that has no pods.
inline void copy_zones(const muster::codec::node_object& like, const std::string& name,
                       std::vector<muster::codec::node_topology_object>& topologies) {
    copy_objects(topologies, [&](muster::codec::node_topology_object& of) {
        if (of.metadata.key.name != like.metadata.key.name)
            return false;
        of.metadata.key.name = name;
        of.reported.reset();
        if (of.zones)
            for (muster::numa_zone& zone : of.zones->zones)
                for (auto& each : zone.supplies)
                    each.second.available = each.second.allocatable;
        return true;
    });
}

} // namespace cli
