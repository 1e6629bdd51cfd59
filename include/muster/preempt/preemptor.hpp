// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/admission/admit.hpp>
#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/greedy/place.hpp>
#include <muster/index/node_finder.hpp>
#include <muster/plan/plan.hpp>
#include <muster/policy/victim_rule_concept.hpp>
#include <muster/preempt/candidates.hpp>
#include <muster/preempt/eviction_shortage.hpp>
#include <muster/preempt/reclaim_check.hpp>
#include <muster/preempt/victim_fit.hpp>
#include <muster/preempt/victim_search.hpp>
#include <muster/preempt/victims.hpp>
#include <muster/problem/counted_class.hpp>
#include <muster/problem/quota_tally.hpp>

namespace muster {
inline namespace v0_1 {

/// How a gang is tried.
template<std::size_t Width>
struct preempt_request {
    /// The fair shares of all queues, for rules that look at them.
    const detail::sequence<resources<Width>>* due = nullptr;
    /// It has its minima, and gets one member more, or not.
    bool one_more = false;
    /// `short_of` will not be read.
    bool brief = false;
    /// What the minima of the gang ask for, if that is known and no matter of choice.
    const resources<Width>* amount = nullptr;
};

/// Starts gangs that wait for room in the room of other pods: of leaving pods, and of pods that a
/// rule allows to evict. Keeps its scratch from one gang to the next.
template<class Traits>
class preemptor {
public:
    static constexpr std::size_t width = Traits::width;

    /// True if the gang starts: `into`, which was empty, then has the pods that go and the
    /// placements, to be kept by `commit_nominated`. Otherwise `into` is empty again. Takes from
    /// `steps`.
    template<victim_rule Rule>
    [[nodiscard]] bool start(const cluster_state<Traits>& cluster, gang_index by, const Rule& rule,
                             std::int64_t now, plan<width>& into, node_finder<Traits>& finder,
                             placer<Traits>& placing, admission<Traits>& deciding,
                             eviction_candidates<Traits>& among, std::int64_t& steps,
                             const preempt_request<width>& asked) {
        due_ = asked.due;
        short_of_.reset();
        next_change_.reset();
        undecided_ = false;
        among.look(cluster);
        among.begin_for(by);
        // What a rule of time spares now it may admit later, and a sum does not say when.
        const bool by_sums = asked.brief && !Rule::none && ignores_time(rule);
        if (by_sums && asked.amount && !among.may_suffice(rule, now, *asked.amount))
            return false;
        if (!(asked.one_more ? deciding.prepare_one_more(cluster, by)
                             : deciding.prepare(cluster, by)))
            return false;
        if (by_sums && !asked.amount && !may_suffice(rule, now, deciding, among))
            return false;
        const bool any = !by_sums || among.any_admitted(rule, now);
        into.assume_released(cluster.population().anybody_comes());
        if (into.assumes_released() && may_fit(cluster, by, finder, deciding) &&
            deciding.try_minima(cluster, into, finder, placing, steps) == answer::admitted)
            return true;
        const savepoint ahead = into.mark();
        bool starts = false;
        if (!Rule::none && any && may_help(cluster, by, rule, now, deciding, among)) {
            --steps;
            starts = choose(cluster, by, rule, now, into, finder, placing, deciding, among, steps,
                            asked.brief);
        }
        into.rollback(starts ? ahead : savepoint{});
        if (!starts)
            return false;
        for (const pod_index pod : search_.chosen())
            vacate_pod(cluster, pod, into);
        starts = deciding.try_minima(cluster, into, finder, placing, steps) == answer::admitted;
        if (!starts)
            into.rollback({});
        return starts;
    }

    /// Of the gang asked about last: what all evictions together would leave it short of, when that
    /// is known.
    [[nodiscard]] const std::optional<eviction_shortage>& short_of() const noexcept {
        return short_of_;
    }
    /// The steps ended, or it was not looked for in every way.
    [[nodiscard]] bool undecided() const noexcept { return undecided_; }
    /// When a rule that depends on time may admit more of the gangs that were considered.
    [[nodiscard]] std::optional<std::int64_t> next_change() const noexcept { return next_change_; }

private:
    /// False if sums show that there is too little room even without the leaving pods and all pods
    /// of the gangs that the rule admits.
    template<victim_rule Rule>
    [[nodiscard]] static bool may_suffice(const Rule& rule, std::int64_t now,
                                          const admission<Traits>& deciding,
                                          eviction_candidates<Traits>& among) {
        const auto* needs = deciding.needs();
        resources<width> amount;
        return !needs || !need_of(deciding.members(), needs, amount) ||
               among.may_suffice(rule, now, amount);
    }

    /// False if a count shows that the gang does not fit with the present plan.
    [[nodiscard]] static bool may_fit(const cluster_state<Traits>& cluster, gang_index by,
                                      node_finder<Traits>& finder,
                                      const admission<Traits>& deciding) {
        const auto& members = deciding.members();
        const auto only = counted_class(cluster, by, members, deciding.needs());
        resources<width> amount;
        if (!only || !need_of(members, deciding.needs(), amount))
            return true;
        if (members.queue && !cluster.accounts().admits(*members.queue, amount))
            return false;
        const std::int64_t need = (*deciding.needs())[*only];
        return finder.room(cluster, members.classes[*only].shape, members.queue_nodes, need) >=
               need;
    }

    /// False, with the kind that is short, when what is free and what may be taken is too little
    /// in sum. O(queues × width).
    template<victim_rule Rule>
    [[nodiscard]] bool may_help(const cluster_state<Traits>& cluster, gang_index by,
                                const Rule& rule, std::int64_t now,
                                const admission<Traits>& deciding,
                                eviction_candidates<Traits>& among) {
        const auto& members = deciding.members();
        const auto* needs = deciding.needs();
        resources<width> amount;
        if (!need_of(members, needs, amount))
            return false;
        reclaim_.begin(cluster, cluster[by].queue, amount, due_);
        if (!needs)
            return true;
        const gang_view& mine = among.by();
        const auto& totals = among.totals_of(cluster);
        std::array<int128, width> there = totals.free;
        for (const auto& [least, own] : totals.queues) {
            const auto terms = rule(mine, least, now);
            if (!terms)
                continue;
            resources<width> most = own;
            if (terms->reclaim != reclaim_rule::none) {
                reclaim_.read();
                most = detail::most_reclaimed(reclaim_, *least.queue, terms->reclaim);
            }
            for (std::size_t column = 0; column < width; ++column)
                there[column] += std::min(most[column], own[column]);
        }
        if (rule(mine, gang_view::least_of(std::nullopt, 0, true), now))
            for (std::size_t column = 0; column < width; ++column)
                there[column] += std::max<int128>(0, totals.loose[column]);
        for (std::size_t column = 0; column < width; ++column)
            if (amount[column] > 0 && amount[column] > there[column]) {
                short_of_ = {kind_id{column}, amount[column], saturate(there[column])};
                return false;
            }
        return true;
    }

    template<victim_rule Rule>
    [[nodiscard]] bool choose(const cluster_state<Traits>& cluster, gang_index by, const Rule& rule,
                              std::int64_t now, plan<width>& into, node_finder<Traits>& finder,
                              placer<Traits>& placing, admission<Traits>& deciding,
                              eviction_candidates<Traits>& among, std::int64_t& steps, bool brief) {
        using outcome = typename victim_search<Traits>::outcome;
        outcome found = outcome::open;
        const auto& members = deciding.members();
        const auto only = counted_class(cluster, by, members, deciding.needs());
        resources<width> amount;
        if (only && need_of(members, deciding.needs(), amount) &&
            quotas_.begin(cluster, members.queue, amount, among.any_guarantee())) {
            const std::int64_t need = (*deciding.needs())[*only];
            const shape_index shape = members.classes[*only].shape;
            const auto nodes = members.queue_nodes;
            counted_.begin(cluster, detail::query_for(cluster, shape, nodes), need,
                           finder.room(cluster, shape, nodes, need));
            const bool within = quotas_.fits();
            counted_.mind(quotas_);
            found = search_.run(cluster, by, rule, now, among, reclaim_, counted_, steps, brief);
            if (found == outcome::impossible && within)
                short_of_ = {std::nullopt, need, counted_.most_room()};
        } else {
            tried_fit<Traits> tried(cluster, into, finder, placing, deciding, steps);
            found = search_.run(cluster, by, rule, now, among, reclaim_, tried, steps, brief);
            if (!tried.sure() && found == outcome::impossible)
                found = outcome::open;
        }
        undecided_ = found == outcome::open;
        next_change_ = search_.next_change();
        return found == outcome::found;
    }

    victim_search<Traits> search_;
    queue_use<Traits> reclaim_;
    /// Of all queues, for rules that look at fair shares.
    const detail::sequence<resources<width>>* due_ = nullptr;
    counted_fit<Traits> counted_;
    quota_tally<Traits> quotas_;
    std::optional<eviction_shortage> short_of_;
    std::optional<std::int64_t> next_change_;
    bool undecided_ = false;
};

} // namespace v0_1
} // namespace muster
