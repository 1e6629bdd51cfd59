// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <muster/base/id.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/cycle/any_policy.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/cycle/cycle_context.hpp>
#include <muster/cycle/cycle_options.hpp>
#include <muster/cycle/cycle_run.hpp>
#include <muster/cycle/decision.hpp>
#include <muster/cycle/preempt_phase.hpp>
#include <muster/vocabulary/budget.hpp>

namespace muster {
inline namespace v0_1 {

template<class Traits>
void cycle(cluster_state<Traits>& cluster, std::int64_t now, const any_policy<Traits>& how,
           budget limit, cycle_options options, cycle_result& result) {
    const bool evicts = detail::make_room_by(how) && !cluster.victims_at_rest(now);
    if (cluster.at_rest() && cluster.migrations_at_rest(now) &&
        (how.staleness.is_none() || cluster.stale_at_rest(now)) && !evicts && !options.list_all) {
        result.clear();
        static_cast<answer_counts&>(result.counters) = cluster.last_answers();
        result.counters.skipped = cluster.gang_order().size();
        return;
    }
    detail::cycle_run<Traits>(cluster, now, how, limit, options, result).run();
}

template<class Traits>
void catch_up(cluster_state<Traits>& cluster, const any_policy<Traits>& how) {
    detail::context_of(cluster, how).finder.catch_up(cluster);
}

template<class Traits>
std::size_t index_bytes(cluster_state<Traits>& cluster, const any_policy<Traits>& how) {
    return detail::context_of(cluster, how).finder.memory_bytes();
}

template<class Traits>
void start(cluster_state<Traits>& cluster, gang_index which, const any_policy<Traits>& how,
           budget limit, cycle_result& result) {
    auto& context = detail::context_of(cluster, how);
    for (decision& previous : result.decisions)
        context.deciding.recycle(previous.outcome.proof);
    result.clear();
    // The gang may use its own reservation; the next cycle makes the reservation again.
    cluster.drop_reservation(which);
    context.finder.catch_up(cluster);
    context.begin(cluster);
    verdict outcome = context.decide(cluster, which, limit.per_gang);
    result.counters.asked = 1;
    result.counters.pods_placed = context.placed.size();
    result.counters.search_steps = outcome.steps;
    result.add(which, std::move(outcome), context.placed);
    context.journal->commit();
    context.placed.clear();
    context.candidates.forget();
    cluster.answered(which, detail::last_verdict_after(cluster, result.decisions.front().outcome));
    context.finder.follow();
    cluster.cycle_ended(false);
    static_cast<answer_counts&>(result.counters) = cluster.last_answers();
    result.bind();
}

} // namespace v0_1
} // namespace muster
