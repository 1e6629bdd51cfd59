// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <limits>

#include <muster/admission/admit.hpp>

#include "../builders.hpp"

namespace admission_admit_test {

namespace {

using namespace builders;
using namespace muster;

/// Asks one gang; what is admitted is committed.
struct fixture {
    cluster known;
    std::vector<std::string> placed;

    verdict ask(const std::string& gang, std::int64_t steps = budget{}.per_gang) {
        plan<traits::width> tentative(known.tentative());
        const auto weights = weigh(known.accounts(), known.pods_kind());
        const verdict made =
            admit(known, gang_at(known, gang), tentative, weights, best_fit{}, steps);
        placed.clear();
        for (std::size_t at = 0; at < tentative.size(); ++at)
            placed.push_back(known.key(tentative[at].pod));
        if (made.kind == answer::admitted) {
            for (std::size_t at = 0; at < tentative.size(); ++at)
                known.assume(tentative[at].pod, tentative[at].node);
            tentative.commit();
        } else {
            CHECK(placed.empty());
        }
        return made;
    }
};

bool is(const verdict& made, answer kind, gate at) {
    return made.kind == kind && made.at == at;
}

bool proven(const verdict& made, certificate_scope scope) {
    return made.proof && made.proof->scope == scope && !made.proof->vertices.empty();
}

// ---- who may start (rulings 1 to 4) ------------------------------------------------------------

TEST_CASE_FIXTURE(fixture, "a gang starts whole, surplus too") {
    ok(known.upsert_node("n", machine(8)));
    ok(known.upsert_gang("g", gang_of(2)));
    add_members(known, "g", 3, asking(2));
    CHECK(is(ask("g"), answer::admitted, gate::none));
    CHECK(placed == std::vector<std::string>{"g-0", "g-1", "g-2"});
}

TEST_CASE_FIXTURE(fixture, "a gang that does not fit leaves the cluster untouched") {
    ok(known.upsert_node("a", machine(4)));
    ok(known.upsert_node("b", machine(5)));
    ok(known.upsert_queue("q", quota_of(99)));
    add_running(known, "r", 1, "a", "q");
    add_gang(known, "g", 4, 2, "q");
    const auto before = known.accounts();
    CHECK(is(ask("g"), answer::waiting, gate::space));
    CHECK(known.accounts() == before);
}

TEST_CASE_FIXTURE(fixture, "surplus never affects whether the gang fits") {
    ok(known.upsert_node("n", machine(4)));
    ok(known.upsert_gang("g", gang_of(2)));
    add_members(known, "g", 2, asking(2));
    ok(known.upsert_pod("huge", "g", asking(1000)));
    CHECK(ask("g").kind == answer::admitted);
    CHECK(placed == std::vector<std::string>{"g-0", "g-1"});
}

TEST_CASE_FIXTURE(fixture, "gated, failed and leaving members do not make up the minimum") {
    ok(known.upsert_node("n", machine(8)));
    ok(known.upsert_gang("g", gang_of(2)));
    ok(known.upsert_pod("ready", "g", asking(1)));
    const auto second = [&](cluster::pod_type spec) {
        ok(known.upsert_pod("second", "g", spec));
        return ask("g");
    };
    CHECK(is(second(in_phase(pod_phase::gated, asking(1))), answer::waiting, gate::members));
    CHECK(is(second(in_phase(pod_phase::failed, asking(1))), answer::waiting, gate::members));
    cluster::pod_type leaving = asking(1);
    leaving.terminating = true;
    CHECK(is(second(leaving), answer::waiting, gate::members));
    CHECK(is(second(in_phase(pod_phase::succeeded, asking(1))), answer::admitted, gate::none));
    CHECK(placed == std::vector<std::string>{"ready"});
}

TEST_CASE_FIXTURE(fixture, "the gang's minimum and every role's must be alive, one by one") {
    gang_tree tree(3);
    const vertex_index first = tree.add({}, 1);
    const vertex_index second = tree.add({}, 1);
    ok(known.upsert_node("n", machine(8)));
    ok(known.upsert_gang("g", gang_of(tree)));
    ok(known.upsert_pod("a0", "g", in_role(first, asking(1))));
    ok(known.upsert_pod("a1", "g", in_role(first, asking(1))));
    ok(known.upsert_pod("a2", "g", in_role(first, asking(1))));
    CHECK(is(ask("g"), answer::waiting, gate::members));
    ok(known.remove_pod("a2"));
    ok(known.upsert_pod("b0", "g", in_role(second, asking(1))));
    CHECK(ask("g").kind == answer::admitted);
}

TEST_CASE_FIXTURE(fixture, "members of different sizes in one role: those that fit are chosen") {
    ok(known.upsert_node("n", machine(5)));
    ok(known.upsert_gang("g", gang_of(2)));
    ok(known.upsert_pod("a-big", "g", asking(4)));
    ok(known.upsert_pod("b-mid", "g", asking(3)));
    ok(known.upsert_pod("c-small", "g", asking(2)));
    // The two oldest do not fit together; b and c do.
    CHECK(ask("g").kind == answer::admitted);
    CHECK(placed == std::vector<std::string>{"b-mid", "c-small"});
}

TEST_CASE_FIXTURE(fixture, "what best fit cannot place the search does") {
    ok(known.upsert_node("narrow", machine(4)));
    ok(known.upsert_node("wide", machine(7)));
    ok(known.upsert_gang("g", gang_of(3)));
    // Best fit puts a on narrow and b on wide, where c then finds 3 left.
    ok(known.upsert_pod("a", "g", asking(3)));
    ok(known.upsert_pod("b", "g", asking(4)));
    ok(known.upsert_pod("c", "g", asking(4)));
    const verdict made = ask("g");
    CHECK(made.kind == answer::admitted);
    CHECK(made.steps > 0);
    CHECK(node_of(known, "a") == "wide");
    CHECK(free_cpu(known, "narrow") == 0);
    CHECK(free_cpu(known, "wide") == 0);
}

TEST_CASE_FIXTURE(fixture, "subgroups: enough of them start, the others later as a whole") {
    gang_tree tree;
    const vertex_index first = tree.add({}, 2);
    const vertex_index second = tree.add({}, 2);
    tree.require_subgroups({}, 1);
    ok(known.upsert_node("n", machine(3)));
    ok(known.upsert_gang("g", gang_of(tree)));
    for (const char* name : {"a0", "a1"})
        ok(known.upsert_pod(name, "g", in_role(first, asking(1))));
    for (const char* name : {"b0", "b1"})
        ok(known.upsert_pod(name, "g", in_role(second, asking(1))));
    CHECK(ask("g").kind == answer::admitted);
    CHECK(placed == std::vector<std::string>{"a0", "a1"});
    ok(known.upsert_node("n", machine(4)));
    CHECK(ask("g").kind == answer::admitted);
    CHECK(placed == std::vector<std::string>{"b0", "b1"});
}

TEST_CASE_FIXTURE(fixture, "without min_subgroups every subgroup must start") {
    gang_tree tree;
    const vertex_index first = tree.add({}, 1);
    const vertex_index second = tree.add({}, 1);
    ok(known.upsert_node("n", machine(1)));
    ok(known.upsert_gang("g", gang_of(tree)));
    ok(known.upsert_pod("a", "g", in_role(first, asking(1))));
    ok(known.upsert_pod("b", "g", in_role(second, asking(1))));
    CHECK(is(ask("g"), answer::never, gate::space));
}

// ---- a running gang (ruling 5) -----------------------------------------------------------------

TEST_CASE_FIXTURE(fixture, "replacements need only bring a gang back to its minimum") {
    ok(known.upsert_node("n", machine(4)));
    ok(known.upsert_gang("g", gang_of(3)));
    ok(known.upsert_pod("r0", "g", in_phase(pod_phase::running, asking(1)), "n"));
    ok(known.upsert_pod("r1", "g", in_phase(pod_phase::running, asking(1)), "n"));
    ok(known.upsert_pod("r2", "g", in_phase(pod_phase::failed, asking(1)), "n"));
    ok(known.upsert_pod("new", "g", asking(1)));
    CHECK(ask("g").kind == answer::admitted);
    CHECK(placed == std::vector<std::string>{"new"});
}

TEST_CASE_FIXTURE(fixture, "a gang below its minimum keeps what runs while it waits") {
    ok(known.upsert_node("n", machine(2)));
    ok(known.upsert_gang("g", gang_of(3)));
    ok(known.upsert_pod("r0", "g", in_phase(pod_phase::running, asking(1)), "n"));
    ok(known.upsert_pod("r1", "g", in_phase(pod_phase::running, asking(1)), "n"));
    CHECK(is(ask("g"), answer::waiting, gate::members));
    ok(known.upsert_pod("new", "g", asking(1)));
    CHECK(ask("g").kind != answer::admitted);
    CHECK(node_of(known, "r0") == "n");
    CHECK(free_cpu(known, "n") == 0);
}

// ---- the group and its queue (rulings 7, 9, 14) ------------------------------------------------

TEST_CASE_FIXTURE(fixture, "pods of a group that does not exist wait at the group") {
    ok(known.upsert_node("n", machine(4)));
    ok(known.upsert_pod("p", "g", asking(1)));
    const verdict made = ask("g");
    CHECK(is(made, answer::waiting, gate::group));
    CHECK_FALSE(made.proof.has_value());
}

TEST_CASE_FIXTURE(fixture, "a malformed group never starts, members that disagree wait") {
    ok(known.upsert_node("n", machine(4)));
    ok(known.upsert_pod("p", "g", asking(1)));
    cluster::gang_type group = gang_of(1);
    group.fault = gang_fault::malformed;
    ok(known.upsert_gang("g", group));
    CHECK(is(ask("g"), answer::never, gate::group));
    group.fault = gang_fault::disagreement;
    ok(known.upsert_gang("g", group));
    CHECK(is(ask("g"), answer::waiting, gate::group));
    group.fault = gang_fault::none;
    ok(known.upsert_gang("g", group));
    CHECK(ask("g").kind == answer::admitted);
}

TEST_CASE_FIXTURE(fixture, "a gang of an unknown queue waits at the queue") {
    ok(known.upsert_node("n", machine(4)));
    add_gang(known, "g", 1, 1, "q");
    CHECK(is(ask("g"), answer::waiting, gate::queue));
    ok(known.upsert_queue("q", {}));
    CHECK(ask("g").kind == answer::admitted);
}

TEST_CASE_FIXTURE(fixture, "a closed queue takes no new gang, and lets those that hold complete") {
    ok(known.upsert_node("n", machine(8)));
    cluster::queue_type closed;
    closed.closed = true;
    ok(known.upsert_queue("q", closed));
    add_gang(known, "new", 2, 1, "q");
    CHECK(is(ask("new"), answer::waiting, gate::queue));
    ok(known.upsert_gang("old", gang_of(2, "q")));
    ok(known.upsert_pod("old-0", "old", in_phase(pod_phase::running, asking(1)), "n"));
    ok(known.upsert_pod("old-1", "old", asking(1)));
    CHECK(ask("old").kind == answer::admitted);
    CHECK(placed == std::vector<std::string>{"old-1"});
}

TEST_CASE_FIXTURE(fixture,
                  "a queue serves the tenants that it selects; without a selector nobody") {
    ok(known.upsert_node("n", machine(8)));
    cluster::queue_type queue;
    queue.tenants = label_is("team", "a");
    ok(known.upsert_queue("q", queue));
    add_gang(known, "g", 1, 1, "q");
    CHECK(is(ask("g"), answer::waiting, gate::queue));
    cluster::gang_type group = gang_of(1, "q");
    group.tenant = {{"team", "b"}};
    ok(known.upsert_gang("g", group));
    CHECK(is(ask("g"), answer::waiting, gate::queue));
    queue.tenants.reset();
    ok(known.upsert_queue("q", queue));
    group.tenant = {{"team", "a"}};
    ok(known.upsert_gang("g", group));
    CHECK(is(ask("g"), answer::waiting, gate::queue));
    queue.tenants = label_is("team", "a");
    ok(known.upsert_queue("q", queue));
    CHECK(ask("g").kind == answer::admitted);
}

TEST_CASE_FIXTURE(fixture, "a gang that volumes alone hold back is stopped at a gate of its own") {
    ok(known.upsert_node("n", machine(8)));
    ok(known.upsert_gang("g", gang_of(2)));
    cluster::pod_type unready = asking(1);
    unready.where.volume_not_ready = true;
    ok(known.upsert_pod("unready", "g", unready));
    ok(known.upsert_pod("plain", "g", asking(1)));
    CHECK(is(ask("g"), answer::waiting, gate::volumes));
    cluster::pod_type odd = asking(1);
    odd.where.unsupported = true;
    ok(known.upsert_pod("plain", "g", odd));
    CHECK(is(ask("g"), answer::waiting, gate::unsupported));
}

TEST_CASE_FIXTURE(fixture, "what is not modelled waits, unless the others make up the minimum") {
    ok(known.upsert_node("n", machine(8)));
    ok(known.upsert_gang("g", gang_of(2)));
    cluster::pod_type odd = asking(1);
    odd.where.unsupported = true;
    ok(known.upsert_pod("odd", "g", odd));
    ok(known.upsert_pod("plain", "g", asking(1)));
    CHECK(is(ask("g"), answer::waiting, gate::unsupported));
    ok(known.upsert_pod("another", "g", asking(1)));
    CHECK(ask("g").kind == answer::admitted);
    CHECK(placed == std::vector<std::string>{"another", "plain"});
    CHECK(node_of(known, "odd").empty());
}

TEST_CASE_FIXTURE(fixture, "what keeps a member from nodes for a time never proves never") {
    ok(known.upsert_node("n", machine(4)));
    ok(known.upsert_gang("g", gang_of(2)));
    cluster::pod_type unready = asking(1);
    unready.where.volume_not_ready = true;
    ok(known.upsert_pod("unready", "g", unready));
    ok(known.upsert_pod("plain", "g", asking(1)));
    cluster::pod_type elsewhere = asking(1);
    elsewhere.where.selector = label_is("zone", "b");
    ok(known.upsert_pod("elsewhere", "g", elsewhere));
    const verdict made = ask("g");
    CHECK(is(made, answer::waiting, gate::space));
    CHECK(made.could_start);
    // Even so no node has the label.
    ok(known.upsert_gang("g", gang_of(3)));
    CHECK(is(ask("g"), answer::waiting, gate::volumes));
    ok(known.upsert_pod("fourth", "g", elsewhere));
    const verdict never = ask("g");
    CHECK(is(never, answer::never, gate::space));
    CHECK(proven(never, certificate_scope::empty_cluster));
}

// ---- quota (ruling 14) -------------------------------------------------------------------------

TEST_CASE_FIXTURE(fixture, "over quota is waiting at the quota, with a proof") {
    ok(known.upsert_node("n", machine(99)));
    ok(known.upsert_queue("q", quota_of(5)));
    add_running(known, "r", 4, "n", "q");
    add_gang(known, "g", 1, 2, "q");
    const verdict made = ask("g");
    CHECK(is(made, answer::waiting, gate::quota));
    CHECK(made.could_start);
    CHECK(proven(made, certificate_scope::free_now));
}

TEST_CASE_FIXTURE(fixture, "the quota is named before the space when either would stop it") {
    ok(known.upsert_node("n", machine(4)));
    ok(known.upsert_queue("q", quota_of(4)));
    add_running(known, "r", 4, "n", "q");
    add_gang(known, "g", 2, 2, "q");
    CHECK(is(ask("g"), answer::waiting, gate::quota));
}

TEST_CASE_FIXTURE(fixture, "a quota that is smaller than the gang, or 0, is never") {
    ok(known.upsert_node("n", machine(99)));
    ok(known.upsert_queue("q", quota_of(5)));
    add_gang(known, "g", 3, 2, "q");
    const verdict made = ask("g");
    CHECK(is(made, answer::never, gate::quota));
    CHECK(proven(made, certificate_scope::empty_cluster));
    ok(known.upsert_queue("q", quota_of(0)));
    CHECK(is(ask("g"), answer::never, gate::quota));
    ok(known.upsert_queue("q", quota_of(6)));
    CHECK(ask("g").kind == answer::admitted);
}

TEST_CASE_FIXTURE(fixture, "a kind that the quota does not name is unlimited") {
    ok(known.upsert_node("n", machine(8, 8)));
    ok(known.upsert_queue("q", quota_of(1)));
    ok(known.upsert_gang("g", gang_of(1, "q")));
    ok(known.upsert_pod("p", "g", asking(1, 8)));
    CHECK(ask("g").kind == answer::admitted);
}

TEST_CASE_FIXTURE(fixture, "surplus stays within the quota") {
    ok(known.upsert_node("n", machine(99)));
    ok(known.upsert_queue("q", quota_of(5)));
    ok(known.upsert_gang("g", gang_of(1, "q")));
    add_members(known, "g", 4, asking(2));
    CHECK(ask("g").kind == answer::admitted);
    CHECK(placed.size() == 2);
    CHECK(used_cpu(known, "q") == 4);
}

TEST_CASE_FIXTURE(fixture,
                  "over its quota a queue still starts who asks nothing of what is short") {
    ok(known.upsert_node("n", machine(8, 1)));
    ok(known.upsert_queue("q", quota_of(4)));
    add_running(known, "r", 4, "n", "q");
    ok(known.upsert_queue("q", quota_of(2)));
    ok(known.upsert_gang("g", gang_of(1, "q")));
    ok(known.upsert_pod("p", "g", asking(0, 1)));
    CHECK(ask("g").kind == answer::admitted);
}

// ---- the four answers --------------------------------------------------------------------------

TEST_CASE_FIXTURE(fixture, "waiting when the emptied cluster would hold it, never when not") {
    ok(known.upsert_node("n", machine(4)));
    add_running(known, "r", 3, "n");
    add_gang(known, "later", 2, 2);
    const verdict waiting = ask("later");
    CHECK(is(waiting, answer::waiting, gate::space));
    CHECK(waiting.could_start);
    CHECK(proven(waiting, certificate_scope::free_now));
    add_gang(known, "never", 3, 2);
    const verdict never = ask("never");
    CHECK(is(never, answer::never, gate::space));
    CHECK_FALSE(never.could_start);
    CHECK(proven(never, certificate_scope::empty_cluster));
}

TEST_CASE_FIXTURE(fixture, "a cordon or a condition's taint is waiting, any other taint is never") {
    cluster::node_type node = machine(4);
    node.unschedulable = true;
    ok(known.upsert_node("n", node));
    add_gang(known, "g", 1, 2);
    CHECK(is(ask("g"), answer::waiting, gate::space));
    node.unschedulable = false;
    node.taints = {{"node.kubernetes.io/not-ready", "", taint_effect::no_execute}};
    ok(known.upsert_node("n", node));
    CHECK(is(ask("g"), answer::waiting, gate::space));
    node.taints = {{"dedicated", "", taint_effect::no_schedule}};
    ok(known.upsert_node("n", node));
    CHECK(is(ask("g"), answer::never, gate::space));
    node.taints.front().effect = taint_effect::prefer_no_schedule;
    ok(known.upsert_node("n", node));
    CHECK(ask("g").kind == answer::admitted);
}

TEST_CASE_FIXTURE(fixture, "in an empty cluster a gang that asks for anything can never start") {
    add_gang(known, "g", 1, 1);
    CHECK(is(ask("g"), answer::never, gate::space));
}

TEST_CASE_FIXTURE(fixture, "when the budget ends first, the answer is undecided and has no proof") {
    for (const char* key : {"a", "b", "c"})
        ok(known.upsert_node(key, machine(7)));
    // 20 of 21 are asked for, and no minimum fails alone: it takes steps to see that a node
    // with a large one takes one small one only.
    gang_tree tree;
    const vertex_index small = tree.add({}, 4);
    const vertex_index large = tree.add({}, 3);
    ok(known.upsert_gang("g", gang_of(tree)));
    for (const char* name : {"s0", "s1", "s2", "s3"})
        ok(known.upsert_pod(name, "g", in_role(small, asking(2))));
    for (const char* name : {"l0", "l1", "l2"})
        ok(known.upsert_pod(name, "g", in_role(large, asking(4))));
    const verdict spent = ask("g", 1);
    CHECK(is(spent, answer::undecided, gate::space));
    CHECK_FALSE(spent.proof.has_value());
    const verdict decided = ask("g");
    CHECK(is(decided, answer::never, gate::space));
    CHECK(proven(decided, certificate_scope::empty_cluster));
}

TEST_CASE_FIXTURE(fixture, "no certificate comes with an answer that no search gave") {
    ok(known.upsert_node("n", machine(4)));
    ok(known.upsert_gang("few", gang_of(2)));
    ok(known.upsert_pod("few-0", "few", asking(1)));
    add_gang(known, "no-queue", 1, 1, "q");
    add_gang(known, "fits", 1, 1);
    for (const char* gang : {"few", "no-queue", "fits"}) {
        const verdict made = ask(gang);
        CHECK_FALSE(made.proof.has_value());
        CHECK(made.steps == 0);
    }
}

// ---- the edges of the numbers ------------------------------------------------------------------

TEST_CASE_FIXTURE(fixture, "nothing is placed on a node that is short of what is asked") {
    ok(known.upsert_node("n", machine(8, 1)));
    add_running(known, "r", 6, "n");
    ok(known.upsert_node("n", machine(4, 1)));
    add_gang(known, "g", 1, 1);
    CHECK(is(ask("g"), answer::waiting, gate::space));
    ok(known.upsert_gang("h", gang_of(1)));
    ok(known.upsert_pod("h-0", "h", asking(0, 1)));
    CHECK(ask("h").kind == answer::admitted);
}

TEST_CASE_FIXTURE(fixture, "the largest request never fits, and overflows nothing") {
    constexpr auto top = std::numeric_limits<std::int64_t>::max();
    ok(known.upsert_node("n", machine(largest_allocatable)));
    ok(known.upsert_queue("q", quota_of(top)));
    add_gang(known, "g", 3, top, "q");
    CHECK(ask("g").kind == answer::never);
}

TEST_CASE_FIXTURE(fixture, "a start that its queue's account cannot hold is no start") {
    constexpr auto top = std::numeric_limits<std::int64_t>::max();
    ok(known.upsert_node("n", machine(4)));
    ok(known.upsert_queue("q", {}));
    add_running(known, "r", top, "elsewhere", "q");
    add_gang(known, "g", 1, 2, "q");
    const auto before = known.accounts();
    CHECK(ask("g").kind != answer::admitted);
    CHECK(known.accounts() == before);
}

TEST_CASE_FIXTURE(fixture, "a member that asks for nothing needs a node all the same") {
    add_gang(known, "g", 1, 0);
    CHECK(is(ask("g"), answer::never, gate::space));
    ok(known.upsert_node("n", machine(0)));
    CHECK(ask("g").kind == answer::admitted);
}

} // namespace

} // namespace admission_admit_test
