// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/devices/cel_syntax.hpp>
#include <muster/devices/cel_values.hpp>
#include <muster/devices/semantic_version_text.hpp>

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

/// Steps of a copy or of a comparison.
[[nodiscard]] inline std::size_t weight(const value& read) {
    constexpr std::size_t bytes_per_step = 16;
    if (const auto* text = read.as<std::string>())
        return 1 + text->size() / bytes_per_step;
    if (const auto* version = read.as<semantic_version>())
        return 1 + version->prerelease.size();
    if (const auto* names = read.as<names_value>())
        return 1 + names->domain.size() / bytes_per_step;
    return 1;
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
    if (!budget.spend(weight(lhs)))
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

} // namespace cel
} // namespace v0_1
} // namespace muster
