// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <muster/admission/admit.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/cycle/any_policy.hpp>
#include <muster/cycle/backlog.hpp>
#include <muster/cycle/decision_notes.hpp>
#include <muster/cycle/policy.hpp>
#include <muster/cycle/search_turns.hpp>
#include <muster/cycle/start_planner.hpp>
#include <muster/greedy/affinity_coming.hpp>
#include <muster/index/node_finder.hpp>
#include <muster/index/node_query.hpp>
#include <muster/plan/plan.hpp>
#include <muster/preempt/candidates.hpp>
#include <muster/preempt/consolidate.hpp>
#include <muster/preempt/eviction_memory.hpp>
#include <muster/preempt/preemptor.hpp>
#include <muster/preempt/victimless_gangs.hpp>
#include <muster/problem/affinity_members.hpp>
#include <muster/wait/refusal_watches.hpp>

namespace muster {
inline namespace v0_1 {

namespace detail {

/// True if the gang's nominations can still succeed: with them it reaches its minima, their nodes
/// will have room, and pod affinity allows them (see `terms_let_come`). O(members).
template<class Traits>
[[nodiscard]] bool nominations_stand(const cluster_state<Traits>& cluster, gang_index which,
                                     const gang_members<Traits::width>& members) {
    if (cluster[which].spec.fault != gang_fault::none ||
        !reaches_minima(*members.tree, members.holding) || !terms_let_come(cluster, which, true))
        return false;
    return detail::all_of(cluster[which].members, [&](pod_index member) {
        const auto& record = cluster[member];
        if (!record.awaited())
            return true;
        const auto query = query_for(cluster, record.shape, members.queue_nodes);
        const auto later = cluster.accounts().future(*record.node);
        for (std::size_t column = 0; column < Traits::width; ++column)
            if (later[column] < 0 && cluster.request(member)[column] > 0)
                return false;
        return eligible(query, *record.node);
    });
}

/// True if the gang meets its minima and has surplus that found no room.
template<class Traits>
[[nodiscard]] bool wants_one_more(const cluster_state<Traits>& cluster, gang_index which) {
    const auto& group = cluster[which];
    return group.last.is_known && group.last.kind == answer::admitted &&
           group.last.at == gate::none && group.placeable > 0 && group.nominated == 0;
}

struct turn {
    gang_index gang;
    std::uint32_t visit = 0;
    /// The gang meets its minima and wants one more member.
    bool for_surplus = false;
    /// The gang was asked in this cycle, so its answer may have changed.
    bool asked = false;
};

/// Data that a cycle derives from a state and keeps with it: the node index, the order of turns,
/// and scratch. It can be rebuilt from the state at any time without a change in decisions.
template<class Traits>
struct cycle_context {
    static constexpr std::size_t width = Traits::width;

    explicit cycle_context(const any_score<width>& score, const any_gang_order& gangs,
                           const any_domain_order& of_domains)
        : finder(score), order(gangs), domains(of_domains), placing(of_domains) {}

    node_finder<Traits> finder;
    any_gang_order order;
    any_domain_order domains;
    placer<Traits> placing;
    admission<Traits> deciding;
    backlog<Traits> pending;
    /// False until the backlog has been built from the whole state.
    bool has_backlog = false;
    /// True once all gangs have been checked for being below their minima.
    bool knows_short = false;
    std::uint64_t release_epoch = 0;
    std::uint64_t capability_epoch = 0;
    std::uint64_t loss_epoch = 0;
    std::uint64_t queue_epoch = 0;
    /// Per gang: the quota that it needs at least, if known, and for members of how many classes.
    struct use {
        bool is_known = false;
        resources<Traits::width> least;
        std::size_t classes = 0;
    };
    sequence<use> uses;
    refusal_watches<Traits> leaves;
    start_planner<Traits> planning;
    search_turns searching;
    /// True if the backlog may contain a gang that the budget of a cycle did not reach.
    bool any_unreached = false;
    /// One per decision of the current cycle.
    sequence<noted> made;
    /// The gangs that wait for room or quota in the current cycle, in the order of their turns. If
    /// a rule serves surplus, gangs with waiting surplus are included.
    sequence<turn> waiting;
    eviction_candidates<Traits> candidates;
    eviction_memory<Traits> refusals;
    victimless_gangs victimless;
    /// The rule of `victimless`.
    std::optional<any_victim_rule> victimless_for;
    preemptor<Traits> preempting;
    consolidator<Traits> moving;
    hold_scratch holds;
    /// The placements of the gang decided last.
    std::vector<placement> placed;
    /// True if the gang decided last had been nominated, and its nominated members are now placed.
    bool came = false;
    /// True if the gang decided last was refused again without a look at its members.
    bool is_repeated = false;
    /// The plan of tentative placements; kept between cycles to reuse its memory.
    std::optional<plan<width>> journal;

    /// Attaches the journal to the accounts of the state, which may have moved in memory.
    void begin(cluster_state<Traits>& cluster) {
        if (!journal)
            journal.emplace(cluster.tentative());
        else
            journal->attach_to(cluster.tentative());
    }

    /// Decides one gang. Members that start become assumed; they are in `placed`, and in the
    /// journal until `commit`. A nominated gang starts when there is room for its nominated
    /// members, and requests nothing else until then.
    [[nodiscard]] verdict decide(cluster_state<Traits>& cluster, gang_index which,
                                 std::int64_t steps, surplus_request surplus = {}) {
        placed.clear();
        came = false;
        auto again = refuse_again(cluster, which);
        is_repeated = again.has_value();
        if (again)
            return std::move(*again);
        if (cluster[which].nominated > 0) {
            if (nominations_stand(cluster, which, deciding.sort(cluster, which))) {
                bring(cluster, which);
                verdict outcome;
                outcome.kind = answer::admitted;
                return outcome;
            }
            cluster.forget_nominations(which);
        }
        verdict outcome =
            deciding.decide(cluster, which, *journal, finder, placing, steps, surplus);
        cluster.assume_members(which, journal->placements());
        placed = journal->placements();
        return outcome;
    }

    /// Returns what `decide` would return for a gang that waits for quota and still does, as far as
    /// that follows from what was kept when it was decided. O(depth × width).
    [[nodiscard]] std::optional<verdict> refuse_again(const cluster_state<Traits>& cluster,
                                                      gang_index which) {
        const resources<width>* least = least_use(cluster, which);
        if (!least)
            return std::nullopt;
        return deciding.refuse_again(cluster, which, *least, uses[which.value()].classes);
    }

    /// See `start_planner`.
    [[nodiscard]] auto plan_start(cluster_state<Traits>& cluster, gang_index which,
                                  std::int64_t now) {
        return planning.plan_start(cluster, which, now, *journal, finder, placing);
    }
    [[nodiscard]] auto plan_room(cluster_state<Traits>& cluster, gang_index which) {
        return planning.plan_room(cluster, which, *journal, finder, placing);
    }

    /// Updates the watched rooms and leaves of refused gangs with what nodes have released.
    void refresh(const cluster_state<Traits>& cluster) {
        if (finder.take_rebuilt())
            leaves.clear();
        finder.refresh_rooms([&](node_index node, const resources<width>* before) {
            leaves.changed(cluster, node, before);
        });
    }

    /// Makes the nominated members of the gang assumed, all at once, if there is room for them and
    /// pod affinity allows them.
    void bring(cluster_state<Traits>& cluster, gang_index which) {
        for (const pod_index member : cluster[which].members)
            if (cluster[member].awaited() && !cluster[member].migration_target)
                placed.push_back({member, *cluster[member].node});
        came = terms_let_come(cluster, which, false) && cluster.assume_nominated(which);
        if (!came)
            placed.clear();
    }

    /// Returns the condition under which the answer to the gang decided last holds, and stores the
    /// data that is needed to evaluate it.
    [[nodiscard]] wait_condition until_when(const cluster_state<Traits>& cluster, gang_index which,
                                            const verdict& outcome) {
        wait_condition until = wait_condition::any_release();
        until.set_never(outcome.kind == answer::never);
        // Nominated members may depend on pods that have not started yet.
        if (!came && (cluster[which].nominated > 0 || deciding.waits_for_pods()))
            until.wait_for_pods(cluster.population().epoch());
        const auto& queue = cluster[which].queue;
        if (queue && outcome.kind == answer::undecided)
            until.wait_for_quota(cluster.use_epoch(*queue));
        leaves.forget(which);
        if (came || is_repeated || cluster[which].nominated > 0)
            return until;
        const auto& members = deciding.members();
        const auto shortage = deciding.short_of();
        // A released host port changes no amount, so gangs with claims do not watch amounts.
        if (shortage && members.classes[shortage->member_class].claims->empty()) {
            const auto& short_class = members.classes[shortage->member_class];
            refresh(cluster);
            // The room for one class does not decide whether the gang could ever start if members
            // must share a domain, have required terms on other pods, or cannot be placed on any
            // node at present.
            const bool only_class =
                members.classes.size() == 1 && members.topology.empty() && !members.any_held() &&
                affinity_effect_on(cluster, members) != affinity_effect::required;
            until.replace_proof(wait_condition::room(
                finder.watch(short_class.shape, members.queue_nodes, shortage->room),
                shortage->need, only_class));
        } else if (finder.exhaustive() && deciding.slack() && outcome.kind == answer::waiting) {
            refresh(cluster);
            leaves.watch(cluster, which, members, outcome.proof->vertices.front().weights,
                         *deciding.slack());
            if (leaves.holds(which))
                until.replace_proof(wait_condition::leaf());
        }
        if (uses.size() <= which.value())
            uses.resize(which.value() + 1);
        use& mine = uses[which.value()];
        mine.is_known = members.queue && deciding.least_use(mine.least);
        mine.classes = members.classes.size();
        return until;
    }

    /// Returns the quota that the minima of a waiting gang need; null if that is unknown or if a
    /// member changed since the gang was asked. O(1).
    [[nodiscard]] const resources<width>* least_use(const cluster_state<Traits>& cluster,
                                                    gang_index which) const {
        const auto& group = cluster[which];
        if (group.dirty || group.nominated > 0 || which.value() >= uses.size() ||
            !uses[which.value()].is_known)
            return nullptr;
        return &uses[which.value()].least;
    }

    /// Returns whether the gang, if it waits, fits what is left of the quotas of its queue and of
    /// those above. O(depth × width) if `least_use` is known; otherwise a search without nodes,
    /// which subtracts its steps from `steps`.
    [[nodiscard]] fit_outcome fits_quotas(const cluster_state<Traits>& cluster, gang_index which,
                                          std::int64_t& steps) {
        const auto& group = cluster[which];
        if (group.last.kind != answer::waiting && group.last.kind != answer::undecided)
            return fit_outcome::fits;
        if (const resources<width>* least = least_use(cluster, which))
            return cluster.accounts().admits(*group.charged_to(), *least) ? fit_outcome::fits
                                                                          : fit_outcome::impossible;
        return deciding.fits_quotas(cluster, which, steps);
    }
};

/// Returns the record of an answer given now.
template<class Traits>
[[nodiscard]] last_verdict last_verdict_after(const cluster_state<Traits>& cluster,
                                              const verdict& outcome) {
    return {true,
            outcome.kind,
            outcome.at,
            outcome.could_start,
            cluster.release_epoch(),
            cluster.capability_epoch(),
            false,
            0};
}

/// Returns the context that is kept with the state, or a new one if there is none for such a
/// policy. Policies of equal value decide alike, so the data derived for one is valid for the
/// other.
template<class Traits>
[[nodiscard]] cycle_context<Traits>& context_of(cluster_state<Traits>& cluster,
                                                const any_policy<Traits>& how) {
    cycle_context<Traits>* found = cluster.derived().template find<cycle_context<Traits>>();
    if (found && found->finder.score() == how.score && found->order == how.gangs &&
        found->domains == how.domains)
        return *found;
    return cluster.derived().template emplace<cycle_context<Traits>>(how.score, how.gangs,
                                                                     how.domains);
}

} // namespace detail
} // namespace v0_1
} // namespace muster
