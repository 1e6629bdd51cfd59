// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <support/cases.hpp>
#include <support/pod_worlds.hpp>

#include "random_events.hpp"

namespace cycle_asked_anew_test {

namespace {

using namespace muster;
using namespace muster::testing;

/// All that may make room for somebody, at once.
struct busy_policy : policy<> {
    priority_preemption victims{true};
    move_preemptible consolidation;
};

/// What was answered last to every gang, where every pod stands or is to come, and who is to go.
std::string remembered(const world_state& known) {
    std::string out;
    for (const auto& [key, which] : known.gang_keys())
        out += key + " " + std::to_string(static_cast<int>(known[which].last.kind)) + "/" +
               std::to_string(static_cast<int>(known[which].last.at)) + "; ";
    for (const auto& [key, which] : known.pod_keys()) {
        const auto& pod = known[which];
        if (pod.node)
            out += key +
                   (pod.evicted     ? " leaves "
                    : pod.nominated ? " comes to "
                                    : " on ") +
                   known.key(*pod.node) + "; ";
    }
    return out;
}

/// The same state, and its index and agenda are made anew and every gang is asked.
world_state to_be_asked(const world_state& known) {
    world_state copy = known;
    for (const auto& [key, which] : known.gang_keys())
        if (known[which].present)
            expect_applied(copy.upsert_gang(key, known.spec_of(which)));
    return copy;
}

/// What became of what the cycle said: who was told to go goes or, now and then, stays; who was
/// assumed is bound or, now and then, still on its way.
void carry_out(world& in, world_state& known, testing::random& chance) {
    for (std::size_t at = 0; at < in.pods.size();) {
        auto& pod = in.pods[at];
        const auto& record = known[known.find_pod(pod.key)->index];
        if (record.evicted && !record.terminating && chance.percent(60)) {
            if (chance.percent(75)) {
                expect_applied(known.remove_pod(pod.key));
                in.pods.erase(in.pods.begin() + static_cast<std::ptrdiff_t>(at));
                continue;
            }
            expect_applied(known.keep(pod.key));
        } else if (record.assumed) {
            pod.on = known.key(*record.node);
            pod.spec.phase = pod_phase::bound;
            if (chance.percent(50))
                expect_applied(known.confirm_bound(pod.key));
        }
        ++at;
    }
}

std::string check_asked_anew(const world& from) {
    if (from.gangs.empty() || from.nodes.empty())
        return {};
    testing::random chance(from.seed + 4);
    world now = from;
    world_state living = to_state(now);
    random_events::source events(now, living, chance);
    for (int turn = 0; turn < 8; ++turn) {
        world_state anew = to_be_asked(living);
        static_cast<void>(cycle(anew, turn, busy_policy{}));
        static_cast<void>(cycle(living, turn, busy_policy{}));
        if (const std::string lived = remembered(living); lived != remembered(anew))
            return "skips: turn " + std::to_string(turn) + ": " + lived + "\n for " +
                   remembered(anew) + "\n" + text(now);
        carry_out(now, living, chance);
        for (std::int64_t count = chance.between(0, 2); count > 0; --count)
            events.happen();
    }
    return {};
}

} // namespace

TEST_CASE("whoever may evict and move, a cycle that skips ends as one that asks all") {
    CHECK(count_faults("skips and evictions", 2'000, random_world, check_asked_anew) == 0);
    CHECK(count_faults("near-critical skips and evictions", 500, critical_world,
                       check_asked_anew) == 0);
    CHECK(count_faults("skips and evictions with devices", 2'000, carded_world, check_asked_anew) ==
          0);
    CHECK(count_faults("skips and evictions among pods", 1'000, pod_world, check_asked_anew) == 0);
}

} // namespace cycle_asked_anew_test
