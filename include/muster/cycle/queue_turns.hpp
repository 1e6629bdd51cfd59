// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/cycle/queue_rank.hpp>
#include <muster/policy/any_order.hpp>
#include <muster/policy/queue_order_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// Decides which line has the next turn. A line is the list of the waiting gangs of one queue, or
/// of the gangs without a queue. The walk starts at the root of the queue tree. At each level it
/// goes to the first child, by the order of queues and then by key, whose subtree has a gang left.
/// The own gangs of an inner queue are one more child of that queue; it is ranked by `rank_of_own`
/// and precedes other children of equal rank. Gangs without a queue are a child of the root with
/// priority 0 and no use.
///
/// Siblings stay sorted between cycles. After a start, only the gang's queue and those above it are
/// compared again with their siblings: O(depth × (width + log siblings)), and 4 bytes moved for
/// each sibling that a queue falls behind.
template<class Traits>
class queue_turns {
public:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    void clear() noexcept { lines_ = none; }

    /// Builds the tree for `lines` lines; `queue_of(line)` returns the queue of a line. O(1) if
    /// neither their number nor any queue changed since the last call, otherwise O(queues · log
    /// queues).
    template<class QueueOf>
    void arrange(const cluster_state<Traits>& cluster, std::size_t lines, const QueueOf& queue_of) {
        if (lines_ == lines && epoch_ == cluster.queue_epoch())
            return;
        lines_ = lines;
        epoch_ = cluster.queue_epoch();
        vertices_.assign(1, {});
        of_queue_.clear();
        of_line_.assign(lines, none);
        next_.assign(lines, {});
        for (std::size_t line = 0; line < lines; ++line) {
            const std::optional<queue_index> queue = queue_of(line);
            vertex leaf;
            leaf.queue = queue;
            leaf.line = static_cast<std::uint32_t>(line);
            leaf.parent = queue ? vertex_of(cluster, *queue) : 0;
            of_line_[line] = static_cast<std::uint32_t>(vertices_.size());
            vertices_[leaf.parent].own = of_line_[line];
            vertices_.push_back(leaf);
        }
        sort_children(cluster);
    }

    /// Sets the line's next gang. Takes effect with the next `begin` or `moved`.
    void set_next(std::size_t line, const next_gang<Traits::width>& gang) noexcept {
        next_[line] = gang;
    }

    /// Starts a cycle: all lines for which `live(line)` is true get turns, by their current ranks.
    /// `due` is used by orders by fair share until the next `begin`. O(queues × width), and O(n ·
    /// log siblings) for the n queues whose use changed since the last cycle.
    template<class Live>
    void begin(const cluster_state<Traits>& cluster, const any_queue_order& before,
               const Live& live, const fair_shares<Traits>* due = nullptr) {
        // Ranks also depend on fair shares and capacity, which may change although the use of a
        // queue does not.
        const bool all = due || due_ || capability_ != cluster.capability_epoch();
        capability_ = cluster.capability_epoch();
        due_ = due;
        for (vertex& cleared : vertices_)
            cleared.next = cleared.end = cleared.first;
        // Children come after their parents.
        for (std::size_t at = vertices_.size(); at-- > 0;) {
            vertex& current = vertices_[at];
            if (current.line == none)
                sort_live(current, before);
            current.ranked = current.ranked && !all;
            const bool was_live = current.live;
            current.live = current.left =
                current.line != none ? live(current.line) : current.next < current.end;
            current.moved =
                current.live && (update(cluster, static_cast<std::uint32_t>(at)) || !was_live);
            vertices_[current.parent].end += current.live && at != 0 ? 1U : 0U;
        }
    }

    /// Returns the line that has the turn; nullopt if no gang is left. O(depth).
    [[nodiscard]] std::optional<std::uint32_t> first() const noexcept {
        const vertex* at = &vertices_.front();
        while (at->line == none) {
            if (at->next == at->end)
                return std::nullopt;
            at = &vertices_[sorted_[at->next]];
        }
        return at->line;
    }

