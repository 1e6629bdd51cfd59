// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/base/assert.hpp>
#include <muster/gangs/gang_leaves.hpp>
#include <muster/gangs/gang_marks.hpp>
#include <muster/gangs/job_object.hpp>
#include <muster/gangs/pod_draft.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// The job kinds of Kubeflow's training operator (kubeflow.org/v1) and of its MPI operator
/// (kubeflow.org/v2beta1).
enum class kubeflow_kind : std::uint8_t { tensorflow, pytorch, mpi, mpi_v2, xgboost, paddle, jax };

/// What the kinds differ in.
struct kubeflow_words {
    std::string_view kind;
    std::string_view replica_specs; ///< the field below spec
    std::string_view operator_name; ///< as the label says it
    std::string_view container;     ///< whose port the others are told
    std::string_view port_name;
    std::int64_t port = 0;
    std::string_view restart_policy; ///< where a replica spec names none
};

[[nodiscard]] constexpr kubeflow_words words_of(kubeflow_kind kind) {
    switch (kind) {
    case kubeflow_kind::tensorflow:
        return {"TFJob", "tfReplicaSpecs", "tfjob-controller", "tensorflow", "tfjob-port",
                2222,    "Never"};
    case kubeflow_kind::pytorch:
        return {"PyTorchJob", "pytorchReplicaSpecs", "pytorchjob-controller",
                "pytorch",    "pytorchjob-port",     23456,
                "OnFailure"};
    case kubeflow_kind::mpi:
        return {"MPIJob", "mpiReplicaSpecs", "mpijob-controller", "mpi", "mpi-port", 9999, "Never"};
    case kubeflow_kind::mpi_v2:
        return {"MPIJob", "mpiReplicaSpecs", "mpi-operator", {}, {}, 0, "Never"};
    case kubeflow_kind::xgboost:
        return {"XGBoostJob", "xgbReplicaSpecs", "xgboostjob-controller",
                "xgboost",    "xgboostjob-port", 9999,
                "Never"};
    case kubeflow_kind::paddle:
        return {"PaddleJob", "paddleReplicaSpecs", "paddlejob-controller", "paddle", "master",
                36543,       "OnFailure"};
    case kubeflow_kind::jax:
        return {"JAXJob", "jaxReplicaSpecs", "jaxjob-controller", "jax", "jaxjob-port", 6666,
                "Never"};
    }
    MUSTER_ASSERT(false, "all kinds are above");
    return {};
}

struct kubeflow_role {
    std::string_view type; ///< as written: Worker
    std::int64_t replicas = 1;
    std::string_view restart_policy; ///< empty: the kind's default
    const boost::json::object* pod_template = nullptr;
};

/// runPolicy.schedulingPolicy.
struct kubeflow_scheduling {
    std::optional<std::int64_t> min_available;
    std::string_view queue;
    std::string_view priority_class;
    std::optional<std::int64_t> timeout_seconds;
    const boost::json::object* min_resources = nullptr;
};

/// PyTorchJob's elasticPolicy.
struct kubeflow_elastic {
    std::optional<std::int64_t> least;
    std::optional<std::int64_t> most;
    std::optional<std::int64_t> max_restarts;
    std::optional<std::int64_t> processes_per_node;
    std::string_view rendezvous_backend;
    std::string_view rendezvous_host;
    std::string_view rendezvous_id;
    std::optional<std::int64_t> rendezvous_port;
    const boost::json::array* rendezvous_config = nullptr; ///< objects with key and value
    bool standalone = false;
};

/// What only MPIJobs say.
struct kubeflow_mpi {
    std::int64_t slots_per_worker = 1;
    std::string_view implementation = "OpenMPI"; ///< or Intel, MPICH
    bool launcher_works = false;                 ///< runLauncherAsWorker
    std::string_view ssh_path = "/root/.ssh";    ///< sshAuthMountPath
    bool launcher_waits = false;                 ///< launcherCreationPolicy is WaitForWorkersReady
};

/// A job of one of Kubeflow's kinds, as its manifest says it.
struct kubeflow_job {
    kubeflow_kind kind = kubeflow_kind::tensorflow;
    job_object object;
    std::vector<kubeflow_role> roles; ///< in the order of the manifest
    kubeflow_scheduling scheduling;
    std::optional<kubeflow_elastic> elastic;
    kubeflow_mpi mpi;
    std::string_view processes_per_node; ///< PyTorchJob: a number or a word such as auto
    bool dynamic_workers = false;        ///< TFJob's enableDynamicWorker
    /// Fields that say what happens after the start.
    std::vector<std::string_view> lifecycle;
};

[[nodiscard]] inline std::string lower(std::string_view text) {
    std::string made(text);
    for (char& c : made)
        if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
    return made;
}

[[nodiscard]] inline const kubeflow_role* find_role(const kubeflow_job& job,
                                                    std::string_view type) noexcept {
    const auto found = std::ranges::find(job.roles, type, &kubeflow_role::type);
    return found == job.roles.end() ? nullptr : &*found;
}

