// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <muster/devices/numa_zones.hpp>
#include <muster/document/object_metadata.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// topology.node.k8s.io NodeResourceTopology: the NUMA zones of the node with the object's name.
struct node_topology_object {
    object_metadata metadata;
    /// Absent: the policy of the kubelet rejects no pod.
    std::optional<numa_zones> zones;
    /// When the object was written last; absent = unknown. Pods that started later are not in the
    /// available amounts.
    std::optional<timestamp> reported;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
