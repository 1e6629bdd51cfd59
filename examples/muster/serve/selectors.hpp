// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/serve/json_values.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

namespace detail {

[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
    return text;
}

/// The parts between commas; those in parentheses stay together.
[[nodiscard]] inline std::vector<std::string_view> split_list(std::string_view text) {
    std::vector<std::string_view> made;
    std::size_t start = 0;
    int depth = 0;
    for (std::size_t at = 0; at <= text.size(); ++at) {
        if (at == text.size() || (text[at] == ',' && depth == 0)) {
            if (const auto part = trimmed(text.substr(start, at - start)); !part.empty())
                made.push_back(part);
            start = at + 1;
        } else if (text[at] == '(') {
            ++depth;
        } else if (text[at] == ')') {
            --depth;
        }
    }
    return made;
}

} // namespace detail

/// One demand on labels or fields.
struct requirement {
    enum class operation : std::uint8_t { in, not_in, exists, does_not_exist };
    std::string key;
    operation how = operation::in;
    std::vector<std::string> values;

    /// `value`: absent when there is no such label or field.
    [[nodiscard]] bool accepts(std::optional<std::string_view> value) const {
        const bool named = value && std::ranges::find(values, *value) != values.end();
        switch (how) {
        case operation::in:
            return named;
        case operation::not_in:
            return !named;
        case operation::exists:
            return value.has_value();
        case operation::does_not_exist:
            return !value;
        }
        return false;
    }
};

/// Reads `a=b,c!=d,e in (f,g),h notin (i),j,!k`; nothing when it is malformed.
[[nodiscard]] inline std::optional<std::vector<requirement>> parse_selector(std::string_view text) {
    using how = requirement::operation;
    std::vector<requirement> made;
    for (const std::string_view part : detail::split_list(text)) {
        requirement one;
        if (const auto at = part.find('('); at != std::string_view::npos) {
            if (part.back() != ')')
                return std::nullopt;
            const std::string_view front = detail::trimmed(part.substr(0, at));
            const auto space = front.find(' ');
            if (space == std::string_view::npos)
                return std::nullopt;
            const std::string_view word = detail::trimmed(front.substr(space));
            if (word != "in" && word != "notin")
                return std::nullopt;
            one.key = front.substr(0, space);
            one.how = word == "in" ? how::in : how::not_in;
            const std::string_view inner = part.substr(at + 1, part.size() - at - 2);
            for (const std::string_view each : detail::split_list(inner))
                one.values.emplace_back(each);
        } else if (const auto unequal = part.find("!="); unequal != std::string_view::npos) {
            one = {std::string(detail::trimmed(part.substr(0, unequal))),
                   how::not_in,
                   {std::string(detail::trimmed(part.substr(unequal + 2)))}};
        } else if (const auto equal = part.find('='); equal != std::string_view::npos) {
            std::string_view value = part.substr(equal + 1);
            if (!value.empty() && value.front() == '=')
                value.remove_prefix(1);
            one = {std::string(detail::trimmed(part.substr(0, equal))),
                   how::in,
                   {std::string(detail::trimmed(value))}};
        } else if (part.front() == '!') {
            one = {std::string(detail::trimmed(part.substr(1))), how::does_not_exist, {}};
        } else {
            one = {std::string(part), how::exists, {}};
        }
        if (one.key.empty() || one.key.find(' ') != std::string::npos)
            return std::nullopt;
        made.push_back(std::move(one));
    }
    return made;
}

/// The field that a field selector means; of one that is not set: empty.
[[nodiscard]] inline std::string field_text(const json::object& of, std::string_view path) {
    const json::object* here = &of;
    while (here) {
        const auto dot = path.find('.');
        const json::value* const found = here->if_contains(path.substr(0, dot));
        if (!found)
            return "";
        if (dot == std::string_view::npos) {
            if (const auto* const text = found->if_string())
                return std::string(view(*text));
            return found->is_null() ? "" : json::serialize(*found);
        }
        path.remove_prefix(dot + 1);
        here = found->if_object();
    }
    return "";
}

struct selectors {
    std::vector<requirement> labels = {};
    std::vector<requirement> fields = {};

    [[nodiscard]] bool empty() const { return labels.empty() && fields.empty(); }
    [[nodiscard]] bool accepts(const json::object& of) const {
        if (!labels.empty()) {
            const json::object* const known = object_at(of, {"metadata", "labels"});
            for (const requirement& each : labels) {
                const json::value* const found = known ? known->if_contains(each.key) : nullptr;
                const bool is_text = found && found->is_string();
                if (!each.accepts(is_text ? std::optional(view(found->get_string()))
                                          : std::nullopt))
                    return false;
            }
        }
        return std::ranges::all_of(fields, [&](const requirement& each) {
            return each.accepts(field_text(of, each.key));
        });
    }
};

/// A LabelSelector of an object: matchLabels and matchExpressions. Absent selects nothing.
[[nodiscard]] inline std::optional<std::vector<requirement>>
read_label_selector(const json::object* from) {
    if (!from)
        return std::nullopt;
    using how = requirement::operation;
    std::vector<requirement> made;
    if (const json::object* const labels = object_at(*from, {"matchLabels"}))
        for (const auto& [key, value] : *labels)
            if (value.is_string())
                made.push_back(
                    {std::string(key), how::in, {std::string(view(value.get_string()))}});
    if (const json::array* const terms = array_at(*from, {"matchExpressions"}))
        for (const json::value& each : *terms) {
            if (!each.is_object())
                continue;
            const json::object& term = each.get_object();
            requirement one;
            one.key = text_at(term, {"key"});
            const std::string_view word = text_at(term, {"operator"});
            one.how = word == "In"       ? how::in
                      : word == "NotIn"  ? how::not_in
                      : word == "Exists" ? how::exists
                                         : how::does_not_exist;
            if (const json::array* const values = array_at(term, {"values"}))
                for (const json::value& value : *values)
                    if (value.is_string())
                        one.values.emplace_back(view(value.get_string()));
            made.push_back(std::move(one));
        }
    return made;
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
