// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/greedy/affinity_board.hpp>
#include <muster/plan/plan.hpp>
#include <muster/policy/surplus_concept.hpp>
#include <muster/problem/fit_problem.hpp>
#include <muster/problem/members.hpp>
#include <muster/problem/reused_list.hpp>
#include <muster/problem/seen_lists.hpp>
#include <muster/resource/share.hpp>
#include <muster/vocabulary/tree_standing.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Finds places for a gang on which terms between pods bear, by trying: the order of turns, other
/// orders, and then going back on what was placed. It looks at every node for every pod.
template<class Traits, class Score>
class affinity_placer {
public:
    static constexpr std::size_t width = Traits::width;

    /// Starts with a gang of which no member is placed. Keeps the memory. See `affinity_board`.
    void begin(const cluster_state<Traits>& known, const gang_members<width>& members,
               plan<width>& into, const Score& score) {
        known_ = &known;
        tree_ = members.tree;
        shapes_ = members.classes.data();
        board_.begin(known, members, into, score);
        most_looks_ = 0;
        holding_ = members.holding;
        order_.resize(tree_->size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        cursor_ = board_.members().first_turn;
        stuck_at_.assign(board_.members().classes.size(), ~std::uint64_t{0});
        children_.clear();
        depth_ = 0;
    }

    /// Nodes looked at so far.
    [[nodiscard]] std::int64_t looks() const noexcept { return board_.looks(); }

    /// Meets the gang's minima, in the order of turns; false and nothing placed when that does not
    /// get there.
    [[nodiscard]] bool meet_minima() {
        if (satisfy(0))
            return true;
        undo_to(0);
        return false;
    }

    /// The same by how many of each class of `gang_members` are to stand where, as far as the
    /// terms let them.
    [[nodiscard]] bool meet_minima_by(const fit_problem<width>& problem,
                                      const std::vector<std::int64_t>& counts) {
        const std::size_t classes = problem.members.size();
        for (std::size_t at = 0; at < counts.size(); ++at)
            for (std::int64_t count = 0; count < counts[at]; ++count)
                if (!place_one_of(at % classes, problem.rows[at / classes].node)) {
                    undo_to(0);
                    return false;
                }
        if (is_goal())
            return true;
        undo_to(0);
        return false;
    }

    /// The same by other orders and by a search, which take their steps from `steps`; a step is a
    /// node looked at.
    [[nodiscard]] bool meet_minima_otherwise(std::int64_t& steps) {
        const std::int64_t before = board_.looks();
        most_looks_ = before + steps;
        const bool met = try_orders() || search();
        steps -= board_.looks() - before;
        return met;
    }

    /// Places what is left, best effort and as much of it as is wished: further members of
    /// subgroups that are met, and whole subgroups that are not yet.
    void place_surplus(surplus_wish wish) {
        const std::size_t start = board_.size();
        const auto placed = [&] { return static_cast<std::int64_t>(board_.size() - start); };
        while (placed() < wish.most && one_more(0, wish.level)) {
        }
    }

    /// The waiting members and their terms.
    [[nodiscard]] const affinity_members<width>& members() const noexcept {
        return board_.members();
    }
    [[nodiscard]] const affinity_counts<Traits>& counts() const noexcept { return board_.counts(); }

    /// How many members are placed.
    [[nodiscard]] std::size_t size() const noexcept { return board_.size(); }

private:
    using board = affinity_board<Traits, Score>;
    using ranked = typename board::ranked;

    void undo_to(std::size_t size) {
        if (board_.size() > size)
            cursor_ = board_.members().first_turn;
        board_.undo_to(size);
    }

    [[nodiscard]] bool has_steps() const noexcept { return board_.looks() < most_looks_; }

    // ---- the order of turns --------------------------------------------------------------------

    /// The next member of the class on its best node; false when no node can take it now.
    [[nodiscard]] bool place_turn(std::size_t turn) {
        const std::size_t of_class = board_.members().turns[turn];
        if (stuck_at_[of_class] == board_.changes())
            return false;
        board_.list(of_class, ranks_);
        const ranked* best = nullptr;
        for (const ranked& each : ranks_)
            if (!best || each.better_than(*best))
                best = &each;
        if (best && board_.put(turn, best->node))
            return true;
        stuck_at_[of_class] = board_.changes();
        return false;
    }

    /// The next of that class of `gang_members` that the node can take now.
    [[nodiscard]] bool place_one_of(std::size_t shape, node_index node) {
        const auto& members = board_.members();
        for (std::size_t turn = 0; turn < members.turns.size(); ++turn) {
            const auto& of = members.classes[members.turns[turn]];
            if (!board_.taken(turn) && of.shape == shapes_ + shape &&
                board_.can_take(members.turns[turn], node))
                return board_.put(turn, node);
        }
        return false;
    }

    enum class progress : std::uint8_t { met, made, stuck };

    [[nodiscard]] bool satisfy(std::size_t vertex) {
        progress last = progress::made;
        while (last == progress::made)
            last = advance(vertex);
        return last == progress::met;
    }

    /// Another member of the role, the first whose class is not stuck.
    [[nodiscard]] bool place_next(std::size_t role) {
        const std::size_t end = board_.members().first_turn[role + 1];
        std::size_t& first = cursor_[role];
        while (first < end && board_.taken(first))
            ++first;
        for (std::size_t turn = first; turn < end; ++turn)
            if (!board_.taken(turn) && place_turn(turn))
                return true;
        return false;
    }

    /// One step towards the vertex's minima. What waits for others to be placed is come back to.
    [[nodiscard]] progress advance(std::size_t vertex) {
        const gang_tree& tree = *tree_;
        if (tree.is_leaf(vertex)) {
            if (board_.held()[vertex] >= tree[vertex].min_member)
                return progress::met;
            return place_next(vertex) ? progress::made : progress::stuck;
        }
        const auto all = static_cast<std::int64_t>(tree[vertex].children);
        const std::int64_t needed = tree[vertex].min_subgroups.value_or(all);
        std::int64_t met = 0;
        for (const std::size_t child : order_) {
            if (child == 0 || tree[child].parent != vertex || met == needed)
                continue;
            if (needed < all) {
                const std::size_t before = board_.size();
                if (is_met(child) || satisfy(child))
                    ++met;
                else
                    undo_to(before);
                continue;
            }
            const progress made = advance(child);
            if (made == progress::made)
                return made;
            met += made == progress::met ? 1 : 0;
        }
        if (met < needed)
            return progress::stuck;
        const tree_standing& now = stand(tree, board_.held(), standing_);
        if (now.counts[vertex] >= tree[vertex].min_member)
            return progress::met;
        for (const std::size_t leaf : order_)
            if (tree.is_leaf(leaf) && counts_for(now, leaf, vertex) && place_next(leaf))
                return progress::made;
        return progress::stuck;
    }

    [[nodiscard]] bool is_met(std::size_t vertex) {
        return stand(*tree_, board_.held(), standing_).met[vertex] != 0;
    }

    /// Members of the leaf count at the vertex above it.
    [[nodiscard]] bool counts_for(const tree_standing& now, std::size_t leaf,
                                  std::size_t vertex) const {
        while (leaf > vertex && now.met[leaf])
            leaf = (*tree_)[leaf].parent;
        return leaf == vertex;
    }

    /// One member more below the vertex, which is met, or one more of its subgroups.
    [[nodiscard]] bool one_more(std::size_t vertex, bool level) {
        const gang_tree& tree = *tree_;
        if (tree.is_leaf(vertex))
            return place_next(vertex);
        // Above those of the vertices above this one.
        const std::size_t first = children_.size();
        add_children_by_need(tree, board_.held(), vertex, level, standing_, children_);
        const std::size_t last = children_.size();
        bool more = false;
        for (std::size_t at = first; at < last && !more; ++at) {
            const std::size_t child = children_[at].second;
            const std::size_t before = board_.size();
            if (is_met(child)) {
                more = one_more(child, level);
            } else {
                more = satisfy(child) && board_.size() > before;
                if (!more)
                    undo_to(before);
            }
        }
        children_.resize(first);
        return more;
    }

    // ---- other orders --------------------------------------------------------------------------

    /// Roles with affinity to another's members after that one, else in the order of the tree.
    void order_by_affinity() {
        const std::size_t vertices = tree_->size();
        std::vector<std::size_t>& rank = rank_;
        rank.assign(vertices, 0);
        for (std::size_t round = 0; round < vertices; ++round)
            for (std::size_t at = 0; at < board_.members().classes.size(); ++at)
                board_.counts().for_each_leader(at, [&](std::size_t leader) {
                    const std::size_t mine = board_.members().classes[at].role;
                    const std::size_t theirs = board_.members().classes[leader].role;
                    if (mine != theirs)
                        rank[mine] = std::min(vertices, std::max(rank[mine], rank[theirs] + 1));
                });
        for (std::size_t vertex = vertices; vertex-- > 1;) {
            const std::size_t parent = (*tree_)[vertex].parent;
            rank[parent] = std::max(rank[parent], rank[vertex]);
        }
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::ranges::sort(order_, {},
                          [&](std::size_t vertex) { return std::pair(rank[vertex], vertex); });
    }

    [[nodiscard]] bool try_orders() {
        order_by_affinity();
        if ((has_steps() && meet_minima()) || try_domains())
            return true;
        std::ranges::reverse(order_);
        if (has_steps() && meet_minima())
            return true;
        order_by_affinity();
        return false;
    }

    /// Tries with the classes that have affinity to one another confined to one domain, the domain
    /// with the most room first.
    [[nodiscard]] bool try_domains() {
        list_pulls();
        tries_.clear();
        for (const pull& each : pulls_)
            add_tries(known_->topologies()[each.label], 0, each.whom);
        const auto& classes = board_.members().classes;
        for (const auto& each : board_.bonds()) {
            below_.assign(classes.size(), 0);
            for (std::size_t at = 0; at < below_.size(); ++at)
                below_[at] = is_below(*tree_, classes[at].role, each.vertex) ? 1 : 0;
            add_tries(*each.within, each.level, below_);
        }
        rooms_.clear();
        for (const confinement& each : tries_)
            rooms_.emplace_back(has_steps() ? -board_.room_in(each) : 0, rooms_.size());
        std::ranges::sort(rooms_);
        bool met = false;
        for (std::size_t at = 0; at < rooms_.size() && has_steps() && !met; ++at) {
            board_.confine(tries_[rooms_[at].second]);
            met = meet_minima();
        }
        board_.unconfine();
        return met;
    }

    /// A label by whose domains classes seek nearness, and which classes.
    struct pull {
        topology_index label;
        std::vector<char> whom;
    };

    /// By label key, as numbers of topologies decide nothing.
    void list_pulls() {
        const std::size_t classes = board_.members().classes.size();
        pulls_.clear();
        for (std::size_t at = 0; at < classes; ++at)
            for (const topology_index by : board_.counts().pulls(at)) {
                auto known = std::ranges::find(pulls_, by, &pull::label);
                if (known == pulls_.end()) {
                    pull& made = pulls_.add();
                    made.label = by;
                    made.whom.assign(classes, 0);
                    known = pulls_.end() - 1;
                }
                known->whom[at] = 1;
            }
        std::sort(pulls_.begin(), pulls_.end(), [&](const pull& lhs, const pull& rhs) {
            return known_->topologies()[lhs.label].value().levels <
                   known_->topologies()[rhs.label].value().levels;
        });
    }

    void add_tries(const topology_domains& within, std::size_t level,
                   const std::vector<char>& whom) {
        for (const auto& entry : within.of_level(level)) {
            confinement& made = tries_.add();
            made.within = &within;
            made.domain = entry.second;
            made.classes = whom;
        }
    }

    // ---- search --------------------------------------------------------------------------------

    static constexpr std::size_t most_searched = 64;
    static constexpr std::size_t most_remembered = std::size_t{1} << 15;

    /// Searches with backtracking. What may follow depends on which members stand where and not on
    /// the order in which they were placed, so no set of placements is tried twice.
    [[nodiscard]] bool search() {
        if (board_.members().turns.size() > most_searched)
            return false;
        for (const bool helpers : {false, true}) {
            seen_.clear();
            if (search(helpers))
                return true;
            undo_to(0);
        }
        return false;
    }

    [[nodiscard]] bool search(bool helpers) {
        if (is_goal())
            return true;
        if (!has_steps() || !is_new())
            return false;
        if (depth_ == frames_.size())
            frames_.emplace_back();
        frame& mine = frames_[depth_++];
        mine.tried.assign(board_.members().classes.size(), 0);
        const bool found = search_on(mine, helpers);
        --depth_;
        return found;
    }

    /// What one depth of the search remembers.
    struct frame {
        sequence<ranked> ranks;
        /// Per class.
        std::vector<char> tried;
    };

    [[nodiscard]] bool search_on(frame& mine, bool helpers) {
        const auto& members = board_.members();
        for (const std::size_t role : order_) {
            if (!tree_->is_leaf(role) || !(helpers || is_wanted(role)))
                continue;
            for (std::size_t turn = members.first_turn[role]; turn < members.first_turn[role + 1];
                 ++turn) {
                const std::size_t of_class = members.turns[turn];
                if (board_.taken(turn) || mine.tried[of_class])
                    continue;
                mine.tried[of_class] = 1;
                board_.list(of_class, mine.ranks);
                std::ranges::sort(mine.ranks, [](const ranked& lhs, const ranked& rhs) {
                    return lhs.comes_before(rhs);
                });
                const std::size_t before = board_.size();
                for (const ranked& each : mine.ranks) {
                    if (board_.put(turn, each.node) && search(helpers))
                        return true;
                    undo_to(before);
                    if (!has_steps())
                        return false;
                }
            }
        }
        return false;
    }

    /// The minima are met, and no subgroup stands in part.
    [[nodiscard]] bool is_goal() {
        const tree_standing& now = stand(*tree_, board_.held(), standing_);
        if (!now.met[0])
            return false;
        for (std::size_t leaf = 0; leaf < holding_.size(); ++leaf)
            if (board_.held()[leaf] > holding_[leaf] && !counts_for(now, leaf, 0))
                return false;
        return true;
    }

    /// Some minimum at or above the role asks for more.
    [[nodiscard]] bool is_wanted(std::size_t role) {
        held_below_ = board_.held();
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
        board_.for_each_placed([&](std::size_t of_class, node_index node) {
            picture_.push_back(static_cast<std::uint64_t>(of_class) << 32U | node.value());
        });
        std::ranges::sort(picture_);
        return seen_.size() == most_remembered ? !seen_.contains(picture_) : seen_.insert(picture_);
    }

    const cluster_state<Traits>* known_ = nullptr;
    const gang_tree* tree_ = nullptr;
    const member_class<width>* shapes_ = nullptr;
    board board_;
    std::int64_t most_looks_ = 0;
    /// Per vertex (leaves only): members that held before.
    std::vector<std::int64_t> holding_;
    /// Vertices in the order in which they are served.
    std::vector<std::size_t> order_;
    /// Per vertex: no turn of it before that is left.
    std::vector<std::size_t> cursor_;
    /// Per class: at which change no node could take a member.
    std::vector<std::uint64_t> stuck_at_;
    // Scratch, kept from one gang to the next.
    sequence<ranked> ranks_;
    tree_standing standing_;
    sequence<std::pair<share, std::size_t>> children_;
    std::vector<std::size_t> rank_;
    reused_list<pull> pulls_;
    reused_list<confinement> tries_;
    std::vector<char> below_;
    /// Of each try the room, the most coming first, and its number.
    sequence<std::pair<std::int64_t, std::size_t>> rooms_;
    /// By depth.
    std::deque<frame> frames_;
    std::size_t depth_ = 0;
    std::vector<std::int64_t> held_below_;
    std::vector<std::uint64_t> picture_;
    seen_lists seen_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
