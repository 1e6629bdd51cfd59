// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include <muster/cycle/decision.hpp>
#include <muster/testing/check_placements.hpp>
#include <support/builders.hpp>
#include <support/naive_scheduler.hpp>

namespace testing_naive_scheduler_test {

namespace {

using namespace muster;
using namespace muster::testing;
using naive = naive_scheduler<world_traits>;

std::string placed(const world& of, naive_score score = naive_score::best_fit,
                   const std::string& gang = "gang") {
    const world_state known = to_state(of);
    const auto made = naive(known, known.find_gang(gang)->index, score).whole_gang();
    if (!made)
        return "nothing";
    std::string out;
    for (const placement& one : *made)
        out += known.key(one.pod) + "@" + known.key(one.node) + " ";
    return out;
}

world three_nodes() {
    world made;
    made.kinds = 3;
    add_node(made, "c", {3, 100});
    add_node(made, "a", {5, 100});
    add_node(made, "b", {8, 100});
    add_gang(made, "gang", gang_tree(1));
    add_pod(made, "p", "gang", 0, {2, 1});
    return made;
}

cycle_result admitted(const world_state& known, const std::vector<placement>& placements) {
    cycle_result made;
    verdict outcome;
    outcome.kind = answer::admitted;
    made.add(known.find_gang("gang")->index, std::move(outcome), placements);
    made.bind();
    return made;
}

} // namespace

TEST_CASE(
    "best fit takes the fullest node that fits, worst fit the emptiest, first fit the first") {
    world made = three_nodes();
    CHECK(placed(made) == "p@c ");
    CHECK(placed(made, naive_score::worst_fit) == "p@b ");
    CHECK(placed(made, naive_score::first_fit) == "p@a ");
    made.pods[0].spec.request = amounts({9, 1});
    CHECK(placed(made) == "nothing");
}

TEST_CASE("kinds weigh by the power of two that holds the largest node") {
    // cpu: 8 is 2^3, so a unit weighs 2^54; memory: 100 is below 2^7, so a unit weighs 2^50.
    world made = three_nodes();
    made.nodes[0].spec.allocatable = amounts({5, 15});
    made.nodes[1].spec.allocatable = amounts({4, 32});
    CHECK(placed(made) == "p@c ");
    made.nodes[1].spec.allocatable = amounts({4, 30});
    CHECK(placed(made) == "p@a ");
    // Equal keys: the first by name.
    made.nodes[1].spec.allocatable = amounts({4, 31});
    CHECK(placed(made) == "p@a ");
}

TEST_CASE("what a pod prefers goes before the score, an untolerated soft taint against it") {
    world made = three_nodes();
    made.nodes[2].spec.labels.set("fast", "yes");
    node_term term;
    term.labels.requirements = {{"fast", label_operator::exists, {}}};
    made.pods[0].spec.where.preferred = {{10, term}};
    CHECK(placed(made) == "p@b ");
    made.nodes[2].spec.taints = {{"soft", "", taint_effect::prefer_no_schedule}};
    CHECK(placed(made) == "p@c ");
}

TEST_CASE("minima come first in tree order, the oldest member first, then what else fits") {
    world made;
    add_node(made, "a", {4});
    gang_tree tree(3);
    static_cast<void>(tree.add(vertex_index{0}, 1, "first"));
    static_cast<void>(tree.add(vertex_index{0}, 1, "second"));
    add_gang(made, "gang", tree);
    add_pod(made, "x", "gang", 1, {1}).spec.created = 2;
    add_pod(made, "y", "gang", 1, {1}).spec.created = 1;
    add_pod(made, "z", "gang", 2, {1}).spec.created = 9;
    add_pod(made, "w", "gang", 2, {1}).spec.created = 9;
    CHECK(placed(made) == "y@a w@a x@a z@a ");
    made.nodes[0].spec.allocatable = amounts({3});
    CHECK(placed(made) == "y@a w@a x@a ");
    made.nodes[0].spec.allocatable = amounts({2});
    CHECK(placed(made) == "nothing");
}

TEST_CASE("what is preferred is given up, and again what was then preferred in its place") {
    world made;
    add_node(made, "a", {3}).labels = {{"rank", "1"}, {"zone", "b"}};
    add_node(made, "c", {4}).labels = {{"rank", "1"}, {"zone", "a"}};
    add_node(made, "b", {7});
    gang_tree tree;
    tree.constrain_topology(vertex_index{0}, {{{"zone", "rank"}}, std::nullopt, 1});
    tree.constrain_topology(tree.add(vertex_index{0}, 0, "later"), {{{"rank"}}, std::nullopt, 0});
    static_cast<void>(tree.add(vertex_index{0}, 1, "first"));
    add_gang(made, "gang", tree);
    add_pod(made, "u", "gang", 2, {3});
    add_pod(made, "z", "gang", 1, {3});
    add_pod(made, "v", "gang", 1, {2}).spec.created = 1;
    // `u` fills the zone of all. Without that, `z` goes where the rank is the same; `v` without
    // both.
    CHECK(placed(made) == "u@a z@c v@b ");
}

TEST_CASE("pod by pod two interleaved gangs starve each other, whole gangs do not") {
    world made;
    add_node(made, "a", {4});
    for (const char* gang : {"gang", "other"}) {
        add_gang(made, gang, gang_tree(3));
        for (std::int64_t at = 0; at < 3; ++at) {
            auto& pod = add_pod(made, gang + std::to_string(at), gang, 0, {1});
            pod.spec.created = at;
        }
    }
    const world_state known = to_state(made);
    const auto one = known.find_gang("gang")->index;
    const auto other = known.find_gang("other")->index;

    // Without gangs: the pods come by turns, and when the node is full neither has its three.
    world_state alone = known;
    std::size_t of_one = 0;
    std::size_t of_other = 0;
    for (int turn = 0; turn < 3; ++turn)
        for (const gang_index gang : {one, other}) {
            auto steps = naive(alone, gang, naive_score::best_fit).pod_by_pod();
            if (steps.empty())
                continue;
            steps.resize(1);
            (gang == one ? of_one : of_other) += 1;
            decision step;
            step.gang = gang;
            step.placements = steps;
            observe_bound(alone, step);
        }
    CHECK(of_one == 2);
    CHECK(of_other == 2);

    CHECK(placed(made).size() == 3 * std::string("gang0@a ").size());
    world_state whole = known;
    const cycle_result placed_one =
        admitted(whole, *naive(whole, one, naive_score::best_fit).whole_gang());
    observe_bound(whole, placed_one.decisions.front());
    CHECK_FALSE(naive(whole, other, naive_score::best_fit).whole_gang().has_value());
}

TEST_CASE("the placement checker names what is wrong") {
    world made;
    add_node(made, "a", {4});
    add_node(made, "b", {4}).unschedulable = true;
    add_queue(made, "queue").quota.set(kind_id{0}, 7);
    add_gang(made, "gang", gang_tree(2)).queue = "queue";
    for (const char* key : {"p", "q", "r"})
        add_pod(made, key, "gang", 0, {2});
    add_pod(made, "s", "gang", 0, {2}).spec.phase = pod_phase::failed;
    const world_state known = to_state(made);
    const auto node = [&](const char* key) { return known.find_node(key)->index; };
    const auto pod = [&](const char* key) { return known.find_pod(key)->index; };
    const auto fault = [&](const std::vector<placement>& placements) {
        return check_placements(known, admitted(known, placements));
    };
    const node_index a = node("a");
    const node_index b = node("b");
    CHECK(fault({{pod("p"), a}, {pod("q"), a}}).empty());
    CHECK(fault({{pod("p"), a}}) == "a gang is placed in part");
    CHECK(fault({{pod("p"), a}, {pod("q"), b}}) == "a node is not eligible");
    CHECK(fault({{pod("p"), a}, {pod("q"), a}, {pod("r"), a}}) == "a node is over-committed");
    CHECK(fault({{pod("p"), a}, {pod("p"), a}}) == "a pod is placed twice");
    CHECK(fault({{pod("p"), a}, {pod("s"), a}}) ==
          "a pod is placed that does not wait in this gang");
    CHECK(fault({{pod("p"), a}, {pod("q"), node_index{9}}}) ==
          "a pod is placed on a node that is not there");
    made.queues.front().spec.quota.set(kind_id{0}, 3);
    const world_state poorer = to_state(made);
    CHECK(check_placements(poorer, admitted(poorer, {{pod("p"), a}, {pod("q"), a}})) ==
          "a quota is exceeded");
}

} // namespace testing_naive_scheduler_test
