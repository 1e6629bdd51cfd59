// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/job_reader.hpp>
#include <muster/apis/volcano/job.hpp>
#include <muster/apis/volcano/job_pods.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/gangs/job_object.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

namespace detail {

/// networkTopology of a Volcano Job or of a task's partitions.
[[nodiscard]] inline std::optional<translate::volcano_topology> read_hypernodes(const field& at) {
    object_reader object = at.as_object();
    if (!object.is_present())
        return std::nullopt;
    const field mode_at = object.optional("mode");
    const std::string_view mode = text_of(mode_at);
    if (!mode.empty() && mode != "soft" && mode != "hard")
        mode_at.error(in_quotes(mode) + " is no mode (expected hard or soft)");
    const field tier_at = object.optional("highestTierAllowed");
    static_cast<void>(count_of(tier_at));
    const bool named = !text_of(object.optional("highestTierName")).empty();
    if (tier_at.is_present() && named)
        tier_at.error("highestTierName is there too (expected one of them)");
    object.finish();
    return translate::volcano_topology{mode != "soft", at.value()->if_object()};
}

[[nodiscard]] inline std::optional<translate::volcano_partitions>
read_partitions(const field& at, std::int64_t replicas) {
    object_reader object = at.as_object();
    if (!object.is_present())
        return std::nullopt;
    translate::volcano_partitions read;
    const field total_at = object.required("totalPartitions");
    read.total = count_of(total_at, 1).value_or(1);
    read.size = count_of(object.required("partitionSize"), 1).value_or(1);
    const field least_at = object.optional("minPartitions");
    read.least = count_of(least_at).value_or(0);
    read.topology = read_hypernodes(object.optional("networkTopology"));
    object.finish();
    if (read.total * read.size != replicas) {
        total_at.error(std::to_string(read.total) + " partitions of " + std::to_string(read.size) +
                       " are not the task's replicas (expected " + std::to_string(replicas) +
                       " in all)");
        return std::nullopt;
    }
    if (read.least > read.total)
        least_at.error(std::to_string(read.least) +
                       " is more than totalPartitions (expected at most " +
                       std::to_string(read.total) + ")");
    return read;
}

inline void read_volcano_task(object_reader& object, translate::volcano_job& job,
                              const reading_context& context) {
    translate::volcano_task task;
    const field name_at = object.optional("name");
    task.name = text_of(name_at);
    if (task.name.empty())
        task.name = "default" + std::to_string(job.tasks.size());
    task.replicas = count_of(object.optional("replicas")).value_or(0);
    const field minimum_at = object.optional("minAvailable");
    task.min_available = count_of(minimum_at);
    if (task.min_available && *task.min_available > task.replicas)
        minimum_at.error(std::to_string(*task.min_available) +
                         " is more than replicas (expected at most " +
                         std::to_string(task.replicas) + ")");
    task.partitions = read_partitions(object.optional("partitionPolicy"), task.replicas);
    task.pod_template = read_pod_template(object.required("template"), context);
    task.numa_policy = text_of(object.optional("topologyPolicy"));
    task.waits = object.optional("dependsOn").is_present();
    note_present(object, {"policies", "maxRetry"}, job.lifecycle);
    object.finish();
    if (std::ranges::find(job.tasks, task.name, &translate::volcano_task::name) != job.tasks.end())
        name_at.error(in_quotes(task.name) + " is there twice (expected every task once)");
    job.tasks.push_back(std::move(task));
}

} // namespace detail

