// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <muster/testing/random.hpp>
#include <support/cases.hpp>
#include <support/pod_rules.hpp>

#include "../builders.hpp"
#include "crowded_pods.hpp"
#include "least_victims.hpp"

namespace preempt_evictions_among_pods_test {

namespace {

using namespace builders;
using namespace muster;
using namespace muster::testing;

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

struct sparing : policy<> {
    retry_affinity victims;
};

void add_ranked(cluster& to, const std::string& gang, std::int64_t priority,
                std::int64_t members = 1) {
    auto made = gang_of(members);
    made.priority = priority;
    ok(to.upsert_gang(gang, made));
}

cluster::pod_type labelled(cluster::pod_type made, const char* app) {
    made.labels = {{"app", app}};
    return made;
}

affinity_term near(const char* app, const char* level = "zone") {
    return {{label_is("app", app), {}}, level};
}

cluster::pod_type seeking(cluster::pod_type made, const char* app) {
    made.where.pods.emplace();
    made.where.pods->affinity.push_back(near(app));
    return made;
}

cluster::pod_type avoiding(cluster::pod_type made, const char* app, const char* level = "zone") {
    made.where.pods.emplace();
    made.where.pods->anti_affinity.push_back(near(app, level));
    return made;
}

std::size_t evictions(cluster& known) {
    return cycle(known, 0, preempting{}).counters.pods_evicted;
}

/// As many nodes, each a zone of its own and full of a pod of low priority.
cluster crowded_zones(std::size_t count) {
    cluster known;
    for (std::size_t at = 0; at < count; ++at) {
        const std::string number = std::to_string(at);
        auto spec = machine(8);
        spec.labels = {{"zone", number}};
        ok(known.upsert_node("n" + number, spec));
        add_ranked(known, "low" + number, 0);
        ok(known.upsert_pod("low" + number, "low" + number,
                            labelled(in_phase(pod_phase::running, asking(8)), "x"), "n" + number));
    }
    return known;
}

} // namespace

TEST_CASE("nobody is evicted for a pod that seeks those who would go") {
    cluster known = one_node(8);
    add_ranked(known, "low", 0);
    ok(known.upsert_pod("low-0", "low", labelled(in_phase(pod_phase::running, asking(8)), "x"),
                        "n"));
    add_ranked(known, "high", 1);
    SUBCASE("with a required term") {
        ok(known.upsert_pod("high-0", "high", seeking(asking(1), "x")));
        CHECK(evictions(known) == 0);
        CHECK(evictions(known) == 0);
    }
    SUBCASE("without any it is") {
        ok(known.upsert_pod("high-0", "high", asking(1)));
        CHECK(evictions(known) == 1);
    }
}

TEST_CASE("of two that would make room the one goes that the gang does not seek") {
    cluster known = one_node(8);
    for (const char* name : {"a", "b"}) {
        add_ranked(known, name, 0);
        ok(known.upsert_pod(name, name, labelled(in_phase(pod_phase::running, asking(4)), name),
                            "n"));
    }
    add_ranked(known, "high", 1);
    ok(known.upsert_pod("high-0", "high", seeking(asking(2), "b")));
    CHECK(evictions(known) == 1);
    CHECK(known[known.find_pod("a")->index].evicted);
    ok(known.remove_pod("a"));
    static_cast<void>(cycle(known, 1, preempting{}));
    CHECK(node_of(known, "high-0") == "n");
}

TEST_CASE("a rule that spares everybody leaves all waiting but those on whom terms bear") {
    cluster known = one_node(8);
    add_ranked(known, "old", 0);
    ok(known.upsert_pod("old", "old", in_phase(pod_phase::running, asking(6)), "n"));
    ok(known.evict("old"));
    // By its turn it is asked before whom it seeks stands.
    add_ranked(known, "seeker", 2);
    ok(known.upsert_pod("seeker", "seeker", seeking(asking(1), "x")));
    add_ranked(known, "sought", 1);
    ok(known.upsert_pod("sought", "sought", labelled(asking(1), "x")));
    add_ranked(known, "plain", 0);
    ok(known.upsert_pod("plain", "plain", asking(6)));

    const cycle_result result = cycle(known, 0, sparing{});
    CHECK(node_of(known, "sought") == "n");
    CHECK(known[known.find_pod("seeker")->index].nominated);
    // As without a rule it waits until the room of who leaves is free.
    CHECK_FALSE(known[known.find_pod("plain")->index].nominated);
    CHECK(result.counters.pods_nominated == 1);
    ok(known.remove_pod("old"));
    static_cast<void>(cycle(known, 1, sparing{}));
    CHECK(node_of(known, "seeker") == "n");
    CHECK(node_of(known, "plain") == "n");
}

TEST_CASE("who keeps a gang off goes, and who is on its way out does so no more") {
    cluster known = one_node(8);
    add_ranked(known, "low", 0);
    const auto repelling = avoiding(in_phase(pod_phase::running, asking(1)), "x");
    ok(known.upsert_pod("low-0", "low", repelling, "n"));
    add_ranked(known, "high", 1);
    ok(known.upsert_pod("high-0", "high", labelled(asking(1), "x")));
    CHECK(evictions(known) == 1);
    SUBCASE("it comes when the other is gone, and not before") {
        CHECK(known[gang_at(known, "high")].nominated == 1);
        ok(known.upsert_node("n", [] {
            auto spec = machine(9);
            spec.labels = {{"zone", "a"}};
            return spec;
        }()));
        CHECK(evictions(known) == 0);
        CHECK(known[gang_at(known, "high")].nominated == 1);
        ok(known.remove_pod("low-0"));
        static_cast<void>(cycle(known, 2, preempting{}));
        CHECK(known[gang_at(known, "high")].nominated == 0);
        CHECK(node_of(known, "high-0") == "n");
    }
}

TEST_CASE("members that keep apart have room made for each in a zone of its own") {
    // Too many to try every set.
    cluster known = crowded_zones(20);
    add_ranked(known, "high", 1, 3);
    for (int at = 0; at < 3; ++at)
        ok(known.upsert_pod("high-" + std::to_string(at), "high",
                            avoiding(labelled(asking(2), "y"), "y")));
    CHECK(evictions(known) == 3);
    CHECK(evictions(known) == 0);
}

TEST_CASE("among many who could go those stay that the gang seeks") {
    cluster known = crowded_zones(20);
    auto spec = machine(8);
    spec.labels = {{"zone", "7"}};
    ok(known.upsert_node("other", spec));
    add_ranked(known, "full", 0);
    ok(known.upsert_pod("full", "full", in_phase(pod_phase::running, asking(8)), "other"));
    add_ranked(known, "high", 1);
    ok(known.upsert_pod("high-0", "high", seeking(asking(8), "x")));
    CHECK(evictions(known) == 1);
    CHECK(known[known.find_pod("full")->index].evicted);
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
        ok(known.upsert_pod("other-0", "other",
                            avoiding(in_phase(pod_phase::running, asking(1)), "x"), "n"));
        ok(known.remove_pod("low-0"));
        static_cast<void>(cycle(known, 0, preempting{}));
        CHECK_FALSE(is(answered(known, "high"), answer::admitted));
        CHECK(known[gang_at(known, "high")].nominated == 0);
        CHECK(free_cpu(known, "n") == 8);
    }
}

