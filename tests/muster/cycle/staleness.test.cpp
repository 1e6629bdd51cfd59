// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include <muster/cycle/cycle.hpp>

#include "../builders.hpp"

namespace cycle_staleness_test {

namespace {

using namespace builders;
using namespace muster;

const policy evicting{best_fit{},        priority_then_age{}, priority_then_share{},
                      no_reservations{}, surplus_at_once{},   most_packed{},
                      no_eviction{},     no_consolidation{},  evict_stale{10}};

/// A gang of three that runs on two nodes of 4, and loses a member; another fills its place.
cluster one_lost(const cluster::gang_type& spec = gang_of(3)) {
    cluster known;
    for (const char* node : {"a", "b"})
        ok(known.upsert_node(node, machine(4)));
    ok(known.upsert_gang("g", spec));
    for (const char* pod : {"g-0", "g-1"})
        ok(known.upsert_pod(pod, "g", in_phase(pod_phase::running, asking(2)), "a"));
    ok(known.upsert_pod("g-2", "g", in_phase(pod_phase::running, asking(2)), "b"));
    static_cast<void>(cycle(known, 0, evicting));
    ok(known.remove_pod("g-2"));
    add_running(known, "other", 4, "b");
    return known;
}

std::size_t evicted(cluster& known, std::int64_t now) {
    return cycle(known, now, evicting).counters.pods_evicted;
}

TEST_CASE("a gang below its minima stays unless the policy says otherwise") {
    cluster known = one_lost();
    for (std::int64_t now = 1; now < 1000; now += 100)
        CHECK(cycle(known, now).counters.pods_evicted == 0);
}

TEST_CASE("what is left of a gang goes when it has been below its minima for too long") {
    cluster known = one_lost();
    CHECK(evicted(known, 1) == 0);
    CHECK(evicted(known, 10) == 0);
    const cycle_result result = cycle(known, 11, evicting);
    REQUIRE(result.decisions.size() == 1);
    CHECK(result.decisions.front().gang == gang_at(known, "g"));
    CHECK(result.decisions.front().stale);
    CHECK(result.decisions.front().evictions.size() == 2);
    CHECK_FALSE(result.decisions.front().nominated);
    CHECK(known.accounts().future(known.find_node("a")->index)[cpu] == 4);

    ok(known.remove_pod("g-0"));
    ok(known.remove_pod("g-1"));
    CHECK(free_cpu(known, "a") == 4);
    for (std::int64_t now = 12; now < 100; now += 10)
        CHECK(evicted(known, now) == 0);
}

TEST_CASE("a gang that is whole again in time stays, and its time begins anew with the next loss") {
    cluster known = one_lost();
    CHECK(evicted(known, 1) == 0);
    SUBCASE("a member comes") {
        ok(known.remove_pod("other-0"));
        ok(known.upsert_pod("g-3", "g", asking(2)));
        CHECK(evicted(known, 9) == 0);
        ok(known.confirm_bound("g-3"));
        CHECK(evicted(known, 20) == 0);
        ok(known.remove_pod("g-3"));
    }
    SUBCASE("it asks for less") {
        ok(known.upsert_gang("g", gang_of(2)));
        CHECK(evicted(known, 9) == 0);
        CHECK(evicted(known, 20) == 0);
        ok(known.upsert_gang("g", gang_of(3)));
    }
    CHECK(evicted(known, 21) == 0);
    CHECK(evicted(known, 30) == 0);
    CHECK(evicted(known, 31) == 2);
}

TEST_CASE("who has succeeded still counts") {
    cluster known = one_lost();
    ok(known.upsert_pod("g-2", "g", in_phase(pod_phase::succeeded, asking(2))));
    CHECK(evicted(known, 1) == 0);
    CHECK(evicted(known, 100) == 0);
}

TEST_CASE("a place that is promised to a member counts") {
    cluster known;
    for (const char* node : {"a", "b"})
        ok(known.upsert_node(node, machine(4)));
    ok(known.upsert_gang("g", gang_of(2)));
    for (const char* pod : {"g-0", "g-1"})
        ok(known.upsert_pod(pod, "g", in_phase(pod_phase::running, asking(2)), "a"));
    ok(known.move("g-0", "b"));
    ok(known.remove_pod("g-0"));
    CHECK(evicted(known, 1) == 0);
    CHECK(evicted(known, 100) == 0);
}

TEST_CASE("a gang's own time goes before the policy's, and it may say since when it counts") {
    auto spec = gang_of(3);
    SUBCASE("longer") {
        spec.grace = 20;
        cluster known = one_lost(spec);
        CHECK(evicted(known, 1) == 0);
        CHECK(evicted(known, 20) == 0);
        CHECK(evicted(known, 21) == 2);
    }
    SUBCASE("at once") {
        spec.grace = 0;
        cluster known = one_lost(spec);
        CHECK(evicted(known, 1) == 2);
    }
    SUBCASE("never") {
        spec.grace = -1;
        cluster known = one_lost(spec);
        CHECK(evicted(known, 1) == 0);
        CHECK(evicted(known, 1000) == 0);
    }
    SUBCASE("since before it was seen") {
        spec.short_since = -5;
        cluster known = one_lost(spec);
        CHECK(evicted(known, 4) == 0);
        CHECK(evicted(known, 5) == 2);
    }
}

TEST_CASE("minima of roles count as well") {
    gang_tree tree;
    const auto leader = tree.add(vertex_index{0}, 1, "leader");
    const auto worker = tree.add(vertex_index{0}, 0, "worker");
    cluster known;
    ok(known.upsert_node("a", machine(4)));
    ok(known.upsert_gang("g", gang_of(tree)));
    ok(known.upsert_pod("w", "g", in_role(worker, in_phase(pod_phase::running, asking(1))), "a"));
    ok(known.upsert_pod("l", "g", in_role(leader, in_phase(pod_phase::failed, asking(1))), "a"));
    CHECK(evicted(known, 0) == 0);
    CHECK(evicted(known, 10) == 1);
}

} // namespace

} // namespace cycle_staleness_test
