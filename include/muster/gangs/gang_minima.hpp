// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <muster/gangs/gang_object.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// A leaf of a gang's tree, as APIs without trees see it.
struct gang_role {
    std::size_t leaf = 0;
    std::string name; ///< may be empty
    /// How many of it stand in every choice that the gang can start with.
    std::int64_t minimum = 0;
    /// The same, as far as it also follows from the total: where there are 5 members and all must
    /// start, 4 of 4 workers must. For APIs that have minima of roles and no total.
    std::int64_t needed = 0;
    /// How many members it has, if that is known.
    std::optional<std::int64_t> replicas{};
    std::string name_space; ///< never empty, unless the gang's is
    std::string object;
    const part_words* own = nullptr; ///< in the bundle
};

/// What a gang's tree asks for, in numbers.
struct gang_minima {
    /// The least number of members that every choice has which the gang can start with; a gang that
    /// asks for none has 1, which is the same.
    std::int64_t total = 1;
    /// How many members there are, if that is known of all roles.
    std::optional<std::int64_t> members{};
    /// The least that the minima below the root come to, without the root's own.
    std::int64_t below_root = 0;
    std::vector<gang_role> roles; ///< in the tree's order
    /// Somewhere fewer subgroups than there are must reach their minima.
    bool some_optional = false;
    /// There are vertices between the root and the leaves.
    bool nested = false;
    /// One of these asks for more members than those below it do.
    bool inner_total = false;
    /// The roles' minima follow from the total and from how many members each role has.
    bool roles_follow = false;

    /// Some total is left that minima of roles cannot say.
    bool total_beyond_roles = false;

    [[nodiscard]] bool any_role_minimum() const {
        return std::ranges::any_of(roles, [](const gang_role& each) { return each.minimum > 0; });
    }
};

namespace detail {

struct vertex_minima {
    std::vector<std::int64_t> below; ///< without the vertex's own minimum
    std::vector<std::int64_t> least;
    std::vector<bool> always; ///< every choice reaches this vertex' minima
};

[[nodiscard]] inline bool is_optional(const gang_tree::vertex& vertex) {
    return vertex.min_subgroups && *vertex.min_subgroups >= 0 &&
           static_cast<std::uint64_t>(*vertex.min_subgroups) < vertex.children;
}

[[nodiscard]] inline vertex_minima minima_by_vertex(const gang_tree& tree) {
    vertex_minima found{std::vector<std::int64_t>(tree.size()),
                        std::vector<std::int64_t>(tree.size()),
                        std::vector<bool>(tree.size(), true)};
    std::vector<std::vector<std::int64_t>> of_children(tree.size());
    for (std::size_t at = tree.size(); at-- > 0;) {
        std::vector<std::int64_t>& children = of_children[at];
        std::ranges::sort(children);
        const std::size_t needed = is_optional(tree[at])
                                       ? static_cast<std::size_t>(*tree[at].min_subgroups)
                                       : children.size();
        found.below[at] = std::accumulate(children.begin(),
                                          children.begin() + static_cast<std::ptrdiff_t>(needed),
                                          std::int64_t{0});
        found.least[at] = std::max(tree[at].min_member, found.below[at]);
        if (at > 0)
            of_children[tree[at].parent].push_back(found.least[at]);
    }
    for (std::size_t at = 1; at < tree.size(); ++at)
        found.always[at] = found.always[tree[at].parent] && !is_optional(tree[tree[at].parent]);
    return found;
}

} // namespace detail

/// Returns the minima of `bundle` as numbers. The leaf for members without a role is left out if no
/// such member is known. O(vertices · log + pods).
[[nodiscard]] inline gang_minima minima_of(const gang_bundle& bundle) {
    const gang_tree& tree = bundle.gang.tree;
    const detail::vertex_minima by_vertex = detail::minima_by_vertex(tree);
    gang_minima found;
    found.total = std::max<std::int64_t>(1, by_vertex.least[0]);
    found.below_root = by_vertex.below[0];
    std::vector<std::int64_t> pods(tree.size());
    for (const gang_pod& pod : bundle.pods)
        ++pods[pod.leaf.value()];
    std::vector<const leaf_size*> size_at(tree.size());
    for (const leaf_size& size : bundle.gang.sizes)
        size_at[size.leaf.value()] = &size;
    bool sizes_known = true;
    std::int64_t members = 0;
    for (std::size_t at = 0; at < tree.size(); ++at) {
        if (!tree.is_leaf(at)) {
            found.some_optional |= detail::is_optional(tree[at]);
            found.nested |= at > 0;
            found.inner_total |= at > 0 && tree[at].min_member > by_vertex.below[at];
            continue;
        }
        gang_role role;
        role.leaf = at;
        role.name = tree[at].name;
        role.minimum = by_vertex.always[at] ? by_vertex.least[at] : 0;
        role.name_space = bundle.gang.name_space;
        std::int64_t replicas = pods[at];
        const leaf_size* const size = size_at[at];
        if (size) {
            replicas = std::max(replicas, size->replicas);
            role.object = size->object;
            role.own = size->own ? &*size->own : nullptr;
            if (!size->name_space.empty())
                role.name_space = size->name_space;
        }
        // Pods that are here are not all that there will be: they say nothing of a role's size.
        if (size && !size->only_seen)
            role.replicas = replicas;
        members += replicas;
        if (at == 0 || replicas > 0 || !role.name.empty() || tree[at].min_member > 0) {
            sizes_known = sizes_known && role.replicas;
            found.roles.push_back(std::move(role));
        }
    }
    if (sizes_known)
        found.members = members;
    std::int64_t needed = 0;
    for (gang_role& role : found.roles) {
        role.needed = found.some_optional ? tree[role.leaf].min_member : role.minimum;
        if (!found.some_optional && found.members)
            role.needed = std::max(role.needed, found.total - (*found.members - *role.replicas));
        needed += role.needed;
    }
    found.total_beyond_roles =
        !found.some_optional && tree.size() > 1 && tree[0].min_member > needed;
    // Beside one that is listed there may be members of others, where the total leaves room.
    const bool alone = found.roles.size() == 1 &&
                       (sizes_known || tree.size() == 1 ||
                        (tree.size() == 2 && found.total == found.roles.front().minimum));
    found.roles_follow = std::ranges::all_of(found.roles, [&](const gang_role& role) {
        return role.minimum == 0 || alone ||
               (sizes_known && found.total - (members - *role.replicas) >= role.minimum);
    });
    return found;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
