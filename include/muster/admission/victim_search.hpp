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

#include <muster/admission/borrowing.hpp>
#include <muster/admission/tree_standing.hpp>
#include <muster/admission/victim_fit.hpp>
#include <muster/admission/victims.hpp>
#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/model/state.hpp>
#include <muster/policy/victim_rule_concept.hpp>

namespace muster::inline v0_1 {

/// Chooses whom to evict so that a gang fits. Units are members that a gang can spare, one by one,
/// and gangs as a whole: nobody is left below its minima. What it chooses is inclusion-minimal: put
/// any unit back and the gang fits no more. Of up to `few` units in all it chooses the least set of
/// all by (highest outer level, highest inner level, gangs broken, pods, newest first); else the
/// least that it finds as it goes through the levels.
template<class Traits>
class victim_search {
public:
    enum class outcome : std::uint8_t {
        found,
        /// Not with all that may be taken.
        impossible,
        /// Not as it was looked for, or the steps ended.
        open,
    };
    static constexpr std::size_t few = 12;

    /// `fit` tells whether the gang fits, and follows; nobody is taken yet. Takes from `steps` one
    /// for every pod taken or put back. `fit` ends as if nobody were taken.
    template<victim_rule Rule, class Fit>
    [[nodiscard]] outcome run(const state<Traits>& known, gang_index by, const Rule& rule,
                              std::int64_t now, borrowing<Traits>& borrowed, Fit& fit,
                              std::int64_t& steps) {
        known_ = &known;
        borrowed_ = &borrowed;
        steps_ = &steps;
        victims_.clear();
        units_.clear();
        chosen_.clear();
        list_.begin(known, by, rule, now);
        slots_.assign(list_.size(), unopened);
        outcome found = outcome::open;
        if (is_small())
            found = least_of_all(fit);
        if (found == outcome::open)
            found = level_by_level(fit);
        if constexpr (Fit::cheap)
            if (found == outcome::open && *steps_ > 0)
                found = node_by_node(fit);
        return found;
    }

    /// The pods to evict, least valuable gangs first.
    [[nodiscard]] const std::vector<pod_index>& chosen() const noexcept { return chosen_; }
    /// When a rule of time may say more.
    [[nodiscard]] std::optional<std::int64_t> next_change() const noexcept {
        return list_.next_change();
    }

private:
    static constexpr std::size_t whole = victim_unit::whole;
    static constexpr std::size_t unopened = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t nothing = unopened - 1;

    using unit = victim_unit;

    // ---- taking and putting back ---------------------------------------------------------------

    template<class Fit>
    void take_pod(victim& from, std::size_t at, Fit& fit) {
        --*steps_;
        from.taken[at] = 1;
        ++from.count;
        --from.holding[(*known_)[from.pods[at]].role.value()];
        if (list_.any_borrowed())
            borrowed_->take(from.pods[at]);
        fit.take(from.pods[at]);
    }
    template<class Fit>
    void put_back_pod(victim& from, std::size_t at, Fit& fit) {
        --*steps_;
        from.taken[at] = 0;
        --from.count;
        ++from.holding[(*known_)[from.pods[at]].role.value()];
        if (list_.any_borrowed())
            borrowed_->put_back(from.pods[at]);
        fit.put_back(from.pods[at]);
    }
    [[nodiscard]] bool keeps_deserved(const victim& from, std::size_t at) const {
        return !from.terms.only_borrowed ||
               (from.terms.lenient ? keeps_leniently(from)
                                   : borrowed_->admits(from.pods[at], from.terms.by_fair_share));
    }
    /// Some unit taken of the gang's queue could have gone last.
    [[nodiscard]] bool keeps_leniently(const victim& from) const {
        const auto queue = (*known_)[from.gang].queue;
        return std::ranges::any_of(victims_, [&](const victim& each) {
            if (each.count == 0 || (*known_)[each.gang].queue != queue)
                return false;
            const auto nothing_left = [&] {
                const std::vector<std::int64_t> none(each.holding.size(), 0);
                return reaches_minima((*known_)[each.gang].spec.tree, none);
            };
            if (!each.broken() || nothing_left()) {
                for (std::size_t at = 0; at < each.pods.size(); ++at)
                    if (each.taken[at] && last_of(each, known_->request(each.pods[at])))
                        return true;
                return false;
            }
            // Of a whole gang what it could spare goes first, the rest of it at once.
            std::vector<std::int64_t> left = each.holding;
            for (const pod_index pod : each.pods)
                ++left[(*known_)[pod].role.value()];
            resources<Traits::width> core;
            for (const pod_index pod : each.pods) {
                std::int64_t& role = left[(*known_)[pod].role.value()];
                --role;
                if (reaches_minima((*known_)[each.gang].spec.tree, left))
                    continue;
                ++role;
                for (std::size_t column = 0; column < Traits::width; ++column)
                    core[column] = saturating_add(core[column], known_->request(pod)[column]);
            }
            return last_of(each, core);
        });
    }
    [[nodiscard]] bool last_of(const victim& of, const resources<Traits::width>& amount) const {
        return borrowed_->admits_before(*(*known_)[of.gang].queue, amount, of.terms.by_fair_share,
                                        of.terms.of_leaves);
    }
    [[nodiscard]] bool keeps_minima(const victim& of) const {
        return static_cast<std::int64_t>(of.count) <= of.most &&
               reaches_minima((*known_)[of.gang].spec.tree, of.holding);
    }

