// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <muster/apis/kubeflow/companions.hpp>
#include <muster/apis/kubeflow/job.hpp>
#include <muster/document/json_text.hpp>
#include <muster/gangs/job_object.hpp>
#include <muster/gangs/pod_draft.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {
namespace detail {

/// The port that the role's main container names for the purpose, else the kind's own.
[[nodiscard]] inline std::int64_t port_of(const kubeflow_job& job, std::string_view type) {
    const kubeflow_words words = words_of(job.kind);
    const kubeflow_role* const role = find_role(job, type);
    const auto* const containers =
        role ? find_array(find_object(role->pod_template, "spec"), "containers") : nullptr;
    if (!containers)
        return words.port;
    for (const boost::json::value& container : *containers) {
        if (translate::find_text(container.if_object(), "name") != words.container)
            continue;
        if (const auto* const ports = find_array(container.if_object(), "ports"))
            for (const boost::json::value& port : *ports) {
                const auto* const number = find(port.if_object(), "containerPort");
                if (translate::find_text(port.if_object(), "name") == words.port_name && number &&
                    number->is_int64())
                    return number->get_int64();
            }
    }
    return words.port;
}

[[nodiscard]] inline std::int64_t all_replicas(const kubeflow_job& job) {
    std::int64_t sum = 0;
    for (const kubeflow_role& role : job.roles)
        sum += role.replicas;
    return sum;
}

/// TF_CONFIG of one replica, its cluster sorted by type; evaluators are no part of the cluster.
class tf_config {
public:
    explicit tf_config(const kubeflow_job& job) : dynamic_(job.dynamic_workers) {
        std::vector<std::pair<std::string, const kubeflow_role*>> types;
        for (const kubeflow_role& role : job.roles)
            if (role.type != "Evaluator" && role.type != "Eval")
                types.emplace_back(lower(role.type), &role);
        std::ranges::sort(types);
        for (const auto& [type, role] : types) {
            const std::int64_t port = port_of(job, role->type);
            boost::json::array hosts;
            for (std::int64_t i = 0; i < role->replicas; ++i)
                hosts.emplace_back(replica_name(job, type, i) + '.' +
                                   std::string(job.object.name_space) +
                                   ".svc:" + std::to_string(port));
            cluster_[type] = std::move(hosts);
        }
    }

    [[nodiscard]] std::string of(std::string_view type, std::int64_t index) const {
        const boost::json::object task{{"type", type}, {"index", index}};
        boost::json::object made;
        if (dynamic_) {
            made["sparseCluster"] = sparse(type, index);
            made["task"] = task;
        } else {
            made["cluster"] = cluster_;
            made["task"] = task;
            made["environment"] = "cloud";
        }
        return boost::json::serialize(made);
    }

private:
    /// A worker knows itself and all parameter servers, a parameter server only itself.
    [[nodiscard]] boost::json::object sparse(std::string_view type, std::int64_t index) const {
        boost::json::object workers;
        boost::json::array servers;
        const boost::json::array* const own = find_array(&cluster_, type);
        const auto at = static_cast<std::size_t>(index);
        if (type == "ps" && own)
            servers.push_back((*own)[at]);
        if (type == "worker" && own) {
            if (const auto* const all = find_array(&cluster_, "ps"))
                servers = *all;
            workers[std::to_string(index)] = (*own)[at];
        }
        return {{"worker", std::move(workers)}, {"ps", std::move(servers)}};
    }

