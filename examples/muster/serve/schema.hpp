// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/serve/json_values.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// What is wrong with a field of an object.
struct field_cause {
    std::string reason;
    std::string message;
    std::string field;
};

namespace detail {

[[nodiscard]] inline bool keeps_unknown(const json::object& schema) {
    return true_at(schema, {"x-kubernetes-preserve-unknown-fields"});
}

[[nodiscard]] inline double number_of(const json::value& from) {
    if (from.is_int64())
        return static_cast<double>(from.get_int64());
    if (from.is_uint64())
        return static_cast<double>(from.get_uint64());
    return from.is_double() ? from.get_double() : 0;
}

[[nodiscard]] inline std::string_view type_of(const json::value& value) {
    switch (value.kind()) {
    case json::kind::null:
        return "null";
    case json::kind::bool_:
        return "boolean";
    case json::kind::int64:
    case json::kind::uint64:
        return "integer";
    case json::kind::double_:
        return "number";
    case json::kind::string:
        return "string";
    case json::kind::array:
        return "array";
    case json::kind::object:
        return "object";
    }
    return "";
}

[[nodiscard]] inline bool is_of_type(const json::value& value, std::string_view type) {
    const std::string_view found = type_of(value);
    if (found == type || type.empty() || (type == "number" && found == "integer"))
        return true;
    return type == "integer" && value.is_double() &&
           value.get_double() == static_cast<double>(static_cast<std::int64_t>(value.get_double()));
}

[[nodiscard]] inline std::string joined(const std::string& path, std::string_view name) {
    return path.empty() ? std::string(name) : path + "." + std::string(name);
}

} // namespace detail

/// Fills in what a structural schema declares as defaults.
inline void apply_defaults(const json::object& schema, json::value& onto) {
    if (onto.is_array()) {
        if (const json::object* const items = object_at(schema, {"items"}))
            for (json::value& each : onto.get_array())
                apply_defaults(*items, each);
        return;
    }
    if (!onto.is_object())
        return;
    json::object& into = onto.get_object();
    if (const json::object* const fields = object_at(schema, {"properties"}))
        for (const auto& [name, field] : *fields) {
            const auto* const inner = field.if_object();
            if (!inner)
                continue;
            json::value* found = into.if_contains(name);
            const json::value* const fallback = inner->if_contains("default");
            const bool null_is_absent = found && found->is_null() && !true_at(*inner, {"nullable"});
            if (fallback && (!found || null_is_absent))
                found = &(into[name] = *fallback);
            if (found)
                apply_defaults(*inner, *found);
        }
    if (const json::object* const rest = object_at(schema, {"additionalProperties"}))
        for (auto& field : into)
            apply_defaults(*rest, field.value());
}

/// Removes the fields that a structural schema does not name, and adds their paths to `unknown`.
inline void prune(const json::object& schema, json::value& from, const std::string& path,
                  std::vector<std::string>& unknown) {
    if (from.is_array()) {
        const json::object* const items = object_at(schema, {"items"});
        std::size_t at = 0;
        if (items)
            for (json::value& each : from.get_array())
                prune(*items, each, path + "[" + std::to_string(at++) + "]", unknown);
        return;
    }
    if (!from.is_object())
        return;
    const json::object* const fields = object_at(schema, {"properties"});
    const json::object* const rest = object_at(schema, {"additionalProperties"});
    const bool any = true_at(schema, {"additionalProperties"});
    const bool embedded = true_at(schema, {"x-kubernetes-embedded-resource"});
    std::vector<std::string> dropped;
    for (auto& field : from.get_object()) {
        const std::string_view name(field.key().data(), field.key().size());
        const json::value* const inner = fields ? fields->if_contains(name) : nullptr;
        const bool common = (path.empty() || embedded) &&
                            (name == "apiVersion" || name == "kind" || name == "metadata");
        if (inner && inner->is_object() && !common)
            prune(inner->get_object(), field.value(), detail::joined(path, name), unknown);
        else if (rest)
            prune(*rest, field.value(), detail::joined(path, name), unknown);
        else if (!inner && !common && !any && !detail::keeps_unknown(schema))
            dropped.emplace_back(name);
    }
    for (const std::string& each : dropped) {
        unknown.push_back(detail::joined(path, each));
        from.get_object().erase(each);
    }
}

