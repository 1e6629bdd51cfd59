// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <muster/codec/device_objects.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A conjunction of equalities: the only form of a CEL device selector that Muster evaluates.
struct device_selector {
    struct equality {
        /// Qualified name of the attribute; empty = the driver.
        std::string attribute;
        device_value value;
    };
    std::vector<equality> all_of;

    /// Returns whether the selector matches the device. Returns nullopt if CEL would fail or the
    /// comparison is not modelled: the device lacks an attribute, or the attribute has another
    /// type.
    [[nodiscard]] std::optional<bool> matches(const std::string& driver,
                                              const device_object& device) const {
        bool undecided = false;
        for (const equality& each : all_of) {
            if (each.attribute.empty()) {
                if (each.value != device_value(driver))
                    return false;
                continue;
            }
            const auto found = device.attributes.find(each.attribute);
            if (found == device.attributes.end() || found->second.index() != each.value.index())
                undecided = true;
            else if (found->second != each.value)
                return false;
        }
        // As in CEL, one false term makes the conjunction false even if other terms fail.
        return undecided ? std::nullopt : std::optional(true);
    }
};

namespace detail {

/// Parses equalities joined by &&:
///   device.driver == "x"
///   device.attributes["domain"].name == "text" (or a bool, or an int)
class device_selector_parser {
public:
    explicit device_selector_parser(std::string_view text) : rest_(text) {}

    [[nodiscard]] std::optional<device_selector> parse() {
        device_selector made;
        do {
            auto one = equality();
            if (!one)
                return std::nullopt;
            made.all_of.push_back(std::move(*one));
        } while (accept("&&"));
        return rest_.empty() ? std::optional(std::move(made)) : std::nullopt;
    }

private:
    [[nodiscard]] std::optional<device_selector::equality> equality() {
        device_selector::equality made;
        if (!accept("device") || !accept("."))
            return std::nullopt;
        const std::string_view member = identifier();
        if (member == "attributes") {
            if (!accept("["))
                return std::nullopt;
            const auto domain = text();
            if (!domain || !accept("]") || !accept("."))
                return std::nullopt;
            const std::string_view name = identifier();
            if (name.empty())
                return std::nullopt;
            made.attribute = *domain + "/" + std::string(name);
        } else if (member != "driver") {
            return std::nullopt;
        }
        if (!accept("=="))
            return std::nullopt;
        made.value = value();
        const bool is_text = std::holds_alternative<std::string>(made.value);
        if (made.value.index() == 0 || (made.attribute.empty() && !is_text))
            return std::nullopt;
        return made;
    }

    [[nodiscard]] device_value value() {
        if (auto found = text())
            return std::move(*found);
        if (const std::string_view word = identifier(); !word.empty()) {
            if (word == "true" || word == "false")
                return word == "true";
            return {};
        }
        std::int64_t number = 0;
        const auto [end, error] =
            std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
        if (error != std::errc{})
            return {};
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        // A letter or a dot after the digits (1.5, 1u, 0x1) makes the literal another type.
        if (!rest_.empty() && (is_letter(rest_.front()) || rest_.front() == '.'))
            return {};
        return number;
    }

    /// Parses a string literal in single or double quotes, without escapes.
    [[nodiscard]] std::optional<std::string> text() {
        skip_space();
        if (rest_.empty() || (rest_.front() != '"' && rest_.front() != '\''))
            return std::nullopt;
        const std::size_t end = rest_.find(rest_.front(), 1);
        if (end == std::string_view::npos)
            return std::nullopt;
        std::string read(rest_.substr(1, end - 1));
        const bool is_tripled = end == 1 && rest_.size() > 2 && rest_[2] == rest_.front();
        if (read.find_first_of("\\\n") != std::string::npos || is_tripled)
            return std::nullopt;
        rest_.remove_prefix(end + 1);
        return read;
    }

    [[nodiscard]] std::string_view identifier() {
        skip_space();
        std::size_t length = 0;
        while (length < rest_.size() &&
               (is_letter(rest_[length]) || (length > 0 && is_digit(rest_[length]))))
            ++length;
        const std::string_view read = rest_.substr(0, length);
        rest_.remove_prefix(length);
        return read;
    }

    [[nodiscard]] bool accept(std::string_view token) {
        skip_space();
        if (!rest_.starts_with(token))
            return false;
        rest_.remove_prefix(token.size());
        skip_space();
        return true;
    }
    void skip_space() {
        const std::size_t first = rest_.find_first_not_of(" \t\r\n");
        rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
    }
    static bool is_digit(char each) { return each >= '0' && each <= '9'; }
    static bool is_letter(char each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || each == '_';
    }

    std::string_view rest_;
};

} // namespace detail

/// Parses a CEL expression. Returns nullopt unless the expression is a conjunction of equalities of
/// the driver and of attributes. O(text).
[[nodiscard]] inline std::optional<device_selector> parse_device_selector(std::string_view text) {
    return detail::device_selector_parser(text).parse();
}

} // namespace codec
} // namespace v0_1
} // namespace muster