    boost::json::object cluster_;
    bool dynamic_;
};

inline void dress_pytorch(const kubeflow_job& job, pod_draft& pod, const pod_series& series,
                          std::int64_t index) {
    const std::int64_t nodes = all_replicas(job);
    pod.env("PYTHONUNBUFFERED", "1");
    if (find_role(job, "Master")) {
        const std::string port = std::to_string(port_of(job, "Master"));
        const std::string address = replica_name(job, "master", 0);
        const std::string rank = std::to_string(series.role == "worker" ? index + 1 : index);
        std::int64_t processes = 1;
        const std::string_view said = job.processes_per_node;
        if (const auto [end, error] =
                std::from_chars(said.data(), said.data() + said.size(), processes);
            error != std::errc{} || end != said.data() + said.size())
            processes = 1;
        pod.env("MASTER_PORT", port);
        pod.env("PET_MASTER_PORT", port);
        pod.env("MASTER_ADDR", address);
        pod.env("PET_MASTER_ADDR", address);
        pod.env("WORLD_SIZE", std::to_string(nodes * processes));
        pod.env("RANK", rank);
        pod.env("PET_NODE_RANK", rank);
    }
    const std::string_view processes =
        job.processes_per_node.empty() ? std::string_view("auto") : job.processes_per_node;
    if (!job.elastic) {
        pod.env("PET_NPROC_PER_NODE", processes);
        pod.env("PET_NNODES", std::to_string(nodes));
        return;
    }
    const kubeflow_elastic& elastic = *job.elastic;
    std::string host(elastic.rendezvous_host);
    if (host.empty())
        host = replica_name(job, "worker", 0);
    pod.env("PET_RDZV_ENDPOINT",
            host + ':' + std::to_string(elastic.rendezvous_port.value_or(port_of(job, "Worker"))));
    pod.env("PET_RDZV_BACKEND",
            elastic.rendezvous_backend.empty() ? "c10d" : elastic.rendezvous_backend);
    const kubeflow_role* const workers = find_role(job, "Worker");
    if (elastic.least || elastic.most)
        pod.env("PET_NNODES", std::to_string(elastic.least.value_or(elastic.most.value_or(1))) +
                                  ':' +
                                  std::to_string(elastic.most.value_or(elastic.least.value_or(1))));
    else
        pod.env("PET_NNODES", std::to_string(workers ? workers->replicas : nodes));
    if (elastic.max_restarts)
        pod.env("PET_MAX_RESTARTS", std::to_string(*elastic.max_restarts));
    pod.env("PET_NPROC_PER_NODE", elastic.processes_per_node
                                      ? std::to_string(*elastic.processes_per_node)
                                      : std::string(processes));
    if (!elastic.rendezvous_id.empty())
        pod.env("PET_RDZV_ID", elastic.rendezvous_id);
    if (elastic.rendezvous_config) {
        std::string pairs;
        for (const boost::json::value& each : *elastic.rendezvous_config) {
            pairs.append(pairs.empty() ? "" : ",");
            pairs.append(
                translate::find_text(each.if_object(), "key").value_or(std::string_view{}));
            pairs.append("=").append(
                translate::find_text(each.if_object(), "value").value_or(std::string_view{}));
        }
        pod.env("PET_RDZV_CONF", pairs);
    }
    if (elastic.standalone)
        pod.env("PET_STANDALONE", "");
}

inline void dress_xgboost(const kubeflow_job& job, pod_draft& pod, const pod_series& series,
                          std::int64_t index) {
    const kubeflow_role* const master = find_role(job, "Master");
    const std::int64_t all = all_replicas(job);
    const std::int64_t rank =
        series.role == "worker" ? index + (master ? master->replicas : 0) : index;
    pod.env("MASTER_PORT", std::to_string(port_of(job, "Master")));
    pod.env("MASTER_ADDR", replica_name(job, "master", 0));
    pod.env("WORLD_SIZE", std::to_string(all));
    pod.env("RANK", std::to_string(rank));
    pod.env("PYTHONUNBUFFERED", "1");
    if (all > 1) {
        std::string workers;
        for (std::int64_t i = 0; i + 1 < all; ++i)
            workers.append(i > 0 ? "," : "").append(replica_name(job, "worker", i));
        pod.env("WORKER_PORT", std::to_string(port_of(job, "Worker")));
        pod.env("WORKER_ADDRS", workers);
    }
}

inline void dress_paddle(const kubeflow_job& job, pod_draft& pod, const pod_series& series,
                         std::int64_t index) {
    const bool servers = find_role(job, "Master") != nullptr;
    const std::string_view head = servers ? "master" : "worker";
    const std::string port = std::to_string(port_of(job, servers ? "Master" : "Worker"));
    pod.env("PYTHONUNBUFFERED", "1");
    pod.env("PADDLE_JOB_ID", job.object.name);
    pod.env("PADDLE_NNODES", std::to_string(all_replicas(job)));
    if (index == 0 && series.role == head) {
        pod.env_from_field("POD_IP_DUMMY", "status.podIP");
        pod.env("PADDLE_MASTER", "$(POD_IP_DUMMY):" + port);
    } else {
        pod.env("PADDLE_MASTER", replica_name(job, head, 0) + ':' + port);
    }
    if (servers)
        pod.env(series.role == "master" ? "PADDLE_SERVER_NUM" : "PADDLE_TRAINER_NUM", "1");
}

inline void dress_jax(const kubeflow_job& job, pod_draft& pod, std::int64_t index) {
    pod.env("PYTHONUNBUFFERED", "1");
    pod.env("COORDINATOR_PORT", std::to_string(port_of(job, "Worker")));
    pod.env("COORDINATOR_ADDRESS", replica_name(job, "worker", 0));
    pod.env("NUM_PROCESSES", std::to_string(all_replicas(job)));
    pod.env("PROCESS_ID", std::to_string(index));
}

/// The launcher finds the hosts in a file that the controller keeps in a ConfigMap.
inline void dress_mpi(const kubeflow_job& job, pod_draft& pod, const pod_series& series) {
    boost::json::object* const main = pod.container({});
    if (!main)
        return;
    const bool launcher = series.role == "launcher";
    const std::string slots = std::to_string(job.mpi.slots_per_worker);
    const auto set = [&](std::string_view name, std::string_view value) {
        pod_draft::add_env(*main, name, value);
    };
    const bool first = job.kind == kubeflow_kind::mpi;
    if (!first)
        set("K_MPI_JOB_ROLE", series.role);
    if (!launcher) {
        if (!find(main, "command") && (first || !find(main, "args"))) {
            (*main)["command"] =
                first ? boost::json::array{"sleep"} : boost::json::array{"/usr/sbin/sshd", "-De"};
            if (first)
                (*main)["args"] = boost::json::array{"365d"};
        }
        return;
    }
    if (first) {
        set("OMPI_MCA_plm_rsh_agent", "/etc/mpi/kubexec.sh");
        set("OMPI_MCA_orte_default_hostfile", "/etc/mpi/hostfile");
    } else if (job.mpi.implementation == "Intel") {
        set("I_MPI_HYDRA_HOST_FILE", "/etc/mpi/hostfile");
        set("I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", "-o ConnectionAttempts=10");
        set("I_MPI_PERHOST", slots);
    } else if (job.mpi.implementation == "MPICH") {
        set("HYDRA_HOST_FILE", "/etc/mpi/hostfile");
        set("HYDRA_LAUNCH_EXTRA_ARGS", "-o ConnectionAttempts=10");
    } else {
        set("OMPI_MCA_orte_keep_fqdn_hostnames", "true");
        set("OMPI_MCA_orte_default_hostfile", "/etc/mpi/hostfile");
        set("OMPI_MCA_plm_rsh_args", "-o ConnectionAttempts=10");
        set("OMPI_MCA_orte_set_default_slots", slots);
    }
    if (!job.mpi.launcher_works) {
        // The launcher is not to see devices that it did not ask for.
        set("NVIDIA_VISIBLE_DEVICES", "");
        set("NVIDIA_DRIVER_CAPABILITIES", "");
    }
}

/// The replica whose end is the job's.
[[nodiscard]] inline bool leads(const kubeflow_job& job, std::string_view role,
                                std::int64_t index) {
    if (job.kind != kubeflow_kind::tensorflow)
        return role == "master" && job.kind != kubeflow_kind::jax;
    if (find_role(job, "Chief") || find_role(job, "Master"))
        return role == "chief" || role == "master";
    return role == "worker" && index == 0;
}

inline void label_kubeflow(const kubeflow_job& job, pod_draft& pod, const pod_series& series,
                           std::int64_t index) {
    pod.label("training.kubeflow.org/job-name", job.object.name);
    pod.label("training.kubeflow.org/operator-name", words_of(job.kind).operator_name);
    const bool mpi = job.kind == kubeflow_kind::mpi || job.kind == kubeflow_kind::mpi_v2;
    if (!mpi)
        pod.label("training.kubeflow.org/replica-type", series.role);
    else
        pod.label("training.kubeflow.org/job-role", series.role);
    const bool after_launcher = job.mpi.launcher_works && series.role == "worker";
    if (!mpi || series.role == "worker" || job.mpi.launcher_works)
        pod.label("training.kubeflow.org/replica-index",
                  std::to_string(after_launcher ? index + 1 : index));
    if (!mpi && leads(job, series.role, index))
        pod.label("training.kubeflow.org/job-role", "master");
}

} // namespace detail

