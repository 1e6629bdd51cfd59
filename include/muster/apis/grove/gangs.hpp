// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/grove/names.hpp>
#include <muster/apis/grove/set.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/target.hpp>
#include <muster/vocabulary/gang.hpp>
#include <muster/vocabulary/topology.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// A PodClique that a set makes: a clique of one of its replicas.
struct grove_member {
    std::size_t clique = 0; ///< position in the set's cliques
    std::int64_t group_replica = 0;
    std::string name;
};

/// A PodGang that a set makes, with its PodCliques in their order.
struct grove_gang {
    std::string name;
    std::int64_t replica = 0; ///< of the set
    /// A scaled gang: the scaling group that it is a replica of.
    std::optional<std::size_t> group;
    std::int64_t group_replica = 0;
    std::vector<grove_member> members;
};

/// The gangs of one replica of a set: first the base gang (the cliques that stand alone in the
/// order of the template, then of every scaling group the replicas below its minAvailable), then
/// one for each further replica of a group. `group_replicas` says how many replicas each group has;
/// empty: as many as the set says. O(PodCliques).
[[nodiscard]] inline std::vector<grove_gang>
grove_gangs_of(const grove_set& set, std::int64_t replica,
               std::span<const std::int64_t> group_replicas = {}) {
    std::vector<grove_gang> made(1);
    made[0].name = grove::replica_name(set.name, replica);
    made[0].replica = replica;
    for (std::size_t at = 0; at < set.cliques.size(); ++at)
        if (!set.cliques[at].group)
            made[0].members.push_back(
                {at, 0, grove::part_name(set.name, replica, set.cliques[at].name)});
    for (std::size_t at = 0; at < set.groups.size(); ++at) {
        const grove_scaling_group& group = set.groups[at];
        const std::int64_t count = group_replicas.empty() ? group.replicas : group_replicas[at];
        for (std::int64_t each = 0; each < std::max(count, group.min_available); ++each) {
            const std::int64_t beyond = each - group.min_available;
            if (beyond >= 0)
                made.push_back({grove::scaled_gang_name(set.name, replica, group.name, beyond),
                                replica,
                                at,
                                each,
                                {}});
            grove_gang& gang = beyond >= 0 ? made.back() : made.front();
            for (const std::size_t clique : group.cliques)
                gang.members.push_back({clique, each,
                                        grove::member_name(set.name, replica, group.name, each,
                                                           set.cliques[clique].name)});
        }
    }
    return made;
}

/// PodCliques that have to have their minimum of Ready pods before the pods of `member` start, each
/// with that minimum. Of a scaled gang only those of its own replica count.
[[nodiscard]] inline std::vector<std::pair<std::string, std::int64_t>>
grove_predecessors(const grove_set& set, const grove_gang& gang, const grove_member& member) {
    std::vector<std::size_t> parents;
    if (set.startup == grove_startup::in_order && member.clique > 0)
        parents.push_back(member.clique - 1);
    else if (set.startup == grove_startup::explicit_order)
        parents = set.cliques[member.clique].starts_after;
    std::vector<std::pair<std::string, std::int64_t>> made;
    for (const std::size_t parent : parents) {
        const grove_clique& clique = set.cliques[parent];
        if (gang.group) {
            if (clique.group == gang.group)
                made.emplace_back(grove::member_name(set.name, gang.replica,
                                                     set.groups[*gang.group].name,
                                                     gang.group_replica, clique.name),
                                  clique.min_available);
        } else if (!clique.group) {
            made.emplace_back(grove::part_name(set.name, gang.replica, clique.name),
                              clique.min_available);
        } else {
            const grove_scaling_group& group = set.groups[*clique.group];
            for (std::int64_t each = 0; each < group.min_available; ++each)
                made.emplace_back(
                    grove::member_name(set.name, gang.replica, group.name, each, clique.name),
                    clique.min_available);
        }
    }
    return made;
}

namespace detail {

/// In node labels; without a topology the domains stand for labels themselves.
[[nodiscard]] inline std::optional<topology_constraint>
grove_constraint(const grove_packing& packing, const grove_topology* within) {
    if (!packing.asks())
        return std::nullopt;
    topology_constraint made;
    if (within)
        for (const grove_topology::level& level : within->levels)
            made.within.levels.push_back(level.label);
    const auto level = [&](std::string_view domain) -> std::optional<std::size_t> {
        if (domain.empty())
            return std::nullopt;
        for (std::size_t at = 0; within && at < within->levels.size(); ++at)
            if (within->levels[at].domain == domain)
                return at;
        for (std::size_t at = 0; at < made.within.levels.size(); ++at)
            if (made.within.levels[at] == domain)
                return at;
        made.within.levels.emplace_back(domain);
        return made.within.levels.size() - 1;
    };
    made.required = level(packing.required);
    made.preferred = level(packing.preferred);
    return made;
}

} // namespace detail

