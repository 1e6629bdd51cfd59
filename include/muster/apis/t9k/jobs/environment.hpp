// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/t9k/jobs/containers.hpp>
#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/apis/t9k/jobs/names.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

using environment = std::vector<std::pair<std::string_view, std::string>>;

namespace detail {

inline void append_hosts(std::string& to, const t9k_job& job, std::size_t spec, std::int64_t count,
                         const t9k_options& options) {
    const std::string port = ':' + std::to_string(options.port);
    for (std::int64_t rank = 0; rank < count; ++rank) {
        to.append(rank == 0 ? "\"" : ",\"");
        to += pod_name(job, {spec, rank}, options);
        to.append(port).append("\"");
    }
}

} // namespace detail

/// The `cluster` of a TensorFlowTrainingJob's TF_CONFIG, as JSON text: all replicas but evaluators,
/// by type in the order of the replica specs.
[[nodiscard]] inline std::string tensorflow_cluster(const t9k_job& job,
                                                    const t9k_options& options = {}) {
    std::string text = "{";
    for (std::size_t i = 0; i < job.replica_specs.size(); ++i) {
        const t9k_replica_spec& spec = job.replica_specs[i];
        if (spec.type == "evaluator" || spec.replicas == 0)
            continue;
        text.append(text.size() == 1 ? "\"" : ",\"").append(spec.type).append("\":[");
        detail::append_hosts(text, job, i, spec.replicas, options);
        text += ']';
    }
    return text += '}';
}

/// The place of a replica among all: the master's type first for XGBoost, else in the order of the
/// replica specs.
[[nodiscard]] inline std::int64_t world_rank(const t9k_job& job, t9k_replica of) {
    const std::vector<std::int64_t> counts = replica_counts(job);
    const std::size_t first =
        job.kind == t9k_kind::xgboost ? find_type(job, "master").value_or(0) : 0;
    if (of.spec == first)
        return of.rank;
    std::int64_t before = counts[first];
    for (std::size_t i = 0; i < of.spec; ++i)
        before += i == first ? 0 : counts[i];
    return before + of.rank;
}

/// What the controller adds to the environment of a replica's training container. `cluster` is
/// tensorflow_cluster(job, options) for a TensorFlowTrainingJob.
/// - TensorFlow: TF_CONFIG.
/// - PyTorch and XGBoost: MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE; torchrun, which gives
/// ranks
///   itself, gets the first two.
/// - Beam: the address of the job manager.
[[nodiscard]] inline environment environment_of(const t9k_job& job, t9k_replica of,
                                                std::string_view cluster,
                                                const t9k_options& options = {}) {
    environment made;
    if (job.kind == t9k_kind::tensorflow) {
        std::string config = "{\"cluster\":";
        config.append(cluster).append(",\"task\":{\"type\":\"");
        config.append(job.replica_specs[of.spec].type).append("\",\"index\":");
        config.append(std::to_string(of.rank)).append("}}");
        made.emplace_back("TF_CONFIG", std::move(config));
    } else if (job.kind == t9k_kind::pytorch || job.kind == t9k_kind::xgboost) {
        const auto master = master_of(job);
        if (!master)
            return made;
        made.emplace_back("MASTER_ADDR", pod_name(job, *master, options));
        made.emplace_back("MASTER_PORT", std::to_string(options.port));
        const auto* torchrun = std::get_if<torchrun_config>(&job.config);
        if (torchrun != nullptr && torchrun->enabled)
            return made;
        std::int64_t total = 0;
        for (const std::int64_t each : replica_counts(job))
            total += each;
        made.emplace_back("RANK", std::to_string(world_rank(job, of)));
        made.emplace_back("WORLD_SIZE", std::to_string(total));
    } else if (job.kind == t9k_kind::beam) {
        made.emplace_back("JOB_MANAGER_RPC_ADDRESS", pod_name(job, {0, 0}, options));
    }
    return made;
}

/// Adds what a container's env does not name itself.
inline void add_environment(boost::json::object& container, const environment& more) {
    if (more.empty())
        return;
    boost::json::value& env = container["env"];
    if (!env.is_array())
        env.emplace_array();
    boost::json::array& list = env.get_array();
    const std::size_t own = list.size();
    for (const auto& [name, text] : more) {
        bool named = false;
        for (std::size_t i = 0; i < own && !named; ++i)
            named = find_text(list[i].if_object(), "name") == name;
        if (!named)
            list.push_back(boost::json::object{{"name", name}, {"value", text}});
    }
}

/// Where the host file stands in the pods that read it.
inline constexpr std::string_view hostfile_path = "/t9k/hostfile";

namespace detail {

/// How many processes mpirun is told to start on each host; 1 when it is not told.
[[nodiscard]] inline std::string processes_per_host(const mpi_config& config) {
    if (config.extra_arguments == nullptr)
        return "1";
    const auto word = [](const boost::json::value& each) {
        return each.is_string()
                   ? std::string_view(each.get_string().data(), each.get_string().size())
                   : std::string_view();
    };
    const boost::json::array& list = *config.extra_arguments;
    for (std::size_t i = 0; i + 1 < list.size(); ++i)
        for (const std::string_view option : {"-N", "-npernode", "--npernode"})
            if (word(list[i]) == option)
                return std::string(word(list[i + 1]));
    return "1";
}

} // namespace detail

/// The hosts of the workers, one a line: `<pod> slots=<n>`, for ColossalAI `<pod>`. Empty for kinds
/// that read none.
[[nodiscard]] inline std::string hostfile_of(const t9k_job& job, const t9k_options& options = {}) {
    std::string slots;
    if (const auto* mpi = std::get_if<mpi_config>(&job.config))
        slots = " slots=" + detail::processes_per_host(*mpi);
    else if (const auto* deepspeed = std::get_if<deepspeed_config>(&job.config))
        slots = " slots=" + std::to_string(deepspeed->slots_per_worker);
    else if (!std::holds_alternative<colossal_config>(job.config))
        return {};
    const auto workers = find_type(job, "worker");
    if (!workers)
        return {};
    std::string text;
    const std::int64_t count = replica_counts(job)[*workers];
    for (std::int64_t rank = 0; rank < count; ++rank)
        text.append(pod_name(job, {*workers, rank}, options)).append(slots).append("\n");
    return text;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
