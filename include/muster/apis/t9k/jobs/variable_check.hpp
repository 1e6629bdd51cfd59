// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/apis/t9k/jobs/variables.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/document/json_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

// What has a wrong type here was reported when it was read: it is passed over.

template<class Visit>
void for_each_in(const field& list_at, Visit&& visit) {
    if (list_at.value() == nullptr || !list_at.value()->is_array())
        return;
    const array_reader list = list_at.as_array();
    list.for_each(visit);
}

template<class Visit>
void in_object(const field& at, Visit&& visit) {
    if (at.value() == nullptr || !at.value()->is_object())
        return;
    object_reader object = at.as_object();
    visit(object);
}

/// The first variable about a service that has no value; empty if there is none.
[[nodiscard]] inline std::string open_service_variable(std::string_view text,
                                                       const translate::t9k_variables& variables) {
    std::string first;
    if (text.find("$(service.") == std::string_view::npos)
        return first;
    static_cast<void>(translate::substitute(text, [&](std::string_view name) {
        auto value = variables(name);
        if (!value && first.empty() && name.starts_with("service."))
            first = "$(" + std::string(name) + ")";
        return value;
    }));
    return first;
}

inline void warn_of_service_variable(const field& at, const translate::t9k_variables& variables) {
    if (at.value() == nullptr || !at.value()->is_string())
        return;
    const std::string open = open_service_variable(*at.as_string(), variables);
    if (!open.empty())
        at.warning(in_quotes(open) +
                   " stays as it is (expected a replica or a port of a job with spec.service)");
}

inline void warn_of_service_variables(object_reader& container,
                                      const translate::t9k_variables& variables) {
    const auto check = [&](const field& each) { warn_of_service_variable(each, variables); };
    for_each_in(container.optional("command"), check);
    for_each_in(container.optional("args"), check);
    for_each_in(container.optional("env"), [&](const field& each) {
        in_object(each, [&](object_reader& variable) { check(variable.optional("value")); });
    });
}

/// Warns where variables about services stay as they are: without spec.service all do. `specs_at`:
/// replicaSpecs, which were read before.
inline void warn_of_service_variables(const field& specs_at, const translate::t9k_job& job) {
    const auto check_pod = [&](object_reader& pod, const translate::t9k_variables& variables) {
        for (const std::string_view key : {"initContainers", "containers"})
            for_each_in(pod.optional(key), [&](const field& at) {
                in_object(at, [&](object_reader& container) {
                    warn_of_service_variables(container, variables);
                });
            });
    };
    const auto check_replica = [&](object_reader& replica) {
        const auto type = translate::find_text(replica.value()->if_object(), "type");
        const auto spec = find_type(job, type.value_or(""));
        if (!spec)
            return;
        const translate::t9k_variables variables(job, {*spec, 0});
        in_object(replica.optional("template"), [&](object_reader& whole) {
            in_object(whole.optional("spec"),
                      [&](object_reader& pod) { check_pod(pod, variables); });
        });
    };
    for_each_in(specs_at, [&](const field& at) { in_object(at, check_replica); });
}

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
