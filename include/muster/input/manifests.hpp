// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/device_reader.hpp>
#include <muster/apis/core/claims/device_taint_rule_reader.hpp>
#include <muster/apis/core/claims/group_claim_reader.hpp>
#include <muster/apis/core/default_spread.hpp>
#include <muster/apis/core/disruption_budget_reader.hpp>
#include <muster/apis/core/each_object.hpp>
#include <muster/apis/core/node_reader.hpp>
#include <muster/apis/core/numa/node_topology_reader.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/pod_reader.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/core/runtime_classes.hpp>
#include <muster/apis/core/volumes/storage_listing.hpp>
#include <muster/apis/core/volumes/storage_reader.hpp>
#include <muster/apis/gang_facts.hpp>
#include <muster/apis/koordinator/devices/device_reader.hpp>
#include <muster/apis/kueue/queues.hpp>
#include <muster/apis/kueue/reader.hpp>
#include <muster/apis/peer_queue_reader.hpp>
#include <muster/apis/t9k/reader.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/document.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/document/unread_parts.hpp>
#include <muster/input/broken_objects.hpp>
#include <muster/input/job_standing.hpp>
#include <muster/input/topology_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

struct manifest_options {
    /// For namespaced objects that name none.
    std::string default_namespace = "default";
    reading_rules rules;
    /// RuntimeClasses beside those of the documents. May be empty.
    std::span<const runtime_class_object> runtime_classes;
};

namespace detail {

[[nodiscard]] inline namespace_object read_namespace(object_reader& object,
                                                     reading_context& context) {
    namespace_object read;
    read.metadata = read_metadata(object, false, context);
    object.ignore_rest();
    return read;
}

[[nodiscard]] inline priority_class_object read_priority_class(object_reader& object,
                                                               reading_context& context) {
    priority_class_object read;
    read.metadata = read_metadata(object, false, context);
    read.value = object.required("value").as_integer(-2147483648LL, 2147483647).value_or(0);
    read.global_default = object.optional("globalDefault").as_boolean().value_or(false);
    read.never_preempts = read_never_preempts(object.optional("preemptionPolicy"));
    object.ignore({"apiVersion", "kind", "description"});
    object.finish();
    return read;
}

/// Sorts objects by their kinds.
class manifest_reader {
public:
    manifest_reader(const manifest_options& options, diagnostics& out) : out_(&out) {
        context_.default_namespace = options.default_namespace;
        context_.rules = options.rules;
        made_.runtime_classes.assign(options.runtime_classes.begin(),
                                     options.runtime_classes.end());
    }

    [[nodiscard]] manifests finish() && {
        for (node_object& each : made_.nodes)
            if (nodes_of_unread_pods_.contains(each.metadata.key.name))
                close_unread(each);
        made_.newest = context_.newest;
        apply_runtime_classes(made_.runtime_classes, made_.pods, *out_);
        apply_default_spread(made_, context_.rules);
        kueue_.settle(made_, *out_);
        listing_.settle(made_);
        return std::move(made_);
    }

    /// Notes which kinds the document lists. Call before take() for the document's objects.
    void note_document(const document& of) { listing_.note_document(of); }

    void take(object_reader& object, std::string_view version, std::string_view kind,
              object_place where) {
        where_ = std::move(where);
        if (const std::span parts = where_.source->unread_of(where_.items); !parts.empty())
            take_broken(object, version, kind, parts);
        else
            sort(object, version, kind);
    }

private:
    /// Reads an object without its unread parts. Whatever else is wrong with it follows from these.
    void take_broken(object_reader& object, std::string_view version, std::string_view kind,
                     std::span<const unread_part> parts) {
        unread_ = parts;
        diagnostics aside;
        object_at(where_, aside, [&](object_reader& readable) { sort(readable, version, kind); });
        unread_ = {};
        object.ignore_rest();
    }

