// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <muster/index/bit_slices.hpp>
#include <muster/index/capacity_key.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Rows whose keys are in [lower, upper), in no order, so that adding or removing a row moves no
/// other row. Ranks and sketches are read for all slots at once, so each has an array of its own;
/// the other fields of a row are stored together. A row that moves therefore touches few cache
/// lines.
template<std::size_t Width, std::size_t Fanout, std::size_t Thresholds>
struct alignas(64) capacity_leaf {
    static constexpr std::uint64_t all_slots = low_bits(Fanout);
    static constexpr std::size_t group = 8;
    static constexpr std::size_t padded = (Fanout + group - 1) / group * group;

    struct row {
        resources<Width> free;
        std::uint64_t label = 0;
        std::uint32_t node = 0;
    };

    std::uint64_t used = 0;
    /// The thresholds that at least one row satisfies.
    std::uint64_t satisfied = 0;
    capacity_key lower = lowest_key;
    capacity_key upper = highest_key;
    std::uint32_t parent = no_place;
    /// The leaf's place in its parent at the last lookup. The leaf may have moved since.
    std::uint32_t place = 0;
    /// Per kind, an upper bound on what any row has.
    resources<Width> bound = no_rows_bound<Width>();
    /// The bound may be higher than necessary.
    bool loose = false;
    /// Per slot, the thresholds that its row satisfies; 0 in unused slots.
    std::array<std::uint64_t, padded> sketch{};
    std::array<std::int64_t, Fanout> rank{};
    std::array<row, Fanout> rows{};

    /// Resets the leaf for reuse. Ranks and rows of unused slots are not read, so they stay.
    void clear() noexcept {
        used = 0;
        satisfied = 0;
        lower = lowest_key;
        upper = highest_key;
        parent = no_place;
        bound = no_rows_bound<Width>();
        loose = false;
        sketch = {};
    }

    [[nodiscard]] capacity_key key(std::size_t slot) const noexcept {
        return {rank[slot], rows[slot].label};
    }
    [[nodiscard]] bool covers(const capacity_key& key) const noexcept {
        return !(key < lower) && key < upper;
    }
    [[nodiscard]] std::size_t count() const noexcept { return count_bits(used); }

    /// Returns the slots of the rows that satisfy all of the thresholds. O(fanout), with vector
    /// instructions if the machine has them.
    [[nodiscard]] std::uint64_t having(std::uint64_t thresholds) const noexcept {
        if (thresholds == 0)
            return used;
        std::uint64_t found = 0;
        for (std::size_t slot = 0; slot < Fanout; ++slot)
            found |= std::uint64_t{(sketch[slot] & thresholds) == thresholds} << slot;
        return found;
    }

    /// Returns those of the given slots that have the lowest rank; at least one slot must be given.
    /// O(fanout), with vector instructions if the machine has them.
    [[nodiscard]] std::uint64_t lowest_ranks(std::uint64_t slots) const noexcept {
        std::int64_t lowest = highest_key.rank;
        std::uint64_t equal = 0;
        if (count_bits(slots) <= few) {
            for_each_bit(slots, [&](std::size_t slot) {
                lowest = rank[slot] < lowest ? rank[slot] : lowest;
            });
            for_each_bit(slots, [&](std::size_t slot) {
                equal |= std::uint64_t{rank[slot] == lowest} << slot;
            });
            return equal;
        }
        for (std::size_t slot = 0; slot < Fanout; ++slot) {
            const std::int64_t in = -static_cast<std::int64_t>((slots >> slot) & 1);
            const std::int64_t here = (rank[slot] & in) | (highest_key.rank & ~in);
            lowest = here < lowest ? here : lowest;
        }
        for (std::size_t slot = 0; slot < Fanout; ++slot)
            equal |= std::uint64_t{rank[slot] == lowest} << slot;
        return equal & slots;
    }
    /// Returns the given slot with the lowest label; at least one slot must be given.
    [[nodiscard]] std::size_t lowest_label(std::uint64_t slots) const noexcept {
        auto best = static_cast<std::size_t>(std::countr_zero(slots));
        for_each_bit(slots & (slots - 1), [&](std::size_t slot) {
            best = rows[slot].label < rows[best].label ? slot : best;
        });
        return best;
    }

    void put(std::size_t slot, const capacity_key& at, const resources<Width>& free,
             std::uint32_t node, std::uint64_t satisfies) noexcept {
        used |= std::uint64_t{1} << slot;
        satisfied |= satisfies;
        sketch[slot] = satisfies;
        rank[slot] = at.rank;
        rows[slot] = {free, at.label, node};
    }
    void take(std::size_t slot) noexcept {
        used &= ~(std::uint64_t{1} << slot);
        forget(slot, std::exchange(sketch[slot], 0));
        loose |= loosens(bound, rows[slot].free, no_rows_bound<Width>());
    }
    /// Changes a row whose key stays in the leaf's interval.
    void change(std::size_t slot, std::int64_t to, const resources<Width>& free,
                std::uint64_t satisfies) noexcept {
        satisfied |= satisfies;
        forget(slot, std::exchange(sketch[slot], satisfies) & ~satisfies);
        loose |= loosens(bound, rows[slot].free, free);
        rank[slot] = to;
        rows[slot].free = free;
    }

    /// Lowers the bound to the least one that covers all rows. O(rows · width).
    void tighten() noexcept {
        resources<Width> least_bound = no_rows_bound<Width>();
        for_each_bit(used, [&](std::size_t slot) { raise_to(least_bound, rows[slot].free); });
        bound = least_bound;
        loose = false;
    }

    /// Keeps only the rows in these slots.
    void keep(std::uint64_t slots) noexcept {
        for_each_bit(used & ~slots, [this](std::size_t slot) { sketch[slot] = 0; });
        used &= slots;
        satisfied = 0;
        for (const std::uint64_t row_sketch : sketch)
            satisfied |= row_sketch;
        tighten();
    }

    /// Returns the slots of the upper half of the rows, and in `least_key` the least key among
    /// them. All slots must be used.
    [[nodiscard]] std::uint64_t upper_half(capacity_key& least_key) const noexcept {
        std::array<std::uint8_t, Fanout> order{};
        for (std::size_t slot = 0; slot < Fanout; ++slot)
            order[slot] = static_cast<std::uint8_t>(slot);
        const auto middle = order.begin() + Fanout / 2;
        std::nth_element(
            order.begin(), middle, order.end(),
            [this](std::uint8_t lhs, std::uint8_t rhs) { return key(lhs) < key(rhs); });
        least_key = key(*middle);
        std::uint64_t slots = 0;
        for (auto upper_slot = middle; upper_slot != order.end(); ++upper_slot)
            slots |= std::uint64_t{1} << *upper_slot;
        return slots;
    }

private:
    /// Updates `satisfied` after the row in the slot stopped satisfying the thresholds in `lost`.
    void forget(std::size_t slot, std::uint64_t lost) noexcept {
        // Rows in nearby slots usually satisfy the same thresholds, so the loop starts there and
        // ends early.
        std::size_t first = slot / group * group;
        for (std::size_t searched = 0; lost != 0 && searched < padded; searched += group) {
            for (std::size_t other = first; other < first + group; ++other)
                lost &= ~sketch[other];
            first = first + group == padded ? 0 : first + group;
        }
        satisfied &= ~lost;
    }

    /// Up to this many rows are compared one by one, which is then faster than comparing all slots
    /// with vector instructions.
    static constexpr std::size_t few = wide_vectors ? 8 : 64;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
