// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/policy/victim_rule_concept.hpp>
#include <muster/preempt/candidates.hpp>
#include <muster/preempt/reclaim_check.hpp>
#include <muster/preempt/victim_fit.hpp>
#include <muster/preempt/victim_keeping.hpp>
#include <muster/preempt/victim_selection.hpp>
#include <muster/preempt/victims.hpp>

namespace muster {
inline namespace v0_1 {

/// Chooses pods to evict so that a gang fits. A unit is one surplus member of a gang, or a whole
/// gang; no gang is left below its minima. The chosen set is inclusion-minimal: if any unit is put
/// back, the gang no longer fits. With up to `few` units it is the least set by (highest queue
/// level, highest gang level, gangs broken, pods, newest first). With more units, and for rules
/// that evict in order, it is the least set found on a pass through the levels.
template<class Traits>
class victim_search : victim_keeping<Traits> {
    using selection = victim_selection<Traits>;
    using keeping = victim_keeping<Traits>;

public:
    enum class outcome : std::uint8_t {
        found,
        /// The gang does not fit even with everything evicted that may be.
        impossible,
        /// The gang does not fit with the sets that were tried, or the steps ran out.
        open,
    };
    static constexpr std::size_t few = keeping::few;

    /// Precondition: no pod is taken. `fit` decides whether the gang fits, and is called for each
    /// pod that is taken or put back. Each such change uses one of `steps`. On return no pod is
    /// taken. `brief`: `fit` need not compute how much room all evictions together would make.
    template<victim_rule Rule, class Fit>
    [[nodiscard]] outcome run(const cluster_state<Traits>& cluster, gang_index starting,
                              const Rule& rule, std::int64_t now,
                              eviction_candidates<Traits>& among, queue_use<Traits>& reclaim,
                              Fit& fit, std::int64_t& steps, bool brief) {
        this->begin_selection(cluster, starting, rule, now, among, reclaim, steps);
        chosen_.clear();
        if (fit.may_suffice_open(list_))
            return search(rule, fit);
        if constexpr (Fit::cheap) {
            std::int64_t members = 0;
            if (brief && !fit.may_suffice(list_, members)) {
                steps -= members;
                return outcome::impossible;
            }
        }
        if (const auto vain = steps_in_vain(takes_in_order(rule)); vain && steps > *vain) {
            steps -= *vain;
            if constexpr (Fit::cheap)
                fit.count_open();
            return outcome::impossible;
        }
        // The search still decides whether the answer is final, and how many steps it takes.
        fit.give_up();
        const outcome refused = search(rule, fit);
        if constexpr (Fit::cheap)
            if (refused == outcome::impossible)
                fit.count_without(victims_);
        return refused;
    }

    /// The pods to evict, least valuable gangs first.
    [[nodiscard]] const std::vector<pod_index>& chosen() const noexcept { return chosen_; }
    /// The next time at which a time-dependent rule may admit more.
    [[nodiscard]] std::optional<std::int64_t> next_change() const noexcept {
        return list_.next_change();
    }

private:
    /// Returns the steps of a `search` in which no set of units makes the gang fit, if counts show
    /// that it takes every pod of every gang and puts all back.
    [[nodiscard]] std::optional<std::int64_t> steps_in_vain(bool in_order) const {
        if (budgets_.any() || list_.any_reclaim())
            return std::nullopt;
        typename victim_list<Traits>::unit_count sum;
        for (std::size_t at = 0; at < list_.size(); ++at) {
            const auto counted = list_.count(at);
            if (!counted)
                return std::nullopt;
            sum.pods += counted->pods;
            sum.units += counted->units;
            sum.refused += counted->refused;
        }
        const bool small =
            !in_order && list_.size() <= few * 4 && sum.units <= static_cast<std::int64_t>(few);
        return 2 * (small ? sum.pods : sum.pods + sum.refused);
    }

    /// Tries one order of units after the other.
    template<victim_rule Rule, class Fit>
    [[nodiscard]] outcome search(const Rule& rule, Fit& fit) {
        list_.sort();
        outcome found = outcome::open;
        if (!takes_in_order(rule) && is_small())
            found = least_of_all(fit);
        if (found == outcome::open && !fit.monotone())
            found = level_by_level(fit, true);
        if (found == outcome::open)
            found = level_by_level(fit, false);
        if constexpr (Fit::cheap)
            if (found == outcome::open && *steps_ > 0)
                found = node_by_node(fit);
        if (found == outcome::open && *steps_ > 0) {
            const bool kept = this->take_all_and_keep(fit);
            if (kept)
                this->keep_more(fit, false);
            found = settle(kept, fit);
        }
        return found;
    }

    using keeping::cluster_;
    using keeping::keeps_minima;
    using keeping::put_back_pod;
    using keeping::steps_;
    using keeping::take_pod;
    using keeping::victims_;
    using selection::budgets_;
    using selection::keeps_deserved;
    using selection::list_;
    using selection::open;
    using selection::put_all_back;
    using selection::put_back;
    using selection::slots_;
    using selection::take_again;
    using selection::take_rest;
    using selection::take_spare;
    using selection::units_;
    using selection::unopened;
    using selection::whole;

    void note_chosen() {
        for (const victim& gang : victims_)
            for (std::size_t at = 0; at < gang.pods.size(); ++at)
                if (gang.taken[at])
                    chosen_.push_back(gang.pods[at]);
    }

    // ---- few units: the least of all -----------------------------------------------------------

    struct atom {
        std::size_t of = 0;
        detail::sequence<std::size_t> pods;
    };
    using key = std::tuple<std::int64_t, std::int64_t, std::size_t, std::size_t>;

    /// Returns true if there are at most `few` units; all of them are then in `atoms_`.
    [[nodiscard]] bool is_small() {
        atoms_.clear();
        // Few of the admitted gangs turn out to have no unit, so a long list has too many units.
        if (list_.size() > few * 4)
            return false;
        for (std::size_t at = 0; at < list_.size(); ++at) {
            const auto slot = open(at);
            if (!slot)
                continue;
            const victim& opened = victims_[*slot];
            for (std::size_t pod = 0; pod < opened.pods.size() && atoms_.size() <= few; ++pod)
                if (opened.spare[pod])
                    add_atom(*slot).pods.push_back(pod);
            if (opened.as_a_whole && detail::count(opened.spare, 0) > 0 && atoms_.size() <= few) {
                atom& rest = add_atom(*slot);
                for (std::size_t pod = 0; pod < opened.pods.size(); ++pod)
                    if (!opened.spare[pod])
                        rest.pods.push_back(pod);
            }
            if (atoms_.size() > few)
                return false;
        }
        return true;
    }

    [[nodiscard]] atom& add_atom(std::size_t slot) {
        atom& fresh = atoms_.add();
        fresh.of = slot;
        fresh.pods.clear();
        return fresh;
    }

    template<class Fit>
    [[nodiscard]] outcome least_of_all(Fit& fit) {
        best_.reset();
        // If an eviction can make the gang fit worse, every set is tried, so some steps are
        // reserved for the other searches.
        const std::int64_t kept = fit.monotone() ? 0 : *steps_ / 2;
        *steps_ -= kept;
        for (const atom& choice : atoms_)
            for (const std::size_t at : choice.pods)
                take_pod(victims_[choice.of], at, fit);
        const bool any = !fit.monotone() || fit.fits();
        if (any)
            descend(atoms_.size(),
                    {std::numeric_limits<std::int64_t>::min(),
                     std::numeric_limits<std::int64_t>::min(), 0, 0},
                    fit);
        put_all_back(fit);
        const bool ended = *steps_ <= 0;
        *steps_ += kept;
        if (ended)
            return outcome::open;
        if (!best_)
            return any ? outcome::open : outcome::impossible;
        chosen_ = best_chosen_;
        return outcome::found;
    }

    /// Decides whether the most valuable of the first `left` atoms stays or is evicted; for the
    /// atoms after it that is decided. Staying is tried first, so among sets of equal value the one
    /// with the least valuable pods is found first.
    template<class Fit>
    void descend(std::size_t left, const key& so_far, Fit& fit) {
        if (*steps_ <= 0 || (best_ && cannot_improve(so_far)))
            return;
        if (left == 0)
            return judge(so_far, fit);
        const atom& choice = atoms_[left - 1];
        victim& from = victims_[choice.of];
        for (std::size_t at = choice.pods.size(); at-- > 0;)
            put_back_pod(from, choice.pods[at], fit);
        if (!fit.monotone() || fit.fits())
            descend(left - 1, so_far, fit);
        for (const std::size_t at : choice.pods)
            take_pod(from, at, fit);
        descend(left - 1,
                {std::max(std::get<0>(so_far), from.terms.queue_level),
                 std::max(std::get<1>(so_far), from.terms.gang_level), 0,
                 std::get<3>(so_far) + choice.pods.size()},
                fit);
    }
    /// Returns true if no set that extends this one is better than the best.
    [[nodiscard]] bool cannot_improve(const key& so_far) const {
        const auto& [queue_level, gang_level, broken, pods] = *best_;
        if (std::get<0>(so_far) != queue_level)
            return std::get<0>(so_far) > queue_level;
        if (std::get<1>(so_far) != gang_level)
            return std::get<1>(so_far) > gang_level;
        return broken == 0 && std::get<3>(so_far) >= pods;
    }
    template<class Fit>
    void judge(key reached, Fit& fit) {
        if (!this->may_go(std::get<2>(reached)))
            return;
        if ((best_ && *best_ <= reached) || (!fit.monotone() && !fit.fits()))
            return;
        best_ = reached;
        chosen_.clear();
        note_chosen();
        std::swap(best_chosen_, chosen_);
        chosen_.clear();
    }
    // ---- many units ----------------------------------------------------------------------------

    /// Takes units level by level until the gang fits. `spare_wanted`: spares gangs with pods to
    /// which the starting gang has affinity.
    template<class Fit>
    [[nodiscard]] outcome level_by_level(Fit& fit, bool spare_wanted) {
        failed_at_ = 0;
        ask_at_ = 1;
        units_.clear();
        bool found = false;
        const auto spared = [&](std::size_t at) {
            const auto slot = spare_wanted ? open(at) : std::nullopt;
            return slot && detail::any_of(victims_[*slot].pods,
                                          [&](pod_index pod) { return fit.is_wanted(pod); });
        };
        for (std::size_t first = 0; first < list_.size() && !found && *steps_ > 0;) {
            const std::size_t last = list_.level_end(first);
            for (std::size_t at = first; at < last && !found; ++at)
                found = list_.may_spare(at) && !spared(at) && take_spares(at, fit);
            found = found || fits_now(fit, true);
            for (std::size_t at = first; at < last && !found; ++at)
                if (const auto slot = open(at); slot && !spared(at))
                    found =
                        victims_[*slot].as_a_whole && take_rest(*slot, fit) && fits_now(fit, false);
            found = found || fits_now(fit, true);
            first = last;
        }
        const bool all_taken = detail::all_of(victims_, &victim::broken) &&
                               detail::find(slots_, unopened) == slots_.end();
        if (found) {
            shorten(fit);
            spare_units(fit);
            this->keep_more(fit, spare_wanted);
        }
        const outcome made = settle(found, fit);
        return made == outcome::open && all_taken && *steps_ > 0 ? outcome::impossible : made;
    }

    /// Takes pods together that make room together. Units taken level by level may be scattered
    /// over many nodes, more than may be borrowed.
    template<class Fit>
    [[nodiscard]] outcome node_by_node(Fit& fit) {
        units_.clear();
        failed_at_ = 0;
        detail::sequence<victim_pod> pods;
        for (std::size_t number = 0; number < list_.size(); ++number)
            if (const auto slot = open(number))
                for (std::size_t at = 0; at < victims_[*slot].pods.size(); ++at) {
                    const victim& owner = victims_[*slot];
                    if (owner.spare[at] || owner.as_a_whole)
                        pods.push_back({owner.pods[at], owner.terms.queue_level,
                                        owner.terms.gang_level, owner.rank, *slot, at});
                }
        fit.by_nodes(pods);
        bool found = false;
        std::size_t before = 0;
        bool all = true;
        for (const victim_pod& next : pods) {
            if (found || *steps_ <= 0)
                break;
            const victim& owner = victims_[next.of];
            if (!owner.taken[next.at]) {
                const bool took = (owner.spare[next.at] && take_spare(next.of, next.at, fit)) ||
                                  (owner.as_a_whole && take_rest(next.of, fit));
                found = took && fits_now(fit, false);
                all = all && took;
            }
            if (!next.last)
                continue;
            // An incomplete group makes no room, but would use up disruption budgets.
            if (!all && !found && budgets_.any())
                put_back_from(before, fit);
            before = units_.size();
            all = true;
        }
        if (found) {
            spare_units(fit);
            this->keep_more(fit, false);
        }
        return settle(found, fit);
    }

    template<class Fit>
    void put_back_from(std::size_t first, Fit& fit) {
        for (; units_.size() > first; units_.pop_back())
            put_back(units_.back(), fit);
        failed_at_ = 0;
    }

    /// Records the taken pods if `found`, then puts all of them back.
    template<class Fit>
    [[nodiscard]] outcome settle(bool found, Fit& fit) {
        if (found)
            note_chosen();
        put_all_back(fit);
        if (found && *steps_ > 0)
            return outcome::found;
        chosen_.clear();
        return outcome::open;
    }

    /// Takes the surplus of the gang. Returns true as soon as the starting gang fits.
    template<class Fit>
    [[nodiscard]] bool take_spares(std::size_t at, Fit& fit) {
        const auto slot = open(at);
        if (!slot || !victims_[*slot].any_spare)
            return false;
        for (std::size_t pod = 0; pod < victims_[*slot].pods.size(); ++pod)
            if (victims_[*slot].spare[pod] && take_spare(*slot, pod, fit) && fits_now(fit, false))
                return true;
        return false;
    }

    /// Returns true if the gang fits. If `fits` is not cheap, checks only when the number of units
    /// has grown by a factor since the last check, or if `always`.
    template<class Fit>
    [[nodiscard]] bool fits_now(Fit& fit, bool always) {
        if (units_.size() == failed_at_ || (!Fit::cheap && !always && units_.size() < ask_at_))
            return false;
        if (fit.fits())
            return true;
        failed_at_ = units_.size();
        ask_at_ = fit.monotone() ? failed_at_ * 2 : failed_at_ + 1 + failed_at_ / 8;
        return false;
    }

    /// Puts back units from the end while the gang fits, by bisection. Only units after the last
    /// failed check can be put back.
    template<class Fit>
    void shorten(Fit& fit) {
        std::size_t fitting = units_.size();
        std::size_t failing = failed_at_;
        std::size_t position = fitting;
        const auto go_to = [&](std::size_t count) {
            for (; position > count; --position)
                put_back(units_[position - 1], fit);
            for (; position < count; ++position)
                take_again(units_[position], fit);
        };
        while (fitting - failing > 1 && *steps_ > 0) {
            const std::size_t middle = failing + (fitting - failing) / 2;
            go_to(middle);
            (fit.fits() ? fitting : failing) = middle;
        }
        go_to(fitting);
        units_.keep(fitting);
    }

    template<class Fit>
    void spare_units(Fit& fit) {
        spare_once(fit, units_.size() - 1);
        // A pod that stays may make other evictions unnecessary, so repeat until no unit can be put
        // back.
        for (std::size_t before = 0; !fit.monotone() && before != taken_units() && *steps_ > 0;) {
            before = taken_units();
            spare_once(fit, units_.size());
        }
    }
    [[nodiscard]] std::size_t taken_units() const {
        return static_cast<std::size_t>(detail::count_if(
            units_, [this](const victim_unit& evicted) { return is_taken(evicted); }));
    }
    [[nodiscard]] bool is_taken(const victim_unit& evicted) const {
        const victim& owner = victims_[evicted.of];
        return owner.taken[evicted.pod == whole ? evicted.pods.front() : evicted.pod] != 0;
    }
    /// Tries to put back units: whole gangs first, then single members; the most valuable first in
    /// each group. The caller may exclude the unit that was taken last: without it the gang did not
    /// fit.
    template<class Fit>
    void spare_once(Fit& fit, std::size_t end) {
        for (const bool gangs : {true, false}) {
            order_.clear();
            for (std::size_t at = end; at-- > 0;)
                if ((units_[at].pod == whole) == gangs && is_taken(units_[at]) &&
                    (gangs || !victims_[units_[at].of].broken()))
                    order_.push_back(at);
            if (!gangs)
                detail::sort_short(order_, [this](std::size_t lhs, std::size_t rhs) {
                    return std::pair(victims_[units_[lhs].of].rank, units_[lhs].pod) >
                           std::pair(victims_[units_[rhs].of].rank, units_[rhs].pod);
                });
            spare(0, order_.size(), fit);
        }
    }
    /// Puts back the units in `order_` one by one, as long as the gang still fits.
    template<class Fit>
    void spare(std::size_t first, std::size_t last, Fit& fit) {
        if (first == last || *steps_ <= 0)
            return;
        if (Fit::cheap && last - first > 1) {
            for (; first < last; ++first)
                spare(first, first + 1, fit);
            return;
        }
        for (std::size_t at = first; at < last; ++at)
            put_back(units_[order_[at]], fit);
        if (fit.fits())
            return;
        for (std::size_t at = last; at-- > first;)
            take_again(units_[order_[at]], fit);
        if (last - first == 1)
            return;
        const std::size_t middle = first + (last - first) / 2;
        spare(first, middle, fit);
        spare(middle, last, fit);
    }

    detail::sequence<std::size_t> order_;
    std::size_t failed_at_ = 0;
    std::size_t ask_at_ = 0;
    detail::reused_list<atom> atoms_;
    std::optional<key> best_;
    std::vector<pod_index> best_chosen_;
    std::vector<pod_index> chosen_;
};

} // namespace v0_1
} // namespace muster
