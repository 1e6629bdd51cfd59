// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
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

/// JSON merge patch (RFC 7386).
inline void merge_patch(json::value& onto, const json::value& patch) {
    if (!patch.is_object()) {
        onto = patch;
        return;
    }
    if (!onto.is_object())
        onto.emplace_object();
    json::object& into = onto.get_object();
    for (const auto& [name, value] : patch.get_object()) {
        if (value.is_null())
            into.erase(name);
        else
            merge_patch(into[name], value);
    }
}

namespace detail {

/// Takes `/a/b~1c/0` apart; nothing when it is no pointer.
[[nodiscard]] inline std::optional<std::vector<std::string>> parse_pointer(std::string_view text) {
    std::vector<std::string> made;
    if (text.empty())
        return made;
    if (text.front() != '/')
        return std::nullopt;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '/')
            made.emplace_back();
        else if (text[at] == '~' && at + 1 < text.size() && text[at + 1] == '1')
            made.back() += '/', ++at;
        else if (text[at] == '~' && at + 1 < text.size() && text[at + 1] == '0')
            made.back() += '~', ++at;
        else
            made.back() += text[at];
    }
    return made;
}

[[nodiscard]] inline std::optional<std::size_t> parse_index(std::string_view text) {
    std::size_t made = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), made);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size())
        return std::nullopt;
    return made;
}

[[nodiscard]] inline json::value* step_into(json::value* here, const std::string& name) {
    if (!here)
        return nullptr;
    if (auto* const object = here->if_object())
        return object->if_contains(name);
    auto* const list = here->if_array();
    const auto index = parse_index(name);
    return list && index && *index < list->size() ? &(*list)[*index] : nullptr;
}

[[nodiscard]] inline bool add_at(json::value& root, const std::vector<std::string>& path,
                                 const json::value& what) {
    if (path.empty()) {
        root = what;
        return true;
    }
    json::value* here = &root;
    for (std::size_t at = 0; at + 1 < path.size(); ++at)
        here = step_into(here, path[at]);
    if (!here)
        return false;
    if (auto* const object = here->if_object()) {
        (*object)[path.back()] = what;
        return true;
    }
    auto* const list = here->if_array();
    if (!list)
        return false;
    const auto index = path.back() == "-" ? std::optional(list->size()) : parse_index(path.back());
    if (!index || *index > list->size())
        return false;
    list->insert(list->begin() + static_cast<std::ptrdiff_t>(*index), what);
    return true;
}

[[nodiscard]] inline bool remove_at(json::value& root, const std::vector<std::string>& path) {
    if (path.empty())
        return false;
    json::value* here = &root;
    for (std::size_t at = 0; at + 1 < path.size(); ++at)
        here = step_into(here, path[at]);
    if (!here || !step_into(here, path.back()))
        return false;
    if (auto* const object = here->if_object())
        object->erase(path.back());
    else
        here->get_array().erase(here->get_array().begin() +
                                static_cast<std::ptrdiff_t>(*parse_index(path.back())));
    return true;
}

} // namespace detail

/// Carries out a JSON patch (RFC 6902). Gives what is wrong with it, or nothing; then `onto` is to
/// be thrown away.
[[nodiscard]] inline std::optional<std::string> json_patch(json::value& onto,
                                                           const json::value& patch) {
    const json::array* const steps = patch.if_array();
    if (!steps)
        return "a JSON patch is a list";
    for (const json::value& each : *steps) {
        const json::object* const step = each.if_object();
        if (!step)
            return "a step of a JSON patch is an object";
        const std::string_view what = text_at(*step, {"op"});
        const auto path = detail::parse_pointer(text_at(*step, {"path"}));
        const json::value* const value = step->if_contains("value");
        if (!path)
            return "a path of a JSON patch is not a pointer";
        json::value* here = &onto;
        for (const std::string& name : *path)
            here = detail::step_into(here, name);
        bool done = false;
        if (what == "test") {
            done = here && value && *here == *value;
        } else if (what == "add") {
            done = value && detail::add_at(onto, *path, *value);
        } else if (what == "remove") {
            done = detail::remove_at(onto, *path);
        } else if (what == "replace") {
            if (here && value)
                *here = *value;
            done = here && value;
        } else if (what == "copy" || what == "move") {
            const auto from = detail::parse_pointer(text_at(*step, {"from"}));
            json::value* source = from ? &onto : nullptr;
            for (const std::string& name : from.value_or(std::vector<std::string>{}))
                source = detail::step_into(source, name);
            if (source) {
                const json::value copy = *source;
                done = (what == "copy" || detail::remove_at(onto, *from)) &&
                       detail::add_at(onto, *path, copy);
            }
        }
        if (!done)
            return "the step " + json::serialize(*step) + " of the JSON patch cannot be made";
    }
    return std::nullopt;
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
