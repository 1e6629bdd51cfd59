// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/policy/victim_rule_concept.hpp>
#include <muster/preempt/candidates.hpp>
#include <muster/preempt/disruption_room.hpp>
#include <muster/preempt/reclaim_check.hpp>
#include <muster/preempt/victims.hpp>
#include <muster/problem/reused_list.hpp>
#include <muster/vocabulary/subtree_status.hpp>

namespace muster {
inline namespace v0_1 {

/// Takes pods of gangs as candidates for eviction and puts them back, unit by unit. Checks which
/// units the minima of the gangs, disruption budgets and the deserved amounts of queues allow.
/// `victim_search` makes the choice and defines `Fit`.
template<class Traits>
class victim_selection {
protected:
    static constexpr std::size_t whole = victim_unit::whole;
    static constexpr std::size_t unopened = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t nothing = unopened - 1;

    using unit = victim_unit;

    template<victim_rule Rule>
    void begin_selection(const cluster_state<Traits>& cluster, gang_index starting,
                         const Rule& rule, std::int64_t now, eviction_candidates<Traits>& among,
                         queue_use<Traits>& reclaim, std::int64_t& steps) {
        cluster_ = &cluster;
        reclaim_ = &reclaim;
        steps_ = &steps;
        victims_.clear();
        units_.clear();
        budgets_.begin(cluster);
        list_.begin(cluster, starting, rule, now, among);
        if (list_.any_reclaim())
            reclaim.read();
        slots_.assign(list_.size(), unopened);
    }

    template<class Fit>
    void take_pod(victim& from, std::size_t at, Fit& fit) {
        --*steps_;
        from.taken[at] = 1;
        ++from.count;
        --from.holding[(*cluster_)[from.pods[at]].role.value()];
        budgets_.take(from.pods[at]);
        if (list_.any_reclaim())
            reclaim_->take(from.pods[at]);
        fit.take(from.pods[at]);
    }
    template<class Fit>
    void put_back_pod(victim& from, std::size_t at, Fit& fit) {
        --*steps_;
        from.taken[at] = 0;
        --from.count;
        ++from.holding[(*cluster_)[from.pods[at]].role.value()];
        budgets_.put_back(from.pods[at]);
        if (list_.any_reclaim())
            reclaim_->put_back(from.pods[at]);
        fit.put_back(from.pods[at]);
    }
    [[nodiscard]] bool keeps_deserved(const victim& from, std::size_t at) const {
        if (from.terms.reclaim == reclaim_rule::none)
            return true;
        if (detail::checks_last_unit(from.terms.reclaim))
            return some_unit_may_reclaim(from);
        const auto queue = (*cluster_)[from.gang].queue;
        return queue &&
               detail::may_reclaim(*reclaim_, *queue, cluster_->request(from.pods[at]), from.terms);
    }
    /// Returns true if some unit that was taken from the queue of `from` may be the last one by the
    /// reclaim rule.
    [[nodiscard]] bool some_unit_may_reclaim(const victim& from) const {
        const auto queue = (*cluster_)[from.gang].queue;
        return detail::any_of(victims_, [&](const victim& taken_from) {
            if (taken_from.count == 0 || (*cluster_)[taken_from.gang].queue != queue)
                return false;
            const auto nothing_left = [&] {
                const detail::sequence<std::int64_t> none(taken_from.holding.size(), 0);
                return reaches_minima((*cluster_)[taken_from.gang].spec.tree, none);
            };
            if (!taken_from.broken() || nothing_left()) {
                for (std::size_t at = 0; at < taken_from.pods.size(); ++at)
                    if (taken_from.taken[at] &&
                        last_of(taken_from, cluster_->request(taken_from.pods[at])))
                        return true;
                return false;
            }
            // If a whole gang goes, its surplus goes first and the rest is one unit.
            detail::sequence<std::int64_t> left = taken_from.holding;
            for (const pod_index pod : taken_from.pods)
                ++left[(*cluster_)[pod].role.value()];
            resources<Traits::width> core;
            for (const pod_index pod : taken_from.pods) {
                std::int64_t& role = left[(*cluster_)[pod].role.value()];
                --role;
                if (reaches_minima((*cluster_)[taken_from.gang].spec.tree, left))
                    continue;
                ++role;
                core = saturating_add(core, cluster_->request(pod));
            }
            return last_of(taken_from, core);
        });
    }
    [[nodiscard]] bool last_of(const victim& owner, const resources<Traits::width>& amount) const {
        return detail::may_reclaim(*reclaim_, *(*cluster_)[owner.gang].queue, amount, owner.terms);
    }
    [[nodiscard]] bool keeps_minima(const victim& owner) const {
        return static_cast<std::int64_t>(owner.count) <= owner.most &&
               reaches_minima((*cluster_)[owner.gang].spec.tree, owner.holding);
    }

    /// True if all taken pods may go together. Adds to `broken` the number of gangs that lose all
    /// their members.
    [[nodiscard]] bool may_go(std::size_t& broken) const {
        if (!budgets_.kept())
            return false;
        for (const victim& gang : victims_) {
            if (gang.count == 0)
                continue;
            broken += gang.broken() ? std::size_t{1} : std::size_t{0};
            const bool whole_goes = gang.broken() && gang.as_a_whole;
            if (!whole_goes && (!keeps_minima(gang) || gang.takes_core()))
                return false;
            for (std::size_t at = 0; at < gang.pods.size(); ++at)
                if (gang.taken[at] && !keeps_deserved(gang, at))
                    return false;
        }
        return true;
    }

    template<class Fit>
    bool take_spare(std::size_t which, std::size_t at, Fit& fit) {
        victim& from = victims_[which];
        take_pod(from, at, fit);
        if (keeps_minima(from) && budgets_.kept() && keeps_deserved(from, at)) {
            unit& spared = units_.add();
            spared.of = which;
            spared.pod = at;
            spared.pods.clear();
            return true;
        }
        put_back_pod(from, at, fit);
        return false;
    }
    template<class Fit>
    bool take_rest(std::size_t which, Fit& fit) {
        victim& from = victims_[which];
        unit& all = units_.add();
        all.of = which;
        all.pod = whole;
        all.pods.clear();
        for (std::size_t at = 0; at < from.pods.size(); ++at)
            if (!from.taken[at]) {
                take_pod(from, at, fit);
                all.pods.push_back(at);
            }
        bool may = budgets_.kept();
        for (const std::size_t at : all.pods)
            may = may && keeps_deserved(from, at);
        if (may && !all.pods.empty())
            return true;
        put_back(all, fit);
        units_.pop_back();
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
    /// Returns the place of the gang among the victims, if any of its pods may be taken.
    [[nodiscard]] std::optional<std::size_t> open(std::size_t at) {
        if (slots_[at] == unopened) {
            slots_[at] = list_.open(at, victims_.add()) ? victims_.size() - 1 : nothing;
            if (slots_[at] == nothing)
                victims_.pop_back();
        }
        return slots_[at] == nothing ? std::nullopt : std::optional(slots_[at]);
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    queue_use<Traits>* reclaim_ = nullptr;
    std::int64_t* steps_ = nullptr;
    disruption_room<Traits> budgets_;
    victim_list<Traits> list_;
    detail::reused_list<victim> victims_;
    /// Per gang that the rule admits: its place among the victims.
    detail::sequence<std::size_t> slots_;
    detail::reused_list<unit> units_;
};

} // namespace v0_1
} // namespace muster
