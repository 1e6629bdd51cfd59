// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/numa/node_topology.hpp>
#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/apis/shares/node_shares.hpp>
#include <muster/base/checked.hpp>
#include <muster/devices/numa_zones.hpp>
#include <muster/document/document.hpp>
#include <muster/document/object_metadata.hpp>
#include <muster/gangs/gang_api.hpp>
#include <muster/resource/quantity.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/gang.hpp>
#include <muster/vocabulary/labels.hpp>
#include <muster/vocabulary/pod.hpp>
#include <muster/vocabulary/preemption_scope.hpp>
#include <muster/vocabulary/taints.hpp>
#include <muster/vocabulary/topology.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// An amount of one kind in thousandths, wide enough for sums, with the way it was written.
struct named_amount {
    int128 milli = 0;
    quantity_format format = quantity_format::decimal_si;
};

/// Amounts by the name of their kind.
using named_amounts = std::map<std::string, named_amount>;

/// `resources` of a container or a pod.
struct resource_lists {
    named_amounts requests;
    named_amounts limits;
};

/// The `resources` of a container, and its name.
struct container_resources {
    std::string name;
    resource_lists amounts;
    bool is_init = false;
    /// An init container that keeps running (`restartPolicy: Always`); `is_init` is false.
    bool is_sidecar = false;
};

struct node_object {
    object_metadata metadata;
    /// Rounded down to what the core counts in: thousandths of cpu, units of all else.
    std::map<std::string, std::int64_t> allocatable;
    /// Resources that only the node agent of another scheduler gives to pods, with its name. They
    /// are not in `allocatable`, but in `agent_amounts`.
    std::map<std::string, std::string> of_agents;
    std::map<std::string, std::int64_t> agent_amounts;
    std::vector<taint> taints;
    bool unschedulable = false;
};

/// The object that controls a pod.
struct controller_reference {
    std::string version;
    std::string kind;
    std::string name;
};

struct pod_object {
    object_metadata metadata;
    /// Read only if the reading rules have default spread constraints.
    std::optional<controller_reference> controller;
    named_amounts requests;
    constraints where;
    /// What of it is not modelled, in the fields' own words; the pod waits for as long as any is.
    std::vector<std::string> unsupported;
    /// Those of `unsupported` that request shares of devices.
    std::vector<std::string> share_marks;
    /// Init containers first. Empty if the pod requests neither GPUs nor shares of devices.
    std::vector<container_resources> share_containers;
    /// What the kubelet aligns to NUMA zones, on nodes whose zones list the resources.
    numa_demand aligned;
    /// Those of `unsupported` by which it names a gang of another API than T9k's and ACK's.
    std::vector<std::string> gang_marks;
    /// Volumes that restrict the nodes of the pod.
    std::vector<pod_volume> volumes;
    /// ResourceClaims of the pod.
    std::vector<pod_claim> claims;
    /// What its containers request of resources that a DeviceClass may serve.
    std::vector<extended_request> extended;
    /// The claim for these (`status.extendedResourceClaimStatus`); empty = none.
    std::string extended_claim;
    /// Its PodGroup of Kubernetes (`spec.schedulingGroup.podGroupName`); empty = none.
    std::string pod_group;
    pod_phase phase = pod_phase::pending;
    /// The scheduling gates of a gated pod, by name.
    std::vector<std::string> gates;
    /// Its one gate is that of Grove's dialect `seed`, which the scheduler takes off when it places
    /// the pod.
    bool schedulers_gate = false;
    /// As the API server has it, for counts: Pending, Running, Succeeded, Failed or Unknown.
    std::string api_phase = "Pending";
    std::string node;
    /// The node to which a scheduler nominated the pod; empty = none.
    std::string nominated_node;
    std::string scheduler_name;
    std::string runtime_class;
    /// True if the pod names an overhead, which is part of `requests`.
    bool has_overhead = false;
    std::optional<std::int64_t> priority;
    std::string priority_class;
    /// Its preemptionPolicy is Never.
    bool never_preempts = false;
    /// When it became PodScheduled=True.
    std::optional<timestamp> scheduled;
    /// When its kubelet took it up.
    std::optional<timestamp> started;
    /// False when its condition Ready says so.
    bool ready = true;
    /// How long it runs at most once started, in nanoseconds: what the annotation
    /// `muster.dev/run-seconds` declares, less `muster.dev/ran-seconds`, or its
    /// activeDeadlineSeconds, whichever is less.
    std::optional<std::int64_t> run_time;
};

