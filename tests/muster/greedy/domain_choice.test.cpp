// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/explain/explain.hpp>
#include <muster/greedy/domain_choice.hpp>

#include "muster/builders.hpp"

namespace greedy_domain_choice_test {

namespace {

using namespace builders;
using muster::gang_tree;
using muster::single_role;
using muster::topology_constraint;
using muster::vertex_index;
using names = std::set<std::string>;

const muster::topology network{{"block", "rack"}};
constexpr std::size_t block = 0;
constexpr std::size_t rack = 1;

/// Nodes are named <block><rack><letter>.
void add_node(cluster& to, const std::string& name, std::int64_t cpus) {
    auto made = machine(cpus);
    made.labels = {{"block", name.substr(0, 1)}, {"rack", name.substr(1, 1)}};
    ok(to.upsert_node(name, made));
}

void add_close(cluster& to, const std::string& name, std::int64_t minimum, int members,
               std::optional<std::size_t> required, std::optional<std::size_t> preferred = {},
               std::int64_t cpus = 1) {
    gang_tree tree = single_role(minimum);
    tree.constrain_topology(vertex_index{0}, {network, required, preferred});
    ok(to.upsert_gang(name, gang_of(std::move(tree))));
    add_members(to, name, members, asking(cpus));
}

names nodes_of(const cluster& in, const std::string& gang, int members) {
    names found;
    for (int at = 0; at < members; ++at)
        found.insert(node_of(in, gang + "-" + std::to_string(at)));
    return found;
}

TEST_CASE("a gang stands in the most packed domain that takes it") {
    cluster known;
    add_node(known, "a1x", 8);
    add_node(known, "a2x", 1);
    add_node(known, "a2y", 3);
    add_node(known, "a3x", 5);
    add_close(known, "g", 4, 4, rack);
    muster::cycle(known, 0);
    CHECK(nodes_of(known, "g", 4) == names{"a2x", "a2y"});
}

TEST_CASE("the order of domains is a policy") {
    cluster known;
    add_node(known, "a1x", 2);
    add_node(known, "a1y", 2);
    add_node(known, "a2x", 8);
    add_node(known, "a3x", 9);
    cluster other = known;
    add_close(known, "g", 2, 2, rack);
    add_close(other, "g", 2, 2, rack);
    muster::cycle(known, 0);
    CHECK(nodes_of(known, "g", 2) == names{"a1x"});
    const muster::policy how{
        muster::best_fit{},        muster::priority_then_age{}, muster::priority_then_share{},
        muster::no_reservations{}, muster::surplus_at_once{},   muster::smallest_first{}};
    muster::cycle(other, 0, how);
    CHECK(nodes_of(other, "g", 2) == names{"a2x"});
}

TEST_CASE("equal domains go in the order of their labels' values") {
    for (const bool turned : {false, true}) {
        cluster known;
        add_node(known, turned ? "b1x" : "a1x", 4);
        add_node(known, turned ? "a1x" : "b1x", 4);
        add_close(known, "g", 2, 2, block);
        muster::cycle(known, 0);
        CHECK(nodes_of(known, "g", 2) == names{"a1x"});
    }
}

TEST_CASE("a gang that fits no domain waits, whatever the cluster has in all") {
    cluster known;
    add_node(known, "a1x", 3);
    add_node(known, "b1x", 3);
    add_close(known, "g", 4, 4, block);
    add_close(known, "anywhere", 4, 4, {}, block);
    muster::cycle(known, 0);
    CHECK(answered(known, "g").kind == answer::never);
    CHECK(answered(known, "anywhere").kind == answer::admitted);
}

TEST_CASE("what is preferred comes first, then coarser levels, then anywhere") {
    cluster known;
    add_node(known, "a1x", 2);
    add_node(known, "a2x", 2);
    add_node(known, "b1x", 3);
    add_node(known, "c1x", 9);
    cluster two = known;
    add_close(two, "g", 2, 2, {}, rack);
    muster::cycle(two, 0);
    CHECK(nodes_of(two, "g", 2) == names{"a1x"});
    cluster four = known;
    ok(four.remove_node("c1x"));
    add_close(four, "g", 4, 4, block, rack);
    muster::cycle(four, 0);
    CHECK(nodes_of(four, "g", 4) == names{"a1x", "a2x"});
    cluster five = known;
    ok(five.remove_node("c1x"));
    add_close(five, "g", 5, 5, {}, rack);
    muster::cycle(five, 0);
    CHECK(nodes_of(five, "g", 5) == names{"a1x", "a2x", "b1x"});
}

TEST_CASE("surplus stays in the required domain, and in the preferred one as far as it goes") {
    cluster known;
    add_node(known, "a1x", 3);
    add_node(known, "a2x", 1);
    add_node(known, "b1x", 9);
    add_close(known, "g", 2, 6, block, rack);
    muster::cycle(known, 0);
    CHECK(node_of(known, "g-0") == "a1x");
    CHECK(nodes_of(known, "g", 4) == names{"a1x", "a2x"});
    CHECK(node_of(known, "g-4") == "");
    CHECK(answered(known, "g").kind == answer::admitted);
}

TEST_CASE("members that hold fix the domain") {
    cluster known;
    add_node(known, "a1x", 9);
    add_node(known, "b1x", 3);
    ok(known.upsert_gang(
        "g", gang_of([] {
            gang_tree tree = single_role(3);
            tree.constrain_topology(vertex_index{0}, {network, block, std::nullopt});
            return tree;
        }())));
    ok(known.upsert_pod("g-old", "g", in_phase(pod_phase::running, asking(1)), "b1x"));
    add_members(known, "g", 2, asking(1));
    muster::cycle(known, 0);
    CHECK(nodes_of(known, "g", 2) == names{"b1x"});
    add_members(known, "g", 3, asking(1));
    muster::cycle(known, 1);
    CHECK(node_of(known, "g-2") == "");
}

TEST_CASE("a gang whose members hold in two domains waits with that reason") {
    cluster known;
    add_node(known, "a1x", 9);
    add_node(known, "b1x", 9);
    add_close(known, "g", 3, 1, block);
    ok(known.upsert_pod("g-old", "g", in_phase(pod_phase::running, asking(1)), "a1x"));
    ok(known.upsert_pod("g-older", "g", in_phase(pod_phase::running, asking(1)), "b1x"));
    muster::cycle(known, 0);
    CHECK(is(answered(known, "g"), answer::waiting, gate::space));
    CHECK(answered(known, "g").could_start);
    const auto reasons = muster::explain(known, gang_at(known, "g"));
    REQUIRE(!reasons.empty());
    CHECK(reasons.front().code == muster::reason_code::topology_fragmented);
    CHECK(reasons.front().kind == muster::reason_kind::blocking);
    CHECK(reasons.front().spans_domains);
    // One that has succeeded stands nowhere any more.
    ok(known.upsert_pod("g-older", "g", in_phase(pod_phase::succeeded, asking(1)), "b1x"));
    muster::cycle(known, 1);
    CHECK(node_of(known, "g-0") == "a1x");
}

TEST_CASE("subgroups stand in racks of their own inside the gang's block") {
    cluster known;
    for (const char* name : {"a1x", "a2x", "b1x", "b2x"})
        add_node(known, name, 2);
    add_node(known, "a3x", 1);
    gang_tree tree;
    tree.constrain_topology(vertex_index{0}, {network, block, std::nullopt});
    for (const char* role : {"left", "right"})
        tree.constrain_topology(tree.add(vertex_index{0}, 2, role), {network, rack, std::nullopt});
    ok(known.upsert_gang("g", gang_of(tree)));
    add_members(known, "g", 2, in_role(vertex_index{1}, asking(1)));
    for (const char* name : {"right-0", "right-1"})
        ok(known.upsert_pod(name, "g", in_role(vertex_index{2}, asking(1))));
    muster::cycle(known, 0);
    CHECK(nodes_of(known, "g", 2) == names{"b1x"});
    CHECK(nodes_of(known, "right", 2) == names{"b2x"});
}

TEST_CASE("a domain tried in vain leaves no choice behind for those below it") {
    cluster known;
    add_node(known, "a1x", 3);
    add_node(known, "b1x", 2);
    add_node(known, "b2x", 2);
    gang_tree tree;
    tree.constrain_topology(vertex_index{0}, {network, {}, block});
    const auto first = tree.add(vertex_index{0}, 2, "first");
    tree.constrain_topology(first, {network, {}, block});
    const auto second = tree.add(vertex_index{0}, 2, "second");
    ok(known.upsert_gang("g", gang_of(tree)));
    add_members(known, "g", 2, in_role(first, asking(1)));
    for (const char* name : {"h-0", "h-1"})
        ok(known.upsert_pod(name, "g", in_role(second, asking(1))));
    // Block a is fuller and takes the first role alone.
    muster::cycle(known, 0);
    for (const char* name : {"g-0", "g-1", "h-0", "h-1"})
        CHECK(node_of(known, name).substr(0, 1) == "b");
}

TEST_CASE("an optional subgroup that finds no domain places nothing") {
    cluster known;
    add_node(known, "a1x", 2);
    add_node(known, "a2x", 1);
    gang_tree tree;
    for (const char* role : {"one", "two"})
        tree.constrain_topology(tree.add(vertex_index{0}, 2, role), {network, rack, std::nullopt});
    tree.require_subgroups(vertex_index{0}, 1);
    ok(known.upsert_gang("g", gang_of(tree)));
    add_members(known, "g", 2, in_role(vertex_index{2}, asking(1)));
    for (const char* name : {"one-0", "one-1"})
        ok(known.upsert_pod(name, "g", in_role(vertex_index{1}, asking(1))));
    muster::cycle(known, 0);
    CHECK(nodes_of(known, "one", 2) == names{"a1x"});
    CHECK(nodes_of(known, "g", 2) == names{""});
}

TEST_CASE("the reason says how many the roomiest domain takes") {
    cluster known;
    add_node(known, "a1x", 3);
    add_node(known, "a2x", 2);
    add_node(known, "b1x", 4);
    add_close(known, "g", 8, 8, block);
    muster::cycle(known, 0);
    const auto reasons = muster::explain(known, gang_at(known, "g"));
    bool named = false;
    for (const muster::reason& one : reasons)
        if (one.code == muster::reason_code::topology_fragmented) {
            named = true;
            CHECK(one.kind == muster::reason_kind::blocking_together);
            REQUIRE(one.roles.size() == 1);
            CHECK(one.roles.front().needed == 8);
            CHECK(one.roles.front().possible == 5);
        }
    CHECK(named);
}

TEST_CASE("the least demand of a gang adds up what every way of meeting its minima takes") {
    gang_tree tree;
    const auto one = tree.add(vertex_index{0}, 2, "one");
    const auto two = tree.add(vertex_index{0}, 3, "two");
    cluster known;
    const auto least = [&](std::optional<std::int64_t> subgroups, std::int64_t minimum) {
        gang_tree whole(minimum);
        static_cast<void>(whole.add(vertex_index{0}, 2, "one"));
        static_cast<void>(whole.add(vertex_index{0}, 3, "two"));
        if (subgroups)
            whole.require_subgroups(vertex_index{0}, *subgroups);
        ok(known.upsert_gang("g", gang_of(whole)));
        const auto members = muster::members_of(known, gang_at(known, "g"));
        muster::detail::sequence<muster::domain_sum<traits::width>> scratch;
        const auto sum = muster::detail::least_demand(
            members, 0, members.holding,
            muster::detail::sequence<std::size_t>(members.classes.size(), 0), scratch);
        return static_cast<int>(sum.free[0]);
    };
    ok(known.upsert_gang("g", gang_of(tree)));
    for (int at = 0; at < 4; ++at) {
        ok(known.upsert_pod("p" + std::to_string(at), "g", in_role(one, asking(5))));
        ok(known.upsert_pod("q" + std::to_string(at), "g", in_role(two, asking(4))));
    }
    CHECK(least({}, 0) == 22);
    CHECK(least(1, 0) == 10);
    CHECK(least({}, 7) == 28);
}

} // namespace

} // namespace greedy_domain_choice_test
