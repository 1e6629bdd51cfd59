// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <muster/apis/core/objects.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A T9k PodGroup's tree: the root with minMember (absent or 0: the sum of the role minima, at
/// least 1), a leaf per role, and a last leaf for members of no listed role. Without roles the root
/// is the only role.
[[nodiscard]] inline gang_tree tree_of(const pod_group_object& object) {
    std::int64_t sum = 0;
    for (const role_minimum& role : object.roles)
        sum += role.min_member;
    gang_tree tree(object.min_member > 0 ? object.min_member : std::max<std::int64_t>(1, sum));
    for (const role_minimum& role : object.roles)
        tree.add(vertex_index{0}, role.min_member, role.name);
    if (!object.roles.empty())
        tree.add(vertex_index{0}, 0);
    return tree;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
