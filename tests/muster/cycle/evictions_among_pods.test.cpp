// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include <muster/cycle/cycle.hpp>

#include "../builders.hpp"

namespace cycle_evictions_among_pods_test {

namespace {

using namespace builders;
using namespace muster;

struct preempting : policy<> {
    priority_preemption victims{true};
};

cluster one_node(std::int64_t cpus) {
    cluster known;
    auto spec = machine(cpus);
    spec.labels = {{"zone", "a"}};
    ok(known.upsert_node("n", spec));
    return known;
}

void add_ranked(cluster& to, const std::string& gang, std::int64_t priority) {
    auto made = gang_of(1);
    made.priority = priority;
    ok(to.upsert_gang(gang, made));
}

cluster::pod_type labelled(cluster::pod_type made, const char* app) {
    made.labels = {{"app", app}};
    return made;
}

affinity_term near(const char* app) {
    return {{label_is("app", app), {}}, "zone"};
}

std::size_t evictions(cluster& known) {
    return cycle(known, 0, preempting{}).counters.pods_evicted;
}

} // namespace

TEST_CASE("nobody is evicted for a pod that seeks those who would go") {
    cluster known = one_node(8);
    add_ranked(known, "low", 0);
    ok(known.upsert_pod("low-0", "low", labelled(in_phase(pod_phase::running, asking(8)), "x"),
                        "n"));
    add_ranked(known, "high", 1);
    auto seeker = asking(1);
    SUBCASE("with a required term") {
        seeker.where.pods.emplace();
        seeker.where.pods->affinity.push_back(near("x"));
        ok(known.upsert_pod("high-0", "high", seeker));
        CHECK(evictions(known) == 0);
        CHECK(evictions(known) == 0);
    }
    SUBCASE("without any it is") {
        ok(known.upsert_pod("high-0", "high", seeker));
        CHECK(evictions(known) == 1);
    }
}

TEST_CASE("a nominated gang does not come where pods have come that keep it off") {
    cluster known = one_node(9);
    add_ranked(known, "low", 0);
    ok(known.upsert_pod("low-0", "low", in_phase(pod_phase::running, asking(8)), "n"));
    add_ranked(known, "high", 1);
    ok(known.upsert_pod("high-0", "high", labelled(asking(8), "x")));
    CHECK(evictions(known) == 1);
    REQUIRE(known[gang_at(known, "high")].nominated == 1);
    SUBCASE("and comes when there is room otherwise") {
        ok(known.remove_pod("low-0"));
        static_cast<void>(cycle(known, 0, preempting{}));
        CHECK(node_of(known, "high-0") == "n");
    }
    SUBCASE("but waits beside one that keeps it off") {
        add_ranked(known, "other", 2);
        auto loner = in_phase(pod_phase::running, asking(1));
        loner.where.pods.emplace();
        loner.where.pods->anti_affinity.push_back(near("x"));
        ok(known.upsert_pod("other-0", "other", loner, "n"));
        ok(known.remove_pod("low-0"));
        static_cast<void>(cycle(known, 0, preempting{}));
        CHECK_FALSE(is(answered(known, "high"), answer::admitted));
        CHECK(known[gang_at(known, "high")].nominated == 0);
        CHECK(free_cpu(known, "n") == 8);
    }
}

} // namespace cycle_evictions_among_pods_test
