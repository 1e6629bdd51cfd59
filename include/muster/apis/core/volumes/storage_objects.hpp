// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/document/object_metadata.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/labels.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// How a volume may be mounted. Bits: a set of modes is their sum.
enum access_mode : std::uint8_t {
    read_write_once = 1,
    read_only_many = 2,
    read_write_many = 4,
    read_write_once_pod = 8,
};

/// The requirements of a claim (PersistentVolumeClaimSpec).
struct claim_request {
    /// Absent = the default class.
    std::optional<std::string> storage_class;
    /// Name of the volume; empty = any.
    std::string volume;
    std::int64_t bytes = 0;
    std::uint8_t access = 0;
    /// True = a raw block device; false = a file system.
    bool block = false;
    /// Absent = volumes with any labels.
    std::optional<label_selector> labels;
    std::string attributes_class;

    [[nodiscard]] friend auto operator<=>(const claim_request&, const claim_request&) = default;
};

/// A volume of a pod that may restrict the pod's nodes.
struct pod_volume {
    enum class source : std::uint8_t {
        /// A PersistentVolumeClaim that the pod names.
        claim,
        /// A generic ephemeral volume: a claim that is created for the pod.
        ephemeral,
        /// A CSI volume that the pod's spec describes.
        csi,
        /// A disk that the pod's spec names, of an in-tree plugin that CSI migration covers.
        disk,
    };
    std::string name;
    source from = source::claim;
    std::string claim;   ///< its name in the pod's namespace
    claim_request draft; ///< of an ephemeral volume
    std::string driver;  ///< the CSI driver of `csi` and `disk`
    std::string handle;  ///< of a disk
    bool read_only = false;
    /// A disk that two pods on one node may share only if both mount it read-only.
    bool exclusive = false;
};

/// v1 PersistentVolumeClaim.
struct claim_object {
    object_metadata metadata;
    claim_request asks;
    /// The binding to `asks.volume` is complete.
    bool bound = false;
    /// The bound volume no longer exists (phase Lost).
    bool lost = false;
    /// Why the object could not be read; empty if it could.
    std::string unread;
    /// The node for which a volume is being provisioned; empty = none.
    std::string selected_node;
    /// The controller of the claim.
    std::string owner_uid;
    std::string owner_name;
    /// A workload of the input would create the claim with its pods.
    bool is_draft = false;
};

/// v1 PersistentVolume.
struct volume_object {
    struct claim_reference {
        object_key key;
        std::string uid;
    };
    object_metadata metadata;
    std::string storage_class;
    std::int64_t bytes = 0;
    std::uint8_t access = 0;
    bool block = false;
    std::string attributes_class;
    /// The volume is free, or reserved for the claim that it names.
    bool available = true;
    /// The volume is in use by its claim (phase Bound).
    bool bound = false;
    std::optional<claim_reference> claim;
    /// Required node affinity: one of the terms matches. Absent = every node.
    std::optional<std::vector<node_term>> nodes;
    /// Parts of the node affinity that are not modelled. Pods that use the volume wait.
    std::vector<std::string> unsupported;
    /// Why the object could not be read; empty if it could.
    std::string unread;
    std::string driver;
    std::string handle;
};

/// storage.k8s.io/v1 StorageClass.
struct storage_class_object {
    object_metadata metadata;
    std::string provisioner;
    /// volumeBindingMode WaitForFirstConsumer.
    bool waits_for_consumer = false;
    /// The class applies to claims that name none.
    bool is_default = false;
    /// Where volumes may be provisioned: one of the terms matches. Absent = everywhere.
    std::optional<std::vector<node_term>> topologies;

    /// True if volumes are provisioned on demand.
    [[nodiscard]] bool provisions() const {
        return !provisioner.empty() && provisioner != "kubernetes.io/no-provisioner";
    }
};

/// storage.k8s.io/v1 CSINode.
struct csi_node_object {
    struct driver {
        /// Maximum number of volumes attached to the node; absent = no limit.
        std::optional<std::int64_t> most;
        std::vector<std::string> topology_keys;
    };
    object_metadata metadata;
    std::map<std::string, driver, std::less<>> drivers;
};

/// storage.k8s.io/v1 CSIDriver.
struct csi_driver_object {
    object_metadata metadata;
    /// The driver publishes CSIStorageCapacities (`spec.storageCapacity`).
    bool tracks_capacity = false;
    /// Pods run only on nodes that have the driver (preventPodSchedulingIfMissing).
    bool required_on_node = false;
};

/// storage.k8s.io/v1 CSIStorageCapacity.
struct storage_capacity_object {
    object_metadata metadata;
    std::string storage_class;
    /// The nodes that can use the storage; absent = none.
    std::optional<label_selector> nodes;
    /// Free bytes in total, and the maximum bytes of one volume.
    std::optional<std::int64_t> bytes;
    std::optional<std::int64_t> largest;
};

/// storage.k8s.io/v1 VolumeAttachment.
struct attachment_object {
    object_metadata metadata;
    /// The CSI driver (`spec.attacher`).
    std::string driver;
    std::string node;
    /// Name of the PersistentVolume; empty = the volume has none.
    std::string volume;
    /// Of a volume without PersistentVolume.
    std::string handle;

    /// True if both attach the same volume to the same node.
    [[nodiscard]] bool attaches_same(const attachment_object& other) const {
        return driver == other.driver && node == other.node && volume == other.volume &&
               handle == other.handle;
    }
};

/// The storage objects of an input.
struct storage_objects {
    std::vector<claim_object> claims;
    std::vector<volume_object> volumes;
    std::vector<storage_class_object> classes;
    std::vector<csi_node_object> nodes;
    std::vector<csi_driver_object> drivers;
    std::vector<storage_capacity_object> capacities;
    std::vector<attachment_object> attachments;
    /// True if the input lists all objects of the kind: an object that the input lacks does not
    /// exist.
    bool lists_claims = false;
    bool lists_volumes = false;
    bool lists_classes = false;

    /// False if the input may have left out all objects of the kind.
    [[nodiscard]] bool knows_claims() const noexcept { return lists_claims || !claims.empty(); }
    [[nodiscard]] bool knows_volumes() const noexcept { return lists_volumes || !volumes.empty(); }
    [[nodiscard]] bool knows_classes() const noexcept { return lists_classes || !classes.empty(); }
};

} // namespace codec
} // namespace v0_1
} // namespace muster
