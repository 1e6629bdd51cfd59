// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/node_affinity_reader.hpp>
#include <muster/apis/core/pod_field_types.hpp>
#include <muster/apis/core/pod_fields.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/core/volumes/csi_migration.hpp>
#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

namespace detail {

[[nodiscard]] inline std::string string_or_empty(const field& at) {
    return std::string(at.as_string().value_or(""));
}

/// Returns the name that the CSI driver has for the disk: of EBS volumes the part behind the zone
/// (aws://ZONE/VOLUME).
[[nodiscard]] inline std::string read_handle(object_reader& disk, const disk_source& from) {
    std::string handle = string_or_empty(disk.optional(from.handle));
    if (!from.within.empty())
        handle = string_or_empty(disk.optional(from.within)) + "#" + handle;
    if (from.plugin == "kubernetes.io/aws-ebs")
        handle.erase(0, handle.rfind('/') + 1);
    return handle;
}

/// Reads a quantity in bytes: rounded up for a claim (`asked`), rounded down for a volume.
[[nodiscard]] inline std::optional<std::int64_t> read_bytes(const field& at, bool asked) {
    const auto amount = read_quantity(at);
    if (!amount)
        return std::nullopt;
    return asked ? amount->units_up() : amount->units_down();
}

[[nodiscard]] inline std::uint8_t read_access_modes(const field& at) {
    unsigned modes = 0;
    const array_reader list = at.as_array();
    list.for_each([&](const field& each) {
        const auto mode = each.as_string();
        if (mode == "ReadWriteOnce")
            modes |= read_write_once;
        else if (mode == "ReadOnlyMany")
            modes |= read_only_many;
        else if (mode == "ReadWriteMany")
            modes |= read_write_many;
        else if (mode == "ReadWriteOncePod")
            modes |= read_write_once_pod;
        else if (mode)
            each.error(in_quotes(*mode) +
                       " is not an access mode (expected ReadWriteOnce, ReadOnlyMany, "
                       "ReadWriteMany or ReadWriteOncePod)");
    });
    return static_cast<std::uint8_t>(modes);
}

[[nodiscard]] inline bool read_block(const field& at) {
    const auto mode = at.as_string().value_or("Filesystem");
    if (mode != "Filesystem" && mode != "Block" && !mode.empty())
        at.error(in_quotes(mode) + " is not a volume mode (expected Filesystem or Block)");
    return mode == "Block";
}

[[nodiscard]] inline std::string annotation_of(const object_metadata& of, std::string_view key) {
    const std::string* const value = of.annotations.find(key);
    return value ? *value : std::string();
}

/// Returns the storage class that an object names: in the legacy annotation, else in its field.
[[nodiscard]] inline std::optional<std::string> read_class(const field& at,
                                                           const object_metadata& of) {
    if (const std::string* const old =
            of.annotations.find("volume.beta.kubernetes.io/storage-class"))
        return *old;
    const auto named = at.as_string();
    return named ? std::optional(std::string(*named)) : std::nullopt;
}

/// Reads the spec of a claim, without the fields that matter only to provisioners. With
/// `unsupported`, an unknown field makes the pod of the claim wait; without, it is a warning.
[[nodiscard]] inline claim_request
read_claim_request(object_reader& spec, const object_metadata& of,
                   std::vector<std::string>* unsupported = nullptr) {
    const auto end = [&](object_reader& object, std::span<const pod_field> fields) {
        if (unsupported)
            finish(object, fields, *unsupported);
        else
            finish(object, fields);
    };
    claim_request read;
    read.storage_class = read_class(spec.optional("storageClassName"), of);
    read.volume = string_or_empty(spec.optional("volumeName"));
    read.access = read_access_modes(spec.optional("accessModes"));
    read.block = read_block(spec.optional("volumeMode"));
    read.labels = read_label_selector(spec.optional("selector"), unsupported);
    read.attributes_class = string_or_empty(spec.optional("volumeAttributesClassName"));
    const field resources_at = spec.optional("resources");
    object_reader resources = resources_at.as_object();
    const field requests_at = resources.optional("requests");
    object_reader requests = requests_at.as_object();
    read.bytes = read_bytes(requests.optional("storage"), true).value_or(0);
    requests.ignore_rest();
    end(resources, pod_tables::claim_resources);
    end(spec, pod_tables::claim_spec);
    return read;
}

/// Reads TopologySelectorTerms. A node matches a term if each label in it has one of its values.
[[nodiscard]] inline std::vector<node_term> read_topology_terms(const field& at) {
    std::vector<node_term> read;
    const array_reader list = at.as_array();
    list.for_each_object([&](object_reader& each) {
        node_term term;
        const field labels_at = each.optional("matchLabelExpressions");
        const array_reader labels = labels_at.as_array();
        labels.for_each_object([&](object_reader& one) {
            label_requirement requirement;
            requirement.key = string_or_empty(one.required("key"));
            requirement.op = label_operator::in;
            requirement.values = read_strings(one.required("values").as_array());
            one.finish();
            term.labels.requirements.push_back(std::move(requirement));
        });
        each.finish();
        read.push_back(std::move(term));
    });
    return read;
}

/// Reads the CSI driver and the handle of a volume from the spec of a PersistentVolume. Other
/// volumes leave both empty.
inline void read_volume_source(object_reader& spec, std::string& driver, std::string& handle) {
    const field csi_at = spec.optional("csi");
    object_reader csi = csi_at.as_object();
    driver = string_or_empty(csi.optional("driver"));
    handle = string_or_empty(csi.optional("volumeHandle"));
    csi.ignore_rest();
    for (const disk_source& each : disk_sources) {
        const field at = spec.optional(each.field);
        if (!at.is_present())
            continue;
        object_reader disk = at.as_object();
        driver = csi_driver_of(each.plugin);
        handle = read_handle(disk, each);
        disk.ignore_rest();
    }
}

/// Marks those fields of a PersistentVolume's spec as known that do not say which nodes can use it,
/// its sources among them (Kubernetes 1.37).
inline void ignore_volume_sources(object_reader& spec) {
    spec.ignore({"persistentVolumeReclaimPolicy",
                 "mountOptions",
                 "awsElasticBlockStore",
                 "azureDisk",
                 "azureFile",
                 "cephfs",
                 "cinder",
                 "csi",
                 "fc",
                 "flexVolume",
                 "flocker",
                 "gcePersistentDisk",
                 "glusterfs",
                 "hostPath",
                 "iscsi",
                 "local",
                 "nfs",
                 "photonPersistentDisk",
                 "portworxVolume",
                 "quobyte",
                 "rbd",
                 "scaleIO",
                 "storageos",
                 "vsphereVolume"});
}

/// Reads the owner of an object that is its controller.
template<class Owned>
void read_controller(object_reader& object, Owned& of) {
    const field metadata_at = object.optional("metadata");
    object_reader metadata = metadata_at.as_object();
    const field owners_at = metadata.optional("ownerReferences");
    const array_reader owners = owners_at.as_array();
    owners.for_each_object([&](object_reader& each) {
        if (each.optional("controller").as_boolean().value_or(false)) {
            of.owner_uid = string_or_empty(each.optional("uid"));
            of.owner_name = string_or_empty(each.optional("name"));
        }
        each.ignore_rest();
    });
    metadata.ignore_rest();
}

} // namespace detail