/// Adds to `wrong` where a value does not follow a structural schema. Patterns, formats and CEL
/// rules are not looked at.
inline void check_schema(const json::object& schema, const json::value& value,
                         const std::string& path, std::vector<field_cause>& wrong) {
    const auto add = [&](std::string_view reason, const json::value& shown, std::string text) {
        const bool plain = !shown.is_object() && !shown.is_array();
        wrong.push_back({std::string(reason),
                         "Invalid value: " +
                             (plain ? json::serialize(shown)
                                    : "\"" + std::string(detail::type_of(shown)) + "\"") +
                             ": " + path + " in body " + std::move(text),
                         path});
    };
    if (value.is_null() && true_at(schema, {"nullable"}))
        return;
    const std::string_view type = text_at(schema, {"type"});
    if (true_at(schema, {"x-kubernetes-int-or-string"})) {
        if (!value.is_string() && !detail::is_of_type(value, "integer"))
            add("FieldValueTypeInvalid", json::value(detail::type_of(value)),
                "must be of type integer,string: \"" + std::string(detail::type_of(value)) + "\"");
        return;
    }
    if (!detail::is_of_type(value, type)) {
        add("FieldValueTypeInvalid", json::value(detail::type_of(value)),
            "must be of type " + std::string(type) + ": \"" + std::string(detail::type_of(value)) +
                "\"");
        return;
    }
    if (const json::array* const values = array_at(schema, {"enum"}))
        if (std::ranges::find(*values, value) == values->end()) {
            std::string all;
            for (const json::value& each : *values)
                all += (all.empty() ? "" : ", ") + json::serialize(each);
            wrong.push_back(
                {"FieldValueNotSupported",
                 "Unsupported value: " + json::serialize(value) + ": supported values: " + all,
                 path});
        }
    const auto bound = [&](std::string_view name) { return value_at(schema, {name}); };
    if (value.is_number()) {
        if (const auto* const least = bound("minimum");
            least && detail::number_of(value) < detail::number_of(*least))
            add("FieldValueInvalid", value,
                "should be greater than or equal to " + json::serialize(*least));
        if (const auto* const most = bound("maximum");
            most && detail::number_of(value) > detail::number_of(*most))
            add("FieldValueInvalid", value,
                "should be less than or equal to " + json::serialize(*most));
    }
    if (const auto* const text = value.if_string()) {
        if (const auto* const least = bound("minLength");
            least && static_cast<double>(text->size()) < detail::number_of(*least))
            add("FieldValueInvalid", value,
                "should be at least " + json::serialize(*least) + " chars long");
        if (const auto* const most = bound("maxLength");
            most && static_cast<double>(text->size()) > detail::number_of(*most))
            wrong.push_back({"FieldValueTooLong",
                             "Too long: may not be more than " + json::serialize(*most) + " bytes",
                             path});
    }
    if (const auto* const list = value.if_array()) {
        if (const auto* const least = bound("minItems");
            least && static_cast<double>(list->size()) < detail::number_of(*least))
            add("FieldValueInvalid", json::value(list->size()),
                "should have at least " + json::serialize(*least) + " items");
        if (const auto* const most = bound("maxItems");
            most && static_cast<double>(list->size()) > detail::number_of(*most))
            wrong.push_back({"FieldValueTooMany",
                             "Too many: " + std::to_string(list->size()) + ": must have at most " +
                                 json::serialize(*most) + " items",
                             path});
        std::size_t at = 0;
        if (const json::object* const items = object_at(schema, {"items"}))
            for (const json::value& each : *list)
                check_schema(*items, each, path + "[" + std::to_string(at++) + "]", wrong);
    }
    if (const auto* const object = value.if_object()) {
        if (const json::array* const required = array_at(schema, {"required"}))
            for (const json::value& each : *required)
                if (each.is_string() && !object->contains(each.get_string()))
                    wrong.push_back({"FieldValueRequired", "Required value",
                                     detail::joined(path, view(each.get_string()))});
        const json::object* const fields = object_at(schema, {"properties"});
        const json::object* const rest = object_at(schema, {"additionalProperties"});
        for (const auto& [name, inner] : *object) {
            const json::value* const declared = fields ? fields->if_contains(name) : nullptr;
            const json::object* const to_follow = declared ? declared->if_object() : rest;
            if (to_follow)
                check_schema(*to_follow, inner, detail::joined(path, {name.data(), name.size()}),
                             wrong);
        }
    }
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
