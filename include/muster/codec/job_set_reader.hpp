// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <muster/codec/batch_job_reader.hpp>
#include <muster/codec/field_reader.hpp>
#include <muster/codec/job_reader.hpp>
#include <muster/codec/reading_context.hpp>
#include <muster/translate/job_object.hpp>
#include <muster/translate/job_set.hpp>

namespace muster::inline v0_1 {
namespace codec {
namespace detail {

inline void read_replicated_job(object_reader& object, const reading_context& context,
                                translate::job_set& set) {
    translate::replicated_job read;
    const field name_at = object.required("name");
    read.name = text_of(name_at);
    read.replicas = count_of(object.optional("replicas")).value_or(1);
    const field template_at = object.required("template");
    object_reader made = template_at.as_object();
    const field metadata_at = made.optional("metadata");
    object_reader metadata = metadata_at.as_object();
    read.labels = read_texts(metadata.optional("labels"));
    read.annotations = read_texts(metadata.optional("annotations"));
    read.job = read_batch_job_spec(made, context);
    // JobSet's webhook makes its Jobs indexed unless they say otherwise.
    const field spec_at = made.optional("spec");
    object_reader spec = spec_at.as_object();
    if (!spec.optional("completionMode").is_present())
        read.job.indexed = true;
    const field waits_at = object.optional("dependsOn");
    read.waits = waits_at.as_array().size() > 0;
    object.ignore({"groupName"});
    object.finish();
    for (const std::string_view each : read.job.lifecycle)
        if (std::ranges::find(set.lifecycle, each) == set.lifecycle.end())
            set.lifecycle.push_back(each);
    if (std::ranges::find(set.jobs, read.name, &translate::replicated_job::name) != set.jobs.end())
        name_at.error(in_quotes(read.name) + " is there twice (expected every name once)");
    set.jobs.push_back(std::move(read));
}

inline void read_network(const field& at, translate::job_set& set) {
    object_reader object = at.as_object();
    set.host_names = object.optional("enableDNSHostnames").as_boolean().value_or(true);
    set.subdomain = text_of(object.optional("subdomain"));
    object.ignore({"publishNotReadyAddresses"});
    object.finish();
}

} // namespace detail

/// The spec of a JobSet, which a training runtime holds too.
inline void read_job_set_spec(object_reader& spec, const reading_context& context,
                              translate::job_set& set) {
    const field jobs_at = spec.required("replicatedJobs");
    const array_reader jobs = jobs_at.as_array();
    jobs.for_each_object(
        [&](object_reader& each) { detail::read_replicated_job(each, context, set); });
    if (jobs.is_present() && jobs.size() == 0)
        jobs.error("no replicated job is there (expected at least one)");
    const field startup_at = spec.optional("startupPolicy");
    object_reader startup = startup_at.as_object();
    const field order_at = startup.optional("startupPolicyOrder");
    const std::string_view order = text_of(order_at);
    set.in_order = order == "InOrder";
    if (!order.empty() && !set.in_order && order != "AnyOrder")
        order_at.error(in_quotes(order) + " is no order (expected InOrder or AnyOrder)");
    startup.finish();
    detail::read_network(spec.optional("network"), set);
    note_present(
        spec, {"successPolicy", "failurePolicy", "suspend", "managedBy", "ttlSecondsAfterFinished"},
        set.lifecycle);
    spec.ignore({"coordinator", "volumeClaimPolicies"});
    spec.finish();
}

/// Whether the set's pods are not too many, which is an error.
[[nodiscard]] inline bool can_make(const translate::job_set& set, const object_reader& object) {
    std::int64_t sum = 0;
    for (const translate::replicated_job& job : set.jobs) {
        sum += job.replicas * std::max<std::int64_t>(1, pods_at_once(job.job));
        if (sum > most_pods_of_a_job) {
            report_too_many_pods(object);
            return false;
        }
    }
    return true;
}

/// jobset.x-k8s.io/v1alpha2 JobSet.
[[nodiscard]] inline translate::job_gangs read_job_set(object_reader& object,
                                                       reading_context& context,
                                                       const translate::job_options& options) {
    translate::job_set set;
    set.object = read_job_object(object, context);
    set.minimum = read_batch_minimum(object);
    set.exclusive_topology =
        translate::find_text(set.object.annotations, translate::job_set_exclusive)
            .value_or(std::string_view{});
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    read_job_set_spec(spec, context, set);
    object.finish();
    if (!can_make(set, object))
        return {};
    return pods_of(set, gangs_of(set, options), options);
}

} // namespace codec
} // namespace muster::inline v0_1