struct role_minimum {
    std::string name;
    std::int64_t min_member = 0;
};

/// A condition as T9k writes it.
struct condition {
    std::string type;
    bool is_true = false;
    std::string reason;
    std::string message;
    std::string transition_id;
    std::optional<timestamp> changed;
};

/// scheduler.tensorstack.dev/v1beta1 PodGroup.
struct pod_group_object {
    object_metadata metadata;
    std::int64_t min_member = 0;
    std::vector<role_minimum> roles;
    /// It has a topologyPolicy, which is not modelled: its members wait.
    bool topology_policy = false;
    /// Which part of it could not be read; empty = none. Its members wait.
    std::string unread;
    std::string queue = "default";
    std::int64_t priority = 0;
    std::vector<condition> conditions;
};

/// How a group is declared.
struct group_origin {
    std::uint8_t rank = 0;
    /// Of a gang that objects or marks of this API declare.
    translate::gang_api api = translate::gang_api::none;

    /// A T9k PodGroup object, or pods that name one.
    static const group_origin pod_group;
    /// ACK labels on its pods.
    static const group_origin labels;
    /// A pod of its own.
    static const group_origin single_pod;
    /// A job whose pods are still to be made.
    static const group_origin job;

    /// Objects of another gang API, or pods that name one.
    [[nodiscard]] static constexpr group_origin declared(translate::gang_api api) noexcept {
        return {3, api};
    }

    [[nodiscard]] friend constexpr bool operator==(const group_origin&,
                                                   const group_origin&) = default;
    [[nodiscard]] friend constexpr auto operator<=>(const group_origin&,
                                                    const group_origin&) = default;
};

inline constexpr group_origin group_origin::pod_group{0, {}};
inline constexpr group_origin group_origin::labels{1, {}};
inline constexpr group_origin group_origin::single_pod{2, {}};
inline constexpr group_origin group_origin::job{4, {}};

/// The name that reports use; that of the API for gangs that another API declares.
[[nodiscard]] constexpr std::string_view to_text(const group_origin& of) noexcept {
    return of == group_origin::pod_group    ? "podGroup"
           : of == group_origin::labels     ? "labels"
           : of == group_origin::single_pod ? "pod"
           : of == group_origin::job        ? "job"
                                            : of.api.name;
}

/// A gang that another API than T9k's and ACK's defines, or that a job makes.
struct declared_gang {
    object_metadata metadata;
    group_origin origin = group_origin::job;
    /// Of the object, such as PodGroup or JobSet.
    std::string kind;
    gang_tree tree;
    /// Empty: it names none.
    std::string queue;
    std::int64_t priority = 0;
    bool preemptible = true;
    bool may_preempt = true;
    gang_fault fault = gang_fault::none;
    std::string fault_detail;
    /// What is asked of it as a whole and not modelled: its members wait.
    std::string unsupported;
    /// The Topology that its levels are of; empty: none is named.
    std::string topology;
    /// The objects that define the gang if they are several of one API, as in a gang group.
    std::vector<object_key> parts;
    /// Its pods, each at its leaf of the tree.
    std::map<object_key, vertex_index> members;
};

/// A queue of T9k (scheduler.tensorstack.dev/v1beta1), KAI (scheduling.run.ai/v2), Volcano
/// (scheduling.volcano.sh/v1beta1) or Kueue (kueue.x-k8s.io), with amounts in the core's units.
struct queue_object {
    object_metadata metadata;
    /// All but T9k's: of no namespace.
    bool of_cluster = false;
    /// The queue above it; empty = none.
    std::string parent;
    std::map<std::string, std::int64_t> quota;
    std::map<std::string, std::int64_t> non_preemptible_quota;
    std::map<std::string, std::int64_t> deserved;
    std::map<std::string, std::int64_t> guarantee;
    std::int64_t priority = 0;
    bool closed = false;
    /// Kinds that it does not deserve, other than pods, it has nothing of (Kueue: no flavor).
    bool nothing_else = false;
    bool preemptible = true;
    /// See `queue`.
    preemption_scope within_queue = preemption_scope::never;
    preemption_scope within_cohort = preemption_scope::never;
    std::optional<std::int64_t> borrow_within_cohort;
    /// See `queue` (Volcano: dequeueStrategy is fifo).
    bool strict_order = false;
    std::int64_t weight = 1;
    /// In nanoseconds, see `queue`.
    std::optional<std::int64_t> preempt_min_runtime;
    std::optional<std::int64_t> reclaim_min_runtime;
    /// How old its pods may get, in nanoseconds; absent = any age.
    std::optional<std::int64_t> max_duration;
    /// Namespaces that may use it; absent = none, without requirements = all, but of T9k's = none.
    std::optional<label_selector> namespaces;
    label_selector nodes;

