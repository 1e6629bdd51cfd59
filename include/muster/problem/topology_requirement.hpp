// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {

/// A topology constraint on a vertex of a gang's tree, and the levels on which its members that
/// have a node share a domain.
struct topology_requirement {
    std::size_t vertex = 0;
    topology_index within;
    std::optional<std::size_t> required;
    std::optional<std::size_t> preferred;
    /// The members share a volume that does not exist yet (`affinity_term::of_volume`).
    bool of_volume = false;
    /// As `affinity_term::domains_may_change`: never a part of a proof for the empty cluster.
    bool domains_may_change = false;
    /// True if a member at or below the vertex occupies a node; `witness` is the node of the first
    /// such member.
    bool held = false;
    node_index witness;
    /// The number of levels, from the coarsest on, on which all of these members share a domain.
    std::size_t shared = 0;

    /// Records one more member that occupies a node. O(levels).
    template<class Traits>
    void hold(const cluster_state<Traits>& cluster, node_index node) {
        const topology_domains& domains = cluster.topologies()[within];
        const node_index first = held ? witness : node;
        const std::size_t agreed = domains.shared_levels(first, node);
        shared = held ? std::min(shared, agreed) : agreed;
        witness = first;
        held = true;
    }
};

/// The domain to which the members at or below a vertex are confined. If there is no domain, none
/// of them can be placed.
struct vertex_domain {
    std::size_t vertex = 0;
    topology_index within;
    std::optional<domain_index> domain;
};

/// Returns true if the vertex is `ancestor` or below it.
[[nodiscard]] inline bool is_below(const gang_tree& tree, std::size_t vertex,
                                   std::size_t ancestor) noexcept {
    while (vertex > ancestor)
        vertex = tree[vertex].parent;
    return vertex == ancestor;
}

/// Returns true if the vertex domains allow members of the vertex on the node. O(vertex domains).
template<class Traits>
[[nodiscard]] bool admits(const cluster_state<Traits>& cluster, const gang_tree& tree,
                          std::span<const vertex_domain> among, std::size_t vertex,
                          node_index node) {
    return detail::all_of(among, [&](const vertex_domain& confinement) {
        return !is_below(tree, vertex, confinement.vertex) ||
               (confinement.domain &&
                cluster.topologies()[confinement.within].contains(*confinement.domain, node));
    });
}

/// Lists the domains of a level that the members at or below a vertex may use, over `ways`. With
/// `holding`, that is the domain of the members that occupy nodes. Otherwise, or if there are none,
/// those domains of the level, in the order of their labels' values, that have a node in the
/// domains to which the vertex is already confined. If there is none, the list is a single entry
/// without a domain: place no member. Every placement that keeps the members together is in one of
/// the listed ways.
///
/// O(domains), or O(nodes) if several topologies must be intersected.
template<class Traits>
void list_candidate_domains(const cluster_state<Traits>& cluster, const gang_tree& tree,
                            const topology_requirement& requirement, std::size_t level,
                            bool holding, std::span<const vertex_domain> among,
                            detail::sequence<std::optional<domain_index>>& ways) {
    const topology_domains& domains = cluster.topologies()[requirement.within];
    ways.clear();
    if (holding && requirement.held) {
        ways.push_back(level < requirement.shared ? domains.find(requirement.witness, level)
                                                  : std::nullopt);
        return;
    }
    for (const auto& [path, which] : domains.of_level(level)) {
        const std::vector<node_index>& nodes = domains[which].nodes;
        if (among.empty() || detail::any_of(nodes, [&](node_index node) {
                return admits(cluster, tree, among, requirement.vertex, node);
            }))
            ways.push_back(which);
    }
    if (ways.empty())
        ways.push_back(std::nullopt);
}
template<class Traits>
[[nodiscard]] detail::sequence<std::optional<domain_index>>
candidate_domains(const cluster_state<Traits>& cluster, const gang_tree& tree,
                  const topology_requirement& requirement, std::size_t level, bool holding,
                  std::span<const vertex_domain> among) {
    detail::sequence<std::optional<domain_index>> ways;
    list_candidate_domains(cluster, tree, requirement, level, holding, among, ways);
    return ways;
}

} // namespace v0_1
} // namespace muster
