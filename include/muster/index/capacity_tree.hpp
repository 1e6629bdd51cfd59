// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <muster/base/assert.hpp>
#include <muster/base/sequence.hpp>
#include <muster/index/bit_slices.hpp>
#include <muster/index/block_pool.hpp>
#include <muster/index/capacity_block.hpp>
#include <muster/index/capacity_key.hpp>
#include <muster/index/capacity_leaf.hpp>
#include <muster/index/node_columns.hpp>
#include <muster/index/prefetch.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// The blocks of the capacity index. Splits and merges them, and keeps up to date what each block
/// stores about the rows below it. There is a root leaf even if there are no rows.
template<std::size_t Width, std::size_t Fanout, std::size_t Thresholds>
class capacity_tree {
public:
    using leaf_type = capacity_leaf<Width, Fanout, Thresholds>;
    using block_type = capacity_block<Width, Fanout, Thresholds>;

    capacity_tree() { clear(); }

    block_pool<leaf_type> leaves;
    block_pool<block_type> blocks;
    node_columns columns;
    /// The number of a leaf if the height is 0, otherwise of a block.
    std::uint32_t root = 0;
    std::uint32_t height = 0;
    /// Per node: the number of its leaf times the fan-out, plus its slot.
    detail::sequence<std::uint32_t> places;
    std::size_t rows = 0;
    /// The number of rows with a negative amount of some kind.
    std::size_t short_rows = 0;
    /// The number of children so far that were visited because they might have a row that fits, and
    /// had none.
    std::uint64_t looks_in_vain = 0;

    void clear() {
        leaves.clear();
        blocks.clear();
        places.clear();
        columns.leaves.forget_owners();
        columns.blocks.forget_owners();
        columns.nodes.forget_owners();
        rows = 0;
        short_rows = 0;
        height = 0;
        root = take_leaf();
    }

    [[nodiscard]] bool contains(std::size_t node) const noexcept {
        return node < places.size() && places[node] != no_place;
    }
    [[nodiscard]] std::uint32_t leaf_of(std::size_t node) const noexcept {
        return places[node] / static_cast<std::uint32_t>(Fanout);
    }
    [[nodiscard]] std::size_t slot_of(std::size_t node) const noexcept {
        return places[node] % Fanout;
    }

    /// Returns the leaf whose interval contains the key. O(height).
    [[nodiscard]] std::uint32_t find(const capacity_key& key) const noexcept {
        std::uint32_t at = root;
        for (std::uint32_t level = height; level > 0; --level) {
            const block_type& block = blocks[at];
            at = block.child[block.find(key)];
        }
        return at;
    }

    /// Prefetches the fields of a leaf that adding a row writes.
    void prefetch_leaf(std::uint32_t leaf) const noexcept {
        prefetch_to_write(&leaves[leaf].used);
        prefetch_to_write(&leaves[leaf].bound);
    }
    /// Prefetches what changing the row writes.
    void prefetch_row(std::size_t node) const noexcept {
        const leaf_type& leaf = leaves[leaf_of(node)];
        const std::size_t slot = slot_of(node);
        prefetch_to_write(&leaf.used);
        prefetch_to_write(&leaf.bound);
        prefetch_to_write(&leaf.sketch[slot]);
        prefetch_to_write(&leaf.rows[slot]);
    }
    /// Prefetches the sketches of a leaf, which a search of the leaf reads first.
    void prefetch_sketches(std::uint32_t leaf) const noexcept {
        for (std::size_t slot = 0; slot < Fanout; slot += 8)
            prefetch_to_read(&leaves[leaf].sketch[slot]);
    }

