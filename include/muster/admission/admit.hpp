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
    if (!queue_takes(known, which))
        return gate::queue;
    std::vector<std::int64_t> placeable = members.alive;
    for (std::size_t at = 0; at < placeable.size(); ++at)
        placeable[at] -= members.unsupported[at];
    if (!reaches_minima(*members.tree, std::move(placeable)))
        return gate::unsupported;
    return gate::none;
}

namespace detail {

/// True when a proof rests on the queue's quota alone, whatever the nodes could take.
[[nodiscard]] inline bool only_quota(const certificate& proof) noexcept {
    return proof.vertices.size() == 1 && !proof.vertices.front().prices.empty() &&
           std::ranges::all_of(proof.vertices.front().weights,
                               [](std::int64_t weight) { return weight == 0; });
}

/// What has been said of the emptied cluster, as far as it still holds.
[[nodiscard]] inline bool memoised(const standing& last, std::uint64_t capability_epoch) noexcept {
    return last.known && last.kind == answer::waiting && last.could_start &&
           last.capability_epoch == capability_epoch;
}

} // namespace detail

/// Decides one gang. Admitted: its placements stand in `into`, minima first, then the surplus that
/// fits. Otherwise `into` is as it was. `into` must be a plan on the state's own accounts.
///
/// Cost: O(members · log members + pods placed × nodes × width), and the search for a gang that the
/// greedy order does not place.
template<class Traits, class Score>
    requires placement_score<Score, Traits::width>
[[nodiscard]] verdict admit(const state<Traits>& known, gang_index which, plan<Traits::width>& into,
                            const placement_weights<Traits::width>& weights, const Score& score,
                            std::int64_t steps) {
    constexpr std::size_t width = Traits::width;
    verdict outcome;
    const gang_members<width> members = members_of(known, which);
    outcome.at = gate_before_search(known, which, members);
    if (outcome.at != gate::none) {
        outcome.kind =
            known[which].spec.fault == gang_fault::malformed ? answer::never : answer::waiting;
        return outcome;
    }

    placer<Traits, Score> placing(known, members, into, weights, score);
    if (placing.meet_minima()) {
        placing.place_surplus();
        outcome.kind = answer::admitted;
        return outcome;
    }
    const fit_problem<width> problem = pose(known, members, certificate_scope::free_now);
    fit_search<width> search(problem, steps);
    const fit_outcome now = search.run();
    outcome.steps += steps - std::max<std::int64_t>(0, search.steps_left());
    if (now == fit_outcome::fits) {
        placer<Traits, Score> found(known, members, into, weights, score);
        found.place_found(problem, search.counts());
        found.place_surplus();
        outcome.kind = answer::admitted;
        return outcome;
    }
    outcome.kind = answer::undecided;
    if (now == fit_outcome::impossible) {
        outcome.kind = answer::waiting;
        outcome.proof = certificate{certificate_scope::free_now, std::move(search.proof())};
    }

    outcome.at = outcome.proof && detail::only_quota(*outcome.proof) ? gate::quota : gate::space;
    const auto& group = known[which];
    outcome.could_start = !group.dirty && detail::memoised(group.last, known.capability_epoch());
    if (outcome.could_start)
        return outcome;
    const fit_problem<width> emptied = pose(known, members, certificate_scope::emptied);
    fit_search<width> ever_search(emptied, steps);
    const fit_outcome ever = ever_search.run();
    outcome.steps += steps - std::max<std::int64_t>(0, ever_search.steps_left());
    outcome.could_start = ever == fit_outcome::fits;
    if (ever == fit_outcome::impossible) {
        outcome.kind = answer::never;
        outcome.proof = certificate{certificate_scope::emptied, std::move(ever_search.proof())};
        outcome.at = detail::only_quota(*outcome.proof) ? gate::quota : gate::space;
    }
    return outcome;
}

} // namespace muster::inline v0_1