    template<class Fit>
    bool take_spare(std::size_t which, std::size_t at, Fit& fit) {
        victim& from = victims_[which];
        take_pod(from, at, fit);
        if (keeps_minima(from) && keeps_deserved(from, at)) {
            units_.push_back({which, at, {}});
            return true;
        }
        put_back_pod(from, at, fit);
        return false;
    }
    template<class Fit>
    bool take_rest(std::size_t which, Fit& fit) {
        victim& from = victims_[which];
        unit all{which, whole, {}};
        bool may = true;
        for (std::size_t at = 0; at < from.pods.size(); ++at)
            if (!from.taken[at]) {
                take_pod(from, at, fit);
                all.pods.push_back(at);
            }
        for (const std::size_t at : all.pods)
            may = may && keeps_deserved(from, at);
        if (may && !all.pods.empty()) {
            units_.push_back(std::move(all));
            return true;
        }
        put_back(all, fit);
        return false;
    }
    template<class Fit>
    void put_back(const unit& what, Fit& fit) {
        victim& from = victims_[what.of];
        if (what.pod != whole)
            return put_back_pod(from, what.pod, fit);
        for (std::size_t at = what.pods.size(); at-- > 0;)
            put_back_pod(from, what.pods[at], fit);
    }
    template<class Fit>
    void take_again(const unit& what, Fit& fit) {
        victim& from = victims_[what.of];
        if (what.pod != whole)
            return take_pod(from, what.pod, fit);
        for (const std::size_t at : what.pods)
            take_pod(from, at, fit);
    }
    template<class Fit>
    void put_all_back(Fit& fit) {
        for (std::size_t which = victims_.size(); which-- > 0;)
            for (std::size_t at = victims_[which].pods.size(); at-- > 0;)
                if (victims_[which].taken[at])
                    put_back_pod(victims_[which], at, fit);
    }
    void note_chosen() {
        for (const victim& each : victims_)
            for (std::size_t at = 0; at < each.pods.size(); ++at)
                if (each.taken[at])
                    chosen_.push_back(each.pods[at]);
    }

    // ---- few units: the least of all -----------------------------------------------------------

    struct atom {
        std::size_t of = 0;
        std::vector<std::size_t> pods;
    };
    using key = std::tuple<std::int64_t, std::int64_t, std::size_t, std::size_t>;

    /// There are no more units than few, all of them in `atoms_`.
    [[nodiscard]] bool is_small() {
        atoms_.clear();
        // Gangs of which nothing may be taken after all are few.
        if (list_.size() > few * 4)
            return false;
        for (std::size_t at = 0; at < list_.size(); ++at) {
            const auto slot = open(at);
            if (!slot)
                continue;
            const victim& of = victims_[*slot];
            atom rest{*slot, {}};
            for (std::size_t pod = 0; pod < of.pods.size() && atoms_.size() <= few; ++pod)
                if (of.spare[pod])
                    atoms_.push_back({*slot, {pod}});
                else
                    rest.pods.push_back(pod);
            if (of.as_a_whole && !rest.pods.empty())
                atoms_.push_back(std::move(rest));
            if (atoms_.size() > few)
                return false;
        }
        return true;
    }