    /// Adds a row to the leaf whose interval contains its key. Splits the leaf if it is full.
    void put(std::uint32_t at, std::uint32_t node, const capacity_key& key,
             const resources<Width>& free, std::uint64_t sketch) {
        if (leaves[at].used == leaf_type::all_slots)
            at = split(at, key);
        leaf_type& leaf = leaves[at];
        const auto before = leaf.satisfied;
        const bool was_empty = leaf.used == 0;
        const auto slot = static_cast<std::size_t>(std::countr_zero(~leaf.used));
        leaf.put(slot, key, free, node, sketch);
        places[node] = place(at, slot);
        short_rows += any_short(free) ? 1U : 0U;
        const bool raised = raise_to(leaf.bound, free);
        if (raised || was_empty || leaf.satisfied != before)
            tell(at, before, raised);
        if (columns.active())
            columns.for_each_of(node, [&](std::size_t column) { raise_column(at, slot, column); });
    }

    /// Removes a row from its leaf. The leaf may become underfull or empty; call `relieve` later.
    void take(std::uint32_t at, std::size_t slot) noexcept {
        leaf_type& leaf = leaves[at];
        const auto before = leaf.satisfied;
        leaf.take(slot);
        short_rows -= any_short(leaf.rows[slot].free) ? 1U : 0U;
        const std::uint32_t node = leaf.rows[slot].node;
        if (leaf.used == 0 || leaf.satisfied != before)
            tell(at, before, false);
        if (columns.active())
            columns.for_each_of(node, [&](std::size_t column) { lower_column(at, slot, column); });
    }

    /// Changes a row whose key stays in its leaf's interval.
    void change(std::uint32_t at, std::size_t slot, std::int64_t rank, const resources<Width>& free,
                std::uint64_t sketch) noexcept {
        leaf_type& leaf = leaves[at];
        const auto before = leaf.satisfied;
        short_rows -= any_short(leaf.rows[slot].free) ? 1U : 0U;
        short_rows += any_short(free) ? 1U : 0U;
        leaf.change(slot, rank, free, sketch);
        const bool raised = raise_to(leaf.bound, free);
        if (raised || leaf.satisfied != before)
            tell(at, before, raised);
    }

    /// Sets a column of a row that did not have it.
    void raise_column(std::uint32_t at, std::size_t slot, std::size_t column) noexcept {
        std::uint64_t* word = columns.leaves.of(at) + column;
        std::uint64_t before = *word;
        *word |= std::uint64_t{1} << slot;
        std::uint32_t child = at;
        std::uint32_t* hint = &leaves[at].place;
        for (std::uint32_t up = leaves[at].parent; before == 0 && up != no_place;) {
            block_type& parent = blocks[up];
            word = columns.blocks.of(up) + column;
            before = *word;
            *word |= std::uint64_t{1} << parent.find(child, *hint);
            child = up;
            hint = &parent.place;
            up = parent.parent;
        }
    }
    /// Clears a column of a row.
    void lower_column(std::uint32_t at, std::size_t slot, std::size_t column) noexcept {
        std::uint64_t* word = columns.leaves.of(at) + column;
        *word &= ~(std::uint64_t{1} << slot);
        std::uint32_t child = at;
        std::uint32_t* hint = &leaves[at].place;
        for (std::uint32_t up = leaves[at].parent; *word == 0 && up != no_place;) {
            block_type& parent = blocks[up];
            word = columns.blocks.of(up) + column;
            *word &= ~(std::uint64_t{1} << parent.find(child, *hint));
            child = up;
            hint = &parent.place;
            up = parent.parent;
        }
    }

    /// Merges the leaf with a neighbour if both have few rows.
    void relieve(std::uint32_t at) {
        leaf_type& leaf = leaves[at];
        if (leaf.parent == no_place || leaf.count() > low || leaf.count() % look_every != 0)
            return;
        block_type& parent = blocks[leaf.parent];
        const std::size_t where = parent.find(at, leaf.place);
        const auto rows_of = [&](std::size_t child) { return leaves[parent.child[child]].count(); };
        if (where + 1 < parent.count && leaf.count() + rows_of(where + 1) <= merged)
            merge(leaf.parent, where);
        else if (where > 0 && leaf.count() + rows_of(where - 1) <= merged)
            merge(leaf.parent, where - 1);
    }

