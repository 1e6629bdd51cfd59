// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// How the launcher of an MPIJob or ColossalAIJob logs in at the workers.
struct t9k_ssh {
    std::string_view auth_mount_path = "/root/.ssh"; ///< where the keys are mounted
    std::string_view sshd_path;                      ///< empty: the image's own
};

/// PyTorchTrainingJob's torchrunConfig.
struct torchrun_config {
    bool enabled = false;
    std::optional<std::int64_t> max_restarts;
    std::string_view
        processes_per_node; ///< may be a word: "gpu", "auto"; empty = torchrun's default
    std::string_view rendezvous_backend = "c10d";
    const boost::json::array* extra_options = nullptr;
};

/// MPIJob, both generations: worker.cmd and mpiConfig.script are one thing.
struct mpi_config {
    const boost::json::object* mca = nullptr; ///< parameter -> value
    std::string_view home;                    ///< where Open MPI is installed
    const boost::json::array* extra_arguments = nullptr;
    const boost::json::array* script = nullptr;
    t9k_ssh ssh;
};

/// ColossalAIJob, both generations: worker.command and torchConfig.script are one thing.
struct colossal_config {
    std::int64_t processes_per_worker = 1;
    const boost::json::array* script = nullptr;
    const boost::json::array* torch_arguments = nullptr;
    /// The first generation describes the launcher's one container directly: image, workingDir, env
    /// and resources.
    const boost::json::object* launcher = nullptr;
    t9k_ssh ssh;
};

/// DeepSpeedJob's config.
struct deepspeed_config {
    std::int64_t slots_per_worker = 1;
    std::string_view custom_command; ///< instead of all that follows
    bool local_rank = false;
    std::string_view autotune;
    const boost::json::array* python = nullptr; ///< one of the three
    const boost::json::array* module = nullptr;
    const boost::json::array* exec = nullptr;
    const boost::json::array* other_arguments = nullptr;
    bool disable_custom_env = false;
};

/// BeamJob: the templates of its Flink cluster and of the Job that submits to it.
struct flink_config {
    const boost::json::object* cluster_spec = nullptr;
    const boost::json::object* job_template = nullptr;
};

/// What only one kind of job has.
using t9k_config = std::variant<std::monostate, torchrun_config, mpi_config, colossal_config,
                                deepspeed_config, flink_config>;

} // namespace translate
} // namespace v0_1
} // namespace muster
