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
#include <muster/cycle/decision.hpp>
#include <muster/cycle/decision_notes.hpp>
#include <muster/cycle/engine.hpp>
#include <muster/cycle/fair_shares.hpp>
#include <muster/plan/plan.hpp>
#include <muster/problem/affinity_members.hpp>
#include <muster/vocabulary/budget.hpp>

namespace muster {
inline namespace v0_1 {

namespace detail {

/// The second part of a cycle whose policy moves or evicts pods. In the order of their turns, gangs
/// that wait for room or quota are nominated to the room of other pods, as far as the policy
/// allows: of pods that are moved if that suffices, else of pods that are evicted.
template<class Traits>
class eviction_pass {
public:
    eviction_pass(cluster_state<Traits>& known, std::int64_t now, const any_policy<Traits>& how,
                  budget limit, cycle_result& result, engine<Traits>& kept)
        : known_(&known),
          now_(now),
          how_(&how),
          limit_(limit),
          result_(&result),
          kept_(&kept),
          noted_(result.decisions.size()) {}

    /// Returns true if all gangs were tried and none started, so the next cycle need not run this
    /// pass. With `spare_work` gangs whose refusal still holds are not tried again.
    [[nodiscard]] bool run(bool spare_work) {
        if (how_->victims.spares_all() && how_->consolidation.spares_all())
            keep_those_with_terms();
        if (how_->victims.by_fair_share() && !kept_->waiting.empty())
            due_.reckon(*known_);
        const bool same = kept_->refusals.begin(*known_, how_->victims, how_->consolidation,
                                                due_.all(), kept_->asking.take_standing_changed());
        if (!same || result_->counters.pods_placed > 0 || !spare_work)
            kept_->candidates.forget();
        spare_work_ = spare_work && known_->reservations().empty();
        std::int64_t left = limit_.per_cycle;
        bool rest = true;
        std::optional<std::int64_t> look_again;
        for (const turn& each : kept_->waiting) {
            if (spare_work_ && !each.asked && !each.for_surplus &&
                kept_->refusals.holds(*known_, each.gang, limit_.per_gang, now_)) {
                look_again = sooner(look_again, kept_->refusals.again(each.gang));
                continue;
            }
            const bool whole = left >= limit_.per_gang;
            const bool starts = ask(each, left);
            rest = rest && !starts;
            const auto again = sooner(moves_again_, evicts_again_);
            look_again = sooner(look_again, again);
            if (starts) {
                kept_->refusals.something_happened();
            } else if (whole && !each.for_surplus) {
                kept_->refusals.refused(*known_, each.gang, limit_.per_gang, again);
            }
            if (left <= 0) {
                rest = false;
                break;
            }
        }
        kept_->waiting.clear();
        known_->victims_seen(look_again);
        if (result_->decisions.size() > noted_)
            order_by_visits(*result_, kept_->made);
        return rest;
    }

private:
    [[nodiscard]] static std::optional<std::int64_t> sooner(std::optional<std::int64_t> one,
                                                            std::optional<std::int64_t> other) {
        return !one || (other && *other < *one) ? other : one;
    }

    /// If the policy evicts nothing, only gangs with pod affinity need a second look: a gang that
    /// started in this cycle may now satisfy their terms. O(waiting members); O(1) if no pod has
    /// terms.
    void keep_those_with_terms() {
        if (!known_->population().in_use())
            return kept_->waiting.clear();
        erase_if(kept_->waiting, [&](const turn& each) {
            return detail::none_of((*known_)[each.gang].members, [&](pod_index member) {
                return terms_bear_on(*known_, member);
            });
        });
    }

    /// The answer that the gang had in this cycle is told, or may be.
    [[nodiscard]] bool is_told(const decision* made) const {
        if (!spare_work_)
            return true;
        if (!made)
            return false;
        const standing& before =
            kept_->made[static_cast<std::size_t>(made - result_->decisions.data())].before;
        return !before.known || before.kind != made->outcome.kind ||
               before.at != made->outcome.at || !made->placements.empty();
    }

    bool ask(const turn& which, std::int64_t& left) {
        moves_again_.reset();
        evicts_again_.reset();
        if (!(*known_)[which.gang].spec.may_preempt)
            return false;
        told_ = is_told(decision_of(*result_, kept_->made, noted_, which.visit));
        const std::int64_t given = std::min(left, limit_.per_gang);
        std::int64_t steps = given;
        // What is kept for itself is no hindrance to it.
        const auto& reservations = known_->reservations();
        const auto own = static_cast<std::size_t>(
            detail::find(reservations, which.gang,
                         [](const auto& each) { return each.owner.index; }) -
            reservations.begin());
        const bool has_own = own < reservations.size();
        if (has_own) {
            known_->suspend_reservation(own);
            kept_->candidates.forget();
        }
        const bool starts = move(which, steps) || evict(which, steps);
        if (has_own) {
            known_->resume_reservation(own);
            kept_->candidates.forget();
            if (starts)
                known_->drop_reservation(which.gang);
        }
        left -= given - steps;
        result_->counters.search_steps += given - steps;
        if (!how_->victims.is_none() && !starts && !which.for_surplus && kept_->evicting.short_of())
            if (decision* made = decision_of(*result_, kept_->made, noted_, which.visit))
                made->short_after_evictions = kept_->evicting.short_of();
        return starts;
    }

    bool move(const turn& which, std::int64_t& steps) {
        const any_consolidation_rule& rule = how_->consolidation;
        if (rule.is_none() || (which.for_surplus && !rule.for_surplus()))
            return false;
        const bool starts = kept_->moving.start(*known_, which.gang, rule, now_, *kept_->journal,
                                                kept_->finder, kept_->placing, kept_->deciding,
                                                kept_->candidates, steps, which.for_surplus);
        moves_again_ = kept_->moving.next_change();
        evicts_again_.reset();
        if (!starts)
            return false;
        nominate(which, kept_->moving.moves(), rule.kept_until(now_));
        return true;
    }

    bool evict(const turn& which, std::int64_t& steps) {
        const any_victim_rule& rule = how_->victims;
        if (rule.is_none() || (which.for_surplus && !rule.for_surplus()))
            return false;
        const eviction_request<Traits::width> asked{
            due_.all().empty() ? nullptr : &due_.all(), which.for_surplus, !told_,
            which.for_surplus ? nullptr : kept_->least_use(*known_, which.gang)};
        const bool starts =
            kept_->evicting.start(*known_, which.gang, rule, now_, *kept_->journal, kept_->finder,
                                  kept_->placing, kept_->deciding, kept_->candidates, steps, asked);
        evicts_again_ = kept_->evicting.next_change();
        if (!starts)
            return false;
        nominate(which, {}, std::nullopt);
        return true;
    }

    /// Nominates the gang: it starts once the pods that the plan vacates have left. The placements
    /// of moved pods come first.
    void nominate(const turn& which, std::span<const placement> moves,
                  std::optional<std::int64_t> kept_until) {
        plan<Traits::width>& journal = *kept_->journal;
        decision* made = decision_of(*result_, kept_->made, noted_, which.visit);
        // Placements that need no eviction keep their own decision.
        if (!made || !made->placements.empty()) {
            result_->add(which.gang, {}, {});
            kept_->made.push_back({which.visit, (*known_)[which.gang].last});
            made = &result_->decisions.back();
        }
        kept_->deciding.recycle(made->outcome.proof);
        made->outcome = {};
        made->outcome.kind = answer::admitted;
        const auto placements = std::span(journal.placements()).subspan(moves.size());
        result_->nominate(*made, placements, journal.evictions(), moves);
        result_->counters.pods_nominated += placements.size();
        result_->counters.pods_evicted += journal.evictions().size();
        result_->counters.pods_moved += moves.size();
        known_->nominate_members(which.gang, placements);
        if (moves.empty())
            note_candidates(which.gang, placements);
        else
            kept_->candidates.forget();
        if (moves.empty())
            for (const pod_index pod : journal.evictions())
                known_->told_to_go(pod);
        journal.commit_nominated();
        known_->told_to_move(moves, kept_until);
        known_->answered(which.gang, standing_after(*known_, made->outcome));
    }

    /// Evicted pods stay charged until they have left, so their gangs stay candidates.
    void note_candidates(gang_index which, std::span<const placement> placements) {
        kept_->candidates.note_nominated(which);
        for (const auto& [pod, node] : placements)
            kept_->candidates.note_free(node);
        for (const pod_index pod : kept_->journal->evictions())
            kept_->candidates.note_free(*(*known_)[pod].node);
    }

    cluster_state<Traits>* known_;
    std::int64_t now_;
    const any_policy<Traits>* how_;
    budget limit_;
    cycle_result* result_;
    engine<Traits>* kept_;
    fair_shares<Traits> due_;
    /// The time from which time-dependent rules may allow more moves for the gang tried last.
    std::optional<std::int64_t> moves_again_;
    std::optional<std::int64_t> evicts_again_;
    /// Decisions before this pass.
    std::size_t noted_;
    bool spare_work_ = false;
    /// What the gang that is tried is short of may be told.
    bool told_ = true;
};

template<class Traits>
bool make_room(cluster_state<Traits>& known, std::int64_t now, const any_policy<Traits>& how,
               budget limit, cycle_result& result, engine<Traits>& kept, bool spare_work) {
    return eviction_pass<Traits>(known, now, how, limit, result, kept).run(spare_work);
}

} // namespace detail
} // namespace v0_1
} // namespace muster
