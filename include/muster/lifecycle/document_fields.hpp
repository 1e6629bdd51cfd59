// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {
namespace detail {

/// The value at the end of a way through objects, or null.
template<class... Keys>
[[nodiscard]] const boost::json::value* value_at(const boost::json::object& in,
                                                 std::string_view first, Keys... rest) {
    const boost::json::value* const found = in.if_contains(first);
    if constexpr (sizeof...(rest) == 0) {
        return found;
    } else {
        const boost::json::object* const next = found ? found->if_object() : nullptr;
        return next ? value_at(*next, rest...) : nullptr;
    }
}

template<class... Keys>
[[nodiscard]] std::string_view text_at(const boost::json::object& in, Keys... keys) {
    const boost::json::value* const found = value_at(in, std::string_view(keys)...);
    const auto* const text = found ? found->if_string() : nullptr;
    return text ? std::string_view(text->data(), text->size()) : std::string_view{};
}

template<class... Keys>
[[nodiscard]] std::optional<std::int64_t> number_at(const boost::json::object& in, Keys... keys) {
    const boost::json::value* const found = value_at(in, std::string_view(keys)...);
    if (found && found->is_int64())
        return found->get_int64();
    // What was made here and never printed may be unsigned.
    if (found && found->is_uint64())
        return static_cast<std::int64_t>(found->get_uint64());
    return std::nullopt;
}

template<class... Keys>
[[nodiscard]] const boost::json::array* list_at(const boost::json::object& in, Keys... keys) {
    const boost::json::value* const found = value_at(in, std::string_view(keys)...);
    return found ? found->if_array() : nullptr;
}

template<class... Keys>
[[nodiscard]] const boost::json::object* object_at(const boost::json::object& in, Keys... keys) {
    const boost::json::value* const found = value_at(in, std::string_view(keys)...);
    return found ? found->if_object() : nullptr;
}

[[nodiscard]] inline const boost::json::object* condition_of(const boost::json::object& object,
                                                             std::string_view type) {
    if (const auto* list = list_at(object, "status", "conditions"))
        for (const boost::json::value& each : *list)
            if (each.is_object() && text_at(each.get_object(), "type") == type)
                return &each.get_object();
    return nullptr;
}

[[nodiscard]] inline bool is_true(const boost::json::object& object, std::string_view type) {
    const boost::json::object* const found = condition_of(object, type);
    return found && text_at(*found, "status") == "True";
}

[[nodiscard]] inline bool is_terminating(const boost::json::object& object) {
    return value_at(object, "metadata", "deletionTimestamp") != nullptr;
}

} // namespace detail
} // namespace lifecycle
} // namespace v0_1
} // namespace muster
