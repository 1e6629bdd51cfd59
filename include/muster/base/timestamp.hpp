// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Returns the number in the `count` decimal digits at `at`; nullopt if there are not so many.
[[nodiscard]] constexpr std::optional<int> digits_at(std::string_view text, std::size_t at,
                                                     std::size_t count) {
    if (at + count > text.size())
        return std::nullopt;
    int number = 0;
    for (const char c : text.substr(at, count)) {
        if (c < '0' || c > '9')
            return std::nullopt;
        number = number * 10 + (c - '0');
    }
    return number;
}

/// Returns the days since 1970-01-01 in the Gregorian calendar, for years from 0 on. Years begin in
/// March here, so that the leap day is the last.
[[nodiscard]] constexpr std::int64_t days_from_civil(int year, int month, int day) {
    const std::int64_t march_year = month > 2 ? year : year - 1;
    const std::int64_t era = (march_year >= 0 ? march_year : march_year - 399) / 400;
    const std::int64_t year_of_era = march_year - era * 400;
    const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const std::int64_t day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146'097 + day_of_era - 719'468;
}

[[nodiscard]] constexpr int days_in(int year, int month) {
    if (month == 2)
        return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/// Returns the seconds east of UTC of `Z` or `+hh:mm`; nullopt for any other text.
[[nodiscard]] constexpr std::optional<std::int64_t> zone_offset(std::string_view zone) {
    if (zone == "Z")
        return 0;
    if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':')
        return std::nullopt;
    const auto hours = digits_at(zone, 1, 2);
    const auto minutes = digits_at(zone, 4, 2);
    if (!hours || !minutes || *hours > 23 || *minutes > 59)
        return std::nullopt;
    const std::int64_t seconds = *hours * 3600 + *minutes * 60;
    return zone[0] == '-' ? -seconds : seconds;
}

inline void append_padded(std::string& to, std::int64_t number, std::size_t digits, char after) {
    const std::string text = std::to_string(number);
    to.append(digits > text.size() ? digits - text.size() : 0, '0').append(text).append(1, after);
}

} // namespace detail

/// Returns the nanoseconds since 1970-01-01T00:00:00Z of an RFC 3339 time as Kubernetes writes it,
/// such as 2023-12-17T13:48:16Z. Any offset is accepted, and any number of fractional digits; those
/// beyond nanoseconds are cut off. Returns nullopt for other text (lower case t or z, leap seconds,
/// missing parts), and for years outside 1678 to 2261, which int64 cannot hold.
[[nodiscard]] constexpr std::optional<std::int64_t> parse_timestamp(std::string_view text) {
    const auto year = detail::digits_at(text, 0, 4);
    const auto month = detail::digits_at(text, 5, 2);
    const auto day = detail::digits_at(text, 8, 2);
    const auto hour = detail::digits_at(text, 11, 2);
    const auto minute = detail::digits_at(text, 14, 2);
    const auto second = detail::digits_at(text, 17, 2);
    if (!year || !month || !day || !hour || !minute || !second)
        return std::nullopt;
    if (text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':')
        return std::nullopt;
    if (*month < 1 || *month > 12 || *day < 1 || *day > detail::days_in(*year, *month) ||
        *hour > 23 || *minute > 59 || *second > 59)
        return std::nullopt;

    constexpr std::int64_t second_in_ns = 1'000'000'000;
    std::size_t at = 19;
    std::int64_t fraction = 0;
    if (at < text.size() && text[at] == '.') {
        const std::size_t first = ++at;
        for (std::int64_t unit = second_in_ns / 10;
             at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10)
            fraction += unit * (text[at] - '0');
        if (at == first)
            return std::nullopt;
    }
    const auto offset = detail::zone_offset(text.substr(at));
    if (!offset || *year < 1678 || *year > 2261)
        return std::nullopt;
    const std::int64_t seconds = detail::days_from_civil(*year, *month, *day) * 86'400 +
                                 *hour * 3600 + *minute * 60 + *second - *offset;
    return seconds * second_in_ns + fraction;
}

/// Returns the time, nanoseconds since 1970, in RFC 3339 and UTC, without trailing zeros.
[[nodiscard]] inline std::string time_text(std::int64_t time) {
    constexpr std::int64_t second = 1'000'000'000;
    constexpr std::int64_t day = 86'400;
    std::int64_t nanoseconds = time % second;
    std::int64_t seconds = time / second;
    if (nanoseconds < 0) {
        nanoseconds += second;
        --seconds;
    }
    std::int64_t days = seconds / day;
    std::int64_t clock = seconds % day;
    if (clock < 0) {
        clock += day;
        --days;
    }
    // The inverse of days_from_civil: years begin in March, so that the leap day is the last.
    const std::int64_t shifted = days + 719'468;
    const std::int64_t era = (shifted >= 0 ? shifted : shifted - 146'096) / 146'097;
    const std::int64_t day_of_era = shifted - era * 146'097;
    const std::int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
    const std::int64_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const std::int64_t march_month = (5 * day_of_year + 2) / 153;
    const std::int64_t month = march_month < 10 ? march_month + 3 : march_month - 9;
    const std::int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
    const std::int64_t day_of_month = day_of_year - (153 * march_month + 2) / 5 + 1;
    std::string text;
    detail::append_padded(text, year, 4, '-');
    detail::append_padded(text, month, 2, '-');
    detail::append_padded(text, day_of_month, 2, 'T');
    detail::append_padded(text, clock / 3600, 2, ':');
    detail::append_padded(text, clock / 60 % 60, 2, ':');
    detail::append_padded(text, clock % 60, 2, '.');
    detail::append_padded(text, nanoseconds, 9, '0');
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.')
        text.pop_back();
    return text += 'Z';
}

} // namespace v0_1
} // namespace muster
