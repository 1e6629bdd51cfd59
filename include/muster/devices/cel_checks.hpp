// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <muster/devices/cel_syntax.hpp>

namespace muster {
inline namespace v0_1 {
namespace cel {

/// A function, or a method if `is_method`: then the first parameter is the receiver.
struct overload {
    std::string_view name;
    bool is_method = false;
    cel::function function = cel::function::size;
    std::size_t arity = 0;
    kind parameters[4] = {};
    static_type result;
};

inline constexpr overload overloads[] = {
    {"size", true, function::size, 1, {kind::text}, {kind::integer}},
    {"size", true, function::size, 1, {kind::list}, {kind::integer}},
    {"size", true, function::size, 1, {kind::names}, {kind::integer}},
    {"size", true, function::size, 1, {kind::domains}, {kind::integer}},
    {"size", false, function::size, 1, {kind::text}, {kind::integer}},
    {"size", false, function::size, 1, {kind::list}, {kind::integer}},
    {"size", false, function::size, 1, {kind::names}, {kind::integer}},
    {"size", false, function::size, 1, {kind::domains}, {kind::integer}},
    {"contains", true, function::contains, 2, {kind::text, kind::text}, {kind::boolean}},
    {"startsWith", true, function::starts_with, 2, {kind::text, kind::text}, {kind::boolean}},
    {"endsWith", true, function::ends_with, 2, {kind::text, kind::text}, {kind::boolean}},
    {"matches", true, function::matches, 2, {kind::text, kind::text}, {kind::boolean}},
    {"matches", false, function::matches, 2, {kind::text, kind::text}, {kind::boolean}},
    {"lowerAscii", true, function::lower, 1, {kind::text}, {kind::text}},
    {"upperAscii", true, function::upper, 1, {kind::text}, {kind::text}},
    {"trim", true, function::trim, 1, {kind::text}, {kind::text}},
    {"replace", true, function::replace, 3, {kind::text, kind::text, kind::text}, {kind::text}},
    {"replace",
     true,
     function::replace,
     4,
     {kind::text, kind::text, kind::text, kind::integer},
     {kind::text}},
    {"split", true, function::split, 2, {kind::text, kind::text}, {kind::list, kind::text}},
    {"split",
     true,
     function::split,
     3,
     {kind::text, kind::text, kind::integer},
     {kind::list, kind::text}},
    {"substring", true, function::substring, 2, {kind::text, kind::integer}, {kind::text}},
    {"substring",
     true,
     function::substring,
     3,
     {kind::text, kind::integer, kind::integer},
     {kind::text}},
    {"includes", true, function::includes, 2, {kind::dynamic, kind::dynamic}, {kind::boolean}},
    {"int", false, function::to_int, 1, {kind::integer}, {kind::integer}},
    {"int", false, function::to_int, 1, {kind::text}, {kind::integer}},
    {"string", false, function::to_text, 1, {kind::text}, {kind::text}},
    {"string", false, function::to_text, 1, {kind::integer}, {kind::text}},
    {"string", false, function::to_text, 1, {kind::boolean}, {kind::text}},
    {"dyn", false, function::to_dynamic, 1, {kind::dynamic}, {kind::dynamic}},
    {"quantity", false, function::make_quantity, 1, {kind::text}, {kind::amount}},
    {"isQuantity", false, function::is_quantity, 1, {kind::text}, {kind::boolean}},
    {"semver", false, function::make_version, 1, {kind::text}, {kind::version}},
    {"semver", false, function::make_version, 2, {kind::text, kind::boolean}, {kind::version}},
    {"isSemver", false, function::is_version, 1, {kind::text}, {kind::boolean}},
    {"isSemver", false, function::is_version, 2, {kind::text, kind::boolean}, {kind::boolean}},
    {"compareTo", true, function::compare, 2, {kind::amount, kind::amount}, {kind::integer}},
    {"compareTo", true, function::compare, 2, {kind::version, kind::version}, {kind::integer}},
    {"isGreaterThan", true, function::is_greater, 2, {kind::amount, kind::amount}, {kind::boolean}},
    {"isGreaterThan",
     true,
     function::is_greater,
     2,
     {kind::version, kind::version},
     {kind::boolean}},
    {"isLessThan", true, function::is_less, 2, {kind::amount, kind::amount}, {kind::boolean}},
    {"isLessThan", true, function::is_less, 2, {kind::version, kind::version}, {kind::boolean}},
    {"add", true, function::add, 2, {kind::amount, kind::amount}, {kind::amount}},
    {"add", true, function::add, 2, {kind::amount, kind::integer}, {kind::amount}},
    {"sub", true, function::subtract, 2, {kind::amount, kind::amount}, {kind::amount}},
    {"sub", true, function::subtract, 2, {kind::amount, kind::integer}, {kind::amount}},
    {"sign", false, function::sign, 1, {kind::amount}, {kind::integer}},
    {"isInteger", true, function::is_integer, 1, {kind::amount}, {kind::boolean}},
    {"asInteger", true, function::as_integer, 1, {kind::amount}, {kind::integer}},
    {"major", true, function::major, 1, {kind::version}, {kind::integer}},
    {"minor", true, function::minor, 1, {kind::version}, {kind::integer}},
    {"patch", true, function::patch, 1, {kind::version}, {kind::integer}},
    {"optional.of", false, function::make_optional, 1, {kind::dynamic}, {kind::optional}},
    {"optional.none", false, function::make_none, 0, {}, {kind::optional}},
    {"hasValue", true, function::has_value, 1, {kind::optional}, {kind::boolean}},
    {"value", true, function::get_value, 1, {kind::optional}, {kind::dynamic}},
    {"orValue", true, function::or_value, 2, {kind::optional, kind::dynamic}, {kind::dynamic}},
    {"or", true, function::or_else, 2, {kind::optional, kind::optional}, {kind::optional}},
};

/// True if a value known as one type may be one of the other.
[[nodiscard]] constexpr bool may_be(kind lhs, kind rhs) noexcept {
    return lhs == rhs || lhs == kind::dynamic || rhs == kind::dynamic;
}
[[nodiscard]] constexpr bool may_be(const static_type& lhs, const static_type& rhs) noexcept {
    const auto is_object = [](kind which) {
        return which == kind::amount || which == kind::version || which == kind::device;
    };
    // As objects of protocol buffers, these have a null.
    if ((lhs.outer == kind::null && is_object(rhs.outer)) ||
        (rhs.outer == kind::null && is_object(lhs.outer)))
        return true;
    return may_be(lhs.outer, rhs.outer) && (lhs.outer != rhs.outer || may_be(lhs.inner, rhs.inner));
}

/// Returns the type of a value that has one of two types.
[[nodiscard]] constexpr static_type either_type(const static_type& lhs,
                                                const static_type& rhs) noexcept {
    if (lhs.outer != rhs.outer)
        return {};
    return {lhs.outer, lhs.inner == rhs.inner ? lhs.inner : kind::dynamic};
}

/// True if one list may hold both. CEL wants equal types; those of empty lists are not known yet.
[[nodiscard]] constexpr bool may_share_list(const static_type& lhs,
                                            const static_type& rhs) noexcept {
    const bool is_nested = lhs.outer == kind::list || lhs.outer == kind::optional;
    return lhs == rhs || (is_nested && lhs.outer == rhs.outer && may_be(lhs.inner, rhs.inner));
}

/// Returns the type of what a list, a map or an optional of this type holds.
[[nodiscard]] constexpr static_type held_type(const static_type& type) noexcept {
    if (type.outer == kind::domains)
        return {kind::names, type.inner};
    return {type.inner};
}

/// Returns the type of what the macros iterate over; nullopt if there is nothing.
[[nodiscard]] constexpr std::optional<static_type> item_type(const static_type& range) noexcept {
    switch (range.outer) {
    case kind::list:
        return held_type(range);
    case kind::domains:
    case kind::names:
        return static_type{kind::text};
    case kind::dynamic:
        return static_type{};
    default:
        return std::nullopt;
    }
}

/// Returns the type of a field or of an item; nullopt if values of this type have none.
[[nodiscard]] constexpr std::optional<static_type> field_type(const static_type& base,
                                                              std::string_view name) noexcept {
    switch (base.outer) {
    case kind::device:
        if (name == "driver")
            return static_type{kind::text};
        if (name == "allowMultipleAllocations")
            return static_type{kind::boolean};
        if (name == "attributes")
            return static_type{kind::domains, kind::dynamic};
        if (name == "capacity")
            return static_type{kind::domains, kind::amount};
        return std::nullopt;
    case kind::domains:
    case kind::names:
        return held_type(base);
    case kind::optional:
        if (base.inner != kind::names && base.inner != kind::domains && base.inner != kind::dynamic)
            return std::nullopt;
        return static_type{kind::optional};
    case kind::dynamic:
        return static_type{};
    default:
        return std::nullopt;
    }
}

[[nodiscard]] constexpr std::optional<static_type> item_type(const static_type& base,
                                                             const static_type& index) noexcept {
    switch (base.outer) {
    case kind::list:
        return may_be(index.outer, kind::integer) ? std::optional(held_type(base)) : std::nullopt;
    case kind::domains:
    case kind::names:
        return may_be(index.outer, kind::text) ? std::optional(held_type(base)) : std::nullopt;
    case kind::optional:
        return static_type{kind::optional};
    case kind::dynamic:
        return static_type{};
    default:
        return std::nullopt;
    }
}

/// Returns the type of `lhs operation rhs`; nullopt if CEL has no such operation.
[[nodiscard]] constexpr std::optional<static_type>
operation_type(node_kind operation, const static_type& lhs, const static_type& rhs) noexcept {
    const auto both = [&](kind which) {
        return may_be(lhs.outer, which) && may_be(rhs.outer, which);
    };
    const bool is_dynamic = lhs.outer == kind::dynamic && rhs.outer == kind::dynamic;
    switch (operation) {
    case node_kind::equal:
    case node_kind::unequal:
        return may_be(lhs, rhs) ? std::optional(static_type{kind::boolean}) : std::nullopt;
    case node_kind::less:
    case node_kind::less_or_equal:
    case node_kind::greater:
    case node_kind::greater_or_equal:
        if (both(kind::integer) || both(kind::text) || both(kind::boolean))
            return static_type{kind::boolean};
        return std::nullopt;
    case node_kind::in:
        if (const auto item = item_type(rhs); item && may_be(lhs, *item))
            return static_type{kind::boolean};
        return std::nullopt;
    case node_kind::add:
        if (is_dynamic)
            return static_type{};
        if (lhs.outer == kind::list && rhs.outer == kind::list)
            return may_be(lhs, rhs) ? std::optional(either_type(lhs, rhs)) : std::nullopt;
        if (both(kind::integer) || both(kind::text) || both(kind::list))
            return lhs.outer == kind::dynamic ? rhs : lhs;
        return std::nullopt;
    default:
        if (!both(kind::integer))
            return std::nullopt;
        return is_dynamic ? static_type{} : static_type{kind::integer};
    }
}

struct resolved_call {
    cel::function function = cel::function::size;
    static_type type;
};

/// Finds the function that takes these arguments. `is_known` is set if any has this name.
[[nodiscard]] inline std::optional<resolved_call>
resolve_call(std::string_view name, bool is_method, const std::vector<static_type>& arguments,
             bool& is_known) {
    std::optional<resolved_call> found;
    is_known = false;
    for (const overload& candidate : overloads) {
        if (candidate.name != name)
            continue;
        is_known = true;
        bool takes = candidate.is_method == is_method && candidate.arity == arguments.size();
        for (std::size_t index = 0; takes && index < arguments.size(); ++index)
            takes = may_be(candidate.parameters[index], arguments[index].outer);
        if (!takes)
            continue;
        if (found && found->type != candidate.result)
            found->type = static_type{};
        else
            found = resolved_call{candidate.function, candidate.result};
    }
    if (!found)
        return std::nullopt;
    if (found->function == function::make_optional)
        found->type.inner = arguments[0].outer;
    if (found->function == function::or_value && !may_be(arguments[0].inner, arguments[1].outer))
        return std::nullopt;
    const bool may_hold = !arguments.empty() && arguments[0].outer == kind::optional;
    if (found->function == function::get_value)
        found->type = may_hold ? held_type(arguments[0]) : static_type{};
    if (found->function == function::or_value)
        found->type = may_hold ? either_type(held_type(arguments[0]), arguments[1]) : static_type{};
    return found;
}

} // namespace cel
} // namespace v0_1
} // namespace muster
