// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include <muster/admission/admit.hpp>
#include <muster/cycle/agenda.hpp>
#include <muster/cycle/decision.hpp>
#include <muster/cycle/policy.hpp>
#include <muster/index/weights.hpp>
#include <muster/model/state.hpp>
#include <muster/plan/plan.hpp>

namespace muster::inline v0_1 {

struct cycle_options {
    /// Return every gang's answer, changed or not; those that needed no asking carry no proof.
    bool list_all = false;
};

namespace detail {

/// Nothing happened since the last answer that could change it.
template<class Traits>
[[nodiscard]] bool settled(const state<Traits>& known, gang_index which) {
    const auto& group = known[which];
    if (group.dirty || !group.last.known || group.last.at == gate::order)
        return false;
    const bool all_placed = group.last.kind == answer::admitted &&
                            std::ranges::none_of(group.members, [&](pod_index member) {
                                return known[member].placeable();
                            });
    return all_placed || (group.last.release_epoch == known.release_epoch() &&
                          group.last.capability_epoch == known.capability_epoch());
}

/// A gang that its queue's strict order keeps others behind.
[[nodiscard]] inline bool holds_up(const verdict& outcome) noexcept {
    return outcome.kind == answer::undecided ||
           (outcome.kind == answer::waiting &&
            (outcome.at == gate::quota || outcome.at == gate::space));
}

inline void count(cycle_counters& counters, const decision& made) noexcept {
    switch (made.outcome.kind) {
    case answer::admitted:
        ++counters.admitted;
        break;
    case answer::waiting:
        ++counters.waiting;
        break;
    case answer::never:
        ++counters.never;
        break;
    case answer::undecided:
        ++counters.undecided;
        break;
    }
    counters.pods_placed += made.placements.size();
    counters.search_steps += made.outcome.steps;
}

} // namespace detail

/// One scheduling cycle at time `now` (the caller's unit): asks the gangs in the order of queues
/// and within them, starts those that fit, whole or not at all, and commits what starts as
/// assumed. Returns the answers that changed since the last cycle (in kind or gate) or that place
/// something, in the order in which they were made.
///
/// The same state, now, policy and budget give the same result, whatever the order of the events
/// that built the state. O(gangs · log gangs) plus what `admit` costs for every gang asked.
template<class Traits, class Score = best_fit, class GangOrder = priority_then_age,
         class QueueOrder = priority_then_share>
    requires placement_score<Score, Traits::width>
        cycle_result cycle(state<Traits>& known, std::int64_t now,
                           const policy<Score, GangOrder, QueueOrder>& how = {}, budget limit = {},
                           cycle_options options = {}) {
        cycle_result result;
        const auto weights = weigh(known.accounts(), known.pods_kind());
        agenda<Traits, GangOrder, QueueOrder> asking(known, now, how.gangs, how.queues);
        plan<Traits::width> tentative(known.tentative());
        std::set<queue_index> held_up;
        std::int64_t steps_left = limit.per_cycle;

        while (const auto which = asking.next()) {
            const standing before = known[*which].last;
            decision made{*which, {}, {}};
            const auto queue = known[*which].queue;
            if (queue && held_up.contains(*queue)) {
                made.outcome.at = gate::order;
                ++result.counters.asked;
            } else if (detail::settled(known, *which)) {
                made.outcome = {before.kind, before.at, before.could_start, {}, 0};
                ++result.counters.skipped;
            } else {
                made.outcome = admit(known, *which, tentative, weights, how.score,
                                     std::min(limit.per_gang, steps_left));
                steps_left = std::max<std::int64_t>(0, steps_left - made.outcome.steps);
                ++result.counters.asked;
            }
            for (std::size_t at = 0; at < tentative.size(); ++at) {
                made.placements.push_back(tentative[at]);
                known.assume(tentative[at].pod, tentative[at].node);
            }
            tentative.commit();
            if (!made.placements.empty())
                asking.shares_moved();
            if (queue && known[*queue].spec.strict_order && detail::holds_up(made.outcome))
                held_up.insert(*queue);
            known.answered(*which,
                           {true, made.outcome.kind, made.outcome.at, made.outcome.could_start,
                            known.release_epoch(), known.capability_epoch()});
            detail::count(result.counters, made);
            const bool changed = !before.known || before.kind != made.outcome.kind ||
                                 before.at != made.outcome.at || !made.placements.empty();
            if (changed || options.list_all)
                result.decisions.push_back(std::move(made));
        }
        return result;
    }

/// The pure form: the same answers, and the state untouched. O(state) more than `cycle`.
template<class Traits, class Score = best_fit, class GangOrder = priority_then_age,
         class QueueOrder = priority_then_share>
    requires placement_score<Score, Traits::width>
[[nodiscard]] cycle_result preview(const state<Traits>& known, std::int64_t now,
                                   const policy<Score, GangOrder, QueueOrder>& how = {},
                                   budget limit = {}, cycle_options options = {}) {
    state<Traits> copy = known;
    return cycle(copy, now, how, limit, options);
}

} // namespace muster::inline v0_1
