// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/apis/t9k/jobs/names.hpp>
#include <muster/apis/t9k/jobs/objects.hpp>
#include <muster/lifecycle/job_plan.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {
namespace detail {

/// Kinds whose restart policy is a word: `backoffLimit` bounds the restarts of all replicas.
[[nodiscard]] constexpr bool shares_restarts(translate::t9k_kind kind) noexcept {
    using translate::t9k_kind;
    return kind == t9k_kind::tensorflow || kind == t9k_kind::pytorch || kind == t9k_kind::xgboost ||
           kind == t9k_kind::deepspeed;
}

[[nodiscard]] inline translate::clean_up_policy clean_up_of(const translate::t9k_job& job,
                                                            const translate::t9k_replica_spec& of) {
    using translate::clean_up_policy;
    using translate::replica_part;
    const translate::t9k_run_policy& how = job.run_policy;
    if (of.part == replica_part::worker && (how.clean_up_workers || how.clean_up_cluster))
        return clean_up_policy::all;
    return how.clean_up;
}

} // namespace detail

/// What a T9k job says about its life.
/// - GenericJob: by its rules.
/// - TensorFlow-, PyTorch- and XGBoostTrainingJob, DeepSpeedJob, ColossalAIJob, BeamJob: the
///   master's end is the job's.
/// - MPIJob: it has ended when the launcher has; it has failed when the launcher or any worker has.
[[nodiscard]] inline job_plan plan_of(const translate::t9k_job& job,
                                      const translate::t9k_options& options = {}) {
    using translate::t9k_kind;
    job_plan plan;
    plan.uid = job.uid;
    const std::vector<std::int64_t> counts = replica_counts(job);
    for (std::size_t i = 0; i < job.replica_specs.size(); ++i) {
        const translate::t9k_replica_spec& spec = job.replica_specs[i];
        task_plan task;
        task.type = spec.type;
        for (std::int64_t rank = 0; rank < counts[i]; ++rank)
            task.pods.push_back(pod_name(job, {i, rank}, options));
        task.restart = spec.restart;
        if (detail::shares_restarts(job.kind))
            task.restart.limit.reset();
        task.at_end = detail::clean_up_of(job, spec);
        task.after_others = spec.part == translate::replica_part::submitter;
        plan.tasks.push_back(std::move(task));
    }
    plan.success = job.success_rules;
    plan.failure = job.failure_rules;
    if (const auto master = master_of(job)) {
        plan.prints_rules = false;
        const translate::t9k_rule rule{{master->spec, {master->rank}}};
        plan.success = {rule};
        plan.failure = {rule};
        if (job.kind == t9k_kind::mpi)
            for (std::size_t i = 0; i < job.replica_specs.size(); ++i)
                for (std::int64_t rank = 0; i != master->spec && rank < counts[i]; ++rank)
                    plan.failure.push_back({{i, {rank}}});
    }
    if (detail::shares_restarts(job.kind))
        plan.restarts = job.run_policy.backoff_limit;
    if (job.kind == t9k_kind::pytorch && !plan.restarts)
        plan.restarts = 3;
    plan.deadline_seconds = job.run_policy.active_deadline_seconds;
    if (is_elastic(job))
        plan.running_from = job.elastic->least;
    plan.paused = job.run_mode.pause;
    plan.grouped = job.scheduler.has_value();
    plan.configured = !hostfile_of(job, options).empty();
    for (const translate::detail::exposed_replicas& each : translate::detail::exposed(job, options))
        plan.tasks[each.spec].services = each.count;
    if (job.kind == t9k_kind::beam)
        plan.conditions = condition_set::cluster;
    return plan;
}

} // namespace lifecycle
} // namespace v0_1
} // namespace muster
