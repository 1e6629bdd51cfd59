// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

namespace json = boost::json;

/// An object as it was written once; later versions are objects of their own.
using shared_object = std::shared_ptr<const json::object>;

[[nodiscard]] inline std::string_view view(const json::string& text) noexcept {
    return {text.data(), text.size()};
}

using field_names = std::initializer_list<std::string_view>;

/// The value at the end of a path of fields; null when there is none.
[[nodiscard]] inline const json::value* value_at(const json::object& in, field_names path) {
    const json::object* here = &in;
    const json::value* found = nullptr;
    for (const std::string_view name : path) {
        if (!here)
            return nullptr;
        found = here->if_contains(name);
        if (!found)
            return nullptr;
        here = found->if_object();
    }
    return found;
}

[[nodiscard]] inline const json::object* object_at(const json::object& in, field_names path) {
    const json::value* const found = value_at(in, path);
    return found ? found->if_object() : nullptr;
}

[[nodiscard]] inline const json::array* array_at(const json::object& in, field_names path) {
    const json::value* const found = value_at(in, path);
    return found ? found->if_array() : nullptr;
}

/// The text there; empty when there is none.
[[nodiscard]] inline std::string_view text_at(const json::object& in, field_names path) {
    const json::value* const found = value_at(in, path);
    const json::string* const text = found ? found->if_string() : nullptr;
    return text ? view(*text) : std::string_view{};
}

[[nodiscard]] inline std::optional<std::int64_t> integer_at(const json::object& in,
                                                            field_names path) {
    const json::value* const found = value_at(in, path);
    if (!found || !found->is_int64())
        return std::nullopt;
    return found->get_int64();
}

[[nodiscard]] inline bool true_at(const json::object& in, field_names path) {
    const json::value* const found = value_at(in, path);
    return found && found->is_bool() && found->get_bool();
}

/// The field as an object, made when it is none.
[[nodiscard]] inline json::object& make_object(json::object& in, std::string_view name) {
    json::value& field = in[name];
    return field.is_object() ? field.get_object() : field.emplace_object();
}

/// A JSON document of at most 100 levels; nothing when it is none.
[[nodiscard]] inline std::optional<json::value> parse_json(std::string_view text) {
    json::parse_options how;
    how.max_depth = 100;
    json::error_code wrong;
    json::value made = json::parse(text, wrong, {}, how);
    if (wrong)
        return std::nullopt;
    return made;
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
