// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/t9k/jobs/containers.hpp>
#include <muster/apis/t9k/jobs/environment.hpp>
#include <muster/apis/t9k/jobs/job.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {
namespace detail {

[[nodiscard]] inline boost::json::array* array_in(boost::json::object& in, std::string_view key) {
    boost::json::value* const found = in.if_contains(key);
    return found == nullptr ? nullptr : found->if_array();
}

/// The list of a key, made when it is not there.
[[nodiscard]] inline boost::json::array& list_in(boost::json::object& in, std::string_view key) {
    boost::json::value& found = in[key];
    if (!found.is_array())
        found.emplace_array();
    return found.get_array();
}

inline void copy_fields(boost::json::object& to, const boost::json::object* from,
                        std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys)
        if (const boost::json::value* const found = find(from, key))
            to[key] = *found;
}

[[nodiscard]] inline boost::json::object with_one_container(boost::json::object container) {
    boost::json::object spec;
    spec["containers"] = boost::json::array{std::move(container)};
    return spec;
}

/// What a launcher that nobody describes asks for, as the product gives it.
[[nodiscard]] inline boost::json::object launcher_resources() {
    return {{"requests", {{"cpu", "100m"}, {"memory", "100Mi"}}},
            {"limits", {{"cpu", "200m"}, {"memory", "200Mi"}}}};
}

/// The launcher of a job that describes only its workers: their pods with one container, which
/// needs little.
[[nodiscard]] inline boost::json::object implied_launcher(const t9k_job& job) {
    const auto workers = find_type(job, "worker");
    const boost::json::object* const from =
        workers ? job.replica_specs[*workers].pod_template : nullptr;
    boost::json::object container;
    container["name"] = "launcher";
    if (const auto* all = containers_of(from); all != nullptr && !all->empty()) {
        const boost::json::value* training = &all->front();
        for (const boost::json::value& each : *all)
            if (find_text(each.if_object(), "name") ==
                training_container(job.kind, job.first_generation, replica_part::worker))
                training = &each;
        copy_fields(container, training->if_object(),
                    {"image", "imagePullPolicy", "env", "envFrom", "workingDir", "volumeMounts",
                     "securityContext"});
    }
    container["resources"] = launcher_resources();
    boost::json::object spec;
    if (const boost::json::object* const whole = find_object(from, "spec"))
        for (const auto& field : *whole)
            if (field.key() != "containers" && field.key() != "initContainers")
                spec[field.key()] = field.value();
    spec["containers"] = boost::json::array{std::move(container)};
    return spec;
}

/// A ColossalAIJob's launcher, described by the fields of its one container.
[[nodiscard]] inline boost::json::object described_launcher(const boost::json::object& from) {
    boost::json::object container;
    container["name"] = "launcher";
    copy_fields(container, &from, {"image", "workingDir", "env", "resources"});
    return with_one_container(std::move(container));
}

/// A manager of a BeamJob's Flink cluster.
[[nodiscard]] inline boost::json::object flink_manager(const boost::json::object* cluster,
                                                       bool job_manager) {
    const boost::json::object* const from =
        find_object(cluster, job_manager ? "jobManager" : "taskManager");
    if (const boost::json::object* const own = find_object(find_object(from, "template"), "spec"))
        return *own;
    boost::json::object container;
    container["name"] = job_manager ? "jobmanager" : "taskmanager";
    // The operator writes `image: {name: ...}`.
    if (const auto name = find_text(cluster, "image"))
        container["image"] = *name;
    if (const auto name = find_text(find_object(cluster, "image"), "name"))
        container["image"] = *name;
    container["args"] = boost::json::array{job_manager ? "jobmanager" : "taskmanager"};
    if (const boost::json::value* const env = find(cluster, "envVars"))
        container["env"] = *env;
    copy_fields(container, from, {"resources", "volumeMounts", "livenessProbe", "readinessProbe"});
    boost::json::object spec;
    copy_fields(spec, from,
                {"initContainers", "volumes", "nodeSelector", "affinity", "tolerations",
                 "securityContext", "serviceAccountName"});
    boost::json::array containers{std::move(container)};
    if (const auto* const beside = find_array(from, "sidecars"))
        containers.insert(containers.end(), beside->begin(), beside->end());
    spec["containers"] = std::move(containers);
    return spec;
}

} // namespace detail

/// The spec from which the pods of a type are made: their template's, or what stands in for it
/// where the job describes them otherwise.
[[nodiscard]] inline boost::json::object base_spec(const t9k_job& job, std::size_t spec) {
    const t9k_replica_spec& of = job.replica_specs[spec];
    if (of.part == replica_part::launcher && !has_containers(of.pod_template)) {
        if (const auto* colossal = std::get_if<colossal_config>(&job.config);
            colossal != nullptr && colossal->launcher != nullptr)
            return detail::described_launcher(*colossal->launcher);
        return detail::implied_launcher(job);
    }
    if (const auto* flink = std::get_if<flink_config>(&job.config);
        flink != nullptr && of.part == replica_part::worker)
        return detail::flink_manager(flink->cluster_spec, of.type == "jobmanager");
    if (const boost::json::object* const own = find_object(of.pod_template, "spec"))
        return *own;
    return {};
}

/// Gives a container the host file, DeepSpeed's file of variables and the keys to log in with: the
/// ConfigMap `<group>-hosts` and the Secret `<group>-ssh`, which somebody else makes.
inline void mount_files(const t9k_job& job, t9k_replica of, const std::string& group,
                        boost::json::object& container, boost::json::object& spec) {
    std::string_view keys;
    if (const auto* mpi = std::get_if<mpi_config>(&job.config))
        keys = mpi->ssh.auth_mount_path;
    else if (const auto* colossal = std::get_if<colossal_config>(&job.config))
        keys = colossal->ssh.auth_mount_path;
    else
        keys = "/root/.ssh";
    boost::json::array& mounts = detail::list_in(container, "volumeMounts");
    boost::json::array& volumes = detail::list_in(spec, "volumes");
    const auto mount = [&](std::string_view volume, std::string_view path, std::string_view file) {
        boost::json::object one{{"name", volume}, {"mountPath", path}};
        if (!file.empty())
            one["subPath"] = file;
        mounts.push_back(std::move(one));
    };
    const auto* const deepspeed = std::get_if<deepspeed_config>(&job.config);
    if (job.replica_specs[of.spec].part == replica_part::launcher || deepspeed != nullptr) {
        mount("muster-hosts", hostfile_path, "hostfile");
        if (deepspeed != nullptr && !deepspeed->disable_custom_env)
            mount("muster-hosts", "/root/.deepspeed_env", "deepspeed_env");
        volumes.push_back(boost::json::object{{"name", "muster-hosts"},
                                              {"configMap", {{"name", group + "-hosts"}}}});
    }
    mount("muster-ssh", keys, "");
    volumes.push_back(boost::json::object{
        {"name", "muster-ssh"},
        {"secret", {{"secretName", group + "-ssh"}, {"defaultMode", 256}, {"optional", true}}}});
}

} // namespace translate
} // namespace v0_1
} // namespace muster
