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

/// Rows whose keys lie in [lower, upper). Which slot a row stands in says nothing about its order,
/// so that rows come and go without moving others. Ranks and sketches are looked at for all slots
/// together and stand apart; the rest is looked at row by row. So a row that moves touches few
/// lines of memory.
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
    /// The thresholds that any row satisfies.
    std::uint64_t satisfied = 0;
    capacity_key lower = lowest_key;
    capacity_key upper = highest_key;
    std::uint32_t parent = no_place;
    /// Where the parent had this leaf when last looked up; it may have moved since.
    std::uint32_t place = 0;
    /// No row has more than this of anything.
    resources<Width> bound = no_rows_bound<Width>();
    /// The bound may be higher than need be.
    bool loose = false;
    /// Clear where no row is.
    std::array<std::uint64_t, padded> sketch{};
    std::array<std::int64_t, Fanout> rank{};
    std::array<row, Fanout> rows{};

    /// As it was at first, as far as that matters.
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

    /// The rows that satisfy all of the thresholds. O(fanout), in vectors where the machine has
    /// them.
    [[nodiscard]] std::uint64_t having(std::uint64_t thresholds) const noexcept {
        if (thresholds == 0)
            return used;
        std::uint64_t found = 0;
        for (std::size_t slot = 0; slot < Fanout; ++slot)
            found |= std::uint64_t{(sketch[slot] & thresholds) == thresholds} << slot;
        return found;
    }

    /// Those of the slots, which are some, with the lowest rank. O(fanout), in vectors where the
    /// machine has them.
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
    /// The one of the slots, which are some, with the lowest label.
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
    /// Changes a row whose key stays in the interval.
    void change(std::size_t slot, std::int64_t to, const resources<Width>& free,
                std::uint64_t satisfies) noexcept {
        satisfied |= satisfies;
        forget(slot, std::exchange(sketch[slot], satisfies) & ~satisfies);
        loose |= loosens(bound, rows[slot].free, free);
        rank[slot] = to;
        rows[slot].free = free;
    }

    /// The least bound of the rows. O(rows · width).
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
        for (const std::uint64_t each : sketch)
            satisfied |= each;
        tighten();
    }

    /// The slots of the upper half of the rows, and the least key among them; all slots are used.
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
        for (auto each = middle; each != order.end(); ++each)
            slots |= std::uint64_t{1} << *each;
        return slots;
    }

private:
    /// The row in the slot satisfies these no more.
    void forget(std::size_t slot, std::uint64_t lost) noexcept {
        // Some rows beside it usually satisfy as much, and then nothing else has to be looked at.
        std::size_t first = slot / group * group;
        for (std::size_t looked = 0; lost != 0 && looked < padded; looked += group) {
            for (std::size_t each = first; each < first + group; ++each)
                lost &= ~sketch[each];
            first = first + group == padded ? 0 : first + group;
        }
        satisfied &= ~lost;
    }

    /// Up to so many rows are compared one by one faster than all slots are in vectors.
    static constexpr std::size_t few = wide_vectors ? 8 : 64;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
