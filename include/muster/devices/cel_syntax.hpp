// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <muster/devices/cel_values.hpp>

namespace muster {
inline namespace v0_1 {
namespace cel {

enum class node_kind : std::uint8_t {
    constant,
    /// The variable `slot`, counted from the outermost one.
    variable,
    list,
    field,
    optional_field,
    has_field,
    index,
    optional_index,
    negation,
    complement,
    add,
    subtract,
    multiply,
    divide,
    remainder,
    equal,
    unequal,
    less,
    less_or_equal,
    greater,
    greater_or_equal,
    in,
    /// Two or more children.
    conjunction,
    disjunction,
    conditional,
    call,
    /// The macros. Children: the range, then bodies that see the variable `slot`.
    all,
    exists,
    exists_one,
    filter,
    map,
    filter_map,
    bind,
    map_optional,
};

enum class function : std::uint8_t {
    size,
    contains,
    starts_with,
    ends_with,
    matches,
    lower,
    upper,
    trim,
    replace,
    split,
    substring,
    includes,
    to_int,
    to_text,
    to_dynamic,
    make_quantity,
    is_quantity,
    make_version,
    is_version,
    compare,
    is_greater,
    is_less,
    add,
    subtract,
    sign,
    is_integer,
    as_integer,
    major,
    minor,
    patch,
    make_optional,
    make_none,
    has_value,
    get_value,
    or_value,
    or_else,
};

/// What the checker knows of an expression's value.
struct static_type {
    kind outer = kind::dynamic;
    /// Of the items of a list, the values of names, and the value of an optional.
    kind inner = kind::dynamic;

    friend bool operator==(const static_type&, const static_type&) = default;
};

struct node {
    node_kind kind = node_kind::constant;
    cel::function function = cel::function::size;
    static_type type;
    /// Longest path to a leaf.
    std::uint32_t height = 0;
    std::uint32_t slot = 0;
    std::uint32_t offset = 0;
    /// Of a constant.
    cel::value value;
    /// Of a field.
    std::string name;
    std::vector<std::uint32_t> children;
};

/// An expression. Nodes name their children by index.
struct syntax_tree {
    std::vector<node> nodes;
    std::uint32_t root = 0;
};

} // namespace cel
} // namespace v0_1
} // namespace muster
