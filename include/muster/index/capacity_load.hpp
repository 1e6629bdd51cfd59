// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/index/capacity_tree.hpp>
#include <muster/index/thresholds.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// A node and its row, as passed to a bulk load.
template<std::size_t Width>
struct capacity_row {
    node_index node;
    std::int64_t rank = 0;
    std::uint64_t label = 0;
    resources<Width> free;
};

/// Splits `count` items into the fewest parts of at most `most` items each, as evenly as possible.
struct even_parts {
    std::size_t count;
    std::size_t parts;

    even_parts(std::size_t things, std::size_t most) noexcept
        : count(things), parts(std::max<std::size_t>(1, (things + most - 1) / most)) {}
    [[nodiscard]] std::size_t first(std::size_t part) const noexcept {
        return count * part / parts;
    }
};

/// Builds a level of blocks above `below` and returns the blocks. If the level is 1, `below` are
/// leaves.
template<std::size_t Width, std::size_t Fanout, std::size_t Thresholds>
[[nodiscard]] detail::sequence<std::uint32_t>
load_level(capacity_tree<Width, Fanout, Thresholds>& tree,
           const detail::sequence<std::uint32_t>& below, std::uint32_t level) {
    const even_parts parts(below.size(), std::max<std::size_t>(2, Fanout * 3 / 4));
    detail::sequence<std::uint32_t> made;
    for (std::size_t part = 0; part < parts.parts; ++part) {
        const std::uint32_t at = tree.take_block();
        made.push_back(at);
        auto& block = tree.blocks[at];
        block.level = level;
        for (std::size_t place = parts.first(part); place < parts.first(part + 1); ++place) {
            const std::uint32_t child = below[place];
            capacity_key lower;
            if (level == 1)
                lower = tree.leaves[child].lower;
            else
                lower = {tree.blocks[child].lower_rank[0], tree.blocks[child].lower_label[0]};
            block.open(block.count, child, lower, tree.summary(child, level - 1));
            tree.adopt(child, at, level);
        }
        block.tighten();
    }
    return made;
}

/// Replaces all rows of the tree. Nodes that were in the tree keep their columns.
template<std::size_t Width, std::size_t Fanout, std::size_t Thresholds>
void load_rows(capacity_tree<Width, Fanout, Thresholds>& tree,
               const threshold_set<Width, Thresholds>& thresholds,
               std::span<const capacity_row<Width>> rows) {
    detail::sequence<std::uint32_t> order(rows.size());
    for (std::size_t place = 0; place < rows.size(); ++place)
        order[place] = static_cast<std::uint32_t>(place);
    detail::sort(order, [&](std::uint32_t lhs, std::uint32_t rhs) {
        return capacity_key{rows[lhs].rank, rows[lhs].label} <
               capacity_key{rows[rhs].rank, rows[rhs].label};
    });
    const word_table node_words = std::move(tree.columns.nodes);
    const detail::sequence<std::uint32_t> old_places = std::move(tree.places);
    tree.columns.nodes = word_table{};
    tree.columns.nodes.widen(tree.columns.present.size());
    tree.clear();
    std::size_t nodes = 0;
    for (const auto& row : rows)
        nodes = std::max(nodes, row.node.value() + 1);
    tree.places.assign(nodes, no_place);
    tree.columns.nodes.cover(nodes);

    const even_parts parts(rows.size(), std::max<std::size_t>(1, Fanout * 23 / 32));
    detail::sequence<std::uint32_t> level;
    for (std::size_t part = 0; part < parts.parts; ++part) {
        const std::uint32_t at = part == 0 ? tree.root : tree.take_leaf();
        auto& leaf = tree.leaves[at];
        if (part > 0) {
            const auto& first = rows[order[parts.first(part)]];
            leaf.lower = {first.rank, first.label};
            tree.leaves[level.back()].upper = leaf.lower;
        }
        level.push_back(at);
        for (std::size_t place = parts.first(part); place < parts.first(part + 1); ++place) {
            const auto& row = rows[order[place]];
            const std::size_t node = row.node.value();
            MUSTER_ASSERT(!tree.contains(node), "a node that is loaded twice");
            tree.put(at, static_cast<std::uint32_t>(node), {row.rank, row.label}, row.free,
                     thresholds.sketch(row.free));
        }
    }
    while (level.size() > 1)
        level = load_level(tree, level, ++tree.height);
    tree.root = level.front();
    tree.rows = rows.size();

    // Columns come last: raise_column reports each to the blocks above, which must exist by then.
    for (const auto& row : rows) {
        const std::size_t node = row.node.value();
        if (!tree.columns.active() || node >= old_places.size() || old_places[node] == no_place)
            continue;
        std::copy_n(node_words.of(node), tree.columns.present.size(), tree.columns.nodes.of(node));
        tree.columns.for_each_of(node, [&](std::size_t column) {
            tree.raise_column(tree.leaf_of(node), tree.slot_of(node), column);
        });
    }
}

} // namespace detail
} // namespace v0_1
} // namespace muster
