// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/exact/proof_list.hpp>
#include <muster/exact/search.hpp>
#include <muster/exact/term_caps.hpp>
#include <muster/problem/fit_problem.hpp>
#include <muster/problem/members.hpp>
#include <muster/problem/steady_list.hpp>
#include <muster/problem/topology_requirement.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Decides exactly whether a gang with topology constraints fits.
///
/// First it searches without topology constraints: what does not fit then does not fit at all. If
/// the placement found spans several domains of a vertex, the first such vertex is confined to each
/// of its domains in turn and the search is repeated, until no vertex spans domains.
template<class Traits>
class domain_search {
    static constexpr std::size_t width = Traits::width;

public:
    /// Takes its steps from `steps`. `among` confines members from the start, `caps` are limits
    /// from pod affinity. `search` is used for its memory. Overwrites earlier results.
    [[nodiscard]] fit_outcome run(const cluster_state<Traits>& cluster,
                                  const gang_members<width>& members, certificate_scope scope,
                                  const constraints_in_force& force, fit_search<width>& search,
                                  std::int64_t& steps, std::span<const vertex_domain> among = {},
                                  term_caps<Traits>* caps = nullptr) {
        caps_ = caps;
        cluster_ = &cluster;
        members_ = &members;
        scope_ = scope;
        force_ = force;
        search_ = &search;
        confined_.assign(among.begin(), among.end());
        ways_.clear();
        proof_.clear();
        slack_.reset();
        const fit_outcome outcome = explore(steps);
        if (outcome != fit_outcome::impossible)
            proof_.clear();
        return outcome;
    }

    /// After `impossible`: returns the proof, depth first.
    [[nodiscard]] std::span<const certificate::vertex> proof() const noexcept {
        return proof_.all();
    }
    /// See `fit_search::slack`. Set if the proof does not branch on domains.
    [[nodiscard]] const std::optional<int128>& slack() const noexcept { return slack_; }
    /// After `fits`: the problem with the members confined to their domains, and the counts per row
    /// and class.
    [[nodiscard]] const fit_problem<width>& problem() const noexcept { return problem_; }
    [[nodiscard]] const detail::sequence<std::int64_t>& counts() const noexcept { return counts_; }

private:
    [[nodiscard]] fit_outcome explore(std::int64_t& steps) {
        pose(*cluster_, *members_, scope_, force_, confined_, problem_);
        if (caps_)
            caps_->apply(problem_);
        fit_outcome outcome = search_->run(problem_, steps);
        steps = std::max<std::int64_t>(0, search_->steps_left());
        if (outcome == fit_outcome::impossible) {
            if (proof_.empty())
                slack_ = search_->slack();
            proof_.append(search_->proof());
            return outcome;
        }
        const topology_requirement* spanning = nullptr;
        if (outcome == fit_outcome::fits) {
            counts_ = search_->counts();
            spanning = first_spanning();
            if (!spanning)
                return outcome;
        } else {
            // A problem that needs too many steps as a whole may be decided domain by domain.
            spanning = first_open();
            if (!spanning)
                return outcome;
        }
        steps = std::max<std::int64_t>(0, steps - cost_of_pose());
        if (steps == 0 || proof_.size() >= fit_search<width>::largest_proof)
            return fit_outcome::undecided;
        certificate::vertex& inner = proof_.add();
        inner.leaf = false;
        inner.together = vertex_index{spanning->vertex};
        outcome = fit_outcome::impossible;
        sequence<std::optional<domain_index>>& ways = ways_.add();
        list_candidate_domains(*cluster_, *members_->tree, *spanning, *spanning->required, now(),
                               confined_, ways);
        for (const auto& way : ways) {
            confined_.push_back({spanning->vertex, spanning->within, way});
            const fit_outcome here = explore(steps);
            confined_.pop_back();
            if (here != fit_outcome::impossible)
                outcome = here;
            if (here == fit_outcome::fits)
                break;
            if (steps == 0) {
                outcome = fit_outcome::undecided;
                break;
            }
        }
        ways_.pop();
        return outcome;
    }

    /// The cost of writing a problem, in steps, so that many small problems also use up the budget.
    [[nodiscard]] std::int64_t cost_of_pose() const {
        return static_cast<std::int64_t>(16 + nodes_left(*cluster_, confined_).size() *
                                                  (1 + problem_.members.size()));
    }

    [[nodiscard]] bool now() const noexcept { return scope_ == certificate_scope::free_now; }

    [[nodiscard]] bool counts_as_constraint(std::size_t at) const {
        return members_->topology[at].required &&
               (force_.topologies >> std::min<std::size_t>(at, 63) & 1U) != 0;
    }

    /// Returns the first constraint whose members the placement found puts into different domains,
    /// or null.
    [[nodiscard]] const topology_requirement* first_spanning() const {
        for (std::size_t at = 0; at < members_->topology.size(); ++at)
            if (counts_as_constraint(at) && spans_domains(members_->topology[at]))
                return &members_->topology[at];
        return nullptr;
    }

    [[nodiscard]] bool spans_domains(const topology_requirement& requirement) const {
        const topology_domains& domains = cluster_->topologies()[requirement.within];
        std::optional<domain_index> where;
        bool any = now() && requirement.held;
        if (any && *requirement.required < requirement.shared)
            where = domains.find(requirement.witness, *requirement.required);
        const std::size_t classes = problem_.members.size();
        for (std::size_t row = 0; row < problem_.rows.size(); ++row)
            for (std::size_t at = 0; at < classes; ++at) {
                if (counts_[row * classes + at] == 0 ||
                    !is_below(*members_->tree, problem_.members[at].role, requirement.vertex))
                    continue;
                const auto here = domains.find(problem_.rows[row].node, *requirement.required);
                if (!here || (any && where != here))
                    return true;
                where = here;
                any = true;
            }
        return false;
    }

    /// Returns the first constraint whose vertex is not confined yet, or null.
    [[nodiscard]] const topology_requirement* first_open() const {
        for (std::size_t at = 0; at < members_->topology.size(); ++at) {
            const topology_requirement& requirement = members_->topology[at];
            if (counts_as_constraint(at) &&
                detail::none_of(confined_, [&](const vertex_domain& confinement) {
                    return confinement.vertex == requirement.vertex &&
                           confinement.within == requirement.within;
                }))
                return &requirement;
        }
        return nullptr;
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    const gang_members<width>* members_ = nullptr;
    certificate_scope scope_ = certificate_scope::free_now;
    constraints_in_force force_;
    fit_search<width>* search_ = nullptr;
    term_caps<Traits>* caps_ = nullptr;
    std::vector<vertex_domain> confined_;
    /// One list per nested confinement.
    steady_list<sequence<std::optional<domain_index>>> ways_;
    fit_problem<width> problem_;
    detail::sequence<std::int64_t> counts_;
    proof_list proof_;
    std::optional<int128> slack_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