    /// Where the gang stands among the victims, if anything may be taken of it.
    [[nodiscard]] std::optional<std::size_t> open(std::size_t at) {
        if (slots_[at] == unopened) {
            victims_.emplace_back();
            slots_[at] = list_.open(at, victims_.back()) ? victims_.size() - 1 : nothing;
            if (slots_[at] == nothing)
                victims_.pop_back();
        }
        return slots_[at] == nothing ? std::nullopt : std::optional(slots_[at]);
    }

    template<class Fit>
    [[nodiscard]] outcome least_of_all(Fit& fit) {
        best_.reset();
        for (const atom& each : atoms_)
            for (const std::size_t at : each.pods)
                take_pod(victims_[each.of], at, fit);
        const bool any = fit.fits();
        if (any)
            descend(atoms_.size(),
                    {std::numeric_limits<std::int64_t>::min(),
                     std::numeric_limits<std::int64_t>::min(), 0, 0},
                    fit);
        put_all_back(fit);
        if (*steps_ <= 0)
            return outcome::open;
        if (!best_)
            return any ? outcome::open : outcome::impossible;
        chosen_ = best_chosen_;
        return outcome::found;
    }

    /// The most valuable of the first `left` atoms is left out or goes; of those behind, those that
    /// go are taken. Of equal sets this comes to the one first whose most valuable are worth least.
    template<class Fit>
    void descend(std::size_t left, const key& so_far, Fit& fit) {
        if (*steps_ <= 0 || (best_ && hopeless(so_far)))
            return;
        if (left == 0)
            return judge(so_far);
        const atom& each = atoms_[left - 1];
        victim& from = victims_[each.of];
        for (std::size_t at = each.pods.size(); at-- > 0;)
            put_back_pod(from, each.pods[at], fit);
        if (fit.fits())
            descend(left - 1, so_far, fit);
        for (const std::size_t at : each.pods)
            take_pod(from, at, fit);
        descend(left - 1,
                {std::max(std::get<0>(so_far), from.terms.outer),
                 std::max(std::get<1>(so_far), from.terms.inner), 0,
                 std::get<3>(so_far) + each.pods.size()},
                fit);
    }
    /// Nothing that goes on from there comes before the best.
    [[nodiscard]] bool hopeless(const key& so_far) const {
        const auto& [outer, inner, broken, pods] = *best_;
        if (std::get<0>(so_far) != outer)
            return std::get<0>(so_far) > outer;
        if (std::get<1>(so_far) != inner)
            return std::get<1>(so_far) > inner;
        return broken == 0 && std::get<3>(so_far) >= pods;
    }
    void judge(key mine) {
        for (const victim& each : victims_) {
            if (each.count == 0)
                continue;
            if (each.broken()) {
                if (!each.as_a_whole)
                    return;
                ++std::get<2>(mine);
            } else if (!keeps_minima(each) || each.takes_core()) {
                return;
            }
            for (std::size_t at = 0; at < each.pods.size(); ++at)
                if (each.taken[at] && !keeps_deserved(each, at))
                    return;
        }
        if (best_ && *best_ <= mine)
            return;
        best_ = mine;
        chosen_.clear();
        note_chosen();
        best_chosen_ = std::exchange(chosen_, {});
    }
    // ---- many units ----------------------------------------------------------------------------

    template<class Fit>
    [[nodiscard]] outcome level_by_level(Fit& fit) {
        failed_at_ = 0;
        ask_at_ = 1;
        bool found = false;
        for (std::size_t first = 0; first < list_.size() && !found && *steps_ > 0;) {
            const std::size_t last = list_.level_end(first);
            for (std::size_t at = first; at < last && !found; ++at)
                found = list_.may_spare(at) && take_spares(at, fit);
            found = found || fits_now(fit, true);
            for (std::size_t at = first; at < last && !found; ++at)
                if (const auto slot = open(at))
                    found =
                        victims_[*slot].as_a_whole && take_rest(*slot, fit) && fits_now(fit, false);
            found = found || fits_now(fit, true);
            first = last;
        }
        const bool all_taken = std::ranges::all_of(victims_, &victim::broken) &&
                               std::ranges::find(slots_, unopened) == slots_.end();
        if (found)
            shorten(fit);
        const outcome made = settle(found, fit);
        return made == outcome::open && all_taken && *steps_ > 0 ? outcome::impossible : made;
    }

