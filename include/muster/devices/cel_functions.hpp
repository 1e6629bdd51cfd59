// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/devices/cel_operators.hpp>
#include <muster/devices/cel_syntax.hpp>
#include <muster/devices/cel_values.hpp>
#include <muster/devices/semantic_version_text.hpp>
#include <muster/devices/text_pattern.hpp>
#include <muster/devices/utf8.hpp>
#include <muster/resource/quantity_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace cel {

/// Bytes of a quantity or of a version. Bounds what a copy costs.
inline constexpr std::size_t max_literal = 256;

/// Returns the sum, or the difference, if both quantities are whole numbers of thousandths that fit
/// int64.
[[nodiscard]] inline value add_amounts(const quantity& lhs, const quantity& rhs, bool subtract) {
    const auto left = lhs.exact_milli();
    const auto right = rhs.exact_milli();
    std::int64_t sum = 0;
    if (!left || !right || lhs.milli_down() != *left || rhs.milli_down() != *right ||
        !(subtract ? !__builtin_sub_overflow(*left, *right, &sum)
                   : checked_add(*left, *right, sum)))
        return undecided("a sum of quantities this large or this fine");
    return amount_value{quantity(sum, quantity_scale::milli, lhs.format()), true, true};
}

[[nodiscard]] inline value make_amount(const std::string& text) {
    if (text.size() > max_literal)
        return undecided("a quantity of more than 256 bytes");
    const auto parsed = parse_quantity(text);
    if (!parsed)
        return fails("not a quantity: " + text);
    // An exponent (1e3) or a suffix of a thousandth or less may hide a whole number.
    const bool is_scaled = text.find_first_of("num.eE") != std::string::npos;
    return amount_value{*parsed, is_scaled, false};
}

/// Whether Kubernetes converts the quantity to an int64, and to which.
[[nodiscard]] inline value to_integer(const amount_value& amount, bool only_ask) {
    const auto units = amount.amount.units_down();
    const bool is_whole =
        quantity(units, quantity_scale::units, quantity_format::decimal_si) == amount.amount;
    if (is_whole && amount.was_scaled)
        return undecided("the integer of a quantity with a fraction or an exponent");
    if (only_ask)
        return is_whole;
    return is_whole ? value(units) : fails("cannot convert value to integer");
}

/// Offset of the code point with this index; nullopt if the text is shorter.
[[nodiscard]] inline std::optional<std::size_t> offset_of(std::string_view text,
                                                          std::int64_t index) {
    auto rest = text;
    for (std::int64_t passed = 0; passed < index; ++passed) {
        if (rest.empty())
            return std::nullopt;
        (void)take_code_point(rest);
    }
    if (index < 0)
        return std::nullopt;
    return text.size() - rest.size();
}

[[nodiscard]] inline value substring(std::string_view text, std::int64_t first,
                                     std::optional<std::int64_t> last) {
    const auto begin = offset_of(text, first);
    const auto end = last ? offset_of(text, *last) : text.size();
    if (!begin || !end || *begin > *end)
        return fails("index out of range");
    return std::string(text.substr(*begin, *end - *begin));
}

/// Splits at a separator, into code points if it is empty; at most `limit` parts, all if negative.
[[nodiscard]] inline std::vector<std::string_view>
split(std::string_view text, std::string_view separator, std::int64_t limit) {
    std::vector<std::string_view> parts;
    while (limit != 0 && (limit < 0 || static_cast<std::int64_t>(parts.size()) + 1 < limit)) {
        auto end = text.find(separator);
        if (separator.empty()) {
            auto rest = text;
            end = std::string_view::npos;
            if (!rest.empty())
                (void)take_code_point(rest);
            if (!rest.empty())
                end = text.size() - rest.size();
        }
        if (end == std::string_view::npos)
            break;
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end + separator.size());
    }
    if (limit != 0 && !(separator.empty() && text.empty()))
        parts.push_back(text);
    return parts;
}

