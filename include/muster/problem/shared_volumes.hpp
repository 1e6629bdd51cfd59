// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/problem/topology_requirement.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// True if pods with these constraints share a volume that does not exist yet: they must be placed
/// in one domain of a node label.
[[nodiscard]] inline bool shares_new_volume(const constraints& where) {
    return where.pods && detail::any_of(where.pods->affinity, &affinity_term::of_volume);
}

/// Returns the vertex of a gang's tree whose waiting members all have the term, while no other
/// member has the term. Empty if no vertex qualifies, or if a pod that matches the term or that
/// belongs to the vertex has a node.
template<class Traits, class Members>
[[nodiscard]] std::optional<std::size_t>
vertex_with_term(const cluster_state<Traits>& cluster, const gang_record& group,
                 const Members& members, const known_term& term) {
    const pod_population& population = cluster.population();
    const auto carries = [&](const auto& member_shape) {
        const known_terms* terms = population.terms(member_shape.where);
        return terms && detail::any_of(terms->affinity, [&](const known_term& one) {
                   return one.pods == term.pods && one.topology == term.topology;
               });
    };
    const gang_tree& tree = *members.tree;
    std::optional<std::size_t> vertex;
    for (const auto& member_shape : members.classes) {
        if (!carries(member_shape))
            continue;
        std::size_t role = member_shape.role.value();
        std::size_t above = vertex.value_or(role);
        while (above != role)
            (above > role ? above : role) = tree[std::max(above, role)].parent;
        vertex = above;
    }
    const auto has_node = [&](identity_index pods) { return !population.counts_of(pods).empty(); };
    if (!vertex || detail::any_of(population.matched(term.pods), has_node))
        return std::nullopt;
    for (const auto& member_shape : members.classes)
        if (is_below(tree, member_shape.role.value(), *vertex) && !carries(member_shape))
            return std::nullopt;
    for (const pod_index member : group.members)
        if (cluster[member].charged() && is_below(tree, cluster[member].role.value(), *vertex))
            return std::nullopt;
    return vertex;
}

/// Adds to `into.topology` the vertices whose waiting members all share a volume that does not
/// exist yet, so that the search can prove that no domain has room for them. A vertex with a
/// topology constraint of its own is left out, because a proof names one constraint per vertex. If
/// the terms have several label keys, the key with the most domains is used. O(terms × (classes +
/// members)).
template<class Traits, class Members>
void keep_near_volumes(const cluster_state<Traits>& cluster, const gang_record& group,
                       Members& into) {
    const auto domains = [&](topology_index label) {
        return cluster.topologies()[label].of_level(0).size();
    };
    for (const auto& member_shape : into.classes) {
        const auto& where = cluster.constraint_sets()[member_shape.where].value;
        for (std::size_t at = 0; where.pods && at < where.pods->affinity.size(); ++at) {
            const known_term& term = cluster.population().terms(member_shape.where)->affinity[at];
            const auto vertex = where.pods->affinity[at].of_volume
                                    ? vertex_with_term(cluster, group, into, term)
                                    : std::nullopt;
            if (!vertex)
                continue;
            topology_requirement made;
            made.vertex = *vertex;
            made.within = term.topology;
            made.required = 0;
            made.of_volume = true;
            made.domains_may_change = term.domains_may_change;
            const auto same =
                detail::lower_bound(into.topology, *vertex, {}, &topology_requirement::vertex);
            if (same == into.topology.end() || same->vertex != *vertex)
                into.topology.insert(same, made);
            else if (same->of_volume && domains(same->within) < domains(made.within))
                *same = made;
        }
    }
}

} // namespace detail
} // namespace v0_1
} // namespace muster
