// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/kubeflow/job.hpp>
#include <muster/document/json_text.hpp>
#include <muster/gangs/job_companions.hpp>
#include <muster/gangs/job_object.hpp>
#include <muster/gangs/pod_draft.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {
namespace detail {

[[nodiscard]] inline std::string replica_name(const kubeflow_job& job, std::string_view role,
                                              std::int64_t index) {
    std::string name(job.object.name);
    name.append("-").append(role);
    const bool launcher =
        role == "launcher" && (job.kind == kubeflow_kind::mpi || job.kind == kubeflow_kind::mpi_v2);
    if (!launcher)
        name.append("-").append(std::to_string(index));
    return name;
}

/// The labels by which the operator's Services find pods of the job.
[[nodiscard]] inline boost::json::object kubeflow_selector(const kubeflow_job& job) {
    return {{"training.kubeflow.org/job-name", job.object.name},
            {"training.kubeflow.org/operator-name", words_of(job.kind).operator_name}};
}

/// The named ports of the role's main container, and the kind's own where it names none so.
[[nodiscard]] inline boost::json::array service_ports(const kubeflow_job& job,
                                                      const kubeflow_role& role) {
    const kubeflow_words words = words_of(job.kind);
    boost::json::array made;
    bool own = false;
    const auto* const containers = find_array(find_object(role.pod_template, "spec"), "containers");
    for (std::size_t at = 0; containers && at < containers->size(); ++at) {
        const boost::json::object* const container = (*containers)[at].if_object();
        const auto* const ports = find_array(container, "ports");
        if (translate::find_text(container, "name") != words.container || !ports)
            continue;
        for (const boost::json::value& port : *ports) {
            const auto name = translate::find_text(port.if_object(), "name");
            const auto* const number = find(port.if_object(), "containerPort");
            if (!name || !number)
                continue;
            own = own || *name == words.port_name;
            made.push_back(boost::json::object{{"name", *name}, {"port", *number}});
        }
    }
    if (!own)
        made.push_back(boost::json::object{{"name", words.port_name}, {"port", words.port}});
    return made;
}

/// The ConfigMap of an MPIJob v2beta1: its hosts, and a script that tells those that run, as if all
/// did.
[[nodiscard]] inline boost::json::object hosts_of(const kubeflow_job& job) {
    std::string hosts;
    std::string script = "#!/bin/sh\n";
    const auto add = [&](std::string_view role, std::int64_t index) {
        const std::string host = replica_name(job, role, index) + '.' +
                                 std::string(job.object.name) + '.' +
                                 std::string(job.object.name_space) + ".svc";
        const std::string slots = std::to_string(job.mpi.slots_per_worker);
        hosts += host + (job.mpi.implementation == "OpenMPI" ? " slots=" : ":") + slots + '\n';
        script += "echo " + host + '\n';
    };
    if (job.mpi.launcher_works)
        add("launcher", 0);
    if (const kubeflow_role* const workers = find_role(job, "Worker"))
        for (std::int64_t i = 0; i < workers->replicas; ++i)
            add("worker", i);
    boost::json::object made =
        companion(job.object, "ConfigMap", std::string(job.object.name) + "-config",
                  {{"app", job.object.name}}, reference_to(job.object));
    made["data"] = {{"hostfile", hosts}, {"discover_hosts.sh", script}};
    return made;
}

/// What an MPIJob's controller mounts into the first container: its ssh keys, of a Secret, and for
/// the launcher the hosts. A volume of the template that is called so stays.
inline void mount_mpi_files(const kubeflow_job& job, pod_draft& pod, std::string_view role) {
    boost::json::object* const main = pod.container({});
    if (!main)
        return;
    const auto mount = [&](boost::json::object volume, std::string_view path) {
        const std::string name(translate::find_text(&volume, "name").value_or(""));
        boost::json::value& volumes = pod.spec()["volumes"];
        if (!volumes.is_array())
            volumes = boost::json::array{};
        for (const boost::json::value& each : volumes.get_array())
            if (translate::find_text(each.if_object(), "name") == name)
                return;
        volumes.get_array().emplace_back(std::move(volume));
        boost::json::value& mounts = (*main)["volumeMounts"];
        if (!mounts.is_array())
            mounts = boost::json::array{};
        mounts.get_array().emplace_back(boost::json::object{{"name", name}, {"mountPath", path}});
    };
    if (const auto* const shared = find(&pod.spec(), "hostNetwork");
        shared && *shared == boost::json::value(true))
        pod.spec()["dnsPolicy"] = "ClusterFirstWithHostNet";
    const auto item = [](std::string_view key, std::string_view path) {
        return boost::json::object{{"key", key}, {"path", path}};
    };
    boost::json::object secret{
        {"secretName", std::string(job.object.name) + "-ssh"},
        {"items",
         boost::json::array{item("ssh-privatekey", "id_rsa"), item("ssh-publickey", "id_rsa.pub"),
                            item("ssh-publickey", "authorized_keys")}}};
    if (job.mpi.ssh_path == "/root/.ssh")
        secret["defaultMode"] = 0600;
    mount({{"name", "ssh-auth"}, {"secret", std::move(secret)}}, job.mpi.ssh_path);
    if (role == "launcher") {
        boost::json::object hosts = item("hostfile", "hostfile");
        hosts["mode"] = 0444;
        boost::json::object script = item("discover_hosts.sh", "discover_hosts.sh");
        script["mode"] = 0555;
        mount({{"name", "mpi-job-config"},
               {"configMap",
                {{"name", std::string(job.object.name) + "-config"},
                 {"items", boost::json::array{std::move(hosts), std::move(script)}}}}},
              "/etc/mpi");
        return;
    }
    // Workers reach the launcher by its bare host name.
    boost::json::object& dns = child_at(pod.spec(), "dnsConfig");
    boost::json::value& searches = dns["searches"];
    if (!searches.is_array())
        searches = boost::json::array{};
    searches.get_array().emplace_back(std::string(job.object.name) + '.' +
                                      std::string(job.object.name_space) + ".svc.cluster.local");
}

} // namespace detail

/// The Services by which replicas find each other: one per replica, called as its pod; of an MPIJob
/// v2beta1 one for all of them, and the ConfigMap that lists its hosts; nothing of v1, whose
/// launcher reaches its workers through the API server. O(replicas).
[[nodiscard]] inline std::vector<boost::json::object> companions_of(const kubeflow_job& job) {
    std::vector<boost::json::object> made;
    const object_reference owner = reference_to(job.object);
    if (job.kind == kubeflow_kind::mpi_v2) {
        made.push_back(detail::hosts_of(job));
        made.push_back(headless_service(job.object, job.object.name, {{"app", job.object.name}},
                                        detail::kubeflow_selector(job), false, owner));
    }
    if (job.kind == kubeflow_kind::mpi || job.kind == kubeflow_kind::mpi_v2)
        return made;
    for (const kubeflow_role& role : job.roles)
        for (std::int64_t i = 0; i < role.replicas; ++i) {
            const std::string type = lower(role.type);
            boost::json::object labels = detail::kubeflow_selector(job);
            labels["training.kubeflow.org/replica-type"] = type;
            labels["training.kubeflow.org/replica-index"] = std::to_string(i);
            made.push_back(headless_service(job.object, detail::replica_name(job, type, i), labels,
                                            labels, false, owner,
                                            detail::service_ports(job, role)));
        }
    return made;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
