// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/model/gang.hpp>

namespace muster::inline v0_1 {
namespace testing {

/// Waiting members of one role that are alike, what taking one costs, and how many may be taken.
struct priced_members {
    std::size_t role = 0;
    int128 cost = 0;
    std::int64_t least = 0;
    std::int64_t most = 0;
};

/// More than any cost.
inline constexpr int128 impossible_cost = int128{1} << 126U;

namespace choice_detail {

/// Costs by how many members count.
using costs = std::vector<int128>;

[[nodiscard]] inline costs of_leaf(std::size_t leaf, std::int64_t holding,
                                   const std::vector<priced_members>& classes) {
    costs sums(static_cast<std::size_t>(holding), impossible_cost);
    sums.push_back(0);
    std::vector<int128> optional;
    for (const priced_members& one : classes) {
        if (one.role != leaf)
            continue;
        if (one.least > one.most)
            return costs(1, impossible_cost);
        for (std::int64_t taken = 0; taken < one.least; ++taken) {
            const int128 all = sums.back() + one.cost;
            sums.back() = impossible_cost;
            sums.push_back(all);
        }
        optional.insert(optional.end(), static_cast<std::size_t>(one.most - one.least), one.cost);
    }
    std::sort(optional.begin(), optional.end());
    for (const int128 each : optional)
        sums.push_back(sums.back() + each);
    return sums;
}

/// A subgroup that is not to be met gets nobody, which some limits forbid.
[[nodiscard]] inline bool may_stay_empty(const gang_tree& tree, std::size_t vertex,
                                         const std::vector<priced_members>& classes) {
    return std::none_of(classes.begin(), classes.end(), [&](const priced_members& one) {
        std::size_t above = one.role;
        while (above > vertex)
            above = tree[above].parent;
        return above == vertex && one.least > 0;
    });
}

/// By how many members count at the vertex: the least cost of meeting it with so many.
[[nodiscard]] inline costs of_met(const gang_tree& tree, std::size_t vertex,
                                  const std::vector<std::int64_t>& holding,
                                  const std::vector<priced_members>& classes) {
    // By how many of the children are met.
    std::vector<costs> ways{of_leaf(vertex, holding[vertex], classes)};
    for (std::size_t child = vertex + 1; child < tree.size(); ++child) {
        if (tree[child].parent != vertex)
            continue;
        const costs reached = of_met(tree, child, holding, classes);
        const bool skippable = may_stay_empty(tree, child, classes);
        std::vector<costs> next(ways.size() + 1,
                                costs(ways.front().size() + reached.size() - 1, impossible_cost));
        for (std::size_t met = 0; met < ways.size(); ++met)
            for (std::size_t members = 0; members < ways[met].size(); ++members) {
                const int128 before = ways[met][members];
                if (before == impossible_cost)
                    continue;
                if (skippable)
                    next[met][members] = std::min(next[met][members], before);
                for (std::size_t more = 0; more < reached.size(); ++more)
                    if (reached[more] != impossible_cost)
                        next[met + 1][members + more] =
                            std::min(next[met + 1][members + more], before + reached[more]);
            }
        ways = std::move(next);
    }
    costs found(ways.front().size(), impossible_cost);
    const auto children = static_cast<std::int64_t>(ways.size()) - 1;
    const std::int64_t needed = tree[vertex].min_subgroups.value_or(children);
    for (std::size_t met = 0; met < ways.size(); ++met)
        for (std::size_t members = 0; members < found.size(); ++members)
            if (static_cast<std::int64_t>(met) >= needed &&
                static_cast<std::int64_t>(members) >= tree[vertex].min_member)
                found[members] = std::min(found[members], ways[met][members]);
    return found;
}

} // namespace choice_detail

/// The least cost of a choice of members that, with those holding per leaf, meets every minimum of
/// the tree; `impossible_cost` when there is none. By dynamic programming over the tree, in
/// O(vertices × children × members^2).
[[nodiscard]] inline int128 cheapest_choice(const gang_tree& tree,
                                            const std::vector<std::int64_t>& holding,
                                            const std::vector<priced_members>& classes) {
    const choice_detail::costs root = choice_detail::of_met(tree, 0, holding, classes);
    return *std::min_element(root.begin(), root.end());
}

} // namespace testing
} // namespace muster::inline v0_1
