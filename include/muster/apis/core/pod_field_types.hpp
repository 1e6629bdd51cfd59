// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <muster/apis/core/pod_fields.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/document/nearest.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

inline void check_type(const field& at, field_type type) {
    switch (type) {
    case field_type::text:
        static_cast<void>(at.as_string());
        break;
    case field_type::integer:
        static_cast<void>(at.as_integer());
        break;
    case field_type::boolean:
        static_cast<void>(at.as_boolean());
        break;
    case field_type::list:
        static_cast<void>(at.as_array());
        break;
    case field_type::object:
        static_cast<void>(at.as_object());
        break;
    }
}

/// Checks the types of fields that are in the table and were not read yet, and marks these fields
/// as read. Other fields stay unread. O(fields of the object · log fields).
inline void check_types(object_reader& object, std::span<const pod_field> fields) {
    object.take_each([&](std::string_view key, const field& at) {
        const pod_field* const known = find_field(fields, key);
        if (known)
            check_type(at, known->type);
        return known != nullptr;
    });
}

[[nodiscard]] inline std::vector<std::string> names_of(std::span<const pod_field> fields) {
    std::vector<std::string> names;
    for (const pod_field& each : fields)
        names.emplace_back(each.key);
    return names;
}

/// Returns the warning about an unknown field next to fields that bear on placement, with the known
/// field whose name is nearest.
[[nodiscard]] inline std::string unknown_field_text(std::string_view key,
                                                    std::span<const pod_field> fields) {
    const std::string nearest = nearest_word(key, names_of(fields));
    return "unknown field, and the pod waits because it may say where the pod may run (expected a "
           "field of Kubernetes 1.37" +
           (nearest.empty() ? ")" : "; did you mean " + nearest + "?)");
}

/// Handles the fields of an object that were not read yet, so that none is ignored. Checks the type
/// of irrelevant fields. Adds the paths of refused and unknown fields to `unsupported`; an unknown
/// field is also a warning. Precondition: all honoured fields were read.
inline void finish(object_reader& object, std::span<const pod_field> fields,
                   std::vector<std::string>& unsupported) {
    object.take_each([&](std::string_view key, const field& at) {
        const pod_field* const known = find_field(fields, key);
        if (known && known->support == field_support::irrelevant) {
            check_type(at, known->type);
            return true;
        }
        const bool empty_list =
            at.value() && at.value()->is_array() && at.value()->get_array().empty();
        if (at.is_present() && !empty_list) {
            unsupported.push_back(at.path());
            if (!known)
                at.warning([&] { return unknown_field_text(key, fields); }, place::key);
        }
        return true;
    });
}

/// Handles the fields of an object that were not read yet and that bear on no decision. Checks the
/// type of fields that are in the table. An unknown field is a warning.
inline void finish(object_reader& object, std::span<const pod_field> fields) {
    check_types(object, fields);
    object.finish([&] { return names_of(fields); });
}

/// Takes fields of a container that stand in the spec of its pod. The API server drops them, so
/// that each is a warning. O(fields of the object · log).
inline void drop_container_fields(object_reader& spec) {
    spec.take_each([](std::string_view key, const field& at) {
        if (!at.is_present() || find_field(pod_tables::spec, key) ||
            !find_field(pod_tables::container, key))
            return false;
        at.warning(
            "a field of containers, which the API server drops here (expected in a container)",
            place::key);
        return true;
    });
}

inline constexpr std::array mount_fields{
    pod_field{"mountPath", field_type::text, field_support::irrelevant},
    pod_field{"mountPropagation", field_type::text, field_support::irrelevant},
    pod_field{"name", field_type::text, field_support::irrelevant},
    pod_field{"readOnly", field_type::boolean, field_support::irrelevant},
    pod_field{"subPath", field_type::text, field_support::irrelevant},
    pod_field{"subPathExpr", field_type::text, field_support::irrelevant},
};
static_assert(std::ranges::is_sorted(mount_fields, {}, &pod_field::key));

/// Of every object of a list; fields that are not listed are left alone.
inline void check_types_of_each(const field& at, std::span<const pod_field> fields) {
    const array_reader list = at.as_array();
    list.for_each_object([&](object_reader& each) { check_types(each, fields); });
}

inline void check_strings(const field& at) {
    const array_reader list = at.as_array();
    list.for_each([](const field& element) {
        if (!element.is_present())
            element.mismatch("a string");
        static_cast<void>(element.as_string());
    });
}

inline void check_environment(const field& at) {
    const array_reader list = at.as_array();
    list.for_each_object([](object_reader& each) {
        static_cast<void>(each.required("name").as_string());
        static_cast<void>(each.optional("value").as_string());
        static_cast<void>(each.optional("valueFrom").as_object());
        each.finish();
    });
}

/// Checks the types of a container's command, arguments, environment and other unread fields.
inline void check_container_types(object_reader& container) {
    check_strings(container.optional("command"));
    check_strings(container.optional("args"));
    check_environment(container.optional("env"));
    check_types(container, pod_tables::container);
}

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
