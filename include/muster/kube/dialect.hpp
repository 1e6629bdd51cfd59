// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/input/membership.hpp>
#include <muster/kube/http.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// The API whose groups and queues are read and whose group status is written.
enum class dialect : std::uint8_t {
    t9k, ///< and groups that ACK's labels define
    scheduler_plugins,
    volcano,
    kai,
    koordinator,
    workload, ///< Kubernetes' own, of 1.35 and 1.36
};

struct dialect_facts {
    dialect which;
    std::string_view name;
    /// Name of the API's own scheduler. Empty = kube-scheduler; its pods are scheduled only if the
    /// caller names it explicitly.
    std::string_view scheduler_name;
};

inline constexpr std::array<dialect_facts, 6> dialects{{
    {dialect::t9k, "t9k", "t9k-scheduler"},
    {dialect::scheduler_plugins, "scheduler-plugins", "scheduler-plugins-scheduler"},
    {dialect::volcano, "volcano", "volcano"},
    {dialect::kai, "kai", "kai-scheduler"},
    {dialect::koordinator, "koordinator", "koord-scheduler"},
    {dialect::workload, "workload", ""},
}};

[[nodiscard]] inline std::optional<dialect> find_dialect(std::string_view name) noexcept {
    for (const dialect_facts& each : dialects)
        if (each.name == name)
            return each.which;
    return std::nullopt;
}

/// The names by which pods ask for the schedulers of these dialects.
[[nodiscard]] inline std::vector<std::string> scheduler_names_of(std::span<const dialect> which) {
    std::vector<std::string> names;
    for (const dialect_facts& each : dialects)
        if (std::ranges::find(which, each.which) != which.end() && !each.scheduler_name.empty())
            names.emplace_back(each.scheduler_name);
    return names;
}

/// Returns the queues that admit all groups if they do not exist.
[[nodiscard]] inline std::set<std::string> default_queues_of(std::span<const dialect> which) {
    std::set<std::string> names{"default"};
    if (std::ranges::find(which, dialect::kai) != which.end())
        names.emplace(codec::kai_default_queue);
    return names;
}

/// What the objects of a collection are to decisions.
enum class content : std::uint8_t {
    node,
    name_space,
    priority_class,
    budget,
    storage,     ///< storage and devices
    shared_gpus, ///< Koordinator's Devices; HAMi's and Volcano's are annotations of nodes
    topology,
    queue,
    group,
    pod,
    spread_owner, ///< selects pods for default spread constraints
};

/// Objects of one kind of an API server.
struct collection {
    std::string_view version;
    std::string_view kind;
    std::string_view plural;
    content holds;
    std::optional<dialect> of{}; ///< absent = all dialects
    /// Not every server has it.
    bool may_be_absent = false;
    /// Optional: without the right to read it, it counts as empty.
    bool may_be_denied = false;

    [[nodiscard]] std::string path() const {
        return (version == "v1" ? "/api/" : "/apis/") + std::string(version) + "/" +
               std::string(plural);
    }
    [[nodiscard]] std::string path_of(const codec::object_key& key) const {
        return (version == "v1" ? "/api/" : "/apis/") + std::string(version) + "/namespaces/" +
               escape(key.name_space) + "/" + std::string(plural) + "/" + escape(key.name);
    }
};