/// How many members start together: schedulingPolicy.minAvailable; of an elastic PyTorchJob
/// minReplicas; else all replicas. The podgrouper leaves out the launcher of an MPIJob that is
/// created when the workers are ready.
[[nodiscard]] inline std::int64_t minimum_of(const kubeflow_job& job, job_rules rules) {
    if (job.scheduling.min_available)
        return *job.scheduling.min_available;
    if (job.elastic && job.elastic->least)
        return *job.elastic->least;
    std::int64_t sum = 0;
    for (const kubeflow_role& role : job.roles) {
        const bool late =
            rules == job_rules::podgrouper && job.mpi.launcher_waits && role.type == "Launcher";
        sum += late ? 0 : role.replicas;
    }
    return sum;
}

namespace detail {

/// The segments of a PyTorchJob's workers, subgroups of the workers' vertex: the pods of each stand
/// close. The podgrouper makes them when an annotation of the template says how large they are.
inline void split_workers(planned_gang& planned, std::size_t at, std::int64_t size) {
    const pod_series workers = planned.series[at];
    gang_tree& tree = planned.gang.tree;
    std::vector<pod_series> segments;
    for (std::int64_t from = 0; from < workers.count; from += size) {
        pod_series one = workers;
        one.first = from;
        one.count = std::min(size, workers.count - from);
        one.leaf = tree.add(workers.leaf, one.count, "worker-" + std::to_string(from / size));
        if (auto asked = translate::segment_closeness(annotations_of(workers.pod_template)))
            tree.constrain_topology(one.leaf, std::move(*asked));
        segments.push_back(std::move(one));
    }
    const auto place = planned.series.begin() + static_cast<std::ptrdiff_t>(at);
    planned.series.insert(planned.series.erase(place), segments.begin(), segments.end());
}

} // namespace detail

/// The one gang of the job, named as the job, with a leaf per role. Its controller asks only for a
/// number of members; the podgrouper also wants all masters of a PyTorchJob, and the rest of the
/// minimum from the workers, in segments if they ask for them. ACK's labels on the templates win.
/// O(roles).
[[nodiscard]] inline job_plan gangs_of(const kubeflow_job& job, const job_options& options = {}) {
    job_plan plan;
    std::vector<const boost::json::object*> templates;
    planned_gang planned;
    for (const kubeflow_role& role : job.roles) {
        templates.insert(role.type == "Launcher" ? templates.begin() : templates.end(),
                         role.pod_template);
        planned.series.push_back(
            {vertex_index{0}, lower(role.type), role.pod_template, 0, role.replicas, 0, false});
    }
    const auto labelled = settle_marks(planned.series);
    gang_object& gang = planned.gang;
    gang = gang_of(job.object, std::string(labelled ? labelled->name : job.object.name), templates);
    if (labelled)
        gang.origin = target::ack_1_31;
    const std::int64_t minimum = labelled ? labelled->minimum : minimum_of(job, options.rules);
    const vertex_index root{0};
    gang.tree.require_members(root, minimum);

    const auto own = std::ranges::count(planned.series, false, &pod_series::loose);
    std::int64_t masters = 0;
    for (const pod_series& series : planned.series)
        masters += series.role == "master" ? series.count : 0;
    const bool grouped =
        options.rules == job_rules::podgrouper && !labelled && job.kind == kubeflow_kind::pytorch;
    const bool by_role = grouped && masters > 0;
    std::size_t split = planned.series.size();
    std::int64_t segment = 0;
    for (std::size_t i = 0; i < planned.series.size(); ++i) {
        pod_series& series = planned.series[i];
        const auto said = grouped && !series.loose && series.role == "worker"
                              ? translate::segment_size(detail::annotations_of(series.pod_template))
                              : std::nullopt;
        if (said && *said > 0) {
            split = i;
            segment = *said;
        }
        if (series.loose || (own < 2 && split != i))
            continue;
        const std::int64_t least = !grouped                  ? 0
                                   : series.role == "master" ? series.count
                                   : by_role || split == i
                                       ? std::max<std::int64_t>(0, minimum - masters)
                                       : 0;
        series.leaf = gang.tree.add(root, least, series.role);
    }
    if (split < planned.series.size())
        detail::split_workers(planned, split, segment);
    settle_leaves(planned);

    if (!job.scheduling.queue.empty())
        gang.queue = std::string(job.scheduling.queue);
    if (!job.scheduling.priority_class.empty())
        gang.priority.class_name = job.scheduling.priority_class;
    gang.wait_seconds = job.scheduling.timeout_seconds;
    if (job.scheduling.min_resources)
        gang.min_resources = *job.scheduling.min_resources;
    plan.gangs.push_back(std::move(planned));

    if (job.mpi.launcher_waits)
        lose(plan, loss_kind::startup_order, job.object,
             "launcherCreationPolicy: the launcher starts when all workers are ready; here they "
             "start together");
    if (job.kind == kubeflow_kind::mpi || job.kind == kubeflow_kind::mpi_v2)
        lose(plan, loss_kind::pod_contents, job.object,
             job.kind == kubeflow_kind::mpi
                 ? std::string(
                       "the list of hosts and the script that reaches them, which its controller "
                       "mounts")
                 : "the ssh keys in the Secret " + std::string(job.object.name) +
                       "-ssh, which its controller makes and its pods mount");
    lose_lifecycle(plan, job.object, job.lifecycle);
    return plan;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