    /// Removes the line that has the turn, because it has no gang left.
    void finish_first() noexcept {
        std::uint32_t at = 0;
        while (vertices_[at].line == none)
            at = sorted_[vertices_[at].next];
        do {
            vertices_[at].left = false;
            at = vertices_[at].parent;
            ++vertices_[at].next;
        } while (at != 0 && vertices_[at].next == vertices_[at].end);
    }

    /// Handles a change in the use of the queue.
    void moved(const cluster_state<Traits>& cluster, queue_index queue,
               const any_queue_order& before) {
        std::optional<queue_index> lowest = queue;
        while (lowest && vertex_at(*lowest) == none)
            lowest = cluster[*lowest].parent;
        if (!lowest)
            return;
        std::uint32_t at = vertex_at(*lowest);
        if (vertices_[at].own != none)
            move(cluster, vertices_[at].own, before);
        for (; at != 0; at = vertices_[at].parent)
            move(cluster, at, before);
    }

private:
    struct vertex {
        /// The queue; for a line, the queue of its gangs.
        std::optional<queue_index> queue;
        std::uint32_t parent = 0;
        std::uint32_t line = none;
        /// The child vertex that is the line of the queue's own gangs.
        std::uint32_t own = none;
        /// Its children are the `children` entries of `sorted_` from `first` on. Live children with
        /// gangs left are in [next, end), sorted.
        std::uint32_t first = 0;
        std::uint32_t children = 0;
        std::uint32_t next = 0;
        std::uint32_t end = 0;
        /// Some gang was in its subtree when the cycle began (`live`), and some gang is left now
        /// (`left`).
        bool live = false;
        bool left = false;
        /// Its position may have changed since its siblings were last sorted.
        bool moved = false;
        /// Its rank has been computed.
        bool ranked = false;
    };
    /// The sort key of a vertex. Kept apart from `vertex`, which is read much more often.
    struct place {
        queue_rank rank;
        /// The input of the rank.
        resources<Traits::width> used;
        next_gang<Traits::width> next;
        /// Its position among its siblings in the order of keys.
        std::uint32_t turn = 0;
    };

    [[nodiscard]] std::uint32_t vertex_at(queue_index queue) const noexcept {
        return queue.value() < of_queue_.size() ? of_queue_[queue.value()] : none;
    }

    /// Returns the queue's vertex. Creates it and those above it if they do not exist.
    [[nodiscard]] std::uint32_t vertex_of(const cluster_state<Traits>& cluster, queue_index queue) {
        missing_.clear();
        std::uint32_t above = 0;
        for (std::optional<queue_index> at = queue; at; at = cluster[*at].parent) {
            above = vertex_at(*at);
            if (above != none)
                break;
            missing_.push_back(*at);
            above = 0;
        }
        while (!missing_.empty()) {
            vertex fresh;
            fresh.queue = missing_.back();
            fresh.parent = above;
            missing_.pop_back();
            above = static_cast<std::uint32_t>(vertices_.size());
            vertices_.push_back(fresh);
            if (of_queue_.size() <= fresh.queue->value())
                of_queue_.resize(fresh.queue->value() + 1, none);
            of_queue_[fresh.queue->value()] = above;
        }
        return above;
    }

    void sort_children(const cluster_state<Traits>& cluster) {
        places_.assign(vertices_.size(), {});
        sorted_.resize(vertices_.size() - 1);
        for (std::size_t at = 1; at < vertices_.size(); ++at)
            sorted_[at - 1] = static_cast<std::uint32_t>(at);
        detail::sort(sorted_, [&](std::uint32_t lhs, std::uint32_t rhs) {
            const vertex& left = vertices_[lhs];
            const vertex& right = vertices_[rhs];
            if (left.parent != right.parent)
                return left.parent < right.parent;
            if (left.line != none || right.line != none)
                return left.line != none && right.line == none;
            return cluster.queue_order().before(*left.queue, *right.queue);
        });
        for (std::uint32_t at = 0; at < sorted_.size(); ++at) {
            vertex& child = vertices_[sorted_[at]];
            places_[sorted_[at]].turn = at;
            vertex& above = vertices_[child.parent];
            if (above.children++ == 0)
                above.first = at;
        }
    }

