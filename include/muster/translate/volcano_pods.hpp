// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/translate/job_object.hpp>
#include <muster/translate/json_text.hpp>
#include <muster/translate/pod_draft.hpp>
#include <muster/translate/volcano_job.hpp>

namespace muster::inline v0_1 {
namespace translate {
namespace detail {

[[nodiscard]] inline std::string task_pod_name(const volcano_job& job, std::string_view task,
                                               std::int64_t index) {
    std::string name(job.object.name);
    name.append("-").append(task).append("-").append(std::to_string(index));
    return name;
}

/// The value of `--key=value` among a plugin's arguments.
[[nodiscard]] inline std::string_view
plugin_argument(const boost::json::array* arguments, std::string_view key, std::string_view usual) {
    if (arguments)
        for (const boost::json::value& each : *arguments) {
            const auto* const text = each.if_string();
            std::string_view said = text ? view(*text) : std::string_view{};
            while (said.starts_with('-'))
                said.remove_prefix(1);
            if (said.starts_with(key) && said.substr(key.size()).starts_with('='))
                return said.substr(key.size() + 1);
        }
    return usual;
}

[[nodiscard]] inline const volcano_task* find_task(const volcano_job& job, std::string_view name) {
    for (const volcano_task& task : job.tasks)
        if (task.name == name)
            return &task;
    return nullptr;
}

/// What the plugins env, svc, pytorch and mpi put into pods; ssh and others only mount secrets.
inline void dress_by_plugins(const volcano_job& job, pod_draft& pod, const volcano_task& task,
                             std::int64_t index) {
    if (!job.plugins)
        return;
    const std::string own = std::to_string(index);
    if (job.plugins->contains("env")) {
        for (const std::string_view name : {"VK_TASK_INDEX", "VC_TASK_INDEX"}) {
            pod.env(name, own);
            pod.env_of_init_containers(name, own);
        }
    }
    if (job.plugins->contains("svc")) {
        pod.set_default("hostname", task_pod_name(job, task.name, index));
        pod.set_default("subdomain", job.object.name);
        for (const volcano_task& each : job.tasks) {
            std::string word;
            for (const char c : each.name)
                word += c == '-'               ? '_'
                        : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A')
                                               : c;
            for (const std::string_view what : {"_HOSTS", "_NUM"}) {
                const std::string name = "VC_" + word + std::string(what);
                const boost::json::object from{
                    {"name", name},
                    {"valueFrom",
                     {{"configMapKeyRef",
                       {{"name", std::string(job.object.name) + "-svc"}, {"key", name}}}}}};
                pod.for_each_container(
                    [&](boost::json::object& each_one) { pod_draft::add_env(each_one, from); });
            }
        }
    }
    const std::string host_suffix = '.' + std::string(job.object.name);
    if (job.plugins->contains("pytorch")) {
        const auto* const arguments = find_array(job.plugins, "pytorch");
        const std::string_view master = plugin_argument(arguments, "master", "master");
        const std::string_view worker = plugin_argument(arguments, "worker", "worker");
        const volcano_task* const masters = find_task(job, master);
        const volcano_task* const workers = find_task(job, worker);
        if (masters && (task.name == master || task.name == worker)) {
            pod.env("MASTER_ADDR", task_pod_name(job, master, 0) + host_suffix);
            pod.env("MASTER_PORT", plugin_argument(arguments, "port", "23456"));
            pod.env("WORLD_SIZE",
                    std::to_string(masters->replicas + (workers ? workers->replicas : 0)));
            pod.env("RANK",
                    std::to_string(task.name == worker ? index + masters->replicas : index));
        }
    }
    if (job.plugins->contains("mpi")) {
        const auto* const arguments = find_array(job.plugins, "mpi");
        const std::string_view worker = plugin_argument(arguments, "worker", "worker");
        const volcano_task* const workers = find_task(job, worker);
        if (workers && task.name == plugin_argument(arguments, "master", "master")) {
            std::string hosts;
            for (std::int64_t i = 0; i < workers->replicas; ++i)
                hosts.append(i > 0 ? "," : "").append(task_pod_name(job, worker, i) + host_suffix);
            pod.env("MPI_HOST", hosts);
        }
    }
}

/// The claims that the job shares among all its pods.
inline void mount_volumes(const volcano_job& job, pod_draft& pod) {
    if (!job.volumes)
        return;
    for (std::size_t i = 0; i < job.volumes->size(); ++i) {
        const boost::json::object* const one = (*job.volumes)[i].if_object();
        const std::string name = std::string(job.object.name) + "-volume-" + std::to_string(i);
        const std::string claim(translate::find_text(one, "volumeClaimName").value_or(name));
        boost::json::value& list = pod.spec()["volumes"];
        if (!list.is_array())
            list = boost::json::array{};
        list.get_array().emplace_back(
            boost::json::object{{"name", name}, {"persistentVolumeClaim", {{"claimName", claim}}}});
        pod.for_each_container([&](boost::json::object& each) {
            boost::json::value& mounts = each["volumeMounts"];
            if (!mounts.is_array())
                mounts = boost::json::array{};
            mounts.get_array().emplace_back(boost::json::object{
                {"name", name},
                {"mountPath",
                 translate::find_text(one, "mountPath").value_or(std::string_view{})}});
        });
    }
}

} // namespace detail

/// The job's pods as its controller makes them, `<job>-<task>-<index>`.
[[nodiscard]] inline job_gangs pods_of(const volcano_job& job, job_plan plan,
                                       const job_options& options = {}) {
    return make_pods(
        job.object, std::move(plan), options,
        [&](const planned_gang&, const pod_series& series, std::int64_t index) {
            return detail::task_pod_name(job, series.role, index);
        },
        [&](pod_draft& pod, const planned_gang& planned, const pod_series& series,
            std::int64_t index) {
            const volcano_task& task = job.tasks[static_cast<std::size_t>(series.part)];
            const std::string own = std::to_string(index);
            pod.annotate("volcano.sh/job-version", "0");
            pod.annotate("volcano.sh/template-uid", std::string(job.object.name) + '-' + task.name);
            if (!task.numa_policy.empty() && task.numa_policy != "none")
                pod.annotate("volcano.sh/numa-topology-policy", task.numa_policy);
            const auto both = [&](std::string_view key, std::string_view value) {
                pod.label(key, value);
                pod.annotate(key, value);
            };
            both("volcano.sh/task-index", own);
            both("volcano.sh/task-spec", task.name);
            both("volcano.sh/job-name", job.object.name);
            both("volcano.sh/queue-name", job.queue.empty() ? "default" : job.queue);
            pod.label("volcano.sh/job-namespace", job.object.name_space);
            if (task.partitions && task.partitions->size > 0)
                pod.label("volcano.sh/partition-id", std::to_string(index / task.partitions->size));
            if (!series.loose)
                pod.annotate("scheduling.k8s.io/group-name", planned.gang.name);
            pod.set_default("schedulerName", job.scheduler_name);
            if (!job.priority_class.empty())
                pod.set_default("priorityClassName", job.priority_class);
            detail::dress_by_plugins(job, pod, task, index);
            detail::mount_volumes(job, pod);
        });
}

} // namespace translate
} // namespace muster::inline v0_1
