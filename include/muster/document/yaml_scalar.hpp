// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>

#include <muster/base/result.hpp>
#include <muster/document/diagnostic.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// What the writer of a YAML node said about its type; `none` is a plain scalar without a tag.
enum class yaml_tag : std::uint8_t {
    none,
    text,
    integer,
    real,
    boolean,
    null,
    time,
    merge,
    binary
};

/// The meaning of a YAML scalar; a text views the scalar's characters.
using yaml_scalar =
    std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string_view>;

namespace detail {

[[nodiscard]] inline bool is_one_of(std::string_view text,
                                    std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

[[nodiscard]] inline bool all_digits(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Digits with at most one point among them, at least one digit, and an optional exponent.
[[nodiscard]] inline bool is_decimal(std::string_view text) {
    const std::size_t e = text.find_first_of("eE");
    if (e != std::string_view::npos) {
        std::string_view exponent = text.substr(e + 1);
        if (!exponent.empty() && (exponent[0] == '+' || exponent[0] == '-'))
            exponent.remove_prefix(1);
        if (exponent.empty() || !all_digits(exponent))
            return false;
        text = text.substr(0, e);
    }
    const std::size_t point = text.find('.');
    if (point == std::string_view::npos)
        return !text.empty() && all_digits(text);
    return text.size() > 1 && all_digits(text.substr(0, point)) &&
           all_digits(text.substr(point + 1));
}

/// An integer as Go's ParseInt(text, 0, 64) takes it: 0x, 0o, 0b or a leading 0 name the base.
/// `magnitude` is left alone unless true; false also for what does not fit 64 bits.
[[nodiscard]] inline bool parse_magnitude(std::string_view digits, std::uint64_t& magnitude) {
    int base = 10;
    if (digits.size() > 1 && digits[0] == '0') {
        const char mark = digits[1];
        const bool hex = mark == 'x' || mark == 'X';
        const bool binary = mark == 'b' || mark == 'B';
        base = hex ? 16 : binary ? 2 : 8;
        digits.remove_prefix(hex || binary || mark == 'o' || mark == 'O' ? 2 : 1);
    }
    std::uint64_t parsed = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, parsed, base);
    if (digits.empty() || error != std::errc{} || stop != end)
        return false;
    magnitude = parsed;
    return true;
}

[[nodiscard]] inline std::optional<yaml_scalar> as_yaml_number(std::string_view text) {
    constexpr auto top = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    std::string plain(text);
    plain.erase(std::remove(plain.begin(), plain.end(), '_'), plain.end());
    const bool negative = !plain.empty() && plain[0] == '-';
    const bool is_signed = negative || (!plain.empty() && plain[0] == '+');
    const std::string_view digits = std::string_view(plain).substr(is_signed ? 1 : 0);

    std::uint64_t magnitude = 0;
    if (parse_magnitude(digits, magnitude)) {
        if (negative && magnitude <= top + 1)
            return yaml_scalar(static_cast<std::int64_t>(0U - magnitude));
        if (!negative && magnitude <= top)
            return yaml_scalar(static_cast<std::int64_t>(magnitude));
        if (!negative && !is_signed)
            return yaml_scalar(magnitude);
    }
    if (!is_decimal(digits))
        return std::nullopt;
    double value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error == std::errc::result_out_of_range && digits.find("e-") == std::string_view::npos &&
        digits.find("E-") == std::string_view::npos)
        return std::nullopt;
    return yaml_scalar(negative ? -value : value);
}

/// A plain scalar, as YAML 1.1 in the dialect of go-yaml v2 (hence kubectl) resolves it.
[[nodiscard]] inline yaml_scalar resolve_plain(std::string_view text) {
    if (is_one_of(text, {"", "~", "null", "Null", "NULL"}))
        return nullptr;
    if (is_one_of(text, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"}))
        return true;
    if (is_one_of(text,
                  {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"}))
        return false;
    if (is_one_of(text, {".nan", ".NaN", ".NAN"}))
        return std::numeric_limits<double>::quiet_NaN();
    const std::string_view unsigned_text = text.substr(text[0] == '+' || text[0] == '-' ? 1 : 0);
    if (is_one_of(unsigned_text, {".inf", ".Inf", ".INF"}))
        return std::numeric_limits<double>::infinity();
    const char first = text[0];
    const bool starts_number = (first >= '0' && first <= '9') || first == '+' || first == '-' ||
                               (first == '.' && text.find('_') == std::string_view::npos);
    if (starts_number) {
        if (const auto number = as_yaml_number(text))
            return *number;
    }
    return text;
}

} // namespace detail

/// The value of a scalar under a tag, or what is wrong with it: a tag that does not suit the text,
/// or a number that JSON cannot carry. O(text).
[[nodiscard]] inline result<yaml_scalar, std::string> resolve_scalar(std::string_view text,
                                                                     yaml_tag tag) {
    if (tag == yaml_tag::text || tag == yaml_tag::time || tag == yaml_tag::merge)
        return yaml_scalar(text);
    yaml_scalar value = detail::resolve_plain(text);
    if (tag == yaml_tag::real) {
        if (const auto* number = std::get_if<std::int64_t>(&value))
            value = static_cast<double>(*number);
        else if (const auto* large = std::get_if<std::uint64_t>(&value))
            value = static_cast<double>(*large);
    }
    const bool whole =
        std::holds_alternative<std::int64_t>(value) || std::holds_alternative<std::uint64_t>(value);
    const auto mismatch = [&](std::string_view expected) {
        return failure<std::string>{in_quotes(text) + " is not " + std::string(expected)};
    };
    if (tag == yaml_tag::integer && !whole)
        return mismatch("a whole number, as its tag !!int says");
    if (tag == yaml_tag::real && !std::holds_alternative<double>(value))
        return mismatch("a number, as its tag !!float says");
    if (tag == yaml_tag::boolean && !std::holds_alternative<bool>(value))
        return mismatch("a truth value, as its tag !!bool says");
    if (tag == yaml_tag::null && !std::holds_alternative<std::nullptr_t>(value))
        return mismatch("null, as its tag !!null says");
    if (const auto* number = std::get_if<double>(&value);
        number != nullptr && !std::isfinite(*number))
        return mismatch("a finite number (quote it if it is a text)");
    return value;
}

/// A mapping key as kubectl makes it a string: 1 -> "1", yes -> "true", 1.50 -> "1.5"; null is
/// none.
[[nodiscard]] inline result<std::string, std::string> key_text(std::string_view text,
                                                               yaml_tag tag) {
    const auto resolved = resolve_scalar(text, tag);
    if (!resolved)
        return failure<std::string>{resolved.error()};
    const yaml_scalar& value = *resolved;
    if (const auto* words = std::get_if<std::string_view>(&value))
        return std::string(*words);
    if (const auto* truth = std::get_if<bool>(&value))
        return std::string(*truth ? "true" : "false");
    if (const auto* number = std::get_if<std::int64_t>(&value))
        return std::to_string(*number);
    if (const auto* large = std::get_if<std::uint64_t>(&value))
        return std::to_string(*large);
    if (const auto* real = std::get_if<double>(&value)) {
        // go-yaml writes such keys with the precision of a 32-bit float; so must we to match.
        std::array<char, 32> buffer{};
        const auto narrow = static_cast<float>(*real);
        const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                                narrow, std::chars_format::general);
        if (error == std::errc{} && std::isfinite(narrow))
            return std::string(buffer.data(), end);
    }
    return failure<std::string>{in_quotes(text) + " cannot be a key (expected a string; quote it)"};
}

} // namespace codec
} // namespace v0_1
} // namespace muster
