// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <muster/exact/domain_search.hpp>
#include <muster/testing/verifier.hpp>

#include "muster/builders.hpp"

namespace exact_domain_search_test {

namespace {

using namespace builders;
using muster::gang_tree;
using muster::vertex_index;

const muster::topology racks{{"rack"}};

void add_node(cluster& to, const std::string& name, std::int64_t cpus, const std::string& rack,
              const std::string& row = "r") {
    auto made = machine(cpus);
    made.labels = {{"rack", rack}, {"row", row}};
    ok(to.upsert_node(name, made));
}

/// Two servers of 3 and a worker of 5, in one rack.
void add_uneven(cluster& to, const std::string& name = "g") {
    gang_tree tree;
    tree.constrain_topology(vertex_index{0}, {racks, 0, std::nullopt});
    const auto server = tree.add(vertex_index{0}, 2, "server");
    const auto worker = tree.add(vertex_index{0}, 1, "worker");
    ok(to.upsert_gang(name, gang_of(tree)));
    ok(to.upsert_pod(name + "-0", name, in_role(server, asking(3))));
    ok(to.upsert_pod(name + "-1", name, in_role(server, asking(3))));
    ok(to.upsert_pod(name + "-2", name, in_role(worker, asking(5))));
}

const muster::certificate& proof_for(const cluster& known, const muster::cycle_result& result,
                                     const std::string& gang) {
    const auto* made = decision_for(known, result, gang);
    REQUIRE(made);
    REQUIRE(made->outcome.proof);
    return *made->outcome.proof;
}

TEST_CASE("the search finds the way inside a domain that the greedy order misses") {
    cluster known;
    add_node(known, "a", 5, "1");
    add_node(known, "b", 6, "1");
    add_node(known, "c", 9, "2");
    add_uneven(known);
    const auto result = muster::cycle(known, 0);
    CHECK(result.counters.search_steps > 0);
    CHECK(node_of(known, "g-0") == "b");
    CHECK(node_of(known, "g-1") == "b");
    CHECK(node_of(known, "g-2") == "a");
}

TEST_CASE("a gang that only its topology keeps out is refused by a proof that splits on domains") {
    cluster known;
    add_node(known, "a", 6, "1");
    add_node(known, "b", 6, "2");
    add_node(known, "c", 5, "3");
    add_uneven(known);
    const auto result = muster::cycle(known, 0);
    const auto& proof = proof_for(known, result, "g");
    CHECK(proof.vertices.front().together == vertex_index{0});
    CHECK(proof.vertices.size() == 4);
    CHECK(muster::testing::verify(known, gang_at(known, "g"), proof) ==
          muster::testing::proof_check::valid);
}

TEST_CASE("a proof without one of its domains is refused by the verifier") {
    cluster known;
    add_node(known, "a", 6, "1");
    add_node(known, "b", 6, "2");
    add_uneven(known);
    const auto result = muster::cycle(known, 0);
    muster::certificate proof = proof_for(known, result, "g");
    proof.vertices.pop_back();
    CHECK(muster::testing::verify(known, gang_at(known, "g"), proof) ==
          muster::testing::proof_check::invalid);
    add_node(known, "c", 11, "2");
    CHECK(muster::testing::verify(known, gang_at(known, "g"), proof_for(known, result, "g")) ==
          muster::testing::proof_check::invalid);
}

TEST_CASE("a gang waits while other pods fill its domains, and never starts without one") {
    cluster known;
    add_node(known, "a", 11, "1");
    add_node(known, "b", 5, "2");
    add_running(known, "old", 1, "a");
    add_uneven(known);
    muster::cycle(known, 0);
    CHECK(is(answered(known, "g"), answer::waiting, gate::space));
    CHECK(answered(known, "g").could_start);
    ok(known.remove_pod("old-0"));
    add_node(known, "a", 11, "2");
    add_node(known, "b", 5, "3");
    muster::cycle(known, 1);
    CHECK(answered(known, "g").kind == answer::admitted);
    add_uneven(known, "h");
    add_node(known, "a", 10, "2");
    muster::cycle(known, 2);
    CHECK(answered(known, "h").kind == answer::never);
}

TEST_CASE("without a node that carries the label nobody fits") {
    cluster known;
    ok(known.upsert_node("a", machine(99)));
    add_uneven(known);
    const auto result = muster::cycle(known, 0);
    CHECK(answered(known, "g").kind == answer::never);
    CHECK(muster::testing::verify(known, gang_at(known, "g"), proof_for(known, result, "g")) ==
          muster::testing::proof_check::valid);
}

TEST_CASE("domains of two topologies are held to at once") {
    cluster known;
    add_node(known, "a", 2, "1", "p");
    add_node(known, "b", 2, "1", "q");
    add_node(known, "c", 2, "2", "q");
    gang_tree tree;
    tree.constrain_topology(vertex_index{0}, {racks, 0, std::nullopt});
    const auto role = tree.add(vertex_index{0}, 3, "role");
    tree.constrain_topology(role, {{{"row"}}, 0, std::nullopt});
    ok(known.upsert_gang("g", gang_of(tree)));
    add_members(known, "g", 3, in_role(role, asking(1)));
    const auto result = muster::cycle(known, 0);
    CHECK(answered(known, "g").kind == answer::never);
    CHECK(muster::testing::verify(known, gang_at(known, "g"), proof_for(known, result, "g")) ==
          muster::testing::proof_check::valid);
    add_node(known, "c", 2, "1", "q");
    muster::cycle(known, 1);
    CHECK(answered(known, "g").kind == answer::admitted);
    for (const char* pod : {"g-0", "g-1", "g-2"})
        CHECK(node_of(known, pod) != "a");
}

TEST_CASE("a search that its steps end says neither yes nor no") {
    cluster known;
    add_node(known, "a", 6, "1");
    add_node(known, "b", 6, "2");
    add_uneven(known);
    const auto members = muster::members_of(known, gang_at(known, "g"));
    muster::fit_search<traits::width> search;
    for (std::int64_t steps = 0; steps < 400; ++steps) {
        std::int64_t left = steps;
        const auto outcome = muster::detail::domain_search<muster::core_of<traits>>().run(
            known, members, muster::certificate_scope::free_now, {}, search, left);
        CHECK(outcome != muster::fit_outcome::fits);
    }
    std::int64_t plenty = 100'000;
    CHECK(muster::detail::domain_search<muster::core_of<traits>>().run(
              known, members, muster::certificate_scope::free_now, {}, search, plenty) ==
          muster::fit_outcome::impossible);
}

} // namespace

} // namespace exact_domain_search_test
