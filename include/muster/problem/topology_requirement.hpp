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

/// A vertex of a gang's tree whose members must share a domain, and where those that hold do.
struct topology_requirement {
    std::size_t vertex = 0;
    topology_index within;
    std::optional<std::size_t> required;
    std::optional<std::size_t> preferred;
    /// The members share a volume that does not exist yet (`affinity_term::of_volume`).
    bool of_volume = false;
    /// Some member at or below the vertex occupies a node; this is the one of the first such.
    bool held = false;
    node_index witness;
    /// On how many levels, from the coarsest on, all of them share a domain.
    std::size_t shared = 0;

    /// One more member that occupies a node. O(levels).
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

/// The domain of the members at or below a vertex. Without a domain none is placed.
struct vertex_domain {
    std::size_t vertex = 0;
    topology_index within;
    std::optional<domain_index> domain;
};

/// The vertex is `ancestor` or is below it.
[[nodiscard]] inline bool is_below(const gang_tree& tree, std::size_t vertex,
                                   std::size_t ancestor) noexcept {
    while (vertex > ancestor)
        vertex = tree[vertex].parent;
    return vertex == ancestor;
}

/// These allow members of the vertex on the node. O(vertex domains).
template<class Traits>
[[nodiscard]] bool admits(const cluster_state<Traits>& cluster, const gang_tree& tree,
                          std::span<const vertex_domain> among, std::size_t vertex,
                          node_index node) {
    return detail::all_of(among, [&](const vertex_domain& one) {
        return !is_below(tree, vertex, one.vertex) ||
               (one.domain && cluster.topologies()[one.within].contains(*one.domain, node));
    });
}

/// The domains of a level that the members at or below a vertex may use: with `holding`, the one of
/// the members that hold room; else those of the level, in the order of their labels' values, that
/// have a node in the domains to which the vertex is confined already. If there is none, the only
/// way is to place no member, a single entry without a domain. Overwrites `ways`. One of the ways
/// holds for every placement that keeps the members together.
///
/// O(domains), and O(nodes) where two topologies meet.
template<class Traits>
void list_candidate_domains(const cluster_state<Traits>& cluster, const gang_tree& tree,
                            const topology_requirement& of, std::size_t level, bool holding,
                            std::span<const vertex_domain> among,
                            detail::sequence<std::optional<domain_index>>& ways) {
    const topology_domains& domains = cluster.topologies()[of.within];
    ways.clear();
    if (holding && of.held) {
        ways.push_back(level < of.shared ? domains.find(of.witness, level) : std::nullopt);
        return;
    }
    for (const auto& [path, which] : domains.of_level(level)) {
        const std::vector<node_index>& nodes = domains[which].nodes;
        if (among.empty() || detail::any_of(nodes, [&](node_index node) {
                return admits(cluster, tree, among, of.vertex, node);
            }))
            ways.push_back(which);
    }
    if (ways.empty())
        ways.push_back(std::nullopt);
}
template<class Traits>
[[nodiscard]] detail::sequence<std::optional<domain_index>>
candidate_domains(const cluster_state<Traits>& cluster, const gang_tree& tree,
                  const topology_requirement& of, std::size_t level, bool holding,
                  std::span<const vertex_domain> among) {
    detail::sequence<std::optional<domain_index>> ways;
    list_candidate_domains(cluster, tree, of, level, holding, among, ways);
    return ways;
}

} // namespace v0_1
} // namespace muster
