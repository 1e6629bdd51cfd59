// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "../builders.hpp"
#include "../preempt/evicting.hpp"

// A pod that wants a node to itself needs no constraint of its own: a kind of which each node has
// some, each pod takes 1, and such a pod takes all. Here it is the second kind.
namespace cycle_whole_nodes_test {

namespace {

using namespace builders;
using namespace evicting_clusters;
using namespace muster;

constexpr std::int64_t seats = 16;

void add_node(cluster& to, const std::string& name) {
    ok(to.upsert_node(name, machine(8, seats)));
}

/// A gang of `count` pods of 1 cpu each; `exclusive` pods take their nodes whole.
void add_group(cluster& to, const std::string& name, int count, bool exclusive,
               std::int64_t priority = 0) {
    auto made = gang_of(count);
    made.priority = priority;
    ok(to.upsert_gang(name, made));
    add_members(to, name, count, asking(1, exclusive ? seats : 1));
}

void run(cluster& to, const std::string& name, bool exclusive, const std::string& node) {
    ok(to.upsert_gang(name, gang_of(1)));
    ok(to.upsert_pod(name + "-0", name,
                     in_phase(pod_phase::running, asking(1, exclusive ? seats : 1)), node));
}

} // namespace

TEST_CASE("a pod that takes all of a kind starts on a node without pods, and no pod joins it") {
    cluster known;
    add_node(known, "busy");
    add_node(known, "empty");
    run(known, "r", false, "busy");
    add_group(known, "alone", 1, true);
    static_cast<void>(cycle(known, 0));
    CHECK(node_of(known, "alone-0") == "empty");
    add_group(known, "shared", 15, false);
    add_group(known, "too-many", 1, false);
    static_cast<void>(cycle(known, 0));
    // Cpu would be left on both nodes.
    CHECK(node_of(known, "shared-14").empty());
    CHECK(node_of(known, "too-many-0") == "busy");
    CHECK(is(answered(known, "shared"), answer::waiting, gate::space));
}

TEST_CASE("each pod of a gang that wants whole nodes gets one, or the gang waits") {
    cluster known;
    add_node(known, "a");
    add_node(known, "b");
    run(known, "r", false, "b");
    add_group(known, "pair", 2, true);
    static_cast<void>(cycle(known, 0));
    CHECK(is(answered(known, "pair"), answer::waiting, gate::space));
    ok(known.remove_pod("r-0"));
    static_cast<void>(cycle(known, 0));
    CHECK(node_of(known, "pair-0") == "a");
    CHECK(node_of(known, "pair-1") == "b");
    add_group(known, "three", 3, true);
    static_cast<void>(cycle(known, 0));
    CHECK(is(answered(known, "three"), answer::never, gate::space));
}

TEST_CASE("for a whole node all pods of one node are evicted, or the pod that has one") {
    const auto by_priority = evicting(priority_preemption{true});
    cluster known;
    add_node(known, "a");
    run(known, "r", false, "a");
    run(known, "s", false, "a");
    add_group(known, "alone", 1, true, 9);
    CHECK(evicted(known, by_priority) == keys{"r-0", "s-0"});
    cluster other;
    add_node(other, "a");
    run(other, "r", true, "a");
    add_group(other, "small", 1, false, 9);
    CHECK(evicted(other, by_priority) == keys{"r-0"});
}

} // namespace cycle_whole_nodes_test
