// SPDX-License-Identifier: Apache-2.0
#include <muster/preempt/eviction_memory.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>

#include <muster/cycle/cycle.hpp>
#include <muster/policy/consolidation.hpp>
#include <muster/policy/victim_rule.hpp>
#include <muster/vocabulary/disruption_budget.hpp>

#include "evicting.hpp"

namespace preempt_eviction_memory_test {

namespace {

using namespace muster;
using namespace evicting_clusters;
using namespace builders;

/// A gang that waits behind one that runs, and the memory of its refusal.
struct refused_once {
    refused_once() : known(machines(1)) {
        add_running(known, "old", 8, "n0", "high");
        add_gang(known, "new", 1, 8, "low");
        static_cast<void>(starts_anew());
        memory.refused(known, gang_at(known, "new"), 100, again);
    }

    /// A new pass; true if something happened since the last one.
    bool starts_anew(bool placeable_changed = false) {
        return !memory.begin(known, rule, no_consolidation{}, {}, placeable_changed);
    }
    [[nodiscard]] bool holds(std::int64_t steps = 100, std::int64_t now = 0) const {
        return memory.holds(known, gang_at(known, "new"), steps, now);
    }

    cluster known;
    t9k_preemption rule;
    std::optional<std::int64_t> again;
    detail::eviction_memory<core_of<traits>> memory;
};

/// On each of two nodes half is held by a gang that may be evicted. Twenty gangs that need a whole
/// node wait: the evictable halves suffice in sum, so that only a search refuses each gang.
struct full_cluster {
    full_cluster() : known(machines(2)) {
        for (const std::string node : {"n0", "n1"}) {
            add_running(known, "firm-" + node, 4, node, "high");
            add_running(known, "weak-" + node, 4, node, "low");
        }
        for (int at = 0; at < waiting; ++at)
            add_gang(known, "w" + std::to_string(at), 1, 8, "high");
        first = cycle(known, 0, how);
    }

    static constexpr int waiting = 20;
    cluster known;
    cycle_result first;
    policy<best_fit, priority_then_age, priority_then_share, no_reservations, surplus_at_once,
           most_packed, t9k_preemption>
        how = evicting(t9k_preemption{});
};

} // namespace

TEST_CASE_FIXTURE(refused_once, "a refusal holds while gangs only come to wait") {
    CHECK(!starts_anew());
    add_gang(known, "newer", 3, 4, "low");
    CHECK(!starts_anew());
    CHECK(holds());
}

TEST_CASE_FIXTURE(refused_once, "a refusal ends when a pod leaves") {
    ok(known.remove_pod("old-0"));
    CHECK(starts_anew());
    CHECK(!holds());
}

TEST_CASE_FIXTURE(refused_once, "a refusal ends when a queue changes") {
    ok(known.upsert_queue("high", quota_of(900)));
    CHECK(starts_anew());
    CHECK(!holds());
}

TEST_CASE_FIXTURE(refused_once, "a refusal ends when a budget changes") {
    ok(known.upsert_budget("budget", {}));
    CHECK(starts_anew());
    CHECK(!holds());
}

TEST_CASE_FIXTURE(refused_once, "a refusal ends when a running gang changes") {
    CHECK(starts_anew(true));
    CHECK(!holds());
}

TEST_CASE_FIXTURE(refused_once, "a refusal ends when the policy has another rule") {
    rule.inside_queue = true;
    CHECK(starts_anew());
    CHECK(!holds());
}

TEST_CASE_FIXTURE(refused_once, "a refusal does not hold for more steps than were taken") {
    CHECK(holds(100));
    CHECK(!holds(101));
}

TEST_CASE_FIXTURE(refused_once, "a refusal holds until the time from which a rule may say more") {
    memory.refused(known, gang_at(known, "new"), 100, 10);
    CHECK(holds(100, 9));
    CHECK(!holds(100, 10));
    CHECK(memory.again(gang_at(known, "new")) == 10);
}

TEST_CASE_FIXTURE(refused_once, "another gang in the place of one that was refused is tried") {
    ok(known.remove_pod("new-0"));
    ok(known.remove_gang("new"));
    add_gang(known, "new", 1, 8, "low");
    CHECK(!holds());
}

TEST_CASE_FIXTURE(full_cluster, "a new waiting gang does not cause others to be tried again") {
    CHECK(first.counters.pods_evicted == 0);
    REQUIRE(first.counters.search_steps >= waiting);
    add_gang(known, "w20", 1, 8, "high");
    const cycle_result alone = cycle(known, 0, how);
    CHECK(alone.counters.search_steps > 0);
    CHECK(alone.counters.search_steps * waiting <= first.counters.search_steps);
}

TEST_CASE_FIXTURE(full_cluster, "waiting gangs are tried again when a running gang changes") {
    auto gang = known.spec_of(gang_at(known, "firm-n0"));
    gang.queue = "low";
    ok(known.upsert_gang("firm-n0", gang));
    CHECK(cycle(known, 0, how).counters.pods_evicted == 2);
}

} // namespace preempt_eviction_memory_test