    /// What level by level takes may lie scattered over many nodes, more than may be borrowed: here
    /// pods go together that make room together.
    template<class Fit>
    [[nodiscard]] outcome node_by_node(Fit& fit) {
        units_.clear();
        failed_at_ = 0;
        std::vector<victim_pod> pods;
        for (std::size_t each = 0; each < list_.size(); ++each)
            if (const auto slot = open(each))
                for (std::size_t at = 0; at < victims_[*slot].pods.size(); ++at) {
                    const victim& of = victims_[*slot];
                    if (of.spare[at] || of.as_a_whole)
                        pods.push_back(
                            {of.pods[at], of.terms.outer, of.terms.inner, of.rank, *slot, at});
                }
        fit.by_nodes(pods);
        bool found = false;
        for (std::size_t at = 0; at < pods.size() && !found && *steps_ > 0; ++at) {
            const victim& of = victims_[pods[at].of];
            if (!of.taken[pods[at].at])
                found = ((of.spare[pods[at].at] && take_spare(pods[at].of, pods[at].at, fit)) ||
                         (of.as_a_whole && take_rest(pods[at].of, fit))) &&
                        fits_now(fit, false);
        }
        return settle(found, fit);
    }

    /// Spares whom it can of those taken, and notes the others, if the gang fits; nobody stays
    /// taken.
    template<class Fit>
    [[nodiscard]] outcome settle(bool found, Fit& fit) {
        if (found) {
            spare_what_can_be(fit);
            note_chosen();
        }
        put_all_back(fit);
        if (found && *steps_ > 0)
            return outcome::found;
        chosen_.clear();
        return outcome::open;
    }

    /// True when the gang fits by what that gang can spare.
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

    /// Asked of every unit where that is cheap; else when their number has doubled, and `always`.
    template<class Fit>
    [[nodiscard]] bool fits_now(Fit& fit, bool always) {
        if (units_.size() == failed_at_ || (!Fit::cheap && !always && units_.size() < ask_at_))
            return false;
        if (fit.fits())
            return true;
        failed_at_ = units_.size();
        ask_at_ = failed_at_ * 2;
        return false;
    }

    /// Drops units from the end as long as the gang fits: as many as were not asked about.
    template<class Fit>
    void shorten(Fit& fit) {
        std::size_t fitting = units_.size();
        std::size_t failing = failed_at_;
        std::size_t standing = fitting;
        const auto go_to = [&](std::size_t count) {
            for (; standing > count; --standing)
                put_back(units_[standing - 1], fit);
            for (; standing < count; ++standing)
                take_again(units_[standing], fit);
        };
        while (fitting - failing > 1 && *steps_ > 0) {
            const std::size_t middle = failing + (fitting - failing) / 2;
            go_to(middle);
            (fit.fits() ? fitting : failing) = middle;
        }
        go_to(fitting);
        units_.resize(fitting);
    }

    /// Whole gangs first, and of each the most valuable first. The unit that was taken last is
    /// needed: without it the gang did not fit.
    template<class Fit>
    void spare_what_can_be(Fit& fit) {
        for (const bool gangs : {true, false}) {
            order_.clear();
            for (std::size_t at = units_.size() - 1; at-- > 0;)
                if ((units_[at].pod == whole) == gangs &&
                    (gangs || !victims_[units_[at].of].broken()))
                    order_.push_back(at);
            if (!gangs)
                std::ranges::stable_sort(order_, [this](std::size_t lhs, std::size_t rhs) {
                    return std::pair(victims_[units_[lhs].of].rank, units_[lhs].pod) >
                           std::pair(victims_[units_[rhs].of].rank, units_[rhs].pod);
                });
            spare(0, order_.size(), fit);
        }
    }
    /// Of the units in `order_`, one after the other those stay without whom the gang still fits.
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

    const state<Traits>* known_ = nullptr;
    borrowing<Traits>* borrowed_ = nullptr;
    std::int64_t* steps_ = nullptr;
    victim_list<Traits> list_;
    std::vector<victim> victims_;
    /// Per gang that the rule admits: its place among the victims.
    std::vector<std::size_t> slots_;
    std::vector<unit> units_;
    std::vector<std::size_t> order_;
    std::size_t failed_at_ = 0;
    std::size_t ask_at_ = 0;
    std::vector<atom> atoms_;
    std::optional<key> best_;
    std::vector<pod_index> best_chosen_;
    std::vector<pod_index> chosen_;
};

} // namespace muster::inline v0_1
