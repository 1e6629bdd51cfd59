// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <muster/base/sequence.hpp>
#include <muster/problem/members.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {

/// A subgroup of a gang as a gang of its own, after some of its members were placed.
template<std::size_t Width>
struct subgroup {
    gang_tree tree;
    /// Has no pods and no turns: waiting members are only counted.
    gang_members<Width> members;
    /// Per class: its number in the whole gang.
    detail::sequence<std::size_t> classes;
    /// Per vertex of the whole gang: its vertex in `tree`, or `outside`.
    detail::sequence<std::size_t> places;
    static constexpr std::size_t outside = ~std::size_t{0};
};

/// Writes the subgroup at `vertex`, where `counts` are the members per leaf that hold a node, and
/// `used` the placed members of each class. `members.tree` of the result points into the result.
/// O(vertices + classes).
template<std::size_t Width>
void extract_subgroup(const gang_members<Width>& whole, std::size_t vertex,
                      const detail::sequence<std::int64_t>& counts,
                      const detail::sequence<std::size_t>& used, subgroup<Width>& into) {
    const gang_tree& tree = *whole.tree;
    constexpr std::size_t outside = subgroup<Width>::outside;
    detail::sequence<std::size_t>& place = into.places;
    place.assign(tree.size(), outside);
    place[vertex] = 0;
    into.tree.restart(tree[vertex].min_member);
    into.members.holding.assign(1, counts[vertex]);
    for (std::size_t at = vertex; at < tree.size(); ++at) {
        if (at > vertex) {
            const std::size_t parent = place[tree[at].parent];
            if (parent == outside)
                continue;
            place[at] = into.tree.add(vertex_index{parent}, tree[at].min_member).value();
            into.members.holding.push_back(counts[at]);
        }
        if (tree[at].min_subgroups)
            into.tree.require_subgroups(vertex_index{place[at]}, *tree[at].min_subgroups);
    }
    into.members.tree = &into.tree;
    into.members.queue = whole.queue;
    into.members.queue_nodes = whole.queue_nodes;
    into.members.classes.clear();
    into.members.topology.clear();
    into.classes.clear();
    for (std::size_t at = 0; at < whole.classes.size(); ++at) {
        member_class<Width> part = whole.classes[at];
        const std::size_t role = place[part.role.value()];
        if (role == outside || used[at] == part.count)
            continue;
        part.role = vertex_index{role};
        part.count -= used[at];
        into.members.classes.push_back(part);
        into.classes.push_back(at);
    }
}

} // namespace v0_1
} // namespace muster
