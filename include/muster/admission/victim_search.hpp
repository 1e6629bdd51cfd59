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
        outcome found = outcome::open;
        if (is_small())
            found = least_of_all(fit);
        if (found == outcome::open)
            found = level_by_level(fit);
        return found;
    }

    /// The pods to evict, least valuable gangs first.
    [[nodiscard]] const std::vector<pod_index>& chosen() const noexcept { return chosen_; }
    /// When a rule of time may say more.
    [[nodiscard]] std::optional<std::int64_t> next_change() const noexcept {
        return list_.next_change();
    }

private:
    static constexpr std::size_t whole = std::numeric_limits<std::size_t>::max();

    /// A member that can be spared, or all that is left of a gang.
    struct unit {
        std::size_t of = 0;
        std::size_t pod = whole;
        /// Of a whole gang: the pods that went with it.
        std::vector<std::size_t> pods;
    };

    // ---- taking and putting back ---------------------------------------------------------------

    template<class Fit>
    void take_pod(victim& from, std::size_t at, Fit& fit) {
        --*steps_;
        from.taken[at] = 1;
        ++from.count;
        --from.holding[(*known_)[from.pods[at]].role.value()];
        borrowed_->take(from.pods[at]);
        fit.take(from.pods[at]);
    }
    template<class Fit>
    void put_back_pod(victim& from, std::size_t at, Fit& fit) {
        --*steps_;
        from.taken[at] = 0;
        --from.count;
        ++from.holding[(*known_)[from.pods[at]].role.value()];
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
            if (!each.broken()) {
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

    /// Opens levels until there are more units than few.
    [[nodiscard]] bool is_small() {
        atoms_.clear();
        std::size_t from = 0;
        while (list_.next_level(victims_)) {
            for (; from < victims_.size(); ++from) {
                const victim& of = victims_[from];
                atom rest{from, {}};
                for (std::size_t at = 0; at < of.pods.size(); ++at)
                    if (of.spare[at])
                        atoms_.push_back({from, {at}});
                    else
                        rest.pods.push_back(at);
                if (of.as_a_whole && !rest.pods.empty())
                    atoms_.push_back(std::move(rest));
                if (atoms_.size() > few) {
                    opened_ = 0;
                    return false;
                }
            }
        }
        opened_ = 0;
        return true;
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
            } else if (!keeps_minima(each) || takes_core(each)) {
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
    [[nodiscard]] static bool takes_core(const victim& of) {
        for (std::size_t at = 0; at < of.pods.size(); ++at)
            if (of.taken[at] && !of.spare[at])
                return true;
        return false;
    }

    // ---- many units ----------------------------------------------------------------------------

    /// The next level's gangs, opened before or now: [first, last) of the victims.
    [[nodiscard]] bool open_level(std::size_t& first, std::size_t& last) {
        first = opened_;
        if (first == victims_.size() && !list_.next_level(victims_))
            return false;
        last = first;
        while (last < victims_.size() &&
               victims_[last].terms.outer == victims_[first].terms.outer &&
               victims_[last].terms.inner == victims_[first].terms.inner)
            ++last;
        opened_ = last;
        return true;
    }

    template<class Fit>
    [[nodiscard]] outcome level_by_level(Fit& fit) {
        std::size_t first = 0;
        std::size_t last = 0;
        failed_at_ = 0;
        ask_at_ = 1;
        bool found = false;
        while (!found && *steps_ > 0 && open_level(first, last)) {
            for (std::size_t which = first; which < last && !found; ++which)
                for (std::size_t at = 0;
                     victims_[which].any_spare && at < victims_[which].pods.size() && !found; ++at)
                    found = victims_[which].spare[at] && take_spare(which, at, fit) &&
                            fits_now(fit, false);
            found = found || fits_now(fit, true);
            for (std::size_t which = first; which < last && !found; ++which)
                found = victims_[which].as_a_whole && take_rest(which, fit) && fits_now(fit, false);
            found = found || fits_now(fit, true);
        }
        const bool all_taken = std::ranges::all_of(victims_, &victim::broken);
        if (found) {
            shorten(fit);
            spare_what_can_be(fit);
            note_chosen();
        }
        put_all_back(fit);
        if (*steps_ <= 0) {
            chosen_.clear();
            return outcome::open;
        }
        return found ? outcome::found : all_taken ? outcome::impossible : outcome::open;
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

    /// Whole gangs first, and of each the most valuable first.
    template<class Fit>
    void spare_what_can_be(Fit& fit) {
        for (const bool gangs : {true, false}) {
            order_.clear();
            for (std::size_t at = units_.size(); at-- > 0;)
                if ((units_[at].pod == whole) == gangs &&
                    (gangs || !victims_[units_[at].of].broken()))
                    order_.push_back(at);
            if (!gangs)
                std::ranges::stable_sort(order_, [this](std::size_t lhs, std::size_t rhs) {
                    return std::pair(units_[lhs].of, units_[lhs].pod) >
                           std::pair(units_[rhs].of, units_[rhs].pod);
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
    std::size_t opened_ = 0;
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