    /// T9k's count where they live, others everywhere.
    [[nodiscard]] bool counts(const std::string& t9k_namespace) const {
        return of_cluster || metadata.key.name_space == t9k_namespace;
    }
};

/// kueue.x-k8s.io LocalQueue: the name in a namespace of the ClusterQueue that it leads to.
struct local_queue_object {
    object_metadata metadata;
    std::string cluster_queue;
    /// The queue's stopPolicy lets no group start.
    bool held = false;
};

/// kueue.x-k8s.io WorkloadPriorityClass.
struct workload_priority_object {
    object_metadata metadata;
    std::int64_t value = 0;
};

/// kai.scheduler/v1alpha1 Topology.
struct topology_object {
    object_metadata metadata;
    topology levels;
    /// Names that stand for node labels, with these.
    std::map<std::string, std::string, std::less<>> aliases;

    /// The node label that is meant.
    [[nodiscard]] const std::string& label_of(const std::string& named) const {
        const auto alias = aliases.find(named);
        return alias == aliases.end() ? named : alias->second;
    }
};

/// So many pods, or so many percent of them.
struct pods_or_percent {
    std::int64_t value = 0;
    bool percent = false;
};

/// policy/v1 PodDisruptionBudget.
struct disruption_budget_object {
    object_metadata metadata;
    /// Absent = no pod; without requirements = all pods of its namespace.
    std::optional<label_selector> pods;
    std::optional<pods_or_percent> min_available;
    std::optional<pods_or_percent> max_unavailable;
    /// Its unhealthyPodEvictionPolicy is AlwaysAllow.
    bool frees_unready = false;
    /// As its status has it.
    std::optional<std::int64_t> expected_pods;
};

struct namespace_object {
    object_metadata metadata;
};

struct priority_class_object {
    object_metadata metadata;
    std::int64_t value = 0;
    bool global_default = false;
    /// Its preemptionPolicy is Never.
    bool never_preempts = false;
};

/// node.k8s.io/v1 RuntimeClass: what the API server adds to pods that name it.
struct runtime_class_object {
    object_metadata metadata;
    named_amounts overhead;
    std::vector<label_requirement> selector;
    std::vector<toleration> tolerations;
    /// Parts of the class that are not modelled or could not be read: its pods wait.
    std::vector<std::string> unsupported;
};

/// A Service, ReplicationController, ReplicaSet or StatefulSet, for the pods that it selects.
struct spread_owner_object {
    object_metadata metadata;
    std::string kind;
    /// Selects pods of the object's namespace. Absent = no pods; without requirements = all pods.
    std::optional<label_selector> pods;
};

/// What an input holds, as far as it is understood. It refers to the documents that it was read
/// from, to say where an object stands.
struct manifests {
    std::vector<node_object> nodes;
    std::vector<pod_object> pods;
    std::vector<pod_group_object> pod_groups;
    std::vector<queue_object> queues;
    /// In the order of their names.
    std::vector<local_queue_object> local_queues;
    /// It speaks of Kueue's queues: then marks by which pods and jobs name some count.
    bool kueue = false;
    std::vector<namespace_object> namespaces;
    std::vector<priority_class_object> priority_classes;
    std::vector<runtime_class_object> runtime_classes;
    std::vector<workload_priority_object> workload_priorities;
    std::vector<topology_object> topologies;
    std::vector<disruption_budget_object> budgets;
    storage_objects storage;
    device_objects devices;
    /// Koordinator's Device objects.
    std::vector<koordinator_device_object> koordinator_devices;
    /// NodeResourceTopology objects.
    std::vector<node_topology_object> node_topologies;
    /// Read only if the reading rules have default spread constraints.
    std::vector<spread_owner_object> spread_owners;
    /// True if the input declares that it holds all objects of the kinds of `spread_owners`.
    bool lists_spread_owners = false;
    /// Gangs of other APIs, as read_cluster() finds them.
    std::vector<declared_gang> gangs;
    /// The documents of objects that jobs would create, kept alive for `object_place`.
    std::shared_ptr<const std::vector<document>> made;
    /// Objects of kinds that are not understood, by `apiVersion kind`.
    std::map<std::string, std::size_t> skipped;
    /// The newest time that the input names.
    std::optional<timestamp> newest;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
