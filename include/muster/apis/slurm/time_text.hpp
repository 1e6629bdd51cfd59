// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <muster/apis/slurm/size_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace slurm {

/// A limit of the run time.
struct time_limit {
    std::optional<std::int64_t> seconds; ///< absent: unlimited

    friend bool operator==(const time_limit&, const time_limit&) = default;
};

namespace detail {

[[nodiscard]] inline bool equal_in_any_case(std::string_view text, std::string_view lower) {
    return std::ranges::equal(text, lower, [](char a, char b) {
        return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    });
}

} // namespace detail

/// Parses a limit as `--time` states it: minutes, minutes:seconds, hours:minutes:seconds,
/// days-hours, days-hours:minutes, days-hours:minutes:seconds, `infinite` or `unlimited`. Zero is
/// unlimited, and seconds are rounded up to whole minutes, as Slurm does. At most 2^31 - 1 seconds;
/// nullopt for anything else.
[[nodiscard]] inline std::optional<time_limit> parse_time_limit(std::string_view text) {
    if (text == "-1" || detail::equal_in_any_case(text, "infinite") ||
        detail::equal_in_any_case(text, "unlimited"))
        return time_limit{};
    std::int64_t seconds = 0;
    const std::size_t dash = text.find('-');
    if (dash != std::string_view::npos) {
        const auto days = parse_number(text.substr(0, dash));
        if (!days)
            return std::nullopt;
        seconds = *days * 86400;
        text.remove_prefix(dash + 1);
    }
    std::array<std::int64_t, 3> parts{};
    std::size_t count = 0;
    for (bool more = true; more; ++count) {
        const std::size_t colon = text.find(':');
        more = colon != std::string_view::npos;
        const auto part = parse_number(text.substr(0, colon));
        if (!part || count == parts.size())
            return std::nullopt;
        parts[count] = *part;
        if (more)
            text.remove_prefix(colon + 1);
    }
    // Behind days the first part is hours. Without days it is minutes unless there are three parts.
    const bool hours = dash != std::string_view::npos || count == 3;
    seconds += hours ? parts[0] * 3600 + parts[1] * 60 + parts[2] : parts[0] * 60 + parts[1];
    if (seconds == 0)
        return time_limit{};
    seconds = (seconds + 59) / 60 * 60;
    if (seconds > largest_count)
        return std::nullopt;
    return time_limit{seconds};
}

} // namespace slurm
} // namespace codec
} // namespace v0_1
} // namespace muster