    void sort(object_reader& object, std::string_view version, std::string_view kind) {
        listing_.note_object(where_, kind, is_storage(version, kind));
        // The gang is read later.
        if (object.value() && has_group_claims(*object.value(), version, kind))
            keep(made_.devices.groups, version, read_group_claims(object, context_));
        const bool core = version == "v1";
        const bool t9k = version == translate::t9k_group_version;
        if (core && kind == "Node")
            keep(made_.nodes, kind, read_node(object, context_));
        else if (core && kind == "Pod")
            keep(made_.pods, kind, read_waiting_pod(object));
        else if (core && kind == "Namespace")
            keep(made_.namespaces, kind, read_namespace(object, context_));
        else if (version == "scheduling.k8s.io/v1" && kind == "PriorityClass")
            keep(made_.priority_classes, kind, read_priority_class(object, context_));
        else if (version == "node.k8s.io/v1" && kind == "RuntimeClass")
            keep(made_.runtime_classes, kind, read_runtime_class(object, context_));
        else if (version == "policy/v1" && kind == "PodDisruptionBudget")
            keep(made_.budgets, kind, read_disruption_budget(object, context_));
        else if (version == translate::kai_topology_version && kind == "Topology")
            keep(made_.topologies, kind, read_topology(object, context_));
        else if (takes_storage(object, version, kind))
            return;
        else if (takes_devices(object, version, kind))
            return;
        else if (t9k && kind == "PodGroup")
            keep(made_.pod_groups, kind, read_pod_group(object, context_));
        else if (t9k && kind == "Queue")
            keep(made_.queues, kind, read_queue(object, context_));
        else if (version == translate::kai_queue_version && kind == "Queue")
            keep(made_.queues, "KAI Queue", read_kai_queue(object, context_));
        else if (version == translate::volcano_group_version && kind == "Queue")
            keep(made_.queues, "Volcano Queue", read_volcano_queue(object, context_));
        else if (version.starts_with("kueue.x-k8s.io/") && takes_kueue(object, kind))
            return;
        else if (takes_spread_owner(object, version, kind))
            return;
        else if (listing_.lists_spread_kind(version, kind) && object.value() &&
                 holds_only_selector(object.value()->get_object()))
            object.ignore_rest();
        else {
            ++made_.skipped[std::string(version) + " " + std::string(kind)];
            object.ignore_rest();
        }
    }

    /// Behind the scheduler's own gate a pod waits like any other.
    pod_object read_waiting_pod(object_reader& object) {
        pod_object read = read_pod_with_controller(object, context_);
        if (read.schedulers_gate)
            read.phase = pod_phase::pending;
        if (read.phase != pod_phase::succeeded && read.phase != pod_phase::failed &&
            std::ranges::any_of(unread_, hides_requests, &unread_part::path))
            nodes_of_unread_pods_.insert(read.node);
        return read;
    }

    /// Reads an object whose selector default spread constraints use. Returns true for a Service
    /// only: the controllers among these kinds are also read as workloads.
    bool takes_spread_owner(object_reader& object, std::string_view version,
                            std::string_view kind) {
        if (context_.rules.default_spread.empty() || !selects_for_spread(version, kind))
            return false;
        made_.spread_owners.push_back(read_spread_owner(object, kind, context_));
        object.ignore_rest();
        return kind == "Service";
    }

    static bool is_storage(std::string_view version, std::string_view kind) {
        return version == "storage.k8s.io/v1" ||
               (version == "v1" && (kind == "PersistentVolumeClaim" || kind == "PersistentVolume"));
    }

    /// Reads a storage object. Returns false for other kinds.
    bool takes_storage(object_reader& object, std::string_view version, std::string_view kind) {
        storage_objects& to = made_.storage;
        const bool core = version == "v1";
        const bool storage = version == "storage.k8s.io/v1";
        if (core && kind == "PersistentVolumeClaim")
            keep(to.claims, kind, read_claim(object, context_));
        else if (core && kind == "PersistentVolume")
            keep(to.volumes, kind, read_volume(object, context_));
        else if (storage && kind == "StorageClass")
            keep(to.classes, kind, read_storage_class(object, context_));
        else if (storage && kind == "CSINode")
            keep(to.nodes, kind, read_csi_node(object, context_));
        else if (storage && kind == "CSIDriver")
            keep(to.drivers, kind, read_csi_driver(object, context_));
        else if (storage && kind == "CSIStorageCapacity")
            keep(to.capacities, kind, read_storage_capacity(object, context_));
        else if (storage && kind == "VolumeAttachment")
            keep(to.attachments, kind, read_attachment(object, context_));
        else
            return false;
        return true;
    }

