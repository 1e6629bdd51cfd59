// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/exact/domain_search.hpp>
#include <muster/exact/search.hpp>
#include <muster/problem/fit_problem.hpp>
#include <muster/problem/members.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// True if some vertex requires that its members share a domain.
template<std::size_t Width>
[[nodiscard]] bool has_required_topology(const gang_members<Width>& members) {
    return detail::any_of(members.topology,
                          [](const topology_requirement& one) { return one.required.has_value(); });
}

/// True if the proof is one leaf with prices of quotas but without weights. It involves no node, so
/// it holds whatever the nodes have.
[[nodiscard]] inline bool of_prices_alone(std::span<const certificate::vertex> proof) {
    return proof.size() == 1 &&
           detail::all_of(proof.front().weights, [](std::int64_t weight) { return weight == 0; });
}

/// Searches placements for gangs one after the other, and reuses its memory. The accessors refer to
/// the last search.
template<class Traits>
class gang_search {
    static constexpr std::size_t width = Traits::width;

public:
    /// Searches with the quotas alone, then with quotas and nodes together. Subtracts the steps
    /// used from `steps`. With `caps`, searches only with quotas and nodes together; precondition:
    /// the search without caps did not return `impossible`.
    [[nodiscard]] fit_outcome run(const cluster_state<Traits>& cluster,
                                  const gang_members<width>& members, certificate_scope scope,
                                  std::int64_t& steps, term_caps<Traits>* caps = nullptr) {
        by_quota_ = false;
        slack_.reset();
        problem_ = &own_;
        proof_ = {};
        // Without steps the problem is not built, so that a cycle whose budget is used up costs
        // only its greedy attempts.
        if (steps <= 0)
            return fit_outcome::undecided;
        if (!caps)
            pose_quotas(cluster, members, scope, own_);
        if (!caps && !own_.quotas.empty()) {
            by_quota_ = ask(steps) == fit_outcome::impossible;
            if (by_quota_ && of_prices_alone(proof_))
                return fit_outcome::impossible;
        }
        fit_outcome outcome = fit_outcome::undecided;
        if (!has_required_topology(members)) {
            pose(cluster, members, scope, {}, {}, own_);
            if (caps)
                caps->apply(own_);
            outcome = ask(steps);
            if (outcome == fit_outcome::impossible && !by_quota_)
                slack_ = search_.slack();
        } else {
            outcome = within_.run(cluster, members, scope, {}, search_, steps, {}, caps);
            // Known only if the gang would not fit even without its topology constraint. The gang
            // is then watched like gangs without one.
            if (outcome == fit_outcome::impossible && !by_quota_)
                slack_ = within_.slack();
            proof_ = within_.proof();
            problem_ = &within_.problem();
        }
        // Placed pods change the caps, and then the proof may not hold any longer.
        if (caps)
            slack_.reset();
        return outcome;
    }

    /// Searches with the quotas alone, as if one node had room for everything. A gang without a
    /// quota fits.
    [[nodiscard]] fit_outcome run_quotas(const cluster_state<Traits>& cluster,
                                         const gang_members<width>& members,
                                         certificate_scope scope, std::int64_t& steps) {
        problem_ = &own_;
        pose_quotas(cluster, members, scope, own_);
        return own_.quotas.empty() ? fit_outcome::fits : ask(steps);
    }

    /// True if the quotas alone prove that the gang does not fit.
    [[nodiscard]] bool by_quota() const noexcept { return by_quota_; }
    /// After `impossible`: the proof, depth first.
    [[nodiscard]] std::span<const certificate::vertex> proof() const noexcept { return proof_; }
    /// After `impossible`, if the proof involves nodes: see `fit_search::slack`.
    [[nodiscard]] const std::optional<int128>& slack() const noexcept { return slack_; }
    /// After `fits`: the problem, and the number of members of each class in each of its rows.
    [[nodiscard]] const fit_problem<width>& problem() const noexcept { return *problem_; }
    [[nodiscard]] const detail::sequence<std::int64_t>& counts() const noexcept {
        return problem_ == &own_ ? search_.counts() : within_.counts();
    }

private:
    [[nodiscard]] fit_outcome ask(std::int64_t& steps) {
        const fit_outcome outcome = search_.run(own_, steps);
        steps = std::max<std::int64_t>(0, search_.steps_left());
        proof_ = search_.proof();
        return outcome;
    }

    fit_search<width> search_;
    domain_search<Traits> within_;
    fit_problem<width> own_;
    const fit_problem<width>* problem_ = &own_;
    std::span<const certificate::vertex> proof_;
    bool by_quota_ = false;
    std::optional<int128> slack_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
