// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/array.hpp>

#include <muster/devices/device_allocation.hpp>
#include <muster/devices/device_claim.hpp>
#include <muster/devices/device_slice.hpp>
#include <muster/devices/device_taint.hpp>
#include <muster/document/object_metadata.hpp>
#include <muster/vocabulary/constraints.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// An entry of a pod's `spec.resourceClaims`.
struct pod_claim {
    std::string name;
    /// The ResourceClaim in the pod's namespace; empty = not yet created from the template.
    std::string claim;
    /// The ResourceClaimTemplate of the claim; empty = the pod names the claim itself.
    std::string from_template;
    /// The pod's status says that the entry needs no claim.
    bool needs_none = false;
};

/// What a container requests of a resource that devices of a DeviceClass may serve.
struct extended_request {
    std::string container;
    /// Position among the init containers and the containers behind them.
    std::size_t position = 0;
    /// An init container that ends before the containers start.
    bool is_init = false;
    std::string resource;
    /// Position of the resource among the names of all that the container requests.
    std::size_t ordinal = 0;
    std::int64_t count = 0;

    [[nodiscard]] std::string name() const {
        return "container-" + std::to_string(position) + "-request-" + std::to_string(ordinal);
    }
};

/// An object that uses a claim (an entry of `status.reservedFor`).
struct claim_consumer {
    std::string resource; ///< "pods" for a pod, "podgroups" for all pods of a PodGroup
    std::string name;
    std::string uid;
};

/// The `status.allocation` of a claim, and what drivers say of its devices.
struct claim_status {
    /// Absent = any node.
    std::optional<std::vector<node_term>> nodes;
    /// Parts of the node selector that cannot be modelled.
    std::vector<std::string> unsupported;
    std::vector<allocated_device> devices;
    /// Binding conditions of the devices that do not hold yet, each as "CONDITION of device NAME".
    std::vector<std::string> pending;
    /// A binding failure condition that holds, in the same form and with its message; empty = none.
    std::string failed;
};

/// The spec of a claim or of a template.
struct claim_spec {
    device_claim asks;
    /// Fields that are not known. No allocation of the claim is planned if there are any.
    std::vector<std::string> unsupported;
    /// `devices.config`, for drivers; empty = none.
    boost::json::array config;
};

/// Annotation of a claim that Muster allocates: the uid of the pod that the allocation is for.
inline constexpr std::string_view allocated_for = "muster.dev/allocated-for";
/// Annotation of a claim that a scheduler makes for the extended resources of its controller pod.
inline constexpr std::string_view extended_claim_mark =
    "resource.kubernetes.io/extended-resource-claim";
/// Finalizer of a claim that is allocated, or about to be.
inline constexpr std::string_view claim_finalizer = "resource.kubernetes.io/delete-protection";

/// resource.k8s.io ResourceClaim.
struct resource_claim_object {
    object_metadata metadata;
    /// The controller of the claim. A claim created for a pod is controlled by that pod.
    std::string owner_uid;
    std::string owner_name;
    /// kube-scheduler created the claim for extended resources that its controller pod requests.
    bool is_extended = false;
    /// Bears `claim_finalizer`.
    bool is_protected = false;
    /// The value of `allocated_for`; empty = Muster does not allocate it.
    std::string muster_pod;
    claim_spec spec;
    /// Absent = not allocated.
    std::optional<claim_status> allocation;
    std::vector<claim_consumer> reserved_for;
};

/// resource.k8s.io ResourceClaimTemplate.
struct resource_claim_template_object {
    object_metadata metadata;
    claim_spec spec;
};

/// Feature that a node declares in `status.declaredFeatures` if its kubelet can skip operations of
/// drivers (KEP-5945, alpha in Kubernetes 1.37).
inline constexpr std::string_view optional_operations = "DRAOptionalNodeOperations";
/// Label that a node with this feature gets in Muster's view.
inline constexpr std::string_view optional_operations_mark =
    "muster.dev/declares-DRAOptionalNodeOperations";

/// The nodes that can use a device: one by name, those that match a selector, or all.
struct device_nodes {
    std::string name;
    std::optional<std::vector<node_term>> selector;
    /// Parts of `selector` that cannot be modelled.
    std::vector<std::string> unsupported;
    bool all = false;
    /// `skipNodeOperations` of the slice. If there are any, only nodes that declare
    /// `optional_operations` can use the device.
    std::vector<std::string> skips;
};

/// resource.k8s.io ResourceSlice.
struct resource_slice_object {
    object_metadata metadata;
    device_slice slice;
    device_nodes nodes;
    /// By device, if each has its own nodes (perDeviceNodeSelection); else empty.
    std::vector<device_nodes> nodes_of;

    [[nodiscard]] const device_nodes& nodes_at(std::size_t device) const {
        return nodes_of.empty() ? nodes : nodes_of[device];
    }
};

/// resource.k8s.io DeviceTaintRule: a taint on all devices that meet its selector.
struct device_taint_rule_object {
    object_metadata metadata;
    /// The rule has no selector, so it matches no device (Kubernetes 1.37 and later).
    bool matches_none = false;
    /// Absent = every driver, every pool, every device.
    std::optional<std::string> driver;
    std::optional<std::string> pool;
    std::optional<std::string> device;
    device_taint taint;
    /// What the taint does is not known.
    bool is_unread = false;
    /// Fields that are not modelled, each with the consequence.
    std::vector<std::string> unmodelled;
};

/// resource.k8s.io DeviceClass.
struct device_class_object {
    object_metadata metadata;
    /// The extended resource that the devices of the class serve; empty = only the implicit one.
    std::string resource;
    /// CEL expressions. A device of the class meets all of them.
    std::vector<std::string> texts;
    /// `texts`, parsed.
    device_class selectors;
    /// `config`, for drivers; empty = none.
    boost::json::array config;
};

/// The ResourceClaims of a PodGroup of Kubernetes. A pod of the group uses one of these claims if
/// the pod has an equal entry. The claim is reserved for the PodGroup, and all such pods share it.
struct group_claims_object {
    object_metadata metadata;
    std::vector<pod_claim> claims;
};

/// The device objects of an input.
struct device_objects {
    std::vector<resource_claim_object> claims;
    std::vector<group_claims_object> groups;
    std::vector<resource_claim_template_object> templates;
    std::vector<resource_slice_object> slices;
    std::vector<device_class_object> classes;
    std::vector<device_taint_rule_object> taint_rules;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
