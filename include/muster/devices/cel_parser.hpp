// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <muster/base/result.hpp>
#include <muster/devices/cel_checks.hpp>
#include <muster/devices/cel_syntax.hpp>
#include <muster/devices/cel_tokens.hpp>
#include <muster/devices/cel_tree_builder.hpp>
#include <muster/devices/text_pattern.hpp>

namespace muster {
inline namespace v0_1 {
namespace cel {

/// What the value of an expression must be: the bool of a selector, or what an attribute can be.
enum class wanted_value : std::uint8_t { boolean, attribute };

/// Parses and checks an expression whose only free variable is `device`.
class parser : tree_builder {
public:
    explicit parser(std::string_view text) : tree_builder(text) {}

    [[nodiscard]] result<syntax_tree, selector_error>
    parse(wanted_value wanted = wanted_value::boolean) {
        scope_.push_back({"device", {kind::device}});
        if (const auto root = advance() ? expression() : std::nullopt) {
            const kind type = tree_.nodes[*root].type.outer;
            tree_.root = *root;
            if (token_.kind != token_kind::end)
                (void)unexpected("the end");
            else if (wanted == wanted_value::boolean && !may_be(type, kind::boolean))
                (void)invalid(0, "the value must be a bool, not " + std::string(kind_name(type)));
            else if (wanted == wanted_value::attribute && !may_be_attribute(type))
                (void)invalid(0, "the value must be a bool, int, string or version, or a list of "
                                 "one of these, not " +
                                     std::string(kind_name(type)));
            else
                return std::move(tree_);
        }
        return failure<selector_error>{std::move(error_)};
    }

private:
    [[nodiscard]] static bool may_be_attribute(kind type) {
        for (const kind each :
             {kind::boolean, kind::integer, kind::text, kind::version, kind::list})
            if (may_be(type, each))
                return true;
        return false;
    }

    // Operators, from the weakest.

    [[nodiscard]] parsed expression() {
        if (depth_ == max_depth)
            return too_deep(token_.offset);
        ++depth_;
        const parsed made = conditional();
        --depth_;
        return made;
    }

    [[nodiscard]] parsed conditional() {
        const parsed condition = junction(node_kind::disjunction);
        if (!condition || !is("?"))
            return condition;
        const auto offset = token_.offset;
        if (!require(*condition, kind::boolean, "a condition") || !advance())
            return std::nullopt;
        const parsed positive = junction(node_kind::disjunction);
        if (!positive || !expect(":"))
            return std::nullopt;
        const parsed negative = expression();
        if (!negative)
            return std::nullopt;
        if (!may_be(type_of(*positive), type_of(*negative)))
            return invalid(offset, "both branches must have the same type");
        const auto type = either_type(type_of(*positive), type_of(*negative));
        return add(make(node_kind::conditional, offset, type, {*condition, *positive, *negative}));
    }

    /// Operands joined by || or &&.
    [[nodiscard]] parsed junction(node_kind kind) {
        const bool is_or = kind == node_kind::disjunction;
        const auto operand = [&] { return is_or ? junction(node_kind::conjunction) : binary(0); };
        const auto offset = token_.offset;
        const parsed first = operand();
        if (!first || !is(is_or ? "||" : "&&"))
            return first;
        children operands{*first};
        while (is(is_or ? "||" : "&&")) {
            const parsed next = advance() ? operand() : std::nullopt;
            if (!next)
                return std::nullopt;
            operands.push_back(*next);
        }
        for (const std::uint32_t each : operands)
            if (!require(each, kind::boolean, is_or ? "an operand of ||" : "an operand of &&"))
                return std::nullopt;
        return add(make(kind, offset, {kind::boolean}, std::move(operands)));
    }

    struct binary_operator {
        std::string_view written;
        node_kind kind;
    };
    [[nodiscard]] const binary_operator* binary_operator_of(int level) const {
        static constexpr binary_operator relations[] = {
            {"==", node_kind::equal},  {"!=", node_kind::unequal},
            {"<", node_kind::less},    {"<=", node_kind::less_or_equal},
            {">", node_kind::greater}, {">=", node_kind::greater_or_equal},
            {"in", node_kind::in}};
        static constexpr binary_operator sums[] = {{"+", node_kind::add},
                                                   {"-", node_kind::subtract}};
        static constexpr binary_operator products[] = {
            {"*", node_kind::multiply}, {"/", node_kind::divide}, {"%", node_kind::remainder}};
        const auto find = [&](const auto& operators) -> const binary_operator* {
            for (const binary_operator& each : operators)
                if (each.written == token_.written && token_.kind != token_kind::text)
                    return &each;
            return nullptr;
        };
        return level == 0 ? find(relations) : level == 1 ? find(sums) : find(products);
    }

    /// Relations (level 0), sums (1) and products (2), all from left to right.
    [[nodiscard]] parsed binary(int level) {
        parsed left = level == 2 ? unary() : binary(level + 1);
        while (left) {
            const binary_operator* found = binary_operator_of(level);
            if (found == nullptr)
                return left;
            const auto offset = token_.offset;
            if (!advance())
                return std::nullopt;
            const parsed right = level == 2 ? unary() : binary(level + 1);
            if (!right)
                return std::nullopt;
            const auto type = operation_type(found->kind, type_of(*left), type_of(*right));
            if (!type)
                return invalid(offset, "no operation " + std::string(found->written) + " of " +
                                           std::string(kind_name(type_of(*left).outer)) + " and " +
                                           std::string(kind_name(type_of(*right).outer)));
            left = add(make(found->kind, offset, *type, {*left, *right}));
        }
        return left;
    }

    [[nodiscard]] parsed unary() {
        const auto offset = token_.offset;
        if (!is("!") && !is("-"))
            return member();
        const bool is_complement = is("!");
        bool is_odd = false;
        while (is(is_complement ? "!" : "-")) {
            is_odd = !is_odd;
            if (!advance())
                return std::nullopt;
        }
        const bool is_literal = is_odd && !is_complement && token_.kind == token_kind::integer;
        const parsed operand = is_literal ? member("-") : member();
        if (!operand || !is_odd || is_literal)
            return operand;
        const kind wanted = is_complement ? kind::boolean : kind::integer;
        if (!require(*operand, wanted, "the operand"))
            return std::nullopt;
        if (is_complement)
            return add(make(node_kind::complement, offset, {kind::boolean}, {*operand}));
        return add(make(node_kind::negation, offset, type_of(*operand), {*operand}));
    }

    // Members and primaries.

    [[nodiscard]] parsed member(std::string_view sign = "") {
        parsed base = primary(sign);
        while (base && (is(".") || is("["))) {
            const auto offset = token_.offset;
            const bool is_index = is("[");
            if (!advance())
                return std::nullopt;
            const bool is_optional = is("?");
            if (is_optional && !advance())
                return std::nullopt;
            base = is_index ? index(*base, offset, is_optional)
                            : member_name(*base, offset, is_optional);
        }
        return base;
    }

    [[nodiscard]] parsed index(std::uint32_t base, std::size_t offset, bool is_optional) {
        const parsed key = expression();
        if (!key || !expect("]"))
            return std::nullopt;
        const auto type = item_type(type_of(base), type_of(*key));
        if (!type)
            return invalid(offset, "no items of " + std::string(kind_name(type_of(base).outer)) +
                                       " by " + std::string(kind_name(type_of(*key).outer)));
        if (is_optional)
            return add(make(node_kind::optional_index, offset, optional_type(*type), {base, *key}));
        return add(make(node_kind::index, offset, *type, {base, *key}));
    }

    [[nodiscard]] static static_type optional_type(const static_type& type) {
        return type.outer == kind::optional ? type : static_type{kind::optional, type.outer};
    }

    [[nodiscard]] parsed member_name(std::uint32_t base, std::size_t offset, bool is_optional) {
        if (token_.kind != token_kind::identifier || is_word("in") || is_word("true") ||
            is_word("false") || is_word("null"))
            return unexpected("a name");
        const auto name = token_.written;
        if (!advance())
            return std::nullopt;
        if (!is_optional && is("("))
            return method(base, name, offset);
        const auto type = field_type(type_of(base), name);
        if (!type)
            return invalid(offset, std::string(kind_name(type_of(base).outer)) + " has no field " +
                                       std::string(name));
        if (is_optional && type_of(base).outer == kind::device)
            return unsupported(offset, "optional fields of device");
        node made = make(is_optional ? node_kind::optional_field : node_kind::field, offset,
                         is_optional ? optional_type(*type) : *type, {base});
        made.name = name;
        return add(std::move(made));
    }

    [[nodiscard]] parsed method(std::uint32_t receiver, std::string_view name, std::size_t offset) {
        struct macro {
            std::string_view name;
            node_kind kind;
        };
        static constexpr macro macros[] = {
            {"all", node_kind::all},       {"exists", node_kind::exists},
            {"filter", node_kind::filter}, {"exists_one", node_kind::exists_one},
            {"map", node_kind::map},       {"optMap", node_kind::map_optional}};
        for (const macro& each : macros)
            if (each.name == name)
                return advance() ? comprehension(each.kind, receiver, offset) : std::nullopt;
        constexpr std::string_view unsupported_macros[] = {"existsOne",    "optFlatMap",
                                                           "sortBy",       "transformList",
                                                           "transformMap", "transformMapEntry"};
        for (const std::string_view each : unsupported_macros)
            if (each == name)
                return unsupported(offset, "macro " + std::string(name));
        return call(name, offset, true, {receiver});
    }

    /// The rest of a macro after `range.name(`.
    [[nodiscard]] parsed comprehension(node_kind kind, std::uint32_t range, std::size_t offset) {
        const bool is_optional = kind == node_kind::map_optional;
        const auto item =
            is_optional ? held_if_optional(type_of(range)) : item_type(type_of(range));
        if (!item)
            return invalid(offset, "no items in " + std::string(kind_name(type_of(range).outer)));
        children operands{range};
        const parsed body = scoped_body(*item, kind == node_kind::all || kind == node_kind::exists);
        if (!body)
            return std::nullopt;
        operands.push_back(*body);
        bool is_condition = kind != node_kind::map && !is_optional;
        if (kind == node_kind::map && is(",")) {
            const parsed second = advance() ? expression() : std::nullopt;
            if (!second)
                return std::nullopt;
            operands.push_back(*second);
            kind = node_kind::filter_map;
            is_condition = true;
        }
        const auto slot = static_cast<std::uint32_t>(scope_.size() - 1);
        scope_.pop_back();
        if (!expect(")"))
            return std::nullopt;
        if (is_condition && !require(*body, kind::boolean, "a condition"))
            return std::nullopt;
        static_type type{kind::boolean};
        if (kind == node_kind::map || kind == node_kind::filter_map)
            type = {kind::list, type_of(operands.back()).outer};
        else if (kind == node_kind::filter)
            type = {kind::list, item->outer};
        else if (is_optional)
            type = {kind::optional, type_of(*body).outer};
        node made = make(kind, offset, type, std::move(operands));
        made.slot = slot;
        return add(std::move(made));
    }

    [[nodiscard]] static std::optional<static_type> held_if_optional(const static_type& type) {
        if (!may_be(type.outer, kind::optional))
            return std::nullopt;
        return held_type(type);
    }

    /// `name, body`. Leaves the variable in scope if the body is parsed.
    [[nodiscard]] parsed scoped_body(const static_type& type, bool may_have_two_variables) {
        if (token_.kind != token_kind::identifier || is_reserved(token_.written))
            return unexpected("the name of a variable");
        const auto name = token_.written;
        if (!advance() || !expect(","))
            return std::nullopt;
        if (may_have_two_variables && token_.kind == token_kind::identifier) {
            tokenizer ahead = tokens_;
            if (const auto next = ahead.next(); next && next->written == ",")
                return unsupported(token_.offset, "macros with two variables");
        }
        scope_.push_back({name, type});
        return expression();
    }

    /// The rest of `cel.bind(name, value, body)` after the parenthesis.
    [[nodiscard]] parsed bind(std::size_t offset) {
        if (token_.kind != token_kind::identifier || is_reserved(token_.written))
            return unexpected("the name of a variable");
        const auto name = token_.written;
        if (!advance() || !expect(","))
            return std::nullopt;
        const parsed bound = expression();
        if (!bound || !expect(","))
            return std::nullopt;
        const auto slot = static_cast<std::uint32_t>(scope_.size());
        scope_.push_back({name, type_of(*bound)});
        const parsed body = expression();
        if (!body || !expect(")"))
            return std::nullopt;
        scope_.pop_back();
        node made = make(node_kind::bind, offset, type_of(*body), {*bound, *body});
        made.slot = slot;
        return add(std::move(made));
    }

    /// The arguments of a function after its name, and the call.
    [[nodiscard]] parsed call(std::string_view name, std::size_t offset, bool is_method,
                              children operands) {
        if (!advance())
            return std::nullopt;
        while (!is(")")) {
            const parsed argument = expression();
            if (!argument || (!is(")") && !expect(",")))
                return std::nullopt;
            operands.push_back(*argument);
            if (operands.size() > 8)
                return unsupported(offset, "more than 8 arguments");
        }
        if (!advance())
            return std::nullopt;
        std::vector<static_type> types;
        for (const std::uint32_t each : operands)
            types.push_back(type_of(each));
        bool is_known = false;
        const auto resolved = resolve_call(name, is_method, types, is_known);
        if (!is_known)
            return unsupported(offset, "function " + std::string(name));
        if (!resolved)
            return invalid(offset,
                           "no function " + std::string(name) + " that takes these arguments");
        if (resolved->function == function::matches)
            if (const auto* pattern = tree_.nodes[operands[1]].value.as<std::string>()) {
                const auto compiled = text_pattern::compile(*pattern);
                if (!compiled)
                    return wrong(selector_errc::not_supported, offset, compiled.error());
            }
        node made = make(node_kind::call, offset, resolved->type, std::move(operands));
        made.function = resolved->function;
        return add(std::move(made));
    }

    [[nodiscard]] parsed primary(std::string_view sign) {
        const auto offset = token_.offset;
        switch (token_.kind) {
        case token_kind::integer:
            return integer(sign);
        case token_kind::text: {
            value constant_text = std::move(token_.value);
            return advance() ? constant(offset, kind::text, std::move(constant_text))
                             : std::nullopt;
        }
        case token_kind::identifier:
            return identifier();
        case token_kind::symbol:
            break;
        case token_kind::end:
            return unexpected("an expression");
        }
        if (is("{"))
            return unsupported(offset, "maps");
        if (is("."))
            return unsupported(offset, "names that start with a dot");
        if (is("["))
            return list();
        if (!is("("))
            return unexpected("an expression");
        const parsed inner = advance() ? expression() : std::nullopt;
        return inner && expect(")") ? inner : std::nullopt;
    }

    [[nodiscard]] parsed integer(std::string_view sign) {
        const auto offset = token_.offset;
        const bool is_hex = token_.written.starts_with("0x");
        const auto digits = std::string(sign) + std::string(token_.written.substr(is_hex ? 2 : 0));
        std::int64_t number = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), number, is_hex ? 16 : 10);
        if (error != std::errc{})
            return invalid(offset, "the number does not fit 64 bits");
        return advance() ? constant(offset, kind::integer, number) : std::nullopt;
    }

    [[nodiscard]] parsed list() {
        const auto offset = token_.offset;
        static_type inner;
        children items;
        if (!advance())
            return std::nullopt;
        while (!is("]")) {
            if (is("?"))
                return unsupported(token_.offset, "optional items");
            const parsed item = expression();
            if (!item || (!is("]") && !expect(",")))
                return std::nullopt;
            const static_type found = type_of(*item);
            if (!items.empty() && !may_share_list(found, inner))
                return invalid(tree_.nodes[*item].offset, "all items must have the same type");
            inner = items.empty() ? found : either_type(inner, found);
            items.push_back(*item);
        }
        if (!advance())
            return std::nullopt;
        return add(make(node_kind::list, offset, {kind::list, inner.outer}, std::move(items)));
    }

    [[nodiscard]] static bool is_reserved(std::string_view word) {
        constexpr std::string_view words[] = {
            "as",       "break",   "const",  "continue", "else", "false", "for",
            "function", "if",      "import", "in",       "let",  "loop",  "namespace",
            "null",     "package", "return", "true",     "var",  "void",  "while"};
        return std::find(std::begin(words), std::end(words), word) != std::end(words);
    }

    /// A constant, a variable or a function.
    [[nodiscard]] parsed identifier() {
        const auto name = token_.written;
        const auto offset = token_.offset;
        if (!advance())
            return std::nullopt;
        if (name == "true" || name == "false")
            return constant(offset, kind::boolean, name == "true");
        if (name == "null")
            return constant(offset, kind::null, null_value{});
        if (is_reserved(name))
            return invalid(offset, std::string(name) + " is a reserved word");
        if (is("("))
            return name == "has" ? has(offset) : call(name, offset, false, {});
        for (std::size_t slot = scope_.size(); slot-- > 0;) {
            if (scope_[slot].name != name)
                continue;
            node made = make(node_kind::variable, offset, scope_[slot].type, {});
            made.slot = static_cast<std::uint32_t>(slot);
            return add(std::move(made));
        }
        if ((name == "cel" || name == "optional") && is("."))
            return qualified_call(name, offset);
        // A name before a dot may be a namespace, such as `sets`.
        if (is("."))
            return unsupported(offset, "the name " + std::string(name));
        return invalid(offset, "there is no variable " + std::string(name));
    }

    [[nodiscard]] parsed qualified_call(std::string_view space, std::size_t offset) {
        if (!advance())
            return std::nullopt;
        const std::string name = std::string(space) + "." + std::string(token_.written);
        if (!advance())
            return std::nullopt;
        if (!is("("))
            return unexpected("(");
        if (name == "cel.bind")
            return advance() ? bind(offset) : std::nullopt;
        return call(name, offset, false, {});
    }

    /// The rest of `has(base.name)` after `has`.
    [[nodiscard]] parsed has(std::size_t offset) {
        const parsed inner = advance() ? expression() : std::nullopt;
        if (!inner || !expect(")"))
            return std::nullopt;
        const node& tested = tree_.nodes[*inner];
        if (tested.kind != node_kind::field)
            return invalid(offset, "has() takes base.name");
        if (type_of(tested.children[0]).outer == kind::optional)
            return unsupported(offset, "has() of an optional");
        node made = make(node_kind::has_field, offset, {kind::boolean}, tested.children);
        made.name = tested.name;
        return add(std::move(made));
    }
};

} // namespace cel
} // namespace v0_1
} // namespace muster
