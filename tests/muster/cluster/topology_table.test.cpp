// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/cluster/state.hpp>
#include <muster/testing/random.hpp>

namespace cluster_topology_table_test {

namespace {

using namespace muster;
using cluster = state<string_traits<4>>;
using listing = std::vector<std::map<std::vector<std::string>, std::vector<std::string>>>;

const topology racks{{"block", "rack"}};

cluster::node_type labelled(label_set labels) {
    cluster::node_type made;
    made.labels = std::move(labels);
    return made;
}

cluster::gang_type close_gang(topology within = racks) {
    cluster::gang_type made;
    made.tree = single_role(2);
    made.tree.constrain_topology(vertex_index{0}, {std::move(within), 0, std::nullopt});
    return made;
}

/// The keys of the nodes in each domain, level by level, in the orders that the table keeps.
listing domains_of(const cluster& known, const std::string& gang) {
    const auto& domains =
        known.topologies()[known[known.find_gang(gang)->index].together[0].within];
    listing found(domains.levels());
    for (std::size_t level = 0; level < domains.levels(); ++level)
        for (const auto& [path, which] : domains.of_level(level))
            for (const node_index node : domains[which].nodes)
                found[level][path].push_back(known.key(node));
    return found;
}

TEST_CASE("racks of one name in two blocks are two domains") {
    cluster known;
    CHECK(known.upsert_gang("g", close_gang()) == event_result::applied);
    CHECK(known.upsert_node("n2", labelled({{"block", "b"}, {"rack", "1"}})) ==
          event_result::applied);
    CHECK(known.upsert_node("n1", labelled({{"block", "a"}, {"rack", "1"}})) ==
          event_result::applied);
    const listing found = domains_of(known, "g");
    CHECK(found[0] == listing::value_type{{{"a"}, {"n1"}}, {{"b"}, {"n2"}}});
    CHECK(found[1] == listing::value_type{{{"a", "1"}, {"n1"}}, {{"b", "1"}, {"n2"}}});
}

TEST_CASE("a node that lacks a label belongs to no domain of that level or of any finer one") {
    cluster known;
    CHECK(known.upsert_gang("g", close_gang()) == event_result::applied);
    CHECK(known.upsert_node("n1", labelled({{"rack", "1"}})) == event_result::applied);
    CHECK(known.upsert_node("n2", labelled({{"block", "a"}})) == event_result::applied);
    const listing found = domains_of(known, "g");
    CHECK(found[0] == listing::value_type{{{"a"}, {"n2"}}});
    CHECK(found[1].empty());
}

TEST_CASE("nodes of a domain stand in the order of their keys, and leave it with their label") {
    cluster known;
    for (const char* key : {"c", "a", "b"})
        CHECK(known.upsert_node(key, labelled({{"block", "x"}, {"rack", "1"}})) ==
              event_result::applied);
    CHECK(known.upsert_gang("g", close_gang()) == event_result::applied);
    CHECK(domains_of(known, "g")[1] == listing::value_type{{{"x", "1"}, {"a", "b", "c"}}});
    CHECK(known.upsert_node("b", labelled({{"block", "x"}, {"rack", "2"}})) ==
          event_result::applied);
    CHECK(known.remove_node("a") == event_result::applied);
    const listing found = domains_of(known, "g");
    CHECK(found[0] == listing::value_type{{{"x"}, {"b", "c"}}});
    CHECK(found[1] == listing::value_type{{{"x", "1"}, {"c"}}, {{"x", "2"}, {"b"}}});
}

TEST_CASE("equal topologies are one, however many gangs name them") {
    cluster known;
    CHECK(known.upsert_gang("g", close_gang()) == event_result::applied);
    CHECK(known.upsert_gang("h", close_gang()) == event_result::applied);
    CHECK(known.topologies().size() == 1);
    CHECK(known.upsert_gang("g", close_gang({{"zone"}})) == event_result::applied);
    CHECK(known.topologies().size() == 2);
    CHECK(known.remove_gang("h") == event_result::applied);
    CHECK(known.upsert_gang("i", close_gang({{"host"}})) == event_result::applied);
    CHECK(known.topologies().size() == 2);
}

TEST_CASE("a constraint on a level that does not exist makes the gang malformed") {
    const auto fault = [](topology_constraint how) {
        cluster known;
        cluster::gang_type made;
        made.tree.constrain_topology(vertex_index{0}, std::move(how));
        CHECK(known.upsert_gang("g", made) == event_result::applied);
        return known[known.find_gang("g")->index].spec.fault;
    };
    CHECK(fault({racks, 1, std::nullopt}) == gang_fault::none);
    CHECK(fault({racks, 0, 1}) == gang_fault::none);
    CHECK(fault({racks, 2, std::nullopt}) == gang_fault::malformed);
    CHECK(fault({racks, std::nullopt, 2}) == gang_fault::malformed);
    CHECK(fault({racks, std::nullopt, std::nullopt}) == gang_fault::malformed);
    CHECK(fault({{{"rack", "rack"}}, 0, std::nullopt}) == gang_fault::malformed);
    CHECK(fault({{}, 0, std::nullopt}) == gang_fault::malformed);
}

TEST_CASE("domains grown by events are those of a state made from its listing") {
    testing::random chance(7);
    for (int round = 0; round < 200; ++round) {
        cluster grown;
        std::map<std::string, label_set> nodes;
        if (chance.percent(50))
            CHECK(grown.upsert_gang("g", close_gang()) == event_result::applied);
        for (int event = 0; event < 30; ++event) {
            const std::string key(1, static_cast<char>('a' + chance.below(8)));
            if (chance.percent(25)) {
                static_cast<void>(grown.remove_node(key));
                nodes.erase(key);
                continue;
            }
            label_set labels;
            if (chance.percent(85))
                labels.set("block", std::string(1, static_cast<char>('p' + chance.below(2))));
            if (chance.percent(85))
                labels.set("rack", std::to_string(chance.below(2)));
            CHECK(grown.upsert_node(key, labelled(labels)) == event_result::applied);
            nodes[key] = labels;
        }
        CHECK(grown.upsert_gang("g", close_gang()) == event_result::applied);
        cluster fresh;
        CHECK(fresh.upsert_gang("g", close_gang()) == event_result::applied);
        for (const auto& [key, labels] : nodes)
            CHECK(fresh.upsert_node(key, labelled(labels)) == event_result::applied);
        CHECK(domains_of(grown, "g") == domains_of(fresh, "g"));
    }
}

} // namespace

} // namespace cluster_topology_table_test
