// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <support/brute_force.hpp>
#include <support/builders.hpp>

namespace testing_brute_force_test {

namespace {

using namespace muster;
using namespace muster::testing;
using oracle = brute_force<world_traits>;
using rule = rules<world_width>;

gang_index only_gang(const world_state& known) {
    return known.gang_keys().begin()->second;
}

bool fits(const world& of, rule_set force = rule::all,
          certificate_scope scope = certificate_scope::free_now) {
    const world_state known = to_state(of);
    return oracle(known, only_gang(known), scope).fits(force);
}

world two_of_three_on_two_nodes() {
    world made;
    add_node(made, "a", {4, 10});
    add_node(made, "b", {4, 10});
    add_gang(made, "gang", gang_tree(2));
    add_pod(made, "p", "gang", 0, {3, 1});
    add_pod(made, "q", "gang", 0, {3, 1});
    add_pod(made, "r", "gang", 0, {3, 1});
    return made;
}

} // namespace

TEST_CASE("a choice of members that has room is enough, all members need not have it") {
    world made = two_of_three_on_two_nodes();
    CHECK(fits(made));
    made.gangs.front().spec.tree = gang_tree(3);
    CHECK_FALSE(fits(made));
    CHECK(fits(made, rule::all & ~rule::resource(0)));
    CHECK_FALSE(fits(made, rule::resource(0)));
    CHECK(fits(made, rule::resource(1)));
}

TEST_CASE("members that hold count, and in the emptied cluster take no room") {
    world made = two_of_three_on_two_nodes();
    made.gangs.front().spec.tree = gang_tree(3);
    made.pods[0].spec.phase = pod_phase::running;
    made.pods[0].on = "a";
    CHECK_FALSE(fits(made));
    CHECK(fits(made, rule::all, certificate_scope::empty_cluster));
}

TEST_CASE("members that no node can take at present count as placed in the emptied cluster") {
    world made = two_of_three_on_two_nodes();
    made.gangs.front().spec.tree = gang_tree(3);
    made.pods[0].spec.where.volume_not_ready = true;
    CHECK_FALSE(fits(made));
    CHECK(fits(made, rule::all, certificate_scope::empty_cluster));
    made.gangs.front().spec.tree = gang_tree(4);
    CHECK_FALSE(fits(made, rule::all, certificate_scope::empty_cluster));
}

TEST_CASE("a free amount below zero keeps out only those who ask for the kind") {
    world made = two_of_three_on_two_nodes();
    add_pod(made, "other", "else", 0, {9, 0}).spec.phase = pod_phase::running;
    made.pods.back().on = "a";
    made.gangs.front().spec.tree = gang_tree(1);
    const auto on_a_only = [&] { made.nodes[1].spec.unschedulable = true; };
    on_a_only();
    add_gang(made, "else", gang_tree(1));
    const world_state known = to_state(made);
    const gang_index gang = known.find_gang("gang")->index;
    CHECK_FALSE(oracle(known, gang).fits());
    for (auto& pod : made.pods)
        if (pod.gang == "gang")
            pod.spec.request = amounts({0, 1});
    const world_state again = to_state(made);
    CHECK(oracle(again, again.find_gang("gang")->index).fits());
}

TEST_CASE("a tree wants its subgroups, and those that it may leave out count for nothing") {
    world made;
    add_node(made, "a", {5, 10});
    gang_tree tree(3);
    const auto one = tree.add(vertex_index{0}, 2);
    const auto two = tree.add(vertex_index{0}, 2);
    auto& gang = add_gang(made, "gang", tree);
    for (const char* key : {"p", "q"})
        add_pod(made, key, "gang", one.value(), {1, 1});
    for (const char* key : {"r", "s"})
        add_pod(made, key, "gang", two.value(), {2, 1});
    CHECK_FALSE(fits(made));
    made.nodes.front().spec.allocatable = amounts({6, 10});
    CHECK(fits(made));
    // One subgroup is enough now, yet its two members are not the three that the root wants.
    made.nodes.front().spec.allocatable = amounts({5, 10});
    tree.require_subgroups(vertex_index{0}, 1);
    gang.tree = tree;
    CHECK_FALSE(fits(made));
    add_pod(made, "t", "gang", one.value(), {3, 1});
    CHECK(fits(made));
}

TEST_CASE("cordons and condition taints are lifted in the emptied cluster, other taints are not") {
    world made = two_of_three_on_two_nodes();
    made.nodes[0].spec.unschedulable = true;
    CHECK_FALSE(fits(made));
    CHECK(fits(made, rule::all & ~rule::cordon));
    CHECK(fits(made, rule::all, certificate_scope::empty_cluster));
    made.nodes[0].spec.unschedulable = false;
    made.nodes[0].spec.taints = {{"node.kubernetes.io/not-ready", "", taint_effect::no_execute}};
    CHECK_FALSE(fits(made, rule::taints | rule::resource(0)));
    CHECK(fits(made, rule::all, certificate_scope::empty_cluster));
    made.nodes[0].spec.taints = {{"dedicated", "x", taint_effect::no_schedule}};
    CHECK_FALSE(fits(made, rule::all, certificate_scope::empty_cluster));
    for (auto& pod : made.pods)
        pod.spec.where.tolerations = {{"dedicated", std::nullopt, std::nullopt}};
    CHECK(fits(made));
    made.nodes[0].spec.taints[0].effect = taint_effect::prefer_no_schedule;
    for (auto& pod : made.pods)
        pod.spec.where.tolerations.clear();
    CHECK(fits(made));
}

TEST_CASE("an affinity without terms matches no node, nor does a term without requirements") {
    world made = two_of_three_on_two_nodes();
    for (auto& pod : made.pods)
        pod.spec.where.affinity.emplace();
    CHECK_FALSE(fits(made));
    for (auto& pod : made.pods)
        pod.spec.where.affinity->emplace_back();
    CHECK_FALSE(fits(made));
    for (auto& pod : made.pods)
        pod.spec.where.affinity->front().labels.requirements = {
            {"zone", label_operator::does_not_exist, {}}};
    CHECK(fits(made));
    CHECK(fits(made, rule::all & ~rule::selector));
}

TEST_CASE("pods with the same host port never share a node") {
    world made = two_of_three_on_two_nodes();
    for (auto& pod : made.pods) {
        pod.spec.request = {};
        pod.spec.where.claims.ports = {{"TCP", "", 80}};
    }
    CHECK(fits(made));
    made.gangs.front().spec.tree = gang_tree(3);
    CHECK_FALSE(fits(made));
    CHECK(fits(made, rule::all & ~rule::ports));
    made.pods[0].spec.where.claims.ports[0].protocol = "UDP";
    CHECK(fits(made));
}

TEST_CASE("a quota that is used up stops only those who ask for the kind") {
    world made = two_of_three_on_two_nodes();
    made.gangs.front().spec.queue = "queue";
    auto& queue = add_queue(made, "queue");
    queue.quota.set(kind_id{0}, 5);
    CHECK_FALSE(fits(made));
    CHECK_FALSE(fits(made, rule::quota(0)));
    CHECK(fits(made, rule::all & ~rule::quota(0)));
    queue.quota.set(kind_id{0}, 6);
    CHECK(fits(made));
    queue.quota.set(kind_id{0}, 0);
    for (auto& pod : made.pods)
        pod.spec.request[0] = 0;
    CHECK(fits(made));
}

TEST_CASE("a node that only its pods name takes no others") {
    world made;
    add_gang(made, "gang", gang_tree(2));
    add_pod(made, "p", "gang", 0, {}).spec.phase = pod_phase::bound;
    made.pods.back().on = "nowhere";
    add_pod(made, "q", "gang", 0, {});
    CHECK_FALSE(fits(made, 0));
    add_node(made, "here", {});
    CHECK(fits(made));
}

TEST_CASE("room for a role alone is the sum over nodes of the most that fit") {
    world made = two_of_three_on_two_nodes();
    made.nodes[0].spec.allocatable = amounts({7, 10});
    const world_state known = to_state(made);
    const oracle of(known, only_gang(known));
    CHECK(of.room_alone(0, rule::all) == 3);
    CHECK(of.room_alone(0, rule::resource(1)) == 3);
    made.nodes[0].spec.allocatable = amounts({4, 10});
    const world_state smaller = to_state(made);
    CHECK(oracle(smaller, only_gang(smaller)).room_alone(0, rule::all) == 2);
}

} // namespace testing_brute_force_test
