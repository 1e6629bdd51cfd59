// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <muster/index/bit_slices.hpp>
#include <muster/index/capacity_tree.hpp>
#include <muster/index/thresholds.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Checks that everything the blocks and leaves report about their rows is true: sketches, columns,
/// keys and places. Upper bounds must hold, and must be tight unless they are marked loose.
template<std::size_t Width, std::size_t Fanout, std::size_t Thresholds>
class capacity_check {
    using tree_type = capacity_tree<Width, Fanout, Thresholds>;
    using set_type = threshold_set<Width, Thresholds>;

public:
    capacity_check(const tree_type& tree, const set_type& thresholds) noexcept
        : tree_(tree), thresholds_(thresholds) {}

    [[nodiscard]] bool run() {
        if (tree_.height == 0)
            in_leaf(tree_.root, lowest_key, highest_key, no_place);
        else
            in_block(tree_.root, lowest_key, highest_key, no_place, tree_.height);
        std::size_t placed = 0;
        for (const std::uint32_t place : tree_.places)
            placed += place != no_place ? 1U : 0U;
        expect(rows_ == tree_.rows && placed == rows_ && short_rows_ == tree_.short_rows);
        return fine_;
    }

private:
    void expect(bool holds) noexcept { fine_ = fine_ && holds; }

    void in_leaf(std::uint32_t at, const capacity_key& lower, const capacity_key& upper,
                 std::uint32_t parent) {
        const auto& leaf = tree_.leaves[at];
        expect(leaf.lower == lower && leaf.upper == upper && leaf.parent == parent);
        expect((leaf.used & ~tree_type::leaf_type::all_slots) == 0);
        std::uint64_t satisfied = 0;
        resources<Width> bound = no_rows_bound<Width>();
        for_each_bit(leaf.used, [&](std::size_t slot) {
            ++rows_;
            short_rows_ += any_short(leaf.rows[slot].free) ? 1U : 0U;
            expect(!(leaf.key(slot) < lower) && !(upper < leaf.key(slot)));
            expect(tree_.contains(leaf.rows[slot].node) &&
                   tree_.places[leaf.rows[slot].node] == tree_type::place(at, slot));
            std::uint64_t sketch = 0;
            for (std::size_t threshold = 0; threshold < thresholds_.size(); ++threshold)
                sketch |= std::uint64_t{fits(thresholds_[threshold], leaf.rows[slot].free)}
                          << threshold;
            expect(leaf.sketch[slot] == sketch);
            satisfied |= sketch;
            raise_to(bound, leaf.rows[slot].free);
        });
        expect(satisfied == leaf.satisfied);
        for_each_bit(tree_type::leaf_type::all_slots & ~leaf.used,
                     [&](std::size_t slot) { expect(leaf.sketch[slot] == 0); });
        expect(leaf.loose ? dominates(leaf.bound, bound) : leaf.bound == bound);
        const node_columns& columns = tree_.columns;
        for (std::size_t column = 0; column < columns.capacity; ++column) {
            std::uint64_t holds = 0;
            for_each_bit(leaf.used, [&](std::size_t slot) {
                const std::uint64_t word = columns.nodes.of(leaf.rows[slot].node)[column / 64];
                holds |= ((word >> (column % 64)) & 1) << slot;
            });
            expect(columns.leaves.of(at)[column] == holds);
            expect(columns.contains(column) || holds == 0);
        }
    }

    void in_block(std::uint32_t at, const capacity_key& lower, const capacity_key& upper,
                  std::uint32_t parent, std::uint32_t level) {
        const auto& block = tree_.blocks[at];
        expect(block.parent == parent && block.level == level && block.count > 0);
        expect(parent != no_place || block.count > 1);
        bit_slices<Thresholds> slices;
        std::uint64_t occupied = 0;
        resources<Width> bound = no_rows_bound<Width>();
        for (std::size_t child = 0; child < block.count; ++child) {
            const capacity_key first{block.lower_rank[child], block.lower_label[child]};
            const bool last = child + 1 == block.count;
            const capacity_key next =
                last ? upper
                     : capacity_key{block.lower_rank[child + 1], block.lower_label[child + 1]};
            expect(child > 0 || first == lower);
            if (level == 1)
                in_leaf(block.child[child], first, next, at);
            else
                in_block(block.child[child], first, next, at, level - 1);
            const auto reported = tree_.summary(block.child[child], level - 1);
            slices.change(child, 0, reported.sketch);
            occupied = with_bit(occupied, child, reported.occupied);
            expect(block.bounds[child] == reported.bound);
            raise_to(bound, reported.bound);
        }
        for (std::size_t child = block.count; child < Fanout; ++child)
            expect(block.child[child] == no_place);
        expect(slices.members == block.slices.members && slices.any == block.slices.any);
        expect(occupied == block.occupied);
        expect(block.loose ? dominates(block.bound, bound) : block.bound == bound);
        for (std::size_t column = 0; column < tree_.columns.capacity; ++column) {
            std::uint64_t holds = 0;
            for (std::size_t child = 0; child < block.count; ++child) {
                const auto& words = level > 1 ? tree_.columns.blocks : tree_.columns.leaves;
                holds = with_bit(holds, child, words.of(block.child[child])[column] != 0);
            }
            expect(tree_.columns.blocks.of(at)[column] == holds);
        }
    }

    const tree_type& tree_;
    const set_type& thresholds_;
    std::size_t rows_ = 0;
    std::size_t short_rows_ = 0;
    bool fine_ = true;
};

template<std::size_t Width, std::size_t Fanout, std::size_t Thresholds>
[[nodiscard]] bool consistent(const capacity_tree<Width, Fanout, Thresholds>& tree,
                              const threshold_set<Width, Thresholds>& thresholds) {
    return capacity_check<Width, Fanout, Thresholds>(tree, thresholds).run();
}

} // namespace detail
} // namespace v0_1
} // namespace muster
