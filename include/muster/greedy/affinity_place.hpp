// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/greedy/affinity_board.hpp>
#include <muster/greedy/tree_walk.hpp>
#include <muster/index/any_score.hpp>
#include <muster/plan/plan.hpp>
#include <muster/policy/surplus_concept.hpp>
#include <muster/problem/fit_problem.hpp>
#include <muster/problem/members.hpp>
#include <muster/problem/reused_list.hpp>
#include <muster/problem/seen_lists.hpp>
#include <muster/problem/steady_list.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Places a gang with required pod affinity by trial: first in the order of turns, then in other
/// orders, then by a search with backtracking. Tests every node for every pod.
template<class Traits>
class affinity_placer {
public:
    static constexpr std::size_t width = Traits::width;

    /// Starts with a gang of which no member is placed; memory is reused. See `affinity_board`.
    void begin(const cluster_state<Traits>& cluster, const gang_members<width>& members,
               plan<width>& into, const any_score<width>& score) {
        cluster_ = &cluster;
        tree_ = members.tree;
        shapes_ = members.classes.data();
        board_.begin(cluster, members, into, score);
        walk_.begin(*tree_);
        max_node_tests_ = 0;
        holding_ = &members.holding;
        frames_.clear();
    }

    /// The number of node tests so far.
    [[nodiscard]] std::int64_t looks() const noexcept { return board_.looks(); }

    /// Meets the gang's minima in the order of turns. Returns false and places nothing if this
    /// order fails.
    [[nodiscard]] bool meet_minima() { return walk_.meet_minima(); }

    /// Meets the minima with these counts per row and class of `gang_members`, as found by the
    /// exact search. Returns false and places nothing if the terms do not allow it.
    [[nodiscard]] bool meet_minima_by(const fit_problem<width>& problem,
                                      const detail::sequence<std::int64_t>& counts) {
        const std::size_t classes = problem.members.size();
        for (std::size_t at = 0; at < counts.size(); ++at)
            for (std::int64_t count = 0; count < counts[at]; ++count)
                if (!place_one_of(at % classes, problem.rows[at / classes].node)) {
                    board_.undo_to(0);
                    return false;
                }
        if (is_goal())
            return true;
        board_.undo_to(0);
        return false;
    }

    /// Meets the minima by other orders and by a search. Each node test takes one step from
    /// `steps`.
    [[nodiscard]] bool meet_minima_otherwise(std::int64_t& steps) {
        const std::int64_t before = board_.looks();
        max_node_tests_ = before + steps;
        const bool met = try_orders() || search();
        steps -= board_.looks() - before;
        return met;
    }

    /// Places surplus, best effort and as much as `wanted` says: further members of subgroups that
    /// are met, and whole subgroups that are not met yet.
    void place_surplus(surplus_request wanted) { walk_.place_surplus(wanted); }

    /// The waiting members and their terms.
    [[nodiscard]] const affinity_members<width>& members() const noexcept {
        return board_.members();
    }
    [[nodiscard]] const affinity_counts<Traits>& counts() const noexcept { return board_.counts(); }

    [[nodiscard]] bool all_placed() const noexcept {
        return board_.placed().count() == static_cast<std::int64_t>(members().turns.size());
    }

private:
    using board = affinity_board<Traits>;
    using ranked = typename board::ranked;

    [[nodiscard]] bool has_steps() const noexcept { return board_.looks() < max_node_tests_; }

    /// Places the next member of that class of `gang_members` that the node can take now.
    [[nodiscard]] bool place_one_of(std::size_t shape, node_index node) {
        const auto& members = board_.members();
        for (std::size_t turn = 0; turn < members.turns.size(); ++turn) {
            const std::size_t of_class = members.turns[turn];
            if (board_.placed().is_left(turn) &&
                members.classes[of_class].shape == shapes_ + shape &&
                board_.can_take(of_class, node))
                return board_.put(of_class, node);
        }
        return false;
    }

    // ---- other orders --------------------------------------------------------------------------

