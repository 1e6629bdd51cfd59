// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <muster/codec/field_reader.hpp>

namespace muster::inline v0_1 {
namespace codec {
namespace detail {

/// What the API server takes in a field that only the kubelet and the container runtime look into.
enum class field_type : std::uint8_t { text, integer, boolean, list, object };

struct typed_field {
    std::string_view key;
    field_type type;
};

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

/// Fields that are known and of which only the type matters: another one is an error. `fields` are
/// sorted by their keys; those that somebody has read already are left to that. O(fields of the
/// object · log).
template<std::size_t Count>
void check_types(object_reader& object, const std::array<typed_field, Count>& fields) {
    object.take_each([&](std::string_view key, const field& at) {
        const auto known = std::ranges::lower_bound(fields, key, {}, &typed_field::key);
        if (known == fields.end() || known->key != key)
            return false;
        check_type(at, known->type);
        return true;
    });
}

/// Of a pod's spec, those that nothing here depends on.
inline constexpr std::array pod_fields{
    typed_field{"automountServiceAccountToken", field_type::boolean},
    typed_field{"dnsConfig", field_type::object},
    typed_field{"dnsPolicy", field_type::text},
    typed_field{"enableServiceLinks", field_type::boolean},
    typed_field{"ephemeralContainers", field_type::list},
    typed_field{"hostAliases", field_type::list},
    typed_field{"hostIPC", field_type::boolean},
    typed_field{"hostPID", field_type::boolean},
    typed_field{"hostUsers", field_type::boolean},
    typed_field{"hostname", field_type::text},
    typed_field{"hostnameOverride", field_type::text},
    typed_field{"imagePullSecrets", field_type::list},
    typed_field{"os", field_type::object},
    typed_field{"readinessGates", field_type::list},
    typed_field{"restartPolicy", field_type::text},
    typed_field{"runtimeClassName", field_type::text},
    typed_field{"securityContext", field_type::object},
    typed_field{"serviceAccount", field_type::text},
    typed_field{"serviceAccountName", field_type::text},
    typed_field{"setHostnameAsFQDN", field_type::boolean},
    typed_field{"shareProcessNamespace", field_type::boolean},
    typed_field{"subdomain", field_type::text},
    typed_field{"terminationGracePeriodSeconds", field_type::integer},
};
static_assert(std::ranges::is_sorted(pod_fields, {}, &typed_field::key));

/// Of a pod's spec, those that are read with the pod and not with a template.
inline constexpr std::array scheduled_fields{
    typed_field{"activeDeadlineSeconds", field_type::integer},
    typed_field{"affinity", field_type::object},
    typed_field{"hostNetwork", field_type::boolean},
    typed_field{"nodeName", field_type::text},
    typed_field{"preemptionPolicy", field_type::text},
    typed_field{"priority", field_type::integer},
    typed_field{"priorityClassName", field_type::text},
    typed_field{"schedulerName", field_type::text},
    typed_field{"topologySpreadConstraints", field_type::list},
};
static_assert(std::ranges::is_sorted(scheduled_fields, {}, &typed_field::key));

/// Of a container.
inline constexpr std::array container_fields{
    typed_field{"envFrom", field_type::list},
    typed_field{"image", field_type::text},
    typed_field{"imagePullPolicy", field_type::text},
    typed_field{"lifecycle", field_type::object},
    typed_field{"livenessProbe", field_type::object},
    typed_field{"name", field_type::text},
    typed_field{"readinessProbe", field_type::object},
    typed_field{"resizePolicy", field_type::list},
    typed_field{"restartPolicy", field_type::text},
    typed_field{"restartPolicyRules", field_type::list},
    typed_field{"securityContext", field_type::object},
    typed_field{"startupProbe", field_type::object},
    typed_field{"stdin", field_type::boolean},
    typed_field{"stdinOnce", field_type::boolean},
    typed_field{"terminationMessagePath", field_type::text},
    typed_field{"terminationMessagePolicy", field_type::text},
    typed_field{"tty", field_type::boolean},
    typed_field{"volumeDevices", field_type::list},
    typed_field{"workingDir", field_type::text},
};
static_assert(std::ranges::is_sorted(container_fields, {}, &typed_field::key));

inline constexpr std::array port_fields{
    typed_field{"containerPort", field_type::integer}, typed_field{"hostIP", field_type::text},
    typed_field{"hostPort", field_type::integer},      typed_field{"name", field_type::text},
    typed_field{"protocol", field_type::text},
};
static_assert(std::ranges::is_sorted(port_fields, {}, &typed_field::key));

inline constexpr std::array toleration_fields{
    typed_field{"effect", field_type::text},
    typed_field{"key", field_type::text},
    typed_field{"operator", field_type::text},
    typed_field{"tolerationSeconds", field_type::integer},
    typed_field{"value", field_type::text},
};
static_assert(std::ranges::is_sorted(toleration_fields, {}, &typed_field::key));

inline constexpr std::array mount_fields{
    typed_field{"mountPath", field_type::text}, typed_field{"mountPropagation", field_type::text},
    typed_field{"name", field_type::text},      typed_field{"readOnly", field_type::boolean},
    typed_field{"subPath", field_type::text},   typed_field{"subPathExpr", field_type::text},
};
static_assert(std::ranges::is_sorted(mount_fields, {}, &typed_field::key));

/// Of every object of a list; fields that are not listed are left alone.
template<std::size_t Count>
void check_types_of_each(const field& at, const std::array<typed_field, Count>& fields) {
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

/// What a container runs and is told, and the types of what only the kubelet looks into.
inline void check_container_types(object_reader& container) {
    check_types(container, container_fields);
    check_strings(container.optional("command"));
    check_strings(container.optional("args"));
    check_environment(container.optional("env"));
}

} // namespace detail
} // namespace codec
} // namespace muster::inline v0_1
