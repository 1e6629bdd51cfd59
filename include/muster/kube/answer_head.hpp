// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <muster/kube/time.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {
namespace detail {

/// Parses the head of an HTTP response line by line.
struct answer_head {
    std::size_t size = 0;
    bool marks_end = false;                  ///< the head has Content-Length or Transfer-Encoding
    std::optional<std::int64_t> retry_after; ///< nanoseconds, at most a day

    void take(std::string_view line) {
        size += line.size();
        if (line.starts_with("HTTP/")) {
            marks_end = false;
            retry_after.reset();
        }
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos)
            return;
        std::string name(line.substr(0, colon));
        std::ranges::transform(name, name.begin(),
                               [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        std::string_view value = line.substr(colon + 1);
        while (!value.empty() && (value.front() == ' ' || value.front() == '\t'))
            value.remove_prefix(1);
        if (name == "content-length" || name == "transfer-encoding")
            marks_end = true;
        if (name == "retry-after")
            retry_after = seconds(value);
    }

    static std::optional<std::int64_t> seconds(std::string_view text) {
        std::int64_t number = 0;
        std::size_t digits = 0;
        for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits)
            number = std::min<std::int64_t>(number * 10 + (text[digits] - '0'), 86'400);
        // A date would need the wall clock, so it is ignored.
        return digits > 0 ? std::optional(number * second) : std::nullopt;
    }
};

} // namespace detail
} // namespace kube
} // namespace v0_1
} // namespace muster