/// The job's pods as its controller makes them: `<job>-<role>-<index>`, an MPIJob's launcher
/// `<job>-launcher`, with labels and environment. Left out are the containers,
/// volumes and ConfigMaps that the training operator adds for its own use (waiting for the master,
/// host files).
[[nodiscard]] inline job_gangs pods_of(const kubeflow_job& job, job_plan plan,
                                       const job_options& options = {}) {
    const detail::tf_config config = job.kind == kubeflow_kind::tensorflow
                                         ? detail::tf_config(job)
                                         : detail::tf_config(kubeflow_job{});
    job_gangs made = make_pods(
        job.object, std::move(plan), options,
        [&](const planned_gang&, const pod_series& series, std::int64_t index) {
            return detail::replica_name(job, series.role, index);
        },
        [&](pod_draft& pod, const planned_gang&, const pod_series& series, std::int64_t index) {
            detail::label_kubeflow(job, pod, series, index);
            std::string_view restart = words_of(job.kind).restart_policy;
            for (const kubeflow_role& role : job.roles)
                if (role.pod_template == series.pod_template && !role.restart_policy.empty())
                    restart = role.restart_policy;
            pod.spec()["restartPolicy"] = restart == "ExitCode" ? "Never" : restart;
            switch (job.kind) {
            case kubeflow_kind::tensorflow:
                if (detail::all_replicas(job) > 1)
                    if (boost::json::object* const main = pod.container("tensorflow"))
                        pod_draft::add_env(*main, "TF_CONFIG", config.of(series.role, index));
                break;
            case kubeflow_kind::pytorch:
                detail::dress_pytorch(job, pod, series, index);
                break;
            case kubeflow_kind::mpi_v2:
                pod.spec()["hostname"] = detail::replica_name(job, series.role, index);
                pod.spec()["subdomain"] = job.object.name;
                detail::mount_mpi_files(job, pod, series.role);
                [[fallthrough]];
            case kubeflow_kind::mpi:
                detail::dress_mpi(job, pod, series);
                break;
            case kubeflow_kind::xgboost:
                detail::dress_xgboost(job, pod, series, index);
                break;
            case kubeflow_kind::paddle:
                detail::dress_paddle(job, pod, series, index);
                break;
            case kubeflow_kind::jax:
                detail::dress_jax(job, pod, index);
                break;
            }
        });
    if (options.pods)
        made.companions = companions_of(job);
    return made;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
