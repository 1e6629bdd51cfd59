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

/// Nodes with their free amounts, in ascending order of (rank, label): finds those that a request
/// fits, the first in O(height) where rows that fit are not rare. A B+tree whose blocks know, per
/// threshold vector and per column, which of their children have a row that qualifies, and what
/// the children have at most.
///
/// The rank is the caller's, a number made from the free amounts; labels are unique. Columns are
/// yes-or-no properties of nodes that a query may ask for. Thresholds are request vectors that are
/// answered without looking at amounts; they are learned from what is asked and never change an
/// answer. The same calls in the same order do the same.
template<std::size_t Width, std::size_t Fanout = 64, std::size_t Thresholds = 64>
class capacity_index {
    static_assert(Fanout >= 2 && Fanout <= 64 && Thresholds >= 2 && Thresholds <= 64);

    using tree_type = detail::capacity_tree<Width, Fanout, Thresholds>;

public:
    static constexpr std::size_t width = Width;
    /// Asks for no column.
    static constexpr std::size_t no_column = std::numeric_limits<std::size_t>::max();

    /// A request as prepared for the index that made it. It stays valid: one that was made under
    /// other thresholds is rebuilt when it is asked.
    using query = detail::threshold_query<Width>;
    using row = detail::capacity_row<Width>;

    // ---- rows ----------------------------------------------------------------------------------

    [[nodiscard]] std::size_t size() const noexcept { return tree_.rows; }
    [[nodiscard]] bool contains(node_index node) const noexcept {
        return tree_.contains(node.value());
    }
    /// Of a node that the index has; valid until rows change.
    [[nodiscard]] const resources<Width>& free(node_index node) const noexcept {
        MUSTER_ASSERT(contains(node), "a node that the index does not have");
        return tree_.leaves[tree_.leaf_of(node.value())].rows[tree_.slot_of(node.value())].free;
    }
    [[nodiscard]] std::int64_t rank(node_index node) const noexcept {
        MUSTER_ASSERT(contains(node), "a node that the index does not have");
        return tree_.leaves[tree_.leaf_of(node.value())].rank[tree_.slot_of(node.value())];
    }

    /// Adds a node that the index does not have, with no column set. O(log nodes).
    void insert(node_index node, std::int64_t rank, std::uint64_t label,
                const resources<Width>& free) {
        MUSTER_ASSERT(!contains(node), "a node that the index has already");
        cover(node.value() + 1);
        const detail::capacity_key key{rank, label};
        tree_.put(tree_.find(key), static_cast<std::uint32_t>(node.value()), key, free,
                  thresholds_.sketch(free));
        ++tree_.rows;
    }
    /// Removes a node with all that its columns say. O(log nodes).
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
    /// Changes what is free on a node, and its rank with it. O(log nodes).
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
    /// Asks the memory ahead for the row of a node that is to be updated soon.
    void prefetch(node_index node) const noexcept {
        if (contains(node))
            tree_.prefetch_row(node.value());
    }
    /// Removes all rows; columns and thresholds stay.
    void clear() { tree_.clear(); }
    /// Replaces all rows, which come in any order. Nodes that were there keep their columns.
    /// O(rows · log rows).
    void build(std::span<const row> rows) { detail::load_rows(tree_, thresholds_, rows); }

    // ---- columns -------------------------------------------------------------------------------

    /// A column that is set for the nodes of the index that `holds(node)`. Numbers of removed
    /// columns are used again. O(nodes).
    template<class Holds>
    [[nodiscard]] std::size_t add_column(const Holds& holds) {
        const std::size_t column = tree_.columns.add();
        for (std::size_t node = 0; node < tree_.places.size(); ++node)
            if (tree_.contains(node) && holds(node_index{node}))
                set(column, node_index{node}, true);
        return column;
    }
    /// Sets or clears a column of a node that the index has. O(1), seldom O(height).
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
    /// Whether the column is set for a node that the index has.
    [[nodiscard]] bool test(std::size_t column, node_index node) const noexcept {
        MUSTER_ASSERT(tree_.columns.contains(column), "a column that does not exist");
        MUSTER_ASSERT(contains(node), "a node that the index does not have");
        return ((tree_.columns.nodes.of(node.value())[column / 64] >> (column % 64)) & 1) != 0;
    }
    /// O(nodes).
    void remove_column(std::size_t column) {
        for (std::size_t node = 0; node < tree_.places.size(); ++node)
            if (tree_.contains(node))
                set(column, node_index{node}, false);
        tree_.columns.remove(column);
    }

    // ---- queries -------------------------------------------------------------------------------

    /// Makes a query. `from` saves looking at rows of lower rank: no node with nothing less than 0
    /// that the request fits may rank below it, which is so of the rank of the request itself
    /// where ranks rise with the amounts. O(width · log thresholds).
    [[nodiscard]] query prepare(const resources<Width>& request,
                                std::int64_t from = detail::lowest_key.rank) const noexcept {
        return thresholds_.prepare(request, from);
    }
    /// Makes a query anew that was made under other thresholds. Asking does so by itself.
    void refresh(query& asked) const noexcept {
        if (asked.generation != thresholds_.generation())
            asked = thresholds_.prepare(asked.request, asked.from);
    }

    /// Visits the nodes that the request fits, and for which the column holds unless it is
    /// `no_column`, in ascending order of (rank, label):
    /// `visit(node_index, const resources<Width>& free, std::int64_t rank)` returns whether it
    /// wants more. The index may be asked, but not changed, meanwhile. False when it was stopped.
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
        // A visitor may ask in turn; the walks that it is called from go by the old thresholds.
        if (learns_ && visiting_ == 0 && learning_.due(size())) [[unlikely]]
            relearn();
        return finished;
    }

    // ---- thresholds ----------------------------------------------------------------------------

    /// Replaces the thresholds by these requests, as many as there is room for. O(nodes).
    void learn(std::span<const resources<Width>> requests) {
        MUSTER_ASSERT(visiting_ == 0, "thresholds must stay while rows are visited");
        thresholds_.assign(requests);
        ++learned_;
        tree_.sketch_again([&](const resources<Width>& free) { return thresholds_.sketch(free); });
    }
    /// Whether queries replace the thresholds, in O(nodes), when what they looked at in vain would
    /// have paid for it: so from the start.
    void set_learning(bool on) noexcept { learns_ = on; }
    [[nodiscard]] bool learning_due() const noexcept { return learning_.due(size()); }
    /// Learns from what was asked since it was last done. O(nodes) when that is worth it.
    void relearn() {
        const auto chosen = learning_.choose(thresholds_);
        if (!chosen.empty())
            learn(chosen);
    }
    /// Times that thresholds were replaced.
    [[nodiscard]] std::uint64_t learned() const noexcept { return learned_; }
    [[nodiscard]] std::size_t threshold_count() const noexcept { return thresholds_.size(); }

    // ---- figures -------------------------------------------------------------------------------

    /// What all queries so far had to look at.
    [[nodiscard]] const detail::search_effort& effort() const noexcept { return effort_; }
    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        return sizeof(*this) + tree_.memory_bytes() + learning_.memory_bytes();
    }
    /// Whether all that blocks tell of their rows is true. For tests. O(nodes · thresholds).
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
