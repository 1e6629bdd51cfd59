// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <muster/index/bit_slices.hpp>
#include <muster/index/capacity_key.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// What a block reports to its parent about the rows below it.
template<std::size_t Width>
struct capacity_summary {
    /// Exactly the thresholds that at least one row below satisfies.
    std::uint64_t sketch = 0;
    bool occupied = false;
    /// Per kind, an upper bound on what any row below has.
    resources<Width> bound = no_rows_bound<Width>();
};

/// Up to `Fanout` children (all leaves, or all blocks) in ascending order of their keys.
template<std::size_t Width, std::size_t Fanout, std::size_t Thresholds>
struct alignas(64) capacity_block {
    static constexpr std::size_t padded = (Fanout + 7) / 8 * 8;
    /// The search for a key compares every `step`-th key first, and then `step` keys in a row. With
    /// wide vectors it is fastest to compare all keys at once, so `step` is then all of them.
    static constexpr std::size_t step = wide_vectors ? padded : 8;

    /// Children with at least one row below them.
    std::uint64_t occupied = 0;
    std::uint32_t count = 0;
    std::uint32_t parent = no_place;
    /// The block's place in its parent at the last lookup. The block may have moved since.
    std::uint32_t place = 0;
    /// 1 if the children are leaves, otherwise one more than the level of the children.
    std::uint32_t level = 0;
    /// Per kind, at least as high as the bound of every child.
    resources<Width> bound = no_rows_bound<Width>();
    /// The bound may be higher than necessary.
    bool loose = false;
    bit_slices<Thresholds> slices;
    /// The lower end of each child's key interval. Unused places have the highest key.
    std::array<std::int64_t, padded> lower_rank;
    std::array<std::uint64_t, padded> lower_label;
    std::array<resources<Width>, Fanout> bounds{};
    std::array<std::uint32_t, Fanout> child;

    capacity_block() noexcept {
        lower_rank.fill(highest_key.rank);
        lower_label.fill(highest_key.label);
        child.fill(no_place);
    }

    [[nodiscard]] bool full() const noexcept { return count == Fanout; }

    /// Returns the place of the child whose interval contains the key. O(fanout), mostly without
    /// branches.
    [[nodiscard]] std::size_t find(const capacity_key& key) const noexcept {
        std::size_t first = 0;
        for (std::size_t child_place = step; child_place < padded; child_place += step)
            first += static_cast<std::size_t>(lower_rank[child_place] < key.rank) * step;
        std::size_t within = 0;
        for (std::size_t child_place = 0; child_place < step; ++child_place)
            within += static_cast<std::size_t>(lower_rank[first + child_place] < key.rank);
        std::size_t lower = first + within;
        while (lower < count && lower_rank[lower] == key.rank && lower_label[lower] <= key.label)
            ++lower;
        return lower - 1;
    }

    /// Returns the place of the child with number `number`. `hint` is its last known place, and is
    /// updated.
    [[nodiscard]] std::size_t find(std::uint32_t number, std::uint32_t& hint) const noexcept {
        if (child[hint] != number) {
            std::uint32_t found = 0;
            for (std::uint32_t child_place = 0; child_place < Fanout; ++child_place)
                found += child[child_place] == number ? child_place : 0;
            hint = found;
        }
        return hint;
    }

    [[nodiscard]] capacity_summary<Width> summary() const noexcept {
        return {slices.any, occupied != 0, bound};
    }

    /// Inserts the child with number `number` at place `at`.
    void open(std::size_t at, std::uint32_t number, const capacity_key& lower,
              const capacity_summary<Width>& reported) noexcept {
        for (std::size_t child_place = count; child_place > at; --child_place) {
            lower_rank[child_place] = lower_rank[child_place - 1];
            lower_label[child_place] = lower_label[child_place - 1];
            bounds[child_place] = bounds[child_place - 1];
            child[child_place] = child[child_place - 1];
        }
        ++count;
        lower_rank[at] = lower.rank;
        lower_label[at] = lower.label;
        child[at] = number;
        occupied = open_bit(occupied, at);
        slices.rewrite([at](std::uint64_t word) { return open_bit(word, at); });
        renew(at, reported);
    }

    /// Removes the child at place `at`.
    void close(std::size_t at) noexcept {
        --count;
        for (std::size_t child_place = at; child_place < count; ++child_place) {
            lower_rank[child_place] = lower_rank[child_place + 1];
            lower_label[child_place] = lower_label[child_place + 1];
            bounds[child_place] = bounds[child_place + 1];
            child[child_place] = child[child_place + 1];
        }
        lower_rank[count] = highest_key.rank;
        lower_label[count] = highest_key.label;
        child[count] = no_place;
        occupied = close_bit(occupied, at);
        slices.rewrite([at](std::uint64_t word) { return close_bit(word, at); });
        loose = true;
    }

    /// Moves the children at place `from` and after it to the end of `to`, which must have room for
    /// them.
    void pass(std::size_t from, capacity_block& to) noexcept {
        const std::size_t passed = count - from;
        const std::size_t at = to.count;
        for (std::size_t moving = 0; moving < passed; ++moving) {
            to.lower_rank[at + moving] = lower_rank[from + moving];
            to.lower_label[at + moving] = lower_label[from + moving];
            to.bounds[at + moving] = bounds[from + moving];
            to.child[at + moving] = child[from + moving];
            lower_rank[from + moving] = highest_key.rank;
            lower_label[from + moving] = highest_key.label;
            child[from + moving] = no_place;
        }
        const std::uint64_t kept = low_bits(from);
        const auto moved = [from, at](std::uint64_t word) { return (word >> from) << at; };
        to.occupied |= moved(occupied);
        occupied &= kept;
        std::size_t property = 0;
        to.slices.rewrite(
            [&](std::uint64_t word) { return word | moved(slices.members[property++]); });
        slices.rewrite([kept](std::uint64_t word) { return word & kept; });
        to.count += static_cast<std::uint32_t>(passed);
        count = static_cast<std::uint32_t>(from);
        tighten();
        to.tighten();
    }

    /// Updates what this block stores of the child at place `at`, which now reports `reported`.
    void renew(std::size_t at, const capacity_summary<Width>& reported) noexcept {
        bounds[at] = reported.bound;
        raise_to(bound, reported.bound);
        loose = true;
        occupied = with_bit(occupied, at, reported.occupied);
        std::size_t property = 0;
        slices.rewrite([&](std::uint64_t word) {
            return with_bit(word, at, ((reported.sketch >> property++) & 1) != 0);
        });
    }

    /// Lowers the bound to the least one that covers all children. O(children · width).
    void tighten() noexcept {
        bound = no_rows_bound<Width>();
        for (std::size_t child_place = 0; child_place < count; ++child_place)
            raise_to(bound, bounds[child_place]);
        loose = false;
    }
};

} // namespace detail
} // namespace v0_1
} // namespace muster
