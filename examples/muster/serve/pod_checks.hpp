// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <muster/serve/json_values.hpp>
#include <muster/serve/name_checks.hpp>
#include <muster/serve/placement_checks.hpp>
#include <muster/serve/quantity_checks.hpp>
#include <muster/serve/schema.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

namespace detail {

using names = std::set<std::string, std::less<>>;

/// Adds what is wrong with a name in a list whose names are DNS labels, each there once.
inline void check_listed_name(std::string_view name, const std::string& path, names& known,
                              std::vector<field_cause>& wrong) {
    if (name.empty()) {
        wrong.push_back(required_value(path));
        return;
    }
    add_faults(path, name, dns_label_faults(name), wrong);
    if (!known.emplace(name).second)
        wrong.push_back({"FieldValueDuplicate",
                         "Duplicate value: " + json::serialize(json::value(name)), path});
}

/// Adds what is wrong with the ports of a container. `hosts`: ports of nodes that are in use.
inline void check_ports(const json::object& container, const std::string& path, names& hosts,
                        std::vector<field_cause>& wrong) {
    for_each_object(
        array_at(container, {"ports"}), path + ".ports",
        [&](const json::object& each, const std::string& at) {
            for (const std::string_view field : {"containerPort", "hostPort"}) {
                const std::int64_t port = integer_at(each, {field}).value_or(0);
                if (port == 0 && field == "containerPort")
                    wrong.push_back(required_value(joined(at, field)));
                else if (port != 0 && (port < 1 || port > 65535))
                    wrong.push_back(invalid_value(joined(at, field), port,
                                                  "must be between 1 and 65535, inclusive"));
            }
            std::string_view protocol = text_at(each, {"protocol"});
            protocol = protocol.empty() ? "TCP" : protocol;
            if (protocol != "TCP" && protocol != "UDP" && protocol != "SCTP")
                wrong.push_back(
                    unsupported_value(at + ".protocol", protocol, R"("SCTP", "TCP", "UDP")"));
            const std::int64_t port = integer_at(each, {"hostPort"}).value_or(0);
            const std::string host = std::string(protocol) + "/" +
                                     std::string(text_at(each, {"hostIP"})) + "/" +
                                     std::to_string(port);
            if (port != 0 && !hosts.insert(host).second)
                wrong.push_back({"FieldValueDuplicate",
                                 "Duplicate value: " + json::serialize(json::value(host)),
                                 at + ".hostPort"});
        });
}

inline void check_mounts(const json::object& container, const std::string& path,
                         const names& volumes, std::vector<field_cause>& wrong) {
    names paths;
    for_each_object(array_at(container, {"volumeMounts"}), path + ".volumeMounts",
                    [&](const json::object& each, const std::string& at) {
                        const std::string_view name = text_at(each, {"name"});
                        const std::string_view where = text_at(each, {"mountPath"});
                        if (name.empty())
                            wrong.push_back(required_value(at + ".name"));
                        if (!volumes.contains(name))
                            wrong.push_back({"FieldValueNotFound",
                                             "Not found: " + json::serialize(json::value(name)),
                                             at + ".name"});
                        if (where.empty())
                            wrong.push_back(required_value(at + ".mountPath"));
                        if (!paths.emplace(where).second)
                            wrong.push_back(invalid_value(at + ".mountPath", json::value(where),
                                                          "must be unique"));
                    });
}

/// Names that the containers of a pod share.
struct container_names {
    names volumes;
    names containers;
};

/// Adds what is wrong with a list of containers. `run_together`: two of the list cannot use the
/// same port of a node.
inline void check_containers(const json::array* containers, const std::string& path,
                             bool run_together, container_names& known,
                             std::vector<field_cause>& wrong) {
    names hosts;
    for_each_object(containers, path, [&](const json::object& each, const std::string& at) {
        check_listed_name(text_at(each, {"name"}), at + ".name", known.containers, wrong);
        if (!run_together)
            hosts.clear();
        check_ports(each, at, hosts, wrong);
        check_mounts(each, at, known.volumes, wrong);
        if (text_at(each, {"image"}).empty())
            wrong.push_back(required_value(at + ".image"));
        if (const json::object* const resources = object_at(each, {"resources"}))
            check_resources(*resources, at + ".resources", wrong);
    });
}

inline void check_volumes(const json::array* volumes, names& known,
                          std::vector<field_cause>& wrong) {
    for_each_object(volumes, "spec.volumes", [&](const json::object& each, const std::string& at) {
        check_listed_name(text_at(each, {"name"}), at + ".name", known, wrong);
        if (object_at(each, {"persistentVolumeClaim"}) &&
            text_at(each, {"persistentVolumeClaim", "claimName"}).empty())
            wrong.push_back(required_value(at + ".persistentVolumeClaim.claimName"));
    });
}

} // namespace detail

/// Adds what the server refuses in the spec of a pod. Checks what bears on scheduling, and the
/// names and images of containers; Kubernetes checks more.
inline void check_pod(const json::object& pod, std::vector<field_cause>& wrong) {
    const json::object* const found = object_at(pod, {"spec"});
    const json::object& spec = found ? *found : pod;
    const json::array* const containers = found ? array_at(spec, {"containers"}) : nullptr;
    if (!containers || containers->empty())
        wrong.push_back(required_value("spec.containers"));
    if (!found)
        return;
    detail::container_names names;
    detail::check_volumes(array_at(spec, {"volumes"}), names.volumes, wrong);
    detail::check_containers(containers, "spec.containers", true, names, wrong);
    detail::check_containers(array_at(spec, {"initContainers"}), "spec.initContainers", false,
                             names, wrong);
    if (const std::string_view policy = text_at(spec, {"restartPolicy"});
        !policy.empty() && policy != "Always" && policy != "OnFailure" && policy != "Never")
        wrong.push_back(
            unsupported_value("spec.restartPolicy", policy, R"("Always", "OnFailure", "Never")"));
    if (const auto seconds = integer_at(spec, {"activeDeadlineSeconds"});
        seconds && (*seconds < 1 || *seconds > INT32_MAX))
        wrong.push_back(invalid_value("spec.activeDeadlineSeconds", *seconds,
                                      "must be between 1 and 2147483647, inclusive"));
    check_placement(spec, wrong);
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
