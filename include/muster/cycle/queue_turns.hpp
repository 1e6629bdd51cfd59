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

/// Whose turn it is among lines of gangs, each of a queue or of none: from the root of the tree of
/// queues down, at each level the first child by the order of queues, then by key, below which some
/// gang is left. The gangs of an inner queue itself are a child of it, ranked by `rank_of_own`,
/// before the others of that rank; so are, among the roots, gangs without a queue, with priority 0
/// and nothing used.
///
/// Siblings are kept sorted from cycle to cycle, so that after a start only what is above the
/// gang's queue is compared again: O(depth × (width + log siblings)), and 4 bytes moved for each
/// sibling that it falls behind.
template<class Traits>
class queue_turns {
public:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    void clear() noexcept { lines_ = none; }

    /// Knows the places of these lines in the tree. O(lines) when neither they nor queues changed
    /// since the last time, else O(queues · log queues). `queue_of(line)` for `lines` lines.
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

    /// The line's next gang, which counts from the next `begin` or `moved` on.
    void set_next(std::size_t line, const next_gang<Traits::width>& gang) noexcept {
        next_[line] = gang;
    }

    /// Starts a cycle: all lines for which `live(line)` have their turns again, by their ranks now.
    /// `due` serves orders by fair share until the next time.
    /// O(queues × width), and O(n · log siblings) for the n whose use changed since the last time.
    template<class Live>
    void begin(const cluster_state<Traits>& cluster, const any_queue_order& before,
               const Live& live, const fair_shares<Traits>* due = nullptr) {
        // What is due may be another for every queue whose use is the same.
        const bool all = due || due_ || capability_ != cluster.capability_epoch();
        capability_ = cluster.capability_epoch();
        due_ = due;
        for (vertex& each : vertices_)
            each.next = each.end = each.first;
        // Children come after their parents.
        for (std::size_t at = vertices_.size(); at-- > 0;) {
            vertex& each = vertices_[at];
            if (each.line == none)
                sort_live(each, before);
            each.ranked = each.ranked && !all;
            const bool was_live = each.live;
            each.live = each.left = each.line != none ? live(each.line) : each.next < each.end;
            each.moved =
                each.live && (update(cluster, static_cast<std::uint32_t>(at)) || !was_live);
            vertices_[each.parent].end += each.live && at != 0 ? 1U : 0U;
        }
    }

    /// The line whose turn it is; nothing if no gang is left. O(depth).
    [[nodiscard]] std::optional<std::uint32_t> first() const noexcept {
        const vertex* at = &vertices_.front();
        while (at->line == none) {
            if (at->next == at->end)
                return std::nullopt;
            at = &vertices_[sorted_[at->next]];
        }
        return at->line;
    }

    /// No gang is left in the line whose turn it was.
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

    /// What the queue uses has changed.
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
        /// Of the queue, or, for a line, whose gangs are in it.
        std::optional<queue_index> queue;
        std::uint32_t parent = 0;
        std::uint32_t line = none;
        /// The child that is the line of the queue's own gangs.
        std::uint32_t own = none;
        /// Its children are at `first` and behind in `sorted_`, so many; of those that are live,
        /// the ones that are left stand from `next` to `end`, sorted.
        std::uint32_t first = 0;
        std::uint32_t children = 0;
        std::uint32_t next = 0;
        std::uint32_t end = 0;
        /// Some gang was below it when the cycle began (`live`), and some gang is left now
        /// (`left`).
        bool live = false;
        bool left = false;
        /// It does not stand where it stood when its siblings were sorted last.
        bool moved = false;
        /// The rank was made.
        bool ranked = false;
    };
    /// By what a vertex is compared, apart from what is looked at all the time.
    struct place {
        queue_rank rank;
        /// From which the rank was made.
        resources<Traits::width> used;
        next_gang<Traits::width> next;
        /// Among its siblings by key.
        std::uint32_t turn = 0;
    };

    [[nodiscard]] std::uint32_t vertex_at(queue_index queue) const noexcept {
        return queue.value() < of_queue_.size() ? of_queue_[queue.value()] : none;
    }

    /// The queue's vertex, made if need be, and those above it.
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
            vertex& each = vertices_[sorted_[at]];
            places_[sorted_[at]].turn = at;
            vertex& above = vertices_[each.parent];
            if (above.children++ == 0)
                above.first = at;
        }
    }

    /// Brings the rank up to date; false when it was.
    bool update(const cluster_state<Traits>& cluster, std::uint32_t which) {
        vertex& of = vertices_[which];
        place& at = places_[which];
        if (!of.queue || (of.line != none && vertices_[of.parent].children == 1))
            return false;
        const auto& queues = cluster.accounts().queues();
        const auto used = of.line == none ? queues.used(*of.queue) : queues.own(*of.queue);
        const auto& next = next_below(which);
        if (of.ranked && used == at.used && next == at.next)
            return false;
        of.ranked = true;
        at.used = used;
        at.next = next;
        at.rank = rank_with(cluster, *of.queue, used, due_, next);
        return true;
    }

    /// Of the line that is first below; children are sorted already.
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

    /// Sorts the live children, `end - first` of them and mostly in order already, to the front.
    void sort_live(vertex& of, const any_queue_order& before) {
        kept_.clear();
        moved_.clear();
        dead_.clear();
        const auto begin = sorted_.begin() + of.first;
        for (auto each = begin; each != begin + of.children; ++each)
            (!vertices_[*each].live   ? dead_
             : vertices_[*each].moved ? moved_
                                      : kept_)
                .push_back(*each);
        // Another order may have been asked for the last time.
        if (!std::is_sorted(kept_.begin(), kept_.end(), turn(before)))
            detail::sort(kept_, turn(before));
        detail::sort(moved_, turn(before));
        const auto end = std::merge(kept_.begin(), kept_.end(), moved_.begin(), moved_.end(), begin,
                                    turn(before));
        std::copy(dead_.begin(), dead_.end(), end);
    }

    void move(const cluster_state<Traits>& cluster, std::uint32_t which,
              const any_queue_order& before) {
        vertex& of = vertices_[which];
        if (!of.left)
            return;
        const auto begin = sorted_.begin() + vertices_[of.parent].next;
        const auto end = sorted_.begin() + vertices_[of.parent].end;
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

    /// The root first; every vertex comes after its parent.
    detail::sequence<vertex> vertices_;
    detail::sequence<place> places_;
    detail::sequence<std::uint32_t> sorted_;
    detail::sequence<std::uint32_t> of_queue_;
    detail::sequence<std::uint32_t> of_line_;
    detail::sequence<queue_index> missing_;
    /// Per line.
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
