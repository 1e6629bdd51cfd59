// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// True if the compiler vectorises a loop over all 64-bit entries of a block, so that the loop is
/// faster than reading only a few entries. It affects speed only.
#if defined(__AVX2__)
inline constexpr bool wide_vectors = true;
#else
inline constexpr bool wide_vectors = false;
#endif

/// Calls `visit(place)` for every set bit of the word, the lowest first.
template<class Visit>
constexpr void for_each_bit(std::uint64_t word, const Visit& visit) {
    for (; word != 0; word &= word - 1)
        visit(static_cast<std::size_t>(std::countr_zero(word)));
}

[[nodiscard]] constexpr std::size_t count_bits(std::uint64_t word) noexcept {
    return static_cast<std::size_t>(std::popcount(word));
}

/// Returns a word with the lowest `count` bits set; `count` is at most 64.
[[nodiscard]] constexpr std::uint64_t low_bits(std::size_t count) noexcept {
    return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

/// Returns the word with a clear bit inserted at `place`. The bits at `place` and above move up by
/// one.
[[nodiscard]] constexpr std::uint64_t open_bit(std::uint64_t word, std::size_t place) noexcept {
    const std::uint64_t below = low_bits(place);
    return (word & below) | ((word & ~below) << 1);
}

/// Returns the word without its bit at `place`. The bits above it move down by one.
[[nodiscard]] constexpr std::uint64_t close_bit(std::uint64_t word, std::size_t place) noexcept {
    const std::uint64_t below = low_bits(place);
    return (word & below) | ((word >> 1) & ~below);
}

[[nodiscard]] constexpr std::uint64_t with_bit(std::uint64_t word, std::size_t place,
                                               bool on) noexcept {
    const std::uint64_t bit = std::uint64_t{1} << place;
    return on ? word | bit : word & ~bit;
}

/// Up to 64 members with up to 64 yes-or-no properties each, stored by property: one word per
/// property has a bit for each member that has it. The properties of one member, as one word, are
/// its sketch.
template<std::size_t Properties>
struct bit_slices {
    static_assert(Properties >= 1 && Properties <= 64);

    std::array<std::uint64_t, Properties> members{};
    /// The properties that at least one member has.
    std::uint64_t any = 0;

    /// Replaces the sketch of a member, which was `before`. O(properties that change).
    void change(std::size_t member, std::uint64_t before, std::uint64_t after) noexcept {
        const std::uint64_t bit = std::uint64_t{1} << member;
        for_each_bit(before & ~after, [&](std::size_t property) {
            members[property] &= ~bit;
            any &= ~(std::uint64_t{members[property] == 0} << property);
        });
        any |= after;
        for_each_bit(after & ~before, [&](std::size_t property) { members[property] |= bit; });
    }

    /// Returns the members in `mask` that have all the wanted properties.
    [[nodiscard]] std::uint64_t having(std::uint64_t wanted, std::uint64_t mask) const noexcept {
        for (; wanted != 0; wanted &= wanted - 1)
            mask &= members[static_cast<std::size_t>(std::countr_zero(wanted))];
        return mask;
    }

    /// Replaces every word by `change(word)`, and recomputes `any`.
    template<class Change>
    void rewrite(const Change& change) {
        any = 0;
        for (std::size_t property = 0; property < Properties; ++property) {
            members[property] = change(members[property]);
            any |= std::uint64_t{members[property] != 0} << property;
        }
    }
};

} // namespace detail
} // namespace v0_1
} // namespace muster