/// Reads a v1 PersistentVolumeClaim. A claim that names a volume is bound if it has the annotation
/// that kube-scheduler requires, or the phase Bound, which a cluster never sets before the
/// annotation.
[[nodiscard]] inline claim_object read_claim(object_reader& object, reading_context& context) {
    claim_object read;
    read.metadata = read_metadata(object, true, context);
    detail::read_controller(object, read);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    read.asks = detail::read_claim_request(spec, read.metadata);
    const field status_at = object.optional("status");
    object_reader status = status_at.as_object();
    const auto phase = status.optional("phase").as_string().value_or("");
    status.ignore_rest();
    read.lost = phase == "Lost";
    read.bound = !read.asks.volume.empty() &&
                 (phase == "Bound" ||
                  read.metadata.annotations.find("pv.kubernetes.io/bind-completed") != nullptr);
    read.selected_node = detail::annotation_of(read.metadata, "volume.kubernetes.io/selected-node");
    object.ignore({"apiVersion", "kind"});
    object.finish();
    return read;
}

/// Reads a v1 PersistentVolume.
[[nodiscard]] inline volume_object read_volume(object_reader& object, reading_context& context) {
    volume_object read;
    read.metadata = read_metadata(object, false, context);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    read.storage_class =
        detail::read_class(spec.optional("storageClassName"), read.metadata).value_or("");
    read.access = detail::read_access_modes(spec.optional("accessModes"));
    read.block = detail::read_block(spec.optional("volumeMode"));
    read.attributes_class = detail::string_or_empty(spec.optional("volumeAttributesClassName"));
    const field capacity_at = spec.optional("capacity");
    object_reader capacity = capacity_at.as_object();
    read.bytes = detail::read_bytes(capacity.optional("storage"), false).value_or(0);
    capacity.ignore_rest();
    const field claim_at = spec.optional("claimRef");
    object_reader claim = claim_at.as_object();
    if (claim.is_present()) {
        auto& reference = read.claim.emplace();
        reference.key = {detail::string_or_empty(claim.optional("namespace")),
                         detail::string_or_empty(claim.optional("name"))};
        reference.uid = detail::string_or_empty(claim.optional("uid"));
        claim.ignore_rest();
    }
    const field affinity_at = spec.optional("nodeAffinity");
    object_reader affinity = affinity_at.as_object();
    read.nodes = detail::read_node_selector(affinity.optional("required"), read.unsupported);
    affinity.finish();
    detail::read_volume_source(spec, read.driver, read.handle);
    detail::ignore_volume_sources(spec);
    // It may say on which nodes the volume can be used.
    spec.take_each([&](std::string_view key, const field& value) {
        if (value.is_present())
            read.unsupported.push_back("spec." + std::string(key));
        return false;
    });
    spec.finish();
    const field status_at = object.optional("status");
    object_reader status = status_at.as_object();
    const auto phase = status.optional("phase").as_string().value_or("");
    status.ignore_rest();
    read.available = phase.empty() || phase == "Available";
    read.bound = phase == "Bound";
    object.ignore({"apiVersion", "kind"});
    object.finish();
    return read;
}

