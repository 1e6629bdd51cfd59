// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <muster/base/id.hpp>
#include <muster/index/bit_slices.hpp>
#include <muster/index/capacity_tree.hpp>
#include <muster/index/thresholds.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// The work of a query.
struct search_effort {
    std::uint64_t leaves = 0;
    /// Leaves that were read and had no row that fits.
    std::uint64_t leaves_in_vain = 0;
    /// Rows that satisfied the thresholds but did not fit.
    std::uint64_t rows_in_vain = 0;
};

/// One walk over the rows that fit, in ascending order of their keys. Rows do not change. Upper
/// bounds that turn out to be too high are tightened on the way.
template<class Tree, std::size_t Width, class Visit>
class capacity_search {
public:
    static constexpr std::size_t no_column = ~std::size_t{0};

    capacity_search(Tree& tree, const threshold_query<Width>& query, std::size_t column,
                    Visit& visit) noexcept
        : tree_(tree), query_(query), column_(column), visit_(visit) {}

    /// Returns false if the visitor stopped the walk.
    bool run() {
        if (tree_.height == 0)
            return in_leaf(tree_.root) != outcome::stopped;
        // If the thresholds alone decide, seeking the lowest rank saves nothing. A row with a
        // negative amount of a kind that is not requested may fit at any rank, so the seek is only
        // used if there is no such row.
        const bool from_rank = (!query_.exact || column_ != no_column) && tree_.short_rows == 0 &&
                               query_.from != lowest_key.rank;
        return in_block(tree_.root, from_rank) != outcome::stopped;
    }
    [[nodiscard]] const search_effort& effort() const noexcept { return effort_; }

private:
    static constexpr std::size_t none = ~std::size_t{0};
    /// Recomputing a bound costs as much as several failed visits and rarely saves one, so it is
    /// done once in this many failed visits.
    static constexpr std::uint64_t looks_to_tighten = 64;

    enum class outcome : std::uint8_t { nothing, found, stopped };

    /// If `from_rank`, skips the children below the lowest rank of the query.
    outcome in_block(std::uint32_t at, bool from_rank) {
        auto& block = tree_.blocks[at];
        std::uint64_t left = block.slices.having(query_.thresholds, block.occupied);
        if (column_ != no_column)
            left &= tree_.columns.blocks.of(at)[column_];
        std::size_t border = ~std::size_t{0};
        if (from_rank) {
            border = block.find({query_.from, 0});
            left &= ~low_bits(border);
        }
        auto result = outcome::nothing;
        std::size_t next = next_likely(block, left);
        while (next != none) {
            const std::size_t where = next;
            next = next_likely(block, left);
            // Unless the thresholds alone decide, a walk usually reads more than one leaf.
            if (!query_.exact && next != none && block.level == 1)
                tree_.prefetch_sketches(block.child[next]);
            const std::uint32_t child = block.child[where];
            const outcome below =
                block.level == 1 ? in_leaf(child) : in_block(child, where == border);
            if (below == outcome::stopped)
                return below;
            if (below == outcome::found)
                result = below;
            else if (!query_.exact && tree_.looks_in_vain++ % looks_to_tighten == 0)
                tighten(block, where);
        }
        return result;
    }

    /// Returns the lowest remaining child that may have a row that fits, or `none`. Removes it, and
    /// the children before it, from `left`.
    template<class Block>
    std::size_t next_likely(const Block& block, std::uint64_t& left) const noexcept {
        while (left != 0) {
            const auto where = static_cast<std::size_t>(std::countr_zero(left));
            left &= left - 1;
            if (query_.exact || fits(query_.request, block.bounds[where]))
                return where;
        }
        return none;
    }

    outcome in_leaf(std::uint32_t at) {
        auto& leaf = tree_.leaves[at];
        ++effort_.leaves;
        std::uint64_t left = leaf.having(query_.thresholds);
        if (column_ != no_column)
            left &= tree_.columns.leaves.of(at)[column_];
        if (!query_.exact)
            left = verified(leaf, left);
        if (left == 0) {
            ++effort_.leaves_in_vain;
            return outcome::nothing;
        }
        do {
            std::uint64_t tied = leaf.lowest_ranks(left);
            left ^= tied;
            do {
                const std::size_t slot = leaf.lowest_label(tied);
                tied ^= std::uint64_t{1} << slot;
                if (!visit_(node_index{leaf.rows[slot].node}, std::as_const(leaf.rows[slot].free),
                            std::int64_t{leaf.rank[slot]}))
                    return outcome::stopped;
            } while (tied != 0);
        } while (left != 0);
        return outcome::found;
    }

    template<class Leaf>
    std::uint64_t verified(const Leaf& leaf, std::uint64_t candidates) noexcept {
        std::uint64_t fitting = 0;
        for (std::uint64_t left = candidates; left != 0; left &= left - 1) {
            const auto slot = static_cast<std::size_t>(std::countr_zero(left));
            fitting |= std::uint64_t{fits(query_.request, leaf.rows[slot].free)} << slot;
        }
        effort_.rows_in_vain += count_bits(candidates ^ fitting);
        return fitting;
    }

    /// Recomputes the bound of a child in which nothing was found, if the bound may be too high.
    template<class Block>
    void tighten(Block& block, std::size_t where) noexcept {
        const auto renew = [&](auto& child) {
            if (!child.loose)
                return;
            child.tighten();
            block.loose |= loosens(block.bound, block.bounds[where], child.bound);
            block.bounds[where] = child.bound;
        };
        if (block.level == 1)
            renew(tree_.leaves[block.child[where]]);
        else
            renew(tree_.blocks[block.child[where]]);
    }

    Tree& tree_;
    const threshold_query<Width>& query_;
    const std::size_t column_;
    Visit& visit_;
    search_effort effort_;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
