// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <muster/gangs/gang_minima.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/loss.hpp>
#include <muster/gangs/writing.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate::detail {

/// The namespaces of its roles, in the order of the roles.
[[nodiscard]] inline std::vector<std::string> namespaces_of(const gang_bundle& bundle) {
    std::vector<std::string> found;
    for (const gang_role& role : minima_of(bundle).roles)
        if (std::ranges::find(found, role.name_space) == found.end())
            found.push_back(role.name_space);
    return found;
}

[[nodiscard]] inline bool spans_namespaces(const gang_bundle& bundle) {
    return std::ranges::any_of(bundle.gang.sizes,
                               [](const leaf_size& each) { return !each.name_space.empty(); }) &&
           namespaces_of(bundle).size() > 1;
}

/// A gang for every namespace, for targets whose gangs do not reach into others, with the parts of
/// the tree that have members there.
[[nodiscard]] inline std::vector<gang_bundle> split_by_namespace(const gang_bundle& bundle,
                                                                 std::vector<loss>& losses) {
    const gang_tree& tree = bundle.gang.tree;
    const gang_minima minima = minima_of(bundle);
    const std::vector<std::string> namespaces = namespaces_of(bundle);
    const std::string source =
        bundle.gang.kind + " " + bundle.gang.name_space + "/" + bundle.gang.name;
    losses.push_back(
        {loss_kind::namespaces, source,
         "members in " + std::to_string(namespaces.size()) + " namespaces become a gang in each"});
    losses.push_back({loss_kind::all_or_nothing, source,
                      "the gangs in several namespaces start without each other"});
    if (tree[0].min_member > minima.below_root)
        losses.push_back({loss_kind::total_minimum, source,
                          std::to_string(tree[0].min_member) + " members in all namespaces"});
    if (minima.some_optional)
        losses.push_back(
            {loss_kind::subgroup_minima, source, "some subgroups of many, in several namespaces"});
    std::vector<gang_bundle> parts;
    for (const std::string& name_space : namespaces) {
        std::vector<bool> here(tree.size());
        for (const gang_role& role : minima.roles)
            for (std::size_t at = role.leaf; role.name_space == name_space; at = tree[at].parent) {
                here[at] = true;
                if (at == 0)
                    break;
            }
        gang_bundle part;
        part.gang = bundle.gang;
        part.gang.name_space = name_space;
        part.gang.tree = gang_tree();
        part.gang.sizes.clear();
        std::vector<vertex_index> moved(tree.size(), vertex_index{0});
        for (std::size_t at = 0; at < tree.size(); ++at) {
            if (!here[at])
                continue;
            if (at > 0)
                moved[at] =
                    part.gang.tree.add(moved[tree[at].parent],
                                       tree.is_leaf(at) ? tree[at].min_member : 0, tree[at].name);
            if (tree[at].together)
                part.gang.tree.constrain_topology(moved[at], *tree[at].together);
        }
        // Of subgroups that may stay away, none is needed.
        for (const gang_role& role : minima.roles)
            if (here[role.leaf])
                part.gang.tree.require_members(moved[role.leaf], role.minimum);
        for (leaf_size size : bundle.gang.sizes)
            if (here[size.leaf.value()]) {
                size.leaf = moved[size.leaf.value()];
                size.name_space.clear();
                part.gang.sizes.push_back(std::move(size));
            }
        for (const gang_pod& pod : bundle.pods)
            if (here[pod.leaf.value()]) {
                part.pods.push_back(pod);
                part.pods.back().leaf = moved[pod.leaf.value()];
            }
        parts.push_back(std::move(part));
    }
    return parts;
}

} // namespace translate::detail
} // namespace v0_1
} // namespace muster
