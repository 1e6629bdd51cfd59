// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/document/generated_name.hpp>
#include <muster/gangs/gang_leaves.hpp>
#include <muster/gangs/gang_marks.hpp>
#include <muster/gangs/job_object.hpp>
#include <muster/gangs/pod_draft.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// The spec of a batch/v1 Job, which CronJobs, JobSets and others hold too.
struct batch_job_spec {
    std::int64_t parallelism = 1;
    std::optional<std::int64_t> completions;
    bool indexed = false;
    /// What the annotation kai.scheduler/batch-min-member or Volcano's own asks for.
    std::optional<std::int64_t> minimum;
    bool scheduled = false; ///< spec.scheduling of Kubernetes 1.37 is there
    /// It makes the Job a gang: how many of it.
    std::optional<std::int64_t> gang_minimum;
    group_words scheduling; ///< what else it says
    const boost::json::object* pod_template = nullptr;
    std::vector<std::string_view> lifecycle;
};

/// A batch/v1 Job, or what a CronJob makes at one of its times.
struct batch_job {
    job_object object;
    batch_job_spec spec;
    std::string run; ///< of a CronJob: the name of the Job that is made
};

/// How many pods of it there are at a time, from the start.
[[nodiscard]] inline std::int64_t pods_at_once(const batch_job_spec& spec) {
    return std::min(spec.parallelism, spec.completions.value_or(spec.parallelism));
}

namespace detail {

/// The name of a pod of a Job. That of an indexed Job's ends in letters too.
[[nodiscard]] inline std::string job_pod_name(const batch_job_spec& spec,
                                              std::string_view name_space, std::string_view job,
                                              std::int64_t index) {
    std::string stem(job);
    stem += '-';
    if (spec.indexed)
        stem += std::to_string(index) + '-';
    return generated_name(name_space, std::move(stem), index);
}

/// Labels, index and owner of a pod of a Job.
inline void dress_job_pod(const batch_job_spec& spec, const object_reference& job, pod_draft& pod,
                          std::int64_t index) {
    pod.own(job);
    for (const std::string_view key : {"batch.kubernetes.io/job-name", "job-name"})
        pod.label(key, job.name);
    if (!job.uid.empty())
        for (const std::string_view key : {"batch.kubernetes.io/controller-uid", "controller-uid"})
            pod.label(key, job.uid);
    if (!spec.indexed)
        return;
    const std::string own = std::to_string(index);
    pod.label("batch.kubernetes.io/job-completion-index", own);
    pod.annotate("batch.kubernetes.io/job-completion-index", own);
    pod.env_from_field("JOB_COMPLETION_INDEX",
                       "metadata.labels['batch.kubernetes.io/job-completion-index']");
    pod.set_default("hostname", job.name + '-' + own);
}

} // namespace detail

/// The one gang of a Job, named as the Job. Nobody asks for more than one of its pods together
/// unless an annotation does or spec.scheduling; the rest is surplus. O(1).
[[nodiscard]] inline job_plan gangs_of(const batch_job& job, const job_options& = {}) {
    job_plan plan;
    planned_gang planned;
    planned.series.push_back(
        {vertex_index{0}, {}, job.spec.pod_template, 0, pods_at_once(job.spec), 0, false});
    const auto labelled = settle_marks(planned.series);
    const std::string_view own = job.run.empty() ? job.object.name : std::string_view(job.run);
    planned.gang =
        gang_of(job.object, std::string(labelled ? labelled->name : own), {job.spec.pod_template});
    if (!job.run.empty())
        planned.gang.owners = {{"batch/v1", "Job", job.run, {}, true}};
    if (labelled)
        planned.gang.origin = target::ack_1_31;
    else if (job.spec.scheduled)
        planned.gang.origin = target::workload_1_37;
    planned.gang.tree.require_members(
        vertex_index{0}, labelled ? labelled->minimum
                                  : job.spec.gang_minimum.value_or(job.spec.minimum.value_or(1)));
    take_group_words(job.spec.scheduling, planned.gang);
    settle_leaves(planned);
    plan.gangs.push_back(std::move(planned));
    lose_lifecycle(plan, job.object, job.spec.lifecycle);
    return plan;
}

/// The pods that run at the same time at the start, `<job>-<letters>`, of an indexed Job
/// `<job>-<index>-<letters>`.
[[nodiscard]] inline job_gangs pods_of(const batch_job& job, job_plan plan,
                                       const job_options& options = {}) {
    object_reference owner = reference_to(job.object);
    if (!job.run.empty())
        owner = {"batch/v1", "Job", job.run, {}, true};
    return make_pods(
        job.object, std::move(plan), options,
        [&](const planned_gang&, const pod_series&, std::int64_t index) {
            return detail::job_pod_name(job.spec, job.object.name_space, owner.name, index);
        },
        [&](pod_draft& pod, const planned_gang&, const pod_series&, std::int64_t index) {
            detail::dress_job_pod(job.spec, owner, pod, index);
        });
}

} // namespace translate
} // namespace v0_1
} // namespace muster
