// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/plan/plan.hpp>

#include "../builders.hpp"

namespace plan_plan_test {

namespace {

using namespace builders;
using namespace muster;

struct fixture {
    cluster known;
    node_index node;
    queue_charge queue{queue_index{}};
    pod_index pod{0};
    node_claims none;

    fixture() {
        ok(known.upsert_node("n", machine(8)));
        ok(known.upsert_queue("q", quota_of(6)));
        node = known.find_node("n")->index;
        queue = queue_charge(known.find_queue("q")->index);
    }
};

TEST_CASE_FIXTURE(fixture, "what is placed is taken at once and given back by a rollback") {
    const auto before = known.accounts();
    plan<traits::width> tentative(known.tentative());
    CHECK(tentative.try_place(pod, node, units(2), none, queue));
    CHECK(known.accounts().free(node) == units(6));
    CHECK(known.accounts().used(queue) == units(2));
    CHECK(tentative.size() == 1);
    CHECK(tentative[0] == placement{pod, node});
    tentative.rollback({});
    CHECK(known.accounts() == before);
    CHECK(tentative.size() == 0);
}

TEST_CASE_FIXTURE(fixture, "a rollback undoes what came after the savepoint, and no more") {
    plan<traits::width> tentative(known.tentative());
    CHECK(tentative.try_place(pod, node, units(1), none, queue));
    const auto between = known.accounts();
    const savepoint here = tentative.mark();
    CHECK(tentative.try_place(pod_index{1}, node, units(2), none, queue));
    CHECK(tentative.try_place(pod_index{2}, node, units(3), none, queue));
    tentative.rollback(here);
    CHECK(known.accounts() == between);
    CHECK(tentative.size() == 1);
}

TEST_CASE_FIXTURE(fixture, "a plan that goes away takes with it what was not committed") {
    const auto before = known.accounts();
    {
        plan<traits::width> tentative(known.tentative());
        CHECK(tentative.try_place(pod, node, units(2), none, queue));
    }
    CHECK(known.accounts() == before);
    {
        plan<traits::width> tentative(known.tentative());
        CHECK(tentative.try_place(pod, node, units(2), none, queue));
        tentative.commit();
        CHECK(tentative.size() == 0);
    }
    CHECK(known.accounts().free(node) == units(6));
}

TEST_CASE_FIXTURE(fixture, "a placement that does not fit changes nothing") {
    const auto before = known.accounts();
    plan<traits::width> tentative(known.tentative());
    CHECK_FALSE(tentative.try_place(pod, node, units(9), none, std::nullopt));
    CHECK_FALSE(tentative.try_place(pod, node, units(1, 1), none, queue));
    CHECK_FALSE(tentative.try_place(pod, node, units(7), none, queue));
    CHECK(tentative.size() == 0);
    CHECK(known.accounts() == before);
    CHECK(tentative.try_place(pod, node, units(7), none, std::nullopt));
}

TEST_CASE_FIXTURE(fixture, "a port is claimed by one pod per node, until it is given back") {
    const node_claims web{{{"TCP", "", 80}}};
    plan<traits::width> tentative(known.tentative());
    CHECK(tentative.try_place(pod, node, units(1), web, queue));
    CHECK_FALSE(tentative.try_place(pod_index{1}, node, units(1), web, queue));
    tentative.rollback({});
    CHECK(tentative.try_place(pod_index{1}, node, units(1), web, queue));
}

TEST_CASE_FIXTURE(fixture, "a request for nothing is placed even where free is negative") {
    add_running(known, "g", 9, "n");
    plan<traits::width> tentative(known.tentative());
    CHECK(tentative.try_place(pod, node, units(0), none, queue));
    CHECK_FALSE(tentative.try_place(pod, node, units(1), none, queue));
}

// ---- the cluster as it will be -----------------------------------------------------------------

/// A full node, two pods on it of which one is on its way out, both with a port.
struct crowded : fixture {
    node_claims web{{{"TCP", "", 80}}};
    node_claims ssh{{{"TCP", "", 22}}};
    pod_index staying;
    pod_index leaving;