/// Reads a storage.k8s.io/v1 StorageClass.
[[nodiscard]] inline storage_class_object read_storage_class(object_reader& object,
                                                             reading_context& context) {
    storage_class_object read;
    read.metadata = read_metadata(object, false, context);
    read.provisioner = csi_driver_of(object.required("provisioner").as_string().value_or(""));
    const field mode_at = object.optional("volumeBindingMode");
    const auto mode = mode_at.as_string().value_or("Immediate");
    if (mode != "Immediate" && mode != "WaitForFirstConsumer")
        mode_at.error(in_quotes(mode) +
                      " is not a mode (expected Immediate or WaitForFirstConsumer)");
    read.waits_for_consumer = mode == "WaitForFirstConsumer";
    for (const std::string_view key : {"storageclass.kubernetes.io/is-default-class",
                                       "storageclass.beta.kubernetes.io/is-default-class"})
        read.is_default |= detail::annotation_of(read.metadata, key) == "true";
    const field topologies_at = object.optional("allowedTopologies");
    auto topologies = detail::read_topology_terms(topologies_at);
    if (!topologies.empty())
        read.topologies = std::move(topologies);
    object.ignore({"apiVersion", "kind", "parameters", "reclaimPolicy", "mountOptions",
                   "allowVolumeExpansion"});
    object.finish();
    return read;
}

/// Reads a storage.k8s.io/v1 CSINode.
[[nodiscard]] inline csi_node_object read_csi_node(object_reader& object,
                                                   reading_context& context) {
    csi_node_object read;
    read.metadata = read_metadata(object, false, context);
    const field spec_at = object.optional("spec");
    object_reader spec = spec_at.as_object();
    const field drivers_at = spec.optional("drivers");
    const array_reader drivers = drivers_at.as_array();
    drivers.for_each_object([&](object_reader& each) {
        csi_node_object::driver made;
        const field allocatable_at = each.optional("allocatable");
        object_reader allocatable = allocatable_at.as_object();
        made.most = allocatable.optional("count").as_integer(0, 2147483647);
        allocatable.ignore_rest();
        made.topology_keys = read_strings(each.optional("topologyKeys").as_array());
        const std::string name = detail::string_or_empty(each.required("name"));
        each.ignore({"nodeID"});
        each.finish();
        read.drivers.insert_or_assign(name, std::move(made));
    });
    spec.finish();
    object.ignore({"apiVersion", "kind", "status"});
    object.finish();
    return read;
}

/// Reads a storage.k8s.io/v1 CSIDriver.
[[nodiscard]] inline csi_driver_object read_csi_driver(object_reader& object,
                                                       reading_context& context) {
    csi_driver_object read;
    read.metadata = read_metadata(object, false, context);
    const field spec_at = object.optional("spec");
    object_reader spec = spec_at.as_object();
    read.tracks_capacity = spec.optional("storageCapacity").as_boolean().value_or(false);
    read.required_on_node =
        spec.optional("preventPodSchedulingIfMissing").as_boolean().value_or(false);
    spec.ignore_rest();
    object.ignore({"apiVersion", "kind"});
    object.finish();
    return read;
}

/// Reads a storage.k8s.io/v1 CSIStorageCapacity.
[[nodiscard]] inline storage_capacity_object read_storage_capacity(object_reader& object,
                                                                   reading_context& context) {
    storage_capacity_object read;
    read.metadata = read_metadata(object, true, context);
    read.storage_class = detail::string_or_empty(object.required("storageClassName"));
    read.nodes = read_label_selector(object.optional("nodeTopology"));
    read.bytes = detail::read_bytes(object.optional("capacity"), false);
    read.largest = detail::read_bytes(object.optional("maximumVolumeSize"), false);
    object.ignore({"apiVersion", "kind"});
    object.finish();
    return read;
}

/// Reads a storage.k8s.io/v1 VolumeAttachment. It counts whatever its status says: the limit of a
/// node holds for volumes that are being attached or detached, too.
[[nodiscard]] inline attachment_object read_attachment(object_reader& object,
                                                       reading_context& context) {
    attachment_object read;
    read.metadata = read_metadata(object, false, context);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    read.driver = detail::string_or_empty(spec.required("attacher"));
    read.node = detail::string_or_empty(spec.required("nodeName"));
    const field source_at = spec.required("source");
    object_reader source = source_at.as_object();
    read.volume = detail::string_or_empty(source.optional("persistentVolumeName"));
    const field inline_at = source.optional("inlineVolumeSpec");
    object_reader inline_spec = inline_at.as_object();
    std::string driver;
    detail::read_volume_source(inline_spec, driver, read.handle);
    inline_spec.ignore_rest();
    source.finish();
    spec.finish();
    object.ignore({"apiVersion", "kind", "status"});
    object.finish();
    return read;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
