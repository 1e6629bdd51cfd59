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
#include <muster/problem/affinity_members.hpp>
#include <muster/wait/leaf_watches.hpp>

namespace muster {
inline namespace v0_1 {

namespace detail {

/// With its nominations the gang reaches its minima, and their nodes will have room for them, as
/// far as pod affinity allows it. O(members); see `terms_let_come`.
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

/// It has its minima, and surplus that found no room.
template<class Traits>
[[nodiscard]] bool wants_one_more(const cluster_state<Traits>& cluster, gang_index which) {
    const auto& group = cluster[which];
    return group.last.is_known && group.last.kind == answer::admitted &&
           group.last.at == gate::none && group.placeable > 0 && group.nominated == 0;
}

struct turn {
    gang_index gang;
    std::uint32_t visit = 0;
    /// It has its minima, and wants a member more.
    bool for_surplus = false;
    /// It was asked in this cycle, so that something about it may have changed.
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
    /// False until the backlog has been made from the whole state.
    bool has_backlog = false;
    /// Whether all gangs were looked at for those below their minima.
    bool knows_short = false;
    std::uint64_t release_epoch = 0;
    std::uint64_t capability_epoch = 0;
    std::uint64_t loss_epoch = 0;
    std::uint64_t queue_epoch = 0;
    /// Per gang: whether its least use of its queue's quota is known, and how much that is.
    struct use {
        bool is_known = false;
        resources<Traits::width> least;
    };
    sequence<use> uses;
    leaf_watches<Traits> leaves;
    start_planner<Traits> planning;
    search_turns searching;
    /// Some entry of the backlog may be one that the budget of a cycle did not reach.
    bool any_unreached = false;
    /// Of each decision of the cycle that goes on.
    sequence<noted> made;
    /// The gangs that wait for room or quota in it, in the order of their turns; among them those
    /// that wait with surplus, where a rule serves it.
    sequence<turn> waiting;
    eviction_candidates<Traits> candidates;
    eviction_memory<Traits> refusals;
    preemptor<Traits> preempting;
    consolidator<Traits> moving;
    hold_scratch holds;
    /// What the gang decided last places now.
    std::vector<placement> placed;
    /// It is a gang that was nominated before.
    bool came = false;
    /// The journal; its memory stays between cycles.
    std::optional<plan<width>> journal;

    /// A journal on the state's accounts, wherever the state is now.
    void begin(cluster_state<Traits>& cluster) {
        if (!journal)
            journal.emplace(cluster.tentative());
        else
            journal->attach_to(cluster.tentative());
    }

    /// Decides one gang; what starts is assumed, and is in `placed`, and in the journal until
    /// `commit`. A gang that is nominated comes when there is room, and asks for no more until
    /// then.
    [[nodiscard]] verdict decide(cluster_state<Traits>& cluster, gang_index which,
                                 std::int64_t steps, surplus_request surplus = {}) {
        placed.clear();
        came = false;
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

    /// See `start_planner`.
    [[nodiscard]] auto plan_start(cluster_state<Traits>& cluster, gang_index which,
                                  std::int64_t now) {
        return planning.plan_start(cluster, which, now, *journal, finder, placing);
    }
    [[nodiscard]] auto plan_room(cluster_state<Traits>& cluster, gang_index which) {
        return planning.plan_room(cluster, which, *journal, finder, placing);
    }

    /// Follows in what is kept of refused gangs what nodes gave back.
    void refresh(const cluster_state<Traits>& cluster) {
        if (finder.was_made_anew())
            leaves.clear();
        finder.refresh_rooms([&](node_index node, const resources<width>* before) {
            leaves.changed(cluster, node, before);
        });
    }

    /// The nominated members of the gang are assumed, all at once, when there is room for them and
    /// terms between pods let them come.
    void bring(cluster_state<Traits>& cluster, gang_index which) {
        for (const pod_index member : cluster[which].members)
            if (cluster[member].awaited() && !cluster[member].migration_target)
                placed.push_back({member, *cluster[member].node});
        came = terms_let_come(cluster, which, false) && cluster.assume_nominated(which);
        if (!came)
            placed.clear();
    }

    /// How long the answer to the gang decided last holds. Keeps what it takes to tell that without
    /// asking the gang.
    [[nodiscard]] wait_condition until_when(const cluster_state<Traits>& cluster, gang_index which,
                                            const verdict& outcome) {
        wait_condition until = wait_condition::any_release();
        until.set_never(outcome.kind == answer::never);
        // Nominated members may wait for other pods that are to come.
        if (!came && (cluster[which].nominated > 0 || deciding.waits_for_pods()))
            until.until_pods_come(cluster.population().epoch());
        const auto& queue = cluster[which].queue;
        if (queue && outcome.kind == answer::undecided)
            until.until_quota_moves(cluster.use_epoch(*queue));
        leaves.forget(which);
        if (came || cluster[which].nominated > 0)
            return until;
        const auto& members = deciding.members();
        const auto shortage = deciding.short_of();
        // No amount shows that a claim was given back, so gangs with claims do not watch amounts.
        if (shortage && members.classes[shortage->member_class].claims->empty()) {
            const auto& of = members.classes[shortage->member_class];
            refresh(cluster);
            // Whether it could ever start is more than a question of room where members must share
            // a domain, or their terms on other pods bear on one another, or some are held.
            const bool only_class =
                members.classes.size() == 1 && members.topology.empty() && !members.any_held() &&
                affinity_effect_on(cluster, members) != affinity_effect::required;
            until.replace_proof(
                wait_condition::room(finder.watch(of.shape, members.queue_nodes, shortage->room),
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
        return until;
    }

    /// What the minima of a waiting gang ask for, if that is known; null if a member changed since
    /// the gang was asked. O(1).
    [[nodiscard]] const resources<width>* least_use(const cluster_state<Traits>& cluster,
                                                    gang_index which) const {
        const auto& group = cluster[which];
        if (group.dirty || group.nominated > 0 || which.value() >= uses.size() ||
            !uses[which.value()].is_known)
            return nullptr;
        return &uses[which.value()].least;
    }

    /// Whether the gang, if it waits, fits what is left of the quotas of its queue and of those
    /// above. O(depth × width) for one whose least use is known; else a search without nodes, whose
    /// steps are taken off `steps`.
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

/// What is to be remembered of an answer given now.
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
