// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/t9k/jobs/containers.hpp>
#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/apis/t9k/jobs/job_fields.hpp>
#include <muster/apis/t9k/jobs/variable_check.hpp>
#include <muster/document/field_reader.hpp>

// What each kind of T9k job has for itself: its replicas, its rules about them and its config.

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Only these types exist; the container in which their program runs has a fixed name.
inline void check_types(const field& specs_at, std::initializer_list<std::string_view> types,
                        std::string_view container) {
    std::string expected;
    for (const std::string_view each : types)
        expected.append(expected.empty() ? "" : ", ").append(each);
    const array_reader list = specs_at.as_array();
    list.for_each([&](const field& each_at) {
        const boost::json::object* const each = object_at(each_at);
        const boost::json::value* const type = each ? each->if_contains("type") : nullptr;
        if (type == nullptr || !type->is_string())
            return;
        object_reader element = each_at.as_object();
        const std::string_view word(type->get_string().data(), type->get_string().size());
        if (std::ranges::find(types, word) == types.end())
            element.optional("type").mismatch("one of " + expected);
        const field template_at = element.optional("template");
        const boost::json::object* const pod = object_at(template_at);
        if (!container.empty() && translate::has_containers(pod) &&
            !translate::has_container(pod, container))
            template_at.warning("no container is named " + in_quotes(container) +
                                ", and the first one is taken for it");
    });
}

inline void warn_of_tensorboard(object_reader& spec) {
    if (const field board = spec.optional("tensorboardSpec"); board.is_present())
        board.warning("no TensorBoard is made of it");
}

inline void read_generic(object_reader& spec, translate::t9k_job& job, reading_context& context) {
    const field specs_at = spec.required("replicaSpecs");
    read_replica_specs(specs_at, job, context);
    job.success_rules = read_rules(spec.optional("successRules"), job);
    job.failure_rules = read_rules(spec.optional("failureRules"), job);
    job.service = read_service(spec.optional("service"));
    warn_of_service_variables(specs_at, job);
}

inline void read_tensorflow(object_reader& spec, translate::t9k_job& job,
                            reading_context& context) {
    const field specs_at = spec.required("replicaSpecs");
    read_replica_specs(specs_at, job, context);
    check_types(specs_at, {"chief", "worker", "ps", "evaluator"}, "tensorflow");
    warn_of_tensorboard(spec);
    if (!job.replica_specs.empty() && !master_of(job))
        specs_at.error("there is neither chief nor worker (expected one of them)");
}

/// torchrun runs what the training container's args say: its command counts for nothing.
inline void warn_of_commands(const field& specs_at) {
    const array_reader list = specs_at.as_array();
    list.for_each([&](const field& each_at) {
        object_reader each = each_at.as_object();
        const field template_at = each.optional("template");
        object_reader pod = template_at.as_object();
        const field spec_at = pod.optional("spec");
        object_reader spec = spec_at.as_object();
        const field containers_at = spec.optional("containers");
        const array_reader containers = containers_at.as_array();
        const bool named = translate::has_container(object_at(template_at), "python");
        bool found = false;
        containers.for_each([&](const field& container_at) {
            object_reader container = container_at.as_object();
            const field name_at = container.optional("name");
            const boost::json::value* const name = name_at.value();
            if (found || (named && (!name || *name != boost::json::value("python"))))
                return;
            found = true;
            const bool has_args = container.optional("args").is_present();
            const field command_at = container.optional("command");
            if (command_at.is_present())
                command_at.warning(has_args ? "is left out: torchrun runs what args say"
                                            : "is left out, and torchrun has nothing to run "
                                              "(expected the script and its arguments in args)");
        });
    });
}

inline void read_pytorch(object_reader& spec, translate::t9k_job& job, reading_context& context) {
    const field specs_at = spec.required("replicaSpecs");
    read_replica_specs(specs_at, job, context);
    warn_of_tensorboard(spec);
    translate::torchrun_config config;
    const field at = spec.optional("torchrunConfig");
    object_reader torchrun = at.as_object();
    config.enabled = torchrun.optional("enabled").as_boolean().value_or(false);
    config.max_restarts = torchrun.optional("maxRestarts").as_integer(0, largest_member_count);
    if (const field processes_at = torchrun.optional("procPerNode");
        processes_at.value() && !processes_at.value()->is_string())
        processes_at.mismatch("a string such as \"4\" or auto, in quotes if it is a number");
    else
        config.processes_per_node = text_at(processes_at);
    config.rendezvous_backend = text_at(torchrun.optional("rdzvBackend"), "c10d");
    config.extra_options = string_list_at(torchrun.optional("extraOptions"));
    torchrun.finish();
    if (config.enabled)
        warn_of_commands(specs_at);
    job.config = config;
    const field elastic_at = spec.optional("elastic");
    job.elastic = read_elastic(elastic_at);
    if (!is_elastic(job))
        return;
    if (!config.enabled)
        elastic_at.warning("the job is elastic, but torchrunConfig.enabled is not true");
    const auto weightless = [](const translate::t9k_replica_spec& each) {
        return each.scaling_weight == 0;
    };
    if (!job.replica_specs.empty() && std::ranges::all_of(job.replica_specs, weightless))
        elastic_at.error("the scalingWeight of every type is 0 (expected one above 0)");
}

