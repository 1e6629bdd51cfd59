// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/devices/cel_syntax.hpp>
#include <muster/devices/cel_values.hpp>
#include <muster/devices/semantic_version_text.hpp>
#include <muster/devices/text_pattern.hpp>
#include <muster/devices/utf8.hpp>
#include <muster/resource/quantity_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace cel {

/// Counts down the steps that an evaluation may take.
class step_budget {
public:
    explicit step_budget(std::size_t steps) : left_(steps) {}
    /// Returns false, now and later, if fewer steps are left.
    [[nodiscard]] bool spend(std::size_t steps) noexcept {
        left_ = steps <= left_ && !is_exhausted_ ? left_ - steps : 0;
        is_exhausted_ = is_exhausted_ || left_ == 0;
        return !is_exhausted_;
    }
    [[nodiscard]] bool is_exhausted() const noexcept { return is_exhausted_; }

private:
    std::size_t left_;
    bool is_exhausted_ = false;
};

[[nodiscard]] inline value no_overload() {
    return fails("no such overload");
}
[[nodiscard]] inline value exhausted() {
    return undecided("the selector takes too many steps");
}

[[nodiscard]] inline value make_list(std::vector<value> items) {
    list_value made;
    for (const value& item : items) {
        if (const auto* list = item.as<list_value>())
            made.depth = std::max(made.depth, list->depth + 1);
        if (const auto* optional = item.as<optional_value>())
            made.depth = std::max(made.depth, optional->depth + 1);
    }
    // Bounds the recursion of destructors.
    if (made.depth > 100)
        return undecided("lists in lists, more than 100 levels");
    made.items = std::make_shared<const std::vector<value>>(std::move(items));
    return made;
}

[[nodiscard]] inline value make_optional(value held) {
    optional_value made;
    if (const auto* list = held.as<list_value>())
        made.depth = list->depth + 1;
    if (const auto* optional = held.as<optional_value>())
        made.depth = optional->depth + 1;
    if (made.depth > 100)
        return undecided("optionals in optionals, more than 100 levels");
    made.held = std::make_shared<const value>(std::move(held));
    return made;
}

/// Returns a bool, or the error in its place. Like Kubernetes, quantities and versions fail if they
/// are compared with anything else on their right side.
[[nodiscard]] inline value equal(const value& lhs, const value& rhs, step_budget& budget) {
    if (!budget.spend(1))
        return exhausted();
    if (lhs.kind_of() == kind::null || rhs.kind_of() == kind::null)
        return lhs.kind_of() == rhs.kind_of();
    if (const auto* amount = lhs.as<amount_value>()) {
        const auto* other = rhs.as<amount_value>();
        if (other == nullptr)
            return no_overload();
        if (other->was_computed)
            return undecided("== with a result of add() or sub() on its right");
        return amount->amount == other->amount;
    }
    if (const auto* version = lhs.as<semantic_version>()) {
        const auto* other = rhs.as<semantic_version>();
        return other == nullptr ? no_overload() : value(compare_versions(*version, *other) == 0);
    }
    if (lhs.kind_of() != rhs.kind_of())
        return false;
    if (const auto* flag = lhs.as<bool>())
        return *flag == *rhs.as<bool>();
    if (const auto* number = lhs.as<std::int64_t>())
        return *number == *rhs.as<std::int64_t>();
    if (const auto* text = lhs.as<std::string>())
        return *text == *rhs.as<std::string>();
    if (const auto* optional = lhs.as<optional_value>()) {
        const auto* other = rhs.as<optional_value>();
        if (optional->held == nullptr || other->held == nullptr)
            return optional->held == other->held;
        return equal(*optional->held, *other->held, budget);
    }
    const auto* list = lhs.as<list_value>();
    if (list == nullptr)
        return undecided("a comparison of maps");
    const auto* other = rhs.as<list_value>();
    if (list->items->size() != other->items->size())
        return false;
    for (std::size_t index = 0; index < list->items->size(); ++index) {
        const value same = equal((*list->items)[index], (*other->items)[index], budget);
        // Some lists of Kubernetes ignore the error, others do not.
        if (same.is_error())
            return undecided("a comparison of lists with different types");
        if (!*same.as<bool>())
            return false;
    }
    return true;
}

/// True if an item equals the value; an item that cannot be compared does not.
[[nodiscard]] inline value contains(const std::vector<value>& items, const value& wanted,
                                    bool item_is_left, step_budget& budget) {
    for (const value& item : items) {
        const value same = item_is_left ? equal(item, wanted, budget) : equal(wanted, item, budget);
        const auto* error = same.as<error_value>();
        if (error != nullptr && error->is_undecided)
            return same;
        if (error == nullptr && *same.as<bool>())
            return true;
    }
    return false;
}

/// Orders two ints, strings or bools; nullopt for anything else.
[[nodiscard]] inline std::optional<std::weak_ordering> order(const value& lhs, const value& rhs) {
    if (lhs.kind_of() != rhs.kind_of())
        return std::nullopt;
    if (const auto* number = lhs.as<std::int64_t>())
        return *number <=> *rhs.as<std::int64_t>();
    if (const auto* text = lhs.as<std::string>())
        return text->compare(*rhs.as<std::string>()) <=> 0;
    if (const auto* flag = lhs.as<bool>())
        return *flag <=> *rhs.as<bool>();
    return std::nullopt;
}

[[nodiscard]] inline value arithmetic(node_kind operation, std::int64_t lhs, std::int64_t rhs) {
    std::int64_t made = 0;
    bool fits = true;
    switch (operation) {
    case node_kind::add:
        fits = checked_add(lhs, rhs, made);
        break;
    case node_kind::subtract:
        fits = !__builtin_sub_overflow(lhs, rhs, &made);
        break;
    case node_kind::multiply:
        fits = checked_multiply(lhs, rhs, made);
        break;
    default:
        if (rhs == 0)
            return fails(operation == node_kind::divide ? "division by zero" : "modulus by zero");
        fits = rhs != -1 || lhs != std::numeric_limits<std::int64_t>::min();
        if (fits)
            made = operation == node_kind::divide ? lhs / rhs : lhs % rhs;
    }
    return fits ? value(made) : fails("integer overflow");
}

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

} // namespace cel
} // namespace v0_1
} // namespace muster
