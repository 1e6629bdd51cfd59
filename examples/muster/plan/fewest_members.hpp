// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/muster.hpp>

namespace cli {

/// Returns the smallest number of members that meets all minima of the tree.
[[nodiscard]] inline std::int64_t fewest_members(const muster::gang_tree& tree) {
    std::vector<std::vector<std::int64_t>> below(tree.size());
    std::int64_t fewest = 0;
    for (std::size_t vertex = tree.size(); vertex-- > 0;) {
        auto& parts = below[vertex];
        std::ranges::sort(parts);
        const auto needed = static_cast<std::size_t>(
            tree[vertex].min_subgroups.value_or(static_cast<std::int64_t>(parts.size())));
        parts.resize(std::min(parts.size(), needed));
        fewest = 0;
        for (const std::int64_t part : parts)
            fewest = muster::saturating_add(fewest, part);
        fewest = std::max(fewest, tree[vertex].min_member);
        if (vertex > 0)
            below[tree[vertex].parent].push_back(fewest);
    }
    return fewest;
}

} // namespace cli