    /// Orders roles after the roles to which they have affinity, otherwise in the order of the
    /// tree.
    void order_by_affinity() {
        const std::size_t vertices = tree_->size();
        detail::sequence<std::size_t>& rank = rank_;
        rank.assign(vertices, 0);
        for (std::size_t round = 0; round < vertices; ++round)
            for (std::size_t at = 0; at < board_.members().classes.size(); ++at)
                board_.counts().for_each_leader(at, [&](std::size_t leader) {
                    const std::size_t own_role = board_.members().classes[at].role.value();
                    const std::size_t leader_role = board_.members().classes[leader].role.value();
                    if (own_role != leader_role)
                        rank[own_role] =
                            std::min(vertices, std::max(rank[own_role], rank[leader_role] + 1));
                });
        for (std::size_t vertex = vertices; vertex-- > 1;) {
            const std::size_t parent = (*tree_)[vertex].parent;
            rank[parent] = std::max(rank[parent], rank[vertex]);
        }
        detail::sequence<std::size_t>& order = walk_.order();
        std::iota(order.begin(), order.end(), std::size_t{0});
        detail::sort_short(order, {},
                           [&](std::size_t vertex) { return std::pair(rank[vertex], vertex); });
    }

    [[nodiscard]] bool try_orders() {
        order_by_affinity();
        if ((has_steps() && meet_minima()) || try_domains())
            return true;
        std::reverse(walk_.order().begin(), walk_.order().end());
        if (has_steps() && meet_minima())
            return true;
        order_by_affinity();
        return false;
    }

    /// Tries to confine the classes that have affinity to one another to one domain, the domain
    /// with the most room first.
    [[nodiscard]] bool try_domains() {
        list_pulls();
        tries_.clear();
        for (const pull& label_pull : pulls_)
            add_tries(cluster_->topologies()[label_pull.label], 0, label_pull.whom);
        const auto& classes = board_.members().classes;
        for (const auto& vertex_bond : board_.bonds()) {
            below_.assign(classes.size(), 0);
            for (std::size_t at = 0; at < below_.size(); ++at)
                below_[at] = is_below(*tree_, classes[at].role.value(), vertex_bond.vertex) ? 1 : 0;
            add_tries(*vertex_bond.within, vertex_bond.level, below_);
        }
        rooms_.clear();
        for (const confinement& attempt : tries_)
            rooms_.emplace_back(has_steps() ? -board_.room_in(attempt) : 0, rooms_.size());
        detail::sort_short(rooms_);
        bool met = false;
        for (std::size_t at = 0; at < rooms_.size() && has_steps() && !met; ++at) {
            board_.confine(tries_[rooms_[at].second]);
            met = meet_minima();
        }
        board_.unconfine();
        return met;
    }

    /// A label key of required affinity, and the classes that it affects (`whom`).
    struct pull {
        topology_index label;
        detail::sequence<char> whom;
    };

    /// Lists the pulls sorted by label key, because the numbers of topologies depend on the order
    /// of arrival.
    void list_pulls() {
        const std::size_t classes = board_.members().classes.size();
        pulls_.clear();
        for (std::size_t at = 0; at < classes; ++at)
            for (const topology_index label : board_.counts().pulls(at)) {
                auto found = detail::find(pulls_, label, &pull::label);
                if (found == pulls_.end()) {
                    pull& made = pulls_.add();
                    made.label = label;
                    made.whom.assign(classes, 0);
                    found = pulls_.end() - 1;
                }
                found->whom[at] = 1;
            }
        detail::sort_short(pulls_, [&](const pull& lhs, const pull& rhs) {
            return cluster_->topologies()[lhs.label].value().levels <
                   cluster_->topologies()[rhs.label].value().levels;
        });
    }

    void add_tries(const topology_domains& within, std::size_t level,
                   const detail::sequence<char>& classes) {
        for (const auto& entry : within.of_level(level)) {
            confinement& made = tries_.add();
            made.within = &within;
            made.domain = entry.second;
            made.classes = classes;
        }
    }

    // ---- search --------------------------------------------------------------------------------

    static constexpr std::size_t max_searched = 64;
    static constexpr std::size_t max_remembered = std::size_t{1} << 15;

