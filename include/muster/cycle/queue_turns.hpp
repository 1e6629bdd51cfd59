// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/cycle/queue_rank.hpp>
#include <muster/model/state.hpp>
#include <muster/policy/queue_order_concept.hpp>

namespace muster::inline v0_1 {

/// Whose turn it is among lines of gangs, each of a queue or of none: from the root of the tree of
/// queues down, at each level the first child by the order of queues, then by key, below which
/// somebody is left. The gangs of an inner queue itself are a child of it, ranked by `rank_of_own`,
/// before the others of that rank; so are, among the roots, gangs without a queue, with priority 0
/// and nothing used.
///
/// Siblings stand in a heap, so that after a start only what is above the gang's queue is compared
/// anew: O(depth × (width + log siblings)).
template<class Traits>
class queue_turns {
public:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    void clear() noexcept { lines_ = none; }

    /// Knows where these lines stand in the tree. O(lines) when neither they nor queues changed
    /// since the last time, else O(queues · log queues). `queue_of(line)` for `lines` lines.
    template<class QueueOf>
    void arrange(const state<Traits>& known, std::size_t lines, const QueueOf& queue_of) {
        if (lines_ == lines && epoch_ == known.queue_epoch())
            return;
        lines_ = lines;
        epoch_ = known.queue_epoch();
        vertices_.assign(1, {});
        of_queue_.clear();
        of_line_.assign(lines, none);
        for (std::size_t line = 0; line < lines; ++line) {
            const std::optional<queue_index> queue = queue_of(line);
            vertex leaf;
            leaf.queue = queue;
            leaf.line = static_cast<std::uint32_t>(line);
            leaf.parent = queue ? vertex_of(known, *queue) : 0;
            of_line_[line] = static_cast<std::uint32_t>(vertices_.size());
            vertices_[leaf.parent].own = of_line_[line];
            vertices_.push_back(leaf);
        }
        sort_children(known);
    }

    /// Everybody's turn comes again: of those lines, by their ranks now, of which `live(line)`.
    /// `due` serves orders by fair share until the next time.
    /// O(queues × width).
    template<queue_order QueueOrder, class Live>
    void begin(const state<Traits>& known, const QueueOrder& before, const Live& live,
               const fair_shares<Traits>* due = nullptr) {
        due_ = due;
        for (vertex& each : vertices_) {
            each.place = none;
            each.live = 0;
        }
        // Children stand behind their parents.
        for (std::size_t at = vertices_.size(); at-- > 1;) {
            vertex& each = vertices_[at];
            if (each.line != none ? !live(each.line) : each.live == 0)
                continue;
            rank(known, each);
            vertex& above = vertices_[each.parent];
            put(above.first + above.live++, static_cast<std::uint32_t>(at));
        }
        for (const vertex& each : vertices_)
            for (std::uint32_t at = each.live / 2; at-- > 0;)
                sink(each, each.first + at, before);
    }

    /// The line whose turn it is; nothing when nobody is left. O(depth).
    [[nodiscard]] std::optional<std::uint32_t> first() const noexcept {
        const vertex* at = &vertices_.front();
        while (at->line == none) {
            if (at->live == 0)
                return std::nullopt;
            at = &vertices_[heap_[at->first]];
        }
        return at->line;
    }

    /// Nobody is left in the line.
    template<queue_order QueueOrder>
    void finish(std::uint32_t line, const QueueOrder& before) {
        for (std::uint32_t at = of_line_[line]; at != 0 && vertices_[at].live == 0;
             at = vertices_[at].parent)
            remove(at, before);
    }

    /// What the queue uses has changed.
    template<queue_order QueueOrder>
    void moved(const state<Traits>& known, queue_index queue, const QueueOrder& before) {
        std::optional<queue_index> lowest = queue;
        while (lowest && vertex_at(*lowest) == none)
            lowest = known[*lowest].parent;
        if (!lowest)
            return;
        const std::uint32_t lowest_at = vertex_at(*lowest);
        if (vertices_[lowest_at].own != none)
            move(known, vertices_[lowest_at].own, before);
        for (std::uint32_t at = lowest_at; at != 0; at = vertices_[at].parent)
            move(known, at, before);
    }

private:
    struct vertex {
        /// Of the queue, or, for a line, whose gangs are in it.
        std::optional<queue_index> queue;
        std::uint32_t parent = 0;
        std::uint32_t line = none;
        /// The child that is the line of the queue's own gangs.
        std::uint32_t own = none;
        /// Its children are at `first` and behind in the heaps: so many, of which so many are live.
        std::uint32_t first = 0;
        std::uint32_t children = 0;
        std::uint32_t live = 0;
        /// Among its siblings by key.
        std::uint32_t turn = 0;
        /// In its parent's heap.
        std::uint32_t place = none;
        queue_rank rank;
    };

