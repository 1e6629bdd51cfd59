// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <muster/resource/kind_table.hpp>
#include <muster/vocabulary/certificate.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace words {

/// What the text of a reason needs beside the reason. `tell_reasons` sets what a state knows.
/// Its argument `details` may set the rest, which only the reader of the objects knows.
struct reason_context {
    // ---- known to the state --------------------------------------------------------------------

    const kind_table* kinds = nullptr;
    const gang_tree* tree = nullptr;
    /// The scope in which the reason was found.
    certificate_scope scope = certificate_scope::free_now;
    /// The cluster has no nodes.
    bool no_nodes = false;
    /// The reason is about one pod, not about a gang.
    bool single_pod = false;
    /// The queue of the reason, else that of the gang.
    std::string queue;
    /// The gangs for which room is reserved.
    std::vector<std::string> owners;
    /// For each vertex of the tree, the number of members with scheduling gates at or below the
    /// vertex.
    std::vector<std::int64_t> gated;
    /// The nodes to which other schedulers have nominated some of these members.
    std::set<std::string> nominated_to;
    /// For reasons about labels, taints, cordons or host ports: what rejects which nodes.
    std::string node_filter;

    // ---- known to the reader of the objects ----------------------------------------------------

    /// The namespace of the gang.
    std::string name_space;
    /// The name of the group that does not exist.
    std::string group;
    /// What is wrong with the group, which constraints of its members are not modelled, or what is
    /// not ready.
    std::string detail;
    /// The scheduling gates of the members that have some.
    std::set<std::string> gates;
    /// The volumes of the pods, and the number of nodes that can use each one.
    std::string volumes;
    /// `volumes` names only ResourceClaims.
    bool only_devices = false;
    /// Whether the device demands of the pods are for devices, for room in NUMA zones, or for both.
    bool asks_devices = true;
    bool asks_zones = false;
    /// The room of the NUMA zones.
    std::string numa_room;
    /// The device classes and the models of GPUs that the pods ask for.
    std::string asked_devices;
    /// The registers of GPUs that cannot be read, if the pods ask for shares of GPUs.
    std::string unread_registers;
    /// The claims of the pods that use the resource of the reason.
    std::string claims;
    /// The supply of each node, if the resource counts volumes or storage: "a 15Gi, b 5Gi".
    std::string by_node;
    /// Some attachments in `by_node` are kept for volumes that waiting pods share.
    bool keeps_shared = false;
    /// The amount may count a volume once for each of several pods.
    bool counted_high = false;
    /// The unbound claims for which the pods must be in one domain: "claim a".
    std::string shared_claims;
    /// The ReadWriteOncePod claims that the pods share with others, and their users.
    std::string lone_claims;
    /// The disks that the pods may not share on one node, and the pods that use them.
    std::string disks;
    /// The free volumes and storage that the claims were to get, and which gangs got them.
    std::string taken_supplies;
};

} // namespace words
} // namespace v0_1
} // namespace muster