    /// Searches with backtracking. The possible continuations depend on which members are on which
    /// nodes and not on the order in which they were placed, so no set of placements is tried
    /// twice. First tries only members that a minimum needs, then also others (`helpers`), whose
    /// placement may make room.
    [[nodiscard]] bool search() {
        if (board_.members().turns.size() > max_searched)
            return false;
        for (const bool helpers : {false, true}) {
            seen_.clear();
            if (search(helpers))
                return true;
            board_.undo_to(0);
        }
        return false;
    }

    [[nodiscard]] bool search(bool helpers) {
        if (is_goal())
            return true;
        if (!has_steps() || !is_new())
            return false;
        frame& depth = frames_.add();
        depth.tried.assign(board_.members().classes.size(), 0);
        const bool found = search_on(depth, helpers);
        frames_.pop();
        return found;
    }

    /// The state of one depth of the search.
    struct frame {
        sequence<ranked> ranks;
        /// Per class: whether it was tried at this depth.
        detail::sequence<char> tried;
    };

    [[nodiscard]] bool search_on(frame& depth, bool helpers) {
        const auto& placed = board_.placed();
        for (const std::size_t role : walk_.order()) {
            if (!tree_->is_leaf(role) || !(helpers || is_wanted(role)))
                continue;
            for (std::size_t turn = placed.first_turn(role); turn < placed.first_turn(role + 1);
                 ++turn) {
                const std::size_t of_class = placed.class_at(turn);
                if (!placed.is_left(turn) || depth.tried[of_class])
                    continue;
                depth.tried[of_class] = 1;
                board_.list(of_class, depth.ranks);
                detail::sort_short(depth.ranks, [](const ranked& lhs, const ranked& rhs) {
                    return lhs.comes_before(rhs);
                });
                const std::size_t before = board_.mark();
                for (const ranked& candidate : depth.ranks) {
                    if (board_.put(of_class, candidate.node) && search(helpers))
                        return true;
                    board_.undo_to(before);
                    if (!has_steps())
                        return false;
                }
            }
        }
        return false;
    }

    /// Returns true if the minima are met and no subgroup is placed in part.
    [[nodiscard]] bool is_goal() { return walk_.is_goal(*holding_); }

    /// Returns true if a minimum at or above the role is not met.
    [[nodiscard]] bool is_wanted(std::size_t role) {
        held_below_ = board_.placed().held();
        for (std::size_t vertex = tree_->size(); vertex-- > 1;)
            held_below_[(*tree_)[vertex].parent] += held_below_[vertex];
        for (std::size_t vertex = role;; vertex = (*tree_)[vertex].parent) {
            if (held_below_[vertex] < (*tree_)[vertex].min_member)
                return true;
            if (vertex == 0)
                return false;
        }
    }

    [[nodiscard]] bool is_new() {
        picture_.clear();
        for (const auto& step : board_.placed().steps())
            picture_.push_back(static_cast<std::uint64_t>(step.which) << 32U | step.node.value());
        detail::sort_short(picture_);
        return seen_.size() == max_remembered ? !seen_.contains(picture_) : seen_.insert(picture_);
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    const gang_tree* tree_ = nullptr;
    const member_class<width>* shapes_ = nullptr;
    board board_;
    tree_walk<board> walk_{board_};
    std::int64_t max_node_tests_ = 0;
    /// Per vertex (leaves only): members that already had a node (or succeeded) at the start.
    const detail::sequence<std::int64_t>* holding_ = nullptr;
    // Scratch, kept from one gang to the next.
    detail::sequence<std::size_t> rank_;
    reused_list<pull> pulls_;
    reused_list<confinement> tries_;
    detail::sequence<char> below_;
    /// Per attempt: the negated room, so that the most room sorts first, and the number of the
    /// attempt.
    sequence<std::pair<std::int64_t, std::size_t>> rooms_;
    /// One frame per depth.
    steady_list<frame> frames_;
    detail::sequence<std::int64_t> held_below_;
    detail::sequence<std::uint64_t> picture_;
    seen_lists seen_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
