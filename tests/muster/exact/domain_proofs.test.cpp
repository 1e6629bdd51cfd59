// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <muster/exact/domain_proofs.hpp>
#include <muster/exact/plain_proofs.hpp>
#include <muster/index/node_finder.hpp>
#include <muster/policy/placement.hpp>
#include <muster/testing/verifier.hpp>

#include "muster/builders.hpp"

namespace exact_domain_proofs_test {

namespace {

using namespace builders;
using muster::certificate_scope;
using muster::domains_outcome;
using muster::vertex_index;

struct scene {
    cluster known;
    std::optional<muster::certificate> proof;

    void node(const std::string& name, std::int64_t cpus, const std::string& rack) {
        auto made = machine(cpus);
        made.labels = {{"rack", rack}};
        ok(known.upsert_node(name, made));
    }
    void gang(int members, std::int64_t cpus) {
        auto tree = muster::single_role(members);
        tree.constrain_topology(vertex_index{0}, {{{"rack"}}, 0, std::nullopt});
        ok(known.upsert_gang("g", gang_of(tree)));
        add_members(known, "g", members, asking(cpus));
    }
    domains_outcome look(certificate_scope scope = certificate_scope::free_now) {
        muster::node_finder<muster::core_of<traits>> finder{muster::best_fit{}};
        finder.catch_up(known);
        const auto members = muster::members_of(known, gang_at(known, "g"));
        muster::detail::sequence<std::int64_t> needs;
        CHECK(muster::fixed_needs(members, needs));
        muster::domain_proof found;
        const domains_outcome outcome =
            muster::look_in_domains(known, members, needs, scope, finder, found);
        if (outcome == domains_outcome::impossible) {
            const auto vertices = found.vertices.all();
            proof = muster::certificate{scope, {}, {vertices.begin(), vertices.end()}};
        }
        return outcome;
    }
    bool holds() {
        return proof && muster::testing::verify(known, gang_at(known, "g"), *proof) ==
                            muster::testing::proof_check::valid;
    }
};

TEST_CASE("a gang that finds too little room in every domain is refused with a leaf for each") {
    scene in;
    in.node("a", 3, "1");
    in.node("b", 3, "1");
    in.node("c", 5, "2");
    in.gang(3, 2);
    CHECK(in.look() == domains_outcome::impossible);
    CHECK(in.proof->vertices.size() == 3);
    CHECK(in.holds());
}

TEST_CASE("room in pieces too small is found short though its sum is not") {
    scene in;
    in.node("a", 3, "1");
    in.node("b", 3, "1");
    in.gang(3, 2);
    CHECK(in.look() == domains_outcome::impossible);
    CHECK(in.holds());
}

TEST_CASE("what fits the emptied cluster's domains could start") {
    scene in;
    in.node("a", 6, "1");
    add_running(in.known, "old", 1, "a");
    in.gang(3, 2);
    CHECK(in.look() == domains_outcome::impossible);
    CHECK(in.holds());
    CHECK(in.look(certificate_scope::empty_cluster) == domains_outcome::fits);
}

TEST_CASE("nothing is said of a gang that asks for no domain, or of classes that fit one by one") {
    scene in;
    in.node("a", 6, "1");
    ok(in.known.upsert_gang("g", gang_of(3)));
    add_members(in.known, "g", 3, asking(9));
    CHECK(in.look() == domains_outcome::open);

    scene two;
    two.node("a", 6, "1");
    muster::gang_tree tree;
    tree.constrain_topology(vertex_index{0}, {{{"rack"}}, 0, std::nullopt});
    const auto first = tree.add(vertex_index{0}, 1, "first");
    const auto second = tree.add(vertex_index{0}, 1, "second");
    ok(two.known.upsert_gang("g", gang_of(tree)));
    ok(two.known.upsert_pod("p", "g", in_role(first, asking(4))));
    ok(two.known.upsert_pod("q", "g", in_role(second, asking(3))));
    CHECK(two.look() == domains_outcome::open);
    CHECK(!two.proof);
}

} // namespace

} // namespace exact_domain_proofs_test