inline void read_xgboost(object_reader& spec, translate::t9k_job& job, reading_context& context) {
    const field specs_at = spec.required("replicaSpecs");
    read_replica_specs(specs_at, job, context);
    check_types(specs_at, {"master", "worker"}, "xgboost");
    const auto master = find_type(job, "master");
    if (!job.replica_specs.empty() && (!master || job.replica_specs[*master].replicas != 1))
        specs_at.error("there is not exactly one master (expected type \"master\" once)");
}

[[nodiscard]] inline translate::t9k_ssh read_ssh(const field& at, std::string_view path) {
    translate::t9k_ssh read;
    object_reader ssh = at.as_object();
    read.auth_mount_path = text_at(ssh.optional(path), read.auth_mount_path);
    read.sshd_path = text_at(ssh.optional("sshdPath"));
    ssh.finish();
    return read;
}

/// One launcher in front, as the controller adds it.
inline void imply_launcher(translate::t9k_job& job) {
    translate::t9k_replica_spec launcher;
    launcher.type = "launcher";
    launcher.part = translate::replica_part::launcher;
    if (job.first_generation)
        launcher.restart.policy = translate::restart_policy::never;
    job.replica_specs.insert(job.replica_specs.begin(), launcher);
}

/// Launcher and workers of the first generation; nothing there starts a replica again.
inline void read_first_workers(object_reader& spec, object_reader& worker, translate::t9k_job& job,
                               reading_context& context) {
    imply_launcher(job);
    translate::t9k_replica_spec& to = job.replica_specs.emplace_back();
    to.type = "worker";
    to.replicas = worker.optional("replicas").as_integer(0, largest_replica_count).value_or(1);
    to.restart.policy = translate::restart_policy::never;
    to.pod_template = read_template(worker.optional("template"), true, context);
    worker.finish();
    if (const field at = spec.optional("replicaSpecs"); at.is_present())
        at.error("there are replicaSpecs beside worker (expected one of the two)");
}

/// Launcher and workers of the second generation.
inline void read_second_workers(object_reader& spec, translate::t9k_job& job,
                                reading_context& context) {
    const field specs_at = spec.required("replicaSpecs");
    read_replica_specs(specs_at, job, context);
    check_types(specs_at, {"launcher", "worker"}, "");
    if (job.replica_specs.empty())
        return;
    if (!find_type(job, "worker"))
        specs_at.error("there are no workers (expected type \"worker\")");
    const auto launcher = find_type(job, "launcher");
    if (!launcher)
        return imply_launcher(job);
    job.replica_specs[*launcher].part = translate::replica_part::launcher;
    if (job.replica_specs[*launcher].replicas != 1)
        specs_at.error("there is not exactly one launcher (expected replicas: 1)");
}

inline void read_mpi(object_reader& spec, translate::t9k_job& job, reading_context& context) {
    translate::mpi_config config;
    config.ssh = read_ssh(spec.optional("ssh"), "sshAuthMountPath");
    const field worker_at = spec.optional("worker");
    job.first_generation = worker_at.is_present();
    if (job.first_generation) {
        object_reader worker = worker_at.as_object();
        config.extra_arguments = string_list_at(worker.optional("extraMPIArgs"));
        config.script = string_list_at(worker.optional("cmd"));
        read_first_workers(spec, worker, job, context);
        config.mca = string_map_at(spec.optional("mca"));
        config.home = text_at(spec.optional("mpiHome"));
    } else {
        read_second_workers(spec, job, context);
        const field config_at = spec.optional("mpiConfig");
        object_reader object = config_at.as_object();
        config.mca = string_map_at(object.optional("mca"));
        config.home = text_at(object.optional("home"));
        config.extra_arguments = string_list_at(object.optional("extraArgs"));
        config.script = string_list_at(object.optional("script"));
        object.finish();
    }
    job.config = config;
}

[[nodiscard]] inline std::int64_t read_processes(object_reader& in) {
    return in.optional("procPerWorker").as_integer(1, largest_member_count).value_or(1);
}

