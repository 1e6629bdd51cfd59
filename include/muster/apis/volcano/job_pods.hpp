// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/apis/volcano/job.hpp>
#include <muster/document/json_text.hpp>
#include <muster/gangs/job_companions.hpp>
#include <muster/gangs/job_object.hpp>
#include <muster/gangs/pod_draft.hpp>

namespace muster {
inline namespace v0_1 {
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

/// Whether the plugin svc serves the job: frameworks whose pods look each other up bring it along.
[[nodiscard]] inline bool has_services(const volcano_job& job) {
    if (job.plugins)
        for (const std::string_view plugin : {"svc", "tensorflow", "mpi", "pytorch", "ray"})
            if (job.plugins->contains(plugin))
                return true;
    return false;
}

/// A task's name in variables and keys.
[[nodiscard]] inline std::string task_word(const volcano_task& task, bool upper) {
    std::string word;
    for (const char c : task.name)
        word += c == '-'                        ? '_'
                : upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A')
                                                : c;
    return word;
}

/// What svc tells of the hosts of each task: a list by lines and by commas, and their number.
[[nodiscard]] inline boost::json::object hosts_of(const volcano_job& job) {
    boost::json::object data;
    for (const volcano_task& task : job.tasks) {
        const boost::json::object* const spec = find_object(task.pod_template, "spec");
        const std::string_view own = translate::find_text(spec, "hostname").value_or("");
        std::string_view domain = translate::find_text(spec, "subdomain").value_or("");
        if (domain.empty())
            domain = job.object.name;
        const std::int64_t hosts =
            own.empty() ? task.replicas : std::min<std::int64_t>(1, task.replicas);
        std::string lines;
        std::string list;
        for (std::int64_t i = 0; i < hosts; ++i) {
            const std::string host =
                (own.empty() ? task_pod_name(job, task.name, i) : std::string(own)) + '.' +
                std::string(domain);
            lines.append(i > 0 ? "\n" : "").append(host);
            list.append(i > 0 ? "," : "").append(host);
        }
        data[task_word(task, false) + ".host"] = lines;
        data["VC_" + task_word(task, true) + "_HOSTS"] = list;
        data["VC_" + task_word(task, true) + "_NUM"] = std::to_string(hosts);
    }
    return data;
}

[[nodiscard]] inline const volcano_task* find_task(const volcano_job& job, std::string_view name) {
    for (const volcano_task& task : job.tasks)
        if (task.name == name)
            return &task;
    return nullptr;
}

/// What the plugins env, svc, pytorch and mpi put into pods; ssh mounts secrets.
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
    if (has_services(job)) {
        pod.set_default("hostname", task_pod_name(job, task.name, index));
        pod.set_default("subdomain", job.object.name);
        const std::string hosts = std::string(job.object.name) + "-svc";
        const auto dress = [&](boost::json::object& container) {
            for (const volcano_task& each : job.tasks)
                for (const std::string_view what : {"_HOSTS", "_NUM"}) {
                    const std::string name = "VC_" + task_word(each, true) + std::string(what);
                    pod_draft::add_env(
                        container,
                        {{"name", name},
                         {"valueFrom", {{"configMapKeyRef", {{"name", hosts}, {"key", name}}}}}});
                }
            boost::json::value& mounts = container["volumeMounts"];
            if (!mounts.is_array())
                mounts = boost::json::array{};
            mounts.get_array().emplace_back(
                boost::json::object{{"name", hosts}, {"mountPath", "/etc/volcano"}});
        };
        pod.for_each_container(dress);
        pod.for_each_init_container(dress);
        boost::json::value& volumes = pod.spec()["volumes"];
        if (!volumes.is_array())
            volumes = boost::json::array{};
        volumes.get_array().emplace_back(
            boost::json::object{{"name", hosts}, {"configMap", {{"name", hosts}}}});
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

/// The claims that the job shares among all its pods, by the names that they have or are given.
[[nodiscard]] inline std::vector<std::string> volume_claims_of(const volcano_job& job) {
    std::vector<std::string> names;
    for (std::size_t i = 0; job.volumes && i < job.volumes->size(); ++i) {
        const auto own =
            translate::find_text((*job.volumes)[i].if_object(), "volumeClaimName").value_or("");
        names.push_back(own.empty() ? std::string(job.object.name) + "-volume-" + std::to_string(i)
                                    : std::string(own));
    }
    return names;
}

inline void mount_volumes(const volcano_job& job, pod_draft& pod) {
    if (!job.volumes)
        return;
    const std::vector<std::string> claims = volume_claims_of(job);
    for (std::size_t i = 0; i < job.volumes->size(); ++i) {
        const boost::json::object* const one = (*job.volumes)[i].if_object();
        const std::string name = std::string(job.object.name) + "-volume-" + std::to_string(i);
        const std::string& claim = claims[i];
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

/// The claims that the job describes itself: its volumes with a volumeClaim.
[[nodiscard]] inline std::vector<boost::json::object> claims_of(const volcano_job& job) {
    std::vector<boost::json::object> made;
    const std::vector<std::string> names = detail::volume_claims_of(job);
    for (std::size_t i = 0; i < names.size(); ++i)
        if (const auto* const spec = find_object((*job.volumes)[i].if_object(), "volumeClaim")) {
            made.push_back(claim_document(job.object.name_space, names[i], {{"spec", *spec}}));
            child_at(made.back(), "metadata")["ownerReferences"] =
                boost::json::array{owner_document(reference_to(job.object))};
        }
    return made;
}

/// What the plugin svc makes: a Service, the ConfigMap that lists the hosts and, unless it is told
/// not to, a NetworkPolicy that lets only the job's own pods in.
[[nodiscard]] inline std::vector<boost::json::object> companions_of(const volcano_job& job) {
    std::vector<boost::json::object> made;
    if (!detail::has_services(job))
        return made;
    const object_reference owner = reference_to(job.object);
    const auto* const arguments = find_array(job.plugins, "svc");
    const auto asks = [&](std::string_view flag) {
        if (detail::plugin_argument(arguments, flag, "false") == "true")
            return true;
        return arguments && std::ranges::any_of(*arguments, [&](const boost::json::value& each) {
                   const auto* const text = each.if_string();
                   return text && view(*text).ends_with(flag);
               });
    };
    const boost::json::object own{{"volcano.sh/job-name", job.object.name},
                                  {"volcano.sh/job-namespace", job.object.name_space}};
    boost::json::object hosts =
        companion(job.object, "ConfigMap", std::string(job.object.name) + "-svc", {}, owner);
    hosts["data"] = detail::hosts_of(job);
    made.push_back(std::move(hosts));
    made.push_back(headless_service(job.object, job.object.name, {}, own,
                                    asks("publish-not-ready-addresses"), owner));
    if (!asks("disable-network-policy")) {
        boost::json::object policy =
            companion(job.object, "NetworkPolicy", job.object.name, {}, owner);
        policy["apiVersion"] = "networking.k8s.io/v1";
        const boost::json::object pods{{"matchLabels", own}};
        policy["spec"] = {
            {"podSelector", pods},
            {"ingress",
             boost::json::array{boost::json::object{
                 {"from", boost::json::array{boost::json::object{{"podSelector", pods}}}}}}},
            {"policyTypes", boost::json::array{"Ingress"}}};
        made.push_back(std::move(policy));
    }
    return made;
}

/// The job's pods as its controller makes them, `<job>-<task>-<index>`.
[[nodiscard]] inline job_gangs pods_of(const volcano_job& job, job_plan plan,
                                       const job_options& options = {}) {
    job_gangs made = make_pods(
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
            both(keys::volcano_task, task.name);
            both("volcano.sh/job-name", job.object.name);
            both("volcano.sh/queue-name", job.queue.empty() ? "default" : job.queue);
            pod.label("volcano.sh/job-namespace", job.object.name_space);
            if (task.partitions && task.partitions->size > 0)
                pod.label("volcano.sh/partition-id", std::to_string(index / task.partitions->size));
            if (!series.loose)
                pod.annotate(keys::volcano_group, planned.gang.name);
            pod.set_default("schedulerName", job.scheduler_name);
            if (!job.priority_class.empty())
                pod.set_default("priorityClassName", job.priority_class);
            detail::dress_by_plugins(job, pod, task, index);
            detail::mount_volumes(job, pod);
        });
    if (options.pods) {
        made.companions = companions_of(job);
        std::ranges::move(claims_of(job), std::back_inserter(made.companions));
    }
    return made;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
