// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A pod with volumes, the place of its gang in the order in which gangs are handed volumes, and
/// its leaf of the gang's tree.
struct volume_user {
    const pod_object* pod = nullptr;
    std::size_t gang = 0;
    vertex_index role{0};
};

/// The minima of a gang, and its members by leaf: those that are there or may still start.
struct volume_gang {
    gang_tree tree;
    std::vector<std::int64_t> members;
    /// Of these, the waiting pods without volumes, with their leaves.
    std::vector<std::pair<const pod_object*, vertex_index>> without_volumes;

    explicit volume_gang(gang_tree of) : tree(std::move(of)), members(tree.size(), 0) {}

    void count(const pod_object& pod, vertex_index role) {
        if (!is_member(pod))
            return;
        ++members[role.value()];
        if (pod.volumes.empty() && waits(pod))
            without_volumes.emplace_back(&pod, role);
    }
    [[nodiscard]] static bool is_member(const pod_object& pod) {
        return !pod.metadata.terminating && pod.phase != pod_phase::failed;
    }
    [[nodiscard]] static bool waits(const pod_object& pod) {
        return pod.node.empty() && pod.phase != pod_phase::succeeded;
    }
};

} // namespace codec
} // namespace v0_1
} // namespace muster
