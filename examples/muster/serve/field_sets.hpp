// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/serve/json_values.hpp>
#include <muster/serve/strategic_patch.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// A set of fields in the form of Kubernetes' FieldsV1: "f:NAME" is a field of an object, "k:{...}"
/// an element of a list by its key, "v:VALUE" an element of a set, "." the element itself; an empty
/// object is a field as a whole.
using field_set = json::object;

namespace detail {

/// Returns the key of a list element, such as `k:{"name":"a"}`; empty if the element has no key.
[[nodiscard]] inline std::string element_key(const json::value& element, std::string_view key) {
    const auto* const object = element.if_object();
    const json::value* const found = object ? object->if_contains(key) : nullptr;
    return found ? "k:" + json::serialize(json::object{{key, *found}}) : std::string();
}

/// Returns the fields of one value. With `merges_lists`, lists with keys are split into elements.
[[nodiscard]] inline field_set fields_of(std::string_view name, const json::value& of,
                                         bool merges_lists) {
    field_set made;
    if (const auto* const object = of.if_object()) {
        for (const auto& field : *object)
            made["f:" + std::string(field.key())] =
                fields_of(field.key(), field.value(), merges_lists);
        return made;
    }
    const auto* const list = merges_lists ? of.if_array() : nullptr;
    if (list && is_merged_set(name))
        for (const json::value& each : *list)
            made["v:" + json::serialize(each)] = json::object{};
    const std::string_view key = list ? merge_key(name, *list) : std::string_view{};
    if (key.empty())
        return made;
    for (const json::value& each : *list) {
        const std::string place = element_key(each, key);
        if (place.empty())
            return {};
        field_set parts = fields_of({}, each, merges_lists);
        parts["."] = json::object{};
        made[place] = std::move(parts);
    }
    return made;
}

} // namespace detail

/// Returns the fields of an applied object, without those that identify it.
[[nodiscard]] inline field_set fields_of(json::object applied, bool merges_lists) {
    for (const std::string_view each : {"apiVersion", "kind"})
        applied.erase(each);
    json::object& metadata = make_object(applied, "metadata");
    for (const std::string_view each :
         {"name", "namespace", "uid", "resourceVersion", "creationTimestamp", "managedFields"})
        metadata.erase(each);
    if (metadata.empty())
        applied.erase("metadata");
    return detail::fields_of({}, std::move(applied), merges_lists);
}

/// Returns the fields of `of` that are not in `without`.
[[nodiscard]] inline field_set subtract(const field_set& of, const field_set& without) {
    field_set made;
    for (const auto& field : of) {
        const json::object* const inner = field.value().if_object();
        const json::object* const other = object_at(without, {field.key()});
        if (!other || !inner) {
            made[field.key()] = field.value();
            continue;
        }
        field_set left = subtract(*inner, *other);
        if (!left.empty())
            made[field.key()] = std::move(left);
    }
    return made;
}

/// Removes the fields from an object, and then parents that became empty.
inline void drop_fields(json::value& from, const field_set& which) {
    for (const auto& field : which) {
        const std::string_view place = field.key();
        const json::object* const inner = field.value().if_object();
        if (place.size() < 2 || !inner)
            continue;
        const std::string_view name = place.substr(2);
        if (auto* const object = from.if_object(); object && place.starts_with("f:")) {
            json::value* const found = object->if_contains(name);
            if (!found)
                continue;
            const bool whole = inner->empty();
            if (!whole)
                drop_fields(*found, *inner);
            if (whole || (found->is_object() && found->get_object().empty()) ||
                (found->is_array() && found->get_array().empty()))
                object->erase(name);
        }
        auto* const list = from.if_array();
        const auto wanted = list ? parse_json(name) : std::nullopt;
        if (!wanted)
            continue;
        if (place.starts_with("v:")) {
            if (const auto at = std::ranges::find(*list, *wanted); at != list->end())
                list->erase(at);
        } else if (wanted->is_object() && !wanted->get_object().empty()) {
            const auto& key = *wanted->get_object().begin();
            const auto at = detail::find_element(*list, key.key(), key.value());
            if (at != list->end() && inner->contains("."))
                list->erase(at);
            else if (at != list->end())
                drop_fields(*at, *inner);
        }
    }
}

/// Adds the paths (`.spec.containers[name="a"].image`) of fields in both sets whose values differ.
inline void find_conflicts(const field_set& one, const field_set& other, const json::value* before,
                           const json::value* after, const std::string& path,
                           std::vector<std::string>& to) {
    const auto part = [](const json::value* of, std::string_view place) -> const json::value* {
        if (const auto* const object = of ? of->if_object() : nullptr)
            return object->if_contains(place.substr(2));
        const auto* const list = of ? of->if_array() : nullptr;
        const auto wanted = list ? parse_json(place.substr(2)) : std::nullopt;
        if (!wanted)
            return nullptr;
        for (const json::value& each : *list) {
            if (place.starts_with("v:") && each == *wanted)
                return &each;
            if (place.starts_with("k:") && wanted->is_object() && !wanted->get_object().empty() &&
                detail::element_key(each, wanted->get_object().begin()->key()) == place)
                return &each;
        }
        return nullptr;
    };
    for (const auto& field : one) {
        const std::string_view place = field.key();
        const json::object* const inner = field.value().if_object();
        const json::object* const match = object_at(other, {place});
        if (place.size() < 2 || !inner || !match)
            continue;
        const json::value* const was = part(before, place);
        const json::value* const is = part(after, place);
        std::string here = path;
        if (place.starts_with("f:")) {
            here += "." + std::string(place.substr(2));
        } else if (const auto key = parse_json(place.substr(2)); key && key->is_object()) {
            for (const auto& each : key->get_object())
                here += "[" + std::string(each.key()) + "=" + json::serialize(each.value()) + "]";
        }
        if (!inner->empty() && !match->empty())
            find_conflicts(*inner, *match, was, is, here, to);
        else if (!was || !is || *was != *is)
            to.push_back(std::move(here));
    }
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