    /// Recomputes the sketches of all rows. O(rows).
    template<class Sketch>
    void sketch_again(const Sketch& sketch) {
        if (height == 0)
            sketch_leaf(root, sketch);
        else
            sketch_block(root, sketch);
    }

    [[nodiscard]] std::uint32_t take_leaf() {
        const std::uint32_t taken = leaves.take();
        MUSTER_ASSERT(taken < no_place / Fanout, "more rows than the index has numbers for");
        columns.leaves.cover(leaves.size());
        return taken;
    }
    [[nodiscard]] std::uint32_t take_block() {
        const std::uint32_t taken = blocks.take();
        columns.blocks.cover(blocks.size());
        return taken;
    }

    [[nodiscard]] capacity_summary<Width> summary(std::uint32_t at,
                                                  std::uint32_t level) const noexcept {
        if (level > 0)
            return blocks[at].summary();
        const leaf_type& leaf = leaves[at];
        return {leaf.satisfied, leaf.used != 0, leaf.bound};
    }
    /// Makes `parent`, a block at the level, the parent of a block or leaf.
    void adopt(std::uint32_t child, std::uint32_t parent, std::uint32_t level) noexcept {
        if (level > 1)
            blocks[child].parent = parent;
        else
            leaves[child].parent = parent;
    }
    [[nodiscard]] static std::uint32_t place(std::uint32_t leaf, std::size_t slot) noexcept {
        return leaf * static_cast<std::uint32_t>(Fanout) + static_cast<std::uint32_t>(slot);
    }
    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        return leaves.memory_bytes() + blocks.memory_bytes() + columns.memory_bytes() +
               places.capacity() * sizeof(places[0]);
    }