/// All that bears on decisions, in the order in which it is listed: what others refer to first.
inline constexpr std::array<collection, 29> collections{{
    {"v1", "Node", "nodes", content::node},
    {"v1", "Namespace", "namespaces", content::name_space},
    {"scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", content::priority_class},
    {"policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", content::budget, {}, true, true},
    {"storage.k8s.io/v1", "StorageClass", "storageclasses", content::storage, {}, true, true},
    {"storage.k8s.io/v1", "CSIDriver", "csidrivers", content::storage, {}, true, true},
    {"storage.k8s.io/v1", "CSINode", "csinodes", content::storage, {}, true, true},
    {"storage.k8s.io/v1",
     "CSIStorageCapacity",
     "csistoragecapacities",
     content::storage,
     {},
     true,
     true},
    {"v1", "PersistentVolume", "persistentvolumes", content::storage, {}, true, true},
    {"v1", "PersistentVolumeClaim", "persistentvolumeclaims", content::storage, {}, true, true},
    {"storage.k8s.io/v1",
     "VolumeAttachment",
     "volumeattachments",
     content::storage,
     {},
     true,
     true},
    {"resource.k8s.io/v1", "DeviceClass", "deviceclasses", content::storage, {}, true, true},
    {"resource.k8s.io/v1", "ResourceSlice", "resourceslices", content::storage, {}, true, true},
    {"resource.k8s.io/v1", "ResourceClaim", "resourceclaims", content::storage, {}, true, true},
    {"scheduling.koordinator.sh/v1alpha1",
     "Device",
     "devices",
     content::shared_gpus,
     {},
     true,
     true},
    {"topology.node.k8s.io/v1alpha2",
     "NodeResourceTopology",
     "noderesourcetopologies",
     content::storage,
     {},
     true,
     true},
    {"kai.scheduler/v1alpha1", "Topology", "topologies", content::topology, dialect::kai, true},
    {"scheduler.tensorstack.dev/v1beta1", "Queue", "queues", content::queue, dialect::t9k, true},
    {"scheduling.run.ai/v2", "Queue", "queues", content::queue, dialect::kai, true},
    {"scheduling.volcano.sh/v1beta1", "Queue", "queues", content::queue, dialect::volcano, true},
    {"scheduler.tensorstack.dev/v1beta1", "PodGroup", "podgroups", content::group, dialect::t9k,
     true},
    {"scheduling.run.ai/v2alpha2", "PodGroup", "podgroups", content::group, dialect::kai, true},
    {"scheduling.volcano.sh/v1beta1", "PodGroup", "podgroups", content::group, dialect::volcano,
     true},
    {"scheduling.x-k8s.io/v1alpha1", "PodGroup", "podgroups", content::group,
     dialect::scheduler_plugins, true},
    {"scheduling.sigs.k8s.io/v1alpha1", "PodGroup", "podgroups", content::group,
     dialect::koordinator, true},
    {"scheduling.k8s.io/v1alpha1", "Workload", "workloads", content::group, dialect::workload,
     true},
    {"scheduling.k8s.io/v1alpha2", "Workload", "workloads", content::group, dialect::workload,
     true},
    {"scheduling.k8s.io/v1alpha2", "PodGroup", "podgroups", content::group, dialect::workload,
     true},
    {"v1", "Pod", "pods", content::pod},
}};

/// Followed only if there are default spread constraints. A snapshot holds their selectors.
inline constexpr std::array<collection, 4> spread_collections{{
    {"v1", "Service", "services", content::spread_owner, {}, true},
    {"v1", "ReplicationController", "replicationcontrollers", content::spread_owner, {}, true},
    {"apps/v1", "ReplicaSet", "replicasets", content::spread_owner, {}, true},
    {"apps/v1", "StatefulSet", "statefulsets", content::spread_owner, {}, true},
}};

/// Collections that only snapshots list. On a live cluster, controllers make claims and PodGroups
/// from these objects; for a snapshot, the plan does.
inline constexpr std::array<collection, 2> planned_collections{{
    {"resource.k8s.io/v1",
     "ResourceClaimTemplate",
     "resourceclaimtemplates",
     content::storage,
     {},
     true,
     true},
    {"scheduler.grove.io/v1alpha1", "PodGang", "podgangs", content::group, {}, true},
}};

/// Returns the collections that a snapshot of a cluster holds: all that affect decisions, of all
/// dialects. Pods are the last.
[[nodiscard]] inline std::vector<collection> snapshot_collections() {
    std::vector<collection> all(spread_collections.begin(), spread_collections.end());
    all.insert(all.end(), collections.begin(), collections.end());
    all.insert(all.end() - 1, planned_collections.begin(), planned_collections.end());
    return all;
}

/// What a scheduler of these dialects follows, in the same order.
[[nodiscard]] inline std::vector<collection> collections_of(std::span<const dialect> which,
                                                            bool with_spread_owners = false) {
    std::vector<collection> found;
    if (with_spread_owners)
        found.assign(spread_collections.begin(), spread_collections.end());
    for (const collection& each : collections)
        if (!each.of || std::ranges::find(which, *each.of) != which.end())
            found.push_back(each);
    return found;
}

} // namespace kube
} // namespace v0_1
} // namespace muster
