// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <muster/base/result.hpp>
#include <muster/devices/utf8.hpp>

namespace muster {
inline namespace v0_1 {

enum class selector_errc : std::uint8_t {
    /// CEL does not accept the text.
    invalid,
    /// CEL may accept the text; this subset does not.
    not_supported,
};

/// Why a text is not a selector, and the offset of the first wrong byte.
struct selector_error {
    selector_errc code = selector_errc::invalid;
    std::size_t offset = 0;
    std::string text;
};

namespace cel {

enum class token_kind : std::uint8_t { end, identifier, integer, text, symbol };

struct token {
    token_kind kind = token_kind::end;
    std::size_t offset = 0;
    /// As written.
    std::string_view written;
    /// Of a text: its value in UTF-8.
    std::string value;
};

[[nodiscard]] constexpr bool is_digit(char each) noexcept {
    return each >= '0' && each <= '9';
}
[[nodiscard]] constexpr bool is_letter(char each) noexcept {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || each == '_';
}

/// Splits a text into tokens. O(text) for all tokens.
class tokenizer {
public:
    explicit tokenizer(std::string_view text) : text_(text) {}

    [[nodiscard]] result<token, selector_error> next() {
        skip_blanks();
        if (at_ == text_.size())
            return token{token_kind::end, at_, {}, {}};
        const char first = text_[at_];
        if (is_letter(first))
            return word();
        if (is_digit(first) || (first == '.' && is_digit(peek(1))))
            return number();
        if (first == '"' || first == '\'')
            return text_literal(0, false);
        constexpr std::string_view pairs[] = {"&&", "||", "==", "!=", "<=", ">="};
        for (const auto pair : pairs)
            if (text_.substr(at_, 2) == pair)
                return take(token_kind::symbol, 2);
        if (first == '`')
            return unsupported(at_, "names in backticks");
        if (std::string_view("+-*/%<>!?:.,()[]{}").find(first) == std::string_view::npos)
            return wrong(at_, "unexpected character");
        return take(token_kind::symbol, 1);
    }

private:
    [[nodiscard]] static failure<selector_error> wrong(std::size_t offset, std::string text) {
        return failure<selector_error>{{selector_errc::invalid, offset, std::move(text)}};
    }
    [[nodiscard]] static failure<selector_error> unsupported(std::size_t offset, std::string text) {
        return failure<selector_error>{
            {selector_errc::not_supported, offset, "not supported: " + std::move(text)}};
    }

    /// The byte so many places ahead; NUL after the end.
    [[nodiscard]] char peek(std::size_t places) const noexcept {
        return at_ + places < text_.size() ? text_[at_ + places] : '\0';
    }

    token take(token_kind kind, std::size_t size) {
        token taken{kind, at_, text_.substr(at_, size), {}};
        at_ += size;
        return taken;
    }

    void skip_blanks() {
        while (at_ < text_.size()) {
            if (text_.substr(at_, 2) == "//")
                at_ = text_.find('\n', at_);
            else
                at_ = text_.find_first_not_of(" \t\r\n\f", at_);
            at_ = at_ == std::string_view::npos ? text_.size() : at_;
            if (at_ < text_.size() && text_.substr(at_, 2) != "//" &&
                std::string_view(" \t\r\n\f").find(text_[at_]) == std::string_view::npos)
                return;
        }
    }

    result<token, selector_error> word() {
        std::size_t size = 0;
        while (is_letter(peek(size)) || is_digit(peek(size)))
            ++size;
        // A prefix of a text: r (raw) or b (bytes), in either order.
        if (size <= 2 && (peek(size) == '"' || peek(size) == '\'')) {
            const auto prefix = text_.substr(at_, size);
            if (prefix == "r" || prefix == "R")
                return text_literal(1, true);
            if (prefix.find_first_not_of("rRbB") == std::string_view::npos)
                return unsupported(at_, "bytes");
        }
        return take(token_kind::identifier, size);
    }

    result<token, selector_error> number() {
        std::size_t size = 0;
        const bool is_hex = peek(0) == '0' && peek(1) == 'x' && hex_digit(peek(2)) >= 0;
        if (is_hex)
            size = 2;
        while (is_hex ? hex_digit(peek(size)) >= 0 : is_digit(peek(size)))
            ++size;
        const bool is_double = !is_hex && ((peek(size) == '.' && is_digit(peek(size + 1))) ||
                                           peek(size) == 'e' || peek(size) == 'E');
        if (is_double)
            return unsupported(at_, "numbers of type double");
        if (peek(size) == 'u' || peek(size) == 'U')
            return unsupported(at_, "numbers of type uint");
        return take(token_kind::integer, size);
    }

    [[nodiscard]] static constexpr int hex_digit(char each) noexcept {
        if (is_digit(each))
            return each - '0';
        if (each >= 'a' && each <= 'f')
            return each - 'a' + 10;
        if (each >= 'A' && each <= 'F')
            return each - 'A' + 10;
        return -1;
    }

    /// A text in single or triple quotes after a prefix.
    result<token, selector_error> text_literal(std::size_t prefix, bool is_raw) {
        token made{token_kind::text, at_, {}, {}};
        at_ += prefix;
        const auto quotes = std::string(3, text_[at_]);
        const bool is_tripled = text_.substr(at_, 3) == quotes;
        const auto quote = std::string_view(quotes).substr(0, is_tripled ? 3 : 1);
        at_ += quote.size();
        while (text_.substr(at_, quote.size()) != quote) {
            if (at_ == text_.size() || (!is_tripled && (peek(0) == '\n' || peek(0) == '\r')))
                return wrong(made.offset, "a string without an end");
            if (peek(0) == '\\' && !is_raw) {
                if (const auto error = escape(made.value))
                    return failure<selector_error>{*error};
            } else if (text_.substr(at_, 2) == "\r\n") {
                ++at_;
            } else {
                made.value += peek(0) == '\r' ? '\n' : peek(0);
                ++at_;
            }
        }
        at_ += quote.size();
        made.written = text_.substr(made.offset, at_ - made.offset);
        return made;
    }

    /// Appends the character that an escape sequence stands for.
    [[nodiscard]] std::optional<selector_error> escape(std::string& value) {
        const auto offset = at_;
        const char letter = peek(1);
        at_ += 2;
        constexpr std::string_view letters = "abfnrtv\\?\"'`";
        constexpr std::string_view meanings = "\a\b\f\n\r\t\v\\?\"'`";
        if (const auto found = letters.find(letter);
            letter != '\0' && found != std::string_view::npos) {
            value += meanings[found];
            return std::nullopt;
        }
        std::size_t digits = 0;
        std::uint32_t base = 16;
        switch (letter) {
        case 'x':
        case 'X':
            digits = 2;
            break;
        case 'u':
            digits = 4;
            break;
        case 'U':
            digits = 8;
            break;
        default:
            if (letter >= '0' && letter <= '3') {
                digits = 3;
                base = 8;
                --at_;
            }
        }
        std::uint32_t code = 0;
        for (std::size_t count = 0; count < digits; ++count, ++at_) {
            const int digit = hex_digit(peek(0));
            if (digit < 0 || static_cast<std::uint32_t>(digit) >= base)
                return selector_error{selector_errc::invalid, offset, "an incomplete escape"};
            code = code * base + static_cast<std::uint32_t>(digit);
        }
        if (digits == 0)
            return selector_error{selector_errc::invalid, offset, "an unknown escape"};
        if (!is_code_point(code))
            return selector_error{selector_errc::invalid, offset, "no Unicode code point"};
        append_utf8(value, code);
        return std::nullopt;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

} // namespace cel
} // namespace v0_1
} // namespace muster
