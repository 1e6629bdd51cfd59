// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {
inline namespace v0_1 {
namespace cel {

/// True for the values that UTF-8 encodes: up to 10FFFF without surrogates.
[[nodiscard]] constexpr bool is_code_point(std::uint32_t code) noexcept {
    return code < 0xD800 || (code > 0xDFFF && code <= 0x10FFFF);
}

/// Precondition: is_code_point(code).
inline void append_utf8(std::string& text, std::uint32_t code) {
    const auto tail = [&](unsigned shift) {
        text += static_cast<char>(0x80 | ((code >> shift) & 0x3F));
    };
    if (code < 0x80) {
        text += static_cast<char>(code);
    } else if (code < 0x800) {
        text += static_cast<char>(0xC0 | (code >> 6));
        tail(0);
    } else if (code < 0x10000) {
        text += static_cast<char>(0xE0 | (code >> 12));
        tail(6);
        tail(0);
    } else {
        text += static_cast<char>(0xF0 | (code >> 18));
        tail(12);
        tail(6);
        tail(0);
    }
}

/// Removes the first code point of a text and returns it. A byte that starts no code point is
/// U+FFFD. Precondition: the text is not empty.
[[nodiscard]] constexpr std::uint32_t take_code_point(std::string_view& text) noexcept {
    constexpr std::uint32_t replacement = 0xFFFD;
    const auto byte = [&](std::size_t index) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(text[index]));
    };
    const auto first = byte(0);
    const std::size_t size = first < 0x80    ? 1
                             : first < 0xC2  ? 0
                             : first < 0xE0  ? 2
                             : first < 0xF0  ? 3
                             : first <= 0xF4 ? 4
                                             : 0;
    auto code = size == 1 ? first : size == 0 ? replacement : first & (0xFFU >> (size + 1));
    bool is_valid = size > 0 && size <= text.size();
    for (std::size_t index = 1; is_valid && index < size; ++index) {
        is_valid = (byte(index) & 0xC0) == 0x80;
        code = (code << 6) | (byte(index) & 0x3F);
    }
    constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    is_valid = is_valid && code >= smallest[size] && is_code_point(code);
    text.remove_prefix(is_valid ? size : 1);
    return is_valid ? code : replacement;
}

/// Returns the number of code points. O(text).
[[nodiscard]] constexpr std::size_t count_code_points(std::string_view text) noexcept {
    std::size_t count = 0;
    for (; !text.empty(); ++count)
        (void)take_code_point(text);
    return count;
}

} // namespace cel
} // namespace v0_1
} // namespace muster
