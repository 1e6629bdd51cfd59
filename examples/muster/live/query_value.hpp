// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cli {

/// Decodes %XX; an incomplete or invalid escape stays as it is.
[[nodiscard]] inline std::string percent_decoded(std::string_view text) {
    const auto digit = [&](std::size_t at) {
        const char c = at < text.size() ? text[at] : ' ';
        return c >= '0' && c <= '9'   ? c - '0'
               : c >= 'a' && c <= 'f' ? c - 'a' + 10
               : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                      : -1;
    };
    std::string made;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const int high = text[at] == '%' ? digit(at + 1) : -1;
        const int low = high >= 0 ? digit(at + 2) : -1;
        if (low < 0) {
            made += text[at];
            continue;
        }
        made += static_cast<char>(high * 16 + low);
        at += 2;
    }
    return made;
}

/// Returns the first value of `key` in the query of a URL, decoded, or nullopt if it has no such
/// key.
[[nodiscard]] inline std::optional<std::string> query_value(std::string_view query,
                                                            std::string_view key) {
    while (!query.empty()) {
        const std::size_t end = query.find('&');
        const std::string_view pair = query.substr(0, end);
        const std::size_t equals = pair.find('=');
        if (pair.substr(0, equals) == key)
            return percent_decoded(equals == pair.npos ? std::string_view{}
                                                       : pair.substr(equals + 1));
        query = end == query.npos ? std::string_view{} : query.substr(end + 1);
    }
    return std::nullopt;
}

} // namespace cli
