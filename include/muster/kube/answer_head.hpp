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

namespace muster::inline v0_1 {
namespace kube {
namespace detail {

/// The head of an answer as it comes in.
struct answer_head {
    std::size_t size = 0;
    bool marks_end = false; ///< it says how the end of the body is told
    std::optional<std::int64_t> retry_after;

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
        // A date is not worth a clock comparison: it counts as not being there.
        return digits > 0 ? std::optional(number * second) : std::nullopt;
    }
};

} // namespace detail
} // namespace kube
} // namespace muster::inline v0_1
