// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <muster/index/bit_slices.hpp>
#include <muster/index/capacity_key.hpp>
#include <muster/resource/resources.hpp>

namespace muster::inline v0_1 {
namespace detail {

/// Rows whose keys lie in [lower, upper). Which slot a row stands in says nothing about its order,
/// so that rows come and go without moving others.
template<std::size_t Width, std::size_t Fanout, std::size_t Thresholds>
struct alignas(64) capacity_leaf {
    static constexpr std::uint64_t all_slots = low_bits(Fanout);
    static constexpr std::size_t group = 8;
    static constexpr std::size_t padded = (Fanout + group - 1) / group * group;

    std::uint64_t used = 0;
    capacity_key lower = lowest_key;
    capacity_key upper = highest_key;
    std::uint32_t parent = no_place;
    /// Where the parent had this leaf when last looked up; it may have moved since.
    std::uint32_t place = 0;
    /// No row has more than this of anything.
    resources<Width> bound = no_rows_bound<Width>();
    /// The bound may be higher than need be.
    bool loose = false;
    bit_slices<Thresholds> slices;
    /// Clear where no row is.
    std::array<std::uint64_t, padded> sketch{};
    std::array<std::int64_t, Fanout> rank{};
    std::array<std::uint64_t, Fanout> label{};
    std::array<resources<Width>, Fanout> free{};
    std::array<std::uint32_t, Fanout> node{};

    [[nodiscard]] capacity_key key(std::size_t slot) const noexcept {
        return {rank[slot], label[slot]};
    }
    [[nodiscard]] bool covers(const capacity_key& key) const noexcept {
        return !(key < lower) && key < upper;
    }
    [[nodiscard]] std::size_t count() const noexcept { return count_bits(used); }

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
    /// The one of the slots, which are some, with the lowest label. As costly.
    [[nodiscard]] std::size_t lowest_label(std::uint64_t slots) const noexcept {
        if (count_bits(slots) <= few) {
            auto best = static_cast<std::size_t>(std::countr_zero(slots));
            for_each_bit(slots & (slots - 1),
                         [&](std::size_t slot) { best = label[slot] < label[best] ? slot : best; });
            return best;
        }
        std::uint64_t lowest = highest_key.label;
        for (std::size_t slot = 0; slot < Fanout; ++slot) {
            const std::uint64_t here = label[slot] | (((slots >> slot) & 1) - 1);
            lowest = here < lowest ? here : lowest;
        }
        std::uint64_t equal = 0;
        for (std::size_t slot = 0; slot < Fanout; ++slot)
            equal |= std::uint64_t{label[slot] == lowest} << slot;
        return static_cast<std::size_t>(std::countr_zero(equal & slots));
    }

    void put(std::size_t slot, std::uint32_t of, const capacity_key& at,
             const resources<Width>& amounts, std::uint64_t satisfied,
             std::size_t thresholds) noexcept {
        used |= std::uint64_t{1} << slot;
        node[slot] = of;
        rank[slot] = at.rank;
        label[slot] = at.label;
        free[slot] = amounts;
        sketch[slot] = satisfied;
        slices.add(slot, satisfied, thresholds);
    }
    void take(std::size_t slot, std::size_t thresholds) noexcept {
        used &= ~(std::uint64_t{1} << slot);
        const std::uint64_t satisfied = sketch[slot];
        sketch[slot] = 0;
        // Some rows beside it usually satisfy as much, and then nothing else has to be looked at.
        std::uint64_t others = 0;
        const std::size_t first = slot / group * group;
        for (std::size_t each = first; each < first + group; ++each)
            others |= sketch[each];
        slices.remove(slot, satisfied, others, thresholds);
        loose |= loosens(bound, free[slot], no_rows_bound<Width>());
    }

    /// The least bound of the rows. O(rows · width).
    void tighten() noexcept {
        resources<Width> least_bound = no_rows_bound<Width>();
        for_each_bit(used, [&](std::size_t slot) { raise_to(least_bound, free[slot]); });
        bound = least_bound;
        loose = false;
    }

    /// Keeps only the rows in these slots.
    void keep(std::uint64_t slots) noexcept {
        for_each_bit(used & ~slots, [this](std::size_t slot) { sketch[slot] = 0; });
        used &= slots;
        slices.rewrite([slots](std::uint64_t word) { return word & slots; });
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
    /// Up to so many rows are compared one by one faster than all slots are in vectors.
    static constexpr std::size_t few = wide_vectors ? 8 : 64;
};

} // namespace detail
} // namespace muster::inline v0_1
