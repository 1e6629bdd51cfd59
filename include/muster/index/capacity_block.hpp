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

/// What a block tells its parent.
template<std::size_t Width>
struct capacity_summary {
    /// The thresholds that any row below satisfies, exactly.
    std::uint64_t sketch = 0;
    bool occupied = false;
    /// No row below has more than this of anything.
    resources<Width> bound = no_rows_bound<Width>();
};

/// Up to `Fanout` children, leaves or other blocks, in the order of their keys.
template<std::size_t Width, std::size_t Fanout, std::size_t Thresholds>
struct alignas(64) capacity_block {
    static constexpr std::size_t padded = (Fanout + 7) / 8 * 8;
    /// The search for a key looks at every so many keys first, and then at so many in a row: at
    /// all of them where vectors make that the quickest.
    static constexpr std::size_t step = wide_vectors ? padded : 8;

    /// Children that have any row.
    std::uint64_t occupied = 0;
    std::uint32_t count = 0;
    std::uint32_t parent = no_place;
    /// Where the parent had this block when last looked up; it may have moved since.
    std::uint32_t place = 0;
    /// 1 when the children are leaves.
    std::uint32_t level = 0;
    /// At least every child's bound.
    resources<Width> bound = no_rows_bound<Width>();
    /// The bound may be higher than need be.
    bool loose = false;
    bit_slices<Thresholds> slices;
    /// The lower end of each child's interval; unused ones are the highest keys.
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

    /// The child whose interval has the key. O(fanout), mostly without branches.
    [[nodiscard]] std::size_t find(const capacity_key& key) const noexcept {
        std::size_t first = 0;
        for (std::size_t each = step; each < padded; each += step)
            first += static_cast<std::size_t>(lower_rank[each] < key.rank) * step;
        std::size_t within = 0;
        for (std::size_t each = 0; each < step; ++each)
            within += static_cast<std::size_t>(lower_rank[first + each] < key.rank);
        std::size_t lower = first + within;
        while (lower < count && lower_rank[lower] == key.rank && lower_label[lower] <= key.label)
            ++lower;
        return lower - 1;
    }

    /// The place of the child; `hint` is where it was last, and is corrected.
    [[nodiscard]] std::size_t find(std::uint32_t of, std::uint32_t& hint) const noexcept {
        if (child[hint] != of) {
            std::uint32_t found = 0;
            for (std::uint32_t each = 0; each < Fanout; ++each)
                found += child[each] == of ? each : 0;
            hint = found;
        }
        return hint;
    }

    [[nodiscard]] capacity_summary<Width> summary() const noexcept {
        return {slices.any, occupied != 0, bound};
    }

    /// Puts a child in at `at`.
    void open(std::size_t at, std::uint32_t of, const capacity_key& lower,
              const capacity_summary<Width>& tells) noexcept {
        for (std::size_t each = count; each > at; --each) {
            lower_rank[each] = lower_rank[each - 1];
            lower_label[each] = lower_label[each - 1];
            bounds[each] = bounds[each - 1];
            child[each] = child[each - 1];
        }
        ++count;
        lower_rank[at] = lower.rank;
        lower_label[at] = lower.label;
        child[at] = of;
        occupied = open_bit(occupied, at);
        slices.rewrite([at](std::uint64_t word) { return open_bit(word, at); });
        renew(at, tells);
    }

    /// Takes the child at `at` out.
    void close(std::size_t at) noexcept {
        --count;
        for (std::size_t each = at; each < count; ++each) {
            lower_rank[each] = lower_rank[each + 1];
            lower_label[each] = lower_label[each + 1];
            bounds[each] = bounds[each + 1];
            child[each] = child[each + 1];
        }
        lower_rank[count] = highest_key.rank;
        lower_label[count] = highest_key.label;
        child[count] = no_place;
        occupied = close_bit(occupied, at);
        slices.rewrite([at](std::uint64_t word) { return close_bit(word, at); });
        loose = true;
    }

    /// Moves the children from `from` on to the end of `to`, which has room for them.
    void pass(std::size_t from, capacity_block& to) noexcept {
        const std::size_t passed = count - from;
        const std::size_t at = to.count;
        for (std::size_t each = 0; each < passed; ++each) {
            to.lower_rank[at + each] = lower_rank[from + each];
            to.lower_label[at + each] = lower_label[from + each];
            to.bounds[at + each] = bounds[from + each];
            to.child[at + each] = child[from + each];
            lower_rank[from + each] = highest_key.rank;
            lower_label[from + each] = highest_key.label;
            child[from + each] = no_place;
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

    /// Reads again what the child at `at` tells.
    void renew(std::size_t at, const capacity_summary<Width>& tells) noexcept {
        bounds[at] = tells.bound;
        raise_to(bound, tells.bound);
        loose = true;
        occupied = with_bit(occupied, at, tells.occupied);
        std::size_t property = 0;
        slices.rewrite([&](std::uint64_t word) {
            return with_bit(word, at, ((tells.sketch >> property++) & 1) != 0);
        });
    }

    /// The least bound of the children's. O(children · width).
    void tighten() noexcept {
        bound = no_rows_bound<Width>();
        for (std::size_t each = 0; each < count; ++each)
            raise_to(bound, bounds[each]);
        loose = false;
    }
};

} // namespace detail
} // namespace v0_1
} // namespace muster
