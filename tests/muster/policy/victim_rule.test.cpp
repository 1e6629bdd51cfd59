// SPDX-License-Identifier: Apache-2.0
#include <muster/policy/kai_reclaim.hpp>
#include <muster/policy/kueue_preemption.hpp>
#include <muster/policy/t9k_preemption.hpp>
#include <muster/policy/victim_rule.hpp>
#include <muster/policy/victim_rule_adaptors.hpp>
#include <muster/policy/volcano_reclaim.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>

#include <muster/testing/random.hpp>

namespace policy_victim_rule_test {

namespace {

using namespace muster;

gang_view any_side(testing::random& draw) {
    gang_view side;
    if (draw.percent(80))
        side.queue = queue_index{static_cast<std::size_t>(draw.between(0, 2))};
    side.queue_priority = draw.between(0, 2);
    side.queue_preemptible = draw.percent(80);
    side.preemptible = draw.percent(80);
    side.priority = draw.between(0, 4);
    side.created = draw.between(0, 4);
    side.within_queue = static_cast<preemption_scope>(draw.between(0, 3));
    side.within_cohort = static_cast<preemption_scope>(draw.between(0, 3));
    if (draw.percent(50))
        side.borrow_within_cohort = draw.between(0, 4);
    side.queues_in_common = draw.between(0, 2);
    return side;
}

/// Counts the pairs for which the rule breaks its preconditions: it spares `of`, but not one that
/// is alike except that its priority is higher, or that it is older.
template<class Rule>
int breaches(const Rule& rule) {
    testing::random draw(3);
    int found = 0;
    int spared = 0;
    for (int round = 0; round < 20'000; ++round) {
        const gang_view by = any_side(draw);
        const gang_view of = any_side(draw);
        gang_view stronger = of;
        stronger.priority += draw.between(0, 2);
        stronger.created -= draw.between(0, 2);
        if (rule(by, of, 0))
            continue;
        ++spared;
        found += rule(by, stronger, 0) ? 1 : 0;
    }
    CHECK(spared > 1'000);
    return found;
}

/// Breaks the precondition: it spares low priorities.
struct upside_down : priority_preemption {
    [[nodiscard]] std::optional<victim_terms> operator()(const gang_view& by, const gang_view& of,
                                                         std::int64_t now) const noexcept {
        return priority_preemption{true}(of, by, now);
    }
};

} // namespace

TEST_CASE("rules that spare a gang spare older ones and those of higher priority") {
    CHECK(breaches(t9k_preemption{}) == 0);
    CHECK(breaches(t9k_preemption{true}) == 0);
    CHECK(breaches(priority_preemption{}) == 0);
    CHECK(breaches(priority_preemption{true}) == 0);
    CHECK(breaches(reclaim_above_deserved{}) == 0);
    CHECK(breaches(kai_reclaim<true>{}) == 0);
    CHECK(breaches(volcano_reclaim{1}) == 0);
    CHECK(breaches(kueue_preemption{}) == 0);
    CHECK(breaches(first_of<priority_preemption, reclaim_above_deserved>{}) == 0);
    CHECK(breaches(whole_gangs<priority_preemption>{{true}}) == 0);
    CHECK(breaches(upside_down{}) > 0);
}

} // namespace policy_victim_rule_test
