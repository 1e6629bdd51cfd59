// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/index/capacity_check.hpp>
#include <muster/index/capacity_load.hpp>
#include <muster/index/capacity_search.hpp>
#include <muster/index/capacity_tree.hpp>
#include <muster/index/threshold_learning.hpp>
#include <muster/index/thresholds.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// Nodes with their free amounts, in ascending order of (rank, label). Finds the nodes that a
/// request fits, the first one in O(height) unless such rows are rare. It is a B+tree: each block
/// stores per threshold and per column which of its children have a row that qualifies, and an
/// upper bound on the amounts in each child.
///
/// The caller computes the rank from the free amounts; labels are unique. Columns are yes-or-no
/// properties of nodes that a query may ask for. Thresholds are request vectors that are answered
/// without reading amounts. They are learned from the queries and never change an answer. The same
/// calls in the same order have the same effect.
template<std::size_t Width, std::size_t Fanout = 64, std::size_t Thresholds = 64>
class capacity_index {
    static_assert(Fanout >= 2 && Fanout <= 64 && Thresholds >= 2 && Thresholds <= 64);

    using tree_type = detail::capacity_tree<Width, Fanout, Thresholds>;

public:
    static constexpr std::size_t width = Width;
    /// Passed to a query that needs no column.
    static constexpr std::size_t no_column = std::numeric_limits<std::size_t>::max();

    /// A request, prepared by the index that it is used with. It stays valid: if the thresholds
    /// have changed since, the index prepares it again when it is used.
    using query = detail::threshold_query<Width>;
    using row = detail::capacity_row<Width>;

    // ---- rows ----------------------------------------------------------------------------------

    [[nodiscard]] std::size_t size() const noexcept { return tree_.rows; }
    [[nodiscard]] bool contains(node_index node) const noexcept {
        return tree_.contains(node.value());
    }
    /// The free amounts of a node, which must be in the index. The reference is valid until rows
    /// change.
    [[nodiscard]] const resources<Width>& free(node_index node) const noexcept {
        MUSTER_ASSERT(contains(node), "a node that the index does not have");
        return tree_.leaves[tree_.leaf_of(node.value())].rows[tree_.slot_of(node.value())].free;
    }
    [[nodiscard]] std::int64_t rank(node_index node) const noexcept {
        MUSTER_ASSERT(contains(node), "a node that the index does not have");
        return tree_.leaves[tree_.leaf_of(node.value())].rank[tree_.slot_of(node.value())];
    }

    /// Adds a node, which must not be in the index, with no column set. O(log nodes).
    void insert(node_index node, std::int64_t rank, std::uint64_t label,
                const resources<Width>& free) {
        MUSTER_ASSERT(!contains(node), "a node that the index has already");
        cover(node.value() + 1);
        const detail::capacity_key key{rank, label};
        tree_.put(tree_.find(key), static_cast<std::uint32_t>(node.value()), key, free,
                  thresholds_.sketch(free));
        ++tree_.rows;
    }
    /// Removes a node and clears its columns. O(log nodes).
    void erase(node_index node) {
        MUSTER_ASSERT(contains(node), "a node that the index does not have");
        const std::uint32_t leaf = tree_.leaf_of(node.value());
        tree_.take(leaf, tree_.slot_of(node.value()));
        tree_.places[node.value()] = detail::no_place;
        if (tree_.columns.active())
            tree_.columns.nodes.clear_words(node.value());
        --tree_.rows;
        tree_.relieve(leaf);
    }
    /// Changes the free amounts of a node and its rank. O(log nodes).
    void update(node_index node, std::int64_t rank, const resources<Width>& free) {
        MUSTER_ASSERT(contains(node), "a node that the index does not have");
        const std::uint32_t at = tree_.leaf_of(node.value());
        const std::size_t slot = tree_.slot_of(node.value());
        const auto& leaf = tree_.leaves[at];
        const detail::capacity_key key{rank, leaf.rows[slot].label};
        const std::uint64_t sketch = thresholds_.sketch(free);
        if (leaf.covers(key)) {
            tree_.change(at, slot, rank, free, sketch);
            return;
        }
        const std::uint32_t to = tree_.find(key);
        tree_.prefetch_leaf(to);
        tree_.take(at, slot);
        tree_.put(to, static_cast<std::uint32_t>(node.value()), key, free, sketch);
        tree_.relieve(at);
    }
    /// Prefetches the row of a node that will be updated soon.
    void prefetch(node_index node) const noexcept {
        if (contains(node))
            tree_.prefetch_row(node.value());
    }
    /// Removes all rows. Columns and thresholds stay.
    void clear() { tree_.clear(); }
    /// Replaces all rows, given in any order. Nodes that were in the index keep their columns.
    /// O(rows · log rows).
    void build(std::span<const row> rows) { detail::load_rows(tree_, thresholds_, rows); }

    // ---- columns -------------------------------------------------------------------------------

