// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <muster/codec/object_metadata.hpp>
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

/// Names a device, as the results of an allocation do.
struct device_key {
    std::string driver;
    std::string pool;
    std::string device;

    [[nodiscard]] friend auto operator<=>(const device_key&, const device_key&) = default;
};

/// An object that uses a claim (an entry of `status.reservedFor`).
struct claim_consumer {
    std::string resource; ///< "pods" for a pod, "podgroups" for all pods of a PodGroup
    std::string name;
    std::string uid;
};

/// The `status.allocation` of a claim.
struct device_allocation {
    /// Absent = any node.
    std::optional<std::vector<node_term>> nodes;
    /// Parts of the node selector that cannot be modelled.
    std::vector<std::string> unsupported;
    /// Devices allocated for exclusive use, without those allocated for admin access.
    std::vector<device_key> devices;
};

/// resource.k8s.io ResourceClaim.
struct resource_claim_object {
    object_metadata metadata;
    /// The controller of the claim. A claim created for a pod is controlled by that pod.
    std::string owner_uid;
    std::string owner_name;
    /// kube-scheduler created the claim for extended resources that its controller pod requests.
    bool is_extended = false;
    /// Absent = not allocated.
    std::optional<device_allocation> allocation;
    std::vector<claim_consumer> reserved_for;
};

/// resource.k8s.io ResourceClaimTemplate.
struct resource_claim_template_object {
    object_metadata metadata;
};

/// The value of a device attribute. Versions and lists are `monostate`: they are never compared.
using device_value = std::variant<std::monostate, std::string, bool, std::int64_t>;

/// The nodes that can use a device: one by name, those that match a selector, or all.
struct device_nodes {
    std::string name;
    std::optional<std::vector<node_term>> selector;
    /// Parts of `selector` that cannot be modelled.
    std::vector<std::string> unsupported;
    bool all = false;
};

struct device_object {
    std::string name;
    /// By qualified name, "domain/name".
    std::map<std::string, device_value> attributes;
    /// The device has a taint with effect NoSchedule or NoExecute.
    bool is_tainted = false;
    /// The device shares counters of its pool with other devices.
    bool is_partition = false;
    /// Set only if the slice has perDeviceNodeSelection.
    device_nodes nodes;
};

/// resource.k8s.io ResourceSlice.
struct resource_slice_object {
    object_metadata metadata;
    std::string driver;
    std::string pool;
    std::int64_t generation = 0;
    /// Number of slices in a complete generation of the pool.
    std::int64_t slices = 1;
    /// Each device has its own nodes (perDeviceNodeSelection).
    bool nodes_per_device = false;
    device_nodes nodes;
    std::vector<device_object> devices;
};

/// resource.k8s.io DeviceClass.
struct device_class_object {
    object_metadata metadata;
    /// The extended resource that the devices of the class serve; empty = only the implicit one.
    std::string resource;
    /// CEL expressions. A device of the class meets all of them.
    std::vector<std::string> selectors;
};

/// The device objects of an input.
struct device_objects {
    std::vector<resource_claim_object> claims;
    std::vector<resource_claim_template_object> templates;
    std::vector<resource_slice_object> slices;
    std::vector<device_class_object> classes;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
