// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <muster/base/ranges.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/cycle/any_policy.hpp>
#include <muster/cycle/cycle_context.hpp>
#include <muster/cycle/decision.hpp>
#include <muster/cycle/decision_notes.hpp>
#include <muster/cycle/fair_shares.hpp>
#include <muster/plan/plan.hpp>
#include <muster/problem/affinity_members.hpp>
#include <muster/vocabulary/budget.hpp>

namespace muster {
inline namespace v0_1 {

namespace detail {

/// The second part of a cycle whose policy moves or evicts pods. Nominates gangs that wait for room
/// or quota, in the order of their turns, to nodes that other pods will leave, as far as the policy
/// allows: pods are moved if that suffices, otherwise evicted.
template<class Traits>
class preempt_phase {
public:
    preempt_phase(cluster_state<Traits>& cluster, std::int64_t now, const any_policy<Traits>& how,
                  budget limit, cycle_result& result, cycle_context<Traits>& context)
        : cluster_(&cluster),
          now_(now),
          how_(&how),
          limit_(limit),
          result_(&result),
          context_(&context),
          noted_(result.decisions.size()) {}

    /// Returns true if all gangs were tried and none was nominated, so the next cycle need not run
    /// this phase. With `spare_work`, gangs whose refusal still holds are not tried again.
    [[nodiscard]] bool run(bool spare_work) {
        if (how_->victims.spares_all() && how_->consolidation.spares_all())
            keep_those_with_terms();
        if (how_->victims.by_fair_share() && !context_->waiting.empty())
            due_.compute(*cluster_);
        const bool same =
            context_->refusals.begin(*cluster_, how_->victims, how_->consolidation, due_.all(),
                                     context_->pending.take_placeable_changed());
        if (!same || result_->counters.pods_placed > 0 || !spare_work)
            context_->candidates.forget();
        if (how_->victims.is_timeless()) {
            auto& rule = context_->victimless_for;
            context_->victimless.begin(rule && *rule == how_->victims, cluster_->queue_epoch());
            rule = how_->victims;
        }
        spare_work_ = spare_work && cluster_->reservations().empty();
        std::int64_t left = limit_.per_cycle;
        bool rest = true;
        std::optional<std::int64_t> look_again;
        for (const turn& waiting_turn : context_->waiting) {
            if (spare_work_ && !waiting_turn.asked && !waiting_turn.for_surplus &&
                context_->refusals.holds(*cluster_, waiting_turn.gang, limit_.per_gang, now_)) {
                look_again = sooner(look_again, context_->refusals.again(waiting_turn.gang));
                continue;
            }
            const bool whole = left >= limit_.per_gang;
            const bool starts = ask(waiting_turn, left);
            rest = rest && !starts;
            const auto again = sooner(moves_again_, evicts_again_);
            look_again = sooner(look_again, again);
            if (starts) {
                context_->refusals.advance();
            } else if (whole && !waiting_turn.for_surplus) {
                context_->refusals.refused(*cluster_, waiting_turn.gang, limit_.per_gang, again);
            }
            if (left <= 0) {
                rest = false;
                break;
            }
        }
        stop_assuming();
        context_->waiting.clear();
        cluster_->victims_seen(look_again);
        if (result_->decisions.size() > noted_)
            order_by_visits(*result_, context_->made);
        return rest;
    }

private:
    [[nodiscard]] static std::optional<std::int64_t> sooner(std::optional<std::int64_t> one,
                                                            std::optional<std::int64_t> other) {
        return !one || (other && *other < *one) ? other : one;
    }

    /// If the policy evicts nothing, only gangs with pod affinity are tried again, because a gang
    /// that started in this cycle may now satisfy their terms. Removes all other gangs. O(waiting
    /// members); O(1) if no pod has terms.
    void keep_those_with_terms() {
        if (!cluster_->population().in_use())
            return context_->waiting.clear();
        erase_if(context_->waiting, [&](const turn& waiting_turn) {
            return detail::none_of((*cluster_)[waiting_turn.gang].members, [&](pod_index member) {
                return terms_bear_on(*cluster_, member);
            });
        });
    }

    /// True if the answer to the gang is, or may be, in the result of this cycle.
    [[nodiscard]] bool is_told(const decision* made) const {
        if (!spare_work_)
            return true;
        if (!made)
            return false;
        const last_verdict& before =
            context_->made[static_cast<std::size_t>(made - result_->decisions.data())].before;
        return !before.is_known || before.kind != made->outcome.kind ||
               before.at != made->outcome.at || !made->placements.empty();
    }

    bool ask(const turn& which, std::int64_t& left) {
        moves_again_.reset();
        evicts_again_.reset();
        if (!(*cluster_)[which.gang].spec.may_preempt)
            return false;
        told_ = is_told(decision_of(*result_, context_->made, noted_, which.visit));
        const std::int64_t given = std::min(left, limit_.per_gang);
        std::int64_t steps = given;
        // A reservation for the gang itself must not block it.
        const auto& reservations = cluster_->reservations();
        const auto own = static_cast<std::size_t>(
            detail::find(reservations, which.gang,
                         [](const auto& reserved) { return reserved.owner.index; }) -
            reservations.begin());
        const bool has_own = own < reservations.size();
        if (has_own) {
            stop_assuming();
            cluster_->suspend_reservation(own);
            context_->candidates.forget();
        }
        const bool starts = move(which, steps) || evict(which, steps);
        if (has_own) {
            stop_assuming();
            cluster_->resume_reservation(own);
            context_->candidates.forget();
            if (starts)
                cluster_->drop_reservation(which.gang);
        }
        left -= given - steps;
        result_->counters.search_steps += given - steps;
        if (!how_->victims.is_none() && !starts && !which.for_surplus &&
            context_->preempting.short_of())
            if (decision* made = decision_of(*result_, context_->made, noted_, which.visit))
                made->short_after_evictions = context_->preempting.short_of();
        return starts;
    }

    /// Ends what the preemptor leaves in the plan for its next gang.
    void stop_assuming() { context_->journal->rollback({}); }

    bool move(const turn& which, std::int64_t& steps) {
        const any_consolidation_rule& rule = how_->consolidation;
        if (rule.is_none() || (which.for_surplus && !rule.for_surplus()))
            return false;
        stop_assuming();
        const bool starts = context_->moving.start(
            *cluster_, which.gang, rule, now_, *context_->journal, context_->finder,
            context_->placing, context_->deciding, context_->candidates, steps, which.for_surplus);
        moves_again_ = context_->moving.next_change();
        evicts_again_.reset();
        if (!starts)
            return false;
        nominate(which, context_->moving.moves(), rule.kept_until(now_));
        return true;
    }

    bool evict(const turn& which, std::int64_t& steps) {
        const any_victim_rule& rule = how_->victims;
        if (rule.is_none() || (which.for_surplus && !rule.for_surplus()))
            return false;
        const preempt_request<Traits::width> asked{
            due_.all().empty() ? nullptr : &due_.all(), which.for_surplus, !told_,
            which.for_surplus ? nullptr : context_->least_use(*cluster_, which.gang),
            &context_->victimless};
        const bool starts = context_->preempting.start(
            *cluster_, which.gang, rule, now_, *context_->journal, context_->finder,
            context_->placing, context_->deciding, context_->candidates, steps, asked);
        evicts_again_ = context_->preempting.next_change();
        if (!starts)
            return false;
        nominate(which, {}, std::nullopt);
        return true;
    }

    /// Nominates the gang: it starts once the pods that the plan vacates have left. The placements
    /// of moved pods come first.
    void nominate(const turn& which, std::span<const placement> moves,
                  std::optional<std::int64_t> kept_until) {
        plan<Traits::width>& journal = *context_->journal;
        decision* made = decision_of(*result_, context_->made, noted_, which.visit);
        // Placements that need no eviction keep their own decision.
        if (!made || !made->placements.empty()) {
            result_->add(which.gang, {}, {});
            context_->made.push_back({which.visit, (*cluster_)[which.gang].last});
            made = &result_->decisions.back();
        }
        context_->deciding.recycle(made->outcome.proof);
        made->outcome = {};
        made->outcome.kind = answer::admitted;
        const auto placements = std::span(journal.placements()).subspan(moves.size());
        result_->nominate(*made, placements, journal.evictions(), moves);
        result_->counters.pods_nominated += placements.size();
        result_->counters.pods_evicted += journal.evictions().size();
        result_->counters.pods_moved += moves.size();
        cluster_->nominate_members(which.gang, placements);
        if (moves.empty())
            note_candidates(which.gang, placements);
        else
            context_->candidates.forget();
        if (moves.empty())
            for (const pod_index pod : journal.evictions())
                cluster_->mark_evicted(pod);
        journal.commit_nominated();
        cluster_->mark_migrating(moves, kept_until);
        cluster_->answered(which.gang, last_verdict_after(*cluster_, made->outcome));
    }

    /// Updates the candidates. Evicted pods stay charged until they have left, so their gangs stay
    /// candidates.
    void note_candidates(gang_index which, std::span<const placement> placements) {
        context_->candidates.note_nominated(which);
        for (const auto& [pod, node] : placements)
            context_->candidates.note_free(node);
        for (const pod_index pod : context_->journal->evictions())
            context_->candidates.note_free(*(*cluster_)[pod].node);
    }

    cluster_state<Traits>* cluster_;
    std::int64_t now_;
    const any_policy<Traits>* how_;
    budget limit_;
    cycle_result* result_;
    cycle_context<Traits>* context_;
    fair_shares<Traits> due_;
    /// The time from which time-dependent rules may allow more moves for the gang tried last.
    std::optional<std::int64_t> moves_again_;
    std::optional<std::int64_t> evicts_again_;
    /// Number of decisions before this phase.
    std::size_t noted_;
    bool spare_work_ = false;
    /// True if the answer to the gang tried is or may be in the result, so its shortage must be
    /// computed.
    bool told_ = true;
};

template<class Traits>
bool make_room(cluster_state<Traits>& cluster, std::int64_t now, const any_policy<Traits>& how,
               budget limit, cycle_result& result, cycle_context<Traits>& context,
               bool spare_work) {
    return preempt_phase<Traits>(cluster, now, how, limit, result, context).run(spare_work);
}

} // namespace detail
} // namespace v0_1
} // namespace muster