private:
    /// A leaf or block with at most `low` entries is merged if the result has at most `merged`.
    /// That is far enough from full that the result does not split again at once.
    static constexpr std::size_t low = Fanout * 3 / 8;
    static constexpr std::size_t merged = Fanout * 3 / 4;
    /// Neighbours are checked only if the number of rows is a multiple of this, since the check has
    /// a cost.
    static constexpr std::size_t look_every = Fanout >= 32 ? 8 : 1;

    /// Updates the blocks above after a change in a leaf: the satisfied thresholds are no longer
    /// `before`, the bound was raised, or the leaf got its first row or lost its last.
    void tell(std::uint32_t at, std::uint64_t before, bool raised) noexcept {
        leaf_type& leaf = leaves[at];
        std::uint64_t after = leaf.satisfied;
        bool occupied = leaf.used != 0;
        const resources<Width>* bound = &leaf.bound;
        std::uint32_t child = at;
        std::uint32_t* hint = &leaf.place;
        for (std::uint32_t up = leaf.parent; up != no_place;) {
            block_type& parent = blocks[up];
            const std::size_t where = parent.find(child, *hint);
            const std::uint64_t parent_before = parent.slices.any;
            const bool was_occupied = parent.occupied != 0;
            parent.slices.change(where, before, after);
            parent.occupied = with_bit(parent.occupied, where, occupied);
            if (raised) {
                raise_to(parent.bounds[where], *bound);
                raised = raise_to(parent.bound, *bound);
            }
            before = parent_before;
            after = parent.slices.any;
            occupied = parent.occupied != 0;
            if (!raised && before == after && occupied == was_occupied)
                return;
            bound = &parent.bound;
            child = up;
            hint = &parent.place;
            up = parent.parent;
        }
    }

    /// Makes room in the parent of `child` and returns the parent, which is at the level. Adds a
    /// root or splits the parent if necessary.
    std::uint32_t parent_with_room(std::uint32_t child, std::uint32_t level) {
        const auto parent_of = [&] {
            return level > 1 ? blocks[child].parent : leaves[child].parent;
        };
        if (parent_of() == no_place) {
            const std::uint32_t above = take_block();
            blocks[above].level = level;
            blocks[above].open(0, child, lowest_key, summary(child, level - 1));
            columns.for_each([&](std::size_t column) {
                columns.blocks.of(above)[column] = word_of(child, level - 1, column) != 0 ? 1U : 0U;
            });
            adopt(child, above, level);
            root = above;
            height = level;
        } else if (blocks[parent_of()].full()) {
            split_block(parent_of());
        }
        return parent_of();
    }

    /// Splits a full leaf and returns the half whose interval contains the key.
    std::uint32_t split(std::uint32_t at, const capacity_key& key) {
        const std::uint32_t up = parent_with_room(at, 1);
        const std::uint32_t beside = take_leaf();
        leaf_type& left = leaves[at];
        leaf_type& right = leaves[beside];
        capacity_key middle;
        const std::uint64_t upper = left.upper_half(middle);
        // Rows keep their slots, so the words are split by masks.
        right = left;
        right.keep(upper);
        left.keep(~upper);
        right.lower = middle;
        left.upper = middle;
        for_each_bit(
            upper, [&](std::size_t slot) { places[right.rows[slot].node] = place(beside, slot); });
        columns.for_each([&](std::size_t column) {
            columns.leaves.of(beside)[column] = columns.leaves.of(at)[column] & upper;
            columns.leaves.of(at)[column] &= ~upper;
        });
        insert_beside(up, blocks[up].find(at, left.place), beside, middle);
        return key < middle ? at : beside;
    }

    void split_block(std::uint32_t at) {
        const std::uint32_t up = parent_with_room(at, blocks[at].level + 1);
        const std::uint32_t beside = take_block();
        block_type& left = blocks[at];
        block_type& right = blocks[beside];
        right.level = left.level;
        right.parent = up;
        const std::size_t kept = left.count / 2;
        left.pass(kept, right);
        for (std::size_t place = 0; place < right.count; ++place)
            adopt(right.child[place], beside, right.level);
        columns.for_each([&](std::size_t column) {
            std::uint64_t& word = columns.blocks.of(at)[column];
            columns.blocks.of(beside)[column] = word >> kept;
            word &= low_bits(kept);
        });
        insert_beside(up, blocks[up].find(at, left.place), beside,
                      {right.lower_rank[0], right.lower_label[0]});
    }

    /// Inserts the new half `beside` after the child at `where` from which it was split.
    void insert_beside(std::uint32_t up, std::size_t where, std::uint32_t beside,
                       const capacity_key& lower) noexcept {
        block_type& parent = blocks[up];
        const std::uint32_t below = parent.level - 1;
        parent.open(where + 1, beside, lower, summary(beside, below));
        parent.renew(where, summary(parent.child[where], below));
        columns.for_each([&](std::size_t column) {
            std::uint64_t& word = columns.blocks.of(up)[column];
            word = open_bit(word, where + 1);
            word = with_bit(word, where, word_of(parent.child[where], below, column) != 0);
            word = with_bit(word, where + 1, word_of(beside, below, column) != 0);
        });
    }

    [[nodiscard]] std::uint64_t word_of(std::uint32_t at, std::uint32_t level,
                                        std::size_t column) const noexcept {
        return level > 0 ? columns.blocks.of(at)[column] : columns.leaves.of(at)[column];
    }

    /// Moves the rows of the leaf after `where` into the leaf at `where`.
    void merge(std::uint32_t up, std::size_t where) {
        const std::uint32_t into = blocks[up].child[where];
        const std::uint32_t from = blocks[up].child[where + 1];
        leaf_type& left = leaves[into];
        const leaf_type& right = leaves[from];
        for_each_bit(right.used, [&](std::size_t slot) {
            const auto to = static_cast<std::size_t>(std::countr_zero(~left.used));
            const std::uint32_t node = right.rows[slot].node;
            left.put(to, right.key(slot), right.rows[slot].free, node, right.sketch[slot]);
            places[node] = place(into, to);
            if (columns.active())
                columns.for_each_of(node, [&](std::size_t column) {
                    columns.leaves.of(into)[column] |= std::uint64_t{1} << to;
                });
        });
        left.upper = right.upper;
        left.tighten();
        leaves[from].clear();
        leaves.give(from);
        if (columns.active())
            columns.leaves.clear_words(from);
        close_beside(up, where);
    }

    void merge_blocks(std::uint32_t up, std::size_t where) {
        const std::uint32_t into = blocks[up].child[where];
        const std::uint32_t from = blocks[up].child[where + 1];
        block_type& left = blocks[into];
        block_type& right = blocks[from];
        for (std::size_t place = 0; place < right.count; ++place)
            adopt(right.child[place], into, left.level);
        columns.for_each([&](std::size_t column) {
            columns.blocks.of(into)[column] |= columns.blocks.of(from)[column] << left.count;
        });
        right.pass(0, left);
        blocks[from] = {};
        blocks.give(from);
        if (columns.active())
            columns.blocks.clear_words(from);
        close_beside(up, where);
    }

    /// Removes the child after `where`, which was merged into the child at `where`.
    void close_beside(std::uint32_t up, std::size_t where) {
        block_type& parent = blocks[up];
        const std::uint32_t below = parent.level - 1;
        parent.close(where + 1);
        parent.renew(where, summary(parent.child[where], below));
        columns.for_each([&](std::size_t column) {
            std::uint64_t& word = columns.blocks.of(up)[column];
            word = close_bit(word, where + 1);
            word = with_bit(word, where, word_of(parent.child[where], below, column) != 0);
        });
        if (parent.parent == no_place)
            lower_root();
        else
            relieve_block(up);
    }

    /// Makes the only child of the root the new root, while the root has a single child.
    void lower_root() {
        while (height > 0 && blocks[root].count == 1) {
            const std::uint32_t only = blocks[root].child[0];
            adopt(only, no_place, height);
            blocks[root] = {};
            blocks.give(root);
            if (columns.active())
                columns.blocks.clear_words(root);
            root = only;
            --height;
        }
    }

    void relieve_block(std::uint32_t at) {
        block_type& block = blocks[at];
        if (block.count > std::max<std::size_t>(1, low))
            return;
        const std::uint32_t up = block.parent;
        block_type& parent = blocks[up];
        const std::size_t where = parent.find(at, block.place);
        const auto count_of = [&](std::size_t child) { return blocks[parent.child[child]].count; };
        if (where + 1 < parent.count && block.count + count_of(where + 1) <= merged_blocks)
            merge_blocks(up, where);
        else if (where > 0 && block.count + count_of(where - 1) <= merged_blocks)
            merge_blocks(up, where - 1);
    }
    static constexpr std::size_t merged_blocks = merged < 2 ? 2 : merged;

    template<class Sketch>
    std::uint64_t sketch_leaf(std::uint32_t at, const Sketch& sketch) {
        leaf_type& leaf = leaves[at];
        leaf.satisfied = 0;
        for_each_bit(leaf.used, [&](std::size_t slot) {
            leaf.sketch[slot] = sketch(leaf.rows[slot].free);
            leaf.satisfied |= leaf.sketch[slot];
        });
        return leaf.satisfied;
    }
    template<class Sketch>
    std::uint64_t sketch_block(std::uint32_t at, const Sketch& sketch) {
        block_type& block = blocks[at];
        block.slices = {};
        for (std::size_t place = 0; place < block.count; ++place)
            block.slices.change(place, 0,
                                block.level > 1 ? sketch_block(block.child[place], sketch)
                                                : sketch_leaf(block.child[place], sketch));
        return block.slices.any;
    }
};

} // namespace detail
} // namespace v0_1
} // namespace muster
