// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/grove/gangs.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace translate_grove_gangs_test {

using namespace muster;
using namespace muster::translate;

namespace {

/// A clique `front` of its own, and groups of a leader and workers.
grove_set leaders_and_workers(std::int64_t replicas, std::int64_t min_available) {
    grove_set set;
    set.name_space = "ns";
    set.name = "set";
    set.replicas = 1;
    const auto clique = [](const char* name, std::int64_t count, std::int64_t least) {
        grove_clique made;
        made.name = name;
        made.replicas = count;
        made.min_available = least;
        return made;
    };
    set.cliques = {clique("leader", 1, 1), clique("front", 2, 1), clique("worker", 4, 3)};
    set.cliques[0].group = set.cliques[2].group = 0;
    grove_scaling_group group;
    group.name = "model";
    group.cliques = {0, 2};
    group.replicas = replicas;
    group.min_available = min_available;
    set.groups.push_back(group);
    return set;
}

std::string names(const grove_set& set, std::int64_t replica = 0,
                  std::span<const std::int64_t> counts = {}) {
    std::string text;
    for (const grove_gang& gang : grove_gangs_of(set, replica, counts)) {
        text += gang.name + ':';
        for (const grove_member& member : gang.members)
            text += ' ' + member.name;
        text += '\n';
    }
    return text;
}

gang_object object(const grove_set& set, const grove_gang& gang,
                   grove_dialect dialect = grove_dialect::upstream,
                   const grove_topology* within = nullptr) {
    return grove_gang_object(set, gang, dialect, "mark", within, [&](const grove_member& of) {
        return set.cliques[of.clique].replicas;
    });
}

} // namespace

TEST_CASE("the base gang has the cliques that stand alone, then the replicas that groups need") {
    CHECK(names(leaders_and_workers(2, 2), 7) ==
          "set-7: set-7-front set-7-model-0-leader set-7-model-0-worker set-7-model-1-leader "
          "set-7-model-1-worker\n");
}

TEST_CASE("every further replica of a group is a gang of its own, counted from 0") {
    CHECK(names(leaders_and_workers(3, 1)) ==
          "set-0: set-0-front set-0-model-0-leader set-0-model-0-worker\n"
          "set-0-model-0: set-0-model-1-leader set-0-model-1-worker\n"
          "set-0-model-1: set-0-model-2-leader set-0-model-2-worker\n");
    const std::array<std::int64_t, 1> scaled{2};
    CHECK(names(leaders_and_workers(3, 1), 0, scaled) ==
          "set-0: set-0-front set-0-model-0-leader set-0-model-0-worker\n"
          "set-0-model-0: set-0-model-1-leader set-0-model-1-worker\n");
}

TEST_CASE("a gang needs the sum of its cliques' minima, and each of them") {
    const grove_set set = leaders_and_workers(2, 1);
    const auto gangs = grove_gangs_of(set, 0);
    const gang_object base = object(set, gangs[0]);
    REQUIRE(base.tree.size() == 4);
    CHECK(base.tree[std::size_t{0}].min_member == 5);
    CHECK(base.tree[std::size_t{1}].name == "set-0-front");
    CHECK(base.tree[std::size_t{1}].min_member == 1);
    CHECK(base.tree[std::size_t{3}].name == "set-0-model-0-worker");
    CHECK(base.tree[std::size_t{3}].min_member == 3);
    REQUIRE(base.sizes.size() == 3);
    CHECK(base.sizes[0].leaf == vertex_index{1});
    CHECK(base.sizes[0].replicas == 2);
    CHECK(base.sizes[2].replicas == 4);
    CHECK(object(set, gangs[1]).tree[std::size_t{0}].min_member == 4);
}

TEST_CASE("cliques wait for those before them, each for its minimum") {
    grove_set set = leaders_and_workers(3, 2);
    using waits = std::vector<std::pair<std::string, std::int64_t>>;
    const auto gangs = grove_gangs_of(set, 0);
    REQUIRE(gangs[0].members[4].name == "set-0-model-1-worker");
    const auto after = [&](std::size_t gang, std::size_t member) {
        return grove_predecessors(set, gangs[gang], gangs[gang].members[member]);
    };
    CHECK(after(0, 4).empty());

    set.startup = grove_startup::in_order; // leader, front, worker
    CHECK(after(0, 1).empty());
    CHECK(after(0, 0) == waits{{"set-0-model-0-leader", 1}, {"set-0-model-1-leader", 1}});
    CHECK(after(0, 4) == waits{{"set-0-front", 1}});
    // Of a scaled gang only what is of its own replica counts.
    CHECK(after(1, 1).empty());

    set.startup = grove_startup::explicit_order;
    set.cliques[2].starts_after = {0, 1};
    CHECK(after(0, 0).empty());
    CHECK(after(0, 4) ==
          waits{{"set-0-model-0-leader", 1}, {"set-0-model-1-leader", 1}, {"set-0-front", 1}});
    CHECK(after(1, 1) == waits{{"set-0-model-2-leader", 1}});
}

