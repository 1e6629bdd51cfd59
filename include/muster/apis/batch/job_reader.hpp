// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <muster/apis/batch/job.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/job_reader.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/gangs/gang_marks.hpp>
#include <muster/gangs/job_object.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// How many pods (or parts) start together, as an annotation of an object says it: KAI's
/// kai.scheduler/batch-min-member or Volcano's scheduling.volcano.sh/group-min-member.
[[nodiscard]] inline std::optional<std::int64_t> read_batch_minimum(object_reader& object) {
    const field metadata_at = object.optional("metadata");
    object_reader metadata = metadata_at.as_object();
    const field annotations_at = metadata.optional("annotations");
    object_reader annotations = annotations_at.as_object();
    for (const std::string_view key :
         {translate::owner_mark::batch_minimum, translate::owner_mark::volcano_minimum}) {
        const field at = annotations.optional(key);
        const auto text = at.as_string();
        if (!text)
            continue;
        std::int32_t value = 0;
        const char* const end = text->data() + text->size();
        const auto [stop, error] = std::from_chars(text->data(), end, value);
        if (error == std::errc{} && stop == end && value >= 1)
            return value;
        at.error(in_quotes(*text) +
                 " is not a minimum (expected a whole number from 1 to 2147483647)");
    }
    return std::nullopt;
}

namespace detail {

/// spec.scheduling of Kubernetes 1.37, by the names of its fields then and before: a gang of as
/// many as minCount says, else of all that run at a time.
inline void read_job_scheduling(const field& at, translate::batch_job_spec& job) {
    object_reader object = at.as_object();
    if (!object.is_present())
        return;
    job.scheduled = true;
    const auto read_gang = [&](const field& gang_at) {
        object_reader gang = gang_at.as_object();
        if (gang.is_present())
            job.gang_minimum =
                count_of(gang.optional("minCount"), 1).value_or(translate::pods_at_once(job));
        gang.finish();
    };
    read_gang(object.optional("gang"));
    for (const std::string_view key : {"schedulingPolicy", "policy"}) {
        const field policy_at = object.optional(key);
        object_reader policy = policy_at.as_object();
        read_gang(policy.optional("gang"));
        policy.ignore({"basic"});
        policy.finish();
    }
    read_group_constraints(object, job.scheduling);
    object.finish();
}

} // namespace detail

/// The spec of a Job; `object` is the Job, or the template of one.
[[nodiscard]] inline translate::batch_job_spec read_batch_job_spec(object_reader& object,
                                                                   const reading_context& context) {
    translate::batch_job_spec read;
    read.minimum = read_batch_minimum(object);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    read.parallelism = count_of(spec.optional("parallelism")).value_or(1);
    read.completions = count_of(spec.optional("completions"));
    const field mode_at = spec.optional("completionMode");
    const std::string_view mode = text_of(mode_at);
    read.indexed = mode == "Indexed";
    if (!mode.empty() && !read.indexed && mode != "NonIndexed")
        mode_at.error(in_quotes(mode) + " is no mode (expected Indexed or NonIndexed)");
    if (read.indexed && !read.completions && object.is_present())
        read.completions = read.parallelism;
    read.pod_template = read_pod_template(spec.required("template"), context);
    detail::read_job_scheduling(spec.optional("scheduling"), read);
    note_present(spec,
                 {"activeDeadlineSeconds", "backoffLimit", "backoffLimitPerIndex",
                  "maxFailedIndexes", "podFailurePolicy", "successPolicy",
                  "ttlSecondsAfterFinished", "suspend", "podReplacementPolicy", "managedBy"},
                 read.lifecycle);
    if (read.completions && *read.completions > read.parallelism)
        read.lifecycle.push_back("completions");
    spec.ignore({"selector", "manualSelector"});
    spec.finish();
    return read;
}

/// batch/v1 Job.
[[nodiscard]] inline translate::job_gangs read_job(object_reader& object, reading_context& context,
                                                   const translate::job_options& options) {
    translate::batch_job job;
    job.object = read_job_object(object, context);
    job.spec = read_batch_job_spec(object, context);
    object.finish();
    translate::job_plan plan = gangs_of(job, options);
    if (!can_make(plan, object))
        return {};
    return pods_of(job, std::move(plan), options);
}

/// batch/v1 and batch/v1beta1 CronJob: one of the Jobs that it makes, as if for the minute 0.
[[nodiscard]] inline translate::job_gangs read_cron_job(object_reader& object,
                                                        reading_context& context,
                                                        const translate::job_options& options) {
    translate::batch_job job;
    job.object = read_job_object(object, context);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    static_cast<void>(spec.required("schedule").as_string());
    const field template_at = spec.required("jobTemplate");
    object_reader made = template_at.as_object();
    job.spec = read_batch_job_spec(made, context);
    job.run = std::string(job.object.name) + "-0";
    note_present(spec,
                 {"concurrencyPolicy", "startingDeadlineSeconds", "suspend",
                  "successfulJobsHistoryLimit", "failedJobsHistoryLimit", "timeZone"},
                 job.spec.lifecycle);
    spec.finish();
    object.finish();
    object.warning("a CronJob makes a Job at each of its times; " + in_quotes(job.run) +
                   " stands for one of them");
    translate::job_plan plan = gangs_of(job, options);
    if (!can_make(plan, object))
        return {};
    return pods_of(job, std::move(plan), options);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
