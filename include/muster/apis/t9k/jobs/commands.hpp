// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/t9k/jobs/containers.hpp>
#include <muster/apis/t9k/jobs/environment.hpp>
#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/apis/t9k/jobs/names.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {
namespace detail {

inline void append(boost::json::array& to, const boost::json::array* more) {
    if (more != nullptr)
        to.insert(to.end(), more->begin(), more->end());
}

inline void append_option(boost::json::array& to, std::string_view option, std::string_view value) {
    if (!value.empty())
        to.emplace_back(std::string(option).append(value));
}

[[nodiscard]] inline boost::json::array sshd_command(const t9k_job& job) {
    std::string_view path = "/usr/sbin/sshd";
    if (const auto* mpi = std::get_if<mpi_config>(&job.config); mpi && !mpi->ssh.sshd_path.empty())
        path = mpi->ssh.sshd_path;
    if (const auto* colossal = std::get_if<colossal_config>(&job.config);
        colossal && !colossal->ssh.sshd_path.empty())
        path = colossal->ssh.sshd_path;
    return {path, "-D"};
}

/// `torchrun OPTIONS SCRIPT ARGUMENTS`; the last two are the container's args.
[[nodiscard]] inline boost::json::array torchrun_command(const t9k_job& job,
                                                         const torchrun_config& config,
                                                         const boost::json::object& container,
                                                         const t9k_options& options) {
    std::int64_t total = 0;
    for (const std::int64_t each : replica_counts(job))
        total += each;
    std::string nodes = std::to_string(total);
    if (is_elastic(job))
        nodes = std::to_string(job.elastic->least) + ':' + std::to_string(job.elastic->most);
    boost::json::array command{"torchrun"};
    append_option(command, "--nnodes=", nodes);
    append_option(command, "--nproc_per_node=", config.processes_per_node);
    append_option(command, "--rdzv_backend=", config.rendezvous_backend);
    append_option(command, "--rdzv_id=", job.name);
    if (const auto master = master_of(job))
        append_option(command, "--rdzv_endpoint=",
                      pod_name(job, *master, options) + ':' + std::to_string(options.port));
    if (config.max_restarts)
        append_option(command, "--max_restarts=", std::to_string(*config.max_restarts));
    append(command, config.extra_options);
    append(command, find_array(&container, "args"));
    return command;
}

[[nodiscard]] inline boost::json::array mpirun_command(const mpi_config& config) {
    boost::json::array command;
    command.emplace_back(config.home.empty() ? std::string("mpirun")
                                             : std::string(config.home) + "/bin/mpirun");
    if (!config.home.empty()) {
        command.emplace_back("--prefix");
        command.emplace_back(config.home);
    }
    command.emplace_back("--hostfile");
    command.emplace_back(hostfile_path);
    if (config.mca != nullptr) {
        for (const auto& parameter : *config.mca) {
            command.emplace_back("-mca");
            command.emplace_back(parameter.key());
            command.push_back(parameter.value());
        }
    }
    append(command, config.extra_arguments);
    append(command, config.script);
    return command;
}

[[nodiscard]] inline boost::json::array
colossal_command(const t9k_job& job, const colossal_config& config, const t9k_options& options) {
    boost::json::array command{"colossalai",       "run",
                               "--hostfile",       hostfile_path,
                               "--nproc_per_node", std::to_string(config.processes_per_worker)};
    if (const auto workers = find_type(job, "worker")) {
        command.emplace_back("--master_addr");
        command.emplace_back(pod_name(job, {*workers, 0}, options));
    }
    append(command, config.torch_arguments);
    append(command, config.script);
    return command;
}

/// Worker 0 runs sshd as all do, and then deepspeed.
[[nodiscard]] inline boost::json::array deepspeed_command(const deepspeed_config& config) {
    boost::json::array command{"/bin/sh", "-c", "/usr/sbin/sshd && exec \"$0\" \"$@\""};
    if (!config.custom_command.empty()) {
        command[2] = "/usr/sbin/sshd && exec " + std::string(config.custom_command);
        return command;
    }
    command.emplace_back("deepspeed");
    command.emplace_back("--hostfile");
    command.emplace_back(hostfile_path);
    if (!config.autotune.empty()) {
        command.emplace_back("--autotuning");
        command.emplace_back(config.autotune);
    }
    if (!config.local_rank)
        command.emplace_back("--no_local_rank");
    append(command, config.other_arguments);
    if (config.module != nullptr)
        command.emplace_back("--module");
    if (config.exec != nullptr)
        command.emplace_back("--no_python");
    append(command, config.python);
    append(command, config.module);
    append(command, config.exec);
    return command;
}

} // namespace detail

/// The command with which the controller starts a replica's training container; nothing where the
/// template's own stands. Where there is one the container's args do not count.
[[nodiscard]] inline std::optional<boost::json::array>
start_command(const t9k_job& job, t9k_replica of, const boost::json::object& container,
              const t9k_options& options = {}) {
    const bool launcher = job.replica_specs[of.spec].part == replica_part::launcher;
    if (const auto* torchrun = std::get_if<torchrun_config>(&job.config)) {
        if (torchrun->enabled)
            return detail::torchrun_command(job, *torchrun, container, options);
        return std::nullopt;
    }
    if (const auto* deepspeed = std::get_if<deepspeed_config>(&job.config))
        return of.rank == 0 ? detail::deepspeed_command(*deepspeed) : detail::sshd_command(job);
    const auto* mpi = std::get_if<mpi_config>(&job.config);
    const auto* colossal = std::get_if<colossal_config>(&job.config);
    if (mpi == nullptr && colossal == nullptr)
        return std::nullopt;
    if (!launcher)
        return detail::sshd_command(job);
    // A launcher with a template may say all by itself.
    if ((mpi ? mpi->script : colossal->script) == nullptr && container.contains("command"))
        return std::nullopt;
    return mpi ? detail::mpirun_command(*mpi) : detail::colossal_command(job, *colossal, options);
}

/// What a replica runs in debug mode when the job does not say it.
[[nodiscard]] inline boost::json::array debug_command(const t9k_job& job, std::size_t spec) {
    if (job.kind == t9k_kind::deepspeed)
        return {"/usr/sbin/sshd", "-D"};
    if (job.kind == t9k_kind::mpi && job.replica_specs[spec].part == replica_part::worker)
        return {"/usr/bin/sshd", "-D"};
    return {"sleep", "inf"};
}

} // namespace translate
} // namespace v0_1
} // namespace muster
