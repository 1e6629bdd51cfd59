// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <muster/cycle/cycle.hpp>

#include "../builders.hpp"
#include "evicting.hpp"

namespace preempt_evictions_in_budgets_test {

namespace {

using namespace builders;
using evicting_clusters::machines;
using namespace muster;

const auto preempting = evicting_clusters::evicting(t9k_preemption{});

disruption_budget keeping(std::int64_t keeps, const std::string& app) {
    disruption_budget made;
    made.pods.labels = label_is("app", app);
    made.keeps = keeps;
    return made;
}

/// A running gang of one with that label.
void add_one(cluster& to, const std::string& name, std::int64_t cpus, const std::string& node,
             const std::string& app, pod_phase phase = pod_phase::running) {
    ok(to.upsert_gang(name, gang_of(1, "low")));
    auto pod = in_phase(phase, asking(cpus));
    pod.labels = {{"app", app}};
    ok(to.upsert_pod(name + "-0", name, pod, node));
}

std::size_t evicted(cluster& known) {
    return cycle(known, 0, preempting).counters.pods_evicted;
}

} // namespace

TEST_CASE("a budget of several gangs is one: what one loses the others may not") {
    cluster known = machines(2);
    add_one(known, "a", 8, "n0", "x");
    add_one(known, "b", 8, "n1", "x");
    ok(known.upsert_budget("budget", keeping(1, "x")));
    add_gang(known, "first", 1, 8, "high");
    add_gang(known, "second", 1, 8, "high");
    CHECK(evicted(known) == 1);
    CHECK(evicted(known) == 0);
    // It left; as long as nobody runs in its place the other stays.
    ok(known.remove_pod(
        known.find_pod("a-0") && known[known.find_pod("a-0")->index].evicted ? "a-0" : "b-0"));
    CHECK(evicted(known) == 0);
    ok(known.remove_budget("budget"));
    CHECK(evicted(known) == 1);
    CHECK(known.remove_budget("budget") == event_result::unexpected);
    CHECK(known.upsert_budget("budget", keeping(-1, "x")) == event_result::out_of_range);
}

TEST_CASE("a pod comes to run, and a budget has room again") {
    cluster known = machines(2);
    add_one(known, "a", 8, "n0", "x");
    add_one(known, "b", 4, "n1", "x", pod_phase::bound);
    ok(known.upsert_budget("budget", keeping(1, "x")));
    add_gang(known, "new", 1, 8, "high");
    // It takes who does not run yet, whatever the budget says.
    CHECK(evicted(known) == 1);
    CHECK(known[known.find_pod("b-0")->index].evicted);
    ok(known.keep("b-0"));
    ok(known.remove_pod("new-0"));
    add_one(known, "b", 4, "n1", "x");
    ok(known.upsert_budget("budget", keeping(2, "x")));
    add_members(known, "new", 1, asking(8));
    CHECK(evicted(known) == 0);
    add_one(known, "c", 1, "n1", "x", pod_phase::bound);
    CHECK(evicted(known) == 0);
    add_one(known, "c", 1, "n1", "x");
    CHECK(evicted(known) == 1);
}

TEST_CASE("of many pods those go together that make room, within what a budget allows") {
    // On each machine 8 pods of one cpu: a member needs a machine of its own but for two cpus.
    cluster known = machines(4);
    for (int at = 0; at < 32; ++at)
        add_one(known, "g" + std::to_string(100 + at), 1, "n" + std::to_string(at % 4), "x");
    ok(known.upsert_budget("budget", keeping(26, "x")));
    add_gang(known, "new", 1, 6, "high");
    CHECK(evicted(known) == 6);
    CHECK(known[gang_at(known, "new")].nominated == 1);
    add_gang(known, "next", 1, 6, "high");
    CHECK(evicted(known) == 0);
}

TEST_CASE("a gang below its minima is not evicted for that while a budget keeps a pod of it") {
    cluster known = machines(1);
    ok(known.upsert_gang("short", gang_of(2, "low")));
    auto pod = in_phase(pod_phase::running, asking(1));
    pod.labels = {{"app", "x"}};
    ok(known.upsert_pod("short-0", "short", pod, "n0"));
    ok(known.upsert_budget("budget", keeping(1, "x")));
    const policy stale{best_fit{},        priority_then_age{}, priority_then_share{},
                       no_reservations{}, surplus_at_once{},   most_packed{},
                       no_eviction{},     no_consolidation{},  evict_stale{10}};
    static_cast<void>(cycle(known, 0, stale));
    CHECK(cycle(known, 10, stale).counters.pods_evicted == 0);
    CHECK(cycle(known, 20, stale).counters.pods_evicted == 0);
    ok(known.upsert_budget("budget", keeping(0, "x")));
    CHECK(cycle(known, 21, stale).counters.pods_evicted == 1);
}

} // namespace preempt_evictions_in_budgets_test