    /// Updates the rank. Returns false if it was up to date.
    bool update(const cluster_state<Traits>& cluster, std::uint32_t which) {
        vertex& queue_vertex = vertices_[which];
        place& at = places_[which];
        if (!queue_vertex.queue ||
            (queue_vertex.line != none && vertices_[queue_vertex.parent].children == 1))
            return false;
        const auto& queues = cluster.accounts().queues();
        const auto used = queue_vertex.line == none ? queues.used(*queue_vertex.queue)
                                                    : queues.own(*queue_vertex.queue);
        const auto& next = next_below(which);
        if (queue_vertex.ranked && used == at.used && next == at.next)
            return false;
        queue_vertex.ranked = true;
        at.used = used;
        at.next = next;
        at.rank = rank_with(cluster, *queue_vertex.queue, used, due_, next);
        return true;
    }

    /// Returns the next gang of the first line in the subtree. Precondition: children are sorted.
    [[nodiscard]] const next_gang<Traits::width>& next_below(std::uint32_t which) const noexcept {
        const vertex* at = &vertices_[which];
        while (at->line == none && at->next != at->end)
            at = &vertices_[sorted_[at->next]];
        return at->line == none ? nothing_ : next_[at->line];
    }

    [[nodiscard]] auto turn(const any_queue_order& before) const {
        return [this, &before](std::uint32_t lhs, std::uint32_t rhs) {
            const place& left = places_[lhs];
            const place& right = places_[rhs];
            if (before(left.rank, right.rank))
                return true;
            return !before(right.rank, left.rank) && left.turn < right.turn;
        };
    }

    /// Moves the live children of `above` to the front and sorts them. Most are already in order.
    void sort_live(vertex& above, const any_queue_order& before) {
        kept_.clear();
        moved_.clear();
        dead_.clear();
        const auto begin = sorted_.begin() + above.first;
        for (auto child = begin; child != begin + above.children; ++child)
            (!vertices_[*child].live   ? dead_
             : vertices_[*child].moved ? moved_
                                       : kept_)
                .push_back(*child);
        // The last cycle may have used another order.
        if (!std::is_sorted(kept_.begin(), kept_.end(), turn(before)))
            detail::sort(kept_, turn(before));
        detail::sort(moved_, turn(before));
        const auto end = std::merge(kept_.begin(), kept_.end(), moved_.begin(), moved_.end(), begin,
                                    turn(before));
        std::copy(dead_.begin(), dead_.end(), end);
    }

    void move(const cluster_state<Traits>& cluster, std::uint32_t which,
              const any_queue_order& before) {
        vertex& queue_vertex = vertices_[which];
        if (!queue_vertex.left)
            return;
        const auto begin = sorted_.begin() + vertices_[queue_vertex.parent].next;
        const auto end = sorted_.begin() + vertices_[queue_vertex.parent].end;
        const auto from =
            *begin == which ? begin : std::lower_bound(begin, end, which, turn(before));
        MUSTER_ASSERT(from != end && *from == which, "siblings are sorted");
        update(cluster, which);
        const auto to = std::upper_bound(from + 1, end, which, turn(before));
        if (to != from + 1) {
            std::rotate(from, from + 1, to);
            return;
        }
        std::rotate(std::lower_bound(begin, from, which, turn(before)), from, from + 1);
    }

    /// The root is first; every vertex comes after its parent.
    detail::sequence<vertex> vertices_;
    detail::sequence<place> places_;
    detail::sequence<std::uint32_t> sorted_;
    detail::sequence<std::uint32_t> of_queue_;
    detail::sequence<std::uint32_t> of_line_;
    detail::sequence<queue_index> missing_;
    /// The next gang of each line.
    detail::sequence<next_gang<Traits::width>> next_;
    next_gang<Traits::width> nothing_;
    const fair_shares<Traits>* due_ = nullptr;
    detail::sequence<std::uint32_t> kept_;
    detail::sequence<std::uint32_t> moved_;
    detail::sequence<std::uint32_t> dead_;
    std::size_t lines_ = none;
    std::uint64_t epoch_ = 0;
    std::uint64_t capability_ = 0;
};

} // namespace v0_1
} // namespace muster