    /// Adds a column that is set for the nodes for which `holds(node)` is true. The numbers of
    /// removed columns are reused. O(nodes).
    template<class Holds>
    [[nodiscard]] std::size_t add_column(const Holds& holds) {
        const std::size_t column = tree_.columns.add();
        for (std::size_t node = 0; node < tree_.places.size(); ++node)
            if (tree_.contains(node) && holds(node_index{node}))
                set(column, node_index{node}, true);
        return column;
    }
    /// Sets or clears a column of a node, which must be in the index. O(1), rarely O(height).
    void set(std::size_t column, node_index node, bool holds) {
        MUSTER_ASSERT(tree_.columns.contains(column), "a column that does not exist");
        MUSTER_ASSERT(contains(node), "a node that the index does not have");
        std::uint64_t& word = tree_.columns.nodes.of(node.value())[column / 64];
        if ((((word >> (column % 64)) & 1) != 0) == holds)
            return;
        word = detail::with_bit(word, column % 64, holds);
        const std::uint32_t leaf = tree_.leaf_of(node.value());
        const std::size_t slot = tree_.slot_of(node.value());
        if (holds)
            tree_.raise_column(leaf, slot, column);
        else
            tree_.lower_column(leaf, slot, column);
    }
    /// Returns whether the column is set for a node, which must be in the index.
    [[nodiscard]] bool test(std::size_t column, node_index node) const noexcept {
        MUSTER_ASSERT(tree_.columns.contains(column), "a column that does not exist");
        MUSTER_ASSERT(contains(node), "a node that the index does not have");
        return ((tree_.columns.nodes.of(node.value())[column / 64] >> (column % 64)) & 1) != 0;
    }
    /// Removes a column. O(nodes).
    void remove_column(std::size_t column) {
        for (std::size_t node = 0; node < tree_.places.size(); ++node)
            if (tree_.contains(node))
                set(column, node_index{node}, false);
        tree_.columns.remove(column);
    }

    // ---- queries -------------------------------------------------------------------------------

    /// Prepares a query. The query skips all rows of a rank below `from`. Precondition: no node
    /// that the request fits, and that is short of nothing, has a rank below `from`. If ranks rise
    /// with the free amounts, the rank of the request itself meets this. O(width · log thresholds).
    [[nodiscard]] query prepare(const resources<Width>& request,
                                std::int64_t from = detail::lowest_key.rank) const noexcept {
        return thresholds_.prepare(request, from);
    }
    /// Prepares a query again if the thresholds have changed since. `for_each_fitting` does this by
    /// itself.
    void refresh(query& asked) const noexcept {
        if (asked.generation != thresholds_.generation())
            asked = thresholds_.prepare(asked.request, asked.from);
    }

    /// Visits the nodes that the request fits and, unless `column` is `no_column`, for which the
    /// column is set, in ascending order of (rank, label). `visit(node_index, const
    /// resources<Width>& free, std::int64_t rank)` returns false to stop. It may query the index
    /// but not change it. Returns false if the visit was stopped.
    template<class Visit>
    bool for_each_fitting(query& asked, std::size_t column, Visit&& visit) {
        MUSTER_ASSERT(column == no_column || tree_.columns.contains(column),
                      "a column that does not exist");
        refresh(asked);
        detail::capacity_search search(tree_, asked, column, visit);
        ++visiting_;
        const bool finished = search.run();
        --visiting_;
        learning_.note(asked, search.effort());
        effort_.leaves += search.effort().leaves;
        effort_.leaves_in_vain += search.effort().leaves_in_vain;
        effort_.rows_in_vain += search.effort().rows_in_vain;
        // A visitor may start another query. The outer walks still use the old thresholds, so
        // thresholds change only after the outermost walk.
        if (learns_ && visiting_ == 0 && learning_.due(size())) [[unlikely]]
            relearn();
        return finished;
    }

    // ---- thresholds ----------------------------------------------------------------------------

    /// Replaces the thresholds by these requests, as far as there is room for them. O(nodes).
    void learn(std::span<const resources<Width>> requests) {
        MUSTER_ASSERT(visiting_ == 0, "thresholds must stay while rows are visited");
        thresholds_.assign(requests);
        ++learned_;
        tree_.sketch_again([&](const resources<Width>& free) { return thresholds_.sketch(free); });
    }
    /// Sets whether a query may replace the thresholds, in O(nodes), once the wasted work of
    /// queries would have paid for it. On by default.
    void set_learning(bool on) noexcept { learns_ = on; }
    [[nodiscard]] bool learning_due() const noexcept { return learning_.due(size()); }
    /// Chooses thresholds from the queries since the last time, and replaces the thresholds if that
    /// helps: O(nodes).
    void relearn() {
        const auto chosen = learning_.choose(thresholds_);
        if (!chosen.empty())
            learn(chosen);
    }
    /// The number of times that thresholds were replaced.
    [[nodiscard]] std::uint64_t learned() const noexcept { return learned_; }
    [[nodiscard]] std::size_t threshold_count() const noexcept { return thresholds_.size(); }

    // ---- figures -------------------------------------------------------------------------------

    /// The work of all queries so far.
    [[nodiscard]] const detail::search_effort& effort() const noexcept { return effort_; }
    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        return sizeof(*this) + tree_.memory_bytes() + learning_.memory_bytes();
    }
    /// Returns whether everything that blocks store about their rows is true. For tests. O(nodes ·
    /// thresholds).
    [[nodiscard]] bool consistent() const { return detail::consistent(tree_, thresholds_); }

private:
    void cover(std::size_t nodes) {
        if (tree_.places.size() < nodes)
            tree_.places.resize(nodes, detail::no_place);
        tree_.columns.nodes.cover(nodes);
    }

    tree_type tree_;
    detail::threshold_set<Width, Thresholds> thresholds_;
    detail::threshold_learning<Width, Thresholds> learning_;
    detail::search_effort effort_;
    std::uint64_t learned_ = 0;
    std::uint32_t visiting_ = 0;
    bool learns_ = true;
};

} // namespace v0_1
} // namespace muster
