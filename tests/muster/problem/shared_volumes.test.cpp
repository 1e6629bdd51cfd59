// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/cycle/cycle.hpp>
#include <muster/explain/explain.hpp>
#include <muster/problem/members.hpp>

#include "../builders.hpp"

namespace problem_shared_volumes_test {

namespace {

using namespace builders;
using namespace muster;

cluster::node_type in_zone(const std::string& zone, std::int64_t cpus) {
    cluster::node_type made = machine(cpus);
    made.labels.set("zone", zone);
    made.labels.set("region", "r");
    return made;
}

/// A pod that shares a volume with all pods of that claim.
cluster::pod_type sharing(std::int64_t cpus, const std::string& claim = "data",
                          const std::string& label = "zone") {
    cluster::pod_type made = asking(cpus);
    made.labels.set("claim:" + claim, "shared");
    affinity_term term;
    term.pods.labels.requirements.push_back({"claim:" + claim, label_operator::exists, {}});
    term.topology = label;
    term.of_volume = true;
    made.where.pods.emplace().affinity.push_back(term);
    return made;
}

std::vector<topology_requirement> together(const cluster& known) {
    const auto members = members_of(known, gang_at(known, "g"));
    return {members.topology.begin(), members.topology.end()};
}

TEST_CASE("members that share a volume that does not exist yet stand in one domain") {
    cluster known;
    ok(known.upsert_gang("g", gang_of(2)));
    add_members(known, "g", 2, sharing(1));
    const auto found = together(known);
    REQUIRE(found.size() == 1);
    CHECK(found.front().vertex == 0);
    CHECK(found.front().of_volume);
    CHECK(known.topologies()[found.front().within].value().levels.front() == "zone");
}

TEST_CASE("domains that may change prove nothing about what can ever start") {
    for (const bool may_change : {false, true}) {
        cluster known;
        for (const char* const zone : {"a", "b"}) {
            ok(known.upsert_node(std::string("n") + zone, in_zone(zone, 1)));
        }
        ok(known.upsert_gang("g", gang_of(2)));
        auto spec = sharing(1);
        spec.where.pods->affinity.front().domains_may_change = may_change;
        add_members(known, "g", 2, spec);
        const auto found = together(known);
        REQUIRE(found.size() == 1);
        CHECK(found.front().domains_may_change == may_change);
        auto members = members_of(known, gang_at(known, "g"));
        {
            const without_changing_domains<cluster::width> lasting(members);
            CHECK(members.topology.size() == (may_change ? 0 : 1));
        }
        CHECK(members.topology.size() == 1);
        const auto decided = cycle(known, 0).decisions;
        REQUIRE(decided.size() == 1);
        CHECK((decided.front().outcome.kind == answer::never) == !may_change);
    }
}

TEST_CASE("a role whose members alone share the volume stands in one domain") {
    cluster known;
    gang_tree tree;
    const vertex_index first = tree.add({}, 1);
    const vertex_index second = tree.add({}, 1);
    ok(known.upsert_gang("g", gang_of(tree)));
    ok(known.upsert_pod("launcher", "g", in_role(first, asking(1))));
    ok(known.upsert_pod("worker-0", "g", in_role(second, sharing(1))));
    ok(known.upsert_pod("worker-1", "g", in_role(second, sharing(2))));
    REQUIRE(together(known).size() == 1);
    CHECK(together(known).front().vertex == second.value());
    // Members of the role that do not share it may stand elsewhere.
    ok(known.upsert_pod("worker-2", "g", in_role(second, asking(1))));
    CHECK(together(known).empty());
}

TEST_CASE("the terms alone keep members together once pods of the volume or the role have nodes") {
    cluster known;
    ok(known.upsert_node("n", in_zone("a", 9)));
    ok(known.upsert_gang("g", gang_of(2)));
    add_members(known, "g", 2, sharing(1));
    REQUIRE(together(known).size() == 1);
    ok(known.upsert_gang("other", gang_of(1)));
    ok(known.upsert_pod("other-0", "other", in_phase(pod_phase::running, sharing(1)), "n"));
    CHECK(together(known).empty());
    ok(known.remove_pod("other-0"));
    CHECK(together(known).size() == 1);
    ok(known.upsert_pod("g-2", "g", in_phase(pod_phase::running, asking(1)), "n"));
    CHECK(together(known).empty());
}

TEST_CASE("a topology constraint of the gang's own takes precedence over that of a volume") {
    cluster known;
    gang_tree tree = single_role(2);
    topology_constraint how;
    how.within.levels = {"rack"};
    how.required = 0;
    tree.constrain_topology(vertex_index{0}, how);
    ok(known.upsert_gang("g", gang_of(tree)));
    add_members(known, "g", 2, sharing(1));
    REQUIRE(together(known).size() == 1);
    CHECK_FALSE(together(known).front().of_volume);
}

TEST_CASE("if the volume has several labels, the one with the most domains counts") {
    cluster known;
    ok(known.upsert_node("m", in_zone("a", 9)));
    ok(known.upsert_node("n", in_zone("b", 9)));
    ok(known.upsert_gang("g", gang_of(2)));
    for (const char* pod : {"g-0", "g-1"}) {
        auto spec = sharing(1, "data", "region");
        spec.where.pods->affinity.push_back(sharing(1).where.pods->affinity.front());
        ok(known.upsert_pod(pod, "g", spec));
    }
    REQUIRE(together(known).size() == 1);
    CHECK(known.topologies()[together(known).front().within].value().levels.front() == "zone");
}

TEST_CASE("a gang whose shared volume fits no zone is proven to wait, with the room per zone") {
    cluster known;
    ok(known.upsert_node("m", in_zone("a", 5)));
    ok(known.upsert_node("n", in_zone("b", 7)));
    add_running(known, "old", 4, "n");
    ok(known.upsert_gang("g", gang_of(3)));
    add_members(known, "g", 3, sharing(2));
    static_cast<void>(muster::cycle(known, 0));
    CHECK(is(answered(known, "g"), answer::waiting, gate::space));
    const auto why = explain(known, gang_at(known, "g"));
    REQUIRE(why.size() == 2);
    CHECK(why[0].code == reason_code::insufficient_resource);
    CHECK(why[0].kind == reason_kind::blocking_together);
    CHECK(why[1].code == reason_code::topology_fragmented);
    CHECK(why[1].shares_volume);
    CHECK(why[1].topology == "zone");
    REQUIRE(why[1].domains.size() == 2);
    CHECK(why[1].domains[0].name == "a");
    CHECK(why[1].domains[0].possible == 2);
    CHECK(why[1].domains[0].short_of == std::vector{cpu});
    CHECK(why[1].domains[1].possible == 1);
    ok(known.remove_pod("old-0"));
    static_cast<void>(muster::cycle(known, 1));
    CHECK(node_of(known, "g-0") == "n");
    CHECK(node_of(known, "g-1") == "n");
    CHECK(node_of(known, "g-2") == "n");
}

TEST_CASE("zones that the volume cannot be in are not listed") {
    cluster known;
    ok(known.upsert_node("m", in_zone("a", 5)));
    ok(known.upsert_node("n", in_zone("b", 5)));
    ok(known.upsert_gang("g", gang_of(3)));
    auto spec = sharing(2);
    node_term allowed;
    allowed.labels = label_is("zone", "b");
    spec.where.volumes = {{{allowed}, false}};
    add_members(known, "g", 3, spec);
    static_cast<void>(muster::cycle(known, 0));
    CHECK(is(answered(known, "g"), answer::never, gate::space));
    for (const reason& each : explain(known, gang_at(known, "g")))
        if (each.shares_volume) {
            REQUIRE(each.domains.size() == 1);
            CHECK(each.domains.front().name == "b");
        }
}

TEST_CASE("if only some members share the volume, the reason names the volume, not an affinity") {
    cluster known;
    ok(known.upsert_node("m", in_zone("a", 3)));
    ok(known.upsert_node("n", in_zone("b", 3)));
    ok(known.upsert_gang("g", gang_of(3)));
    add_members(known, "g", 2, sharing(2));
    ok(known.upsert_pod("g-2", "g", asking(1)));
    static_cast<void>(muster::cycle(known, 0));
    bool told = false;
    for (const reason& each : explain(known, gang_at(known, "g"))) {
        CHECK((each.code != reason_code::affinity_unmet || each.shares_volume));
        told = told || each.shares_volume;
    }
    CHECK(told);
}

} // namespace

} // namespace problem_shared_volumes_test
