// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <muster/exact/plain_proofs.hpp>

#include "../builders.hpp"

namespace exact_plain_proofs_test {

namespace {

using namespace builders;
using namespace muster;

using counts = detail::sequence<std::int64_t>;

struct fixture {
    cluster known;
    counts needs;
    empty_cluster_check<core_of<traits>> looking;
    std::size_t short_of = 99;

    [[nodiscard]] gang_members<traits::width> members() const {
        return members_of(known, gang_at(known, "g"));
    }
    bool fixed() { return fixed_needs(members(), needs); }
    std::optional<kind_id> over(certificate_scope scope) {
        CHECK(fixed());
        return over_quota(known, members(), needs, scope);
    }
    empty_cluster_outcome look() {
        CHECK(fixed());
        short_of = 99;
        return looking.look(known, members(), needs, short_of);
    }
    /// A leader and `workers` workers, all of whom must start.
    void add_two_roles(std::int64_t leader, int workers, std::int64_t worker,
                       std::optional<std::string> queue = {}) {
        gang_tree tree;
        const vertex_index first = tree.add({}, 1);
        const vertex_index second = tree.add({}, workers);
        ok(known.upsert_gang("g", gang_of(tree, std::move(queue))));
        ok(known.upsert_pod("leader", "g", in_role(first, asking(leader))));
        add_members(known, "g", workers, in_role(second, asking(worker)));
    }
};

// ---- how many of each class --------------------------------------------------------------------

TEST_CASE_FIXTURE(fixture, "alike members are needed up to the minimum, less those that hold") {
    ok(known.upsert_node("n", machine(9)));
    ok(known.upsert_gang("g", gang_of(3)));
    add_members(known, "g", 5, asking(1));
    CHECK(fixed());
    CHECK(needs == counts{3});
    ok(known.upsert_pod("g-0", "g", in_phase(pod_phase::running, asking(1)), "n"));
    CHECK(fixed());
    CHECK(needs == counts{2});
    for (const char* name : {"g-1", "g-2", "g-3"})
        ok(known.upsert_pod(name, "g", in_phase(pod_phase::running, asking(1)), "n"));
    CHECK(fixed());
    CHECK(needs == counts{0});
}

TEST_CASE_FIXTURE(fixture, "roles of alike members are needed each up to its minimum") {
    add_two_roles(4, 3, 2);
    CHECK(fixed());
    CHECK(needs == counts{1, 3});
}

TEST_CASE_FIXTURE(fixture, "where there is a choice of members nothing is fixed") {
    SUBCASE("between members that differ") {
        ok(known.upsert_gang("g", gang_of(1)));
        ok(known.upsert_pod("a", "g", asking(1)));
        ok(known.upsert_pod("b", "g", asking(2)));
    }
    SUBCASE("between roles, to make up the whole gang's minimum") {
        gang_tree tree(3);
        const vertex_index first = tree.add({}, 1);
        const vertex_index second = tree.add({}, 1);
        ok(known.upsert_gang("g", gang_of(tree)));
        for (const char* name : {"a0", "a1"})
            ok(known.upsert_pod(name, "g", in_role(first, asking(1))));
        for (const char* name : {"b0", "b1"})
            ok(known.upsert_pod(name, "g", in_role(second, asking(2))));
    }
    SUBCASE("between subgroups") {
        gang_tree tree;
        const vertex_index first = tree.add({}, 1);
        static_cast<void>(tree.add({}, 1));
        tree.require_subgroups({}, 1);
        ok(known.upsert_gang("g", gang_of(tree)));
        ok(known.upsert_pod("a", "g", in_role(first, asking(1))));
    }
    CHECK_FALSE(fixed());
}

TEST_CASE_FIXTURE(fixture, "a whole gang's minimum that its roles reach leaves no choice") {
    gang_tree tree(2);
    const vertex_index first = tree.add({}, 1);
    const vertex_index second = tree.add({}, 1);
    ok(known.upsert_gang("g", gang_of(tree)));
    ok(known.upsert_pod("a", "g", in_role(first, asking(1))));
    ok(known.upsert_pod("b", "g", in_role(second, asking(2))));
    CHECK(fixed());
    CHECK(needs == counts{1, 1});
}

// ---- the quota ---------------------------------------------------------------------------------

TEST_CASE_FIXTURE(fixture,
                  "needs over what the quota leaves now are told from those over all of it") {
    ok(known.upsert_node("n", machine(99)));
    ok(known.upsert_queue("q", quota_of(10)));
    add_two_roles(4, 3, 2, "q");
    CHECK_FALSE(over(certificate_scope::free_now));
    CHECK_FALSE(over(certificate_scope::empty_cluster));
    add_running(known, "r", 1, "n", "q");
    CHECK(over(certificate_scope::free_now) == cpu);
    CHECK_FALSE(over(certificate_scope::empty_cluster));
    ok(known.upsert_queue("q", quota_of(9)));
    CHECK(over(certificate_scope::empty_cluster) == cpu);
}

TEST_CASE_FIXTURE(fixture,
                  "a kind that the quota does not list, or that nobody asks for, is never over") {
    ok(known.upsert_node("n", machine(99)));
    ok(known.upsert_queue("q", quota_of(10)));
    ok(known.upsert_gang("g", gang_of(2, "q")));
    add_members(known, "g", 2, asking(0, 50));
    add_running(known, "r", 10, "n", "q");
    ok(known.upsert_queue("q", quota_of(5)));
    CHECK_FALSE(over(certificate_scope::free_now));
    CHECK_FALSE(over(certificate_scope::empty_cluster));
}

TEST_CASE_FIXTURE(fixture, "without a queue, or a quota, nothing is over") {
    add_two_roles(4, 3, 2);
    CHECK_FALSE(over(certificate_scope::free_now));
    ok(known.upsert_queue("q", {}));
    add_two_roles(4, 3, 2, "q");
    CHECK_FALSE(over(certificate_scope::free_now));
}

TEST_CASE_FIXTURE(fixture, "needs that leave int64 are over") {
    constexpr auto top = std::numeric_limits<std::int64_t>::max();
    ok(known.upsert_queue("q", quota_of(top)));
    ok(known.upsert_gang("g", gang_of(3, "q")));
    add_members(known, "g", 3, asking(top));
    CHECK(over(certificate_scope::empty_cluster) == cpu);
}

// ---- the emptied cluster -----------------------------------------------------------------------

TEST_CASE_FIXTURE(fixture, "what stands on nodes, cordons and conditions do not count") {
    ok(known.upsert_node("n", machine(4)));
    add_running(known, "r", 4, "n");
    cluster::node_type node = machine(4);
    node.unschedulable = true;
    node.taints.push_back({"node.kubernetes.io/not-ready", "", taint_effect::no_execute});
    ok(known.upsert_node("m", node));
    add_two_roles(4, 2, 2);
    CHECK(look() == empty_cluster_outcome::fits);
}

TEST_CASE_FIXTURE(fixture, "a class that alone finds too little is named") {
    ok(known.upsert_node("n", machine(5)));
    cluster::node_type tainted = machine(9);
    tainted.taints.push_back({"mine", "", taint_effect::no_schedule});
    ok(known.upsert_node("m", tainted));
    add_two_roles(4, 3, 2);
    CHECK(look() == empty_cluster_outcome::impossible);
    CHECK(short_of == 1);
    add_two_roles(6, 3, 2);
    CHECK(look() == empty_cluster_outcome::impossible);
    CHECK(short_of == 0);
}

TEST_CASE_FIXTURE(fixture, "classes that find room each, and not apart, are left to the search") {
    ok(known.upsert_node("n", machine(8)));
    add_two_roles(4, 2, 2);
    CHECK(look() == empty_cluster_outcome::open);
    add_two_roles(4, 4, 2);
    CHECK(look() == empty_cluster_outcome::open);
    ok(known.upsert_node("m", machine(8)));
    CHECK(look() == empty_cluster_outcome::fits);
}

TEST_CASE_FIXTURE(fixture, "of pods that claim a port a node takes one") {
    ok(known.upsert_node("a", machine(9)));
    ok(known.upsert_gang("g", gang_of(2)));
    cluster::pod_type pod = asking(1);
    pod.where.claims.ports.push_back({"TCP", "", 80});
    add_members(known, "g", 2, pod);
    CHECK(look() == empty_cluster_outcome::impossible);
    CHECK(short_of == 0);
    ok(known.upsert_node("b", machine(9)));
    CHECK(look() == empty_cluster_outcome::fits);
}

TEST_CASE_FIXTURE(fixture, "one look leaves nothing behind for the next") {
    ok(known.upsert_node("a", machine(4)));
    ok(known.upsert_node("b", machine(4)));
    for (int turn = 0; turn < 3; ++turn) {
        add_two_roles(4, 2, 2);
        CHECK(look() == empty_cluster_outcome::fits);
        add_two_roles(4, 4, 2);
        CHECK(look() == empty_cluster_outcome::open);
        for (const char* name : {"g-2", "g-3"})
            ok(known.remove_pod(name));
    }
}

} // namespace

} // namespace exact_plain_proofs_test
