// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/model/gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// True if `counts` members per leaf meet the minima of the tree. O(vertices).
[[nodiscard]] inline bool has_minima(const gang_tree& tree, std::vector<std::int64_t> counts) {
    std::vector<std::int64_t> met(tree.size(), 0);
    for (std::size_t vertex = tree.size(); vertex-- > 0;) {
        const auto children = static_cast<std::int64_t>(tree[vertex].children);
        const auto required =
            tree.is_leaf(vertex) ? 0 : tree[vertex].min_subgroups.value_or(children);
        if (counts[vertex] < tree[vertex].min_member || met[vertex] < required)
            continue;
        if (vertex == 0)
            return true;
        // Members below a subgroup that is not met do not count.
        counts[tree[vertex].parent] += counts[vertex];
        ++met[tree[vertex].parent];
    }
    return false;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
