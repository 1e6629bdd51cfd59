// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/problem/fit_problem.hpp>

#include "../builders.hpp"

namespace problem_fit_problem_test {

namespace {

using namespace builders;
using namespace muster;

struct fixture {
    cluster known;

    fit_problem<traits::width> posed(const std::string& gang,
                                     certificate_scope scope = certificate_scope::free_now,
                                     const constraints_in_force& force = {}) {
        const gang_index which = gang_at(known, gang);
        // The tree belongs to the state, so the problem may outlive the members.
        return pose(known, members_of(known, which), scope, force);
    }
    std::string rows(const fit_problem<traits::width>& of) {
        std::string out;
        for (const auto& row : of.rows)
            out += known.key(row.node) + " ";
        return out;
    }
};

TEST_CASE_FIXTURE(fixture, "only nodes that can take somebody are in the problem, in key order") {
    ok(known.upsert_node("c", machine(9)));
    ok(known.upsert_node("a", machine(4)));
    ok(known.upsert_node("b", machine(1)));
    add_gang(known, "g", 3, 2);
    const auto problem = posed("g");
    CHECK(rows(problem) == "a c ");
    CHECK(problem.most == detail::sequence<std::int64_t>{2, 3});
}

TEST_CASE_FIXTURE(fixture, "emptied, nodes are whole and cordons and condition taints are lifted") {
    cluster::node_type node = machine(4);
    node.unschedulable = true;
    node.taints.push_back({"node.kubernetes.io/not-ready", "", taint_effect::no_execute});
    ok(known.upsert_node("a", node));
    ok(known.upsert_node("b", machine(4)));
    node = machine(4);
    node.taints.push_back({"mine", "", taint_effect::no_schedule});
    ok(known.upsert_node("c", node));
    add_running(known, "r", 4, "b");
    add_gang(known, "g", 1, 2);
    CHECK(rows(posed("g")).empty());
    CHECK(rows(posed("g", certificate_scope::empty_cluster)) == "a b ");
}

TEST_CASE_FIXTURE(fixture,
                  "the quota leaves what its queue does not use, and no less than nothing") {
    ok(known.upsert_node("n", machine(9)));
    ok(known.upsert_queue("q", quota_of(5)));
    add_running(known, "r", 3, "n", "q");
    add_gang(known, "g", 1, 1, "q");
    auto problem = posed("g");
    CHECK(problem.quotas.size() == 1);
    CHECK(problem.quotas.front().left == 2);
    CHECK(posed("g", certificate_scope::empty_cluster).quotas.front().left == 5);
    ok(known.upsert_queue("q", quota_of(1)));
    CHECK(posed("g").quotas.front().left == 0);
}

TEST_CASE_FIXTURE(fixture, "a quota of what nobody asks for is not in the problem, one of 0 is") {
    ok(known.upsert_queue("q", quota_of(0)));
    add_gang(known, "g", 1, 1, "q");
    ok(known.upsert_gang("h", gang_of(1, "q")));
    ok(known.upsert_pod("h-0", "h", asking(0, 1)));
    CHECK(posed("g").quotas.size() == 1);
    CHECK(posed("h").quotas.empty());
}

TEST_CASE_FIXTURE(fixture, "members that claim one port stand one to a node") {
    ok(known.upsert_node("a", machine(9)));
    ok(known.upsert_node("b", machine(9)));
    ok(known.upsert_gang("g", gang_of(2)));
    cluster::pod_type web = asking(1);
    web.where.claims.ports.push_back({"TCP", "", 80});
    add_members(known, "g", 3, web);
    CHECK(posed("g").most == detail::sequence<std::int64_t>{1, 1});
    ok(known.upsert_gang("r", gang_of(1)));
    ok(known.upsert_pod("r-0", "r", in_phase(pod_phase::running, web), "a"));
    CHECK(rows(posed("g")) == "b ");
    CHECK(rows(posed("g", certificate_scope::empty_cluster)) == "a b ");
}

TEST_CASE_FIXTURE(fixture, "a queue's own node selector counts as the pod's") {
    cluster::node_type node = machine(4);
    node.labels = {{"pool", "q"}};
    ok(known.upsert_node("mine", node));
    ok(known.upsert_node("other", machine(4)));
    cluster::queue_type queue;
    queue.nodes = label_is("pool", "q");
    ok(known.upsert_queue("q", queue));
    add_gang(known, "g", 1, 1, "q");
    CHECK(rows(posed("g")) == "mine ");
}

TEST_CASE_FIXTURE(fixture, "constraints that are not in force are as if they were not there") {
    cluster::node_type node = machine(1);
    node.unschedulable = true;
    node.taints.push_back({"mine", "", taint_effect::no_schedule});
    ok(known.upsert_node("n", node));
    ok(known.upsert_queue("q", quota_of(0)));
    ok(known.upsert_gang("g", gang_of(1, "q")));
    cluster::pod_type pod = asking(5);
    pod.where.selector = label_is("zone", "a");
    ok(known.upsert_pod("p", "g", pod));
    const auto none = constraints_in_force::none();
    const auto free = posed("g", certificate_scope::free_now, none);
    CHECK(rows(free) == "n ");
    CHECK(free.quotas.empty());
    for (bool constraints_in_force::*each :
         {&constraints_in_force::selector, &constraints_in_force::taints,
          &constraints_in_force::cordon}) {
        auto one = none;
        one.*each = true;
        CHECK(rows(posed("g", certificate_scope::free_now, one)).empty());
    }
    auto cpus = none;
    cpus.resources = 1;
    CHECK(rows(posed("g", certificate_scope::free_now, cpus)).empty());
}

TEST_CASE_FIXTURE(fixture, "an absent node is no place under any relaxation") {
    ok(known.upsert_node("n", machine(4)));
    ok(known.remove_node("n"));
    add_gang(known, "g", 1, 0);
    CHECK(rows(posed("g", certificate_scope::empty_cluster, constraints_in_force::none())).empty());
}

} // namespace

} // namespace problem_fit_problem_test
