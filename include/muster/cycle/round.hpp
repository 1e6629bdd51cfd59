// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/cycle/agenda.hpp>
#include <muster/cycle/any_policy.hpp>
#include <muster/cycle/cycle_options.hpp>
#include <muster/cycle/decision.hpp>
#include <muster/cycle/decision_notes.hpp>
#include <muster/cycle/engine.hpp>
#include <muster/cycle/quota_pass.hpp>
#include <muster/cycle/stale_pass.hpp>
#include <muster/vocabulary/budget.hpp>
#include <muster/wait/wait_condition.hpp>

namespace muster {
inline namespace v0_1 {

namespace detail {

/// Nothing happened since the last answer that could change it.
template<class Traits>
[[nodiscard]] bool settled(const cluster_state<Traits>& known, gang_index which) {
    const auto& group = known[which];
    if (group.dirty || !group.last.known || group.last.unreached_since > 0 ||
        group.last.held_back || group.last.at == gate::order)
        return false;
    // What others came to use of its quota may prove that it does not fit.
    if (group.last.kind == answer::undecided && group.queue)
        return false;
    if (group.last.kind == answer::admitted && group.placeable == 0)
        return true;
    // Pods that came to stand somewhere, or changed there, may have done so since.
    if (known.population().in_use() && group.last.kind != answer::never &&
        (group.last.kind != answer::waiting ||
         detail::any_of(group.members, [&](pod_index pod) { return terms_bear_on(known, pod); })))
        return false;
    return group.last.release_epoch == known.release_epoch() &&
           group.last.capability_epoch == known.capability_epoch();
}

/// A gang that its queue's strict order keeps others behind.
[[nodiscard]] inline bool holds_up(answer kind, gate at) noexcept {
    return kind == answer::undecided ||
           (kind == answer::waiting && (at == gate::quota || at == gate::space));
}

/// One cycle as it goes.
template<class Traits>
class round {
public:
    round(cluster_state<Traits>& known, std::int64_t now, const any_policy<Traits>& how,
          budget limit, cycle_options options, cycle_result& result)
        : known_(&known),
          now_(now),
          how_(&how),
          limit_(limit),
          options_(options),
          result_(&result),
          make_room_(make_room_by(how)),
          ages_(!how.staleness.is_none()),
          kept_(&engine_of(known, how)),
          made_(kept_->made) {
        made_.clear();
        kept_->waiting.clear();
        for (decision& each : result.decisions)
            kept_->deciding.recycle(each.outcome.proof);
        result.clear();
    }

    void run() {
        prepare();
        // Where nothing is to be done for a gang that is not asked.
        const bool plain =
            !make_room_ && !options_.list_all && !keeps_room() && !how_->queues.counts_next_gang();
        const auto needless = [&](agenda_entry& entry) {
            if (!plain || must_ask(entry))
                return false;
            entry.visit = visits_++;
            return true;
        };
        while (agenda_line* line = kept_->asking.next(now_, how_->gangs, needless)) {
            agenda_entry& entry = line->entries[line->at];
            if (!keeps_room()) {
                pass(*line, entry);
                kept_->asking.passed(*known_, how_->queues);
                continue;
            }
            entry.started_before = started_;
            const bool suspended = ends_in_time(entry.gang);
            if (suspended)
                suspend_plans(true);
            pass(*line, entry);
            kept_->asking.passed(*known_, how_->queues);
            if (suspended)
                suspend_plans(false);
            keep_room(entry);
        }
        if (make_room_) {
            // A gang that loses members by an eviction is not looked at afterwards.
            any_cut_short_ |= !quota_pass(*known_, limit_, *result_, *kept_).run();
            any_cut_short_ |= !make_room_(*known_, now_, *how_, limit_, *result_, *kept_,
                                          !options_.list_all && !keeps_room());
        }
        any_cut_short_ |= !quota_pass(*known_, limit_, *result_, *kept_).run();
        count_bypasses();
        if (ages_)
            evict_stale();
        finish();
    }

private:
    void prepare() {
        cluster_state<Traits>& known = *known_;
        known.keep_promises(now_);
        if (ages_)
            stale_pass(known, now_, how_->staleness, kept_->stakes)
                .look(!std::exchange(kept_->knows_short, true));
        for (const gang_index which : known.gangs_with_nominations())
            if (nominations_stand(known, which, kept_->deciding.sort(known, which)))
                known.recall(which);
            else
                known.forget_nominations(which);
        lifted_ = known.lift_reservations();
        // What was planned for a gang that something happened to is planned anew.
        std::erase_if(lifted_, [&](const auto& each) {
            const auto& owner = known[each.owner.index];
            return each.start || owner.generation != each.owner.generation || owner.dirty ||
                   kept_->capability_epoch != known.capability_epoch();
        });
        kept_->finder.catch_up(known);
        kept_->begin(known);
        kept_->planning.begin();
        changes_.released = kept_->release_epoch != known.release_epoch();
        changes_.capable = kept_->capability_epoch != known.capability_epoch();
        changes_.lost = kept_->loss_epoch != known.loss_epoch();
        changes_.queues_moved = kept_->queue_epoch != known.queue_epoch();
        kept_->release_epoch = known.release_epoch();
        kept_->capability_epoch = known.capability_epoch();
        kept_->loss_epoch = known.loss_epoch();
        kept_->queue_epoch = known.queue_epoch();
        if (!kept_->has_agenda || options_.list_all) {
            kept_->asking.rebuild(known, now_, how_->gangs, options_.list_all);
            changes_ = {};
            for (agenda_line& line : kept_->asking.lines())
                for (agenda_entry& entry : line.entries) {
                    entry.until = settled(known, entry.gang) ? wait_condition::any_release()
                                                             : wait_condition::asked_again();
                    entry.unreached_since = known[entry.gang].last.unreached_since;
                    entry.wants_room = known[entry.gang].last.at == gate::space;
                    kept_->any_unreached |= entry.unreached_since > 0;
                }
        } else {
            kept_->asking.update(known, now_, how_->gangs);
            if (!how_->gangs.is_timeless())
                kept_->asking.sort_again(known, now_, how_->gangs);
            if (changes_.released)
                kept_->refresh(known);
        }
        kept_->has_agenda = !options_.list_all;
        kept_->asking.begin(known, how_->queues);
        kept_->searching.begin(limit_);
        if (std::exchange(kept_->any_unreached, false))
            for (const agenda_line& line : kept_->asking.lines())
                for (const agenda_entry& entry : line.entries)
                    if (entry.unreached_since > 0) {
                        kept_->any_unreached = true;
                        kept_->searching.add(entry.unreached_since);
                    }
        kept_->searching.share_out();
    }

    // ---- room that is kept ---------------------------------------------------------------------

    [[nodiscard]] bool keeps_room() const noexcept {
        return how_->reservations.planned() > 0 || how_->reservations.patience();
    }

    /// The gang will have ended before any that others are planned to start.
    [[nodiscard]] bool ends_in_time(gang_index which) const {
        const auto& duration = (*known_)[which].spec.duration;
        return duration && kept_->planning.any() &&
               kept_->planning.all_after(saturate(static_cast<int128>(now_) + *duration));
    }
    void suspend_plans(bool suspend) {
        for (std::size_t at = 0; at < known_->reservations().size(); ++at)
            if (known_->reservations()[at].start)
                suspend ? known_->suspend_reservation(at) : known_->resume_reservation(at);
        if (suspend)
            kept_->refresh(*known_);
    }

    /// Keeps room for a gang that waits, when it is its turn to have some.
    void keep_room(const agenda_entry& entry) {
        const bool may_plan = planned_ < how_->reservations.planned();
        const auto patience = how_->reservations.patience();
        if (!may_plan && (!patience || has_room_))
            return;
        if (!waits(entry.gang))
            return;
        if (may_plan) {
            if (auto made = kept_->plan_start(*known_, entry.gang, now_)) {
                planned_ += known_->reserve(std::move(*made)) ? 1U : 0U;
                return;
            }
        }
        if (!patience || has_room_ || (*known_)[entry.gang].bypassed < *patience)
            return;
        const auto before =
            detail::find(lifted_, entry.gang, [](const auto& each) { return each.owner.index; });
        auto made = before != lifted_.end() ? std::optional(std::move(*before))
                                            : kept_->plan_room(*known_, entry.gang);
        has_room_ = made && known_->reserve(std::move(*made));
    }

    /// For room on nodes or in its quota, as far as is known.
    [[nodiscard]] bool waits(gang_index which) const {
        const standing& last = (*known_)[which].last;
        return last.known && (last.kind == answer::waiting || last.kind == answer::undecided) &&
               (last.at == gate::space || last.at == gate::quota);
    }

    void count_bypasses() {
        if (!how_->reservations.patience())
            return;
        for (const agenda_line& line : kept_->asking.lines())
            for (const agenda_entry& entry : line.entries)
                if (entry.started_before < started_ || (*known_)[entry.gang].bypassed > 0)
                    known_->bypassed(entry.gang,
                                     waits(entry.gang) ? started_ - entry.started_before : -1);
    }

    // --------------------------------------------------------------------------------------------

    /// The gang's answer may have changed.
    [[nodiscard]] bool must_ask(const agenda_entry& entry) const {
        return entry.until.ended(*known_, entry.gang, changes_, kept_->finder, kept_->leaves);
    }

    void pass(agenda_line& line, agenda_entry& entry) {
        entry.visit = visits_++;
        if (line.held_up && (*known_)[entry.gang].nominated == 0) {
            // Strict order holds new gangs back, and the surplus of gangs that run. A gang that is
            // below its minima may be completed.
            any_behind_ = true;
            const stake held = stake_of(*known_, entry.gang, kept_->stakes);
            if (held != stake::some)
                return hold_back(line, entry, held);
        }
        turn mine{entry.gang, entry.visit};
        const bool surplus = line.for_surplus;
        mine.asked = surplus || must_ask(entry);
        if (mine.asked)
            ask(line, entry);
        else
            skip(line, entry);
        mine.for_surplus =
            !line.comes_again() && serves_surplus_by(*how_) && wants_one_more(*known_, mine.gang);
        if (make_room_ && ((!surplus && waits(mine.gang)) || mine.for_surplus))
            kept_->waiting.push_back(mine);
    }

    void hold_back(agenda_line& line, agenda_entry& entry, stake held) {
        const auto& group = (*known_)[entry.gang];
        verdict outcome;
        outcome.at = gate::order;
        if (held == stake::minima) {
            outcome.at = kept_->deciding.gate_of(*known_, entry.gang);
            outcome.kind =
                outcome.at == gate::none ? answer::admitted : answer_at_gate(group.spec.fault);
        }
        answer_with(line, entry, std::move(outcome), false, held == stake::minima);
    }

    void skip(agenda_line& line, agenda_entry& entry) {
        if (!line.strict && !options_.list_all)
            return;
        const standing& last = (*known_)[entry.gang].last;
        line.held_up = line.held_up || (line.strict && holds_up(last.kind, last.at));
        if (options_.list_all)
            note(entry, last, {last.kind, last.at, last.could_start, {}, 0});
    }

    void ask(agenda_line& line, agenda_entry& entry) {
        const std::int64_t steps = kept_->searching.share(entry.unreached_since);
        verdict outcome = kept_->decide(*known_, entry.gang, steps, surplus(line));
        const bool cut_short =
            (outcome.kind == answer::undecided ||
             (outcome.kind == answer::waiting && kept_->deciding.ever_is_open())) &&
            !kept_->searching.whole(steps);
        any_cut_short_ |= cut_short;
        kept_->searching.asked(entry.unreached_since, outcome.steps);
        ++result_->counters.asked;
        result_->counters.search_steps += outcome.steps;
        entry.until = kept_->until_when(*known_, entry.gang, outcome);
        // Members beyond the minima of a gang that was nominated are looked at once it stands.
        const bool rest = kept_->came && (*known_)[entry.gang].placeable > 0;
        any_cut_short_ |= rest;
        const bool more = how_->surplus.takes_turns() && !kept_->came &&
                          outcome.kind == answer::admitted &&
                          (!line.for_surplus || kept_->placed.size() > 0);
        answer_with(line, entry, std::move(outcome), cut_short, rest);
        if (more && (*known_)[entry.gang].placeable > 0)
            kept_->asking.once_more(*known_, now_, how_->gangs, line);
    }

    /// Of its surplus, what the gang may place in this turn.
    [[nodiscard]] surplus_wish surplus(const agenda_line& line) const {
        if (how_->surplus.takes_turns() && !line.for_surplus)
            return {0, false};
        return how_->surplus.per_turn();
    }

    void answer_with(agenda_line& line, agenda_entry& entry, verdict&& outcome, bool cut_short,
                     bool held_back) {
        line.held_up = line.held_up || (line.strict && holds_up(outcome.kind, outcome.at));
        if (!kept_->placed.empty()) {
            kept_->asking.shares_moved(*known_, line.queue, how_->queues);
            known_->started(kept_->placed, now_);
            ++started_;
        }
        result_->counters.pods_placed += kept_->placed.size();
        const standing before = (*known_)[entry.gang].last;
        standing now = standing_after(*known_, outcome);
        if (cut_short)
            now.unreached_since =
                entry.unreached_since > 0 ? entry.unreached_since : known_->cycles();
        now.held_back = held_back;
        known_->answered(entry.gang, now);

        if (cut_short || held_back || now.at == gate::order)
            entry.until.replace_proof(wait_condition::asked_again());
        else if (now.at == gate::group || now.at == gate::members || now.at == gate::queue ||
                 now.at == gate::unsupported || now.at == gate::volumes)
            entry.until.replace_proof(wait_condition::own_event());
        entry.unreached_since = now.unreached_since;
        kept_->any_unreached |= now.unreached_since > 0;
        entry.wants_room = now.at == gate::space;
        entry.done = now.kind == answer::admitted && has_all_it_wants(*known_, entry.gang);
        line.any_done |= entry.done;

        // Under a quota, gangs that start later may still move this one to another gate.
        const bool quota = line.queue && known_->accounts().queues().limited(*line.queue);
        if (quota || options_.list_all || before.known == false || before.kind != now.kind ||
            before.at != now.at || !kept_->placed.empty())
            note(entry, before, std::move(outcome));
        else
            kept_->deciding.recycle(outcome.proof);
        kept_->journal->commit();
        kept_->placed.clear();
    }

    void note(const agenda_entry& entry, const standing& before, verdict&& outcome) {
        result_->add(entry.gang, std::move(outcome), kept_->placed);
        made_.push_back({entry.visit, before});
    }

    void evict_stale() {
        stale_pass(*known_, now_, how_->staleness, kept_->stakes)
            .run([&](gang_index which, const std::vector<pod_index>& pods) {
                auto made = detail::find(result_->decisions, which, &decision::gang);
                if (made == result_->decisions.end()) {
                    const standing& last = (*known_)[which].last;
                    result_->add(which, {last.kind, last.at, last.could_start, {}, 0}, {});
                    made_.push_back({visits_++, last});
                    made = result_->decisions.end() - 1;
                }
                result_->dissolve(*made, pods);
                result_->counters.pods_evicted += pods.size();
                any_cut_short_ = true;
            });
    }

    void finish() {
        std::size_t left = 0;
        for (std::size_t at = 0; at < result_->decisions.size(); ++at) {
            decision& made = result_->decisions[at];
            const standing& before = made_[at].before;
            if (!options_.list_all && before.known && before.kind == made.outcome.kind &&
                before.at == made.outcome.at && made.placements.empty() && !made.stale) {
                kept_->deciding.recycle(made.outcome.proof);
                continue;
            }
            if (left != at)
                result_->decisions[left] = std::move(made);
            ++left;
        }
        result_->decisions.erase(result_->decisions.begin() + static_cast<std::ptrdiff_t>(left),
                                 result_->decisions.end());
        result_->bind();
        static_cast<answer_counts&>(result_->counters) = known_->last_answers();
        result_->counters.skipped = known_->gang_order().size() - result_->counters.asked;
        // Time alone may bring another to the head of a line that is kept in strict order.
        known_->cycle_ended(!any_cut_short_ && (how_->gangs.is_timeless() || !any_behind_) &&
                            !someone_waits_for_pods_placed());
    }

    /// Members placed in this cycle bear on a gang that was asked before.
    [[nodiscard]] bool someone_waits_for_pods_placed() const {
        if (!known_->population().in_use())
            return false;
        for (const agenda_line& line : kept_->asking.lines())
            for (const agenda_entry& entry : line.entries)
                if (entry.until.pods_came(*known_))
                    return true;
        return false;
    }

    cluster_state<Traits>* known_;
    std::int64_t now_;
    const any_policy<Traits>* how_;
    budget limit_;
    cycle_options options_;
    cycle_result* result_;
    /// Null if the policy neither evicts nor moves pods.
    decltype(&make_room<Traits>) make_room_;
    /// Gangs below their minima are evicted after a time.
    bool ages_;
    engine<Traits>* kept_;
    cluster_changes changes_;
    bool any_cut_short_ = false;
    bool any_behind_ = false;
    std::uint32_t visits_ = 0;
    /// Gangs that had something placed in this cycle.
    std::int64_t started_ = 0;
    /// Gangs whose start is planned; and one of those that had enough of waiting has room kept.
    std::size_t planned_ = 0;
    bool has_room_ = false;
    /// The reservations of the last cycle whose gangs still wait.
    std::vector<reservation<Traits::width>> lifted_;
    /// Of each decision in the result.
    sequence<noted>& made_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