TEST_CASE("replicas of a group with a constraint of its own are subgroups of the base gang") {
    grove_set set = leaders_and_workers(3, 2);
    set.packing = {"t", "zone", ""};
    set.groups[0].packing = {"", "rack", "host"};
    set.cliques[1].packing = {"", "", "host"};
    const grove_topology within{"t",
                                {{"zone", "example.com/zone"},
                                 {"rack", "example.com/rack"},
                                 {"host", "kubernetes.io/hostname"}}};
    const auto gangs = grove_gangs_of(set, 0);
    const gang_object base = object(set, gangs[0], grove_dialect::upstream, &within);
    CHECK(base.topology_name == "t");
    CHECK(base.annotations.at("grove.io/topology-name") == "t");
    REQUIRE(base.tree.size() == 8);
    const gang_tree& tree = base.tree;
    CHECK(tree[std::size_t{0}].together->required == 0);
    CHECK(tree[std::size_t{1}].name == "set-0-model-0");
    CHECK(tree[std::size_t{1}].together->required == 1);
    CHECK(tree[std::size_t{1}].together->preferred == 2);
    CHECK(
        tree[std::size_t{1}].together->within.levels ==
        std::vector<std::string>{"example.com/zone", "example.com/rack", "kubernetes.io/hostname"});
    CHECK(tree[std::size_t{2}].name == "set-0-model-1");
    CHECK(tree[std::size_t{3}].name == "set-0-front");
    CHECK(tree[std::size_t{3}].parent == 0);
    CHECK(tree[std::size_t{3}].together->preferred == 2);
    CHECK(tree[std::size_t{4}].parent == 1);
    CHECK(tree[std::size_t{7}].parent == 2);
    CHECK(base.sizes.front().leaf == vertex_index{3});
    // A scaled gang is such a replica itself.
    const gang_object scaled = object(set, gangs[1], grove_dialect::upstream, &within);
    CHECK(scaled.tree.size() == 3);
    CHECK(scaled.tree[std::size_t{0}].together->required == 1);
}

TEST_CASE("without its topology a set's domains stand for node labels") {
    grove_set set = leaders_and_workers(1, 1);
    set.packing = {"", "rack", "host"};
    const gang_object gang = object(set, grove_gangs_of(set, 0)[0]);
    const topology_constraint& how = *gang.tree[std::size_t{0}].together;
    CHECK(how.within.levels == std::vector<std::string>{"rack", "host"});
    CHECK(how.required == 0);
    CHECK(how.preferred == 1);
}

TEST_CASE("a gang's own labels are those of its dialect, and upstream inherits the set's") {
    grove_set set = leaders_and_workers(1, 1);
    const boost::json::object labels{{"team", "a"}, {"grove.io/own", "no"}};
    const boost::json::object annotations{{"note", "b"}};
    set.labels = &labels;
    set.annotations = &annotations;
    set.uid = "u";
    const auto gang = grove_gangs_of(set, 0)[0];
    const gang_object seed = object(set, gang, grove_dialect::seed);
    CHECK(seed.labels == boost::json::object{{"app.kubernetes.io/managed-by", "grove-operator"},
                                             {"app.kubernetes.io/part-of", "set"},
                                             {"app.kubernetes.io/component", "podgang"},
                                             {"grove.io/scheduler-backend", "mark"}});
    CHECK(seed.annotations.empty());
    CHECK(seed.owners ==
          std::vector<object_reference>{{"grove.io/v1alpha1", "PodCliqueSet", "set", "u", false}});
    const gang_object upstream = object(set, gang);
    CHECK(upstream.labels == boost::json::object{{"team", "a"},
                                                 {"app.kubernetes.io/managed-by", "grove-operator"},
                                                 {"app.kubernetes.io/part-of", "set"},
                                                 {"app.kubernetes.io/component", "podgang"},
                                                 {"grove.io/scheduler-name", "mark"}});
    CHECK(upstream.annotations == boost::json::object{{"note", "b"}});
    CHECK(upstream.owners.front().controller);
}

} // namespace translate_grove_gangs_test
