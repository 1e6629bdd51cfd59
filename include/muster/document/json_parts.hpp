// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Returns the offset after the JSON value that starts at `at`, or npos if the text ends inside the
/// value. Looks only at brackets and quotes, so errors inside the value do not matter. Handles any
/// depth without recursion. O(length of the value).
[[nodiscard]] inline std::size_t end_of_json_value(std::string_view text, std::size_t at) {
    std::size_t depth = 0;
    while (at < text.size()) {
        const char c = text[at];
        if (c == '"') {
            for (++at; at < text.size() && text[at] != '"'; ++at)
                if (text[at] == '\\')
                    ++at;
            if (at >= text.size())
                return std::string_view::npos;
            ++at;
        } else if (c == '{' || c == '[') {
            ++depth;
            ++at;
        } else if (c == '}' || c == ']') {
            if (depth == 0)
                return std::string_view::npos;
            --depth;
            ++at;
        } else if (depth > 0) {
            ++at;
        } else {
            return std::min(text.find_first_of(" \t\r\n,:]}", at), text.size());
        }
        if (depth == 0)
            return at;
    }
    return std::string_view::npos;
}

/// Splits the text of a JSON object or list. Calls `visit(key, value)` with the text of each member
/// (the key with its quotes) or element (the key is empty). Returns false if the text is neither an
/// object nor a list, or ends early; members before that point have been visited.
template<class Visit>
bool each_json_part(std::string_view text, const Visit& visit) {
    const auto blank = [&](std::size_t from) {
        return std::min(text.find_first_not_of(" \t\r\n", from), text.size());
    };
    std::size_t at = blank(0);
    if (at == text.size() || (text[at] != '{' && text[at] != '['))
        return false;
    const bool is_object = text[at] == '{';
    const char closing = is_object ? '}' : ']';
    at = blank(at + 1);
    if (at < text.size() && text[at] == closing)
        return true;
    while (at < text.size()) {
        std::string_view key;
        if (is_object) {
            const std::size_t end = text[at] == '"' ? end_of_json_value(text, at) : text.npos;
            if (end == text.npos)
                return false;
            key = text.substr(at, end - at);
            at = blank(end);
            if (at == text.size() || text[at] != ':')
                return false;
            at = blank(at + 1);
        }
        const std::size_t end = end_of_json_value(text, at);
        if (end == text.npos || end == at)
            return false;
        visit(key, text.substr(at, end - at));
        at = blank(end);
        if (at == text.size() || (text[at] != ',' && text[at] != closing))
            return false;
        if (text[at] == closing)
            return true;
        at = blank(at + 1);
    }
    return false;
}

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
