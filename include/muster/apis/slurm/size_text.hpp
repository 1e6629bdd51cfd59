// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace slurm {

/// The largest count that sbatch takes.
inline constexpr std::int64_t largest_count = std::numeric_limits<std::int32_t>::max();
/// 8 EiB.
inline constexpr std::int64_t largest_mebibytes = std::int64_t{1} << 43U;

/// Parses decimal digits alone; nullopt for anything else and for numbers out of bounds.
[[nodiscard]] inline std::optional<std::int64_t>
parse_number(std::string_view text, std::int64_t least = 0, std::int64_t most = largest_count) {
    if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos)
        return std::nullopt;
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec != std::errc{} || parsed.ptr != end || number < least || number > most)
        return std::nullopt;
    return number;
}

/// Parses a size of memory in mebibytes: digits, and one of K, M, G, T in either case with an
/// optional B. Without a unit it is in mebibytes; kibibytes are rounded up. nullopt for anything
/// else and beyond 8 EiB.
[[nodiscard]] inline std::optional<std::int64_t> parse_mebibytes(std::string_view text) {
    constexpr std::string_view letters = "kmgtKMGT";
    const std::size_t digits = text.find_first_not_of("0123456789");
    const auto number =
        parse_number(text.substr(0, digits), 0, std::numeric_limits<std::int64_t>::max());
    std::string_view unit = digits == std::string_view::npos ? "M" : text.substr(digits);
    if (unit.size() == 2 && (unit[1] == 'B' || unit[1] == 'b'))
        unit.remove_suffix(1);
    if (!number || unit.size() != 1 || letters.find(unit[0]) == std::string_view::npos)
        return std::nullopt;
    const std::size_t power = letters.find(unit[0]) % 4;
    if (power == 0)
        return *number / 1024 + (*number % 1024 == 0 ? 0 : 1);
    const std::int64_t scale = std::int64_t{1} << (10 * (power - 1));
    if (*number > largest_mebibytes / scale)
        return std::nullopt;
    return *number * scale;
}

/// Parses a count of generic resources: digits, and one of K, M, G, T, P (powers of 1024) in either
/// case. nullopt for anything else and beyond `largest_count`.
[[nodiscard]] inline std::optional<std::int64_t> parse_scaled_count(std::string_view text) {
    constexpr std::string_view letters = "kmgtpKMGTP";
    std::int64_t scale = 1;
    if (!text.empty() && letters.find(text.back()) != std::string_view::npos) {
        scale = std::int64_t{1} << (10 * (letters.find(text.back()) % 5 + 1));
        text.remove_suffix(1);
    }
    const auto number = parse_number(text);
    if (!number || *number > largest_count / scale)
        return std::nullopt;
    return *number * scale;
}

} // namespace slurm
} // namespace codec
} // namespace v0_1
} // namespace muster
