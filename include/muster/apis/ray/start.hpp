// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <muster/document/json_text.hpp>
#include <muster/gangs/pod_draft.hpp>
#include <muster/resource/quantity_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

inline constexpr std::string_view ray_keeps_command = "ray.io/overwrite-container-cmd";

/// A node of a Ray cluster, as its pod is made.
struct ray_node {
    bool head = false;
    const boost::json::object* params = nullptr; ///< rayStartParams of its group
    std::string_view head_address;               ///< of workers: where the head listens, with port
    bool autoscaled = false;                     ///< the cluster has an autoscaler of its own
    bool keeps_command = false;                  ///< it runs what its template says
};

namespace detail {

/// An amount in whole units, rounded up; 0 when there is none.
[[nodiscard]] inline std::int64_t whole_units(const boost::json::object* amounts,
                                              std::string_view kind) {
    const boost::json::value* const found = find(amounts, kind);
    if (!found || found->is_null())
        return 0;
    const auto* const text = found->if_string();
    const auto read = parse_quantity(text ? std::string(text->data(), text->size())
                                          : boost::json::serialize(*found));
    return read ? read->units_up() : 0;
}

/// What Ray is to know of the container's resources, unless the parameters say it themselves.
inline void add_ray_resources(const boost::json::object& container,
                              std::map<std::string, std::string>& flags) {
    const boost::json::object* const resources = find_object(&container, "resources");
    const boost::json::object* const limits = find_object(resources, "limits");
    const boost::json::object* const requests = find_object(resources, "requests");
    const auto add = [&](const char* flag, std::int64_t amount) {
        if (amount > 0)
            flags.emplace(flag, std::to_string(amount));
    };
    const std::int64_t cpu = whole_units(limits, "cpu");
    add("num-cpus", cpu > 0 ? cpu : whole_units(requests, "cpu"));
    add("memory", whole_units(limits, "memory"));
    if (!limits)
        return;
    std::map<std::string, std::int64_t> gpus;
    for (const auto& each : *limits)
        if (const std::string kind(each.key()); kind.ends_with("gpu"))
            if (const std::int64_t amount = whole_units(limits, kind); amount > 0)
                gpus.emplace(kind, amount);
    if (!gpus.empty())
        add("num-gpus", gpus.begin()->second);
    for (const auto& [kind, name] :
         {std::pair{"aws.amazon.com/neuroncore", "neuron_cores"}, {"google.com/tpu", "TPU"}})
        if (const std::int64_t amount = whole_units(limits, kind); amount > 0)
            flags.emplace("resources",
                          "'{\"" + std::string(name) + "\":" + std::to_string(amount) + "}'");
}

/// A parameter as it is written; of those that are on or off only which are on, but for the few
/// that take either word.
[[nodiscard]] inline std::string ray_flag(const std::string& name, const std::string& value) {
    std::string word = value;
    std::ranges::transform(word, word.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    const bool worded =
        name == "log-color" || name == "include-dashboard" || name == "include-log-monitor";
    if (!worded && word == "true")
        return " --" + name;
    if (!worded && word == "false")
        return {};
    return " --" + name + '=' + value;
}

[[nodiscard]] inline std::string words_of(const boost::json::object& container,
                                          std::string_view list) {
    std::string text;
    if (const boost::json::array* const words = find_array(&container, list))
        for (const boost::json::value& each : *words)
            if (const auto* const word = each.if_string())
                text.append(text.empty() ? "" : " ").append(word->data(), word->size());
    return text;
}

} // namespace detail

/// `ray start` with the parameters of a group and what KubeRay adds to them, ordered by name.
[[nodiscard]] inline std::string ray_start_command(const ray_node& node,
                                                   const boost::json::object& container) {
    std::map<std::string, std::string> flags;
    if (node.params)
        for (const auto& each : *node.params)
            if (const auto* const text = each.value().if_string())
                flags.emplace(each.key(), std::string(text->data(), text->size()));
    if (!node.head)
        flags.emplace("address", node.head_address);
    else
        flags.emplace("dashboard-host", "0.0.0.0");
    if (node.head && node.autoscaled)
        flags.emplace("no-monitor", "true");
    flags.emplace("metrics-export-port", "8080");
    flags.emplace("dashboard-agent-listen-port", "52365");
    flags["block"] = "true";
    detail::add_ray_resources(container, flags);
    std::string command = node.head ? "ray start --head" : "ray start";
    for (const auto& [name, value] : flags)
        command += detail::ray_flag(name, value);
    return command;
}

/// Has the pod's first container start Ray, after what it is to run before that; and gives it the
/// shared memory and the port of metrics that KubeRay gives it.
inline void start_ray(pod_draft& pod, const ray_node& node) {
    boost::json::object* const container = pod.container({});
    if (!container)
        return;
    const std::string start = ray_start_command(node, *container);
    pod_draft::add_env(*container, "KUBERAY_GEN_RAY_START_CMD", start);
    const std::string command = detail::words_of(*container, "command");
    const std::string args = detail::words_of(*container, "args");
    const std::string before = command + (command.empty() || args.empty() ? "" : " ") + args;
    if (!node.keeps_command && before.find("ray start") == std::string::npos) {
        (*container)["command"] = boost::json::array{"/bin/bash", "-c", "--"};
        (*container)["args"] = boost::json::array{(before.empty() ? "" : before + " && ") +
                                                  "ulimit -n 65536; " + start};
    }
    const auto has = [](const boost::json::value& list, std::string_view key,
                        std::string_view value) {
        return std::ranges::any_of(list.as_array(), [&](const boost::json::value& each) {
            return translate::find_text(each.if_object(), key) == value;
        });
    };
    const auto list_of = [](boost::json::object& in, std::string_view key) -> boost::json::value& {
        boost::json::value& list = in[key];
        if (!list.is_array())
            list = boost::json::array{};
        return list;
    };
    if (boost::json::value& ports = list_of(*container, "ports"); !has(ports, "name", "metrics"))
        ports.get_array().push_back({{"name", "metrics"}, {"containerPort", 8080}});
    boost::json::value& mounts = list_of(*container, "volumeMounts");
    if (has(mounts, "mountPath", "/dev/shm"))
        return;
    mounts.get_array().push_back({{"name", "shared-mem"}, {"mountPath", "/dev/shm"}});
    boost::json::value& volumes = list_of(pod.spec(), "volumes");
    if (has(volumes, "name", "shared-mem"))
        return;
    boost::json::object memory{{"medium", "Memory"}};
    const boost::json::object* const resources = find_object(container, "resources");
    for (const char* const kind : {"requests", "limits"})
        if (const boost::json::value* const size = find(find_object(resources, kind), "memory"))
            memory.emplace("sizeLimit", *size);
    volumes.get_array().push_back({{"name", "shared-mem"}, {"emptyDir", std::move(memory)}});
}

} // namespace translate
} // namespace v0_1
} // namespace muster