    /// Reads a device object. Returns false for other kinds.
    bool takes_devices(object_reader& object, std::string_view version, std::string_view kind) {
        if (version == "scheduling.koordinator.sh/v1alpha1" && kind == "Device") {
            keep(made_.koordinator_devices, kind, read_koordinator_device(object, context_));
            return true;
        }
        if ((version == "topology.node.k8s.io/v1alpha2" ||
             version == "topology.node.k8s.io/v1alpha1") &&
            kind == "NodeResourceTopology") {
            keep(made_.node_topologies, kind, read_node_topology(object, context_));
            return true;
        }
        if (kind == "DeviceTaintRule" &&
            (version == "resource.k8s.io/v1" || version == "resource.k8s.io/v1beta2" ||
             version == "resource.k8s.io/v1alpha3")) {
            keep(made_.devices.taint_rules, kind, read_device_taint_rule(object, context_));
            return true;
        }
        if (version != "resource.k8s.io/v1" && version != "resource.k8s.io/v1beta2" &&
            version != "resource.k8s.io/v1beta1")
            return false;
        device_objects& to = made_.devices;
        if (kind == "ResourceClaim")
            keep(to.claims, kind, read_resource_claim(object, context_));
        else if (kind == "ResourceClaimTemplate")
            keep(to.templates, kind, read_resource_claim_template(object, context_));
        else if (kind == "ResourceSlice")
            keep(to.slices, kind, read_resource_slice(object, context_));
        else if (kind == "DeviceClass")
            keep(to.classes, kind, read_device_class(object, context_));
        else
            return false;
        return true;
    }

    /// False for a kind that is not understood.
    bool takes_kueue(object_reader& object, std::string_view kind) {
        if (kind == "ClusterQueue")
            keep(kueue_.queues, kind, read_cluster_queue(object, context_));
        else if (kind == "Cohort")
            keep(kueue_.cohorts, kind, read_cohort(object, context_));
        else if (kind == "LocalQueue")
            keep(made_.local_queues, kind, read_local_queue(object, context_));
        else if (kind == "ResourceFlavor")
            keep(kueue_.flavors, kind, read_flavor(object, context_));
        else if (kind == "WorkloadPriorityClass")
            keep(made_.workload_priorities, kind, read_workload_priority(object, context_));
        else
            return false;
        return true;
    }

    /// Of a live object, which has a uid, and a manifest of it, the live one counts.
    template<class Object>
    void keep(std::vector<Object>& to, std::string_view kind, Object read) {
        read.metadata.where = where_;
        if (!unread_.empty() &&
            (read.metadata.key.name.empty() || !restrict_broken(read, unread_.front().text())))
            return;
        std::string name =
            std::string(kind) + ' ' + read.metadata.key.name_space + '/' + read.metadata.key.name;
        const auto [known, added] = names_.emplace(std::move(name), to.size());
        if (added) {
            to.push_back(std::move(read));
            return;
        }
        Object& first = to[known->second];
        if (first.metadata.uid.empty() == read.metadata.uid.empty()) {
            report(*out_, severity::error, where_, {},
                   std::string(kind) + " " + in_quotes(read.metadata.key.name) +
                       " is there twice (expected every object once)");
            return;
        }
        report(*out_, severity::warning, where_, {},
               std::string(kind) + " " + in_quotes(read.metadata.key.name) +
                   " is there twice, and the one with a uid counts");
        if (first.metadata.uid.empty())
            first = std::move(read);
    }

    reading_context context_;
    manifests made_;
    kueue_book kueue_;
    storage_listing listing_;
    /// The index of each object among those of its kind.
    std::unordered_map<std::string, std::size_t> names_;
    object_place where_;                  ///< of the object at hand
    std::span<const unread_part> unread_; ///< of the object at hand
    /// Nodes that seem to have more free room than they have.
    std::set<std::string> nodes_of_unread_pods_;
    diagnostics* out_;
};

} // namespace detail

/// Reads Kubernetes objects and lists of them: Node, Pod, Namespace, PriorityClass, RuntimeClass,
/// PodDisruptionBudget, storage (PersistentVolumeClaim, PersistentVolume, StorageClass, CSINode,
/// CSIDriver, CSIStorageCapacity, VolumeAttachment), devices (ResourceClaim, ResourceClaimTemplate,
/// ResourceSlice, DeviceClass, DeviceTaintRule, Koordinator's Device), NodeResourceTopology, T9k's
/// PodGroup and Queue, KAI's Queue and Topology, Volcano's Queue, Kueue's ClusterQueue, Cohort,
/// LocalQueue, ResourceFlavor and WorkloadPriorityClass. Objects of other kinds are counted. Errors
/// and warnings go to `out` with their places. Use the objects only if there is no error, and while
/// the documents live. O(input).
[[nodiscard]] inline manifests read_manifests(const std::vector<document>& documents,
                                              const manifest_options& options, diagnostics& out) {
    detail::manifest_reader reader(options, out);
    for (const document& each : documents)
        reader.note_document(each);
    each_object(documents, out,
                [&](object_reader& object, std::string_view version, std::string_view kind,
                    object_place where) { reader.take(object, version, kind, std::move(where)); });
    return std::move(reader).finish();
}

} // namespace codec
} // namespace v0_1
} // namespace muster
