// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <muster/devices/device_attributes.hpp>

namespace muster {
inline namespace v0_1 {

namespace version_detail {

inline constexpr std::string_view digit_bytes = "0123456789";

[[nodiscard]] constexpr bool is_number(std::string_view text) noexcept {
    return !text.empty() && text.find_first_not_of(digit_bytes) == std::string_view::npos;
}

/// Parses digits without a leading zero that fit uint64.
[[nodiscard]] inline std::optional<std::uint64_t> parse_number(std::string_view text) noexcept {
    if (!is_number(text) || (text.size() > 1 && text.front() == '0'))
        return std::nullopt;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{})
        return std::nullopt;
    return number;
}

/// An identifier of a prerelease or of build metadata: letters, digits and hyphens.
[[nodiscard]] constexpr bool is_identifier(std::string_view text) noexcept {
    for (const char each : text)
        if (!(each >= '0' && each <= '9') && !(each >= 'a' && each <= 'z') &&
            !(each >= 'A' && each <= 'Z') && each != '-')
            return false;
    return !text.empty();
}

/// Returns the text before the separator and removes it from `rest`, the separator as well. If
/// there is no separator: all of `rest`.
[[nodiscard]] constexpr std::string_view take_until(std::string_view& rest, char separator) {
    const auto end = rest.find(separator);
    const auto head = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return head;
}

[[nodiscard]] inline std::weak_ordering compare_identifiers(std::string_view lhs,
                                                            std::string_view rhs) noexcept {
    if (is_number(lhs) != is_number(rhs))
        return is_number(lhs) ? std::weak_ordering::less : std::weak_ordering::greater;
    // Numbers have no leading zeros: the longer is the larger.
    if (is_number(lhs) && lhs.size() != rhs.size())
        return lhs.size() <=> rhs.size();
    return lhs.compare(rhs) <=> 0;
}

} // namespace version_detail

/// Parses `major.minor.patch[-prerelease][+build]` as semver.org 2.0.0 defines it. Returns nullopt
/// if the text is anything else, or if one of its numbers does not fit uint64. O(text).
[[nodiscard]] inline std::optional<semantic_version> parse_semantic_version(std::string_view text) {
    using namespace version_detail;
    const bool has_build = text.find('+') != std::string_view::npos;
    auto numbers = take_until(text, '+');
    auto build = text;
    const bool has_prerelease = numbers.find('-') != std::string_view::npos;
    auto prerelease = numbers;
    numbers = take_until(prerelease, '-');

    const auto major = parse_number(take_until(numbers, '.'));
    const auto minor = parse_number(take_until(numbers, '.'));
    const auto patch = parse_number(numbers);
    if (!major || !minor || !patch)
        return std::nullopt;
    semantic_version version{*major, *minor, *patch, {}, std::string(build)};

    for (bool more = has_prerelease; more;) {
        more = prerelease.find('.') != std::string_view::npos;
        const auto identifier = take_until(prerelease, '.');
        if (!is_identifier(identifier) || (is_number(identifier) && !parse_number(identifier)))
            return std::nullopt;
        version.prerelease.emplace_back(identifier);
    }
    for (bool more = has_build; more;) {
        more = build.find('.') != std::string_view::npos;
        if (!is_identifier(take_until(build, '.')))
            return std::nullopt;
    }
    return version;
}

/// As parse_semantic_version(), but accepts a leading `v`, leading zeros, and fewer than three
/// numbers if neither prerelease nor build follows.
[[nodiscard]] inline std::optional<semantic_version>
parse_loose_semantic_version(std::string_view text) {
    using namespace version_detail;
    if (text.starts_with('v'))
        text.remove_prefix(1);
    std::string normal;
    for (int part = 0; part < 3; ++part) {
        const bool is_present = part == 0 || text.data() != nullptr;
        std::string_view number = "0";
        if (is_present) {
            const auto end = part < 2 ? text.find('.') : std::string_view::npos;
            number = text.substr(0, end);
            text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
            const bool is_short = part < 2 && end == std::string_view::npos;
            if (is_short && number.find_first_of("+-") != std::string_view::npos)
                return std::nullopt;
            while (number.size() > 1 && number[0] == '0' && number[1] >= '0' && number[1] <= '9')
                number.remove_prefix(1);
        }
        normal.append(part == 0 ? "" : ".").append(number);
    }
    return parse_semantic_version(normal);
}

/// Compares by precedence: numbers first, a prerelease is below its release, build metadata does
/// not count. O(prerelease).
[[nodiscard]] inline std::weak_ordering compare_versions(const semantic_version& lhs,
                                                         const semantic_version& rhs) noexcept {
    if (const auto order = lhs.major <=> rhs.major; order != 0)
        return order;
    if (const auto order = lhs.minor <=> rhs.minor; order != 0)
        return order;
    if (const auto order = lhs.patch <=> rhs.patch; order != 0)
        return order;
    if (lhs.prerelease.empty() != rhs.prerelease.empty())
        return lhs.prerelease.empty() ? std::weak_ordering::greater : std::weak_ordering::less;
    for (std::size_t index = 0; index < lhs.prerelease.size(); ++index) {
        if (index == rhs.prerelease.size())
            return std::weak_ordering::greater;
        const auto order =
            version_detail::compare_identifiers(lhs.prerelease[index], rhs.prerelease[index]);
        if (order != 0)
            return order;
    }
    return lhs.prerelease.size() <=> rhs.prerelease.size();
}

} // namespace v0_1
} // namespace muster
