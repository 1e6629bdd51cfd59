// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <muster/base/ranges.hpp>
#include <muster/resource/share.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {

/// Which vertices of a gang's tree meet their minima.
struct subtree_status {
    /// The vertex meets its minima.
    std::vector<char> met;
    /// Members that count at the vertex. At an inner vertex: those below children that are met.
    std::vector<std::int64_t> counts;
    /// Children that are met.
    std::vector<std::int64_t> children_met;
};

/// Evaluates the minima of all vertices into `found`, whose memory is reused. A vertex is met if
/// enough of its children are (`min_subgroups`, or all) and the members that count reach its own
/// minimum. `counts` is per vertex, 0 except for leaves. O(vertices).
inline const subtree_status& evaluate(const gang_tree& tree, std::span<const std::int64_t> counts,
                                      subtree_status& found) {
    found.counts.assign(counts.begin(), counts.end());
    found.met.assign(tree.size(), 0);
    found.children_met.assign(tree.size(), 0);
    for (std::size_t at = tree.size(); at-- > 0;) {
        const gang_tree::vertex& vertex = tree[at];
        const auto all = static_cast<std::int64_t>(vertex.children);
        const auto required = tree.is_leaf(at) ? 0 : vertex.min_subgroups.value_or(all);
        const bool met =
            found.children_met[at] >= required && found.counts[at] >= vertex.min_member;
        found.met[at] = met ? 1 : 0;
        if (at > 0 && met) {
            ++found.children_met[vertex.parent];
            found.counts[vertex.parent] += found.counts[at];
        }
    }
    return found;
}
[[nodiscard]] inline subtree_status evaluate(const gang_tree& tree,
                                             std::span<const std::int64_t> counts) {
    subtree_status found;
    evaluate(tree, counts, found);
    return found;
}

/// Returns the part of its need that a vertex has, with these counts per leaf: members of a leaf,
/// met children of an inner vertex. O(vertices).
[[nodiscard]] inline share saturation(const gang_tree& tree, std::span<const std::int64_t> counts,
                                      std::size_t vertex, subtree_status& scratch) {
    if (tree.is_leaf(vertex))
        return {counts[vertex], tree[vertex].min_member};
    const subtree_status& now = evaluate(tree, counts, scratch);
    share found{
        0, tree[vertex].min_subgroups.value_or(static_cast<std::int64_t>(tree[vertex].children))};
    for (std::size_t child = vertex + 1; child < tree.size(); ++child)
        found.used += tree[child].parent == vertex && now.met[child] ? 1 : 0;
    return found;
}

/// Appends the children of a vertex to `to`: if `level`, by saturation, the least first; otherwise
/// in the order of the tree. O(children × (vertices + log children)).
template<class Children>
void add_children_by_need(const gang_tree& tree, std::span<const std::int64_t> counts,
                          std::size_t vertex, bool level, subtree_status& scratch, Children& to) {
    const std::size_t first = to.size();
    for (std::size_t child = vertex + 1; child < tree.size(); ++child)
        if (tree[child].parent == vertex)
            to.emplace_back(level ? saturation(tree, counts, child, scratch) : share{}, child);
    detail::sort_short(std::span(to).subspan(first), [](const auto& lhs, const auto& rhs) {
        return lhs.first < rhs.first || (!(rhs.first < lhs.first) && lhs.second < rhs.second);
    });
}

/// True if all children of the root are roles and the root needs all of them.
[[nodiscard]] inline bool is_flat(const gang_tree& tree) noexcept {
    return tree.size() == tree[0].children + 1 &&
           tree[0].min_subgroups.value_or(static_cast<std::int64_t>(tree[0].children)) ==
               static_cast<std::int64_t>(tree[0].children);
}

/// True if these counts per leaf meet the minima of the whole gang. O(vertices).
[[nodiscard]] inline bool reaches_minima(const gang_tree& tree,
                                         std::span<const std::int64_t> counts,
                                         subtree_status& scratch) {
    if (!is_flat(tree))
        return evaluate(tree, counts, scratch).met[0] != 0;
    std::int64_t sum = 0;
    for (std::size_t at = 0; at < tree.size(); ++at) {
        if (at > 0 && counts[at] < tree[at].min_member)
            return false;
        sum += counts[at];
    }
    return sum >= tree[0].min_member;
}

[[nodiscard]] inline bool reaches_minima(const gang_tree& tree,
                                         std::span<const std::int64_t> counts) {
    subtree_status scratch;
    return reaches_minima(tree, counts, scratch);
}

} // namespace v0_1
} // namespace muster
