// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <muster/cycle/any_policy.hpp>

#include "../builders.hpp"

namespace cycle_any_policy_test {

namespace {

using namespace builders;
using namespace muster;
using core = core_of<traits>;

/// A score that is not an order of nodes.
struct most_gpus_left {
    std::int64_t factor = 1;

    template<std::size_t Width>
    std::int64_t operator()(const placement_weights<Width>&, const resources<Width>& free,
                            const resources<Width>&) const noexcept {
        return factor * free[gpu];
    }
    friend bool operator==(const most_gpus_left&, const most_gpus_left&) = default;
};

cluster two_nodes() {
    cluster known;
    ok(known.upsert_node("few", machine(4, 1)));
    ok(known.upsert_node("many", machine(9, 8)));
    return known;
}

bool makes_room(const any_policy<core>& how) {
    return static_cast<bool>(detail::make_room_by(how));
}

std::string place_one(cluster& known, const std::string& gang, const any_policy<core>& how) {
    add_gang(known, gang, 1, 1);
    cycle_result result;
    cycle(known, 0, how, {}, {}, result);
    return node_of(known, gang + "-0");
}

} // namespace

TEST_CASE("any_policy: a cycle goes by the score that is assigned") {
    cluster known = two_nodes();
    any_policy<core> how;
    CHECK(place_one(known, "packed", how) == "few");
    how.score = most_gpus_left{};
    CHECK(place_one(known, "by-gpus", how) == "many");
    how.score = most_gpus_left{-1};
    CHECK(place_one(known, "by-fewest-gpus", how) == "few");
    how.score = worst_fit{};
    CHECK(place_one(known, "spread", how) == "many");
}

TEST_CASE("any_policy: a score that is an order of nodes keeps it, any other has none") {
    CHECK(any_score<4>(best_fit{}).kept_order() == placement_order::most_allocated);
    CHECK(any_score<4>(worst_fit{}).kept_order() == placement_order::least_allocated);
    CHECK_FALSE(any_score<4>(most_gpus_left{}).kept_order());
    CHECK(any_score<4>(most_gpus_left{}) == any_score<4>(most_gpus_left{}));
    CHECK_FALSE(any_score<4>(most_gpus_left{}) == any_score<4>(most_gpus_left{2}));
    CHECK_FALSE(any_score<4>(best_fit{}) == any_score<4>(worst_fit{}));
}

TEST_CASE("any_policy: the pass that evicts is there only with a rule that may evict or move") {
    any_policy<core> how;
    CHECK_FALSE(makes_room(how));
    how.victims = t9k_preemption{};
    CHECK(makes_room(how));
    how.victims = no_eviction{};
    CHECK_FALSE(makes_room(how));
    how.consolidation = move_preemptible{};
    CHECK(makes_room(how));
}

TEST_CASE("any_policy: a rule that is assigned evicts") {
    cluster known;
    ok(known.upsert_node("n", machine(4)));
    ok(known.upsert_queue("q", quota_of(9)));
    add_running(known, "low", 4, "n", "q");
    cluster::gang_type high = gang_of(1, "q");
    high.priority = 7;
    ok(known.upsert_gang("high", high));
    add_members(known, "high", 1, asking(4));
    any_policy<core> how;
    cycle_result result;
    cycle(known, 0, how, {}, {}, result);
    CHECK(result.counters.pods_evicted == 0);
    how.victims = priority_preemption{};
    cycle(known, 1, how, {}, {}, result);
    CHECK(result.counters.pods_evicted == 1);
}

TEST_CASE("any_policy: orders and rules have the properties of the types that they hold") {
    CHECK(any_gang_order(priority_then_age{}).is_timeless());
    CHECK_FALSE(any_gang_order(shortest_first<>{}).is_timeless());
    CHECK(any_queue_order(fair_share_first{}).by_fair_share());
    CHECK(any_queue_order(fair_share_first{}).counts_next_gang());
    CHECK_FALSE(any_queue_order(priority_then_share{}).by_fair_share());
    const any_victim_rule kai = for_surplus_too<newest_first<kai_reclaim<true>>>{};
    CHECK(kai.for_surplus());
    CHECK(kai.in_order());
    CHECK(kai.by_fair_share());
    CHECK_FALSE(kai.spares_all());
    CHECK(kai.is_timeless());
    CHECK_FALSE(any_victim_rule(after_min_runtime<priority_preemption>{{}, 10}).is_timeless());
    CHECK(any_victim_rule(no_eviction{}).is_none());
    CHECK_FALSE(any_victim_rule(retry_affinity{}).is_none());
    CHECK(any_victim_rule(retry_affinity{}).spares_all());
    CHECK(any_reservation_rule(easy_backfill{5}).planned() == 1);
    CHECK(any_reservation_rule(easy_backfill{5}).max_bypasses() == 5);
    CHECK(any_surplus_rule(surplus_in_turn{2, true}).per_turn() == surplus_request{2, true});
    CHECK(any_surplus_rule(surplus_in_turn{}).takes_turns());
    CHECK_FALSE(any_surplus_rule(surplus_at_once{}).takes_turns());
    CHECK(any_staleness_rule(keep_stale{}).is_none());
    CHECK(any_staleness_rule(evict_stale{9})(std::nullopt) == 9);
    CHECK(any_consolidation_rule(move_preemptible{0, 5}).kept_until(10) == 15);
    CHECK_FALSE(any_consolidation_rule(no_consolidation{}).kept_until(10));
}

TEST_CASE("any_policy: the time at which a rule may allow more is that of the rule it holds") {
    gang_view victim;
    victim.since = 3;
    const any_victim_rule guarded = after_min_runtime<priority_preemption>{{}, 10};
    CHECK(guarded.next_change(victim, 4) == 13);
    CHECK_FALSE(guarded.next_change(victim, 13));
    CHECK_FALSE(any_victim_rule(priority_preemption{}).next_change(victim, 4));
}

} // namespace cycle_any_policy_test
