// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {
namespace detail {

/// FNV-1a, with the length of each part so that parts cannot run together.
[[nodiscard]] constexpr std::uint64_t fnv(std::uint64_t hash, std::string_view text) {
    const auto mix = [&](std::uint64_t byte) { hash = (hash ^ byte) * 1099511628211U; };
    for (std::size_t length = text.size(), i = 0; i < 8; ++i, length >>= 8)
        mix(length & 0xff);
    for (const char c : text)
        mix(static_cast<unsigned char>(c));
    return hash;
}

/// Spreads every bit over the whole word (the finalizer of MurmurHash3).
[[nodiscard]] constexpr std::uint64_t spread(std::uint64_t bits) {
    bits = (bits ^ (bits >> 33)) * 0xff51afd7ed558ccdU;
    bits = (bits ^ (bits >> 33)) * 0xc4ceb9fe1a85ec53U;
    return bits ^ (bits >> 33);
}

} // namespace detail

/// Which change of a condition this is: a UUID (version 8, RFC 9562) made from the object's uid,
/// the condition's type and the id of the change before, so that the same history has the same ids.
[[nodiscard]] inline std::string transition_id(std::string_view uid, std::string_view type,
                                               std::string_view previous) {
    using detail::fnv;
    const auto hash = [&](std::uint64_t seed) {
        return detail::spread(fnv(fnv(fnv(seed, uid), type), previous));
    };
    std::uint64_t high = hash(14695981039346656037U);
    std::uint64_t low = hash(0x9ae16a3b2f90404fU);
    high = (high & ~std::uint64_t{0xf000}) | 0x8000;
    low = (low & (~std::uint64_t{0} >> 2)) | (std::uint64_t{1} << 63);
    std::string text;
    for (int digit = 0; digit < 32; ++digit) {
        if (digit == 8 || digit == 12 || digit == 16 || digit == 20)
            text += '-';
        const std::uint64_t word = digit < 16 ? high : low;
        text += "0123456789abcdef"[(word >> (60 - 4 * (digit % 16))) & 0xf];
    }
    return text;
}

} // namespace lifecycle
} // namespace v0_1
} // namespace muster
