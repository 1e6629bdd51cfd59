// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/greedy/place.hpp>
#include <muster/index/node_finder.hpp>
#include <muster/policy/placement.hpp>

#include "../builders.hpp"

namespace greedy_place_test {

namespace {

using namespace builders;
using namespace muster;

struct fixture {
    using finder_type = node_finder<core_of<traits>>;
    cluster known;

    /// Places the gang's minima, then its surplus; "pod@node" in the order of placing, or nothing.
    std::string place(const std::string& gang, bool with_surplus = true) {
        const auto members = members_of(known, gang_at(known, gang));
        const auto weights = weigh(known.accounts(), known.pods_kind());
        plan<traits::width> tentative(known.tentative());
        finder_type finder(weights, best_fit{});
        placer<core_of<traits>> placing;
        placing.begin(known, members, tentative, finder);
        if (!placing.meet_minima()) {
            CHECK(tentative.size() == 0);
            return "none";
        }
        if (with_surplus)
            placing.place_surplus();
        std::string out;
        for (std::size_t at = 0; at < tentative.size(); ++at)
            out += known.key(tentative[at].pod) + "@" + known.key(tentative[at].node) + " ";
        return out;
    }
};

TEST_CASE_FIXTURE(fixture, "a gang that does not fit leaves the accounts untouched") {
    ok(known.upsert_node("n", machine(5)));
    add_gang(known, "g", 3, 2);
    const auto before = known.accounts();
    CHECK(place("g") == "none");
    CHECK(known.accounts() == before);
}

TEST_CASE_FIXTURE(fixture, "members are placed oldest first, and surplus after the minima") {
    ok(known.upsert_node("n", machine(5)));
    ok(known.upsert_gang("g", gang_of(2)));
    for (int at = 0; at < 4; ++at) {
        cluster::pod_type pod = asking(1);
        pod.created = 9 - at;
        ok(known.upsert_pod("p" + std::to_string(at), "g", pod));
    }
    CHECK(place("g", false) == "p3@n p2@n ");
    CHECK(place("g") == "p3@n p2@n p1@n p0@n ");
}

TEST_CASE_FIXTURE(fixture, "role minima come before members that only the gang's minimum needs") {
    gang_tree tree(3);
    const vertex_index first = tree.add({}, 1);
    const vertex_index second = tree.add({}, 1);
    ok(known.upsert_node("n", machine(9)));
    ok(known.upsert_gang("g", gang_of(tree)));
    ok(known.upsert_pod("a0", "g", in_role(first, asking(1))));
    ok(known.upsert_pod("a1", "g", in_role(first, asking(1))));
    ok(known.upsert_pod("b0", "g", in_role(second, asking(1))));
    CHECK(place("g") == "a0@n b0@n a1@n ");
}

TEST_CASE_FIXTURE(fixture, "surplus that does not fit does not keep smaller surplus from fitting") {
    ok(known.upsert_node("n", machine(4)));
    ok(known.upsert_gang("g", gang_of(1)));
    ok(known.upsert_pod("a", "g", asking(1)));
    ok(known.upsert_pod("b", "g", asking(9)));
    ok(known.upsert_pod("c", "g", asking(2)));
    CHECK(place("g") == "a@n c@n ");
}

TEST_CASE_FIXTURE(fixture, "members that hold already are not placed again, and count") {
    ok(known.upsert_node("n", machine(4)));
    ok(known.upsert_gang("g", gang_of(3)));
    ok(known.upsert_pod("r0", "g", in_phase(pod_phase::running, asking(1)), "n"));
    ok(known.upsert_pod("r1", "g", in_phase(pod_phase::succeeded, asking(1)), "n"));
    ok(known.upsert_pod("w", "g", asking(1)));
    CHECK(place("g") == "w@n ");
}

TEST_CASE_FIXTURE(fixture, "a subgroup that was not required is placed whole, as surplus, or not") {
    gang_tree tree;
    const vertex_index first = tree.add({}, 1);
    const vertex_index second = tree.add({}, 2);
    tree.require_subgroups({}, 1);
    ok(known.upsert_node("n", machine(2)));
    ok(known.upsert_gang("g", gang_of(tree)));
    ok(known.upsert_pod("a", "g", in_role(first, asking(1))));
    ok(known.upsert_pod("b0", "g", in_role(second, asking(1))));
    ok(known.upsert_pod("b1", "g", in_role(second, asking(1))));
    CHECK(place("g") == "a@n ");
    ok(known.upsert_node("n", machine(3)));
    CHECK(place("g", false) == "a@n ");
    CHECK(place("g") == "a@n b0@n b1@n ");
}

TEST_CASE_FIXTURE(fixture, "a subgroup that was tried and did not fit leaves room for the next") {
    gang_tree tree;
    const vertex_index first = tree.add({}, 2);
    const vertex_index second = tree.add({}, 1);
    tree.require_subgroups({}, 1);
    ok(known.upsert_node("n", machine(3)));
    ok(known.upsert_gang("g", gang_of(tree)));
    ok(known.upsert_pod("a0", "g", in_role(first, asking(2))));
    ok(known.upsert_pod("a1", "g", in_role(first, asking(2))));
    ok(known.upsert_pod("b", "g", in_role(second, asking(3))));
    CHECK(place("g") == "b@n ");
}

TEST_CASE_FIXTURE(fixture, "a placement that the search found is made oldest first") {
    ok(known.upsert_node("a", machine(2)));
    ok(known.upsert_node("b", machine(1)));
    add_gang(known, "g", 2, 1);
    add_members(known, "g", 3, asking(1));
    const auto members = members_of(known, gang_at(known, "g"));
    const auto problem = pose(known, members, certificate_scope::free_now);
    const auto weights = weigh(known.accounts(), known.pods_kind());
    plan<traits::width> tentative(known.tentative());
    fixture::finder_type finder(weights, best_fit{});
    placer<core_of<traits>> placing;
    placing.begin(known, members, tentative, finder);
    CHECK(placing.place_found(problem, {1, 1}));
    CHECK(tentative.size() == 2);
    if (tentative.size() != 2)
        return;
    CHECK(known.key(tentative[0].pod) == "g-0");
    CHECK(known.key(tentative[0].node) == "a");
    CHECK(known.key(tentative[1].pod) == "g-1");
    CHECK(known.key(tentative[1].node) == "b");
    placing.place_surplus();
    CHECK(tentative.size() == 3);
    CHECK(known.key(tentative[2].pod) == "g-2");
}

} // namespace

} // namespace greedy_place_test
