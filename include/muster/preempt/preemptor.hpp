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
#include <muster/preempt/victimless_gangs.hpp>
#include <muster/preempt/victims.hpp>
#include <muster/problem/counted_class.hpp>
#include <muster/problem/quota_tally.hpp>

namespace muster {
inline namespace v0_1 {

/// The options of one attempt to start a gang.
template<std::size_t Width>
struct preempt_request {
    /// The fair shares of all queues, for rules that use them.
    const detail::sequence<resources<Width>>* due = nullptr;
    /// The gang has its minima and gets one more member, or none.
    bool one_more = false;
    /// The caller will not read `short_of`.
    bool brief = false;
    /// What the minima of the gang request, if that is known and the gang has no choice of members.
    const resources<Width>* amount = nullptr;
    /// Gangs for which the rule admits no candidate, if the caller keeps them for this rule.
    detail::victimless_gangs* victimless = nullptr;
};

/// Starts gangs that wait for room by preemption: in the room of terminating pods, and of pods that
/// a rule allows to evict. Scratch memory is reused.
template<class Traits>
class preemptor {
public:
    static constexpr std::size_t width = Traits::width;

    /// Returns true if the gang starts. `into` then has the evicted pods and the placements, to be
    /// committed with `commit_nominated`. Otherwise `into` keeps only `assume_released`, for the
    /// next call; the caller rolls it back before it changes the state. Subtracts the steps used
    /// from `steps`. Precondition: `into` has nothing but perhaps `assume_released`.
    template<victim_rule Rule>
    [[nodiscard]] bool start(const cluster_state<Traits>& cluster, gang_index starting,
                             const Rule& rule, std::int64_t now, plan<width>& into,
                             node_finder<Traits>& finder, placer<Traits>& placing,
                             admission<Traits>& deciding, eviction_candidates<Traits>& among,
                             std::int64_t& steps, const preempt_request<width>& asked) {
        due_ = asked.due;
        short_of_.reset();
        next_change_.reset();
        undecided_ = false;
        among.look(cluster);
        among.begin_for(starting);
        // A time-dependent rule may admit more later, and the sums do not say when, so they are not
        // used for it.
        const bool by_sums = asked.brief && !Rule::none && ignores_time(rule);
        const bool victimless =
            by_sums && asked.victimless && asked.victimless->contains(starting, among, rule, now);
        if (by_sums && asked.amount && !victimless) {
            const bool may = among.may_suffice(rule, now, *asked.amount);
            if (asked.victimless && !among.any_admitted(rule, now))
                asked.victimless->add(starting, among);
            if (!may)
                return false;
        }
        if (asked.amount && victimless && !among.may_suffice_as_is(*asked.amount))
            return false;
        if (!(asked.one_more ? deciding.prepare_one_more(cluster, starting)
                             : deciding.prepare(cluster, starting)))
            return false;
        if (by_sums && !asked.amount && !may_suffice(rule, now, deciding, among))
            return false;
        const bool any = !victimless && (!by_sums || among.any_admitted(rule, now));
        if (!into.assumes_released())
            into.assume_released(cluster.population().anybody_comes());
        const savepoint ahead = into.mark();
        if (into.assumes_released() && may_fit(cluster, starting, finder, deciding) &&
            deciding.try_minima(cluster, into, finder, placing, steps) == answer::admitted)
            return true;
        bool starts = false;
        if (!Rule::none && any && may_help(cluster, starting, rule, now, deciding, among)) {
            --steps;
            starts = choose(cluster, starting, rule, now, into, finder, placing, deciding, among,
                            steps, asked.brief);
        }
        into.rollback(ahead);
        if (!starts)
            return false;
        for (const pod_index pod : search_.chosen())
            vacate_pod(cluster, pod, into);
        starts = deciding.try_minima(cluster, into, finder, placing, steps) == answer::admitted;
        if (!starts)
            into.rollback(ahead);
        return starts;
    }

    /// For the last gang: what all permitted evictions together leave it short of, if that is
    /// known.
    [[nodiscard]] const std::optional<eviction_shortage>& short_of() const noexcept {
        return short_of_;
    }
    /// Returns true if the steps ran out, or the search was not exhaustive.
    [[nodiscard]] bool undecided() const noexcept { return undecided_; }
    /// The next time at which a time-dependent rule may admit more for the gangs that were tried.
    [[nodiscard]] std::optional<std::int64_t> next_change() const noexcept { return next_change_; }

private:
    /// Returns false if sums show that there is too little room even without the terminating pods
    /// and all pods of the gangs that the rule admits.
    template<victim_rule Rule>
    [[nodiscard]] static bool may_suffice(const Rule& rule, std::int64_t now,
                                          const admission<Traits>& deciding,
                                          eviction_candidates<Traits>& among) {
        const auto* needs = deciding.needs();
        resources<width> amount;
        return !needs || !need_of(deciding.members(), needs, amount) ||
               among.may_suffice(rule, now, amount);
    }

    /// Returns false if a count shows that the gang does not fit with the present plan.
    [[nodiscard]] static bool may_fit(const cluster_state<Traits>& cluster, gang_index starting,
                                      node_finder<Traits>& finder,
                                      const admission<Traits>& deciding) {
        const auto& members = deciding.members();
        const auto only = counted_class(cluster, starting, members, deciding.needs());
        resources<width> amount;
        if (!only || !need_of(members, deciding.needs(), amount))
            return true;
        if (members.queue && !cluster.accounts().admits(*members.queue, amount))
            return false;
        const std::int64_t need = (*deciding.needs())[*only];
        return finder.room(cluster, members.classes[*only].shape, members.queue_nodes, need) >=
               need;
    }

    /// Returns false and sets `short_of_` if the free amounts plus what may be evicted are too
    /// little in sum. O(queues × width).
    template<victim_rule Rule>
    [[nodiscard]] bool may_help(const cluster_state<Traits>& cluster, gang_index starting,
                                const Rule& rule, std::int64_t now,
                                const admission<Traits>& deciding,
                                eviction_candidates<Traits>& among) {
        const auto& members = deciding.members();
        const auto* needs = deciding.needs();
        resources<width> amount;
        if (!need_of(members, needs, amount))
            return false;
        reclaim_.begin(cluster, cluster[starting].queue, amount, due_);
        if (!needs)
            return true;
        const gang_view& starting_view = among.by();
        const auto& totals = among.totals_of(cluster);
        std::array<int128, width> there = totals.free;
        for (const auto& [least, own] : totals.queues) {
            const auto terms = rule(starting_view, least, now);
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
        if (rule(starting_view, gang_view::least_of(std::nullopt, 0, true), now))
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
    [[nodiscard]] bool choose(const cluster_state<Traits>& cluster, gang_index starting,
                              const Rule& rule, std::int64_t now, plan<width>& into,
                              node_finder<Traits>& finder, placer<Traits>& placing,
                              admission<Traits>& deciding, eviction_candidates<Traits>& among,
                              std::int64_t& steps, bool brief) {
        using outcome = typename victim_search<Traits>::outcome;
        outcome found = outcome::open;
        const auto& members = deciding.members();
        const auto only = counted_class(cluster, starting, members, deciding.needs());
        resources<width> amount;
        const bool counts = only && need_of(members, deciding.needs(), amount) &&
                            quotas_.begin(cluster, members.queue, amount, among.any_guarantee());
        const std::int64_t need = counts ? (*deciding.needs())[*only] : 0;
        const bool within = quotas_.fits();
        if (counts) {
            const shape_index shape = members.classes[*only].shape;
            const auto nodes = members.queue_nodes;
            counted_.begin(cluster, detail::query_for(cluster, shape, nodes), need,
                           finder.room(cluster, shape, nodes, need));
            counted_.mind(quotas_);
        }
        // A non-preemptible gang whose quotas are counted is searched for by placing it. `tried`
        // makes the same choices in the same steps, and counts instead where it can.
        const bool searches_by_count =
            counts && !(quotas_.counts() && members.queue->non_preemptible);
        if (searches_by_count) {
            found =
                search_.run(cluster, starting, rule, now, among, reclaim_, counted_, steps, brief);
            if (found == outcome::impossible && within)
                short_of_ = {std::nullopt, need, counted_.most_room()};
        } else {
            tried_fit<Traits> tried(cluster, into, finder, placing, deciding, steps);
            if (counts)
                tried.count_by(counted_);
            found = search_.run(cluster, starting, rule, now, among, reclaim_, tried, steps, brief);
            if (!tried.sure() && found == outcome::impossible)
                found = outcome::open;
        }
        undecided_ = found == outcome::open;
        next_change_ = search_.next_change();
        return found == outcome::found;
    }

    victim_search<Traits> search_;
    queue_use<Traits> reclaim_;
    /// The fair shares of all queues, for rules that use them.
    const detail::sequence<resources<width>>* due_ = nullptr;
    counted_fit<Traits> counted_;
    quota_tally<Traits> quotas_;
    std::optional<eviction_shortage> short_of_;
    std::optional<std::int64_t> next_change_;
    bool undecided_ = false;
};

} // namespace v0_1
} // namespace muster
