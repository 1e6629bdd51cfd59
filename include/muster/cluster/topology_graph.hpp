// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/graph/graph_traits.hpp>
#include <boost/pending/disjoint_sets.hpp>

#include <muster/vocabulary/labels.hpp>
#include <muster/vocabulary/topology.hpp>

namespace muster {
inline namespace v0_1 {

/// The place of a vertex of a network: a name for each level, coarse to fine, as far as it has one.
using network_place = std::vector<std::string>;

/// Places from a tree of switches: the switches between `root` and a vertex, from above, at most
/// `levels` of them; neither the root nor the vertex itself. `name_of(v)` is the name of a switch.
/// A host that hangs higher up has fewer levels, and is in no domain of the finer ones. The graph
/// is any incidence graph of Boost.Graph whose edges lead down from the root to every vertex by one
/// way. Places are by vertex index. O(vertices · levels).
template<class Tree, class NameOf>
[[nodiscard]] std::vector<network_place>
places_in_tree(const Tree& switches, typename boost::graph_traits<Tree>::vertex_descriptor root,
               std::size_t levels, const NameOf& name_of) {
    const auto index = get(boost::vertex_index, switches);
    std::vector<network_place> places(num_vertices(switches));
    std::vector<typename boost::graph_traits<Tree>::vertex_descriptor> open{root};
    while (!open.empty()) {
        const auto above = open.back();
        open.pop_back();
        network_place inside = places[get(index, above)];
        if (above != root && inside.size() < levels)
            inside.push_back(name_of(above));
        for (auto [edge, end] = out_edges(above, switches); edge != end; ++edge) {
            const auto below = target(*edge, switches);
            places[get(index, below)] = inside;
            open.push_back(below);
        }
    }
    return places;
}

/// Places from links of several tiers: vertices share a domain of a level when links inside its
/// domains connect them. `tier_of(edge)` is the finest level inside whose domains the link lies, or
/// -1 for one between domains of the coarsest. A domain is named after the least `name_of(v)` of
/// its vertices. The graph is any vertex and edge list graph of Boost.Graph with a vertex index.
/// Places are by vertex index. O(levels · (vertices + edges)), nearly.
template<class Network, class TierOf, class NameOf>
[[nodiscard]] std::vector<network_place> places_by_links(const Network& links, std::size_t levels,
                                                         const TierOf& tier_of,
                                                         const NameOf& name_of) {
    const auto index = get(boost::vertex_index, links);
    const std::size_t count = num_vertices(links);
    std::vector<network_place> places(count);
    for (std::size_t level = 0; level < levels; ++level) {
        boost::disjoint_sets_with_storage<> joined(count);
        for (auto [edge, end] = edges(links); edge != end; ++edge)
            if (static_cast<std::ptrdiff_t>(tier_of(*edge)) >= static_cast<std::ptrdiff_t>(level))
                joined.union_set(get(index, source(*edge, links)),
                                 get(index, target(*edge, links)));
        std::vector<std::optional<std::string>> names(count);
        for (auto [at, end] = vertices(links); at != end; ++at) {
            std::optional<std::string>& name = names[joined.find_set(get(index, *at))];
            std::string own = name_of(*at);
            if (!name || own < *name)
                name = std::move(own);
        }
        for (std::size_t at = 0; at < count; ++at)
            places[at].push_back(*names[joined.find_set(at)]);
    }
    return places;
}

/// Labels a node by its place, level by level.
inline void set_labels(label_set& of, const topology& within, const network_place& place) {
    for (std::size_t level = 0; level < within.levels.size() && level < place.size(); ++level)
        of.set(within.levels[level], place[level]);
}

} // namespace v0_1
} // namespace muster
