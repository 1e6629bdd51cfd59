// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/apis/t9k/jobs/containers.hpp>
#include <muster/apis/t9k/jobs/environment.hpp>
#include <muster/apis/t9k/jobs/gang.hpp>
#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/apis/t9k/jobs/labels.hpp>
#include <muster/apis/t9k/jobs/names.hpp>
#include <muster/apis/t9k/jobs/pods.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {
namespace detail {

[[nodiscard]] inline boost::json::object owned_object(const t9k_job& job, std::string_view version,
                                                      std::string_view kind,
                                                      std::string_view name) {
    boost::json::object metadata;
    metadata["name"] = name;
    metadata["namespace"] = job.name_space;
    metadata["ownerReferences"] = owner_references(job);
    boost::json::object made;
    made["apiVersion"] = version;
    made["kind"] = kind;
    made["metadata"] = std::move(metadata);
    return made;
}

/// The replicas whose names somebody looks up, and on which ports.
struct exposed_replicas {
    std::size_t spec = 0;
    std::int64_t count = 0;
    boost::json::array ports;
};

[[nodiscard]] inline boost::json::object port_object(std::string_view name, std::int64_t number) {
    return {{"name", name}, {"port", number}};
}

[[nodiscard]] inline std::vector<exposed_replicas> exposed(const t9k_job& job,
                                                           const t9k_options& options) {
    std::vector<exposed_replicas> all;
    const std::vector<std::int64_t> counts = replica_counts(job);
    switch (job.kind) {
    case t9k_kind::generic:
        for (std::size_t i = 0; job.service && i < counts.size(); ++i) {
            boost::json::array ports;
            for (const t9k_port& each : *job.service)
                ports.push_back(*each.document);
            all.push_back({i, counts[i], std::move(ports)});
        }
        break;
    case t9k_kind::tensorflow:
        for (std::size_t i = 0; i < counts.size(); ++i)
            if (job.replica_specs[i].type != "evaluator")
                all.push_back({i, counts[i], {port_object("tensorflow", options.port)}});
        break;
    case t9k_kind::pytorch:
    case t9k_kind::xgboost:
        if (const auto master = master_of(job))
            all.push_back({master->spec, 1, {port_object("master", options.port)}});
        break;
    case t9k_kind::mpi:
    case t9k_kind::colossal_ai:
    case t9k_kind::deepspeed:
        if (const auto workers = find_type(job, "worker"))
            all.push_back({*workers, counts[*workers], {port_object("ssh", 22)}});
        break;
    case t9k_kind::beam:
        all.push_back(
            {0,
             counts.empty() ? 0 : 1,
             {port_object("rpc", 6123), port_object("blob", 6124), port_object("ui", 8081)}});
        break;
    }
    return all;
}

} // namespace detail

/// One headless Service per replica whose name must lead to it, named as its pod: of a GenericJob
/// all, when it asks for a service; of the other kinds those that TF_CONFIG, MASTER_ADDR, a host
/// file or a Flink cluster name. They are kept until the job is deleted. O(replicas).
[[nodiscard]] inline std::vector<boost::json::object> services_of(const t9k_job& job,
                                                                  const t9k_options& options = {}) {
    std::vector<boost::json::object> services;
    const t9k_labels labels(job, options);
    for (const detail::exposed_replicas& each : detail::exposed(job, options)) {
        for (std::int64_t rank = 0; rank < each.count; ++rank) {
            const std::string name = pod_name(job, {each.spec, rank}, options);
            boost::json::object& service =
                services.emplace_back(detail::owned_object(job, "v1", "Service", name));
            boost::json::object spec;
            spec["clusterIP"] = "None";
            spec["selector"] = boost::json::object{{labels.replica_key(), name}};
            spec["ports"] = each.ports;
            service["spec"] = std::move(spec);
        }
    }
    return services;
}

namespace detail {

/// `NAME=value` a line, of the variables that the workers' container gives values to.
[[nodiscard]] inline std::string deepspeed_variables(const t9k_job& job) {
    std::string text;
    const boost::json::array* const all = containers_of(job.replica_specs.front().pod_template);
    if (all == nullptr || all->empty())
        return text;
    const boost::json::value* training = &all->front();
    for (const boost::json::value& each : *all)
        if (find_text(each.if_object(), "name") == "worker")
            training = &each;
    const boost::json::array* const env = find_array(training->if_object(), "env");
    if (env == nullptr)
        return text;
    for (const boost::json::value& each : *env)
        if (const auto value = find_text(each.if_object(), "value"))
            text.append(find_text(each.if_object(), "name").value_or(""))
                .append("=")
                .append(*value)
                .append("\n");
    return text;
}

} // namespace detail

/// The ConfigMap with the host file of an MPIJob, ColossalAIJob or DeepSpeedJob.
[[nodiscard]] inline std::optional<boost::json::object>
config_map_of(const t9k_job& job, const t9k_options& options = {}) {
    const std::string hosts = hostfile_of(job, options);
    if (hosts.empty())
        return std::nullopt;
    boost::json::object made =
        detail::owned_object(job, "v1", "ConfigMap", group_name(job, options) + "-hosts");
    boost::json::object data;
    data["hostfile"] = hosts;
    if (const auto* deepspeed = std::get_if<deepspeed_config>(&job.config);
        deepspeed != nullptr && !deepspeed->disable_custom_env)
        data["deepspeed_env"] = detail::deepspeed_variables(job);
    made["data"] = std::move(data);
    return made;
}

/// The PodGroup that the job's controller makes.
[[nodiscard]] inline std::optional<boost::json::object>
pod_group_of(const t9k_job& job, const t9k_options& options = {}) {
    const std::vector<gang_object> gangs = gangs_of(job, options);
    if (gangs.empty())
        return std::nullopt;
    const gang_object& gang = gangs.front();
    boost::json::object made = detail::owned_object(job, t9k_group_version, "PodGroup", gang.name);
    boost::json::object spec;
    spec["minMember"] = gang.tree[0].min_member;
    spec["queue"] = *gang.queue;
    spec["priority"] = *gang.priority.number;
    boost::json::array roles;
    for (std::size_t i = 1; i < gang.tree.size(); ++i)
        if (gang.tree[i].min_member > 0)
            roles.push_back(boost::json::object{{"name", gang.tree[i].name},
                                                {"minMember", gang.tree[i].min_member}});
    if (!roles.empty())
        spec["roles"] = std::move(roles);
    made["spec"] = std::move(spec);
    return made;
}

/// Everything that the job's controller creates, in the order in which it is to be created: the
/// PodGroup, the ConfigMap, the Services, and the pods with their marks. A paused job has no pods.
[[nodiscard]] inline std::vector<boost::json::object> objects_of(const t9k_job& job,
                                                                 const t9k_options& options = {}) {
    std::vector<boost::json::object> all;
    if (auto group = pod_group_of(job, options))
        all.push_back(std::move(*group));
    if (auto map = config_map_of(job, options))
        all.push_back(std::move(*map));
    for (boost::json::object& service : services_of(job, options))
        all.push_back(std::move(service));
    if (job.run_mode.pause)
        return all;
    const t9k_pod_maker maker(job, options);
    const std::vector<std::int64_t> counts = replica_counts(job);
    for (std::size_t spec = 0; spec < counts.size(); ++spec)
        for (std::int64_t rank = 0; rank < counts[spec]; ++rank)
            all.push_back(maker.make_marked({spec, rank}));
    return all;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
