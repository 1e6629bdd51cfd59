// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/job_reader.hpp>
#include <muster/apis/owners/workload.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/document/json_text.hpp>
#include <muster/gangs/job_object.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

[[nodiscard]] inline translate::job_gangs make_workload(const translate::workload& made,
                                                        object_reader& object,
                                                        const translate::job_options& options) {
    if (made.replicas > most_pods_of_a_job) {
        report_too_many_pods(object);
        return {};
    }
    if (made.pod_template && made.replicas == 0)
        object.warning("it has no replicas, and so no pods");
    return pods_of(made, gangs_of(made, options), options);
}

inline constexpr std::string_view unknown_pods =
    "its pods are made by its own controller and not known here: the gang has none";

} // namespace detail

/// apps/v1 Deployment, ReplicaSet and StatefulSet, and v1 ReplicationController.
template<translate::workload_kind Kind>
[[nodiscard]] translate::job_gangs read_replicas(object_reader& object, reading_context& context,
                                                 const translate::job_options& options) {
    translate::workload made;
    made.kind = Kind;
    made.object = read_job_object(object, context);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    made.replicas = count_of(spec.optional("replicas")).value_or(1);
    made.pod_template = read_pod_template(spec.required("template"), context);
    note_present(spec,
                 {"strategy", "updateStrategy", "paused", "minReadySeconds", "revisionHistoryLimit",
                  "progressDeadlineSeconds", "podManagementPolicy",
                  "persistentVolumeClaimRetentionPolicy"},
                 made.lifecycle);
    spec.ignore({"selector"});
    if constexpr (Kind == translate::workload_kind::stateful_set) {
        made.service_name = text_of(spec.optional("serviceName"));
        const field ordinals_at = spec.optional("ordinals");
        object_reader ordinals = ordinals_at.as_object();
        made.first = count_of(ordinals.optional("start")).value_or(0);
        const field claims_at = spec.optional("volumeClaimTemplates");
        if (claims_at.as_array().is_present())
            made.volume_claims = &claims_at.value()->get_array();
    }
    spec.finish();
    object.finish();
    return detail::make_workload(made, object, options);
}

/// kubeflow.org/v1 Notebook: one pod.
[[nodiscard]] inline translate::job_gangs read_notebook(object_reader& object,
                                                        reading_context& context,
                                                        const translate::job_options& options) {
    translate::workload made;
    made.kind = translate::workload_kind::notebook;
    made.object = read_job_object(object, context);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    made.pod_template = read_pod_template(spec.required("template"), context);
    spec.finish();
    object.finish();
    return detail::make_workload(made, object, options);
}

/// serving.knative.dev/v1 Service, by its first revision: as many pods as min-scale asks for start
/// together, without it one.
[[nodiscard]] inline translate::job_gangs
read_knative_service(object_reader& object, reading_context& context,
                     const translate::job_options& options) {
    translate::workload made;
    made.kind = translate::workload_kind::knative_service;
    made.object = read_job_object(object, context);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    const field template_at = spec.required("template");
    made.pod_template = read_pod_template(template_at, context);
    object_reader revision = template_at.as_object();
    const field metadata_at = revision.optional("metadata");
    object_reader metadata = metadata_at.as_object();
    const field annotations_at = metadata.optional("annotations");
    object_reader annotations = annotations_at.as_object();
    for (const std::string_view key :
         {"autoscaling.knative.dev/min-scale", "autoscaling.knative.dev/minScale"}) {
        const field at = annotations.optional(key);
        const auto text = at.as_string();
        if (!text)
            continue;
        std::int32_t value = 0;
        const char* const end = text->data() + text->size();
        const auto [stop, error] = std::from_chars(text->data(), end, value);
        if (error != std::errc{} || stop != end || value < 0)
            at.error(in_quotes(*text) + " is not a scale (expected a whole number)");
        else if (value > 0)
            made.minimum = made.replicas = value;
    }
    note_present(spec, {"traffic"}, made.lifecycle);
    spec.finish();
    object.finish();
    return detail::make_workload(made, object, options);
}

/// amlarc.azureml.com/v1alpha1 AmlJob: its number of nodes; its pods are not known.
[[nodiscard]] inline translate::job_gangs read_aml_job(object_reader& object,
                                                       reading_context& context,
                                                       const translate::job_options& options) {
    translate::workload made;
    made.object = read_job_object(object, context);
    const boost::json::object* below = object.value() ? object.value()->if_object() : nullptr;
    for (const std::string_view key : {"spec", "job", "options", "envs"})
        below = translate::find_object(below, key);
    const boost::json::value* const count = translate::find(below, "AZUREML_NODE_COUNT");
    std::int64_t nodes = 0;
    if (count && count->is_int64())
        nodes = count->get_int64();
    else if (const auto text = translate::find_text(below, "AZUREML_NODE_COUNT"))
        static_cast<void>(std::from_chars(text->data(), text->data() + text->size(), nodes));
    if (nodes < 1 || nodes > most_replicas)
        object.error("spec.job.options.envs.AZUREML_NODE_COUNT is missing or no number (expected "
                     "how many pods there are)");
    else
        made.minimum = nodes;
    object.warning(detail::unknown_pods);
    object.ignore_rest();
    return detail::make_workload(made, object, options);
}

/// Whether an object holds a PodTemplateSpec where most kinds do.
[[nodiscard]] inline bool has_pod_template(const field& at) {
    const boost::json::object* const object = at.value() ? at.value()->if_object() : nullptr;
    const boost::json::object* const spec = translate::find_object(
        translate::find_object(translate::find_object(object, "spec"), "template"), "spec");
    return translate::find_array(spec, "containers") != nullptr;
}

namespace detail {

[[nodiscard]] inline translate::job_gangs read_opaque(object_reader& object,
                                                      reading_context& context,
                                                      const translate::job_options& options,
                                                      std::string_view warning) {
    translate::workload made;
    made.object = read_job_object(object, context);
    object.warning(warning);
    object.ignore_rest();
    return make_workload(made, object, options);
}

} // namespace detail

/// A kind of which only its controller knows the pods: one gang of at least one, without pods.
[[nodiscard]] inline translate::job_gangs read_unknown_pods(object_reader& object,
                                                            reading_context& context,
                                                            const translate::job_options& options) {
    return detail::read_opaque(object, context, options, detail::unknown_pods);
}

/// A kind whose pods are grouped by what stands between it and them, which only its controller
/// knows: until then one gang of at least one, without pods.
[[nodiscard]] inline translate::job_gangs
read_unknown_owner(object_reader& object, reading_context& context,
                   const translate::job_options& options) {
    return detail::read_opaque(object, context, options,
                               "its pods are grouped by the objects that its controller makes of "
                               "it, which are not known here: one gang without pods stands for "
                               "them");
}

/// Any other object that holds a PodTemplateSpec at `spec.template`: one gang of at least one, with
/// `spec.replicas` pods of that template. For objects of which has_pod_template() is true.
[[nodiscard]] inline translate::job_gangs read_any_workload(object_reader& object,
                                                            reading_context& context,
                                                            const translate::job_options& options) {
    translate::workload made;
    made.object = read_job_object(object, context);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    made.pod_template = read_pod_template(spec.required("template"), context);
    const field replicas_at = spec.optional("replicas");
    if (replicas_at.value() && replicas_at.value()->is_number())
        made.replicas = count_of(replicas_at).value_or(1);
    object.warning("this kind is not known: pods are made of its template as a ReplicaSet would");
    spec.ignore_rest();
    object.ignore_rest();
    return detail::make_workload(made, object, options);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
