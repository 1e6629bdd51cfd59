// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/advice/forecast.hpp>
#include <support/cases.hpp>

namespace advice_forecast_test {

using namespace muster;
using namespace muster::testing;

namespace {

using named_starts = std::vector<std::pair<std::string, std::int64_t>>;

/// Some pods never end, the others after a few units.
std::optional<std::int64_t> run_time(const std::string& key) {
    const int last = key.back();
    return last % 5 == 0 ? std::nullopt : std::optional<std::int64_t>(1 + last % 4);
}

std::optional<std::int64_t> end_of(const std::string& key, std::optional<std::int64_t> start) {
    const auto run = run_time(key);
    return run ? std::optional(start.value_or(-1) + *run) : std::nullopt;
}

/// The same by a world that is changed as time goes by and made into a new state each time.
named_starts play(world now) {
    named_starts starts;
    std::map<std::string, std::int64_t> ends;
    for (const auto& pod : now.pods)
        if (pod.on && pod.spec.phase != pod_phase::succeeded && pod.spec.phase != pod_phase::failed)
            if (const auto at = end_of(pod.key, std::nullopt))
                ends[pod.key] = std::max<std::int64_t>(0, *at);
    for (std::int64_t time = 0;;) {
        world_state known = to_state(now);
        const cycle_result result = cycle(known, time);
        for (const decision& made : result.decisions) {
            const std::string& key = known.key(made.gang);
            if (!made.placements.empty() &&
                std::ranges::find(starts, key, &named_starts::value_type::first) == starts.end())
                starts.emplace_back(key, time);
            for (const placement& one : made.placements)
                if (const auto at = end_of(known.key(one.pod), time))
                    ends[known.key(one.pod)] = *at;
        }
        for (auto& pod : now.pods) {
            const auto& record = known[known.find_pod(pod.key)->index];
            if (record.assumed) {
                pod.on = known.key(*record.node);
                pod.spec.phase = pod_phase::running;
            }
        }
        if (ends.empty())
            return starts;
        time = std::ranges::min_element(ends, {}, [](const auto& each) {
                   return each.second;
               })->second;
        std::erase_if(now.pods, [&](const auto& pod) {
            return pod.spec.terminating && ends.contains(pod.key) && ends[pod.key] == time;
        });
        for (auto& pod : now.pods)
            if (ends.contains(pod.key) && ends[pod.key] == time)
                pod.spec.phase = pod_phase::succeeded;
        std::erase_if(ends, [&](const auto& each) { return each.second == time; });
    }
}

named_starts foresee(const world_state& known, const forecast_options& options = {}) {
    const auto ahead = forecast(
        known, 0, policy<>{},
        [&](pod_index pod, std::optional<std::int64_t> start) {
            return end_of(known.key(pod), start);
        },
        options);
    named_starts starts;
    for (const expected_start& each : ahead.starts)
        starts.emplace_back(known.key(each.gang), each.at);
    return starts;
}

std::string check_forecast(const world& from) {
    const world_state known = to_state(from);
    const auto before = known.accounts();
    if (foresee(known) != play(from))
        return "forecast: it is not what happens";
    return known.accounts() == before ? "" : "forecast: it changed the state";
}

} // namespace

TEST_CASE("gangs that wait for one node start one after the other, when pods end") {
    state<testing::world_traits> known;
    constexpr kind_id cpu{0};
    node<testing::world_width> machine;
    machine.allocatable[cpu] = 4;
    REQUIRE(known.upsert_node("a", machine) == event_result::applied);
    for (const std::string key : {"g1", "g2", "g3", "g4"}) {
        REQUIRE(known.upsert_gang(key, {.tree = single_role(1)}) == event_result::applied);
        pod<testing::world_width> one;
        one.request[cpu] = 3;
        REQUIRE(known.upsert_pod(key + "-pod", key, one) == event_result::applied);
    }
    const auto ends = [&](pod_index pod, std::optional<std::int64_t> start) {
        return known.key(pod) == "g3-pod" ? std::nullopt : std::optional(start.value_or(0) + 10);
    };
    const auto ahead = forecast(known, 100, policy<>{}, ends);
    REQUIRE(ahead.starts.size() == 3); // g3 never ends, so g4 never starts
    CHECK(ahead.complete);
    for (std::size_t at = 0; at < 3; ++at) {
        CHECK(known.key(ahead.starts[at].gang) == "g" + std::to_string(at + 1));
        CHECK(ahead.starts[at].at == 100 + 10 * static_cast<std::int64_t>(at));
    }
    const auto cut = forecast(known, 100, policy<>{}, ends, {2, {}});
    CHECK_FALSE(cut.complete);
    CHECK(cut.starts.size() == 2);
}

TEST_CASE("a gang that starts by evicting starts once its victims are gone") {
    state<testing::world_traits> known;
    constexpr kind_id cpu{0};
    node<testing::world_width> machine;
    machine.allocatable[cpu] = 4;
    REQUIRE(known.upsert_node("a", machine) == event_result::applied);
    pod<testing::world_width> one;
    one.request[cpu] = 4;
    REQUIRE(known.upsert_gang("low", {.tree = single_role(1)}) == event_result::applied);
    one.phase = pod_phase::running;
    REQUIRE(known.upsert_pod("low-pod", "low", one, "a") == event_result::applied);
    REQUIRE(known.upsert_gang("high", {.priority = 1, .tree = single_role(1)}) ==
            event_result::applied);
    one.phase = pod_phase::pending;
    REQUIRE(known.upsert_pod("high-pod", "high", one) == event_result::applied);
    const auto ends = [&](pod_index, std::optional<std::int64_t> start) {
        return std::optional(start.value_or(0) + 10); // for the victim, an end that never comes
    };
    const policy how{
        best_fit{},        priority_then_age{}, priority_then_share{},    no_reservations{},
        surplus_at_once{}, most_packed{},       priority_preemption{true}};
    const auto ahead = forecast(known, 5, how, ends);
    REQUIRE(ahead.starts.size() == 1);
    CHECK(known.key(ahead.starts.front().gang) == "high");
    CHECK(ahead.starts.front().at == 5);
    REQUIRE(forecast(known, 5, policy<>{}, ends).starts.size() == 1);
    CHECK(forecast(known, 5, policy<>{}, ends).starts.front().at == 10);
}

TEST_CASE("a forecast is what happens to a cluster that is made anew each time pods end") {
    CHECK(count_faults(
              "forecasts", 3'000, [](std::uint64_t seed) { return world_generator(seed).make(); },
              check_forecast) == 0);
}

} // namespace advice_forecast_test
