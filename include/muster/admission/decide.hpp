// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <muster/admission/domain_search.hpp>
#include <muster/admission/fit_problem.hpp>
#include <muster/admission/members.hpp>
#include <muster/admission/search.hpp>
#include <muster/model/state.hpp>

namespace muster::inline v0_1 {
namespace detail {

/// What the search says of a gang on one cluster.
template<std::size_t Width>
struct finding {
    fit_outcome outcome = fit_outcome::undecided;
    /// The quotas alone stop it, whatever the nodes could take.
    bool by_quota = false;
    std::vector<certificate::vertex> proof;
    /// Of a proof that speaks of nodes; see `fit_search::slack`.
    std::optional<int128> slack;
    /// Of a gang that fits: what was decided, and how many of each class stand in each row.
    fit_problem<Width> problem;
    std::vector<std::int64_t> counts;
};

/// Some vertex asks that its members stand together, or they are not placed.
template<std::size_t Width>
[[nodiscard]] bool needs_closeness(const gang_members<Width>& members) {
    return std::ranges::any_of(members.together,
                               [](const closeness& one) { return one.required.has_value(); });
}

/// A leaf of prices alone speaks of no node, so it holds on any.
[[nodiscard]] inline bool of_prices_alone(const std::vector<certificate::vertex>& proof) {
    return proof.size() == 1 && std::ranges::all_of(proof.front().weights, [](std::int64_t weight) {
               return weight == 0;
           });
}

/// Asks the quotas alone, then quotas and nodes together; takes what it needs from `steps`.
/// `search` only lends its memory.
template<class Traits>
[[nodiscard]] finding<Traits::width>
decide(const state<Traits>& known, const gang_members<Traits::width>& members,
       certificate_scope scope, std::int64_t& steps, fit_search<Traits::width>& search) {
    finding<Traits::width> found;
    // Who may not search is not even posed: a cycle whose budget has ended costs no more than
    // greedy tries.
    if (steps <= 0)
        return found;
    std::optional<int128> slack;
    const auto ask = [&](fit_problem<Traits::width> problem) {
        found.problem = std::move(problem);
        found.outcome = search.run(found.problem, steps);
        steps = std::max<std::int64_t>(0, search.steps_left());
        if (found.outcome == fit_outcome::impossible)
            slack = search.slack();
        found.proof = std::move(search.proof());
        found.counts = search.counts();
    };
    auto quotas = pose_quotas(known, members, scope);
    if (!quotas.quotas.empty()) {
        ask(std::move(quotas));
        found.by_quota = found.outcome == fit_outcome::impossible;
        if (found.by_quota && of_prices_alone(found.proof))
            return found;
    }
    if (!needs_closeness(members)) {
        ask(pose(known, members, scope));
    } else {
        domain_search<Traits> within(known, members, scope, {}, search);
        found.outcome = within.run(steps);
        // What does not fit as if nobody had to stand together is remembered as others are.
        slack = within.slack();
        found.proof = std::move(within.proof());
        found.problem = within.problem();
        found.counts = within.counts();
    }
    if (found.outcome == fit_outcome::impossible && !found.by_quota)
        found.slack = slack;
    return found;
}

} // namespace detail

/// Whether the gang fits what is left of its queue's quotas, with all the room it could want; the
/// steps taken are taken off `steps`. O(members) and a search without nodes.
template<class Traits>
[[nodiscard]] fit_outcome fits_quotas(const state<Traits>& known, gang_index which,
                                      std::int64_t& steps) {
    const auto quotas = pose_quotas(known, members_of(known, which), certificate_scope::free_now);
    if (quotas.quotas.empty())
        return fit_outcome::fits;
    fit_search<Traits::width> search(quotas, steps);
    const fit_outcome outcome = search.run();
    steps = std::max<std::int64_t>(0, search.steps_left());
    return outcome;
}

} // namespace muster::inline v0_1
