// SPDX-License-Identifier: Apache-2.0
#include <muster/greedy/affinity_coming.hpp>

#include <initializer_list>
#include <string>

#include <doctest/doctest.h>

#include <muster/builders.hpp>

namespace greedy_affinity_coming_test {

using namespace builders;
using namespace muster;

namespace {

/// One pod of the app in zone a, two in zone b, and a gang of two more for zone b, of which `even`
/// is to be spread.
struct scene {
    cluster known;

    scene() {
        for (const char* node : {"a", "b"}) {
            auto spec = machine(9);
            spec.labels = {{"zone", node}};
            ok(known.upsert_node(node, spec));
        }
        auto one = in_phase(pod_phase::running, asking(1));
        one.labels = {{"app", "mine"}};
        ok(known.upsert_gang("runs", gang_of(3)));
        ok(known.upsert_pod("runs-0", "runs", one, "a"));
        ok(known.upsert_pod("runs-1", "runs", one, "b"));
        ok(known.upsert_pod("runs-2", "runs", one, "b"));
        ok(known.upsert_gang("g", gang_of(2)));
        auto spec = asking(1);
        spec.labels = one.labels;
        ok(known.upsert_pod("any", "g", spec));
        spread_term spread;
        spread.pods = {label_is("app", "mine"), {}};
        spread.topology = "zone";
        spread.max_skew = 2;
        spec.where.pods = pod_terms{};
        spec.where.pods->spread.push_back(spread);
        ok(known.upsert_pod("even", "g", spec));
    }

    [[nodiscard]] bool come(std::initializer_list<const char*> order, const std::string& node) {
        for (const char* pod : order)
            ok(known.nominate(pod, node));
        const bool now = terms_let_come(known, gang_at(known, "g"), false);
        CHECK(terms_let_come(known, gang_at(known, "g"), true) == now);
        return now;
    }
};

} // namespace

TEST_CASE_FIXTURE(scene, "members come as they were nominated, whatever their keys") {
    // With `even` zone b is ahead by two, which is what it allows; nobody asks when `any` comes.
    CHECK(come({"even", "any"}, "b"));
}

TEST_CASE_FIXTURE(scene, "members whom terms hinder do not come") {
    ok(known.remove_pod("runs-0"));
    CHECK_FALSE(come({"even", "any"}, "b"));
}

TEST_CASE_FIXTURE(scene, "members on whom no terms bear come in any case") {
    ok(known.remove_pod("even"));
    CHECK(come({"any"}, "b"));
}

} // namespace greedy_affinity_coming_test
