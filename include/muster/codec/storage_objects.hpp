// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/codec/object_metadata.hpp>
#include <muster/model/constraints.hpp>
#include <muster/model/labels.hpp>

namespace muster::inline v0_1 {
namespace codec {

/// How a volume may be mounted; a set of these is a sum.
enum access_mode : std::uint8_t {
    read_write_once = 1,
    read_only_many = 2,
    read_write_many = 4,
    read_write_once_pod = 8,
};

/// What a claim asks of a volume (PersistentVolumeClaimSpec).
struct claim_request {
    /// Absent: that of the default class.
    std::optional<std::string> storage_class;
    /// The volume that it names; empty: any.
    std::string volume;
    std::int64_t bytes = 0;
    std::uint8_t access = 0;
    /// A raw block device; otherwise a file system.
    bool block = false;
    /// Absent: volumes with any labels.
    std::optional<label_selector> labels;
    std::string attributes_class;

    [[nodiscard]] friend auto operator<=>(const claim_request&, const claim_request&) = default;
};

/// A volume of a pod that may tie it to nodes.
struct pod_volume {
    enum class source : std::uint8_t {
        /// A PersistentVolumeClaim that the pod names.
        claim,
        /// A generic ephemeral volume: a claim that is made for the pod.
        ephemeral,
        /// A CSI volume written into the pod.
        csi,
        /// A disk written into the pod, by the name of a plugin that was moved to CSI.
        disk,
    };
    std::string name;
    source from = source::claim;
    std::string claim;   ///< its name in the pod's namespace
    claim_request draft; ///< of an ephemeral volume
    std::string driver;  ///< the CSI driver of `csi` and `disk`
    std::string handle;  ///< of a disk
    bool read_only = false;
    /// Of a disk: two pods on one node never both write to it.
    bool exclusive = false;
};

/// v1 PersistentVolumeClaim.
struct claim_object {
    object_metadata metadata;
    claim_request asks;
    /// Its binding to `asks.volume` is complete.
    bool bound = false;
    /// Its volume is gone.
    bool lost = false;
    /// The node for which it is being provisioned.
    std::string selected_node;
    /// The object that controls it.
    std::string owner_uid;
    std::string owner_name;
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
    /// It is free, or kept for the claim that it names.
    bool available = true;
    std::optional<claim_reference> claim;
    /// Required node affinity: one of the terms matches. Absent = every node.
    std::optional<std::vector<node_term>> nodes;
    /// What of its node affinity is not modelled: pods that use it wait.
    std::vector<std::string> unsupported;
    std::string driver;
    std::string handle;
};

/// storage.k8s.io/v1 StorageClass.
struct storage_class_object {
    object_metadata metadata;
    std::string provisioner;
    /// volumeBindingMode WaitForFirstConsumer.
    bool waits_for_consumer = false;
    /// It is the class of claims that name none.
    bool is_default = false;
    /// Where volumes may be provisioned: one of the terms matches. Absent = everywhere.
    std::optional<std::vector<node_term>> topologies;

    /// Volumes are made on demand.
    [[nodiscard]] bool provisions() const {
        return !provisioner.empty() && provisioner != "kubernetes.io/no-provisioner";
    }
};

/// storage.k8s.io/v1 CSINode.
struct csi_node_object {
    struct driver {
        /// How many volumes the node can have attached; absent = any number.
        std::optional<std::int64_t> most;
        std::vector<std::string> topology_keys;
    };
    object_metadata metadata;
    std::map<std::string, driver, std::less<>> drivers;
};

/// storage.k8s.io/v1 CSIDriver.
struct csi_driver_object {
    object_metadata metadata;
    /// CSIStorageCapacities say where its volumes fit.
    bool tracks_capacity = false;
    /// Pods wait for nodes that have the driver (preventPodSchedulingIfMissing).
    bool required_on_node = false;
};

/// storage.k8s.io/v1 CSIStorageCapacity.
struct storage_capacity_object {
    object_metadata metadata;
    std::string storage_class;
    /// The nodes that reach it; absent = none.
    std::optional<label_selector> nodes;
    /// Free in all, and the largest single volume.
    std::optional<std::int64_t> bytes;
    std::optional<std::int64_t> largest;
};

/// What an input says of storage.
struct storage_objects {
    std::vector<claim_object> claims;
    std::vector<volume_object> volumes;
    std::vector<storage_class_object> classes;
    std::vector<csi_node_object> nodes;
    std::vector<csi_driver_object> drivers;
    std::vector<storage_capacity_object> capacities;
};

} // namespace codec
} // namespace muster::inline v0_1
