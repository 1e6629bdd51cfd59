// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/explain/explain_member.hpp>

#include "../builders.hpp"

namespace explain_explain_member_test {

namespace {

using namespace builders;
using namespace muster;

std::vector<reason> why(const cluster& known, const std::string& pod) {
    const auto found = known.find_pod(pod);
    CHECK(found.has_value());
    return found ? explain_member(known, found->index) : std::vector<reason>{};
}

/// A gang of minimum 1 with one pod that runs on the node.
void add_started(cluster& known, const std::string& node) {
    ok(known.upsert_node(node, machine(4)));
    ok(known.upsert_gang("g", gang_of(1)));
    ok(known.upsert_pod("g-0", "g", in_phase(pod_phase::running, asking(1)), node));
}

TEST_CASE("a waiting surplus pod lacks a resource, in the numbers of the one pod") {
    cluster known;
    add_started(known, "n");
    ok(known.upsert_pod("g-1", "g", asking(6)));
    ok(known.upsert_pod("g-2", "g", asking(2)));
    const auto found = why(known, "g-1");
    REQUIRE(found.size() == 1);
    CHECK(found[0].code == reason_code::insufficient_resource);
    CHECK(found[0].amount_needed == 6);
    CHECK(found[0].amount_left == 3);
    REQUIRE(why(known, "g-2").size() == 1);
    CHECK(why(known, "g-2")[0].code == reason_code::fits_by_now);
}

TEST_CASE("a waiting surplus pod whose volume is not ready waits for the volume") {
    cluster known;
    add_started(known, "n");
    auto spec = asking(1);
    spec.where.volume_not_ready = true;
    ok(known.upsert_pod("g-1", "g", spec));
    REQUIRE(why(known, "g-1").size() == 1);
    CHECK(why(known, "g-1")[0].code == reason_code::volume_not_ready);
    spec.request = asking(6).request;
    ok(known.upsert_pod("g-1", "g", spec));
    REQUIRE(why(known, "g-1").size() == 2);
    CHECK(why(known, "g-1")[1].code == reason_code::insufficient_resource);
    CHECK(why(known, "g-1")[1].amount_needed == 6);
    spec.where.unsupported = true;
    ok(known.upsert_pod("g-1", "g", spec));
    CHECK(why(known, "g-1")[0].code == reason_code::unsupported_constraint);
}

TEST_CASE("a waiting surplus pod is bound to the domain of its gang") {
    cluster known;
    for (const char* node : {"n", "m"}) {
        auto spec = machine(4);
        spec.labels.set("rack", node);
        ok(known.upsert_node(node, spec));
    }
    gang_tree tree = single_role(1);
    topology_constraint how;
    how.within.levels = {"rack"};
    how.required = 0;
    tree.constrain_topology(vertex_index{0}, how);
    ok(known.upsert_gang("g", gang_of(tree)));
    ok(known.upsert_pod("g-0", "g", in_phase(pod_phase::running, asking(3)), "n"));
    ok(known.upsert_pod("g-1", "g", asking(2)));
    const auto found = why(known, "g-1");
    REQUIRE(found.size() == 2);
    CHECK(found[0].code == reason_code::insufficient_resource);
    CHECK(found[1].code == reason_code::topology_fragmented);
    CHECK(found[1].together == vertex_index{0});
}

TEST_CASE("a waiting surplus pod is kept off nodes by terms between pods") {
    cluster known;
    add_started(known, "n");
    auto labelled = machine(4);
    labelled.labels.set("host", "n");
    ok(known.upsert_node("n", labelled));
    auto spec = asking(1);
    spec.labels.set("app", "x");
    affinity_term term;
    term.pods.labels = label_is("app", "x");
    term.topology = "host";
    spec.where.pods.emplace().anti_affinity.push_back(term);
    auto running = spec;
    running.phase = pod_phase::running;
    ok(known.upsert_pod("g-0", "g", running, "n"));
    ok(known.upsert_pod("g-1", "g", spec));
    REQUIRE_FALSE(why(known, "g-1").empty());
    CHECK(why(known, "g-1")[0].code == reason_code::anti_affinity_met);
}

} // namespace

} // namespace explain_explain_member_test
