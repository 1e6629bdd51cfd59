// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/model/gang.hpp>
#include <muster/model/state.hpp>
#include <muster/resource/resources.hpp>

namespace muster::inline v0_1 {

/// Members of one role that are alike: same request, same constraints.
template<std::size_t Width>
struct member_class {
    vertex_index role;
    resources<Width> request;
    constraint_index where;
    const std::vector<host_port>* ports = nullptr;
    /// Oldest first, then by key.
    std::vector<pod_index> pods;
};

/// A gang's members as the decision sees them.
template<std::size_t Width>
struct gang_members {
    const gang_tree* tree = nullptr;
    std::optional<queue_index> queue;
    /// By role, then by their oldest pod.
    std::vector<member_class<Width>> classes;
    /// The class of every waiting member, in the order in which members are taken: by role, then
    /// oldest first, then by key.
    std::vector<std::size_t> turns;
    /// Per vertex (leaves only): members that hold already.
    std::vector<std::int64_t> holding;
    /// Per vertex (leaves only): members that exist, whatever they do.
    std::vector<std::int64_t> alive;
    /// Per vertex (leaves only): members that wait with constraints that are not modelled.
    std::vector<std::int64_t> unsupported;
};

/// Sorts a gang's members into classes. Members whose constraints are not modelled belong to none.
/// O(members · log members).
template<class Traits>
[[nodiscard]] gang_members<Traits::width> members_of(const state<Traits>& known, gang_index which) {
    const auto& group = known[which];
    gang_members<Traits::width> found;
    found.tree = &group.spec.tree;
    found.queue = group.queue;
    found.holding.assign(group.spec.tree.size(), 0);
    found.alive = found.holding;
    found.unsupported = found.holding;

    std::vector<pod_index> waiting;
    for (const pod_index member : group.members) {
        const auto& record = known[member];
        const std::size_t role = record.spec.role.value();
        // Members may come before their group, whose roles are not known until then.
        if (!record.alive() || role >= group.spec.tree.size())
            continue;
        ++found.alive[role];
        if (record.holding())
            ++found.holding[role];
        else if (record.spec.where.unsupported)
            ++found.unsupported[role];
        else
            waiting.push_back(member);
    }
    std::ranges::sort(waiting, [&](pod_index lhs, pod_index rhs) {
        const auto& left = known[lhs];
        const auto& right = known[rhs];
        if (left.spec.role != right.spec.role)
            return left.spec.role < right.spec.role;
        if (left.spec.created != right.spec.created)
            return left.spec.created < right.spec.created;
        return key_less<Traits>{}(left.key, right.key);
    });
    // Members of a class mostly follow one another, so the class of the one before is tried first.
    std::map<std::pair<constraint_index, resources<Traits::width>>, std::size_t> of_role;
    std::optional<vertex_index> role;
    std::size_t last = 0;
    for (const pod_index member : waiting) {
        const auto& record = known[member];
        if (role != record.spec.role) {
            of_role.clear();
            role = record.spec.role;
        }
        if (of_role.empty() || found.classes[last].where != record.where ||
            found.classes[last].request != record.spec.request) {
            const auto [place, fresh] =
                of_role.try_emplace({record.where, record.spec.request}, found.classes.size());
            if (fresh)
                found.classes.push_back(
                    {*role, record.spec.request, record.where, &record.spec.where.ports, {}});
            last = place->second;
        }
        found.classes[last].pods.push_back(member);
        found.turns.push_back(last);
    }
    return found;
}

/// What counts per leaf mean for every vertex of the tree.
struct tree_standing {
    /// The vertex meets its minima.
    std::vector<char> met;
    /// Members that count at the vertex: of an inner vertex, those below children that are met.
    std::vector<std::int64_t> counts;
};

/// A vertex is met when enough of its children are (`min_subgroups`, or all of them) and the
/// members that count reach its own minimum. `counts` is per vertex, 0 but for leaves. O(vertices).
[[nodiscard]] inline tree_standing stand(const gang_tree& tree, std::vector<std::int64_t> counts) {
    tree_standing found{std::vector<char>(tree.size(), 0), std::move(counts)};
    std::vector<std::int64_t> children_met(tree.size(), 0);
    for (std::size_t at = tree.size(); at-- > 0;) {
        const gang_tree::vertex& vertex = tree[at];
        const auto all = static_cast<std::int64_t>(vertex.children);
        const auto required = tree.is_leaf(at) ? 0 : vertex.min_subgroups.value_or(all);
        found.met[at] = children_met[at] >= required && found.counts[at] >= vertex.min_member;
        if (at > 0 && found.met[at]) {
            ++children_met[vertex.parent];
            found.counts[vertex.parent] += found.counts[at];
        }
    }
    return found;
}

/// True when these counts per leaf meet the minima of the whole gang.
[[nodiscard]] inline bool reaches_minima(const gang_tree& tree, std::vector<std::int64_t> counts) {
    return stand(tree, std::move(counts)).met[0] != 0;
}

} // namespace muster::inline v0_1
