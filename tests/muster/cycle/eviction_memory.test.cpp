// SPDX-License-Identifier: Apache-2.0
#include <muster/cycle/eviction_memory.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>

#include <muster/cycle/cycle.hpp>
#include <muster/model/disruption_budget.hpp>
#include <muster/policy/consolidation.hpp>
#include <muster/policy/victim_rule.hpp>

#include "evicting.hpp"

namespace cycle_eviction_memory_test {

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
    bool starts_anew(bool standing_changed = false) {
        return !memory.begin(known, rule, no_consolidation{}, {}, standing_changed);
    }
    [[nodiscard]] bool holds(std::int64_t steps = 100, std::int64_t now = 0) const {
        return memory.holds(known, gang_at(known, "new"), steps, now);
    }

    cluster known;
    t9k_preemption rule;
    std::optional<std::int64_t> again;
    detail::eviction_memory<core_of<traits>> memory;
};

/// Devices are full, nobody may be evicted, and many wait.
struct full_cluster {
    full_cluster() : known(machines(2)) {
        add_running(known, "a", 8, "n0", "high");
        add_running(known, "b", 8, "n1", "high");
        for (int at = 0; at < 20; ++at)
            add_gang(known, "w" + std::to_string(at), 1, 8, "low");
        static_cast<void>(cycle(known, 0, how));
    }

    cluster known;
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

TEST_CASE_FIXTURE(refused_once, "a refusal ends when a gang changes of which members stand") {
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

TEST_CASE_FIXTURE(full_cluster, "a gang that comes to wait makes nobody else be tried again") {
    add_gang(known, "w20", 1, 8, "low");
    const cycle_result alone = cycle(known, 0, how);
    CHECK(alone.counters.asked == 1);
    // All are tried when somebody leaves and another comes in that place.
    ok(known.remove_pod("a-0"));
    ok(known.upsert_pod("a-1", "a", in_phase(pod_phase::running, asking(8)), "n0"));
    const cycle_result all = cycle(known, 0, how);
    CHECK(all.counters.search_steps >= alone.counters.search_steps);
}

TEST_CASE_FIXTURE(full_cluster, "who waits is tried again when a gang becomes easier to evict") {
    auto queue = known[known.find_queue("high")->index].spec;
    queue.priority = 0;
    queue.preemptible = true;
    ok(known.upsert_queue("high", queue));
    CHECK(cycle(known, 0, how).counters.pods_evicted == 2);
}

} // namespace cycle_eviction_memory_test
