// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/problem/members.hpp>

#include "../builders.hpp"

namespace problem_members_test {

namespace {

using counts = std::vector<std::int64_t>;

using namespace builders;
using namespace muster;

std::string names(const cluster& in, std::span<const pod_index> pods) {
    std::string out;
    for (const pod_index pod : pods)
        out += in.key(pod) + " ";
    return out;
}

cluster::pod_type created(std::int64_t at, cluster::pod_type spec) {
    spec.created = at;
    return spec;
}

TEST_CASE("equal members are one class, the oldest first and then by name") {
    cluster known;
    ok(known.upsert_gang("g", gang_of(1)));
    ok(known.upsert_pod("c", "g", created(2, asking(1))));
    ok(known.upsert_pod("b", "g", created(1, asking(1))));
    ok(known.upsert_pod("d", "g", created(0, asking(1))));
    ok(known.upsert_pod("a", "g", created(2, asking(1))));
    const auto found = members_of(known, gang_at(known, "g"));
    CHECK(found.classes.size() == 1);
    CHECK(names(known, found.of(found.classes.front())) == "d b a c ");
}

TEST_CASE("members of one role that differ in request or constraints are classes of their own") {
    cluster known;
    ok(known.upsert_gang("g", gang_of(1)));
    ok(known.upsert_pod("big-1", "g", created(1, asking(4))));
    ok(known.upsert_pod("small-2", "g", created(2, asking(1))));
    ok(known.upsert_pod("big-3", "g", created(3, asking(4))));
    cluster::pod_type bound_to_zone = created(4, asking(4));
    bound_to_zone.where.selector = label_is("zone", "a");
    ok(known.upsert_pod("zone-4", "g", bound_to_zone));
    const auto found = members_of(known, gang_at(known, "g"));
    CHECK(found.classes.size() == 3);
    if (found.classes.size() != 3)
        return;
    CHECK(names(known, found.of(found.classes[0])) == "big-1 big-3 ");
    CHECK(names(known, found.of(found.classes[1])) == "small-2 ");
    CHECK(names(known, found.of(found.classes[2])) == "zone-4 ");
    CHECK(found.turns == detail::sequence<std::uint32_t>{0, 1, 0, 2});
}

TEST_CASE("classes stand by role, though a later role's pods are older") {
    cluster known;
    gang_tree tree;
    const vertex_index first = tree.add({}, 1);
    const vertex_index second = tree.add({}, 1);
    ok(known.upsert_gang("g", gang_of(tree)));
    ok(known.upsert_pod("old", "g", created(1, in_role(second, asking(1)))));
    ok(known.upsert_pod("new", "g", created(9, in_role(first, asking(1)))));
    const auto found = members_of(known, gang_at(known, "g"));
    CHECK(found.classes.size() == 2);
    CHECK(found.classes.front().role == first);
    CHECK(names(known, found.of(found.classes.front())) == "new ");
}

TEST_CASE("members are counted by what they do: those that hold, those alive, those unsupported") {
    cluster known;
    ok(known.upsert_node("n", machine(9)));
    ok(known.upsert_gang("g", gang_of(1)));
    ok(known.upsert_pod("pending", "g", asking(1)));
    ok(known.upsert_pod("running", "g", in_phase(pod_phase::running, asking(1)), "n"));
    ok(known.upsert_pod("succeeded", "g", in_phase(pod_phase::succeeded, asking(1)), "n"));
    ok(known.upsert_pod("failed", "g", in_phase(pod_phase::failed, asking(1)), "n"));
    ok(known.upsert_pod("gated", "g", in_phase(pod_phase::gated, asking(1))));
    cluster::pod_type odd = asking(1);
    odd.where.unsupported = true;
    ok(known.upsert_pod("odd", "g", odd));
    const auto found = members_of(known, gang_at(known, "g"));
    CHECK(found.alive.front() == 4);
    CHECK(found.holding.front() == 2);
    CHECK(found.unsupported.front() == 1);
    CHECK(found.classes.size() == 1);
    CHECK(names(known, found.of(found.classes.front())) == "pending ");
}

TEST_CASE("members of a group that does not exist wait, whatever role they name") {
    cluster known;
    ok(known.upsert_pod("p", "g", in_role(vertex_index{5}, asking(1))));
    const auto outcome = preview(known, 0);
    CHECK(outcome.counters.waiting == 1);
}

// ---- the tree ----------------------------------------------------------------------------------

TEST_CASE("every minimum must be met: of the gang and of each role, one by one") {
    gang_tree tree(5);
    tree.add({}, 1);
    tree.add({}, 2);
    CHECK(reaches_minima(tree, counts{0, 3, 2}));
    CHECK(reaches_minima(tree, counts{0, 1, 4}));
    CHECK_FALSE(reaches_minima(tree, counts{0, 1, 2}));
    CHECK_FALSE(reaches_minima(tree, counts{0, 0, 5}));
    CHECK_FALSE(reaches_minima(tree, counts{0, 4, 1}));
}

TEST_CASE("the sum of the roles' minima may be above the gang's own") {
    gang_tree tree(1);
    tree.add({}, 2);
    tree.add({}, 2);
    CHECK(reaches_minima(tree, counts{0, 2, 2}));
    CHECK_FALSE(reaches_minima(tree, counts{0, 2, 1}));
}

TEST_CASE("without min_subgroups all children must reach their minima") {
    gang_tree tree;
    tree.add({}, 1);
    tree.add({}, 1);
    CHECK_FALSE(reaches_minima(tree, counts{0, 9, 0}));
    tree.require_subgroups({}, 1);
    CHECK(reaches_minima(tree, counts{0, 9, 0}));
    CHECK_FALSE(reaches_minima(tree, counts{0, 0, 0}));
}

TEST_CASE("a child that does not reach its minimum counts for nothing above") {
    gang_tree tree(4);
    tree.add({}, 3);
    tree.add({}, 3);
    tree.require_subgroups({}, 1);
    CHECK_FALSE(reaches_minima(tree, counts{0, 3, 2}));
    CHECK(reaches_minima(tree, counts{0, 4, 2}));
    CHECK(reaches_minima(tree, counts{0, 3, 3}));
    CHECK(evaluate(tree, counts{0, 3, 2}).counts.front() == 3);
}

TEST_CASE("no subgroup need be met where none is required") {
    gang_tree tree;
    tree.add({}, 3);
    tree.require_subgroups({}, 0);
    CHECK(reaches_minima(tree, counts{0, 0}));
}

TEST_CASE("subgroups nest") {
    gang_tree tree;
    const vertex_index left = tree.add({}, 0);
    const vertex_index right = tree.add({}, 0);
    tree.add(left, 1);
    tree.add(left, 1);
    tree.add(right, 2);
    tree.require_subgroups({}, 1);
    CHECK(reaches_minima(tree, counts{0, 0, 0, 1, 1, 0}));
    CHECK(reaches_minima(tree, counts{0, 0, 0, 1, 0, 2}));
    CHECK_FALSE(reaches_minima(tree, counts{0, 0, 0, 1, 0, 1}));
}

} // namespace

} // namespace problem_members_test
