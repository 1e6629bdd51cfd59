// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <muster/exact/subgroup.hpp>

#include "../builders.hpp"

namespace exact_subgroup_test {

namespace {

using namespace builders;
using namespace muster;

/// Of two subgroups one must start: `first` of one small member, `second` of three that differ.
/// Where the small one has a node of its own, the others fit only crosswise: best fit, which takes
/// the oldest first, puts 3 on the node of 4.
struct fixture {
    cluster known;
    vertex_index first;
    vertex_index second;

    fixture() {
        gang_tree tree;
        first = tree.add({}, 1);
        second = tree.add({}, 3);
        tree.require_subgroups({}, 1);
        ok(known.upsert_node("one", machine(1)));
        ok(known.upsert_gang("g", gang_of(tree)));
        ok(known.upsert_pod("first", "g", in_role(first, asking(1))));
        ok(known.upsert_pod("second-a", "g", in_role(second, asking(3))));
        ok(known.upsert_pod("second-b", "g", in_role(second, asking(4))));
        ok(known.upsert_pod("second-c", "g", in_role(second, asking(4))));
    }
};

TEST_CASE_FIXTURE(fixture, "a subgroup beyond the minima starts though only the search finds how") {
    ok(known.upsert_node("narrow", machine(4)));
    ok(known.upsert_node("wide", machine(7)));
    const cycle_result result = cycle(known, 0);
    CHECK(result.counters.pods_placed == 4);
    CHECK(node_of(known, "first") == "one");
    CHECK(node_of(known, "second-a") == "wide");
    CHECK(free_cpu(known, "narrow") == 0);
    CHECK(free_cpu(known, "wide") == 0);
}

TEST_CASE_FIXTURE(fixture, "a subgroup that fits nowhere leaves nothing behind") {
    ok(known.upsert_node("narrow", machine(4)));
    ok(known.upsert_node("wide", machine(6)));
    const cycle_result result = cycle(known, 0);
    CHECK(result.counters.pods_placed == 1);
    CHECK(free_cpu(known, "narrow") == 4);
    CHECK(free_cpu(known, "wide") == 6);
    ok(known.upsert_node("wide", machine(7)));
    CHECK(cycle(known, 0).counters.pods_placed == 3);
    CHECK(node_of(known, "second-a") == "wide");
}

TEST_CASE_FIXTURE(fixture, "a subgroup's search stays within the quota") {
    ok(known.upsert_node("narrow", machine(4)));
    ok(known.upsert_node("wide", machine(7)));
    ok(known.upsert_queue("q", quota_of(11)));
    cluster::gang_type group = gang_of(known[gang_at(known, "g")].spec.tree, "q");
    ok(known.upsert_gang("g", group));
    CHECK(cycle(known, 0).counters.pods_placed == 1);
    CHECK(used_cpu(known, "q") == 1);
    ok(known.upsert_queue("q", quota_of(12)));
    CHECK(cycle(known, 0).counters.pods_placed == 3);
    CHECK(used_cpu(known, "q") == 12);
}

TEST_CASE("a subgroup cut out is a gang of its own, of the members that are left") {
    // root, group 1 with roles 2 and 3, role 4
    cluster known;
    gang_tree tree;
    const vertex_index group = tree.add({}, 4);
    const vertex_index left = tree.add(group, 1);
    const vertex_index right = tree.add(group, 2);
    const vertex_index other = tree.add({}, 1);
    tree.require_subgroups(group, 1);
    ok(known.upsert_gang("g", gang_of(tree)));
    for (const char* name : {"l0", "l1"})
        ok(known.upsert_pod(name, "g", in_role(left, asking(1))));
    ok(known.upsert_pod("l2", "g", in_role(left, asking(2))));
    for (const char* name : {"r0", "r1"})
        ok(known.upsert_pod(name, "g", in_role(right, asking(1))));
    ok(known.upsert_pod("o", "g", in_role(other, asking(1))));
    const auto whole = members_of(known, gang_at(known, "g"));
    CHECK(whole.classes.size() == 4);

    subgroup<traits::width> part;
    // One of the first class is placed, and all of the third.
    extract_subgroup(whole, group.value(), {0, 0, 1, 2, 0}, {1, 0, 2, 0}, part);
    CHECK(part.tree.size() == 3);
    CHECK(part.tree[0].min_member == 4);
    CHECK(part.tree[0].min_subgroups == 1);
    CHECK(part.tree[1].min_member == 1);
    CHECK(part.tree[2].min_member == 2);
    CHECK(part.members.tree == &part.tree);
    CHECK(part.members.holding == detail::sequence<std::int64_t>{0, 1, 2});
    CHECK(part.classes == detail::sequence<std::size_t>{0, 1});
    CHECK(part.members.classes.size() == 2);
    CHECK(part.members.classes[0].role == vertex_index{1});
    CHECK(part.members.classes[0].count == 1);
    CHECK(part.members.classes[1].request == units(2));

    // Once more, into the same.
    extract_subgroup(whole, other.value(), {0, 0, 0, 0, 0}, {0, 0, 0, 0}, part);
    CHECK(part.tree.size() == 1);
    CHECK(part.tree[0].min_member == 1);
    CHECK(part.classes == detail::sequence<std::size_t>{3});
    CHECK(part.members.classes.front().role == vertex_index{0});
}

} // namespace

} // namespace exact_subgroup_test
