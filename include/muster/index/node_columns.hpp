// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <muster/base/assert.hpp>
#include <muster/base/sequence.hpp>
#include <muster/index/bit_slices.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// A fixed number of words per owner, stored side by side in one array.
class word_table {
public:
    [[nodiscard]] std::uint64_t* of(std::size_t owner) noexcept {
        return words_.data() + owner * per_owner_;
    }
    [[nodiscard]] const std::uint64_t* of(std::size_t owner) const noexcept {
        return words_.data() + owner * per_owner_;
    }
    /// Extends the table to this many owners. New owners have words of value 0.
    void cover(std::size_t owners) {
        if (words_.size() < owners * per_owner_)
            words_.resize(owners * per_owner_, 0);
        owners_ = std::max(owners_, owners);
    }
    /// Raises the number of words per owner. O(owners · words).
    void widen(std::size_t per_owner) {
        detail::sequence<std::uint64_t> wider(owners_ * per_owner, 0);
        for (std::size_t owner = 0; owner < owners_; ++owner)
            std::copy_n(of(owner), per_owner_,
                        wider.begin() + static_cast<std::ptrdiff_t>(owner * per_owner));
        words_ = std::move(wider);
        per_owner_ = per_owner;
    }
    void clear_words(std::size_t owner) noexcept { std::fill_n(of(owner), per_owner_, 0); }
    void forget_owners() noexcept {
        words_.clear();
        owners_ = 0;
    }
    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        return words_.capacity() * sizeof(words_[0]);
    }

private:
    detail::sequence<std::uint64_t> words_;
    std::size_t owners_ = 0;
    std::size_t per_owner_ = 0;
};

/// Yes-or-no columns of nodes. Per leaf and column, the slots whose row has the column; per block
/// and column, the children with such a row; per node, its columns. Nothing is stored until the
/// first column is added.
struct node_columns {
    word_table leaves;
    word_table blocks;
    word_table nodes;
    /// The columns that exist, one bit each.
    detail::sequence<std::uint64_t> present;
    std::size_t capacity = 0;

    [[nodiscard]] bool active() const noexcept { return capacity != 0; }
    [[nodiscard]] bool contains(std::size_t column) const noexcept {
        return column < capacity && ((present[column / 64] >> (column % 64)) & 1) != 0;
    }

    /// Adds a column and returns its number, the lowest free one. Amortised O(1), O(all words) if
    /// the capacity doubles.
    [[nodiscard]] std::size_t add() {
        std::size_t column = 0;
        while (contains(column))
            ++column;
        if (column == capacity) {
            capacity = std::max<std::size_t>(8, capacity * 2);
            present.resize((capacity + 63) / 64, 0);
            leaves.widen(capacity);
            blocks.widen(capacity);
            nodes.widen(present.size());
        }
        present[column / 64] |= std::uint64_t{1} << (column % 64);
        return column;
    }
    void remove(std::size_t column) noexcept {
        MUSTER_ASSERT(contains(column), "a column that does not exist");
        present[column / 64] &= ~(std::uint64_t{1} << (column % 64));
    }

    template<class Each>
    void for_each(const Each& visit) const {
        for (std::size_t word = 0; word < present.size(); ++word)
            for_each_bit(present[word], [&](std::size_t bit) { visit(word * 64 + bit); });
    }
    /// Calls `visit(column)` for the columns of a node.
    template<class Each>
    void for_each_of(std::size_t node, const Each& visit) const {
        const std::uint64_t* const words = nodes.of(node);
        for (std::size_t word = 0; word < present.size(); ++word)
            for_each_bit(words[word], [&](std::size_t bit) { visit(word * 64 + bit); });
    }
    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        return leaves.memory_bytes() + blocks.memory_bytes() + nodes.memory_bytes() +
               present.capacity() * sizeof(std::uint64_t);
    }
};

} // namespace detail
} // namespace v0_1
} // namespace muster
