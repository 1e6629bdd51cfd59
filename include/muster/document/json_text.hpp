// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

[[nodiscard]] inline std::string_view view(const boost::json::string& text) noexcept {
    return {text.data(), text.size()};
}

/// The field when it is there and no null; of no object at all: nothing.
[[nodiscard]] inline const boost::json::value* find(const boost::json::object* in,
                                                    std::string_view key) noexcept {
    if (!in)
        return nullptr;
    const boost::json::value* const found = in->if_contains(key);
    return found && !found->is_null() ? found : nullptr;
}

/// The field when it is an object.
[[nodiscard]] inline const boost::json::object* find_object(const boost::json::object* in,
                                                            std::string_view key) noexcept {
    const boost::json::value* const found = find(in, key);
    return found ? found->if_object() : nullptr;
}

/// The field when it is a list.
[[nodiscard]] inline const boost::json::array* find_array(const boost::json::object* in,
                                                          std::string_view key) noexcept {
    const boost::json::value* const found = find(in, key);
    return found ? found->if_array() : nullptr;
}

/// The field when it is a string.
[[nodiscard]] inline std::optional<std::string_view> find_text(const boost::json::object* in,
                                                               std::string_view key) noexcept {
    const boost::json::value* const found = find(in, key);
    if (const auto* const text = found ? found->if_string() : nullptr)
        return view(*text);
    return std::nullopt;
}

/// The object at `key`, made where there is none; what stands there and is no object gives way.
[[nodiscard]] inline boost::json::object& child_at(boost::json::object& in, std::string_view key) {
    boost::json::value& value = in[key];
    return value.is_object() ? value.get_object() : value.emplace_object();
}

inline void set_label(boost::json::object& document, std::string_view key, std::string_view value) {
    child_at(child_at(document, "metadata"), "labels")[key] = value;
}
inline void set_annotation(boost::json::object& document, std::string_view key,
                           std::string_view value) {
    child_at(child_at(document, "metadata"), "annotations")[key] = value;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