/// Replaces the first `limit` occurrences, all if negative.
[[nodiscard]] inline value replace(std::string_view text, std::string_view from,
                                   std::string_view to, std::int64_t limit, step_budget& budget) {
    std::string made;
    std::size_t at = 0;
    for (; limit != 0; --limit) {
        const auto found = text.find(from, at);
        if (found == std::string_view::npos || (from.empty() && found == text.size()))
            break;
        if (!budget.spend(1 + to.size()))
            return exhausted();
        made.append(text.substr(at, found - at)).append(to);
        at = found + from.size();
        if (from.empty()) {
            auto rest = text.substr(at);
            (void)take_code_point(rest);
            const auto next = text.size() - rest.size();
            made.append(text.substr(at, next - at));
            at = next;
        }
    }
    // An empty text also occurs at the end.
    if (from.empty() && limit != 0 && at == text.size())
        made.append(to);
    return made.append(text.substr(at));
}

[[nodiscard]] inline value convert(function called, const value& from) {
    const auto* text = from.as<std::string>();
    const auto* number = from.as<std::int64_t>();
    if (called == function::to_text) {
        if (const auto* flag = from.as<bool>())
            return std::string(*flag ? "true" : "false");
        if (text != nullptr)
            return *text;
        return number != nullptr ? value(std::to_string(*number)) : no_overload();
    }
    if (number != nullptr)
        return *number;
    if (text == nullptr)
        return no_overload();
    std::string_view digits = *text;
    if (digits.starts_with('+') && !digits.starts_with("+-"))
        digits.remove_prefix(1);
    std::int64_t made = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), made);
    if (error != std::errc{} || end != digits.data() + digits.size())
        return fails("not an int: " + *text);
    return made;
}

[[nodiscard]] inline value optional_call(function called, const std::vector<value>& arguments) {
    const auto* optional = arguments[0].as<optional_value>();
    if (optional == nullptr)
        return no_overload();
    const bool has_value = optional->held != nullptr;
    if (called == function::has_value)
        return has_value;
    return has_value ? *optional->held : fails("optional.none() dereference");
}

[[nodiscard]] inline value ordering_call(function called, std::weak_ordering found) {
    if (called == function::is_greater)
        return found > 0;
    if (called == function::is_less)
        return found < 0;
    return std::int64_t{found < 0 ? -1 : found > 0 ? 1 : 0};
}

[[nodiscard]] inline value amount_call(function called, const std::vector<value>& arguments) {
    const auto& amount = *arguments[0].as<amount_value>();
    const auto* other = arguments.size() == 2 ? arguments[1].as<amount_value>() : nullptr;
    switch (called) {
    case function::compare:
    case function::is_greater:
    case function::is_less:
        return other == nullptr ? no_overload()
                                : ordering_call(called, amount.amount <=> other->amount);
    case function::add:
    case function::subtract:
        if (const auto* number = arguments[1].as<std::int64_t>())
            return add_amounts(
                amount.amount,
                quantity(*number, quantity_scale::units, quantity_format::decimal_exponent),
                called == function::subtract);
        return other == nullptr
                   ? no_overload()
                   : add_amounts(amount.amount, other->amount, called == function::subtract);
    case function::sign:
        return std::int64_t{amount.amount.sign()};
    case function::is_integer:
    case function::as_integer:
        return to_integer(amount, called == function::is_integer);
    default:
        return no_overload();
    }
}

[[nodiscard]] inline value version_call(function called, const std::vector<value>& arguments) {
    const auto& version = *arguments[0].as<semantic_version>();
    const auto part = [](std::uint64_t number) {
        return number <= std::uint64_t{std::numeric_limits<std::int64_t>::max()}
                   ? value(static_cast<std::int64_t>(number))
                   : undecided("a version number this large");
    };
    switch (called) {
    case function::major:
        return part(version.major);
    case function::minor:
        return part(version.minor);
    case function::patch:
        return part(version.patch);
    case function::compare:
    case function::is_greater:
    case function::is_less:
        if (const auto* other = arguments[1].as<semantic_version>())
            return ordering_call(called, compare_versions(version, *other));
        return no_overload();
    default:
        return no_overload();
    }
}

[[nodiscard]] inline value change_case(std::string text, bool to_upper) {
    const char first = to_upper ? 'a' : 'A';
    for (char& each : text)
        if (each >= first && each <= first + 25)
            each = static_cast<char>(each ^ 0x20);
    return text;
}

