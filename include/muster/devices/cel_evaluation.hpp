// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <muster/devices/cel_functions.hpp>
#include <muster/devices/cel_operators.hpp>
#include <muster/devices/cel_syntax.hpp>
#include <muster/devices/cel_values.hpp>
#include <muster/devices/device_attributes.hpp>

namespace muster {
inline namespace v0_1 {
namespace cel {

template<class T>
inline constexpr bool is_vector = false;
template<class T>
inline constexpr bool is_vector<std::vector<T>> = true;

/// Evaluates an expression for one device. The depth of recursion is the height of the tree.
class evaluator {
public:
    evaluator(const syntax_tree& tree, const device_attributes& device, std::size_t steps)
        : tree_(tree), device_(device), budget_(steps) {
        variables_.push_back(device_value{});
    }

    [[nodiscard]] value evaluate() {
        value made = evaluate(tree_.root);
        // What was found before the budget ran out may be incomplete.
        return budget_.is_exhausted() ? exhausted() : made;
    }

private:
    [[nodiscard]] value evaluate(std::uint32_t index) {
        if (!budget_.spend(1))
            return exhausted();
        const node& each = tree_.nodes[index];
        switch (each.kind) {
        case node_kind::constant:
            return charged(each.value);
        case node_kind::variable:
            return charged(variables_[each.slot]);
        case node_kind::conjunction:
        case node_kind::disjunction:
            return junction(each);
        case node_kind::conditional:
            return conditional(each);
        case node_kind::bind:
            return bind(each);
        case node_kind::all:
        case node_kind::exists:
            return quantifier(each);
        case node_kind::exists_one:
        case node_kind::filter:
        case node_kind::map:
        case node_kind::filter_map:
            return selection(each);
        case node_kind::map_optional:
            return map_optional(each);
        case node_kind::call:
            if (each.function == function::or_value || each.function == function::or_else)
                return alternative(each);
            return strict(each);
        default:
            return strict(each);
        }
    }

    /// A copy, paid for.
    [[nodiscard]] value charged(const value& read) {
        return budget_.spend(weight(read)) ? read : exhausted();
    }

    /// False absorbs errors in a conjunction, true in a disjunction.
    [[nodiscard]] value junction(const node& each) {
        const bool absorbing = each.kind == node_kind::disjunction;
        std::optional<value> error;
        for (const std::uint32_t child : each.children) {
            value operand = evaluate(child);
            const auto* flag = operand.as<bool>();
            if (flag != nullptr && *flag == absorbing)
                return absorbing;
            if (flag == nullptr)
                keep_error(error, operand.is_error() ? std::move(operand) : no_overload());
        }
        return error ? std::move(*error) : value(!absorbing);
    }

    /// The first error stays, unless a later one is undecided.
    static void keep_error(std::optional<value>& kept, value error) {
        if (!kept ||
            (error.as<error_value>()->is_undecided && !kept->as<error_value>()->is_undecided))
            kept = std::move(error);
    }

    [[nodiscard]] value conditional(const node& each) {
        value condition = evaluate(each.children[0]);
        if (condition.is_error())
            return condition;
        const auto* flag = condition.as<bool>();
        if (flag == nullptr)
            return no_overload();
        return evaluate(each.children[*flag ? 1 : 2]);
    }

    [[nodiscard]] value bind(const node& each) {
        // An error is an error only where the variable is used.
        set(each.slot, evaluate(each.children[0]));
        value made = evaluate(each.children[1]);
        variables_.resize(each.slot);
        return made;
    }
    void set(std::uint32_t slot, value read) {
        variables_.resize(slot);
        variables_.push_back(std::move(read));
    }

    /// Returns the items of a list or the keys of a map as a list.
    [[nodiscard]] value range_of(std::uint32_t index) {
        value range = evaluate(index);
        if (range.is_error() || range.as<list_value>() != nullptr)
            return range;
        const auto keys = keys_of(range);
        if (!keys)
            return fails("a value of type " + std::string(kind_name(range.kind_of())) +
                         " has no items");
        std::vector<value> items;
        for (const auto& key : *keys)
            items.emplace_back(std::string(key));
        return make_list(std::move(items));
    }

    [[nodiscard]] value quantifier(const node& each) {
        const bool absorbing = each.kind == node_kind::exists;
        value range = range_of(each.children[0]);
        if (range.is_error())
            return range;
        std::optional<value> error;
        for (const value& item : *range.as<list_value>()->items) {
            set(each.slot, charged(item));
            value found = evaluate(each.children[1]);
            variables_.resize(each.slot);
            const auto* flag = found.as<bool>();
            if (flag != nullptr && *flag == absorbing)
                return absorbing;
            if (flag == nullptr)
                keep_error(error, found.is_error() ? std::move(found) : no_overload());
        }
        return error ? std::move(*error) : value(!absorbing);
    }

    [[nodiscard]] value selection(const node& each) {
        value range = range_of(each.children[0]);
        if (range.is_error())
            return range;
        const bool has_condition = each.kind != node_kind::map;
        const bool has_result = each.kind == node_kind::map || each.kind == node_kind::filter_map;
        std::vector<value> kept;
        for (const value& item : *range.as<list_value>()->items) {
            set(each.slot, charged(item));
            value made = evaluate(each.children[1]);
            const auto* flag = made.as<bool>();
            bool is_kept = true;
            if (has_condition && flag == nullptr)
                made = made.is_error() ? std::move(made) : no_overload();
            else if (has_condition)
                is_kept = *flag;
            if (has_condition && has_result && is_kept && !made.is_error())
                made = evaluate(each.children[2]);
            variables_.resize(each.slot);
            if (made.is_error())
                return made;
            if (is_kept && has_result)
                kept.push_back(std::move(made));
            else if (is_kept)
                kept.push_back(item);
        }
        if (each.kind == node_kind::exists_one)
            return kept.size() == 1;
        return make_list(std::move(kept));
    }

    [[nodiscard]] value map_optional(const node& each) {
        value range = evaluate(each.children[0]);
        if (range.is_error())
            return range;
        const auto* optional = range.as<optional_value>();
        if (optional == nullptr)
            return no_overload();
        if (optional->held == nullptr)
            return range;
        set(each.slot, charged(*optional->held));
        value made = evaluate(each.children[1]);
        variables_.resize(each.slot);
        return made.is_error() ? made : make_optional(std::move(made));
    }

    /// `or` and `orValue`, which evaluate their argument only for an optional without a value.
    [[nodiscard]] value alternative(const node& each) {
        value receiver = evaluate(each.children[0]);
        if (receiver.is_error())
            return receiver;
        const auto* optional = receiver.as<optional_value>();
        if (optional == nullptr)
            return no_overload();
        if (optional->held == nullptr)
            return evaluate(each.children[1]);
        return each.function == function::or_else ? receiver : charged(*optional->held);
    }

    /// An operation that fails if an operand fails.
    [[nodiscard]] value strict(const node& each) {
        std::vector<value> operands;
        for (const std::uint32_t child : each.children) {
            operands.push_back(evaluate(child));
            if (operands.back().is_error() && !is_in_empty_list(each))
                return std::move(operands.back());
        }
        switch (each.kind) {
        case node_kind::list:
            return make_list(std::move(operands));
        case node_kind::field:
        case node_kind::optional_field:
            return member(operands[0], value(each.name), each.kind == node_kind::optional_field,
                          true);
        case node_kind::index:
        case node_kind::optional_index:
            return member(operands[0], operands[1], each.kind == node_kind::optional_index, false);
        case node_kind::has_field:
            return has_field(operands[0], each.name);
        case node_kind::complement:
            return operands[0].as<bool>() != nullptr ? value(!*operands[0].as<bool>())
                                                     : no_overload();
        case node_kind::negation:
            if (const auto* number = operands[0].as<std::int64_t>())
                return arithmetic(node_kind::subtract, 0, *number);
            return no_overload();
        case node_kind::call:
            return call(each.function, operands);
        default:
            return binary(each, operands[0], operands[1]);
        }
    }

    /// Kubernetes does not evaluate the left side of `in []`.
    [[nodiscard]] bool is_in_empty_list(const node& each) const {
        if (each.kind != node_kind::in)
            return false;
        const node& list = tree_.nodes[each.children[1]];
        return list.kind == node_kind::list && list.children.empty();
    }

    [[nodiscard]] value binary(const node& each, const value& lhs, const value& rhs) {
        switch (each.kind) {
        case node_kind::equal:
            return equal(lhs, rhs, budget_);
        case node_kind::unequal: {
            value same = equal(lhs, rhs, budget_);
            const auto* error = same.as<error_value>();
            if (error != nullptr && error->is_undecided)
                return same;
            // Values that cannot be compared are unequal.
            return error != nullptr || !*same.as<bool>();
        }
        case node_kind::in:
            return is_in(each, lhs, rhs);
        case node_kind::less:
        case node_kind::less_or_equal:
        case node_kind::greater:
        case node_kind::greater_or_equal:
            if (const auto found = order(lhs, rhs))
                return each.kind == node_kind::less            ? *found < 0
                       : each.kind == node_kind::less_or_equal ? *found <= 0
                       : each.kind == node_kind::greater       ? *found > 0
                                                               : *found >= 0;
            return no_overload();
        default:
            break;
        }
        if (each.kind == node_kind::add && lhs.kind_of() == rhs.kind_of()) {
            if (const auto* text = lhs.as<std::string>()) {
                const auto& other = *rhs.as<std::string>();
                return budget_.spend((text->size() + other.size()) / 16) ? value(*text + other)
                                                                         : exhausted();
            }
            if (const auto* list = lhs.as<list_value>()) {
                const auto& items = *list->items;
                const auto& other = *rhs.as<list_value>()->items;
                for (const auto* part : {&items, &other})
                    for (const value& item : *part)
                        if (!budget_.spend(weight(item)))
                            return exhausted();
                auto joined = items;
                joined.insert(joined.end(), other.begin(), other.end());
                return make_list(std::move(joined));
            }
        }
        const auto* left = lhs.as<std::int64_t>();
        const auto* right = rhs.as<std::int64_t>();
        if (left == nullptr || right == nullptr)
            return no_overload();
        return arithmetic(each.kind, *left, *right);
    }

    [[nodiscard]] value is_in(const node& each, const value& lhs, const value& rhs) {
        if (const auto* list = rhs.as<list_value>()) {
            if (is_in_empty_list(each))
                return false;
            const bool is_plain = lhs.kind_of() <= kind::text;
            // Kubernetes turns a list of constants into a set, which does not hold every value.
            if (!is_plain && tree_.nodes[each.children[1]].kind == node_kind::list)
                return undecided("`in` a literal list for a value that is no bool, int or string");
            return contains(*list->items, lhs, false, budget_);
        }
        if (keys_of(rhs)) {
            const auto* key = lhs.as<std::string>();
            return key != nullptr && has_key(rhs, *key);
        }
        return no_overload();
    }

    // The device.

    /// Calls `read` with the map of qualified names.
    template<class Read>
    auto with_map(bool of_capacities, const Read& read) const {
        return of_capacities ? read(device_.capacities) : read(device_.attributes);
    }

    /// Returns the keys of a map in order; nullopt for anything else.
    [[nodiscard]] std::optional<std::vector<std::string_view>> keys_of(const value& map) {
        const auto* domains = map.as<domains_value>();
        const auto* names = map.as<names_value>();
        if (domains == nullptr && names == nullptr)
            return std::nullopt;
        const auto read = [&](const auto& entries) {
            std::vector<std::string_view> keys;
            for (const auto& [qualified, ignored] : entries) {
                const auto slash = qualified.find('/');
                const auto domain = std::string_view(qualified).substr(0, slash);
                if (names != nullptr && domain == names->domain)
                    keys.push_back(std::string_view(qualified).substr(slash + 1));
                else if (names == nullptr && (keys.empty() || keys.back() != domain))
                    keys.push_back(domain);
            }
            // One step for each entry, read or skipped.
            return budget_.spend(entries.size()) ? keys : std::vector<std::string_view>();
        };
        return with_map(names != nullptr ? names->of_capacities : domains->of_capacities, read);
    }

    [[nodiscard]] bool has_key(const value& map, std::string_view wanted) {
        const auto keys = *keys_of(map);
        for (const auto& key : keys)
            if (key == wanted)
                return true;
        return false;
    }

    [[nodiscard]] value attribute(const device_attribute& read) {
        return std::visit(
            [&](const auto& held) -> value {
                using held_type = std::decay_t<decltype(held)>;
                if constexpr (!is_vector<held_type>) {
                    return held;
                } else {
                    if (!budget_.spend(held.size()))
                        return exhausted();
                    std::vector<value> items;
                    for (auto item : held)
                        items.emplace_back(std::move(item));
                    return make_list(std::move(items));
                }
            },
            read);
    }
    /// The entry of a name; nullopt if the domain has none.
    [[nodiscard]] std::optional<value> entry(const names_value& names, const std::string& name) {
        const std::string qualified = names.domain + "/" + name;
        if (names.of_capacities) {
            const auto found = device_.capacities.find(qualified);
            if (found == device_.capacities.end())
                return std::nullopt;
            return amount_value{found->second, false, false};
        }
        const auto found = device_.attributes.find(qualified);
        if (found == device_.attributes.end())
            return std::nullopt;
        return attribute(found->second);
    }

    [[nodiscard]] std::optional<value> device_field(std::string_view name) const {
        if (name == "driver")
            return device_.driver;
        if (name == "allowMultipleAllocations")
            return device_.allows_multiple_allocations;
        if (name == "attributes" || name == "capacity")
            return domains_value{name == "capacity"};
        return std::nullopt;
    }

    /// `base.key`, `base[key]`, `base.?key` or `base[?key]`.
    [[nodiscard]] value member(const value& base, const value& key, bool is_optional,
                               bool is_field) {
        if (const auto* optional = base.as<optional_value>()) {
            if (optional->held == nullptr)
                return optional_value{};
            return member(*optional->held, key, true, is_field);
        }
        std::optional<value> found;
        const auto* text = key.as<std::string>();
        if (base.kind_of() == kind::device && text != nullptr) {
            found = device_field(*text);
        } else if (base.kind_of() == kind::domains) {
            // A domain that the device does not have is an empty map.
            if (text == nullptr)
                return undecided("a domain that is no string");
            found = names_value{base.as<domains_value>()->of_capacities, *text};
        } else if (base.kind_of() == kind::names && text != nullptr) {
            found = entry(*base.as<names_value>(), *text);
        } else if (const auto* list = base.as<list_value>(); list != nullptr && !is_field) {
            const auto* index = key.as<std::int64_t>();
            if (index == nullptr)
                return fails("the index of a list must be an int");
            if (*index >= 0 && static_cast<std::uint64_t>(*index) < list->items->size())
                found = (*list->items)[static_cast<std::size_t>(*index)];
        } else if (is_optional) {
            return undecided("an optional member of a value that is no map");
        } else {
            return no_key(key);
        }
        if (found && found->is_error())
            return *found;
        if (!is_optional)
            return found ? charged(*found) : no_key(key);
        return found ? make_optional(charged(*found)) : value(optional_value{});
    }

    [[nodiscard]] static value no_key(const value& key) {
        const auto* text = key.as<std::string>();
        return fails("no such key" + (text != nullptr ? ": " + *text : std::string()));
    }

    [[nodiscard]] value has_field(const value& base, const std::string& name) {
        if (base.kind_of() == kind::domains)
            return true;
        if (base.kind_of() == kind::device)
            return device_field(name).has_value();
        if (const auto* names = base.as<names_value>())
            return entry(*names, name).has_value();
        return undecided("has() of a value that is no map");
    }

    // Functions.

    [[nodiscard]] value call(function called, const std::vector<value>& arguments) {
        switch (called) {
        case function::size:
            return size(arguments[0]);
        case function::includes:
            if (const auto* list = arguments[0].as<list_value>())
                return contains(*list->items, arguments[1], true, budget_);
            return contains({arguments[0]}, arguments[1], true, budget_);
        case function::to_int:
        case function::to_text:
            return convert(called, arguments[0]);
        case function::to_dynamic:
            return arguments[0];
        case function::make_optional:
            return make_optional(arguments[0]);
        case function::make_none:
            return optional_value{};
        case function::has_value:
        case function::get_value:
            return charged(optional_call(called, arguments));
        default:
            break;
        }
        if (arguments[0].as<amount_value>() != nullptr)
            return amount_call(called, arguments);
        if (arguments[0].as<semantic_version>() != nullptr)
            return version_call(called, arguments);
        if (arguments[0].as<std::string>() != nullptr)
            return text_call(called, arguments, budget_);
        return no_overload();
    }

    [[nodiscard]] value size(const value& measured) {
        if (const auto* text = measured.as<std::string>())
            return static_cast<std::int64_t>(count_code_points(*text));
        if (const auto* list = measured.as<list_value>())
            return static_cast<std::int64_t>(list->items->size());
        if (const auto keys = keys_of(measured))
            return static_cast<std::int64_t>(keys->size());
        return no_overload();
    }

    const syntax_tree& tree_;
    const device_attributes& device_;
    step_budget budget_;
    std::vector<value> variables_;
};

} // namespace cel
} // namespace v0_1
} // namespace muster
