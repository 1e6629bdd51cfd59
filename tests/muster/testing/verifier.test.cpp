// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include <muster/testing/builders.hpp>
#include <muster/testing/verifier.hpp>

namespace testing_verifier_test {

namespace {

using namespace muster;
using namespace muster::testing;

certificate::vertex leaf(std::vector<std::int64_t> weights,
                         std::vector<certificate::price> prices = {}) {
    certificate::vertex made;
    made.weights = std::move(weights);
    made.prices = std::move(prices);
    return made;
}

certificate::vertex split(std::size_t member_class, node_index node, std::int64_t at_most) {
    certificate::vertex made;
    made.leaf = false;
    made.member_class = member_class;
    made.node = node;
    made.at_most = at_most;
    return made;
}

proof_check check(const world& of, std::vector<certificate::vertex> vertices,
                  certificate_scope scope = certificate_scope::free_now) {
    const world_state known = to_state(of);
    return verify(known, known.find_gang("gang")->index, {scope, std::move(vertices)});
}

/// One big and two small are wanted; each role fits alone, and so does one big with one small.
world big_and_small() {
    world made;
    add_node(made, "a", {4});
    add_node(made, "b", {1});
    gang_tree tree(0);
    static_cast<void>(tree.add(vertex_index{0}, 1));
    static_cast<void>(tree.add(vertex_index{0}, 2));
    add_gang(made, "gang", tree);
    add_pod(made, "big", "gang", 1, {3});
    add_pod(made, "small-1", "gang", 2, {2});
    add_pod(made, "small-2", "gang", 2, {2});
    return made;
}

constexpr auto valid = proof_check::valid;
constexpr auto invalid = proof_check::invalid;

} // namespace

TEST_CASE("weights under which the nodes carry less than the gang needs are a proof") {
    // 3 + 2 + 2 against 4: the first node takes at most 4 by weight, the second none.
    CHECK(check(big_and_small(), {leaf({3, 2})}) == valid);
    CHECK(check(big_and_small(), {leaf({1, 1})}) == valid);
}

TEST_CASE("tampered weights are no proof") {
    CHECK(check(big_and_small(), {leaf({0, 1})}) == invalid);
    CHECK(check(big_and_small(), {leaf({1, 0})}) == invalid);
    CHECK(check(big_and_small(), {leaf({0, 0})}) == invalid);
    CHECK(check(big_and_small(), {leaf({3, -2})}) == invalid);
    CHECK(check(big_and_small(), {leaf({3})}) == invalid);
    CHECK(check(big_and_small(), {leaf({3, 2, 1})}) == invalid);
    CHECK(check(big_and_small(), {}) == invalid);
    CHECK(check(big_and_small(), {leaf({3, 2}), leaf({3, 2})}) == invalid);
}

TEST_CASE("no weights prove that a gang does not fit where it does") {
    world made = big_and_small();
    made.nodes[1].spec.allocatable = amounts({3});
    for (std::int64_t big = 0; big < 8; ++big)
        for (std::int64_t small = 0; small < 8; ++small)
            CHECK(check(made, {leaf({big, small})}) == invalid);
}

TEST_CASE("a proof of what is free now says nothing of the emptied cluster") {
    world made = big_and_small();
    made.nodes[1].spec.allocatable = amounts({3});
    add_gang(made, "other", gang_tree(1));
    add_pod(made, "other", "other", 0, {3}).spec.phase = pod_phase::running;
    made.pods.back().on = "b";
    CHECK(check(made, {leaf({1, 1})}) == valid);
    CHECK(check(made, {leaf({1, 1})}, certificate_scope::emptied) == invalid);
}

TEST_CASE("a split is a proof when both its branches are") {
    const world made = big_and_small();
    const world_state known = to_state(made);
    const node_index a = known.find_node("a")->index;
    const node_index b = known.find_node("b")->index;
    // No big one on a: none at all. One there: no small one beside it.
    CHECK(check(made, {split(0, a, 0), leaf({1, 0}), leaf({0, 1})}) == valid);
    CHECK(check(made, {split(0, a, 0), leaf({0, 1}), leaf({1, 0})}) == invalid);
    CHECK(check(made, {split(0, b, 0), leaf({1, 0}), leaf({0, 1})}) == invalid);
    CHECK(check(made, {split(1, a, 0), leaf({1, 0}), leaf({0, 1})}) == invalid);
    CHECK(check(made, {split(2, a, 0), leaf({1, 0}), leaf({0, 1})}) == invalid);
    CHECK(check(made, {split(0, node_index{7}, 0), leaf({1, 0}), leaf({0, 1})}) == invalid);
    CHECK(check(made, {split(0, a, 0), leaf({1, 0})}) == invalid);
    CHECK(check(made, {split(0, a, 0)}) == invalid);
}

TEST_CASE("a price counts what is left of a quota, and only where there is one") {
    world made = big_and_small();
    made.nodes[1].spec.allocatable = amounts({9});
    made.gangs.front().spec.queue = "queue";
    auto& queue = add_queue(made, "queue");
    queue.quota.set(kind_id{0}, 6);
    CHECK(check(made, {leaf({0, 0}, {{kind_id{0}, 1}})}) == valid);
    CHECK(check(made, {leaf({0, 0}, {{kind_id{0}, -1}})}) == invalid);
    CHECK(check(made, {leaf({0, 0}, {{kind_id{1}, 1}})}) == invalid);
    CHECK(check(made, {leaf({0, 0}, {{kind_id{9}, 1}})}) == invalid);
    queue.quota.set(kind_id{0}, 7);
    CHECK(check(made, {leaf({0, 0}, {{kind_id{0}, 1}})}) == invalid);
}

TEST_CASE("over its quota a queue still takes those who ask nothing of it") {
    world made;
    add_node(made, "a", {9, 9});
    add_queue(made, "queue").quota.set(kind_id{0}, 1);
    add_gang(made, "gang", gang_tree(1)).queue = "queue";
    add_gang(made, "other", gang_tree(1)).queue = "queue";
    add_pod(made, "p", "gang", 0, {0, 1});
    add_pod(made, "q", "other", 0, {5, 1}).spec.phase = pod_phase::running;
    made.pods.back().on = "a";
    CHECK(check(made, {leaf({0}, {{kind_id{0}, 1}})}) == invalid);
}

TEST_CASE("a proof may lean on minima that only some subgroups must meet") {
    world made = big_and_small();
    auto& tree = made.gangs.front().spec.tree;
    tree.require_subgroups(vertex_index{0}, 1);
    CHECK(check(made, {leaf({3, 2})}) == invalid);
    made.nodes[0].spec.allocatable = amounts({2});
    made.nodes[1].spec.allocatable = amounts({2});
    // The two small ones fit.
    CHECK(check(made, {leaf({3, 2})}) == invalid);
    made.nodes[1].spec.allocatable = amounts({1});
    // What has no room at all is no choice, so it needs no weight.
    CHECK(check(made, {leaf({0, 1})}) == valid);
}

TEST_CASE("more patterns than the cap are not judged") {
    const world_state known = to_state(big_and_small());
    const certificate proof{certificate_scope::free_now, {leaf({3, 2})}};
    certificate_verifier<world_traits> verifier(known, known.find_gang("gang")->index, proof);
    CHECK(verifier.check(3) == proof_check::too_large);
    CHECK(verifier.check() == proof_check::valid);
}

} // namespace testing_verifier_test
