// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <muster/testing/check_placements.hpp>
#include <muster/vocabulary/answer.hpp>
#include <support/builders.hpp>

namespace testing_check_placements_test {

namespace {

using namespace muster;
using namespace muster::testing;

struct stood {
    pod_index pod;
    node_index node;
};

/// What a cycle would say, as far as it is judged.
struct told {
    gang_index gang;
    struct {
        answer kind = answer::admitted;
    } outcome{};
    std::vector<stood> placements{};
    std::vector<pod_index> evictions{};
    std::vector<stood> moves{};
    bool nominated = false;
    bool stale = false;
};

using pairs = std::vector<std::pair<const char*, const char*>>;

struct words {
    pairs placements{};
    std::vector<const char*> evictions{};
    pairs moves{};
    bool nominated = false;
    bool stale = false;
};

std::string fault(const world_state& known, const words& said) {
    const auto pod = [&](const char* key) { return known.find_pod(key)->index; };
    const auto node = [&](const char* key) { return known.find_node(key)->index; };
    told made;
    made.gang = known.find_gang("gang")->index;
    made.nominated = said.nominated;
    made.stale = said.stale;
    for (const auto& [key, on] : said.placements)
        made.placements.push_back({pod(key), node(on)});
    for (const char* key : said.evictions)
        made.evictions.push_back(pod(key));
    for (const auto& [key, on] : said.moves)
        made.moves.push_back({pod(key), node(on)});
    return fault_of(known, made);
}
std::string fault(const world& of, const words& said) {
    return fault(to_state(of), said);
}

/// Two waiting members; one of the other gang stands on either node.
world two_and_two() {
    world made;
    add_node(made, "a", {4, 9}).labels = {{"rack", "left"}};
    add_node(made, "b", {4, 9}).labels = {{"rack", "right"}};
    add_queue(made, "team");
    made.queues.back().parent = "all";
    add_queue(made, "other");
    made.queues.back().parent = "all";
    add_queue(made, "all").quota.set(kind_id{0}, 8);
    add_gang(made, "gang", gang_tree(2)).queue = "team";
    add_gang(made, "standing", gang_tree(1)).queue = "other";
    add_pod(made, "p", "gang", 0, {2, 1});
    add_pod(made, "q", "gang", 0, {2, 1});
    for (const char* key : {"x", "y"}) {
        auto& pod = add_pod(made, key, "standing", 0, {2, 1});
        pod.spec.phase = pod_phase::running;
        pod.on = key[0] == 'x' ? "a" : "b";
    }
    return made;
}

gang<std::string>& gang_of(world& made) {
    return made.gangs.front().spec;
}

} // namespace

TEST_CASE("a placement that keeps to every rule is right") {
    CHECK(fault(two_and_two(), {{{"p", "a"}, {"q", "b"}}}) == "");
    CHECK(fault(two_and_two(), {}) == "");
}

TEST_CASE("only waiting members are placed, each once, on nodes that are there") {
    world made = two_and_two();
    CHECK(fault(made, {{{"p", "a"}, {"p", "b"}}}) == "a pod is placed twice");
    CHECK(fault(made, {{{"p", "a"}, {"x", "b"}}}) ==
          "a pod is placed that does not wait in this gang");
    world bound = made;
    bound.pods[1].spec.phase = pod_phase::running;
    bound.pods[1].on = "b";
    CHECK(fault(bound, {{{"p", "a"}, {"q", "b"}}}) ==
          "a pod is placed that does not wait in this gang");
    for (const auto phase : {pod_phase::gated, pod_phase::failed, pod_phase::succeeded}) {
        world other = made;
        other.pods[1].spec.phase = phase;
        CHECK(fault(other, {{{"p", "a"}, {"q", "b"}}}) ==
              "a pod is placed that does not wait in this gang");
    }
    world odd = made;
    odd.pods[1].spec.where.unsupported = true;
    CHECK(fault(odd, {{{"p", "a"}, {"q", "b"}}}) ==
          "a pod is placed that does not wait in this gang");
    world_state known = to_state(made);
    expect_applied(known.remove_node("b"));
    CHECK(fault(known, {{{"p", "a"}, {"q", "b"}}}) ==
          "a pod is placed on a node that is not there");
}

TEST_CASE("a gang that is not admitted places nobody") {
    const world_state known = to_state(two_and_two());
    told made;
    made.gang = known.find_gang("gang")->index;
    made.outcome.kind = answer::waiting;
    made.placements.push_back({known.find_pod("p")->index, known.find_node("a")->index});
    CHECK(fault_of(known, made) == "a gang that is not admitted places pods");
}

TEST_CASE("a node that does not let a pod in takes none") {
    const words said{{{"p", "a"}, {"q", "b"}}};
    const char* const no = "a node is not eligible";
    world made = two_and_two();
    made.nodes[1].spec.unschedulable = true;
    CHECK(fault(made, said) == no);
    made.pods[1].spec.where.tolerations = {{"node.kubernetes.io/unschedulable", {}, {}}};
    CHECK(fault(made, said) == "");

    made = two_and_two();
    made.nodes[1].spec.taints = {{"dedicated", "x", taint_effect::no_execute}};
    CHECK(fault(made, said) == no);
    made.pods[1].spec.where.tolerations = {{"dedicated", "y", {}}};
    CHECK(fault(made, said) == no);
    made.pods[1].spec.where.tolerations = {{"dedicated", "x", {}}};
    CHECK(fault(made, said) == "");

    made = two_and_two();
    made.pods[1].spec.where.selector.requirements = {{"rack", label_operator::not_in, {"right"}}};
    CHECK(fault(made, said) == no);
    made = two_and_two();
    made.pods[1].spec.where.affinity = std::vector<node_term>(1);
    CHECK(fault(made, said) == no);
    made = two_and_two();
    made.queues.back().spec.nodes.requirements = {{"rack", label_operator::in, {"left"}}};
    CHECK(fault(made, said) == no);
}

TEST_CASE("nobody takes more than a node has beside all who are there or come") {
    const char* const no = "a node is over-committed";
    world made = two_and_two();
    CHECK(fault(made, {{{"p", "a"}, {"q", "a"}}}) == no);
    made.pods[0].spec.request = amounts({3, 1});
    CHECK(fault(made, {{{"p", "a"}, {"q", "b"}}}) == no);

    // Who leaves is there still.
    world_state leaving = to_state(two_and_two());
    expect_applied(leaving.evict("x"));
    CHECK(fault(leaving, {{{"p", "a"}, {"q", "a"}}}) == no);

    // Who is nominated has its place already.
    world next = two_and_two();
    add_gang(next, "next", gang_tree(1));
    add_pod(next, "n", "next", 0, {1, 1});
    world_state known = to_state(next);
    CHECK(fault(known, {{{"p", "a"}, {"q", "b"}}}) == "");
    expect_applied(known.nominate("n", "a"));
    CHECK(fault(known, {{{"p", "a"}, {"q", "b"}}}) == no);
}

TEST_CASE("host ports are claimed once on a node") {
    world made = two_and_two();
    made.nodes[0].spec.allocatable = amounts({9, 9});
    const words said{{{"p", "a"}, {"q", "a"}}};
    made.pods[0].spec.where.claims.ports = {{"TCP", "", 80}};
    made.pods[1].spec.where.claims.ports = {{"TCP", "10.0.0.1", 80}};
    CHECK(fault(made, said) == "host ports conflict");
    made.pods[1].spec.where.claims.ports = {{"UDP", "10.0.0.1", 80}};
    CHECK(fault(made, said) == "");
    made.pods[2].spec.where.claims.ports = {{"UDP", "", 80}};
    CHECK(fault(made, said) == "host ports conflict");
}

TEST_CASE("ceilings hold at every level, and what is guaranteed to others is not taken") {
    const words said{{{"p", "a"}, {"q", "b"}}};
    const char* const no = "a quota is exceeded";
    world made = two_and_two();
    made.queues[2].spec.quota.set(kind_id{0}, 7);
    CHECK(fault(made, said) == no);
    made = two_and_two();
    made.queues[0].spec.quota.set(kind_id{0}, 3);
    CHECK(fault(made, said) == no);
    made = two_and_two();
    made.queues[1].spec.guarantee = amounts({4});
    CHECK(fault(made, said) == "");
    made.queues[1].spec.guarantee = amounts({5});
    CHECK(fault(made, said) == no);
    // What it takes within its own guarantee claims nothing more above.
    made.queues[1].spec.guarantee = amounts({9});
    made.queues[0].spec.guarantee = amounts({4});
    CHECK(fault(made, said) == "");
    made = two_and_two();
    made.queues[2].spec.non_preemptible_quota.set(kind_id{0}, 3);
    CHECK(fault(made, said) == "");
    gang_of(made).preemptible = false;
    CHECK(fault(made, said) == no);
}

TEST_CASE("members that must stand together do") {
    world made = two_and_two();
    made.nodes[0].spec.allocatable = amounts({9, 9});
    gang_of(made).tree.constrain_topology(vertex_index{0}, {{{"rack"}}, 0, {}});
    const char* const no = "members are kept apart that must stand together";
    CHECK(fault(made, {{{"p", "a"}, {"q", "b"}}}) == no);
    CHECK(fault(made, {{{"p", "a"}, {"q", "a"}}}) == "");
    gang_of(made).tree.require_members(vertex_index{0}, 1);
    made.pods[0].spec.phase = pod_phase::running;
    made.pods[0].on = "b";
    CHECK(fault(made, {{{"q", "a"}}}) == no);
    made.nodes[0].spec.labels = {};
    CHECK(fault(made, {{{"q", "a"}}}) == no);
}

TEST_CASE("no vertex of the tree is met in part") {
    CHECK(fault(two_and_two(), {{{"p", "a"}}}) == "a gang is placed in part");
    world made = two_and_two();
    gang_tree tree;
    static_cast<void>(tree.add(vertex_index{0}, 1));
    static_cast<void>(tree.add(vertex_index{0}, 2));
    tree.require_subgroups(vertex_index{0}, 1);
    gang_of(made).tree = tree;
    made.pods[0].spec.role = vertex_index{1};
    made.pods[1].spec.role = vertex_index{2};
    CHECK(fault(made, {{{"p", "a"}}}) == "");
    CHECK(fault(made, {{{"p", "a"}, {"q", "b"}}}) == "a subgroup is placed in part");
    CHECK(fault(made, {{{"q", "b"}}}) == "a gang is placed in part");
}

TEST_CASE("what those evicted hold is free to those nominated, and to nobody at once") {
    const world made = two_and_two();
    words said{{{"p", "a"}, {"q", "a"}}, {"x"}, {}, true};
    CHECK(fault(made, said) == "");
    said.nominated = false;
    CHECK(fault(made, said) == "a node is over-committed");
    said = {{{"p", "a"}, {"q", "a"}}, {}, {}, true};
    CHECK(fault(made, said) == "a node is over-committed");
    // The quota, too.
    world narrow = made;
    narrow.queues[2].spec.quota.set(kind_id{0}, 6);
    CHECK(fault(narrow, {{{"p", "a"}, {"q", "a"}}, {"x"}, {}, true}) == "");
    narrow.queues[2].spec.quota.set(kind_id{0}, 5);
    CHECK(fault(narrow, {{{"p", "a"}, {"q", "a"}}, {"x"}, {}, true}) == "a quota is exceeded");
}

TEST_CASE("who moves takes room where it goes") {
    world made = two_and_two();
    CHECK(fault(made, {{{"p", "a"}, {"q", "a"}}, {"x"}, {{"x", "b"}}, true}) == "");
    CHECK(fault(made, {{{"p", "a"}, {"q", "b"}}, {"x"}, {{"x", "b"}}, true}) ==
          "a node is over-committed");
    CHECK(fault(made, {{{"p", "a"}, {"q", "b"}}, {}, {{"x", "b"}}, true}) ==
          "a pod is moved that does not go");
    CHECK(fault(made, {{{"p", "a"}, {"q", "b"}}, {"x"}, {{"x", "a"}}, true}) ==
          "a pod is moved that does not go");
}

TEST_CASE("a gang that gives somebody up keeps its minima or goes whole") {
    world made = two_and_two();
    made.gangs[1].spec.tree.require_members(vertex_index{0}, 2);
    const pairs both{{"p", "a"}, {"q", "a"}};
    CHECK(fault(made, {both, {"x"}, {}, true}) == "a gang is left below its minima");
    CHECK(fault(made, {both, {"x", "y"}, {}, true}) == "");
    CHECK(fault(made, {both, {"x"}, {{"x", "b"}}, true}) == "");
    CHECK(fault(made, {both, {"x", "x"}, {}, true}) == "a pod is evicted that does not stand");
    CHECK(fault(made, {both, {"q"}, {}, true}) == "a pod is evicted that does not stand");
    world_state leaving = to_state(made);
    expect_applied(leaving.evict("x"));
    CHECK(fault(leaving, {both, {"x"}, {}, true}) == "a pod is evicted that does not stand");
}

TEST_CASE("only what is left of a gang that is dissolved is its own to evict") {
    world made = two_and_two();
    made.pods[0].spec.phase = pod_phase::running;
    made.pods[0].on = "a";
    words said;
    said.evictions = {"p"};
    CHECK(fault(made, said) == "a gang evicts members of its own");
    said.stale = true;
    CHECK(fault(made, said) == "");
}

TEST_CASE("those nominated come when there is room now, in their own places") {
    world_state known = to_state(two_and_two());
    expect_applied(known.evict("x"));
    expect_applied(known.nominate("p", "a"));
    expect_applied(known.nominate("q", "a"));
    const words said{{{"p", "a"}, {"q", "a"}}};
    CHECK(fault(known, said) == "a node is over-committed");
    expect_applied(known.remove_pod("x"));
    CHECK(fault(known, said) == "");
}

} // namespace testing_check_placements_test
