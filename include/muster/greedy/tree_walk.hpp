// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include <muster/base/sequence.hpp>
#include <muster/policy/surplus_concept.hpp>
#include <muster/resource/share.hpp>
#include <muster/vocabulary/gang.hpp>
#include <muster/vocabulary/subtree_status.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Chooses which of a gang's members are placed next, along its tree: first those that the minima
/// of roles need, then those that the minima above need, then surplus. The board chooses the node:
///
/// - `place(class, want, whole)` places up to `want` of the next members of a class and returns how
///   many; 0 if none can be placed now. `whole`: all of them or none.
/// - `mark()` returns a mark, and `undo_to(mark)` undoes everything placed since.
/// - `placed()` returns the gang's `placed_members`.
/// - `in_domains(vertex, for_minima, attempt)` calls `attempt()` with one domain after the other
/// that
///   the members of a vertex may use, until it succeeds. A failed attempt is undone.
/// - `search_for(vertex)` places a subgroup that the order of turns did not place. Returns false
/// and
///   places nothing if the search fails as well.
/// - `widen()` allows the nodes that only preferences exclude. Returns false if there are none.
/// - `room_may_come`: true if a placement may make room for members that found none before.
template<class Board>
class tree_walk {
public:
    explicit tree_walk(Board& board) : board_(&board) {}

