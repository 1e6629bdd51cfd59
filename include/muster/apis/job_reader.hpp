// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/core/pod_template_reader.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/gangs/gang_marks.hpp>
#include <muster/gangs/job_object.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Reads an object of one kind into its gangs. What is wrong with it goes to the diagnostics of the
/// object; then the result is not to be used. The document must outlive the call, not the result.
using job_reader = translate::job_gangs (*)(object_reader& object, reading_context& context,
                                            const translate::job_options& options);

/// The largest number of replicas that Kubernetes can count.
inline constexpr std::int64_t most_replicas = 2147483647;
/// How many pods one job may be made into.
inline constexpr std::int64_t most_pods_of_a_job = 1'000'000;

/// Labels or annotations, which must be strings; nullptr when there are none.
[[nodiscard]] inline const boost::json::object* read_texts(const field& at) {
    object_reader object = at.as_object();
    object.for_each_string([](std::string_view, std::string_view) {});
    return at.value() ? at.value()->if_object() : nullptr;
}

[[nodiscard]] inline std::string_view text_of(const field& at) {
    return at.as_string().value_or(std::string_view{});
}

/// A number of replicas or members, at least 0.
[[nodiscard]] inline std::optional<std::int64_t> count_of(const field& at, std::int64_t least = 0) {
    return at.as_integer(least, most_replicas);
}

/// metadata, apiVersion and kind. Of an object whose name is yet to be generated the fixed part
/// serves as the name, with a warning.
[[nodiscard]] inline translate::job_object read_job_object(object_reader& object,
                                                           reading_context& context) {
    translate::job_object read;
    read.api_version = text_of(object.optional("apiVersion"));
    read.kind = text_of(object.optional("kind"));
    const field at = object.required("metadata");
    object_reader metadata = at.as_object();
    const field name_at = metadata.optional("name");
    const field generate_at = metadata.optional("generateName");
    read.name = text_of(name_at);
    if (const std::string_view stem = text_of(generate_at); read.name.empty() && !stem.empty()) {
        read.name = stem.substr(0, stem.size() - (stem.ends_with('-') ? 1 : 0));
        generate_at.warning("the name is made when the object is created; " + in_quotes(read.name) +
                            " stands for it");
    } else if (read.name.empty() && at.is_present()) {
        metadata.error("name is missing (expected a name or generateName)");
    }
    read.name_space = text_of(metadata.optional("namespace"));
    if (read.name_space.empty())
        read.name_space = context.default_namespace;
    read.uid = text_of(metadata.optional("uid"));
    read.labels = read_texts(metadata.optional("labels"));
    const field annotations_at = metadata.optional("annotations");
    detail::check_annotations(annotations_at);
    read.annotations = annotations_at.value() ? annotations_at.value()->if_object() : nullptr;
    if (const field created_at = metadata.optional("creationTimestamp"); created_at.is_present())
        static_cast<void>(context.time(created_at));
    metadata.ignore_rest();
    object.ignore({"status"});
    return read;
}

/// A PodTemplateSpec that has containers; what is checked of it says check_pod_template().
[[nodiscard]] inline const boost::json::object* read_pod_template(const field& at,
                                                                  const reading_context& context) {
    check_pod_template(at, context);
    object_reader object = at.as_object();
    if (!object.is_present())
        return nullptr;
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    const field containers_at = spec.required("containers");
    if (const boost::json::value* const list = containers_at.value();
        list && list->is_array() && list->get_array().empty())
        containers_at.error("no container is there (expected at least one)");
    return at.value()->if_object();
}

/// Fields that are known and of which it matters only that they are there: those that say what
/// happens after the start, for translate::lose_lifecycle(). False, an empty list and an empty
/// object say nothing.
inline void note_present(object_reader& object, std::initializer_list<std::string_view> keys,
                         std::vector<std::string_view>& present) {
    for (const std::string_view key : keys) {
        const field at = object.optional(key);
        const boost::json::value* const value = at.value();
        if (!value || (value->is_bool() && !value->get_bool()) ||
            (value->is_array() && value->get_array().empty()) ||
            (value->is_object() && value->get_object().empty()))
            continue;
        present.push_back(key);
    }
}

/// A minimum that a template's ACK labels and the job itself state must be the same; the labels
/// would win.
inline void agree_with_labels(const field& minimum_at, const boost::json::object* pod_template,
                              std::string_view role) {
    const auto labelled = translate::labelled_gang_of(pod_template);
    const auto minimum = minimum_at.is_present() ? minimum_at.as_integer() : std::nullopt;
    if (labelled && minimum && *minimum != labelled->minimum)
        minimum_at.error(
            std::to_string(*minimum) +
            " disagrees with the label pod-group.scheduling.sigs.k8s.io/min-available: " +
            std::to_string(labelled->minimum) + " on the template of " + in_quotes(role) +
            " (expected the same number)");
}

inline void report_too_many_pods(const object_reader& object) {
    object.error("the job has more than " + std::to_string(most_pods_of_a_job) +
                 " pods (expected at most that many)");
}

/// Whether the plan's pods are not too many, which is an error.
[[nodiscard]] inline bool can_make(const translate::job_plan& plan, const object_reader& object) {
    std::int64_t sum = 0;
    for (const translate::planned_gang& planned : plan.gangs)
        for (const translate::pod_series& series : planned.series) {
            sum += series.count;
            if (sum > most_pods_of_a_job) {
                report_too_many_pods(object);
                return false;
            }
        }
    return true;
}

/// What `scheduling` says of groups of Kubernetes besides who waits for whom: schedulingConstraints
/// (once `constraints`), disruptionMode and resourceClaims. True when it says something.
inline bool read_group_constraints(object_reader& object, translate::group_words& into) {
    bool said = false;
    for (const std::string_view key : {"schedulingConstraints", "constraints"}) {
        const field constraints_at = object.optional(key);
        object_reader constraints = constraints_at.as_object();
        said = said || constraints.is_present();
        const field topology_at = constraints.optional("topology");
        const array_reader topology = topology_at.as_array();
        topology.for_each_object([&](object_reader& each) {
            into.topology = text_of(each.required("key"));
            each.finish();
        });
        constraints.finish();
    }
    into.disruption = object.optional("disruptionMode").value();
    into.claims = object.optional("resourceClaims").value();
    return said || into.disruption || into.claims;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
