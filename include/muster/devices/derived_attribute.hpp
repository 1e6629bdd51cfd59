// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/devices/cel_evaluation.hpp>
#include <muster/devices/cel_parser.hpp>
#include <muster/devices/cel_values.hpp>
#include <muster/devices/device_attributes.hpp>
#include <muster/devices/device_selector.hpp>

namespace muster {
inline namespace v0_1 {

/// What an expression has as a value for a device; else why it has none.
struct derived_value {
    std::optional<device_attribute> value;
    /// `matches` if there is a value, else `failed` or `not_supported`.
    selector_outcome outcome = selector_outcome::matches;
    std::string text;
};

/// An attribute that a request gives to each device by a CEL expression, in the subset of CEL of
/// device_selector (DRADerivedAttributes, alpha in Kubernetes 1.37). Constraints read it in place
/// of the device's own attribute of that name; selectors do not. As in Kubernetes, an expression
/// that fails on a device which the selectors match fails the allocation.
struct derived_attribute {
    /// As constraints name it.
    std::string name;
    /// As written.
    std::string text;
    /// Shared by copies; null if the text cannot be parsed.
    std::shared_ptr<const cel::syntax_tree> tree;
    /// Why `tree` is null.
    selector_error error;

    /// Evaluates the expression for a device: a bool, int, string or version, or a list of one of
    /// these. Pure. See device_selector::matches() for the complexity.
    [[nodiscard]] derived_value of(const device_attributes& device) const;
};

namespace detail {

/// Returns the items of a list as an attribute if all of them are of one type.
template<class Item>
[[nodiscard]] std::optional<device_attribute> attribute_of_items(const cel::list_value& list) {
    std::vector<Item> items;
    for (const cel::value& each : *list.items) {
        const Item* const item = each.as<Item>();
        if (!item)
            return std::nullopt;
        items.push_back(*item);
    }
    return device_attribute(std::move(items));
}

[[nodiscard]] inline std::optional<device_attribute> attribute_of(const cel::value& from) {
    if (const auto* const flag = from.as<bool>())
        return device_attribute(*flag);
    if (const auto* const number = from.as<std::int64_t>())
        return device_attribute(*number);
    if (const auto* const text = from.as<std::string>())
        return device_attribute(*text);
    if (const auto* const version = from.as<semantic_version>())
        return device_attribute(*version);
    const auto* const list = from.as<cel::list_value>();
    if (!list)
        return std::nullopt;
    if (!list->items || list->items->empty())
        return device_attribute(std::vector<std::string>{});
    const cel::value& first = list->items->front();
    return first.as<bool>()           ? attribute_of_items<bool>(*list)
           : first.as<std::int64_t>() ? attribute_of_items<std::int64_t>(*list)
           : first.as<std::string>()  ? attribute_of_items<std::string>(*list)
                                      : attribute_of_items<semantic_version>(*list);
}

} // namespace detail

inline derived_value derived_attribute::of(const device_attributes& device) const {
    const auto why = [](bool is_undecided, std::string why_not) {
        return derived_value{{},
                             is_undecided ? selector_outcome::not_supported
                                          : selector_outcome::failed,
                             std::move(why_not)};
    };
    if (!tree)
        return why(error.code == selector_errc::not_supported, error.text);
    const cel::value found = cel::evaluator(*tree, device, device_selector::max_steps).evaluate();
    if (const auto* const wrong = found.as<cel::error_value>())
        return why(wrong->is_undecided, wrong->text);
    auto made = detail::attribute_of(found);
    if (made)
        return {std::move(made), selector_outcome::matches, {}};
    return why(false, "the value must be a bool, int, string or version, or a list of one of "
                      "these, not " +
                          std::string(cel::kind_name(found.kind_of())));
}

/// Returns the attribute that a CEL text defines. O(text).
[[nodiscard]] inline derived_attribute read_derived_attribute(std::string_view name,
                                                              std::string_view text) {
    derived_attribute made;
    made.name = name;
    made.text = text;
    if (text.size() > device_selector::max_text) {
        made.error = {selector_errc::invalid, device_selector::max_text,
                      "the text is longer than 10 KiB"};
        return made;
    }
    auto tree = cel::parser(text).parse(cel::wanted_value::attribute);
    if (tree)
        made.tree = std::make_shared<const cel::syntax_tree>(std::move(*tree));
    else
        made.error = tree.error();
    return made;
}

} // namespace v0_1
} // namespace muster
