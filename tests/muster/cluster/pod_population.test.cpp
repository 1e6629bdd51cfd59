// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/cluster/state.hpp>
#include <muster/testing/random.hpp>

namespace cluster_pod_population_test {

using namespace muster;
using cluster = state<string_traits<2>>;

namespace {

/// How many are there: staying, leaving, coming, and of those who come how many seek others.
using presences = std::array<std::int32_t, 4>;
/// What a selector finds, node by node.
using counts = std::map<std::string, presences>;

presences in_order(const pod_counts& of) {
    return {of.staying, of.leaving, of.coming, of.seeking};
}

counts found_by(const cluster& known, selector_index which) {
    counts found;
    for (const identity_index who : known.population().matched(which))
        for (const pod_counts& each : known.population().counts_of(who)) {
            presences& here = found[known.key(each.node)];
            for (std::size_t how = 0; how < here.size(); ++how)
                here[how] += in_order(each)[how];
        }
    return found;
}

void add(const cluster& known, pod_index which, counts& to) {
    const auto& pod = known[which];
    presences& here = to[known.key(*pod.node)];
    ++here[pod.nominated ? 2 : pod.terminating || pod.evicted ? 1 : 0];
    const auto& terms = known.where(which).value.pods;
    here[3] += pod.nominated && terms && !terms->affinity.empty() ? 1 : 0;
}

counts counted(const cluster& known, const pod_selector& which) {
    counts found;
    for (const auto& [key, at] : known.pod_keys()) {
        const auto& pod = known[at];
        if (!pod.charged() ||
            !which.matches(known.label_sets()[pod.labels], known[pod.gang].spec.tenant))
            continue;
        add(known, at, found);
    }
    return found;
}

counts carrying(const cluster& known, constraint_index where) {
    counts found;
    for (const auto& [key, at] : known.pod_keys()) {
        const auto& pod = known[at];
        if (!pod.charged() || known.shapes()[pod.shape].where != where)
            continue;
        add(known, at, found);
    }
    return found;
}

counts as_counts(const cluster& known, const muster::detail::sequence<pod_counts>& list) {
    counts found;
    for (const pod_counts& each : list)
        found[known.key(each.node)] = in_order(each);
    return found;
}

label_selector is(std::string key, std::string value) {
    return {{{std::move(key), label_operator::in, {std::move(value)}}}};
}

/// Everything that the population keeps is what the records say.
void compare(const cluster& known) {
    const pod_population& population = known.population();
    if (!population.active())
        return;
    std::map<selector_index, std::int64_t> repelling;
    for (const auto& [key, at] : known.pod_keys()) {
        const constraint_index where = known.shapes()[known[at].shape].where;
        const auto& value = known.where(at).value;
        const known_terms* terms = population.terms(where);
        REQUIRE((terms != nullptr) == value.pods.has_value());
        if (!terms)
            continue;
        REQUIRE(as_counts(known, terms->counts) == carrying(known, where));
        for (std::size_t term = 0; term < terms->anti_affinity.size(); ++term) {
            const known_term& mine = terms->anti_affinity[term];
            REQUIRE(found_by(known, mine.pods) ==
                    counted(known, value.pods->anti_affinity[term].pods));
            REQUIRE(known.topologies()[mine.topology].value().levels ==
                    std::vector{value.pods->anti_affinity[term].topology});
            REQUIRE(std::ranges::find(population.carriers(mine.pods), where) !=
                    population.carriers(mine.pods).end());
            repelling[mine.pods] += known[at].charged() ? 1 : 0;
        }
        for (std::size_t term = 0; term < terms->affinity.size(); ++term)
            REQUIRE(found_by(known, terms->affinity[term].pods) ==
                    counted(known, value.pods->affinity[term].pods));
        for (std::size_t term = 0; term < terms->spread.size(); ++term)
            REQUIRE(found_by(known, terms->spread[term].pods) ==
                    counted(known, value.pods->spread[term].pods));
    }
    bool anybody_comes = false;
    for (const auto& [key, at] : known.pod_keys()) {
        anybody_comes = anybody_comes || known[at].nominated;
        const identity_index who =
            population.identity_of(known[at].labels, known[known[at].gang].tenant);
        bool repelled = false;
        for (const auto& [selector, count] : repelling)
            repelled = repelled || (count > 0 && population.matches(selector, who));
        REQUIRE(population.repelled(who) == repelled);
    }
    REQUIRE(population.anybody_comes() == anybody_comes);
}

} // namespace

TEST_CASE("a state without terms counts nobody") {
    cluster known;
    pod<2> one;
    one.labels = {{"app", "web"}};
    CHECK(known.upsert_pod("a", "g", one, "n") == event_result::applied);
    CHECK(!known.population().active());
    CHECK(!known.population().in_use());
    CHECK(known.spec_of(known.find_pod("a")->index).labels == one.labels);
}

TEST_CASE("pods that came before the first term are counted by it") {
    cluster known;
    pod<2> one;
    one.labels = {{"app", "web"}};
    CHECK(known.upsert_pod("a", "g", one, "n") == event_result::applied);
    pod<2> other;
    other.where.pods.emplace();
    other.where.pods->anti_affinity.push_back({{is("app", "web"), {}}, "host"});
    CHECK(known.upsert_pod("b", "h", other) == event_result::applied);
    CHECK(known.population().in_use());
    compare(known);
    const auto* terms =
        known.population().terms(known.shapes()[known[known.find_pod("b")->index].shape].where);
    REQUIRE(terms);
    CHECK(found_by(known, terms->anti_affinity[0].pods) == counts{{"n", {1, 0, 0, 0}}});
    CHECK(known.remove_pod("b") == event_result::applied);
    CHECK(!known.population().in_use());
}

TEST_CASE("who stands where is what the records say, whatever happened") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        testing::random chance(seed);
        cluster known;
        const auto any = [&](const char* names) { return std::string(1, names[chance.below(3)]); };
        for (int step = 0; step < 120; ++step) {
            const std::string key = "p" + std::to_string(chance.below(8));
            switch (chance.below(10)) {
            case 0: {
                gang<std::string> group;
                if (chance.percent(70))
                    group.tenant.set("team", any("xyz"));
                static_cast<void>(known.upsert_gang("g" + any("123"), group));
                break;
            }
            case 1:
                static_cast<void>(known.remove_gang("g" + any("123")));
                break;
            case 2:
                static_cast<void>(known.remove_pod(key));
                break;
            case 3: {
                node<2> machine;
                machine.labels.set("zone", any("abc"));
                static_cast<void>(known.upsert_node("n" + any("123"), machine));
                break;
            }
            case 4:
                static_cast<void>(known.finish_gang("g" + any("123")));
                break;
            case 5:
                static_cast<void>(known.nominate(key, "n" + any("123")));
                break;
            case 6:
                if (chance.percent(50))
                    static_cast<void>(known.evict(key));
                else
                    static_cast<void>(known.forget(key));
                break;
            default: {
                pod<2> one;
                const auto old = known.find_pod(key);
                const std::string gang = old ? known.key(known[old->index].gang) : "g" + any("123");
                one.request[0] = chance.percent(3) ? std::int64_t{1} << 62 : 1;
                if (chance.percent(70))
                    one.labels.set("app", any("uvw"));
                one.terminating = chance.percent(15);
                if (chance.percent(15))
                    one.phase = pod_phase::succeeded;
                if (step > 20 && chance.percent(50)) {
                    one.where.pods.emplace();
                    pod_selector which;
                    which.labels = is("app", any("uvw"));
                    if (chance.percent(50))
                        which.tenants = {is("team", any("xyz"))};
                    if (chance.percent(20))
                        one.where.pods->affinity.push_back({which, "zone"});
                    else if (chance.percent(60))
                        one.where.pods->anti_affinity.push_back({which, "zone"});
                    else
                        one.where.pods->spread.push_back({which, "rack"});
                }
                std::optional<std::string> on;
                if (chance.percent(60))
                    on = "n" + any("123");
                static_cast<void>(known.upsert_pod(key, gang, one, on));
            }
            }
            compare(known);
            const cluster copy = known;
            compare(copy);
        }
    }
}

} // namespace cluster_pod_population_test
