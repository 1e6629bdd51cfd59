// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/cycle/cycle.hpp>

#include "../builders.hpp"
#include "evicting.hpp"

namespace preempt_evictions_test {

namespace {

using namespace builders;
using namespace evicting_clusters;
using namespace muster;

const auto t9k = evicting(t9k_preemption{});
const auto t9k_inside = evicting(t9k_preemption{true});
const auto by_priority = evicting(priority_preemption{true});
const auto reclaim = evicting(reclaim_above_deserved{});

cluster::queue_type queue_of(std::int64_t priority, std::int64_t quota = 1000) {
    auto made = quota_of(quota);
    made.priority = priority;
    return made;
}

cluster::gang_type ranked(std::int64_t min_member, std::string queue, std::int64_t priority,
                          std::int64_t created = 0) {
    auto made = gang_of(min_member, std::move(queue));
    made.priority = priority;
    made.created = created;
    return made;
}

/// `count` running members of the gang, on `node`.
void run(cluster& to, const std::string& gang, int count, std::int64_t cpus,
         const std::string& node, int first = 0) {
    for (int at = first; at < first + count; ++at) {
        auto pod = in_phase(pod_phase::running, asking(cpus));
        pod.created = at;
        ok(to.upsert_pod(gang + "-" + std::to_string(at), gang, pod, node));
    }
}

/// All who were told to go are gone.
void let_go(cluster& known) {
    keys gone;
    for (const auto& [key, pod] : known.pod_keys())
        if (known[pod].evicted)
            gone.push_back(key);
    for (const std::string& key : gone)
        ok(known.remove_pod(key));
}

bool nominated(const cluster& known, const std::string& gang) {
    return known[gang_at(known, gang)].nominated > 0;
}

/// What all evictions together would leave the gang short of, as the cycle said.
std::optional<eviction_shortage> shortage(const cluster& known, const cycle_result& result,
                                          const std::string& gang) {
    for (const decision& made : result.decisions)
        if (known.key(made.gang) == gang)
            return made.short_after_evictions;
    return std::nullopt;
}

// ---- the T9k scheduler -------------------------------------------------------------------------

/// Four queues on 300 cpus: A and B of priority 1, C and D of priority 2.
cluster four_queues() {
    cluster known;
    ok(known.upsert_node("n", machine(300)));
    ok(known.upsert_queue("A", queue_of(1, 200)));
    ok(known.upsert_queue("B", queue_of(1, 100)));
    ok(known.upsert_queue("C", queue_of(2, 50)));
    ok(known.upsert_queue("D", queue_of(2, 200)));
    const auto add = [&](const std::string& name, std::int64_t priority) {
        ok(known.upsert_gang(name, ranked(1, name.substr(0, 1), priority)));
        run(known, name, 1, 50, "n");
    };
    add("A1", 2);
    add("A2", 2);
    add("A3", 1);
    add("B1", 0);
    add("C1", 0);
    add("D1", 0);
    return known;
}

TEST_CASE("T9k: a pod does not preempt a queue of its own priority") {
    cluster known = four_queues();
    add_gang(known, "B2", 1, 50, "B");
    CHECK(evicted(known, t9k).empty());
    CHECK(is(answered(known, "B2"), answer::waiting, gate::space));
}

TEST_CASE("T9k: of four queues, one is full, one over its quota, and one preempts A3") {
    cluster known = four_queues();
    // Of all pods that D2 may preempt A3 has the lowest priority.
    ok(known.upsert_gang("B1", ranked(1, "B", 2)));
    add_gang(known, "B2", 1, 50, "B");
    CHECK(evicted(known, t9k).empty());
    add_gang(known, "C2", 1, 50, "C");
    CHECK(evicted(known, t9k).empty());
    add_gang(known, "D2", 1, 50, "D");
    CHECK(evicted(known, t9k) == keys{"A3-0"});
    let_go(known);
    static_cast<void>(cycle(known, 0, t9k));
    CHECK(node_of(known, "D2-0") == "n");
    CHECK(is(answered(known, "B2"), answer::waiting, gate::space));
    CHECK(is(answered(known, "C2"), answer::waiting, gate::quota));
}

TEST_CASE("a gang that may not preempt waits for room that is there") {
    cluster known = four_queues();
    auto patient = ranked(1, "D", 0);
    patient.may_preempt = false;
    ok(known.upsert_gang("D2", patient));
    ok(known.upsert_pod("D2-0", "D2", asking(50)));
    CHECK(evicted(known, t9k).empty());
    CHECK(is(answered(known, "D2"), answer::waiting, gate::space));
    ok(known.remove_pod("B1-0"));
    static_cast<void>(cycle(known, 0, t9k));
    CHECK(node_of(known, "D2-0") == "n");
}

TEST_CASE("T9k: a pod over its own queue's quota preempts nobody") {
    cluster known = four_queues();
    add_gang(known, "C2", 1, 50, "C");
    CHECK(evicted(known, t9k).empty());
    CHECK(answered(known, "C2").at == gate::quota);
}

TEST_CASE("T9k: of the queues of lower priority the pod of lowest priority goes") {
    cluster known = four_queues();
    // B1 has a lower priority than A3, but is as good as it: ties are broken by priority.
    ok(known.upsert_gang("B1", ranked(1, "B", 2)));
    add_gang(known, "D2", 1, 50, "D");
    CHECK(evicted(known, t9k) == keys{"A3-0"});
    CHECK(is(answered(known, "D2"), answer::admitted));
    CHECK(nominated(known, "D2"));
    let_go(known);
    CHECK(cycle(known, 1, t9k).counters.pods_placed == 1);
    CHECK(node_of(known, "D2-0") == "n");
    CHECK_FALSE(nominated(known, "D2"));
}

TEST_CASE("T9k: a queue that is not preemptible keeps what it has") {
    cluster known = four_queues();
    auto closed = queue_of(1, 200);
    closed.preemptible = false;
    ok(known.upsert_queue("A", closed));
    add_gang(known, "D2", 1, 50, "D");
    CHECK(evicted(known, t9k) == keys{"B1-0"});
}

TEST_CASE("T9k: inside a queue nobody is preempted unless the flag says so") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    ok(known.upsert_queue("q", queue_of(1)));
    ok(known.upsert_gang("low", ranked(1, "q", 0)));
    run(known, "low", 1, 8, "n");
    ok(known.upsert_gang("high", ranked(1, "q", 5)));
    add_members(known, "high", 1, asking(8));
    SUBCASE("without") {
        CHECK(evicted(known, t9k).empty());
        CHECK(is(answered(known, "high"), answer::waiting, gate::space));
    }
    SUBCASE("with") {
        CHECK(evicted(known, t9k_inside) == keys{"low-0"});
    }
}

TEST_CASE("T9k: inside a queue the preemptor takes its victims' part of the quota") {
    cluster known;
    ok(known.upsert_node("n", machine(100)));
    ok(known.upsert_queue("q", queue_of(1, 8)));
    ok(known.upsert_gang("low", ranked(1, "q", 0)));
    run(known, "low", 1, 8, "n");
    ok(known.upsert_gang("high", ranked(1, "q", 5)));
    add_members(known, "high", 1, asking(6));
    CHECK(evicted(known, t9k_inside) == keys{"low-0"});
    CHECK(used_cpu(known, "q") == 8);
    CHECK(cycle(known, 1, t9k_inside).counters.pods_placed == 0);
    let_go(known);
    CHECK(cycle(known, 2, t9k_inside).counters.pods_placed == 1);
    CHECK(used_cpu(known, "q") == 6);
}

// ---- victims -----------------------------------------------------------------------------------

TEST_CASE("a gang that fits whole after evictions starts, and one that does not evicts nobody") {
    cluster known = machines(2);
    ok(known.upsert_gang("old", ranked(1, "low", 0)));
    run(known, "old", 1, 8, "n0");
    ok(known.upsert_gang("kept", ranked(1, "high", 0)));
    run(known, "kept", 1, 8, "n1");
    ok(known.upsert_gang("new", ranked(2, "high", 0)));
    add_members(known, "new", 2, asking(8));
    CHECK(evicted(known, t9k).empty());
    CHECK(is(answered(known, "new"), answer::waiting, gate::space));
    ok(known.upsert_gang("new", ranked(1, "high", 0)));
    CHECK(evicted(known, t9k) == keys{"old-0"});
    CHECK(node_of(known, "new-0") == "n0");
}

TEST_CASE("members beyond the minimum go before a gang is broken") {
    cluster known = machines(2);
    ok(known.upsert_gang("elastic", ranked(1, "low", 0)));
    run(known, "elastic", 4, 2, "n0");
    ok(known.upsert_gang("rigid", ranked(4, "low", 0)));
    run(known, "rigid", 4, 2, "n1");
    ok(known.upsert_gang("new", ranked(1, "high", 0)));
    add_members(known, "new", 1, asking(6));
    // Newest first, and of the gang one member stays.
    CHECK(evicted(known, t9k) == keys{"elastic-1", "elastic-2", "elastic-3"});
}

TEST_CASE("no role of a gang that stays falls below its own minimum") {
    cluster known = machines(1);
    gang_tree roles(2);
    const auto server = roles.add(vertex_index{0}, 1, "server");
    const auto worker = roles.add(vertex_index{0}, 1, "worker");
    ok(known.upsert_gang("old", gang_of(roles, "low")));
    auto one = in_phase(pod_phase::running, in_role(server, asking(2)));
    one.created = 9;
    ok(known.upsert_pod("server", "old", one, "n0"));
    for (const char* name : {"worker-0", "worker-1", "worker-2"})
        ok(known.upsert_pod(name, "old", in_phase(pod_phase::running, in_role(worker, asking(2))),
                            "n0"));
    ok(known.upsert_gang("new", ranked(1, "high", 0)));
    add_members(known, "new", 1, asking(4));
    CHECK(evicted(known, t9k) == keys{"worker-0", "worker-1"});
    let_go(known);
    CHECK(cycle(known, 1, t9k).counters.pods_placed == 1);
    add_gang(known, "next", 1, 2, "high");
    // The server is newest, yet without it nobody may stay.
    CHECK(evicted(known, t9k) == keys{"server", "worker-2"});
}

TEST_CASE("a gang that cannot spare anybody goes whole") {
    cluster known = machines(2);
    ok(known.upsert_gang("old", ranked(2, "low", 0)));
    run(known, "old", 1, 8, "n0");
    run(known, "old", 1, 8, "n1", 1);
    ok(known.upsert_gang("new", ranked(1, "high", 0)));
    add_members(known, "new", 1, asking(1));
    CHECK(evicted(known, t9k) == keys{"old-0", "old-1"});
}

TEST_CASE("the fewest gangs are broken, then the fewest pods go, then the newest") {
    cluster known = machines(3);
    ok(known.upsert_gang("pair", ranked(2, "low", 0, 5)));
    run(known, "pair", 2, 4, "n0");
    ok(known.upsert_gang("half-a", ranked(1, "low", 0, 9)));
    run(known, "half-a", 1, 4, "n1");
    ok(known.upsert_gang("half-b", ranked(1, "low", 0, 9)));
    run(known, "half-b", 1, 4, "n1");
    ok(known.upsert_gang("one", ranked(1, "low", 0, 1)));
    run(known, "one", 1, 8, "n2");
    ok(known.upsert_gang("new", ranked(1, "high", 0)));
    add_members(known, "new", 1, asking(8));
    SUBCASE("one pod of one gang") {
        CHECK(evicted(known, t9k) == keys{"one-0"});
    }
    SUBCASE("two pods of one gang") {
        ok(known.upsert_queue("other", queue_of(2)));
        ok(known.upsert_gang("one", ranked(1, "other", 0, 1)));
        CHECK(evicted(known, t9k) == keys{"pair-0", "pair-1"});
    }
    SUBCASE("the newest of two") {
        ok(known.upsert_gang("half-a", ranked(1, "low", 0, 2)));
        ok(known.upsert_gang("new", ranked(1, "high", 0)));
        ok(known.remove_pod("new-0"));
        ok(known.upsert_pod("new-0", "new", asking(4)));
        CHECK(evicted(known, t9k) == keys{"half-b-0"});
    }
}

TEST_CASE("a higher priority is never hit where lower ones are enough") {
    cluster known = machines(2);
    ok(known.upsert_gang("dear", ranked(1, "low", 7)));
    run(known, "dear", 1, 8, "n0");
    for (int at = 0; at < 8; ++at) {
        const std::string name = "cheap" + std::to_string(at);
        ok(known.upsert_gang(name, ranked(1, "low", 1)));
        run(known, name, 1, 1, "n1");
    }
    ok(known.upsert_gang("new", ranked(1, "high", 0)));
    add_members(known, "new", 1, asking(8));
    CHECK(evicted(known, t9k).size() == 8);
    CHECK_FALSE(known[known.find_pod("dear-0")->index].evicted);
}

TEST_CASE("room that others are leaving already is used before anybody is evicted") {
    cluster known = machines(2);
    for (const char* node : {"n0", "n1"}) {
        ok(known.upsert_gang(std::string("old") + node, ranked(1, "low", 0)));
        run(known, std::string("old") + node, 1, 8, node);
    }
    ok(known.evict("oldn1-0"));
    ok(known.upsert_gang("new", ranked(1, "high", 0)));
    add_members(known, "new", 1, asking(8));
    const cycle_result result = cycle(known, 0, t9k);
    CHECK(result.counters.pods_evicted == 0);
    CHECK(result.counters.pods_nominated == 1);
    CHECK(node_of(known, "new-0") == "n1");
}

TEST_CASE(
    "who waits for the room of others is evicted for nobody, and neither is who came just now") {
    cluster known = machines(1);
    ok(known.upsert_gang("first", ranked(1, "low", 0)));
    add_members(known, "first", 1, asking(8));
    static_cast<void>(cycle(known, 0, t9k));
    CHECK(known[known.find_pod("first-0")->index].assumed);
    ok(known.upsert_gang("new", ranked(1, "high", 0)));
    add_members(known, "new", 1, asking(8));
    CHECK(evicted(known, t9k).empty());
    ok(known.confirm_bound("first-0"));
    CHECK(evicted(known, t9k) == keys{"first-0"});
}

TEST_CASE("a cycle on an unchanged cluster evicts nobody more") {
    cluster known = four_queues();
    add_gang(known, "D2", 1, 50, "D");
    CHECK(evicted(known, t9k).size() == 1);
    const auto accounts = known.accounts();
    for (int again = 1; again < 5; ++again)
        CHECK(evicted(known, t9k, again).empty());
    CHECK(known.accounts() == accounts);
    CHECK(known.at_rest());
}

TEST_CASE("who was evicted and comes back does not get its room back from who came after it") {
    cluster known = four_queues();
    add_gang(known, "D2", 1, 50, "D");
    CHECK(evicted(known, t9k).size() == 1);
    let_go(known);
    add_members(known, "B1", 1, asking(50));
    for (int again = 1; again < 5; ++again)
        CHECK(evicted(known, t9k, again).empty());
    CHECK(known[known.find_pod("D2-0")->index].assumed);
}

TEST_CASE("a gang that may be spared so many only loses no more at a time") {
    cluster known = machines(1);
    auto guarded = ranked(1, "low", 0);
    guarded.max_disrupted = 2;
    ok(known.upsert_gang("old", guarded));
    run(known, "old", 8, 1, "n0");
    ok(known.upsert_gang("new", ranked(1, "high", 0)));
    add_members(known, "new", 1, asking(3));
    CHECK(evicted(known, t9k).empty());
    ok(known.remove_pod("new-0"));
    ok(known.upsert_pod("new-0", "new", asking(2)));
    CHECK(evicted(known, t9k).size() == 2);
    add_gang(known, "next", 1, 1, "high");
    CHECK(evicted(known, t9k).empty());
}

TEST_CASE("a gang that is not preemptible is spared") {
    cluster known = machines(1);
    auto fixed = ranked(1, "low", 0);
    fixed.preemptible = false;
    ok(known.upsert_gang("old", fixed));
    run(known, "old", 1, 8, "n0");
    ok(known.upsert_gang("new", ranked(1, "high", 0)));
    add_members(known, "new", 1, asking(1));
    CHECK(evicted(known, t9k).empty());
}

TEST_CASE("a gang whose victims' constraints are not modelled evicts them all the same") {
    cluster known = machines(1);
    ok(known.upsert_gang("old", ranked(1, "low", 0)));
    auto odd = in_phase(pod_phase::running, asking(8));
    odd.where.unsupported = true;
    ok(known.upsert_pod("old-0", "old", odd, "n0"));
    ok(known.upsert_gang("new", ranked(1, "high", 0)));
    add_members(known, "new", 1, asking(1));
    CHECK(evicted(known, t9k) == keys{"old-0"});
}

TEST_CASE("gangs of several roles and of pods with ports find room among victims too") {
    cluster known = machines(2);
    for (int at = 0; at < 2; ++at) {
        const std::string name = "old" + std::to_string(at);
        ok(known.upsert_gang(name, ranked(1, "low", 0)));
        auto pod = in_phase(pod_phase::running, asking(4));
        pod.where.claims.ports.push_back({"TCP", "", 80});
        ok(known.upsert_pod(name + "-0", name, pod, "n" + std::to_string(at)));
    }
    gang_tree roles(2);
    const auto server = roles.add(vertex_index{0}, 1, "server");
    const auto worker = roles.add(vertex_index{0}, 1, "worker");
    ok(known.upsert_gang("new", gang_of(roles, "high")));
    auto listening = in_role(server, asking(3));
    listening.where.claims.ports.push_back({"TCP", "", 80});
    ok(known.upsert_pod("new-0", "new", listening));
    ok(known.upsert_pod("new-1", "new", in_role(worker, asking(4))));
    CHECK(evicted(known, t9k).size() == 1);
    CHECK(nominated(known, "new"));
    let_go(known);
    CHECK(cycle(known, 1, t9k).counters.pods_placed == 2);
}

TEST_CASE("a refusal says of what there is too little even with all gone that may go") {
    cluster known = machines(2);
    ok(known.upsert_gang("old", ranked(1, "low", 0)));
    run(known, "old", 1, 8, "n0");
    ok(known.upsert_gang("kept", ranked(1, "high", 0)));
    run(known, "kept", 1, 6, "n1");
    ok(known.upsert_gang("new", ranked(2, "high", 0)));
    add_members(known, "new", 2, asking(8));
    cycle_result result = cycle(known, 0, t9k);
    CHECK(shortage(known, result, "new") == eviction_shortage{cpu, 16, 10});
    ok(known.upsert_gang("new", ranked(2, "high", 0)));
    for (const char* name : {"new-0", "new-1"}) {
        ok(known.remove_pod(name));
        ok(known.upsert_pod(name, "new", asking(5)));
    }
    result = cycle(known, 0, t9k, {}, {true});
    CHECK(shortage(known, result, "new") == eviction_shortage{std::nullopt, 2, 1});
}

// ---- other rules -------------------------------------------------------------------------------

TEST_CASE("by priority: lower gangs of any queue go, lowest first") {
    cluster known = machines(2);
    ok(known.upsert_gang("five", ranked(1, "high", 5)));
    run(known, "five", 1, 8, "n0");
    ok(known.upsert_gang("three", ranked(1, "low", 3)));
    run(known, "three", 1, 8, "n1");
    ok(known.upsert_gang("new", ranked(1, "low", 4)));
    add_members(known, "new", 1, asking(8));
    CHECK(evicted(known, by_priority) == keys{"three-0"});
    CHECK(evicted(known, evicting(priority_preemption{})).empty());
}

TEST_CASE("by priority: a gang that was refused before is refused by sums, without a search") {
    cluster known = machines(2);
    for (const int priority : {5, 0}) {
        const std::string name = "old-" + std::to_string(priority);
        ok(known.upsert_gang(name, ranked(1, "low", priority)));
        run(known, name, 1, 8, priority == 0 ? "n0" : "n1");
    }
    ok(known.upsert_gang("new", ranked(2, "low", 4)));
    add_members(known, "new", 2, asking(5));
    const cycle_result first = cycle(known, 0, by_priority);
    CHECK(first.counters.search_steps > 0);
    CHECK(shortage(known, first, "new") == eviction_shortage{std::nullopt, 2, 1});
    ok(known.remove_pod("old-0-0"));
    run(known, "old-0", 1, 8, "n0");
    const cycle_result second = cycle(known, 1, by_priority);
    CHECK(second.counters.asked == 1);
    CHECK(second.counters.search_steps == 0);
}

cluster::queue_type deserving(std::int64_t cpus) {
    cluster::queue_type made;
    made.deserved.set(cpu, cpus);
    return made;
}

/// Ten single pods of queue "rich" that hold all 10 cpus, which deserves `deserved` of them.
cluster borrowed(std::int64_t deserved) {
    cluster known;
    ok(known.upsert_node("n", machine(10)));
    ok(known.upsert_queue("rich", deserving(deserved)));
    ok(known.upsert_queue("poor", deserving(5)));
    for (int at = 0; at < 10; ++at) {
        const std::string name = "r" + std::to_string(at);
        ok(known.upsert_gang(name, ranked(1, "rich", 0, at)));
        run(known, name, 1, 1, "n");
    }
    return known;
}

TEST_CASE("reclaim: what a queue has borrowed is taken, the newest first") {
    cluster known = borrowed(5);
    add_gang(known, "new", 1, 3, "poor");
    CHECK(evicted(known, reclaim) == keys{"r7-0", "r8-0", "r9-0"});
}

TEST_CASE("reclaim: a queue is left what it deserves") {
    cluster known = borrowed(8);
    add_gang(known, "new", 1, 3, "poor");
    const cycle_result result = cycle(known, 0, reclaim);
    CHECK(result.counters.pods_evicted == 0);
    CHECK(shortage(known, result, "new") == eviction_shortage{cpu, 3, 2});
}

TEST_CASE("reclaim: a gang that takes its queue beyond what that deserves gets nothing") {
    cluster known = borrowed(2);
    add_gang(known, "new", 1, 6, "poor");
    CHECK(evicted(known, reclaim).empty());
}

TEST_CASE("reclaim: a queue that deserves nothing in so many words has borrowed nothing") {
    cluster known = borrowed(5);
    ok(known.upsert_queue("rich", {}));
    add_gang(known, "new", 1, 1, "poor");
    CHECK(evicted(known, reclaim).empty());
}

TEST_CASE("reclaim: between the queues of two departments what these deserve counts as well") {
    cluster known;
    ok(known.upsert_node("n", machine(10)));
    ok(known.upsert_queue("one", deserving(8)));
    ok(known.upsert_queue("two", deserving(5)));
    ok(known.upsert_queue("rich", deserving(3), "one"));
    ok(known.upsert_queue("sister", deserving(5), "one"));
    ok(known.upsert_queue("poor", deserving(5), "two"));
    for (int at = 0; at < 10; ++at) {
        const std::string name = "r" + std::to_string(at);
        ok(known.upsert_gang(name, ranked(1, "rich", 0, at)));
        run(known, name, 1, 1, "n");
    }
    SUBCASE("the department keeps what it deserves") {
        add_gang(known, "new", 1, 3, "poor");
        CHECK(evicted(known, reclaim).empty());
    }
    SUBCASE("and gives what it borrowed") {
        add_gang(known, "new", 1, 2, "poor");
        CHECK(evicted(known, reclaim).size() == 2);
    }
    SUBCASE("between sisters only their own counts") {
        add_gang(known, "new", 1, 5, "sister");
        CHECK(evicted(known, reclaim).size() == 5);
    }
}

TEST_CASE("reclaim: where little may be taken, pods go that make room together") {
    cluster known = machines(4);
    ok(known.upsert_queue("rich", deserving(16)));
    ok(known.upsert_queue("poor", deserving(16)));
    // The newest half of them stand scattered over all nodes.
    for (int at = 0; at < 32; ++at) {
        const std::string name = "r" + std::to_string(at);
        ok(known.upsert_gang(name, ranked(1, "rich", 0, at)));
        run(known, name, 1, 1, "n" + std::to_string(at % 4));
    }
    add_gang(known, "new", 2, 8, "poor");
    CHECK(evicted(known, reclaim).size() == 16);
    CHECK(nominated(known, "new"));
    CHECK(used_cpu(known, "rich") == 32);
    let_go(known);
    CHECK(cycle(known, 1, reclaim).counters.pods_placed == 2);
    CHECK(used_cpu(known, "rich") == 16);
}

TEST_CASE("rules together: what the first says that says anything") {
    const auto both = evicting(first_of<t9k_preemption, reclaim_above_deserved>{});
    cluster known = borrowed(5);
    add_gang(known, "new", 1, 1, "poor");
    CHECK(evicted(known, both).size() == 1);
}

TEST_CASE("after a least run time: until then a gang keeps its minima, and the cycle looks again") {
    const auto patient = evicting(after_min_runtime<t9k_preemption>{{}, 100});
    cluster known = machines(1);
    ok(known.upsert_gang("old", ranked(1, "low", 0)));
    for (int at = 0; at < 2; ++at) {
        auto pod = in_phase(pod_phase::running, asking(4));
        pod.created = at;
        pod.started = 50;
        ok(known.upsert_pod("old-" + std::to_string(at), "old", pod, "n0"));
    }
    ok(known.upsert_gang("new", ranked(1, "high", 0)));
    SUBCASE("what it can spare may go at once") {
        add_members(known, "new", 1, asking(4));
        CHECK(evicted(known, patient, 60) == keys{"old-1"});
    }
    SUBCASE("its minimum may go later") {
        add_members(known, "new", 1, asking(8));
        CHECK(evicted(known, patient, 60).empty());
        CHECK(evicted(known, patient, 149).empty());
        CHECK(evicted(known, patient, 150).size() == 2);
    }
}

TEST_CASE("after a least run time: queues say how long, for their own gangs and for others") {
    // 600 above two of which one has leaves of 0 and 180, the other says 60 and its leaf nothing.
    cluster known = machines(3);
    const auto queue = [&](const std::string& key, const std::optional<std::string>& above,
                           std::optional<std::int64_t> others,
                           std::optional<std::int64_t> own = {}) {
        cluster::queue_type made;
        made.reclaim_min_runtime = others;
        made.preempt_min_runtime = own;
        ok(known.upsert_queue(key, made, above));
    };
    queue("a", std::nullopt, std::nullopt, 7);
    queue("b", "a", 600);
    queue("c", "b", std::nullopt, 9);
    queue("d", "b", 60);
    queue("leaf1", "c", 0);
    queue("leaf2", "c", 180, 5);
    queue("leaf3", "d", std::nullopt);
    queue("other", std::nullopt, std::nullopt);
    const auto spared = [&](const std::string& of, const std::string& by) {
        return min_runtime_of(known, known.find_queue(of)->index, known.find_queue(by)->index);
    };
    CHECK(spared("leaf2", "leaf1") == 180);
    CHECK(spared("leaf1", "leaf2") == 0);
    CHECK(spared("leaf1", "leaf3") == 600);
    CHECK(spared("leaf2", "leaf3") == 600);
    CHECK(spared("leaf3", "leaf1") == 60);
    CHECK(spared("leaf3", "other") == std::nullopt);
    CHECK(spared("leaf2", "leaf2") == 5);
    CHECK(spared("leaf1", "leaf1") == 9);
    CHECK(spared("leaf3", "leaf3") == 7);
    CHECK(spared("other", "other") == std::nullopt);

    const auto by_any = evicting(after_min_runtime<priority_preemption>{{true}, 20});
    const auto run_in = [&](const std::string& name, const std::string& in,
                            const std::string& node) {
        ok(known.upsert_gang(name, ranked(1, in, 0)));
        auto pod = in_phase(pod_phase::running, asking(8));
        pod.started = 0;
        ok(known.upsert_pod(name + "-0", name, pod, node));
    };
    run_in("of-2", "leaf2", "n0");
    run_in("of-3", "leaf3", "n1");
    run_in("of-other", "other", "n2");
    ok(known.upsert_gang("new", ranked(1, "leaf1", 1)));
    add_members(known, "new", 1, asking(8));
    CHECK(evicted(known, by_any, 19).empty());
    CHECK(evicted(known, by_any, 20) == keys{"of-other-0"});
    ok(known.upsert_gang("next", ranked(1, "leaf1", 1)));
    add_members(known, "next", 1, asking(8));
    CHECK(evicted(known, by_any, 59).empty());
    CHECK(evicted(known, by_any, 60) == keys{"of-3-0"});
    ok(known.upsert_gang("last", ranked(1, "leaf2", 1)));
    add_members(known, "last", 1, asking(8));
    CHECK(evicted(known, by_any, 61) == keys{"of-2-0"});
}

TEST_CASE("placements of this cycle stay separate from those that wait for others to leave") {
    cluster known = machines(2);
    ok(known.upsert_gang("old", ranked(1, "low", 0)));
    run(known, "old", 1, 8, "n1");
    ok(known.upsert_gang("new", ranked(1, "high", 0)));
    add_members(known, "new", 2, asking(8));
    const cycle_result result = cycle(known, 0, evicting(for_surplus_too<t9k_preemption>{}));
    keys now;
    keys later;
    for (const decision& made : result.decisions)
        for (const placement& one : made.placements)
            (made.nominated ? later : now).push_back(known.key(one.pod));
    CHECK(now == keys{"new-0"});
    CHECK(later == keys{"new-1"});
    CHECK(result.counters.pods_placed == 1);
    CHECK(result.counters.pods_nominated == 1);
}

TEST_CASE("whole gangs: nobody is shortened") {
    cluster known = machines(1);
    ok(known.upsert_gang("old", ranked(1, "low", 0)));
    run(known, "old", 4, 2, "n0");
    ok(known.upsert_gang("new", ranked(1, "high", 0)));
    add_members(known, "new", 1, asking(2));
    CHECK(evicted(known, evicting(whole_gangs<t9k_preemption>{})).size() == 4);
}

TEST_CASE("of many units a set is evicted of which nobody could stay") {
    cluster known = machines(40);
    for (int at = 0; at < 320; ++at) {
        const std::string name = "p" + std::to_string(at);
        ok(known.upsert_gang(name, ranked(1, "low", at % 3, at * 7 % 11)));
        run(known, name, 1, 1, "n" + std::to_string(at * 13 % 40));
    }
    ok(known.upsert_gang("new", ranked(5, "high", 0)));
    SUBCASE("counted") {
        add_members(known, "new", 5, asking(7));
    }
    SUBCASE("tried") {
        for (int at = 0; at < 5; ++at)
            ok(known.upsert_pod("new-" + std::to_string(at), "new", asking(6 + at % 2)));
    }
    const cluster before = known;
    const keys gone = evicted(known, t9k);
    REQUIRE(nominated(known, "new"));
    for (const std::string& stays : gone) {
        cluster other = before;
        for (const std::string& key : gone)
            if (key != stays)
                ok(other.remove_pod(key));
        CHECK(cycle(other, 0).counters.pods_placed == 0);
    }
}

TEST_CASE("a gang whose quota is used up in the cycle that evicts from it stands at that gate") {
    cluster known;
    auto narrow = machine(4);
    narrow.labels = {{"is", "narrow"}};
    auto other = machine(1);
    other.labels = {{"is", "other"}};
    ok(known.upsert_node("narrow", narrow));
    ok(known.upsert_node("other", other));
    add_running(known, "stays", 3, "narrow");
    auto kept = gang_of(1);
    kept.preemptible = false;
    ok(known.upsert_gang("stays", kept));
    ok(known.upsert_queue("queue", quota_of(5)));
    // Of its three members one runs; for the two others there is quota, and no room.
    ok(known.upsert_gang("waits", gang_of(3, "queue")));
    auto member = asking(1);
    member.where.selector = label_is("is", "narrow");
    ok(known.upsert_pod("waits-0", "waits", in_phase(pod_phase::running, member), "narrow"));
    member.request = units(2);
    ok(known.upsert_pod("waits-1", "waits", member));
    ok(known.upsert_pod("waits-2", "waits", member));
    const auto how = evicting(priority_preemption{true});
    static_cast<void>(cycle(known, 0, how));
    REQUIRE(is(answered(known, "waits"), answer::waiting, gate::space));

    // One gang takes of the quota, and another evicts the member that runs.
    auto takes = gang_of(1, "queue");
    takes.created = 1;
    ok(known.upsert_gang("takes", takes));
    member = asking(1);
    member.where.selector = label_is("is", "other");
    ok(known.upsert_pod("takes", "takes", member));
    auto evicts = gang_of(1);
    evicts.priority = 1;
    ok(known.upsert_gang("evicts", evicts));
    member.where.selector = label_is("is", "narrow");
    ok(known.upsert_pod("evicts", "evicts", member));
    CHECK(evicted(known, how, 1) == keys{"waits-0"});
    CHECK(is(answered(known, "waits"), answer::waiting, gate::quota));
}

} // namespace

} // namespace preempt_evictions_test
