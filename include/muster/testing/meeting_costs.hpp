// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {

/// Waiting members of one role, what each costs, and how many may be taken.
struct priced_class {
    std::size_t role = 0;
    std::int64_t least = 0;
    std::int64_t most = 0;
    int128 cost = 0;
};

/// The least costs of meeting the minima of a vertex of a gang's tree, by how many members it then
/// has; none when it cannot be met, and a single 0 when, without classes, those who hold meet it. A
/// child that is not met counts for nothing and takes nobody new. By dynamic programming, in
/// O(vertices × children × members^2 · log).
[[nodiscard]] inline std::map<std::int64_t, int128>
costs_of_meeting(const gang_tree& tree, std::size_t vertex,
                 const std::vector<std::int64_t>& holding,
                 const std::vector<priced_class>& classes) {
    // By children met, then by members.
    std::map<std::pair<std::int64_t, std::int64_t>, int128> ways{{{0, holding[vertex]}, 0}};
    const auto extend = [&ways](bool skippable, const std::map<std::int64_t, int128>& options,
                                std::int64_t met) {
        auto before = std::exchange(ways, {});
        for (const auto& [way, cost] : before)
            for (const auto& [members, more] : options) {
                const auto [at, fresh] =
                    ways.try_emplace({way.first + met, way.second + members}, cost + more);
                at->second = std::min(at->second, cost + more);
            }
        if (skippable)
            for (const auto& [way, cost] : before) {
                const auto [at, fresh] = ways.try_emplace(way, cost);
                at->second = std::min(at->second, cost);
            }
    };
    for (const priced_class& one : classes) {
        std::map<std::int64_t, int128> options;
        for (std::int64_t taken = one.least; taken <= one.most; ++taken)
            options[taken] = taken * one.cost;
        if (one.role == vertex)
            extend(false, options, 0);
    }
    std::int64_t children = 0;
    for (std::size_t child = vertex + 1; child < tree.size(); ++child) {
        if (tree[child].parent != vertex)
            continue;
        const bool skippable =
            std::none_of(classes.begin(), classes.end(), [&](const priced_class& one) {
                std::size_t above = one.role;
                while (above > child)
                    above = tree[above].parent;
                return above == child && one.least > 0;
            });
        extend(skippable, costs_of_meeting(tree, child, holding, classes), 1);
        ++children;
    }
    std::map<std::int64_t, int128> found;
    for (const auto& [way, cost] : ways)
        if (way.first >= tree[vertex].min_subgroups.value_or(children) &&
            way.second >= tree[vertex].min_member) {
            const auto [at, fresh] = found.try_emplace(way.second, cost);
            at->second = std::min(at->second, cost);
        }
    return found;
}

} // namespace testing
} // namespace v0_1
} // namespace muster
