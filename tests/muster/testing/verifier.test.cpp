// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <muster/testing/random.hpp>
#include <muster/testing/verifier.hpp>
#include <support/brute_force.hpp>
#include <support/builders.hpp>
#include <support/cases.hpp>

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
    return verify(known, known.find_gang("gang")->index, {scope, {}, std::move(vertices)});
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
    CHECK(check(made, {leaf({1, 1})}, certificate_scope::empty_cluster) == invalid);
}

TEST_CASE("a proof of the emptied cluster counts members that no node can take now as placed") {
    world made = big_and_small();
    made.nodes[1].spec.allocatable = amounts({1});
    CHECK(check(made, {leaf({3, 2})}, certificate_scope::empty_cluster) == valid);
    made.pods[0].spec.where.unsupported = true;
    CHECK(check(made, {leaf({1})}) == valid);
    CHECK(check(made, {leaf({1})}, certificate_scope::empty_cluster) == invalid);
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
    const certificate proof{certificate_scope::free_now, {}, {leaf({3, 2})}};
    certificate_verifier<world_traits> verifier(known, known.find_gang("gang")->index, proof);
    CHECK(verifier.check(3) == proof_check::too_large);
    CHECK(verifier.check() == proof_check::valid);
}

TEST_CASE("who is nominated has its place, and who leaves has it still") {
    world made = big_and_small();
    made.nodes[1].spec.allocatable = amounts({4});
    add_gang(made, "other", gang_tree(1));
    add_pod(made, "n", "other", 0, {2});
    world_state known = to_state(made);
    const gang_index which = known.find_gang("gang")->index;
    const certificate proof{certificate_scope::free_now, {}, {leaf({2, 1})}};
    CHECK(verify(known, which, proof) == invalid);
    expect_applied(known.nominate("n", "a"));
    CHECK(verify(known, which, proof) == valid);
    expect_applied(known.forget("n"));
    made.pods.back().spec.phase = pod_phase::running;
    made.pods.back().on = "b";
    world_state leaving = to_state(made);
    expect_applied(leaving.evict("n"));
    CHECK(verify(leaving, which, proof) == valid);
}

TEST_CASE("what is reserved for others is not free, what is for the gang itself is") {
    world made = big_and_small();
    made.nodes[1].spec.allocatable = amounts({4});
    add_gang(made, "other", gang_tree(1));
    add_pod(made, "n", "other", 0, {2});
    world_state known = to_state(made);
    const gang_index which = known.find_gang("gang")->index;
    const certificate proof{certificate_scope::free_now, {}, {leaf({2, 1})}};
    reservation<world_width> kept;
    kept.owner = *known.find_gang("other");
    kept.parts.push_back({known.find_node("a")->index, amounts({2})});
    CHECK(known.reserve(kept));
    CHECK(verify(known, which, proof) == valid);
    static_cast<void>(known.lift_reservations());
    kept.owner = *known.find_gang("gang");
    CHECK(known.reserve(kept));
    CHECK(verify(known, which, proof) == invalid);
}

TEST_CASE("members that must stand together are split on every domain that is left") {
    world made = big_and_small();
    made.nodes[1].spec.allocatable = amounts({4});
    made.nodes[0].spec.labels = {{"rack", "l"}};
    made.nodes[1].spec.labels = {{"rack", "r"}};
    made.gangs.front().spec.tree.constrain_topology(vertex_index{0}, {{{"rack"}}, 0, {}});
    certificate::vertex racks;
    racks.leaf = false;
    racks.together = vertex_index{0};
    CHECK(check(made, {leaf({3, 2})}) == invalid);
    CHECK(check(made, {racks, leaf({3, 2}), leaf({3, 2})}) == valid);
    CHECK(check(made, {racks, leaf({3, 2})}) == invalid);
    CHECK(check(made, {racks, leaf({3, 2}), leaf({3, 2}), leaf({3, 2})}) == invalid);
    CHECK(check(made, {racks, leaf({0, 1}), leaf({3, 2})}) == invalid);
    racks.together = vertex_index{1};
    CHECK(check(made, {racks, leaf({3, 2}), leaf({3, 2})}) == invalid);
    racks.together = vertex_index{9};
    CHECK(check(made, {racks, leaf({3, 2}), leaf({3, 2})}) == invalid);
}

/// Anything that has the form of a proof, more or less.
certificate invented(const world_state& known, gang_index which, testing::random& chance) {
    certificate made;
    made.scope =
        chance.percent(70) ? certificate_scope::free_now : certificate_scope::empty_cluster;
    const std::size_t classes = 1 + chance.below(3);
    std::size_t open = 1;
    for (; open > 0 && made.vertices.size() < 6; --open) {
        certificate::vertex next;
        next.leaf = chance.percent(70);
        for (std::size_t at = 0; next.leaf && at < classes; ++at)
            next.weights.push_back(chance.between(0, 4));
        for (std::size_t kind = 0; next.leaf && kind < 3; ++kind)
            if (chance.percent(15))
                next.prices.push_back({kind_id{kind}, chance.between(0, 3)});
        if (!next.leaf && chance.percent(40))
            next.together = vertex_index{chance.below(known[which].spec.tree.size())};
        next.member_class = chance.below(classes);
        next.node = node_index{chance.below(4)};
        next.at_most = chance.between(0, 2);
        open += next.leaf ? 0U : 2U;
        made.vertices.push_back(std::move(next));
    }
    return made;
}

TEST_CASE("no invented proof holds for a gang that fits") {
    std::size_t held = 0;
    std::size_t refused = 0;
    const auto check = [&](const world& from) -> std::string {
        const world_state known = to_state(from);
        testing::random chance(from.seed);
        for (const auto& [key, which] : known.gang_keys()) {
            brute_force<world_traits> now(known, which);
            brute_force<world_traits> emptied(known, which, certificate_scope::empty_cluster);
            if (!now.enough_members() || !now.enough_supported())
                continue;
            for (int tries = 0; tries < 20; ++tries) {
                const certificate proof = invented(known, which, chance);
                const bool holds = verify(known, which, proof) == valid;
                (holds ? held : refused) += 1;
                if (holds &&
                    (proof.scope == certificate_scope::empty_cluster ? emptied : now).fits())
                    return "a proof holds for a gang that fits: " + key;
            }
        }
        return {};
    };
    CHECK(count_faults("invented proofs", 1'000, random_world, check) == 0);
    CHECK(count_faults("invented proofs about devices", 1'000, carded_world, check) == 0);
    CHECK(count_faults("invented proofs in a topology", 1'000, close_world, check) == 0);
    std::printf("invented proofs: %zu hold, %zu do not\n", held, refused);
    CHECK(held > 0);
    CHECK(refused > 0);
}

} // namespace testing_verifier_test
