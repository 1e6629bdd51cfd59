// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/model/gang.hpp>

namespace muster::inline v0_1 {

/// How many members of each class to take, and what they cost.
struct choice {
    int128 cost = 0;
    std::vector<std::int64_t> counts;
};

/// Finds cheapest choices of members that meet a gang's minima, for costs per class.
///
/// Where `min_subgroups` leaves a choice of children, each way to choose is tried; within one, the
/// minima of the vertices form a laminar family, so that taking the cheapest members bottom-up is
/// optimal. O(ways × vertices × classes · log classes) per call.
class choice_finder {
public:
    /// More ways to choose subgroups than this are not searched.
    static constexpr std::size_t most_ways = 4096;

    /// `roles` is the leaf of each class, `holding` the members per leaf that hold already.
    choice_finder(const gang_tree& tree, const std::vector<std::int64_t>& holding,
                  std::vector<std::size_t> roles)
        : tree_(&tree), roles_(std::move(roles)) {
        std::vector<char> active(tree.size(), 0);
        active[0] = 1;
        enumerate(active, 0);
        for (way& each : ways_)
            prepare(each, holding);
    }

    /// False when there are too many ways to choose subgroups: nothing may be concluded.
    [[nodiscard]] bool complete() const noexcept { return complete_; }

    /// The cheapest choice with at_least ≤ counts ≤ at_most; nothing when there is none.
    [[nodiscard]] std::optional<choice> cheapest(const std::vector<int128>& costs,
                                                 const std::vector<std::int64_t>& at_least,
                                                 const std::vector<std::int64_t>& at_most) const {
        std::vector<std::size_t> order(roles_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::sort(order, [&](std::size_t lhs, std::size_t rhs) {
            return costs[lhs] != costs[rhs] ? costs[lhs] < costs[rhs] : lhs < rhs;
        });
        std::optional<choice> best;
        for (const way& each : ways_) {
            std::optional<choice> found = fill(each, order, costs, at_least, at_most);
            if (found && (!best || found->cost < best->cost))
                best = std::move(found);
        }
        return best;
    }

private:
    struct way {
        std::vector<char> active;
        /// Per active vertex, children first: what is still needed when nothing new is taken.
        std::vector<std::size_t> order;
        std::vector<std::int64_t> held;
    };

    void enumerate(std::vector<char>& active, std::size_t from) {
        if (!complete_)
            return;
        while (from < tree_->size() && (!active[from] || tree_->is_leaf(from)))
            ++from;
        if (from == tree_->size()) {
            if (ways_.size() == most_ways) {
                complete_ = false;
                return;
            }
            ways_.push_back({active, {}, {}});
            return;
        }
        std::vector<std::size_t> children;
        for (std::size_t at = from + 1; at < tree_->size(); ++at)
            if ((*tree_)[at].parent == from)
                children.push_back(at);
        const auto all = static_cast<std::int64_t>(children.size());
        subsets(active, from, children, 0, 0, (*tree_)[from].min_subgroups.value_or(all));
    }

    void subsets(std::vector<char>& active, std::size_t parent,
                 const std::vector<std::size_t>& children, std::size_t at, std::int64_t taken,
                 std::int64_t needed) {
        if (taken + static_cast<std::int64_t>(children.size() - at) < needed)
            return;
        if (at == children.size()) {
            enumerate(active, parent + 1);
            return;
        }
        active[children[at]] = 1;
        subsets(active, parent, children, at + 1, taken + 1, needed);
        active[children[at]] = 0;
        subsets(active, parent, children, at + 1, taken, needed);
    }

    void prepare(way& each, const std::vector<std::int64_t>& holding) const {
        each.held.assign(tree_->size(), 0);
        for (std::size_t at = tree_->size(); at-- > 0;) {
            if (!each.active[at])
                continue;
            each.order.push_back(at);
            each.held[at] += holding[at];
            if (at > 0)
                each.held[(*tree_)[at].parent] += each.held[at];
        }
    }

    [[nodiscard]] bool below(std::size_t leaf, std::size_t vertex) const noexcept {
        while (leaf > vertex)
            leaf = (*tree_)[leaf].parent;
        return leaf == vertex;
    }

    [[nodiscard]] std::optional<choice> fill(const way& in, const std::vector<std::size_t>& order,
                                             const std::vector<int128>& costs,
                                             const std::vector<std::int64_t>& at_least,
                                             const std::vector<std::int64_t>& at_most) const {
        choice found;
        found.counts.assign(roles_.size(), 0);
        for (std::size_t at = 0; at < roles_.size(); ++at) {
            if (at_least[at] > (in.active[roles_[at]] ? at_most[at] : 0))
                return std::nullopt;
            found.counts[at] = at_least[at];
            found.cost += costs[at] * at_least[at];
        }
        for (const std::size_t vertex : in.order) {
            std::int64_t missing = (*tree_)[vertex].min_member - in.held[vertex];
            for (std::size_t at = 0; at < roles_.size(); ++at)
                if (in.active[roles_[at]] && below(roles_[at], vertex))
                    missing -= found.counts[at];
            for (const std::size_t at : order) {
                if (missing <= 0)
                    break;
                if (!in.active[roles_[at]] || !below(roles_[at], vertex))
                    continue;
                const std::int64_t more = std::min(missing, at_most[at] - found.counts[at]);
                found.counts[at] += more;
                found.cost += costs[at] * more;
                missing -= more;
            }
            if (missing > 0)
                return std::nullopt;
        }
        return found;
    }

    const gang_tree* tree_;
    std::vector<std::size_t> roles_;
    std::vector<way> ways_;
    bool complete_ = true;
};

} // namespace muster::inline v0_1