    /// Starts with a gang of which no member is placed; memory is reused. O(vertices).
    void begin(const gang_tree& tree) {
        tree_ = &tree;
        flat_ = is_flat(tree);
        order_.resize(tree.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        children_.clear();
    }

    /// The vertices in the order in which they are served. Initially the order of the tree.
    [[nodiscard]] detail::sequence<std::size_t>& order() noexcept { return order_; }

    /// Meets the gang's minima. Returns false and places nothing if this order fails.
    [[nodiscard]] bool meet_minima() { return try_satisfy(0); }

    /// Places surplus of a gang whose minima are met, best effort: further members of subgroups
    /// that are met, and whole subgroups that are not met yet.
    void place_surplus(surplus_request wanted) {
        const std::int64_t before = placed().count();
        do {
            if (wanted == surplus_request{} && !Board::room_may_come)
                place_all(0);
            else
                while (placed().count() - before < wanted.most && place_one_more(0, wanted.level)) {
                }
        } while (board_->widen());
    }

    /// Returns true if the minima are met and every placed member counts towards the root: it is in
    /// no subgroup that is not met.
    [[nodiscard]] bool is_goal(const detail::sequence<std::int64_t>& holding) {
        evaluate(*tree_, placed().held(), status_);
        if (!status_.met[0])
            return false;
        for (std::size_t leaf = 0; leaf < holding.size(); ++leaf)
            if (placed().held()[leaf] > holding[leaf] && !counts_for(leaf, 0))
                return false;
        return true;
    }

private:
    enum class progress : std::uint8_t { met, made, stuck };

    [[nodiscard]] auto& placed() const noexcept { return board_->placed(); }

    [[nodiscard]] bool satisfy(std::size_t vertex) {
        return board_->in_domains(vertex, true, [&] {
            progress last = progress::made;
            while (last == progress::made)
                last = advance(vertex);
            return last == progress::met;
        });
    }

    /// Like `satisfy`, but undoes everything if it fails.
    [[nodiscard]] bool try_satisfy(std::size_t vertex) {
        const std::size_t start = board_->mark();
        if (satisfy(vertex))
            return true;
        board_->undo_to(start);
        return false;
    }

    /// Advances towards the vertex's minima. If a placement may make room for members that were
    /// skipped, makes a single step; otherwise continues until the minima are met or a member finds
    /// no node.
    [[nodiscard]] progress advance(std::size_t vertex) {
        const gang_tree& tree = *tree_;
        if (tree.is_leaf(vertex)) {
            const std::int64_t missing = tree[vertex].min_member - placed().held()[vertex];
            if (missing <= 0)
                return progress::met;
            return place_next(vertex, missing, placed().alike(vertex)) > 0 ? progress::made
                                                                           : progress::stuck;
        }
        const auto all = static_cast<std::int64_t>(tree[vertex].children);
        const std::int64_t needed = tree[vertex].min_subgroups.value_or(all);
        std::int64_t met = 0;
        for (const std::size_t child : order_) {
            if (child == 0 || tree[child].parent != vertex || met == needed)
                continue;
            if (needed < all) {
                // After a step all children are visited again, so a child that is met must not be
                // satisfied again.
                met += (Board::room_may_come && is_met(child)) || try_satisfy(child) ? 1 : 0;
            } else if constexpr (Board::room_may_come) {
                const progress made = advance(child);
                if (made == progress::made)
                    return made;
                met += made == progress::met ? 1 : 0;
            } else {
                if (!satisfy(child))
                    return progress::stuck;
                ++met;
            }
        }
        if (met < needed)
            return progress::stuck;
        for (;;) {
            const std::int64_t missing = tree[vertex].min_member - count_at(vertex);
            if (missing <= 0)
                return progress::met;
            if (!place_below(vertex, missing))
                return progress::stuck;
            if (Board::room_may_come)
                return progress::made;
        }
    }

    /// Places up to `most` members of the role, of the first class of which any can be placed now.
    /// Returns the number placed; 0 if there is no such class.
    [[nodiscard]] std::int64_t place_next(std::size_t role, std::int64_t most, bool whole = false) {
        return board_->in_domains(role, false, [&]() -> std::int64_t {
            const std::size_t end = placed().first_turn(role + 1);
            for (std::size_t turn = placed().first_left(role); turn < end;) {
                const std::size_t of_class = placed().class_at(turn);
                std::int64_t want = 1;
                for (std::size_t next = turn + 1; next < end && want < most; ++next, ++want)
                    if (placed().class_at(next) != of_class)
                        break;
                const std::int64_t found = board_->place(of_class, want, whole && want == most);
                if (found > 0)
                    return found;
                turn = placed().next_left(role, turn + static_cast<std::size_t>(want));
            }
            return 0;
        });
    }

    /// Places up to `most` members that count towards the vertex, in the first leaf below it that
    /// can place any. Precondition: the children that the vertex needs are met.
    [[nodiscard]] bool place_below(std::size_t vertex, std::int64_t most) {
        if (!flat_)
            evaluate(*tree_, placed().held(), status_);
        for (const std::size_t leaf : order_)
            if (tree_->is_leaf(leaf) && (flat_ || counts_for(leaf, vertex)) &&
                place_next(leaf, most) > 0)
                return true;
        return false;
    }

    /// Places all remaining members below the vertex, which must be met.
    void place_all(std::size_t vertex) {
        if (tree_->is_leaf(vertex)) {
            while (place_next(vertex, std::numeric_limits<std::int64_t>::max()) > 0) {
            }
            return;
        }
        for (const std::size_t child : order_)
            if (child > 0 && (*tree_)[child].parent == vertex &&
                (is_met(child) || try_satisfy(child) || board_->search_for(child)))
                place_all(child);
    }

    /// Places one more member below the vertex, which must be met, or one more of its subgroups.
    [[nodiscard]] bool place_one_more(std::size_t vertex, bool level) {
        if (tree_->is_leaf(vertex))
            return place_next(vertex, 1) > 0;
        // The list is a stack: the entries of the vertices above this one come before.
        const std::size_t first = children_.size();
        add_children_by_need(*tree_, placed().held(), vertex, level, status_, children_);
        const std::size_t last = children_.size();
        bool more = false;
        for (std::size_t at = first; at < last && !more; ++at) {
            const std::size_t child = children_[at].second;
            more = is_met(child) ? place_one_more(child, level)
                                 : try_satisfy(child) || board_->search_for(child);
        }
        children_.resize(first);
        return more;
    }

    /// Returns whether the vertex is met. Only for a vertex that may stay unmet, or once the whole
    /// gang is met.
    [[nodiscard]] bool is_met(std::size_t vertex) {
        return flat_ || evaluate(*tree_, placed().held(), status_).met[vertex] != 0;
    }

    /// Returns the number of members that count towards a vertex. Precondition: all children that
    /// it needs are met.
    [[nodiscard]] std::int64_t count_at(std::size_t vertex) {
        const auto& held = placed().held();
        return flat_ ? std::accumulate(held.begin(), held.end(), std::int64_t{0})
                     : evaluate(*tree_, held, status_).counts[vertex];
    }

    /// Returns true if members of the leaf count towards the vertex above it, as of the last
    /// `evaluate`.
    [[nodiscard]] bool counts_for(std::size_t leaf, std::size_t vertex) const {
        while (leaf > vertex && status_.met[leaf])
            leaf = (*tree_)[leaf].parent;
        return leaf == vertex;
    }

    Board* board_;
    const gang_tree* tree_ = nullptr;
    bool flat_ = false;
    detail::sequence<std::size_t> order_;
    // Scratch, kept from one gang to the next.
    subtree_status status_;
    sequence<std::pair<share, std::size_t>> children_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
