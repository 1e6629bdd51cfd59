// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

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
    if (group.dirty || !group.last.known || group.last.unreached || group.last.held_back ||
        group.last.at == gate::order)
        return false;
    const bool all_placed = group.last.kind == answer::admitted &&
                            std::ranges::none_of(group.members, [&](pod_index member) {
                                return known[member].placeable();
                            });
    // Others may since have used the quota up, which moves a gang from one gate to another.
    const bool quota_moved = group.last.at == gate::space && group.queue &&
                             group.last.use_epoch != known[*group.queue].use_epoch;
    return all_placed || (group.last.release_epoch == known.release_epoch() &&
                          group.last.capability_epoch == known.capability_epoch() && !quota_moved);
}

/// A gang that did not fit may meanwhile be kept out by its quota alone, used up by those that
/// started after it was asked: then it stands at that gate.
template<class Traits>
void settle_gate(state<Traits>& known, gang_index which, std::int64_t steps) {
    const auto& group = known[which];
    standing last = group.last;
    if (!group.queue || last.at != gate::space || last.use_epoch == known[*group.queue].use_epoch)
        return;
    last.use_epoch = known[*group.queue].use_epoch;
    if (last.kind == answer::waiting && quota_stops(known, which, steps))
        last.at = gate::quota;
    known.answered(which, last);
}

enum class stake : std::uint8_t { nothing, some, minima };

/// What a gang holds already.
template<class Traits>
[[nodiscard]] stake stake_of(const state<Traits>& known, gang_index which) {
    const gang_members<Traits::width> members = members_of(known, which);
    if (std::ranges::none_of(members.holding, [](std::int64_t held) { return held > 0; }))
        return stake::nothing;
    return reaches_minima(*members.tree, members.holding) ? stake::minima : stake::some;
}

/// Gangs that the last cycle's budget did not reach.
template<class Traits>
[[nodiscard]] std::int64_t count_unreached(const state<Traits>& known) {
    return std::ranges::count_if(
        known.gang_keys(), [&](const auto& entry) { return known[entry.second].last.unreached; });
}

/// A gang that its queue's strict order keeps others behind.
[[nodiscard]] inline bool holds_up(const verdict& outcome) noexcept {
    return outcome.kind == answer::undecided ||
           (outcome.kind == answer::waiting &&
            (outcome.at == gate::quota || outcome.at == gate::space));
}

[[nodiscard]] inline bool changed(const standing& before, const decision& made) noexcept {
    return !before.known || before.kind != made.outcome.kind || before.at != made.outcome.at ||
           !made.placements.empty();
}

inline void count(cycle_counters& counters, const decision& made) noexcept {
    counters.add(made.outcome.kind);
    counters.pods_placed += made.placements.size();
    counters.search_steps += made.outcome.steps;
}

} // namespace detail

/// One scheduling cycle at time `now` (the caller's unit): asks the gangs in the order of queues
/// and within them, starts those that fit, whole or not at all, and commits what starts as
/// assumed. Returns the answers that changed since the last cycle (in kind or gate) or that place
/// something, in the order in which they were made.
///
/// Every gang asked gets the greedy try. When the cycle's budget ends before a gang has had its
/// own, the gang is undecided, and the next cycle keeps its share for it.
///
/// The same state, now, policy and budget give the same result, whatever the order of the events
/// that built the state. O(1) when nothing happened since the last cycle, else O(gangs · log gangs)
/// plus what `admit` costs for every gang asked.
template<class Traits, placement_score<Traits::width> Score = best_fit,
         gang_order GangOrder = priority_then_age, queue_order QueueOrder = priority_then_share>
cycle_result cycle(state<Traits>& known, std::int64_t now,
                   const policy<Score, GangOrder, QueueOrder>& how = {}, budget limit = {},
                   cycle_options options = {}) {
    cycle_result result;
    if (known.at_rest() && !options.list_all) {
        static_cast<answer_counts&>(result.counters) = known.last_answers();
        result.counters.skipped = known.gang_keys().size();
        return result;
    }
    const auto weights = weigh(known.accounts(), known.pods_kind());
    agenda<Traits, GangOrder, QueueOrder> asking(known, now, how.gangs, how.queues);
    plan<Traits::width> tentative(known.tentative());
    std::set<queue_index> held_up;
    std::vector<standing> before;
    std::int64_t steps_left = limit.per_cycle;
    bool any_cut_short = false;
    std::int64_t unreached = detail::count_unreached(known);

    while (const auto which = asking.next()) {
        decision made{*which, {}, {}};
        before.push_back(known[*which].last);
        const auto queue = known[*which].queue;
        const standing& last = before.back();
        bool cut_short = false;
        bool held_back = false;
        // Strict order holds newcomers back, and the surplus of who runs; who is below its minima
        // may be completed.
        const detail::stake held = queue && held_up.contains(*queue)
                                       ? detail::stake_of(known, *which)
                                       : detail::stake::some;
        if (held == detail::stake::nothing) {
            made.outcome.at = gate::order;
            ++result.counters.skipped;
        } else if (held == detail::stake::minima) {
            made.outcome.at = gate_before_search(known, *which, members_of(known, *which));
            made.outcome.kind = made.outcome.at == gate::none
                                    ? answer::admitted
                                    : answer_at_gate(known[*which].spec.fault);
            held_back = true;
            ++result.counters.skipped;
        } else if (detail::settled(known, *which)) {
            made.outcome = {last.kind, last.at, last.could_start, {}, 0};
            ++result.counters.skipped;
        } else {
            // Those that were not reached last time come first, so their share is kept for them.
            unreached -= last.unreached ? 1 : 0;
            const int128 kept =
                last.unreached ? 0 : static_cast<int128>(unreached) * limit.per_gang;
            const std::int64_t steps =
                saturate(std::clamp<int128>(steps_left - kept, 0, limit.per_gang));
            made.outcome = admit(known, *which, tentative, weights, how.score, steps);
            cut_short = made.outcome.kind == answer::undecided && steps < limit.per_gang;
            any_cut_short |= cut_short;
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
        known.answered(*which, {true, made.outcome.kind, made.outcome.at, made.outcome.could_start,
                                known.release_epoch(), known.capability_epoch(),
                                queue ? known[*queue].use_epoch : 0, cut_short, held_back});
        detail::count(result.counters, made);
        result.decisions.push_back(std::move(made));
    }

    known.cycle_ended(result.counters, !any_cut_short);
    std::size_t kept = 0;
    for (std::size_t at = 0; at < result.decisions.size(); ++at) {
        decision& made = result.decisions[at];
        detail::settle_gate(known, made.gang, limit.per_gang);
        made.outcome.at = known[made.gang].last.at;
        if (!options.list_all && !detail::changed(before[at], made))
            continue;
        if (kept != at)
            result.decisions[kept] = std::move(made);
        ++kept;
    }
    result.decisions.erase(result.decisions.begin() + static_cast<std::ptrdiff_t>(kept),
                           result.decisions.end());
    return result;
}

/// The pure form: the same answers, and the state untouched. O(state) more than `cycle`.
template<class Traits, placement_score<Traits::width> Score = best_fit,
         gang_order GangOrder = priority_then_age, queue_order QueueOrder = priority_then_share>
[[nodiscard]] cycle_result preview(const state<Traits>& known, std::int64_t now,
                                   const policy<Score, GangOrder, QueueOrder>& how = {},
                                   budget limit = {}, cycle_options options = {}) {
    state<Traits> copy = known;
    return cycle(copy, now, how, limit, options);
}

} // namespace muster::inline v0_1
