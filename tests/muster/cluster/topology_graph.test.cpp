// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <boost/graph/adjacency_list.hpp>

#include <muster/cluster/topology_graph.hpp>

namespace cluster_topology_graph_test {

namespace {

using namespace muster;

using tree = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
struct link {
    int tier = 0;
};
using network =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property, link>;

std::string name(std::size_t vertex) {
    return std::string(1, static_cast<char>('a' + vertex));
}

TEST_CASE("in a tree of switches a host stands below those between it and the root") {
    // a is the core; b and c are blocks, d and e racks of b; hosts f below d, g below e, h below c.
    tree switches(8);
    for (const auto& [from, to] : std::vector<std::pair<std::size_t, std::size_t>>{
             {0, 1}, {0, 2}, {1, 3}, {1, 4}, {3, 5}, {4, 6}, {2, 7}})
        add_edge(from, to, switches);
    const auto places = places_in_tree(switches, 0, 2, name);
    CHECK(places[5] == network_place{"b", "d"});
    CHECK(places[6] == network_place{"b", "e"});
    CHECK(places[7] == network_place{"c"});
    CHECK(places[0].empty());
    CHECK(places_in_tree(switches, 0, 1, name)[5] == network_place{"b"});
}

TEST_CASE("links join the domains of their tier and of coarser ones") {
    // Hosts a and b at one switch, c at another of the same block, d in a block of its own.
    network links(4);
    add_edge(0, 1, link{1}, links);
    add_edge(1, 2, link{0}, links);
    add_edge(2, 3, link{-1}, links);
    const auto tier_of = [&](const auto& edge) { return links[edge].tier; };
    const auto places = places_by_links(links, 2, tier_of, name);
    CHECK(places == std::vector<network_place>{{"a", "a"}, {"a", "a"}, {"a", "c"}, {"d", "d"}});
}

TEST_CASE("a place becomes labels, as far as it goes") {
    label_set labels{{"name", "n1"}};
    set_labels(labels, {{"block", "rack"}}, {"b"});
    CHECK(labels == label_set{{"block", "b"}, {"name", "n1"}});
    set_labels(labels, {{"block", "rack"}}, {"b", "r"});
    CHECK(labels == label_set{{"block", "b"}, {"name", "n1"}, {"rack", "r"}});
}

} // namespace

} // namespace cluster_topology_graph_test
