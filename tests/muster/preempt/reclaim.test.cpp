// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include <muster/cycle/cycle.hpp>

#include "../builders.hpp"

namespace preempt_reclaim_test {

using namespace builders;
using namespace muster;

namespace {

template<class Victims>
using reclaiming = policy<best_fit, priority_then_age, fair_share_first, no_reservations,
                          surplus_at_once, most_packed, Victims>;
using for_deserved = reclaiming<kai_reclaim<false>>;
using for_fair_share = reclaiming<kai_reclaim<true>>;
using between_leaves = reclaiming<volcano_reclaim>;

cluster::queue_type deserving(std::int64_t cpus, std::int64_t weight = 1) {
    cluster::queue_type made;
    made.deserved.set(cpu, cpus);
    made.weight = weight;
    return made;
}

/// Queue q uses 4 of 4, in gangs of the given sizes; r deserves some and waits with 2.
cluster full(std::int64_t deserved_by_q, std::int64_t deserved_by_r, std::int64_t first,
             std::int64_t weight_of_r = 1) {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    ok(known.upsert_queue("q", deserving(deserved_by_q)));
    ok(known.upsert_queue("r", deserving(deserved_by_r, weight_of_r)));
    add_running(known, "a", first, "n", "q");
    if (first < 4)
        add_running(known, "b", 4 - first, "n", "q");
    add_gang(known, "x", 1, 2, "r");
    return known;
}

std::size_t evicted(const cycle_result& by) {
    return by.counters.pods_evicted;
}

} // namespace

TEST_CASE("a queue within what it deserves reclaims from one beyond, never from one within") {
    cluster known = full(2, 2, 2);
    CHECK(evicted(cycle(known, 0, for_deserved{})) == 1);
    CHECK(evicted(cycle(known, 1, for_deserved{})) == 0);
    cluster within = full(4, 2, 2);
    CHECK(evicted(cycle(within, 0, for_deserved{})) == 0);
    cluster greedy = full(2, 1, 2);
    CHECK(evicted(cycle(greedy, 0, for_deserved{})) == 0);
}

TEST_CASE("what goes last may leave the queue with less than it deserves") {
    cluster known = full(3, 2, 4);
    CHECK(evicted(cycle(known, 0, for_deserved{})) == 1);
    cluster strictly = full(3, 2, 4);
    CHECK(evicted(cycle(strictly, 0, reclaiming<reclaim_above_deserved>{})) == 0);
}

TEST_CASE("a queue within its fair share reclaims from one beyond its own") {
    cluster known = full(0, 0, 2);
    CHECK(evicted(cycle(known, 0, for_deserved{})) == 0);
    cluster fair = full(0, 0, 2);
    CHECK(evicted(cycle(fair, 0, for_fair_share{})) == 1);
    cluster unfair = full(0, 0, 2, 0);
    CHECK(evicted(cycle(unfair, 0, for_fair_share{})) == 0);
}

TEST_CASE("departments are compared where they meet, leaves by themselves") {
    const auto two = [] {
        cluster known;
        ok(known.upsert_node("n", machine(2)));
        ok(known.upsert_queue("d", deserving(2)));
        ok(known.upsert_queue("e", deserving(2)));
        ok(known.upsert_queue("q", deserving(0), "d"));
        ok(known.upsert_queue("r", deserving(2), "e"));
        add_running(known, "a", 2, "n", "q");
        add_gang(known, "x", 1, 2, "r");
        return known;
    };
    cluster meeting = two();
    CHECK(evicted(cycle(meeting, 0, for_deserved{})) == 0);
    cluster leaves = two();
    CHECK(evicted(cycle(leaves, 0, between_leaves{})) == 1);
}

TEST_CASE("between leaves the nearest queue gives first, and nothing that it has no more of than "
          "it deserves") {
    constexpr kind_id gpus = gpu;
    const auto cpus_only = [](std::int64_t cpus) { return deserving(cpus); };
    cluster known;
    ok(known.upsert_node("n", machine(4, 1)));
    ok(known.upsert_queue("here", {}));
    ok(known.upsert_queue("there", {}));
    ok(known.upsert_queue("mine", cpus_only(4), "here"));
    ok(known.upsert_queue("near", cpus_only(0), "here"));
    ok(known.upsert_queue("far", cpus_only(0), "there"));
    add_running(known, "a", 2, "n", "near");
    add_running(known, "z", 2, "n", "far");
    add_gang(known, "x", 1, 2, "mine");
    const cycle_result result = cycle(known, 0, between_leaves{});
    REQUIRE(evicted(result) == 1);
    CHECK(known[known.find_pod("a-0")->index].evicted);

    // Of GPUs it deserves one and has one: who has it stays, whatever it has of cpus.
    cluster keeps;
    ok(keeps.upsert_node("n", machine(4, 1)));
    auto near = cpus_only(0);
    near.deserved.set(gpus, 1);
    ok(keeps.upsert_queue("near", near));
    ok(keeps.upsert_queue("mine", cpus_only(4)));
    ok(keeps.upsert_gang("a", gang_of(1, "near")));
    ok(keeps.upsert_pod("a-0", "a", in_phase(pod_phase::running, asking(4, 1)), "n"));
    add_gang(keeps, "x", 1, 2, "mine");
    CHECK(evicted(cycle(keeps, 0, between_leaves{})) == 0);
}

TEST_CASE("in order: the newest go, as many as it takes, where fewer older ones would do") {
    const auto line = [] {
        cluster known;
        ok(known.upsert_node("n", machine(4)));
        ok(known.upsert_queue("q", {}));
        for (const auto& [name, cpus, born] :
             {std::tuple("large", 2, 0), std::tuple("small", 1, 1), std::tuple("tiny", 1, 2)}) {
            auto spec = gang_of(1, "q");
            spec.created = born;
            ok(known.upsert_gang(name, spec));
            ok(known.upsert_pod(std::string(name) + "-0", name,
                                in_phase(pod_phase::running, asking(cpus)), "n"));
        }
        auto urgent = gang_of(1, "q");
        urgent.priority = 1;
        ok(known.upsert_gang("x", urgent));
        add_members(known, "x", 1, asking(2));
        return known;
    };
    cluster fewest = line();
    CHECK(evicted(cycle(fewest, 0, reclaiming<priority_preemption>{})) == 1);
    cluster newest = line();
    CHECK(evicted(cycle(newest, 0, reclaiming<newest_first<priority_preemption>>{})) == 2);
    CHECK_FALSE(newest[newest.find_pod("large-0")->index].evicted);
}

TEST_CASE("who waits for leavers is nominated, and evicts nobody") {
    cluster known;
    ok(known.upsert_node("n", machine(2)));
    add_running(known, "a", 2, "n");
    ok(known.evict("a-0"));
    add_gang(known, "x", 1, 2);
    add_gang(known, "y", 1, 2);
    const auto result = cycle(known, 0, reclaiming<await_terminating>{});
    CHECK(result.counters.pods_nominated == 1);
    CHECK(evicted(result) == 0);
    CHECK(known[gang_at(known, "x")].nominated == 1);
}

} // namespace preempt_reclaim_test
