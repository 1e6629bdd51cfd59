// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Nanoseconds of a duration as T9k queues write it: numbers with the units y, w, d, h, m, s and
/// ms, each at most once and in that order, such as 1d12h; a year has 365 days. `0` and the empty
/// text are 0. Nothing when the text is not exactly that, or the sum leaves int64.
[[nodiscard]] constexpr std::optional<std::int64_t> parse_duration(std::string_view text) {
    struct unit {
        std::string_view name;
        std::int64_t nanoseconds;
    };
    constexpr std::int64_t second = 1'000'000'000;
    constexpr std::array<unit, 7> units{{{"y", 365 * 86'400 * second},
                                         {"w", 7 * 86'400 * second},
                                         {"d", 86'400 * second},
                                         {"h", 3'600 * second},
                                         {"m", 60 * second},
                                         {"s", second},
                                         {"ms", second / 1'000}}};
    if (text == "0")
        return 0;
    std::int64_t sum = 0;
    std::size_t next = 0;
    while (!text.empty()) {
        std::int64_t number = 0;
        std::size_t digits = 0;
        for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits)
            if (__builtin_mul_overflow(number, std::int64_t{10}, &number) ||
                __builtin_add_overflow(number, text[digits] - '0', &number))
                return std::nullopt;
        std::size_t letters = 0;
        while (digits + letters < text.size() &&
               (text[digits + letters] < '0' || text[digits + letters] > '9'))
            ++letters;
        const std::string_view name = text.substr(digits, letters);
        while (next < units.size() && units[next].name != name)
            ++next;
        if (digits == 0 || next == units.size())
            return std::nullopt;
        std::int64_t part = 0;
        if (__builtin_mul_overflow(number, units[next].nanoseconds, &part) ||
            __builtin_add_overflow(sum, part, &sum))
            return std::nullopt;
        ++next;
        text.remove_prefix(digits + letters);
    }
    return sum;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
