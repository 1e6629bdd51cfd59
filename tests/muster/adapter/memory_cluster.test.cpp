// SPDX-License-Identifier: Apache-2.0
#include <muster/adapter/memory_cluster.hpp>

#include <optional>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include <muster/cluster/state.hpp>
#include <muster/cycle/policy.hpp>

namespace adapter_memory_cluster_test {

using namespace muster;

struct bench {
    bench() : cluster(known) {
        node<4> machine;
        machine.allocatable[kind_id{0}] = 4;
        REQUIRE(known.upsert_node("n", machine) == event_result::applied);
    }
    void add(const std::string& name, std::int64_t size, std::optional<std::int64_t> runs) {
        gang<std::string> alone;
        alone.tree = single_role(1);
        REQUIRE(known.upsert_gang(name, std::move(alone)) == event_result::applied);
        pod<4> spec;
        spec.request[kind_id{0}] = size;
        REQUIRE(cluster.create(name, name, spec, runs) == event_result::applied);
    }
    std::string schedule(std::int64_t now) {
        cluster.schedule(now, policy<>{}, {}, result);
        std::string placed;
        for (const decision& each : result.decisions)
            for (const placement& one : each.placements)
                placed += known.key(one.pod) + " ";
        return placed;
    }
    state<string_traits<4>> known;
    adapter::memory_cluster<string_traits<4>> cluster;
    cycle_result result;
};

TEST_CASE("what is placed runs at once, for as long as it declares") {
    bench on;
    on.add("a", 3, 10);
    on.add("b", 3, std::nullopt);
    CHECK(on.schedule(5) == "a ");
    CHECK(on.cluster.phase("a") == pod_phase::running);
    CHECK(on.cluster.phase("b") == pod_phase::pending);
    CHECK(on.cluster.next_end() == 15);
    CHECK_FALSE(on.cluster.take_ended(14));
    CHECK(on.cluster.take_ended(15) == "a");
    CHECK(on.cluster.set_phase("a", pod_phase::succeeded));
    CHECK(on.schedule(15) == "b ");
    CHECK_FALSE(on.cluster.next_end());
}

TEST_CASE("a pod that was removed never ends, and one of its name has a time of its own") {
    bench on;
    on.add("a", 3, 10);
    CHECK(on.schedule(0) == "a ");
    on.cluster.remove("a");
    CHECK_FALSE(on.cluster.phase("a"));
    on.add("a", 3, 10);
    CHECK(on.schedule(5) == "a ");
    CHECK_FALSE(on.cluster.take_ended(10));
    CHECK(on.cluster.take_ended(15) == "a");
}

TEST_CASE("on a lost node nothing starts, and what ran there runs on when it is back") {
    bench on;
    on.add("a", 3, 10);
    CHECK(on.schedule(0) == "a ");
    CHECK_FALSE(on.cluster.lose_node("m"));
    REQUIRE(on.cluster.lose_node("n")->size() == 1);
    CHECK(on.cluster.phase("a") == pod_phase::unknown);
    on.add("b", 1, 10);
    CHECK(on.schedule(1).empty());
    CHECK_FALSE(on.cluster.take_ended(10));
    REQUIRE(on.cluster.return_node("n", 20)->size() == 1);
    CHECK(on.schedule(20) == "b ");
    CHECK(on.cluster.take_ended(20) == "a");
}

} // namespace adapter_memory_cluster_test
