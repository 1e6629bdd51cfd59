// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include <muster/base/checked.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {

/// How many members of each class to place, and their cost.
struct choice {
    int128 cost = 0;
    detail::sequence<std::int64_t> counts;
    /// True if every other choice has at least as many members of each class, so that this choice
    /// is best for any costs.
    bool least = false;
};

/// Finds the cheapest choice of members that meets a gang's minima, for given costs per class.
///
/// If `min_subgroups` allows several sets of children, each set is tried. Within one set, the
/// minima of the vertices form a laminar family, so taking the cheapest members bottom-up is
/// optimal. One call is O(vertices + classes) per set if every minimum can be met by one class
/// only, plus O(classes) for each minimum that several classes can meet.
class choice_finder {
public:
    /// The most sets of subgroups that are searched.
    static constexpr std::size_t max_ways = 4096;

    choice_finder() = default;
    /// `roles` has the leaf of each class, `holding` the members per leaf that hold a node already.
    choice_finder(const gang_tree& tree, const detail::sequence<std::int64_t>& holding,
                  detail::sequence<std::size_t> roles)
        : roles_(std::move(roles)) {
        pose(tree, holding);
    }

    /// Switches to another gang, whose class `at` belongs to leaf `role_of(at)`. Reuses memory.
    template<class RoleOf>
    void reset(const gang_tree& tree, const detail::sequence<std::int64_t>& holding,
               std::size_t classes, const RoleOf& role_of) {
        roles_.resize(classes);
        for (std::size_t at = 0; at < classes; ++at)
            roles_[at] = role_of(at);
        pose(tree, holding);
    }

    /// Returns false if there are too many sets of subgroups. Results then prove nothing.
    [[nodiscard]] bool complete() const noexcept { return complete_; }

    /// Writes the cheapest choice with at_least ≤ counts ≤ at_most to `best`. Returns false if
    /// there is none.
    [[nodiscard]] bool find(const detail::sequence<int128>& costs,
                            const detail::sequence<std::int64_t>& at_least,
                            const detail::sequence<std::int64_t>& at_most, choice& best) {
        return find(costs, at_least, at_most, best, scratch_);
    }

    /// Like `find`, with scratch memory of its own.
    [[nodiscard]] std::optional<choice>
    cheapest(const detail::sequence<int128>& costs, const detail::sequence<std::int64_t>& at_least,
             const detail::sequence<std::int64_t>& at_most) const {
        workspace scratch;
        choice best;
        if (!find(costs, at_least, at_most, best, scratch))
            return std::nullopt;
        return best;
    }

private:
    struct way {
        detail::sequence<char> active;
        /// Per active vertex: members at or below it that hold a node already.
        detail::sequence<std::int64_t> held;
    };
    struct workspace {
        choice found;
        /// Per vertex: members chosen at or below it.
        detail::sequence<std::int64_t> taken;
        /// Classes by cost; valid if `ordered`.
        detail::sequence<std::size_t> order;
        bool ordered = false;
    };

    void pose(const gang_tree& tree, const detail::sequence<std::int64_t>& holding) {
        tree_ = &tree;
        complete_ = true;
        ways_used_ = 0;
        active_.assign(tree.size(), 0);
        active_[0] = 1;
        enumerate(0);
        for (std::size_t at = 0; at < ways_used_; ++at)
            prepare(ways_[at], holding);
        below_.assign(tree.size() * roles_.size(), 0);
        for (std::size_t at = 0; at < roles_.size(); ++at) {
            for (std::size_t vertex = roles_[at]; vertex > 0; vertex = tree[vertex].parent)
                below_[vertex * roles_.size() + at] = 1;
            below_[at] = 1;
        }
    }

    void enumerate(std::size_t from) {
        if (!complete_)
            return;
        while (from < tree_->size() && (!active_[from] || tree_->is_leaf(from)))
            ++from;
        if (from == tree_->size()) {
            if (ways_used_ == max_ways) {
                complete_ = false;
                return;
            }
            if (ways_used_ == ways_.size())
                ways_.emplace_back();
            ways_[ways_used_++].active = active_;
            return;
        }
        const auto all = static_cast<std::int64_t>((*tree_)[from].children);
        subsets(from, from + 1, 0, all, (*tree_)[from].min_subgroups.value_or(all));
    }

    /// Enumerates the sets of children of `parent` from vertex `at` on, of which `left` are not
    /// decided yet.
    void subsets(std::size_t parent, std::size_t at, std::int64_t taken, std::int64_t left,
                 std::int64_t needed) {
        if (taken + left < needed)
            return;
        if (left == 0) {
            enumerate(parent + 1);
            return;
        }
        while ((*tree_)[at].parent != parent)
            ++at;
        active_[at] = 1;
        subsets(parent, at + 1, taken + 1, left - 1, needed);
        active_[at] = 0;
        subsets(parent, at + 1, taken, left - 1, needed);
    }

