// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/greedy/affinity_place.hpp>
#include <muster/greedy/domain_choice.hpp>
#include <muster/greedy/placed_members.hpp>
#include <muster/greedy/subgroup_search.hpp>
#include <muster/greedy/tree_walk.hpp>
#include <muster/index/domain_scan.hpp>
#include <muster/index/domain_sums.hpp>
#include <muster/index/node_finder.hpp>
#include <muster/index/placement_order.hpp>
#include <muster/plan/plan.hpp>
#include <muster/policy/domain_order_concept.hpp>
#include <muster/policy/surplus_concept.hpp>
#include <muster/problem/fit_problem.hpp>
#include <muster/problem/members.hpp>
#include <muster/problem/quota_room.hpp>
#include <muster/problem/steady_list.hpp>
#include <muster/problem/topology_requirement.hpp>

namespace muster {
inline namespace v0_1 {

/// Places one gang's members into a plan in the order of their turns, each on the best node that
/// the finder returns. It drives a `tree_walk`, for which it is the board. Finds room for all
/// members of a class at once, with the same result as one by one. Members that must share a domain
/// are tried in one domain after the other, in the domain order, until one takes them. Memory is
/// reused from gang to gang.
template<class Traits>
class placer {
public:
    static constexpr std::size_t width = Traits::width;

    placer() = default;
    explicit placer(const any_domain_order& order) : order_(order) {}
    placer(const placer&) = delete;
    placer& operator=(const placer&) = delete;

    /// Sets the gang to place. All arguments must outlive the placing. `into` must be a plan on the
    /// state's own accounts. O(vertices + classes + members).
    void begin(const cluster_state<Traits>& cluster, const gang_members<width>& members,
               plan<width>& into, node_finder<Traits>& finder) {
        cluster_ = &cluster;
        members_ = &members;
        finder_ = &finder;
        finder.serve(members.spec);
        others_ = into.size();
        placed_.begin(members, members.turns, members.classes, into);
        domains_.begin(cluster, members);
        walk_.begin(*members.tree);
        stopped_by_.reset();
        ways_.clear();
    }

    /// The placer for gangs with required pod affinity.
    [[nodiscard]] auto& with_pod_affinity() noexcept { return affinity_placer_; }

    /// The class for which too little room was found before anything was placed, and the room
    /// found. Set only if the finder's answer was exhaustive.
    [[nodiscard]] const std::optional<std::pair<std::size_t, std::int64_t>>&
    stopped_by() const noexcept {
        return stopped_by_;
    }

    /// Meets the gang's minima, role minima first. Returns false and places nothing if this order
    /// fails.
    [[nodiscard]] bool meet_minima() { return walk_.meet_minima(); }

    /// Places the result of the search: `counts` is `fit_search::counts` of `problem`. The oldest
    /// members go to the first nodes. Returns false and places nothing if an account cannot hold
    /// the sum.
    [[nodiscard]] bool place_found(const fit_problem<width>& problem,
                                   const detail::sequence<std::int64_t>& counts) {
        every_class_.resize(members_->classes.size());
        std::iota(every_class_.begin(), every_class_.end(), std::size_t{0});
        return put_all(problem, counts, every_class_);
    }

    /// Places surplus once the minima are met, best effort: further members of subgroups that are
    /// met, and whole subgroups that are not met yet.
    void place_surplus(surplus_request wanted = {}) { walk_.place_surplus(wanted); }

private:
    // ---- the board -----------------------------------------------------------------------------

    friend class detail::tree_walk<placer>;
    static constexpr bool room_may_come = false;

    [[nodiscard]] detail::placed_members<width>& placed() noexcept { return placed_; }
    [[nodiscard]] std::size_t mark() const noexcept { return placed_.steps().size(); }
    void undo_to(std::size_t mark) {
        while (this->mark() > mark)
            if (const auto last = placed_.undo(); last.what == step_kind::noted)
                domains_.choose(last.which, {});
    }

    /// Returns less than `want` only if no more members of the class can be placed.
    [[nodiscard]] std::int64_t place(std::size_t of_class, std::int64_t want, bool whole) {
        const std::int64_t found = place_some(of_class, want, whole);
        // Room and quota only shrink until a placement is undone.
        if (found < want)
            placed_.exhaust(of_class);
        return found;
    }

    /// A choice that places no member is undone, so the constraint stays undecided.
    template<class Attempt>
    [[nodiscard]] auto in_domains(std::size_t vertex, bool for_minima, const Attempt& attempt)
        -> decltype(attempt()) {
        const std::size_t open = domains_.any() ? domains_.first_open(vertex) : domains_.none;
        if (open == domains_.none)
            return attempt();
        detail::sequence<detail::chosen_domain>& ways = ways_.add();
        domain_sum<width> least;
        if (for_minima)
            least =
                detail::least_demand(*members_, vertex, placed_.held(), placed_.used(), demands_);
        domains_.list(open, least, *finder_, order_, ways);
        const std::size_t start = mark();
        const std::int64_t before = placed_.count();
        auto outcome = decltype(attempt()){};
        for (const detail::chosen_domain& way : ways) {
            domains_.choose(open, way);
            placed_.note(open);
            outcome = in_domains(vertex, for_minima, attempt);
            if (!outcome || placed_.count() == before)
                undo_to(start);
            if (outcome)
                break;
        }
        ways_.pop();
        return outcome;
    }

    /// A subgroup with unequal members may fit although the order of turns fails. Without this
    /// search a larger cluster could place less than a smaller one.
    [[nodiscard]] bool search_for(std::size_t vertex) {
        return subgroups_.run(*cluster_, *members_, vertex, placed_.held(), placed_.used(),
                              domains_) &&
               put_all(subgroups_.problem(), subgroups_.counts(), subgroups_.classes());
    }

    /// Members that do not fit in the preferred domain may then use any allowed node.
    [[nodiscard]] bool widen() {
        if (!domains_.widen())
            return false;
        placed_.forgive();
        return true;
    }

    // ---- what it needs -------------------------------------------------------------------------

    using step_kind = typename detail::placed_members<width>::step::kind;

    [[nodiscard]] bool put(std::size_t of_class, node_index node, std::int64_t count) {
        const member_class<width>& from = members_->classes[of_class];
        return placed_.put(of_class, members_->of(from), node, count, from.request, *from.claims);
    }

    /// Places `counts` of these classes on the rows of `problem`, row by row. Returns false and
    /// places nothing if an account cannot hold the sum.
    [[nodiscard]] bool put_all(const fit_problem<width>& problem,
                               const detail::sequence<std::int64_t>& counts,
                               const detail::sequence<std::size_t>& classes) {
        const std::size_t start = mark();
        for (std::size_t at = 0; at < classes.size(); ++at) {
            for (std::size_t row = 0; row < problem.rows.size(); ++row) {
                const std::int64_t here = counts[row * classes.size() + at];
                if (here == 0 || put(classes[at], problem.rows[row].node, here))
                    continue;
                undo_to(start);
                return false;
            }
        }
        domains_.settle(std::span(placed_.into().placements()).subspan(others_));
        return true;
    }

    [[nodiscard]] std::int64_t place_some(std::size_t of_class, std::int64_t want, bool whole) {
        const member_class<width>& from = members_->classes[of_class];
        const std::int64_t within =
            quota_room(placed_.into().accounts(), members_->queue, from.request, want);
        if (whole && within < want)
            return 0;
        want = within;
        std::int64_t placed = 0;
        while (placed < want) {
            runs_.clear();
            const std::int64_t asked = want - placed;
            bool all = false;
            const std::int64_t found = find(from, asked, all);
            if (all && found < asked) {
                if (placed_.into().size() == 0 && !domains_.any())
                    stopped_by_ = {of_class, found};
                if (whole)
                    return 0;
            }
            for (const node_run& run : runs_) {
                const bool fitted = put(of_class, run.node, run.count);
                MUSTER_ASSERT(fitted, "what the finder finds has room");
                static_cast<void>(fitted);
            }
            placed += found;
            if (found == 0 || (all && found < asked))
                break;
        }
        return placed;
    }

    /// Finds nodes for up to `want` members of the class. Sets `all` if a result below `want` means
    /// that there is no more room.
    [[nodiscard]] std::int64_t find(const member_class<width>& from, std::int64_t want, bool& all) {
        all = finder_->exhaustive();
        if (!domains_.any())
            return finder_->find(*cluster_, from.shape, members_->queue_nodes, want, runs_);
        if (!domains_.confine(from.role.value(), among_)) {
            all = true;
            return 0;
        }
        if (among_.empty())
            return finder_->find(*cluster_, from.shape, members_->queue_nodes, want, runs_);
        // The last domain belongs to the nearest ancestor of the role and usually lies inside the
        // others, so its nodes are scanned.
        const vertex_domain last = among_.back();
        among_.pop_back();
        all = fills_nodes(finder_->score());
        return scan_.find(
            *cluster_, finder_->weights(), finder_->score(),
            cluster_->topologies()[last.within][*last.domain].nodes,
            [&](node_index node) {
                return admits(*cluster_, *members_->tree, among_, from.role.value(), node);
            },
            from.shape, members_->queue_nodes, members_->spec, want, runs_);
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    const gang_members<width>* members_ = nullptr;
    node_finder<Traits>* finder_ = nullptr;
    /// The number of placements in the plan before the gang's own.
    std::size_t others_ = 0;
    detail::placed_members<width> placed_;
    detail::tree_walk<placer> walk_{*this};
    detail::affinity_placer<Traits> affinity_placer_;
    /// Every choice is recorded as a step, so that it is undone with the placements.
    detail::domain_choices<Traits> domains_;
    any_domain_order order_ = detail::listed_domains{};
    domain_scan<Traits> scan_;
    detail::subgroup_search<Traits> subgroups_;
    std::optional<std::pair<std::size_t, std::int64_t>> stopped_by_;
    // Scratch, kept from one gang to the next.
    detail::sequence<std::size_t> every_class_;
    detail::sequence<node_run> runs_;
    std::vector<vertex_domain> among_;
    detail::sequence<domain_sum<width>> demands_;
    /// One list per depth, since attempts are nested.
    detail::steady_list<detail::sequence<detail::chosen_domain>> ways_;
};

} // namespace v0_1
} // namespace muster