inline void read_colossal(object_reader& spec, translate::t9k_job& job, reading_context& context) {
    translate::colossal_config config;
    config.ssh = read_ssh(spec.optional("ssh"), "authMountPath");
    const field worker_at = spec.optional("worker");
    job.first_generation = worker_at.is_present();
    if (job.first_generation) {
        const field launcher_at = spec.optional("launcher");
        object_reader launcher = launcher_at.as_object();
        container_memory memory;
        static_cast<void>(launcher.optional("image").as_string());
        static_cast<void>(launcher.optional("workingDir").as_string());
        check_environment(launcher.optional("env"));
        check_resources(launcher.optional("resources"), "launcher", memory);
        launcher.finish();
        config.launcher = object_at(launcher_at);
        object_reader worker = worker_at.as_object();
        config.processes_per_worker = read_processes(worker);
        config.script = string_list_at(worker.optional("command"));
        config.torch_arguments = string_list_at(worker.optional("torchArgs"));
        read_first_workers(spec, worker, job, context);
    } else {
        read_second_workers(spec, job, context);
        const field config_at = spec.optional("torchConfig");
        object_reader object = config_at.as_object();
        config.processes_per_worker = read_processes(object);
        config.script = string_list_at(object.optional("script"));
        config.torch_arguments = string_list_at(object.optional("extraArgs"));
        object.finish();
    }
    job.config = config;
}

inline void read_deepspeed(object_reader& spec, translate::t9k_job& job, reading_context& context) {
    translate::deepspeed_config config;
    const field at = spec.optional("config");
    object_reader object = at.as_object();
    const auto slots = [&](std::string_view key) {
        return object.optional(key).as_integer(1, largest_member_count);
    };
    // Some pages leave out a letter.
    const auto misspelt = slots("slotPerWorker");
    config.slots_per_worker = slots("slotsPerWorker").value_or(misspelt.value_or(1));
    config.custom_command = text_at(object.optional("customCommand"));
    config.local_rank = object.optional("localRank").as_boolean().value_or(false);
    config.autotune = text_at(object.optional("autotune"));
    config.other_arguments = string_list_at(object.optional("otherArgs"));
    const field run_at = object.optional("run");
    object_reader run = run_at.as_object();
    config.python = string_list_at(run.optional("python"));
    config.module = string_list_at(run.optional("module"));
    config.exec = string_list_at(run.optional("exec"));
    run.finish();
    object.finish();
    if ((config.python != nullptr) + (config.module != nullptr) + (config.exec != nullptr) > 1)
        run_at.error("there is more than one of python, module and exec (expected one of them)");
    config.disable_custom_env = spec.optional("disableCustomEnv").as_boolean().value_or(false);
    job.config = config;

    const field worker_at = spec.required("worker");
    object_reader worker = worker_at.as_object();
    job.replica_specs.push_back(read_replica_fields(worker, job, true, context));
    job.replica_specs.back().type = "worker";
    worker.finish();
    job.elastic = read_elastic(spec.optional("elastic"));
}

/// The cluster's managers are kept running; the submitter is tried again as its Job says.
inline void read_beam(object_reader& spec, translate::t9k_job& job, reading_context& context) {
    translate::flink_config config;
    const field cluster_at = spec.required("flinkClusterTemplate");
    object_reader cluster = cluster_at.as_object();
    const field cluster_spec_at = cluster.optional("spec");
    config.cluster_spec = object_at(cluster_spec_at);
    object_reader cluster_spec = cluster_spec_at.as_object();
    const field managers_at = cluster_spec.optional("taskManager");
    object_reader managers = managers_at.as_object();
    const auto replicas =
        managers.optional("replicas").as_integer(0, largest_replica_count).value_or(1);
    managers.ignore_rest();
    static_cast<void>(cluster_spec.optional("jobManager").as_object());
    cluster_spec.ignore_rest();
    cluster.ignore({"metadata"});
    cluster.finish();

    const field job_at = spec.required("jobTemplate");
    config.job_template = object_at(job_at);
    object_reader submitter = job_at.as_object();
    const field submitter_at = submitter.optional("spec");
    object_reader submitter_spec = submitter_at.as_object();
    const field template_at = submitter_spec.optional("template");
    const boost::json::object* const pod = read_template(template_at, true, context);
    const auto retries =
        submitter_spec.optional("backoffLimit").as_integer(0, largest_member_count).value_or(6);
    submitter_spec.ignore_rest();
    submitter.ignore({"metadata"});
    submitter.finish();
    job.config = config;

    translate::t9k_replica_spec one;
    one.restart = {translate::restart_policy::always, std::nullopt};
    one.type = "jobmanager";
    job.replica_specs.push_back(one);
    one.type = "taskmanager";
    one.replicas = replicas;
    job.replica_specs.push_back(one);
    one.type = "batchjob";
    one.replicas = 1;
    one.part = translate::replica_part::submitter;
    one.restart = {translate::restart_policy::on_failure, retries};
    one.pod_template = pod;
    job.replica_specs.push_back(one);
}

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
