// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster {
inline namespace v0_1 {

/// Returns foreign text in double quotes, safe to print: control characters are escaped, and "..."
/// replaces what exceeds `longest` bytes (never in the middle of a UTF-8 character). O(longest).
[[nodiscard]] inline std::string in_quotes(std::string_view text, std::size_t longest = 64) {
    constexpr std::string_view hex = "0123456789abcdef";
    std::size_t length = text.size();
    if (length > longest) {
        length = longest;
        while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U)
            --length;
    }
    std::string out = "\"";
    for (const char c : text.substr(0, length)) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (byte < 0x20 || byte == 0x7F) {
            out += "\\x";
            out += hex[byte >> 4U];
            out += hex[byte & 15U];
        } else {
            out += c;
        }
    }
    if (length < text.size())
        out += "...";
    return out += '"';
}

/// Returns the text or, if it exceeds `longest` bytes, its start and "...", together at most
/// `longest` bytes. Never splits a UTF-8 character. Precondition: `longest` is at least 3.
/// O(longest).
[[nodiscard]] inline std::string shortened(std::string_view text, std::size_t longest) {
    if (text.size() <= longest)
        return std::string(text);
    std::size_t end = longest - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
        --end;
    return std::string(text.substr(0, end)) + "...";
}

/// Returns the end of a list that is cut off: " (+1 pod)", " (+2 pods)", or nothing.
[[nodiscard]] inline std::string more_text(std::size_t count, std::string_view noun) {
    if (count == 0)
        return {};
    return " (+" + std::to_string(count) + " " + std::string(noun) + (count == 1 ? ")" : "s)");
}

/// Returns at most `max_listed` of the texts, joined by commas, then the number of further ones:
/// "a, b, c (+2 pods)".
[[nodiscard]] inline std::string list_text(const std::vector<std::string>& all,
                                           std::string_view noun, std::size_t max_listed = 3) {
    const std::size_t listed = std::min(max_listed, all.size());
    std::string text;
    for (std::size_t at = 0; at < listed; ++at)
        text += (at > 0 ? ", " : "") + all[at];
    return text + more_text(all.size() - listed, noun);
}

} // namespace v0_1
} // namespace muster
