// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/core/request_reader.hpp>
#include <muster/apis/job_reader.hpp>
#include <muster/apis/kubeflow/job.hpp>
#include <muster/apis/kubeflow/pods.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/gangs/job_object.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// The types of replicas that a kind knows, and those without which it is no job.
struct kubeflow_types {
    std::array<std::string_view, 6> known{};
    std::array<std::string_view, 2> required{};          ///< by the kind's own controller
    std::array<std::string_view, 2> required_to_group{}; ///< by the podgrouper
    std::string_view single;                             ///< it has exactly one replica
};

[[nodiscard]] constexpr kubeflow_types types_of(translate::kubeflow_kind kind) {
    using enum translate::kubeflow_kind;
    switch (kind) {
    case tensorflow:
        return {{"PS", "Worker", "Chief", "Master", "Evaluator", "Eval"}, {}, {}, {}};
    case pytorch:
        return {{"Master", "Worker"}, {}, {}, "Master"};
    case mpi:
    case mpi_v2:
        return {{"Launcher", "Worker"}, {"Launcher"}, {"Launcher", "Worker"}, "Launcher"};
    case xgboost:
        return {{"Master", "Worker"}, {"Master"}, {"Master", "Worker"}, "Master"};
    case paddle:
        return {{"Master", "Worker"}, {}, {}, {}};
    case jax:
        return {{"Worker"}, {"Worker"}, {"Worker"}, {}};
    }
    return {};
}

/// The type as the kind spells it, whatever its case; what is unknown is an error.
[[nodiscard]] inline std::string_view known_type(const field& at, std::string_view written,
                                                 const kubeflow_types& types) {
    std::string expected;
    for (const std::string_view known : types.known) {
        if (!known.empty() && translate::lower(known) == translate::lower(written))
            return known;
        if (!known.empty())
            expected.append(expected.empty() ? "" : ", ").append(known);
    }
    at.error(in_quotes(written) + " is no replica type of this kind (expected " + expected + ")");
    return {};
}

inline void read_kubeflow_roles(object_reader& spec, translate::job_rules rules,
                                translate::kubeflow_job& job, const reading_context& context) {
    const kubeflow_types types = types_of(job.kind);
    const bool grouped = rules == translate::job_rules::podgrouper;
    const field all_at = spec.required(translate::words_of(job.kind).replica_specs);
    object_reader all = all_at.as_object();
    all.for_each([&](std::string_view written, const field& at) {
        const std::string_view type = known_type(at, written, types);
        object_reader each = at.as_object();
        if (type.empty() || !each.is_present())
            return each.ignore_rest();
        translate::kubeflow_role role;
        role.type = type;
        const field replicas_at = each.optional("replicas");
        const auto replicas = count_of(replicas_at, grouped ? 1 : 0);
        if (grouped && !replicas_at.is_present())
            each.error("replicas is missing (expected a number of at least 1)");
        role.replicas = replicas.value_or(1);
        if (type == types.single && role.replicas != 1)
            replicas_at.error(std::to_string(role.replicas) + " replicas of " + in_quotes(type) +
                              " are there (expected 1)");
        const field restart_at = each.optional("restartPolicy");
        role.restart_policy = text_of(restart_at);
        if (role.restart_policy == "ExitCode")
            job.lifecycle.push_back("restartPolicy ExitCode");
        else if (!role.restart_policy.empty() && role.restart_policy != "Never" &&
                 role.restart_policy != "OnFailure" && role.restart_policy != "Always")
            restart_at.error(in_quotes(role.restart_policy) +
                             " is no policy (expected Always, OnFailure, Never or ExitCode)");
        role.pod_template = read_pod_template(each.required("template"), context);
        each.finish();
        if (translate::segment_size(translate::detail::annotations_of(role.pod_template)) == 0)
            at.error(
                "annotation kai.scheduler/segment-size of the template is not a size (expected "
                "a whole number of at least 1)");
        if (translate::find_role(job, type))
            at.error(in_quotes(type) + " is there twice (expected every type once)");
        else
            job.roles.push_back(role);
    });
    for (const std::string_view type : grouped ? types.required_to_group : types.required)
        if (all_at.is_present() && !type.empty() && !translate::find_role(job, type))
            all_at.error("there are no replicas of type " + in_quotes(type) + " (expected some)");
}

/// runPolicy; TFJobs and MPIJobs of old have its fields in the spec itself.
inline void read_run_policy(object_reader& object, translate::kubeflow_job& job) {
    note_present(object,
                 {"cleanPodPolicy", "ttlSecondsAfterFinished", "activeDeadlineSeconds",
                  "backoffLimit", "suspend", "managedBy"},
                 job.lifecycle);
}

inline void read_scheduling_policy(const field& at, translate::kubeflow_job& job) {
    object_reader policy = at.as_object();
    if (!policy.is_present())
        return;
    const field minimum_at = policy.optional("minAvailable");
    job.scheduling.min_available = count_of(minimum_at);
    job.scheduling.queue = text_of(policy.optional("queue"));
    job.scheduling.priority_class = text_of(policy.optional("priorityClass"));
    job.scheduling.timeout_seconds = count_of(policy.optional("scheduleTimeoutSeconds"));
    const field resources_at = policy.optional("minResources");
    static_cast<void>(read_amounts(resources_at));
    if (resources_at.value())
        job.scheduling.min_resources = resources_at.value()->if_object();
    policy.finish();
    std::int64_t sum = 0;
    for (const translate::kubeflow_role& role : job.roles) {
        agree_with_labels(minimum_at, role.pod_template, role.type);
        sum += role.replicas;
    }
    // An elastic job may be scaled up to it; read_elastic_policy() has come first.
    if (job.elastic && job.elastic->most)
        sum = std::max(sum, *job.elastic->most);
    if (job.scheduling.min_available && *job.scheduling.min_available > sum)
        minimum_at.error(std::to_string(*job.scheduling.min_available) + " members of " +
                         std::to_string(sum) +
                         " can never start together (expected at most all replicas)");
}