/// The spec of a Volcano Job; `object` reports what is wrong with the whole.
inline void read_volcano_spec(object_reader& spec, const object_reader& object,
                              const reading_context& context, translate::volcano_job& job) {
    const field tasks_at = spec.required("tasks");
    const array_reader tasks = tasks_at.as_array();
    tasks.for_each_object(
        [&](object_reader& each) { detail::read_volcano_task(each, job, context); });
    if (tasks.is_present() && tasks.size() == 0)
        tasks.error("no task is there (expected at least one)");
    const field minimum_at = spec.optional("minAvailable");
    job.min_available = count_of(minimum_at).value_or(0);
    std::int64_t sum = 0;
    for (const translate::volcano_task& task : job.tasks) {
        sum += task.replicas;
        agree_with_labels(minimum_at, task.pod_template, task.name);
    }
    if (job.min_available > sum)
        minimum_at.error(std::to_string(job.min_available) +
                         " is more than all replicas (expected at most " + std::to_string(sum) +
                         ")");
    if (const auto name = text_of(spec.optional("schedulerName")); !name.empty())
        job.scheduler_name = name;
    job.queue = text_of(spec.optional("queue"));
    if (sum > most_pods_of_a_job) {
        report_too_many_pods(object);
        job.tasks.clear();
    }
    job.priority_class = text_of(spec.optional("priorityClassName"));
    job.topology = detail::read_hypernodes(spec.optional("networkTopology"));
    const field plugins_at = spec.optional("plugins");
    if (plugins_at.as_object().is_present())
        job.plugins = &plugins_at.value()->get_object();
    const field volumes_at = spec.optional("volumes");
    const array_reader volumes = volumes_at.as_array();
    if (volumes.is_present())
        job.volumes = &volumes_at.value()->get_array();
    volumes.for_each_object([](object_reader& each) {
        static_cast<void>(each.required("mountPath").as_string());
        const bool named = !text_of(each.optional("volumeClaimName")).empty();
        if (!each.optional("volumeClaim").as_object().is_present() && !named)
            each.warning(
                "no controller creates the claim that its pods mount (expected volumeClaim or "
                "volumeClaimName)");
        each.finish();
    });
    note_present(
        spec, {"policies", "maxRetry", "ttlSecondsAfterFinished", "minSuccess", "runningEstimate"},
        job.lifecycle);
    std::ranges::sort(job.lifecycle);
    // clang 14 cannot compile libstdc++'s ranges::unique.
    job.lifecycle.erase(std::unique(job.lifecycle.begin(), job.lifecycle.end()),
                        job.lifecycle.end());
    spec.finish();
}

[[nodiscard]] inline translate::volcano_job read_volcano_job(object_reader& object,
                                                             reading_context& context) {
    translate::volcano_job job;
    job.object = read_job_object(object, context);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    read_volcano_spec(spec, object, context, job);
    object.finish();
    return job;
}

/// batch.volcano.sh/v1alpha1 Job.
[[nodiscard]] inline translate::job_gangs read_volcano(object_reader& object,
                                                       reading_context& context,
                                                       const translate::job_options& options) {
    const translate::volcano_job job = read_volcano_job(object, context);
    translate::job_plan plan = gangs_of(job, options);
    if (!can_make(plan, object))
        return {};
    return pods_of(job, std::move(plan), options);
}

/// batch.volcano.sh/v1alpha1 CronJob: one of the Jobs that it makes, as if for the minute 0.
[[nodiscard]] inline translate::job_gangs
read_volcano_cron_job(object_reader& object, reading_context& context,
                      const translate::job_options& options) {
    translate::volcano_job job;
    job.object = read_job_object(object, context);
    const std::string run = std::string(job.object.name) + "-0";
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    static_cast<void>(spec.required("schedule").as_string());
    const field template_at = spec.required("jobTemplate");
    object_reader made = template_at.as_object();
    const field inner_at = made.required("spec");
    object_reader inner = inner_at.as_object();
    read_volcano_spec(inner, object, context, job);
    note_present(spec,
                 {"concurrencyPolicy", "startingDeadlineSeconds", "suspend",
                  "successfulJobsHistoryLimit", "failedJobsHistoryLimit", "timeZone"},
                 job.lifecycle);
    spec.finish();
    object.finish();
    object.warning("a CronJob makes a Job at each of its times; " + in_quotes(run) +
                   " stands for one of them");
    // What it makes is a Job of that name.
    job.object.kind = "Job";
    job.object.name = run;
    job.object.uid = {};
    translate::job_plan plan = gangs_of(job, options);
    if (!can_make(plan, object))
        return {};
    return pods_of(job, std::move(plan), options);
}

/// flow.volcano.sh/v1alpha1 JobTemplate: a Job that a JobFlow makes, here by its own name.
[[nodiscard]] inline translate::job_gangs
read_volcano_template(object_reader& object, reading_context& context,
                      const translate::job_options& options) {
    object.warning("a JobTemplate runs when a JobFlow names it; a Job of its name stands for that");
    return read_volcano(object, context, options);
}

/// flow.volcano.sh/v1alpha1 JobFlow: its Jobs are those of the JobTemplates that it names, one
/// after the other; it has no gang of its own.
[[nodiscard]] inline translate::job_gangs
read_volcano_flow(object_reader& object, reading_context& context, const translate::job_options&) {
    const translate::job_object own = read_job_object(object, context);
    object.warning(
        "its Jobs are made of the JobTemplates that it names; those of the input are read "
        "as Jobs, the flow itself has no gang");
    translate::job_plan plan;
    lose(plan, translate::loss_kind::startup_order, own,
         "flows: Jobs start when those before them are done");
    object.ignore_rest();
    translate::job_gangs made;
    made.losses = std::move(plan.losses);
    return made;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
