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
#include <muster/cycle/any_policy.hpp>
#include <muster/cycle/backlog.hpp>
#include <muster/cycle/cycle_context.hpp>
#include <muster/cycle/cycle_options.hpp>
#include <muster/cycle/decision.hpp>
#include <muster/cycle/decision_notes.hpp>
#include <muster/cycle/quota_phase.hpp>
#include <muster/cycle/stale_phase.hpp>
#include <muster/vocabulary/budget.hpp>
#include <muster/wait/wait_condition.hpp>

namespace muster {
inline namespace v0_1 {

namespace detail {

/// True if nothing happened since the last answer to the gang that could change it.
template<class Traits>
[[nodiscard]] bool settled(const cluster_state<Traits>& cluster, gang_index which) {
    const auto& group = cluster[which];
    if (group.dirty || !group.last.is_known || group.last.unreached_since > 0 ||
        group.last.held_back || group.last.at == gate::order)
        return false;
    // If other gangs now use more of its quota, that may prove that it does not fit.
    if (group.last.kind == answer::undecided && group.queue)
        return false;
    if (group.last.kind == answer::admitted && group.placeable == 0)
        return true;
    // Pods may have got a node, or changed on their node, since the answer.
    if (cluster.population().in_use() && group.last.kind != answer::never &&
        (group.last.kind != answer::waiting ||
         detail::any_of(group.members, [&](pod_index pod) { return terms_bear_on(cluster, pod); })))
        return false;
    return group.last.release_epoch == cluster.release_epoch() &&
           group.last.capability_epoch == cluster.capability_epoch();
}

/// True if, in a queue with strict order, a gang with this answer keeps the gangs behind it
/// waiting.
[[nodiscard]] inline bool holds_up(answer kind, gate at) noexcept {
    return kind == answer::undecided ||
           (kind == answer::waiting && (at == gate::quota || at == gate::space));
}

/// One run of the cycle: prepares the backlog, asks the gangs whose answer may have changed, one
/// queue after the other, then runs the phases that make room, prove by quotas and evict stale
/// gangs.
template<class Traits>
class cycle_run {
public:
    cycle_run(cluster_state<Traits>& cluster, std::int64_t now, const any_policy<Traits>& how,
              budget limit, cycle_options options, cycle_result& result)
        : cluster_(&cluster),
          now_(now),
          how_(&how),
          limit_(limit),
          options_(options),
          result_(&result),
          make_room_(make_room_by(how)),
          ages_(!how.staleness.is_none()),
          context_(&context_of(cluster, how)),
          made_(context_->made) {
        made_.clear();
        context_->waiting.clear();
        for (decision& previous : result.decisions)
            context_->deciding.recycle(previous.outcome.proof);
        result.clear();
    }

    void run() {
        prepare();
        // If nothing else depends on visits, a gang that is not asked needs none.
        const bool plain =
            !make_room_ && !options_.list_all && !keeps_room() && !how_->queues.counts_next_gang();
        const auto needless = [&](pending_gang& entry) {
            if (!plain || must_ask(entry))
                return false;
            entry.visit = visits_++;
            return true;
        };
        while (queue_backlog* line = context_->pending.next(now_, how_->gangs, needless)) {
            pending_gang& entry = line->entries[line->at];
            if (!keeps_room()) {
                pass(*line, entry);
                context_->pending.passed(*cluster_, how_->queues);
                continue;
            }
            entry.started_before = started_;
            const bool suspended = ends_in_time(entry.gang);
            if (suspended)
                suspend_plans(true);
            pass(*line, entry);
            context_->pending.passed(*cluster_, how_->queues);
            if (suspended)
                suspend_plans(false);
            keep_room(entry);
        }
        if (make_room_) {
            // Runs before evictions too, because gangs that lose members are not checked
            // afterwards.
            any_cut_short_ |= !quota_phase(*cluster_, limit_, *result_, *context_).run();
            any_cut_short_ |= !make_room_(*cluster_, now_, *how_, limit_, *result_, *context_,
                                          !options_.list_all && !keeps_room());
        }
        any_cut_short_ |= !quota_phase(*cluster_, limit_, *result_, *context_).run();
        count_bypasses();
        if (ages_)
            evict_stale();
        finish();
    }

private:
    void prepare() {
        cluster_state<Traits>& cluster = *cluster_;
        cluster.update_migrations(now_);
        if (ages_)
            stale_phase(cluster, now_, how_->staleness, context_->holds)
                .look(!std::exchange(context_->knows_short, true));
        for (const gang_index which : cluster.gangs_with_nominations())
            if (nominations_stand(cluster, which, context_->deciding.sort(cluster, which)))
                cluster.recall(which);
            else
                cluster.forget_nominations(which);
        lifted_ = cluster.lift_reservations();
        // Drops planned starts, which are computed again, and reservations that are outdated
        // because the gang or the capacity of nodes changed.
        std::erase_if(lifted_, [&](const auto& lifted) {
            const auto& owner = cluster[lifted.owner.index];
            return lifted.start || owner.generation != lifted.owner.generation || owner.dirty ||
                   context_->capability_epoch != cluster.capability_epoch();
        });
        context_->finder.catch_up(cluster);
        context_->begin(cluster);
        context_->planning.begin();
        changes_.released = context_->release_epoch != cluster.release_epoch();
        changes_.capable = context_->capability_epoch != cluster.capability_epoch();
        changes_.lost = context_->loss_epoch != cluster.loss_epoch();
        changes_.queues_changed = context_->queue_epoch != cluster.queue_epoch();
        context_->release_epoch = cluster.release_epoch();
        context_->capability_epoch = cluster.capability_epoch();
        context_->loss_epoch = cluster.loss_epoch();
        context_->queue_epoch = cluster.queue_epoch();
        if (!context_->has_backlog || options_.list_all) {
            context_->pending.rebuild(cluster, now_, how_->gangs, options_.list_all);
            changes_ = {};
            for (queue_backlog& line : context_->pending.lines())
                for (pending_gang& entry : line.entries) {
                    entry.until = settled(cluster, entry.gang) ? wait_condition::any_release()
                                                               : wait_condition::asked_again();
                    entry.unreached_since = cluster[entry.gang].last.unreached_since;
                    entry.wants_room = cluster[entry.gang].last.at == gate::space;
                    context_->any_unreached |= entry.unreached_since > 0;
                }
        } else {
            context_->pending.update(cluster, now_, how_->gangs);
            if (!how_->gangs.is_timeless())
                context_->pending.sort_again(cluster, now_, how_->gangs);
            if (changes_.released)
                context_->refresh(cluster);
        }
        context_->has_backlog = !options_.list_all;
        context_->pending.begin(cluster, how_->queues);
        context_->searching.begin(limit_);
        if (std::exchange(context_->any_unreached, false))
            for (const queue_backlog& line : context_->pending.lines())
                for (const pending_gang& entry : line.entries)
                    if (entry.unreached_since > 0) {
                        context_->any_unreached = true;
                        context_->searching.add(entry.unreached_since);
                    }
        context_->searching.share_out();
    }

    // ---- reservations ---------------------------------------------------------------------------

    [[nodiscard]] bool keeps_room() const noexcept {
        return how_->reservations.planned() > 0 || how_->reservations.max_bypasses();
    }

    /// True if the gang would end before all planned starts.
    [[nodiscard]] bool ends_in_time(gang_index which) const {
        const auto& duration = (*cluster_)[which].spec.duration;
        return duration && context_->planning.any() &&
               context_->planning.all_after(saturate(static_cast<int128>(now_) + *duration));
    }
    void suspend_plans(bool suspend) {
        for (std::size_t at = 0; at < cluster_->reservations().size(); ++at)
            if (cluster_->reservations()[at].start)
                suspend ? cluster_->suspend_reservation(at) : cluster_->resume_reservation(at);
        if (suspend)
            context_->refresh(*cluster_);
    }

    /// Plans the start of a waiting gang, or reserves room for it, according to the policy.
    void keep_room(const pending_gang& entry) {
        const bool may_plan = planned_ < how_->reservations.planned();
        const auto max_bypasses = how_->reservations.max_bypasses();
        if (!may_plan && (!max_bypasses || has_room_))
            return;
        if (!waits(entry.gang))
            return;
        if (may_plan) {
            if (auto made = context_->plan_start(*cluster_, entry.gang, now_)) {
                planned_ += cluster_->reserve(std::move(*made)) ? 1U : 0U;
                return;
            }
        }
        if (!max_bypasses || has_room_ || (*cluster_)[entry.gang].bypassed < *max_bypasses)
            return;
        const auto before = detail::find(lifted_, entry.gang,
                                         [](const auto& lifted) { return lifted.owner.index; });
        auto made = before != lifted_.end() ? std::optional(std::move(*before))
                                            : context_->plan_room(*cluster_, entry.gang);
        has_room_ = made && cluster_->reserve(std::move(*made));
    }

    /// True if the last answer is that room on nodes or in a quota is missing.
    [[nodiscard]] bool waits(gang_index which) const {
        const last_verdict& last = (*cluster_)[which].last;
        return last.is_known && (last.kind == answer::waiting || last.kind == answer::undecided) &&
               (last.at == gate::space || last.at == gate::quota);
    }

    void count_bypasses() {
        if (!how_->reservations.max_bypasses())
            return;
        for (const queue_backlog& line : context_->pending.lines())
            for (const pending_gang& entry : line.entries)
                if (entry.started_before < started_ || (*cluster_)[entry.gang].bypassed > 0)
                    cluster_->bypassed(entry.gang,
                                       waits(entry.gang) ? started_ - entry.started_before : -1);
    }

    // --------------------------------------------------------------------------------------------

    /// True if the answer to the gang may have changed.
    [[nodiscard]] bool must_ask(const pending_gang& entry) const {
        return entry.until.ended(*cluster_, entry.gang, changes_, context_->finder,
                                 context_->leaves);
    }

    void pass(queue_backlog& line, pending_gang& entry) {
        entry.visit = visits_++;
        if (line.held_up && (*cluster_)[entry.gang].nominated == 0) {
            // Strict order holds back new gangs and the surplus of running gangs. A running gang
            // that is below its minima may be completed.
            any_behind_ = true;
            const hold_level held = hold_level_of(*cluster_, entry.gang, context_->holds);
            if (held != hold_level::some)
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
            !line.comes_again() && serves_surplus_by(*how_) && wants_one_more(*cluster_, mine.gang);
        if (make_room_ && ((!surplus && waits(mine.gang)) || mine.for_surplus))
            context_->waiting.push_back(mine);
    }

    void hold_back(queue_backlog& line, pending_gang& entry, hold_level held) {
        const auto& group = (*cluster_)[entry.gang];
        verdict outcome;
        outcome.at = gate::order;
        if (held == hold_level::minima) {
            outcome.at = context_->deciding.gate_of(*cluster_, entry.gang);
            outcome.kind =
                outcome.at == gate::none ? answer::admitted : answer_at_gate(group.spec.fault);
        }
        answer_with(line, entry, std::move(outcome), false, held == hold_level::minima);
    }

    void skip(queue_backlog& line, pending_gang& entry) {
        if (!line.strict && !options_.list_all)
            return;
        const last_verdict& last = (*cluster_)[entry.gang].last;
        line.held_up = line.held_up || (line.strict && holds_up(last.kind, last.at));
        if (options_.list_all)
            note(entry, last, {last.kind, last.at, last.could_start, {}, 0});
    }

    void ask(queue_backlog& line, pending_gang& entry) {
        const std::int64_t steps = context_->searching.share(entry.unreached_since);
        verdict outcome = context_->decide(*cluster_, entry.gang, steps, surplus(line));
        const bool cut_short =
            (outcome.kind == answer::undecided ||
             (outcome.kind == answer::waiting && context_->deciding.ever_is_open())) &&
            !context_->searching.whole(steps);
        any_cut_short_ |= cut_short;
        context_->searching.asked(entry.unreached_since, outcome.steps);
        ++result_->counters.asked;
        result_->counters.search_steps += outcome.steps;
        entry.until = context_->until_when(*cluster_, entry.gang, outcome);
        // The surplus of a nominated gang is placed by a later cycle, once the gang runs.
        const bool rest = context_->came && (*cluster_)[entry.gang].placeable > 0;
        any_cut_short_ |= rest;
        const bool more = how_->surplus.takes_turns() && !context_->came &&
                          outcome.kind == answer::admitted &&
                          (!line.for_surplus || context_->placed.size() > 0);
        answer_with(line, entry, std::move(outcome), cut_short, rest);
        if (more && (*cluster_)[entry.gang].placeable > 0)
            context_->pending.once_more(*cluster_, now_, how_->gangs, line);
    }

    /// Returns the surplus that the gang may place in this turn.
    [[nodiscard]] surplus_request surplus(const queue_backlog& line) const {
        if (how_->surplus.takes_turns() && !line.for_surplus)
            return {0, false};
        return how_->surplus.per_turn();
    }

    void answer_with(queue_backlog& line, pending_gang& entry, verdict&& outcome, bool cut_short,
                     bool held_back) {
        line.held_up = line.held_up || (line.strict && holds_up(outcome.kind, outcome.at));
        if (!context_->placed.empty()) {
            context_->pending.shares_moved(*cluster_, line.queue, how_->queues);
            cluster_->started(context_->placed, now_);
            ++started_;
        }
        result_->counters.pods_placed += context_->placed.size();
        const last_verdict before = (*cluster_)[entry.gang].last;
        last_verdict now = last_verdict_after(*cluster_, outcome);
        if (cut_short)
            now.unreached_since =
                entry.unreached_since > 0 ? entry.unreached_since : cluster_->cycles();
        now.held_back = held_back;
        cluster_->answered(entry.gang, now);

        if (cut_short || held_back || now.at == gate::order)
            entry.until.replace_proof(wait_condition::asked_again());
        else if (now.at == gate::group || now.at == gate::members || now.at == gate::queue ||
                 now.at == gate::unsupported || now.at == gate::volumes)
            entry.until.replace_proof(wait_condition::own_event());
        entry.unreached_since = now.unreached_since;
        context_->any_unreached |= now.unreached_since > 0;
        entry.wants_room = now.at == gate::space;
        entry.done = now.kind == answer::admitted && has_all_it_wants(*cluster_, entry.gang);
        line.any_done |= entry.done;

        // Under a quota, gangs that start later may still move this one to another gate.
        const bool quota = line.queue && cluster_->accounts().queues().limited(*line.queue);
        if (quota || options_.list_all || !before.is_known || before.kind != now.kind ||
            before.at != now.at || !context_->placed.empty())
            note(entry, before, std::move(outcome));
        else
            context_->deciding.recycle(outcome.proof);
        context_->journal->commit();
        context_->placed.clear();
    }

    void note(const pending_gang& entry, const last_verdict& before, verdict&& outcome) {
        result_->add(entry.gang, std::move(outcome), context_->placed);
        made_.push_back({entry.visit, before});
    }

    void evict_stale() {
        stale_phase(*cluster_, now_, how_->staleness, context_->holds)
            .run([&](gang_index which, const std::vector<pod_index>& pods) {
                auto made = detail::find(result_->decisions, which, &decision::gang);
                if (made == result_->decisions.end()) {
                    const last_verdict& last = (*cluster_)[which].last;
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
            const last_verdict& before = made_[at].before;
            if (!options_.list_all && before.is_known && before.kind == made.outcome.kind &&
                before.at == made.outcome.at && made.placements.empty() && !made.stale) {
                context_->deciding.recycle(made.outcome.proof);
                continue;
            }
            if (left != at)
                result_->decisions[left] = std::move(made);
            ++left;
        }
        result_->decisions.erase(result_->decisions.begin() + static_cast<std::ptrdiff_t>(left),
                                 result_->decisions.end());
        result_->bind();
        static_cast<answer_counts&>(result_->counters) = cluster_->last_answers();
        result_->counters.skipped = cluster_->gang_order().size() - result_->counters.asked;
        // Time alone may move another gang to the head of a queue with strict order.
        cluster_->cycle_ended(!any_cut_short_ && (how_->gangs.is_timeless() || !any_behind_) &&
                              !some_gang_waits_for_placed_pods());
    }

    /// True if members placed in this cycle may change the answer to a gang that was asked earlier.
    [[nodiscard]] bool some_gang_waits_for_placed_pods() const {
        if (!cluster_->population().in_use())
            return false;
        for (const queue_backlog& line : context_->pending.lines())
            for (const pending_gang& entry : line.entries)
                if (entry.until.has_new_pods(*cluster_))
                    return true;
        return false;
    }

    cluster_state<Traits>* cluster_;
    std::int64_t now_;
    const any_policy<Traits>* how_;
    budget limit_;
    cycle_options options_;
    cycle_result* result_;
    /// Null if the policy neither evicts nor moves pods.
    decltype(&make_room<Traits>) make_room_;
    /// True if the policy evicts gangs that are below their minima for too long.
    bool ages_;
    cycle_context<Traits>* context_;
    cluster_changes changes_;
    bool any_cut_short_ = false;
    bool any_behind_ = false;
    std::uint32_t visits_ = 0;
    /// Number of gangs that got placements in this cycle.
    std::int64_t started_ = 0;
    /// Number of reservations with a planned start; `has_room_`: room is reserved for a gang that
    /// too many gangs have bypassed.
    std::size_t planned_ = 0;
    bool has_room_ = false;
    /// The reservations of the last cycle that are still valid.
    std::vector<reservation<Traits::width>> lifted_;
    /// One entry per decision in the result.
    sequence<noted>& made_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
