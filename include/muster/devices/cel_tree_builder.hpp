// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/devices/cel_checks.hpp>
#include <muster/devices/cel_syntax.hpp>
#include <muster/devices/cel_tokens.hpp>

namespace muster {
inline namespace v0_1 {
namespace cel {

/// Levels of an expression. Bounds the recursion of the parser and of the evaluator.
inline constexpr std::size_t max_depth = 100;

/// The tokens that a parser reads, the tree that it builds, and its first error. Functions that
/// make a node return its index, or nullopt after they have recorded the error.
class tree_builder {
protected:
    explicit tree_builder(std::string_view text) : tokens_(text) {}

    using parsed = std::optional<std::uint32_t>;
    using children = std::vector<std::uint32_t>;
    struct variable {
        std::string_view name;
        static_type type;
    };

    // Errors.

    std::nullopt_t wrong(selector_errc code, std::size_t offset, std::string text) {
        error_ = {code, offset, std::move(text)};
        return std::nullopt;
    }
    std::nullopt_t invalid(std::size_t offset, std::string text) {
        return wrong(selector_errc::invalid, offset, std::move(text));
    }
    std::nullopt_t unsupported(std::size_t offset, std::string_view piece) {
        return wrong(selector_errc::not_supported, offset, "not supported: " + std::string(piece));
    }
    std::nullopt_t unexpected(std::string_view expected) {
        const auto found =
            token_.kind == token_kind::end ? std::string("the end") : std::string(token_.written);
        return invalid(token_.offset, "expected " + std::string(expected) + ", found " + found);
    }

    // Tokens.

    [[nodiscard]] bool advance() {
        auto next = tokens_.next();
        if (!next) {
            error_ = next.error();
            return false;
        }
        token_ = std::move(*next);
        return true;
    }
    [[nodiscard]] bool is(std::string_view symbol) const {
        return token_.kind == token_kind::symbol && token_.written == symbol;
    }
    [[nodiscard]] bool is_word(std::string_view word) const {
        return token_.kind == token_kind::identifier && token_.written == word;
    }
    [[nodiscard]] bool expect(std::string_view symbol) {
        if (is(symbol))
            return advance();
        (void)unexpected(symbol);
        return false;
    }

    // Nodes.

    [[nodiscard]] parsed add(node made) {
        for (const std::uint32_t child : made.children)
            made.height = std::max(made.height, tree_.nodes[child].height + 1);
        if (made.height > max_depth)
            return too_deep(made.offset);
        tree_.nodes.push_back(std::move(made));
        return static_cast<std::uint32_t>(tree_.nodes.size() - 1);
    }
    std::nullopt_t too_deep(std::size_t offset) {
        return unsupported(offset, "more than 100 levels");
    }
    [[nodiscard]] node make(node_kind kind, std::size_t offset, static_type type,
                            children operands) const {
        node made;
        made.kind = kind;
        made.offset = static_cast<std::uint32_t>(offset);
        made.type = type;
        made.children = std::move(operands);
        return made;
    }
    [[nodiscard]] parsed constant(std::size_t offset, kind type, value constant) {
        node made = make(node_kind::constant, offset, {type}, {});
        made.value = std::move(constant);
        return add(std::move(made));
    }
    [[nodiscard]] const static_type& type_of(std::uint32_t index) const {
        return tree_.nodes[index].type;
    }
    [[nodiscard]] bool require(std::uint32_t index, kind wanted, std::string_view what) {
        const node& checked = tree_.nodes[index];
        if (may_be(checked.type.outer, wanted))
            return true;
        (void)invalid(checked.offset, std::string(what) + " must be a " +
                                          std::string(kind_name(wanted)) + ", not " +
                                          std::string(kind_name(checked.type.outer)));
        return false;
    }

    tokenizer tokens_;
    token token_;
    syntax_tree tree_;
    std::vector<variable> scope_;
    std::size_t depth_ = 0;
    selector_error error_;
};

} // namespace cel
} // namespace v0_1
} // namespace muster