namespace {

world crowded(std::uint64_t seed) {
    return crowded_pods::make(seed, 30);
}

/// The least set of all, by trying every one.
std::optional<std::vector<pod_index>> least_of_all(const world_state& known, gang_index by) {
    return least_victims::of_all(
        known, by, [](gang_index) { return true; },
        [&](gang_index which) { return std::pair(std::int64_t{0}, known[which].spec.priority); },
        [](const std::vector<pod_index>&) { return true; },
        [](const world_state& without) {
            return pod_brute_force<world_traits>(without, without.find_gang("new")->index).fits();
        });
}

struct tally {
    std::size_t evicting = 0;
    std::size_t hopeless = 0;
};

std::string check_evictions(const world& from, tally& counts) {
    world_state known = to_state(from);
    const auto found = known.find_gang("new");
    if (!found || known[found->index].members.empty() || !pods_bear_on(known, found->index))
        return {};
    const gang_index which = found->index;
    const world_state before = known;
    preempting evicting;
    const cycle_result result = cycle(known, 0, evicting);
    const auto evicted = least_victims::evicted_for(result, which);
    if (!evicted)
        return "order: somebody else evicts";
    const std::vector<pod_index>& gone = *evicted;
    const bool starts = known[which].last.kind == answer::admitted;
    if (starts && gone.empty())
        return {};
    if (!starts && known[which].last.at != gate::space && known[which].last.at != gate::quota)
        return {};
    const auto expected = least_of_all(before, which);
    counts.hopeless += expected ? 0U : 1U;
    if (std::string fault = least_victims::difference(before, gone, expected);
        !fault.empty() || !expected)
        return fault;
    ++counts.evicting;
    if (known[which].nominated == 0)
        return "nominated: nobody comes for who goes";
    // Who is on its way out counts for spread no more, so that a gang may come before it is gone.
    const auto accounts = known.accounts();
    const auto again = cycle(known, 1, evicting).counters;
    if (again.pods_evicted > 0)
        return "again: a cycle on an unchanged cluster evicts more";
    if (known[which].nominated > 0 && known.accounts() != accounts)
        return "again: a cycle on an unchanged cluster changes something";
    for (const pod_index pod : gone)
        expect_applied(known.remove_pod(before.key(pod)));
    static_cast<void>(cycle(known, 2, evicting));
    if (known[which].nominated > 0)
        return "bound: who was nominated did not come";
    if (!reaches_minima(known[which].spec.tree, members_of(known, which).holding))
        return "bound: the gang did not start";
    return {};
}

TEST_CASE("on small clusters exactly the least set goes with which terms let the gang start") {
    tally counts;
    CHECK(count_faults("evictions among pods", 500, crowded,
                       [&](const world& from) { return check_evictions(from, counts); }) == 0);
    std::printf("evictions among pods: %zu worlds, %zu where nothing helps\n", counts.evicting,
                counts.hopeless);
    if (all_cases(500))
        CHECK((counts.evicting > 20 && counts.hopeless > 20));
}

} // namespace

} // namespace preempt_evictions_among_pods_test