    crowded() {
        const auto standing = [&](std::int64_t cpus, const node_claims& claims) {
            auto made = in_phase(pod_phase::running, asking(cpus));
            made.where.claims = claims;
            return made;
        };
        ok(known.upsert_gang("g", gang_of(1, "q")));
        ok(known.upsert_pod("staying", "g", standing(4, web), "n"));
        ok(known.upsert_pod("leaving", "g", standing(2, ssh), "n"));
        ok(known.evict("leaving"));
        staying = known.find_pod("staying")->index;
        leaving = known.find_pod("leaving")->index;
    }
};

TEST_CASE_FIXTURE(crowded, "looking ahead, what leaves is free, with its ports and its quota") {
    const auto before = known.accounts();
    plan<traits::width> tentative(known.tentative());
    CHECK_FALSE(tentative.try_place(pod, node, units(3), ssh, queue));
    tentative.assume_released();
    CHECK(tentative.assumes_released());
    CHECK(known.accounts().free(node) == units(4));
    CHECK(known.accounts().used(queue) == units(4));
    CHECK_FALSE(tentative.try_place(pod, node, units(1), web, queue));
    CHECK(tentative.try_place(pod, node, units(2), ssh, queue));
    tentative.rollback({});
    CHECK(known.accounts() == before);
}

TEST_CASE_FIXTURE(fixture, "where nobody leaves, only who is to come is looked ahead to") {
    const auto before = known.accounts();
    plan<traits::width> tentative(known.tentative());
    tentative.assume_released();
    CHECK_FALSE(tentative.assumes_released());
    tentative.assume_released(true);
    CHECK(tentative.assumes_released());
    CHECK(known.accounts().free(node) == before.free(node));
    tentative.rollback({});
    CHECK_FALSE(tentative.assumes_released());
    CHECK(known.accounts() == before);
}

TEST_CASE_FIXTURE(crowded, "who is told to go makes room at once, until that is undone") {
    const auto before = known.accounts();
    plan<traits::width> tentative(known.tentative());
    const savepoint start = tentative.mark();
    tentative.vacate(staying, node, units(4), web, queue);
    CHECK(tentative.evictions() == std::vector{staying});
    CHECK(known.accounts().free(node) == units(6));
    CHECK(known.accounts().used(queue) == units(2));
    CHECK(tentative.try_place(pod, node, units(4), web, queue));
    tentative.rollback(start);
    CHECK(tentative.evictions().empty());
    CHECK(known.accounts() == before);
    tentative.assume_released();
    tentative.vacate(staying, node, units(4), web, queue);
    CHECK(known.accounts().free(node) == units(8));
    CHECK(known.accounts().used(queue) == units(0));
}

TEST_CASE_FIXTURE(crowded, "what is nominated is kept as the events would leave it") {
    ok(known.upsert_gang("h", gang_of(1, "q")));
    auto waiting = asking(5);
    waiting.where.claims = web;
    ok(known.upsert_pod("h-0", "h", waiting));
    cluster told = known;
    ok(told.evict("staying"));
    ok(told.nominate("h-0", "n"));

    const pod_index newcomer = known.find_pod("h-0")->index;
    plan<traits::width> tentative(known.tentative());
    tentative.assume_released();
    tentative.vacate(staying, node, units(4), web, queue);
    CHECK(tentative.try_place(newcomer, node, units(5), web, queue));
    tentative.commit_nominated();
    CHECK(tentative.size() == 0);
    CHECK(tentative.evictions().empty());
    CHECK(known.accounts() == told.accounts());
    CHECK(known.accounts().present(node) == units(2));
    CHECK(known.accounts().future(node) == units(3));
    CHECK(known.accounts().claims(node).size() == 3);
    CHECK(known.accounts().leaving_claims(node).size() == 2);
}

TEST_CASE_FIXTURE(fixture, "what is kept of a node is there for nobody until that is undone") {
    const auto before = known.accounts();
    plan<traits::width> tentative(known.tentative());
    tentative.keep(node, units(9));
    CHECK(known.accounts().free(node) == units(-1));
    CHECK_FALSE(tentative.try_place(pod, node, units(1), none, queue));
    tentative.rollback({});
    CHECK(known.accounts() == before);
}

} // namespace

} // namespace plan_plan_test
