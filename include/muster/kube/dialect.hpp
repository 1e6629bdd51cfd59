// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/gang_facts.hpp>
#include <muster/input/membership.hpp>
#include <muster/kube/http.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// The API whose groups and queues are read and whose group status is written, by the name that
/// users type: `dialect` of one of translate::gang_facts.
struct dialect {
    std::string_view name{};

    static const dialect t9k; ///< and groups that ACK's labels define
    static const dialect scheduler_plugins;
    static const dialect volcano;
    static const dialect kai;
    static const dialect koordinator;
    static const dialect workload; ///< Kubernetes' own, of 1.35 and 1.36

    [[nodiscard]] friend constexpr bool operator==(dialect, dialect) = default;
};

inline constexpr dialect dialect::t9k{translate::t9k_facts.dialect};
inline constexpr dialect dialect::scheduler_plugins{translate::plugins_facts.dialect};
inline constexpr dialect dialect::volcano{translate::volcano_facts.dialect};
inline constexpr dialect dialect::kai{translate::kai_facts.dialect};
inline constexpr dialect dialect::koordinator{translate::koordinator_facts.dialect};
inline constexpr dialect dialect::workload{translate::workload_facts.dialect};

struct dialect_facts {
    dialect which{};
    std::string_view name{};
    /// Name of the API's own scheduler. Empty = kube-scheduler; its pods are scheduled only if the
    /// caller names it explicitly.
    std::string_view scheduler_name{};
};

namespace detail {

[[nodiscard]] constexpr auto list_dialects() {
    constexpr auto count =
        std::ranges::count_if(translate::gang_facts, [](const translate::api_facts& each) {
            return !each.dialect.empty();
        });
    std::array<dialect_facts, count> made{};
    std::size_t at = 0;
    for (const translate::api_facts& each : translate::gang_facts)
        if (!each.dialect.empty())
            made[at++] = {{each.dialect}, each.dialect, each.scheduler};
    return made;
}

} // namespace detail

inline constexpr auto dialects = detail::list_dialects();

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
    std::string_view version{};
    std::string_view kind{};
    std::string_view plural{};
    content holds = content::node;
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

namespace detail {

/// What of Kubernetes itself bears on decisions, but for pods.
inline constexpr std::array<collection, 19> core_collections{{
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
    // Which of these versions a server has depends on its own; all of them have the same objects.
    {"resource.k8s.io/v1", "DeviceTaintRule", "devicetaintrules", content::storage, {}, true, true},
    {"resource.k8s.io/v1beta2",
     "DeviceTaintRule",
     "devicetaintrules",
     content::storage,
     {},
     true,
     true},
    {"resource.k8s.io/v1alpha3",
     "DeviceTaintRule",
     "devicetaintrules",
     content::storage,
     {},
     true,
     true},
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
}};

/// The collections of all gang APIs that hold what decisions know as `of`. With `planned`, those
/// that only snapshots list; else all others.
template<class Visit>
constexpr void each_api_collection(content of, bool planned, const Visit& visit) {
    for (const translate::api_facts& api : translate::gang_facts)
        for (const translate::api_collection& each : api.collections) {
            const content holds = each.holds == translate::api_content::group   ? content::group
                                  : each.holds == translate::api_content::queue ? content::queue
                                                                                : content::topology;
            if (holds == of && each.planned_only == planned)
                visit(collection{each.version, each.kind, each.plural, holds,
                                 api.dialect.empty() ? std::nullopt
                                                     : std::optional(dialect{api.dialect}),
                                 true});
        }
}

inline constexpr std::array api_contents{content::topology, content::queue, content::group};

[[nodiscard]] constexpr auto list_collections() {
    constexpr std::size_t count = [] {
        std::size_t sum = core_collections.size() + 1;
        for (const content of : api_contents)
            each_api_collection(of, false, [&](const collection&) { ++sum; });
        return sum;
    }();
    std::array<collection, count> made{};
    std::size_t at = 0;
    for (const collection& each : core_collections)
        made[at++] = each;
    for (const content of : api_contents)
        each_api_collection(of, false, [&](const collection& each) { made[at++] = each; });
    made[at] = {"v1", "Pod", "pods", content::pod};
    return made;
}

} // namespace detail

/// All that bears on decisions, in the order in which it is listed: what others refer to first.
inline constexpr auto collections = detail::list_collections();

/// Followed only if there are default spread constraints. A snapshot holds their selectors.
inline constexpr std::array<collection, 4> spread_collections{{
    {"v1", "Service", "services", content::spread_owner, {}, true},
    {"v1", "ReplicationController", "replicationcontrollers", content::spread_owner, {}, true},
    {"apps/v1", "ReplicaSet", "replicasets", content::spread_owner, {}, true},
    {"apps/v1", "StatefulSet", "statefulsets", content::spread_owner, {}, true},
}};

/// Returns the collections that a snapshot of a cluster holds: all that affect decisions, of all
/// dialects. Pods are the last. On a live cluster, controllers make claims and PodGroups from some
/// of these objects; for a snapshot, the plan does.
[[nodiscard]] inline std::vector<collection> snapshot_collections() {
    std::vector<collection> all(spread_collections.begin(), spread_collections.end());
    all.insert(all.end(), collections.begin(), collections.end() - 1);
    all.push_back({"resource.k8s.io/v1",
                   "ResourceClaimTemplate",
                   "resourceclaimtemplates",
                   content::storage,
                   {},
                   true,
                   true});
    detail::each_api_collection(content::group, true,
                                [&](const collection& each) { all.push_back(each); });
    all.push_back(collections.back());
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
