// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <muster/admission/budget.hpp>
#include <muster/cycle/decision.hpp>
#include <muster/cycle/engine.hpp>
#include <muster/cycle/policy.hpp>
#include <muster/cycle/round.hpp>
#include <muster/index/placement_order.hpp>
#include <muster/model/cluster_state.hpp>

namespace muster::inline v0_1 {

/// One scheduling cycle at time `now` (the caller's unit): asks the gangs in the order of queues
/// and within them, starts those that fit, whole or not at all, and commits what starts as
/// assumed. Answers into `result`, whose memory is used again: the answers that changed since the
/// last cycle (in kind or gate) or that place something, in the order in which they were made.
///
/// Every gang asked gets the greedy try. When the cycle's budget ends before a gang has had its
/// own, the gang is undecided, and the next cycle keeps its share for it.
///
/// The same state, now, policy and budget give the same result, whatever the order of the events
/// that built the state. A state at rest is at rest for any policy and budget: what they left
/// undecided is asked again when something happens. O(1) when nothing happened since the last
/// cycle; else a few nanoseconds for every gang that waits, plus what `admission::decide` costs for
/// every gang whose answer may have changed.
template<class Traits, cycle_policy<Traits> Policy>
void cycle(cluster_state<Traits>& known, std::int64_t now, const Policy& how, budget limit,
           cycle_options options, cycle_result& result) {
    const bool evicts = detail::displaces<Policy> && !known.victims_at_rest(now);
    if (known.at_rest() && known.promises_at_rest(now) &&
        (detail::staleness_of<Policy>::none || known.stale_at_rest(now)) && !evicts &&
        !options.list_all) {
        result.clear();
        static_cast<answer_counts&>(result.counters) = known.last_answers();
        result.counters.skipped = known.gang_order().size();
        return;
    }
    detail::round<Traits, Policy>(known, now, how, limit, options, result).run();
}

/// The same with a result of its own.
template<class Traits, cycle_policy<Traits> Policy = policy<>>
cycle_result cycle(cluster_state<Traits>& known, std::int64_t now, const Policy& how = {},
                   budget limit = {}, cycle_options options = {}) {
    cycle_result result;
    cycle(known, now, how, limit, options, result);
    return result;
}

/// The pure form: the same answers, and the state untouched. O(state) more than `cycle`.
template<class Traits, cycle_policy<Traits> Policy = policy<>>
[[nodiscard]] cycle_result preview(const cluster_state<Traits>& known, std::int64_t now,
                                   const Policy& how = {}, budget limit = {},
                                   cycle_options options = {}) {
    cluster_state<Traits> copy = known;
    return cycle(copy, now, how, limit, options);
}

/// Follows in the index what happened since the last decision, so that the next one need not: for
/// schedulers that have time to spare between events and decisions. Changes no answer.
/// O(changes · log nodes).
template<class Traits, cycle_policy<Traits> Policy>
void catch_up(cluster_state<Traits>& known, const Policy& how) {
    detail::engine_of(known, how).finder.catch_up(known);
}

/// Bytes of the index that is kept with the state for this policy's score, with its map of nodes;
/// the model's own records apart. O(nodes / fan-out).
template<class Traits, cycle_policy<Traits> Policy, ordered_score = detail::score_of<Policy>>
[[nodiscard]] std::size_t index_bytes(cluster_state<Traits>& known, const Policy& how) {
    return detail::engine_of(known, how).finder.memory_bytes();
}

/// Decides one gang at once, whoever else waits, and commits it as assumed when it starts: for
/// schedulers that keep an order of their own. Nobody is evicted for it. The answer is the only
/// decision in `result`. Costs
/// what `admission::decide` does, and O(log nodes) for each node that changed since the last call.
template<class Traits, cycle_policy<Traits> Policy>
void start(cluster_state<Traits>& known, gang_index which, const Policy& how, budget limit,
           cycle_result& result) {
    auto& kept = detail::engine_of(known, how);
    for (decision& each : result.decisions)
        kept.deciding.recycle(each.outcome.proof);
    result.clear();
    // What was kept for it is its own; the next cycle keeps it anew.
    known.drop_reservation(which);
    kept.finder.catch_up(known);
    kept.begin(known);
    verdict outcome = kept.decide(known, which, limit.per_gang);
    result.counters.asked = 1;
    result.counters.pods_placed = kept.placed.size();
    result.counters.search_steps = outcome.steps;
    result.add(which, std::move(outcome), kept.placed);
    kept.journal->commit();
    kept.placed.clear();
    kept.candidates.forget();
    known.answered(which, detail::standing_after(known, result.decisions.front().outcome));
    kept.finder.follow();
    known.cycle_ended(false);
    static_cast<answer_counts&>(result.counters) = known.last_answers();
    result.bind();
}

} // namespace muster::inline v0_1