    [[nodiscard]] std::uint32_t vertex_at(queue_index queue) const noexcept {
        return queue.value() < of_queue_.size() ? of_queue_[queue.value()] : none;
    }

    /// The queue's vertex, made if need be, and those above it.
    [[nodiscard]] std::uint32_t vertex_of(const state<Traits>& known, queue_index queue) {
        missing_.clear();
        std::uint32_t above = 0;
        for (std::optional<queue_index> at = queue; at; at = known[*at].parent) {
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

    void sort_children(const state<Traits>& known) {
        heap_.resize(vertices_.size() - 1);
        for (std::size_t at = 1; at < vertices_.size(); ++at)
            heap_[at - 1] = static_cast<std::uint32_t>(at);
        std::ranges::sort(heap_, [&](std::uint32_t lhs, std::uint32_t rhs) {
            const vertex& left = vertices_[lhs];
            const vertex& right = vertices_[rhs];
            if (left.parent != right.parent)
                return left.parent < right.parent;
            if (left.line != none || right.line != none)
                return left.line != none && right.line == none;
            return key_less<Traits>{}(known[*left.queue].key, known[*right.queue].key);
        });
        for (std::uint32_t at = 0; at < heap_.size(); ++at) {
            vertex& each = vertices_[heap_[at]];
            each.turn = at;
            vertex& above = vertices_[each.parent];
            if (above.children++ == 0)
                above.first = at;
        }
    }

    void rank(const state<Traits>& known, vertex& of) const {
        if (of.line == none)
            of.rank = rank_of(known, *of.queue, due_);
        else if (of.queue && vertices_[of.parent].children > 1)
            of.rank = rank_of_own(known, *of.queue, due_);
    }

    template<queue_order QueueOrder>
    void move(const state<Traits>& known, std::uint32_t which, const QueueOrder& before) {
        vertex& of = vertices_[which];
        if (of.place == none)
            return;
        rank(known, of);
        settle(vertices_[of.parent], of.place, before);
    }

    template<queue_order QueueOrder>
    void remove(std::uint32_t which, const QueueOrder& before) {
        vertex& of = vertices_[which];
        vertex& above = vertices_[of.parent];
        MUSTER_ASSERT(of.place != none, "only somebody in the heap leaves it");
        const std::uint32_t hole = std::exchange(of.place, none);
        const std::uint32_t last = above.first + --above.live;
        if (hole == last)
            return;
        put(hole, heap_[last]);
        settle(above, hole, before);
    }

    void put(std::uint32_t place, std::uint32_t which) noexcept {
        heap_[place] = which;
        vertices_[which].place = place;
    }

    template<queue_order QueueOrder>
    [[nodiscard]] bool goes_first(std::uint32_t lhs, std::uint32_t rhs,
                                  const QueueOrder& before) const {
        const vertex& left = vertices_[heap_[lhs]];
        const vertex& right = vertices_[heap_[rhs]];
        if (before(left.rank, right.rank))
            return true;
        return !before(right.rank, left.rank) && left.turn < right.turn;
    }

    void exchange(std::uint32_t lhs, std::uint32_t rhs) noexcept {
        const std::uint32_t which = heap_[lhs];
        put(lhs, heap_[rhs]);
        put(rhs, which);
    }

    template<queue_order QueueOrder>
    void settle(const vertex& above, std::uint32_t at, const QueueOrder& before) {
        while (at > above.first) {
            const std::uint32_t over = above.first + (at - above.first - 1) / 2;
            if (!goes_first(at, over, before))
                break;
            exchange(at, over);
            at = over;
        }
        sink(above, at, before);
    }

    template<queue_order QueueOrder>
    void sink(const vertex& above, std::uint32_t at, const QueueOrder& before) {
        const std::uint32_t end = above.first + above.live;
        for (;;) {
            std::uint32_t best = at;
            const std::uint32_t under = above.first + 2 * (at - above.first) + 1;
            for (std::uint32_t child = under; child < end && child < under + 2; ++child)
                if (goes_first(child, best, before))
                    best = child;
            if (best == at)
                return;
            exchange(at, best);
            at = best;
        }
    }

    /// The root first; every vertex stands behind its parent.
    std::vector<vertex> vertices_;
    std::vector<std::uint32_t> heap_;
    std::vector<std::uint32_t> of_queue_;
    std::vector<std::uint32_t> of_line_;
    std::vector<queue_index> missing_;
    const fair_shares<Traits>* due_ = nullptr;
    std::size_t lines_ = none;
    std::uint64_t epoch_ = 0;
};

} // namespace muster::inline v0_1
