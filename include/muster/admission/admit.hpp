// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <muster/admission/fit_problem.hpp>
#include <muster/admission/members.hpp>
#include <muster/admission/place.hpp>
#include <muster/admission/search.hpp>
#include <muster/admission/verdict.hpp>
#include <muster/model/state.hpp>
#include <muster/plan/plan.hpp>
#include <muster/policy/placement_concept.hpp>

namespace muster::inline v0_1 {

/// Steps for the exact search: the enumeration of what a node can take counts one per vertex. They
/// are steps and never time, so that an answer does not depend on the machine.
struct budget {
    /// For one gang, and again as many for the question whether it could ever start.
    std::int64_t per_gang = std::int64_t{1} << 21;
    /// For all gangs of one cycle.
    std::int64_t per_cycle = std::int64_t{1} << 27;
};

/// True when the queue takes this gang: it exists, admits the tenant, and is open or the gang holds
/// something already. A gang without a queue needs none.
template<class Traits>
[[nodiscard]] bool queue_takes(const state<Traits>& known, gang_index which) {
    const auto& group = known[which];
    if (!group.queue)
        return true;
    const auto& queue = known[*group.queue];
    if (!queue.present || !queue.spec.tenants || !queue.spec.tenants->matches(group.spec.tenant))
        return false;
    return !queue.spec.closed || std::ranges::any_of(group.members, [&](pod_index member) {
        return known[member].charged();
    });
}

/// The first gate at which a gang is stopped before any search, or `gate::none`. O(members).
template<class Traits>
[[nodiscard]] gate gate_before_search(const state<Traits>& known, gang_index which,
                                      const gang_members<Traits::width>& members) {
    const auto& group = known[which];
    if (group.spec.fault != gang_fault::none)
        return gate::group;
    if (!reaches_minima(*members.tree, members.alive))
        return gate::members;
    // A gang that has all it wants asks nothing of its queue.
    if (members.alive == members.holding)
        return gate::none;
    if (!queue_takes(known, which))
        return gate::queue;
    std::vector<std::int64_t> placeable = members.alive;
    for (std::size_t at = 0; at < placeable.size(); ++at)
        placeable[at] -= members.unsupported[at];
    if (!reaches_minima(*members.tree, std::move(placeable)))
        return gate::unsupported;
    return gate::none;
}

/// What a gang is told that a gate stops before any search.
[[nodiscard]] constexpr answer answer_at_gate(gang_fault fault) noexcept {
    return fault == gang_fault::malformed ? answer::never : answer::waiting;
}

namespace detail {

/// What the search says of a gang on one cluster.
struct finding {
    fit_outcome outcome = fit_outcome::undecided;
    /// The quotas alone stop it, whatever the nodes could take.
    bool by_quota = false;
    std::vector<certificate::vertex> proof;
    /// Rows × classes of the problem.
    std::vector<std::int64_t> counts;
};

/// Asks the quotas alone, then quotas and nodes together; takes what it needs from `steps`.
template<class Traits>
[[nodiscard]] finding decide(const state<Traits>& known, const gang_members<Traits::width>& members,
                             certificate_scope scope, std::int64_t& steps) {
    finding found;
    const auto ask = [&](const fit_problem<Traits::width>& problem) {
        fit_search<Traits::width> search(problem, steps);
        found.outcome = search.run();
        steps = std::max<std::int64_t>(0, search.steps_left());
        found.proof = std::move(search.proof());
        found.counts = search.counts();
    };
    const auto quotas = pose_quotas(known, members, scope);
    if (!quotas.quotas.empty()) {
        ask(quotas);
        found.by_quota = found.outcome == fit_outcome::impossible;
        // A leaf of prices alone speaks of no node, so it holds on any.
        if (found.by_quota && found.proof.size() == 1 &&
            std::ranges::all_of(found.proof.front().weights,
                                [](std::int64_t weight) { return weight == 0; }))
            return found;
    }
    ask(pose(known, members, scope));
    return found;
}

/// What has been said of the emptied cluster, as far as it still holds.
[[nodiscard]] inline bool memoised(const standing& last, std::uint64_t capability_epoch) noexcept {
    return last.known && last.kind == answer::waiting && last.could_start &&
           last.capability_epoch == capability_epoch;
}

} // namespace detail

/// True when what is left of the queue's quota alone keeps the gang from starting. O(members) and a
/// search without nodes.
template<class Traits>
[[nodiscard]] bool quota_stops(const state<Traits>& known, gang_index which, std::int64_t steps) {
    const auto quotas = pose_quotas(known, members_of(known, which), certificate_scope::free_now);
    return !quotas.quotas.empty() &&
           fit_search<Traits::width>(quotas, steps).run() == fit_outcome::impossible;
}

/// Decides one gang. Admitted: its placements stand in `into`, minima first, then the surplus that
/// fits. Otherwise `into` is as it was. `into` must be a plan on the state's own accounts.
///
/// Cost: O(members · log members + pods placed × nodes × width), and the search for a gang that the
/// greedy order does not place.
template<class Traits, placement_score<Traits::width> Score>
[[nodiscard]] verdict admit(const state<Traits>& known, gang_index which, plan<Traits::width>& into,
                            const placement_weights<Traits::width>& weights, const Score& score,
                            std::int64_t steps) {
    constexpr std::size_t width = Traits::width;
    verdict outcome;
    const gang_members<width> members = members_of(known, which);
    outcome.at = gate_before_search(known, which, members);
    if (outcome.at != gate::none) {
        outcome.kind = answer_at_gate(known[which].spec.fault);
        return outcome;
    }

    placer<Traits, Score> placing(known, members, into, weights, score);
    if (placing.meet_minima()) {
        placing.place_surplus();
        outcome.kind = answer::admitted;
        return outcome;
    }
    const std::int64_t whole = steps;
    detail::finding now = detail::decide(known, members, certificate_scope::free_now, steps);
    outcome.steps = whole - steps;
    if (now.outcome == fit_outcome::fits) {
        placer<Traits, Score> found(known, members, into, weights, score);
        if (found.place_found(pose(known, members, certificate_scope::free_now), now.counts)) {
            found.place_surplus();
            outcome.kind = answer::admitted;
            return outcome;
        }
    }
    outcome.at = now.by_quota ? gate::quota : gate::space;
    outcome.kind = answer::undecided;
    if (now.outcome == fit_outcome::impossible) {
        outcome.kind = answer::waiting;
        outcome.proof = certificate{certificate_scope::free_now, std::move(now.proof)};
    }

    const auto& group = known[which];
    outcome.could_start = !group.dirty && detail::memoised(group.last, known.capability_epoch());
    if (outcome.could_start)
        return outcome;
    steps = whole;
    detail::finding ever = detail::decide(known, members, certificate_scope::emptied, steps);
    outcome.steps += whole - steps;
    outcome.could_start = ever.outcome == fit_outcome::fits;
    if (ever.outcome == fit_outcome::impossible) {
        outcome.kind = answer::never;
        outcome.proof = certificate{certificate_scope::emptied, std::move(ever.proof)};
        outcome.at = ever.by_quota ? gate::quota : gate::space;
    }
    return outcome;
}

} // namespace muster::inline v0_1