    void prepare(way& prepared, const detail::sequence<std::int64_t>& holding) const {
        prepared.held.assign(tree_->size(), 0);
        for (std::size_t at = tree_->size(); at-- > 0;) {
            if (!prepared.active[at])
                continue;
            prepared.held[at] += holding[at];
            if (at > 0)
                prepared.held[(*tree_)[at].parent] += prepared.held[at];
        }
    }

    [[nodiscard]] bool find(const detail::sequence<int128>& costs,
                            const detail::sequence<std::int64_t>& at_least,
                            const detail::sequence<std::int64_t>& at_most, choice& best,
                            workspace& scratch) const {
        scratch.ordered = false;
        bool any = false;
        for (std::size_t at = 0; at < ways_used_; ++at) {
            if (!fill(ways_[at], costs, at_least, at_most, scratch) ||
                (any && scratch.found.cost >= best.cost))
                continue;
            any = true;
            std::swap(best, scratch.found);
        }
        best.least = best.least && ways_used_ == 1;
        return any;
    }

    [[nodiscard]] bool fill(const way& subgroups, const detail::sequence<int128>& costs,
                            const detail::sequence<std::int64_t>& at_least,
                            const detail::sequence<std::int64_t>& at_most,
                            workspace& scratch) const {
        const gang_tree& tree = *tree_;
        choice& found = scratch.found;
        found.cost = 0;
        found.counts = at_least;
        found.least = true;
        scratch.taken.assign(tree.size(), 0);
        for (std::size_t at = 0; at < roles_.size(); ++at) {
            if (at_least[at] > (subgroups.active[roles_[at]] ? at_most[at] : 0))
                return false;
            found.cost += costs[at] * at_least[at];
            scratch.taken[roles_[at]] += at_least[at];
        }
        for (std::size_t vertex = tree.size(); vertex-- > 0;) {
            if (!subgroups.active[vertex])
                continue;
            const std::int64_t missing =
                tree[vertex].min_member - subgroups.held[vertex] - scratch.taken[vertex];
            if (missing > 0 && !take(subgroups, vertex, missing, costs, at_most, scratch))
                return false;
            if (vertex > 0)
                scratch.taken[tree[vertex].parent] += scratch.taken[vertex];
        }
        return true;
    }

    /// Chooses the cheapest members at or below the vertex. Returns false if there are too few.
    [[nodiscard]] bool take(const way& subgroups, std::size_t vertex, std::int64_t missing,
                            const detail::sequence<int128>& costs,
                            const detail::sequence<std::int64_t>& at_most,
                            workspace& scratch) const {
        choice& found = scratch.found;
        const char* below = below_.data() + vertex * roles_.size();
        scratch.taken[vertex] += missing;
        std::size_t open = 0;
        std::size_t only = 0;
        std::int64_t spare = 0;
        for (std::size_t at = 0; at < roles_.size(); ++at) {
            if (!below[at] || !subgroups.active[roles_[at]] || at_most[at] <= found.counts[at])
                continue;
            ++open;
            only = at;
            spare = saturating_add(spare, at_most[at] - found.counts[at]);
        }
        if (spare < missing)
            return false;
        if (open == 1) {
            found.counts[only] += missing;
            found.cost += costs[only] * missing;
            return true;
        }
        found.least = found.least && spare == missing;
        sort_by_cost(costs, scratch);
        for (const std::size_t at : scratch.order) {
            if (!below[at] || !subgroups.active[roles_[at]])
                continue;
            const std::int64_t more =
                std::max<std::int64_t>(0, std::min(missing, at_most[at] - found.counts[at]));
            found.counts[at] += more;
            found.cost += costs[at] * more;
            missing -= more;
        }
        return true;
    }

    void sort_by_cost(const detail::sequence<int128>& costs, workspace& scratch) const {
        if (scratch.ordered)
            return;
        scratch.ordered = true;
        scratch.order.resize(roles_.size());
        std::iota(scratch.order.begin(), scratch.order.end(), std::size_t{0});
        detail::sort_short(scratch.order, [&](std::size_t lhs, std::size_t rhs) {
            return costs[lhs] != costs[rhs] ? costs[lhs] < costs[rhs] : lhs < rhs;
        });
    }

    const gang_tree* tree_ = nullptr;
    detail::sequence<std::size_t> roles_;
    /// The first `ways_used_` are in use; the others keep their memory.
    detail::sequence<way> ways_;
    std::size_t ways_used_ = 0;
    detail::sequence<char> active_;
    /// Vertices × classes: whether the class belongs to a leaf at or below the vertex.
    detail::sequence<char> below_;
    workspace scratch_;
    bool complete_ = true;
};

} // namespace v0_1
} // namespace muster
