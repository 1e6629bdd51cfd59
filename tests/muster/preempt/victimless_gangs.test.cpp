// SPDX-License-Identifier: Apache-2.0
#include <muster/preempt/victimless_gangs.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

#include <muster/policy/victim_rule.hpp>
#include <muster/preempt/candidates.hpp>
#include <muster/preempt/gang_views.hpp>
#include <muster/testing/random.hpp>

#include "crowded_queues.hpp"

namespace preempt_victimless_gangs_test {

namespace {

using namespace muster;
using namespace builders;

using core = core_of<traits>;

/// Returns true if the rule admits a running gang, which is checked for each of them.
bool any_victim(const cluster& known, gang_index starting, const any_victim_rule& rule) {
    for (const gang_index each : known.gang_order()) {
        gang_view side = gang_view_of(known, each);
        side.queues_in_common = queues_in_common(known, side.queue, known[starting].queue);
        const bool runs = known[each].placeable != known[each].members.size();
        if (runs && rule(gang_view_of(known, starting), side, 0))
            return true;
    }
    return false;
}

void change_something(cluster& known, testing::random& draw) {
    const std::string number = std::to_string(draw.between(0, 9));
    switch (draw.between(0, 5)) {
    case 0:
    case 1:
        crowded_queues::add_some_running(known, "r" + number, draw);
        break;
    case 2:
    case 3:
        for (const char* member : {"-0", "-1", "-2", "-3"})
            if (known.find_pod("r" + number + member))
                ok(known.remove_pod("r" + number + member));
        break;
    case 4:
        if (known.find_gang("w" + number))
            ok(known.upsert_gang("w" + number, crowded_queues::some_gang(draw, 1)));
        break;
    default:
        if (draw.percent(20))
            ok(known.upsert_queue(crowded_queues::some_queue_key(draw),
                                  crowded_queues::some_queue(draw)));
    }
}

template<class Rule>
std::size_t known_gangs(const Rule& chosen) {
    testing::random draw(3);
    const any_victim_rule rule(chosen);
    std::size_t hits = 0;
    for (int round = 0; round < 25; ++round) {
        cluster known = crowded_queues::crowded(draw, 10, 8);
        eviction_candidates<core> among;
        detail::victimless_gangs victimless;
        for (int step = 0; step < 25; ++step) {
            change_something(known, draw);
            among.forget();
            among.look(known);
            victimless.begin(step > 0, known.queue_epoch());
            for (const gang_index which : known.gang_order()) {
                among.begin_for(which);
                const bool any = any_victim(known, which, rule);
                if (victimless.contains(which, among, rule, 0)) {
                    ++hits;
                    CHECK(!any);
                    CHECK(!among.any_admitted(rule, 0));
                } else if (!among.any_admitted(rule, 0)) {
                    CHECK(!any);
                    victimless.add(which, among);
                }
            }
        }
    }
    return hits;
}

} // namespace

TEST_CASE("only gangs for which the rule admits no candidate are known to have no victims") {
    CHECK(known_gangs(priority_preemption{true}) > 1000);
    CHECK(known_gangs(priority_preemption{false}) > 1000);
    CHECK(known_gangs(t9k_preemption{}) > 1000);
}

TEST_CASE("another rule forgets which gangs have no victims") {
    cluster known;
    ok(known.upsert_node("n", machine(8)));
    add_running(known, "a", 4, "n");
    add_gang(known, "b", 1, 8);
    eviction_candidates<core> among;
    among.look(known);
    detail::victimless_gangs victimless;
    const priority_preemption rule{true};
    victimless.begin(false, known.queue_epoch());
    among.begin_for(gang_at(known, "b"));
    CHECK(!victimless.contains(gang_at(known, "b"), among, rule, 0));
    victimless.add(gang_at(known, "b"), among);
    CHECK(victimless.contains(gang_at(known, "b"), among, rule, 0));
    victimless.begin(true, known.queue_epoch());
    CHECK(victimless.contains(gang_at(known, "b"), among, rule, 0));
    victimless.begin(false, known.queue_epoch());
    CHECK(!victimless.contains(gang_at(known, "b"), among, rule, 0));
}

} // namespace preempt_victimless_gangs_test
