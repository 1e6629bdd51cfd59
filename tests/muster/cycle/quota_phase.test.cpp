// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <utility>

#include "../builders.hpp"

namespace cycle_quota_pass_test {

using namespace muster;
using namespace builders;

namespace {

/// The gang needs 3 cpus or 3 gpus, and of its node 2 of each are free. Only prices on both quotas
/// together tell that neither is left.
cluster either_or() {
    cluster known;
    auto narrow = machine(3, 3);
    narrow.labels = {{"pool", "narrow"}};
    ok(known.upsert_node("narrow", narrow));
    ok(known.upsert_node("wide", machine(9, 9)));
    ok(known.upsert_gang("stands", gang_of(1)));
    ok(known.upsert_pod("stands", "stands", in_phase(pod_phase::running, asking(1, 1)), "narrow"));
    auto queue = quota_of(10);
    queue.quota.set(gpu, 10);
    ok(known.upsert_queue("queue", queue));
    gang_tree tree;
    const auto one = tree.add(vertex_index{0}, 1);
    const auto other = tree.add(vertex_index{0}, 1);
    tree.require_subgroups(vertex_index{0}, 1);
    ok(known.upsert_gang("waits", gang_of(tree, "queue")));
    auto first = in_role(one, asking(3));
    auto second = in_role(other, asking(0, 3));
    first.where.selector = second.where.selector = label_is("pool", "narrow");
    ok(known.upsert_pod("first", "waits", first));
    ok(known.upsert_pod("second", "waits", second));
    return known;
}

/// It comes later, and takes nearly all that the queue may have.
void add_hungry(cluster& known) {
    auto hungry = gang_of(1, "queue");
    hungry.created = 1;
    ok(known.upsert_gang("hungry", hungry));
    ok(known.upsert_pod("hungry", "hungry", asking(9, 9)));
}

gate gate_of(const cluster& known) {
    return known[gang_at(known, "waits")].last.at;
}

} // namespace

TEST_CASE("a gang whose quota was used up after it was asked stands at that gate") {
    cluster known = either_or();
    static_cast<void>(cycle(known, 0));
    CHECK(gate_of(known) == gate::space);
    add_hungry(known);
    const cycle_result result = cycle(known, 1);
    CHECK(gate_of(known) == gate::quota);
    CHECK(result.counters.search_steps > 0);
    CHECK(cycle(known, 2).decisions.empty());
}

TEST_CASE(
    "who comes for good or stays after all uses the quota up for those who were asked before") {
    cluster known;
    for (const char* name : {"a", "b", "c"}) {
        auto node = machine(4);
        node.labels = {{"is", name}};
        ok(known.upsert_node(name, node));
    }
    add_running(known, "leaves", 4, "a");
    add_running(known, "stays", 4, "b");
    // While this one is still there, its part of the quota is as little free as that of who comes.
    ok(known.upsert_queue("queue", quota_of(6)));
    add_running(known, "lingers", 2, "c", "queue");
    ok(known.upsert_gang("waits", gang_of(1, "queue")));
    auto there = asking(2);
    there.where.selector = label_is("is", "b");
    ok(known.upsert_pod("waits", "waits", there));
    auto comes = gang_of(1, "queue");
    comes.created = 1;
    ok(known.upsert_gang("comes", comes));
    ok(known.upsert_pod("comes", "comes", asking(3)));
    ok(known.evict("lingers-0"));
    ok(known.evict("leaves-0"));
    ok(known.nominate("comes", "a"));
    static_cast<void>(cycle(known, 0));
    CHECK(gate_of(known) == gate::space);

    SUBCASE("when a cycle finds that there is room") {
        ok(known.remove_pod("leaves-0"));
    }
    SUBCASE("when it is seen there") {
        ok(known.remove_pod("leaves-0"));
        ok(known.upsert_pod("comes", "comes", in_phase(pod_phase::bound, asking(3)), "a"));
    }
    SUBCASE("or will, beside one that stays after all") {
        ok(known.keep("lingers-0"));
    }
    static_cast<void>(cycle(known, 1));
    CHECK(node_of(known, "comes") == "a");
    CHECK(gate_of(known) == gate::quota);
}

TEST_CASE("a gang of which a member is told to go in the cycle is not said to lack quota for it") {
    struct preempting : policy<> {
        priority_preemption victims;
    };
    cluster known;
    ok(known.upsert_node("a", machine(4)));
    ok(known.upsert_node("b", machine(17)));
    add_running(known, "stays", 17, "b");
    ok(known.upsert_queue("queue", quota_of(40)));
    // Two of its members are alike in nothing, so which of them go is a choice.
    ok(known.upsert_gang("waits", gang_of(3, "queue")));
    ok(known.upsert_pod("first", "waits", in_phase(pod_phase::running, asking(1)), "a"));
    ok(known.upsert_pod("second", "waits", asking(9)));
    ok(known.upsert_pod("third", "waits", asking(8)));
    auto high = gang_of(1, "queue");
    high.priority = 1;
    ok(known.upsert_gang("high", high));
    ok(known.upsert_pod("high", "high", asking(4)));
    CHECK(cycle(known, 0, preempting{}).counters.pods_evicted == 1);
    CHECK(gate_of(known) == gate::space);
    static_cast<void>(cycle(known, 1, preempting{}));
    CHECK(gate_of(known) == gate::members);
}

TEST_CASE(
    "what is asked of quotas at a cycle's end stays within its budget, and goes on next time") {
    cluster known = either_or();
    static_cast<void>(cycle(known, 0));
    add_hungry(known);
    budget none;
    none.per_cycle = 0;
    const cycle_result result = cycle(known, 1, policy<>{}, none);
    CHECK(known[gang_at(known, "hungry")].last.kind == answer::admitted);
    CHECK(result.counters.search_steps == 0);
    CHECK(gate_of(known) == gate::space);
    CHECK(known[gang_at(known, "waits")].last.unreached_since > 0);

    const cycle_result next = cycle(known, 2);
    CHECK(gate_of(known) == gate::quota);
    CHECK(known[gang_at(known, "waits")].last.unreached_since == 0);
    CHECK(next.decisions.size() == 1);
    CHECK(cycle(known, 3).decisions.empty());
}

} // namespace cycle_quota_pass_test