inline void read_elastic_policy(const field& at, translate::kubeflow_job& job) {
    object_reader object = at.as_object();
    if (!object.is_present())
        return;
    translate::kubeflow_elastic& elastic = job.elastic.emplace();
    const field least_at = object.optional("minReplicas");
    elastic.least = count_of(least_at, 1);
    elastic.most = count_of(object.optional("maxReplicas"), 1);
    if (elastic.least && elastic.most && *elastic.least > *elastic.most)
        least_at.error(std::to_string(*elastic.least) +
                       " is more than maxReplicas (expected at most " +
                       std::to_string(*elastic.most) + ")");
    elastic.max_restarts = count_of(object.optional("maxRestarts"));
    elastic.processes_per_node = count_of(object.optional("nProcPerNode"), 1);
    elastic.rendezvous_backend = text_of(object.optional("rdzvBackend"));
    elastic.rendezvous_host = text_of(object.optional("rdzvHost"));
    elastic.rendezvous_id = text_of(object.optional("rdzvId"));
    elastic.rendezvous_port = object.optional("rdzvPort").as_integer(1, 65535);
    const field config_at = object.optional("rdzvConf");
    if (config_at.as_array().is_present())
        elastic.rendezvous_config = &config_at.value()->get_array();
    elastic.standalone = object.optional("standalone").as_boolean().value_or(false);
    note_present(object, {"metrics"}, job.lifecycle);
    object.finish();
}

inline void read_mpi(object_reader& spec, translate::kubeflow_job& job) {
    job.mpi.slots_per_worker = count_of(spec.optional("slotsPerWorker"), 1).value_or(1);
    const field made_at = spec.optional("mpiImplementation");
    if (const auto made = made_at.as_string()) {
        job.mpi.implementation = *made;
        if (*made != "OpenMPI" && *made != "Intel" && *made != "MPICH")
            made_at.error(in_quotes(*made) +
                          " is no implementation (expected OpenMPI, Intel or MPICH)");
    }
    job.mpi.launcher_works = spec.optional("runLauncherAsWorker").as_boolean().value_or(false);
    const field when_at = spec.optional("launcherCreationPolicy");
    const std::string_view when = text_of(when_at);
    job.mpi.launcher_waits = when == "WaitForWorkersReady";
    if (!when.empty() && !job.mpi.launcher_waits && when != "AtStartup")
        when_at.error(in_quotes(when) +
                      " is no policy (expected AtStartup or WaitForWorkersReady)");
    if (const std::string_view path = text_of(spec.optional("sshAuthMountPath")); !path.empty())
        job.mpi.ssh_path = path;
    spec.ignore({"mainContainer", "mpiDistribution"});
}

} // namespace detail

/// A job of Kubeflow's; `rules` decide what must be there.
[[nodiscard]] inline translate::kubeflow_job
read_kubeflow_job(object_reader& object, reading_context& context, translate::kubeflow_kind kind,
                  translate::job_rules rules = translate::job_rules::controller) {
    using enum translate::kubeflow_kind;
    translate::kubeflow_job job;
    job.kind = kind;
    job.object = read_job_object(object, context);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    detail::read_kubeflow_roles(spec, rules, job, context);
    if (kind == pytorch || kind == paddle)
        detail::read_elastic_policy(spec.optional("elasticPolicy"), job);
    detail::read_run_policy(spec, job);
    const field policy_at = spec.optional("runPolicy");
    object_reader policy = policy_at.as_object();
    detail::read_run_policy(policy, job);
    detail::read_scheduling_policy(policy.optional("schedulingPolicy"), job);
    policy.finish();
    note_present(spec, {"successPolicy"}, job.lifecycle);
    if (kind == tensorflow)
        job.dynamic_workers = spec.optional("enableDynamicWorker").as_boolean().value_or(false);
    if (kind == pytorch)
        if (const field at = spec.optional("nprocPerNode"); at.is_present())
            job.processes_per_node = text_of(at);
    if (kind == mpi || kind == mpi_v2)
        detail::read_mpi(spec, job);
    spec.finish();
    object.finish();
    return job;
}

/// kubeflow.org/v1 TFJob, PyTorchJob, MPIJob, XGBoostJob, PaddleJob and JAXJob, and
/// kubeflow.org/v2beta1 MPIJob.
template<translate::kubeflow_kind Kind>
[[nodiscard]] translate::job_gangs read_kubeflow(object_reader& object, reading_context& context,
                                                 const translate::job_options& options) {
    const translate::kubeflow_job job = read_kubeflow_job(object, context, Kind, options.rules);
    translate::job_plan plan = gangs_of(job, options);
    if (!can_make(plan, object))
        return {};
    return pods_of(job, std::move(plan), options);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
