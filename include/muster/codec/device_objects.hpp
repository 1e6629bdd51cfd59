// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <muster/codec/object_metadata.hpp>
#include <muster/model/constraints.hpp>

namespace muster::inline v0_1 {
namespace codec {

/// An entry of a pod's `spec.resourceClaims`.
struct pod_claim {
    std::string name;
    /// The ResourceClaim in the pod's namespace; empty: not made from the template yet.
    std::string claim;
    /// The ResourceClaimTemplate from which the claim is made; empty: the pod names the claim.
    std::string from_template;
    /// The pod's status says that no claim is needed.
    bool needs_none = false;
};

/// A device, as results of an allocation name it.
struct device_key {
    std::string driver;
    std::string pool;
    std::string device;

    [[nodiscard]] friend auto operator<=>(const device_key&, const device_key&) = default;
};

/// An object that uses a claim (an entry of `status.reservedFor`).
struct claim_consumer {
    std::string resource; ///< "pods" for a pod
    std::string name;
    std::string uid;
};

/// What `status.allocation` of a claim says.
struct device_allocation {
    /// Absent: any node.
    std::optional<std::vector<node_term>> nodes;
    /// What of `nodes` is not understood.
    std::vector<std::string> unsupported;
    /// Devices for exclusive use; those of admin access are left out.
    std::vector<device_key> devices;
};

/// resource.k8s.io ResourceClaim.
struct resource_claim_object {
    object_metadata metadata;
    /// The object that controls it: of a claim made for a pod, the pod.
    std::string owner_uid;
    std::string owner_name;
    /// It stands for extended resources that the pod which controls it requests.
    bool is_extended = false;
    /// Absent: not allocated.
    std::optional<device_allocation> allocation;
    std::vector<claim_consumer> reserved_for;
};

/// resource.k8s.io ResourceClaimTemplate.
struct resource_claim_template_object {
    object_metadata metadata;
};

/// A value of a device's attribute. Versions and lists are there, but are not compared.
using device_value = std::variant<std::monostate, std::string, bool, std::int64_t>;

/// Which nodes reach devices: one name, or a selector, or all.
struct device_nodes {
    std::string name;
    std::optional<std::vector<node_term>> selector;
    /// What of `selector` is not understood.
    std::vector<std::string> unsupported;
    bool all = false;
};

struct device_object {
    std::string name;
    /// By qualified name, "domain/name".
    std::map<std::string, device_value> attributes;
    /// Has a taint with effect NoSchedule or NoExecute.
    bool is_tainted = false;
    /// Shares counters of its pool with other devices.
    bool is_partition = false;
    /// Of a slice with perDeviceNodeSelection.
    device_nodes nodes;
};

/// resource.k8s.io ResourceSlice.
struct resource_slice_object {
    object_metadata metadata;
    std::string driver;
    std::string pool;
    std::int64_t generation = 0;
    /// How many slices of this generation make the pool complete.
    std::int64_t slices = 1;
    /// The devices of the slice say themselves which nodes reach them.
    bool nodes_per_device = false;
    device_nodes nodes;
    std::vector<device_object> devices;
};

/// resource.k8s.io DeviceClass.
struct device_class_object {
    object_metadata metadata;
    /// The extended resource that its devices serve; empty: only the implicit one.
    std::string resource;
    /// CEL expressions, all of which a device meets.
    std::vector<std::string> selectors;
};

/// What an input says of devices.
struct device_objects {
    std::vector<resource_claim_object> claims;
    std::vector<resource_claim_template_object> templates;
    std::vector<resource_slice_object> slices;
    std::vector<device_class_object> classes;
};

} // namespace codec
} // namespace muster::inline v0_1