/// Removes white space at both ends.
[[nodiscard]] inline value trim(const std::string& text) {
    constexpr std::string_view blanks = " \t\n\v\f\r";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string::npos)
        return std::string();
    const auto last = text.find_last_not_of(blanks);
    const auto kept = text.substr(first, last - first + 1);
    // Blanks beyond ASCII.
    if (static_cast<signed char>(kept.front()) < 0 || static_cast<signed char>(kept.back()) < 0)
        return undecided("trim() of a text that is not ASCII");
    return kept;
}

[[nodiscard]] inline value parse_version(function called, const std::vector<value>& arguments) {
    const auto& text = *arguments[0].as<std::string>();
    const auto* is_loose = arguments.size() == 2 ? arguments[1].as<bool>() : nullptr;
    if (arguments.size() == 2 && is_loose == nullptr)
        return no_overload();
    if (text.size() > max_literal)
        return undecided("a version of more than 256 bytes");
    const auto version = is_loose != nullptr && *is_loose ? parse_loose_semantic_version(text)
                                                          : parse_semantic_version(text);
    if (called == function::is_version)
        return version.has_value();
    return version ? value(*version) : fails("not a semantic version: " + text);
}

[[nodiscard]] inline value cut(const std::string& text, const std::vector<value>& arguments) {
    const auto* first = arguments[1].as<std::int64_t>();
    const auto* last = arguments.size() == 3 ? arguments[2].as<std::int64_t>() : nullptr;
    if (first == nullptr || (arguments.size() == 3 && last == nullptr))
        return no_overload();
    return substring(text, *first, last != nullptr ? std::optional(*last) : std::nullopt);
}

[[nodiscard]] inline value matches(const std::string& text, const std::string& pattern,
                                   step_budget& budget) {
    const auto compiled = text_pattern::compile(pattern);
    if (!compiled)
        return undecided(compiled.error());
    if (!budget.spend((text.size() + 1) * compiled->size() / 4))
        return exhausted();
    return compiled->matches(text);
}

[[nodiscard]] inline value edit(function called, const std::vector<value>& arguments,
                                step_budget& budget) {
    const std::size_t fixed = called == function::split ? 2 : 3;
    const auto& text = *arguments[0].as<std::string>();
    const auto& pattern = *arguments[1].as<std::string>();
    std::int64_t limit = -1;
    if (arguments.size() > fixed) {
        const auto* given = arguments[fixed].as<std::int64_t>();
        if (given == nullptr)
            return no_overload();
        limit = *given;
    }
    if (called == function::replace) {
        const auto* to = arguments[2].as<std::string>();
        return to == nullptr ? no_overload() : replace(text, pattern, *to, limit, budget);
    }
    if (!budget.spend(text.size()))
        return exhausted();
    std::vector<value> parts;
    for (const auto part : split(text, pattern, limit))
        parts.emplace_back(std::string(part));
    return make_list(std::move(parts));
}

[[nodiscard]] inline value text_call(function called, const std::vector<value>& arguments,
                                     step_budget& budget) {
    const auto& text = *arguments[0].as<std::string>();
    const auto* other = arguments.size() > 1 ? arguments[1].as<std::string>() : nullptr;
    // A search may compare each byte with each.
    const std::size_t searched = 1 + (other != nullptr ? other->size() / 16 : 0);
    if (!budget.spend((1 + text.size() / 16) * searched))
        return exhausted();
    switch (called) {
    case function::lower:
    case function::upper:
        return change_case(text, called == function::upper);
    case function::trim:
        return trim(text);
    case function::make_quantity:
        return make_amount(text);
    case function::is_quantity:
        return text.size() > max_literal ? undecided("a quantity of more than 256 bytes")
                                         : value(parse_quantity(text).has_value());
    case function::make_version:
    case function::is_version:
        return parse_version(called, arguments);
    case function::substring:
        return cut(text, arguments);
    default:
        break;
    }
    if (other == nullptr)
        return no_overload();
    switch (called) {
    case function::contains:
        return text.find(*other) != std::string::npos;
    case function::starts_with:
        return text.starts_with(*other);
    case function::ends_with:
        return text.ends_with(*other);
    case function::matches:
        return matches(text, *other, budget);
    case function::replace:
    case function::split:
        return edit(called, arguments, budget);
    default:
        return no_overload();
    }
}

} // namespace cel
} // namespace v0_1
} // namespace muster