/// Whom a set's constraints ask for: the topology of this name.
[[nodiscard]] inline std::string_view grove_topology_name(const grove_set& set) {
    if (!set.packing.topology.empty())
        return set.packing.topology;
    for (const grove_scaling_group& group : set.groups)
        if (!group.packing.topology.empty())
            return group.packing.topology;
    for (const grove_clique& clique : set.cliques)
        if (!clique.packing.topology.empty())
            return clique.packing.topology;
    return {};
}

/// The shape of a gang: below the root a subgroup for each replica of a scaling group that has a
/// constraint of its own (only in a base gang; a scaled gang is such a replica), and a leaf for
/// each PodClique, named as it.
[[nodiscard]] inline gang_tree grove_tree(const grove_set& set, const grove_gang& gang,
                                          const grove_topology* within) {
    std::int64_t total = 0;
    for (const grove_member& member : gang.members)
        total += set.cliques[member.clique].min_available;
    gang_tree tree(total);
    const bool own = gang.group && set.groups[*gang.group].packing.asks();
    if (auto how =
            detail::grove_constraint(own ? set.groups[*gang.group].packing : set.packing, within))
        tree.constrain_topology(vertex_index{0}, std::move(*how));
    // A group's PodCliques stand together in the list, replica by replica.
    struct subgroup {
        std::size_t group;
        std::int64_t replica;
        vertex_index at;
    };
    std::vector<subgroup> subgroups;
    const auto of = [&](const grove_member& member) {
        const auto group = set.cliques[member.clique].group;
        return std::ranges::find_if(subgroups, [&](const subgroup& each) {
            return each.group == group && each.replica == member.group_replica;
        });
    };
    for (const grove_member& member : gang.members) {
        const auto group = set.cliques[member.clique].group;
        if (gang.group || !group || !set.groups[*group].packing.asks() ||
            of(member) != subgroups.end())
            continue;
        const vertex_index at = tree.add(
            vertex_index{0}, 0,
            grove::replica_name(grove::part_name(set.name, gang.replica, set.groups[*group].name),
                                member.group_replica));
        tree.constrain_topology(at, *detail::grove_constraint(set.groups[*group].packing, within));
        subgroups.push_back({*group, member.group_replica, at});
    }
    for (const grove_member& member : gang.members) {
        const grove_clique& clique = set.cliques[member.clique];
        const auto parent = gang.group ? subgroups.end() : of(member);
        const vertex_index leaf = tree.add(parent == subgroups.end() ? vertex_index{0} : parent->at,
                                           clique.min_available, member.name);
        if (auto how = detail::grove_constraint(clique.packing, within))
            tree.constrain_topology(leaf, std::move(*how));
    }
    return tree;
}

/// The PodGang as a gang, without its uid. `replicas` of a clique that is scaled by itself may
/// differ from the set's: `clique_replicas(member) -> std::int64_t` says how many pods there are.
template<class Replicas>
[[nodiscard]] gang_object grove_gang_object(const grove_set& set, const grove_gang& gang,
                                            grove_dialect dialect, std::string_view backend_mark,
                                            const grove_topology* within,
                                            const Replicas& clique_replicas) {
    gang_object made;
    made.kind = "PodGang";
    made.origin = target::grove;
    made.name_space = set.name_space;
    made.name = gang.name;
    if (dialect == grove_dialect::upstream) {
        const auto inherit = [](const boost::json::object* from, boost::json::object& to) {
            if (!from)
                return;
            for (const auto& each : *from)
                if (!std::string_view(each.key()).starts_with("grove.io/"))
                    to.insert_or_assign(each.key(), each.value());
        };
        inherit(set.labels, made.labels);
        inherit(set.annotations, made.annotations);
    }
    made.labels.insert_or_assign(grove::managed_by_label, grove::operator_name);
    made.labels.insert_or_assign(grove::part_of_label, set.name);
    made.labels.insert_or_assign(grove::component_label, "podgang");
    made.labels.insert_or_assign(dialect == grove_dialect::seed ? grove::backend_label
                                                                : grove::scheduler_label,
                                 backend_mark);
    made.owners.push_back({std::string(grove::api_version), "PodCliqueSet", std::string(set.name),
                           std::string(set.uid), dialect == grove_dialect::upstream});
    made.tree = grove_tree(set, gang, within);
    const std::size_t first = made.tree.size() - gang.members.size();
    for (std::size_t at = 0; at < gang.members.size(); ++at)
        made.sizes.push_back({vertex_index{first + at}, clique_replicas(gang.members[at])});
    if (!set.queue.empty())
        made.queue = std::string(set.queue);
    made.priority.class_name = set.priority_class;
    made.topology_name = grove_topology_name(set);
    if (!made.topology_name.empty())
        made.annotations.insert_or_assign(grove::topology_annotation, made.topology_name);
    return made;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
