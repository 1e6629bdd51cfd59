// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <muster/serve/json_values.hpp>
#include <muster/serve/kinds.hpp>
#include <muster/serve/storage_objects.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

namespace detail {

inline void set_default(json::object& in, std::string_view name, json::value value) {
    if (!in.contains(name))
        in[name] = std::move(value);
}

inline void drop_empty(json::object& in, std::string_view name) {
    const json::value* const found = in.if_contains(name);
    if (!found)
        return;
    const auto* const object = found->if_object();
    const auto* const list = found->if_array();
    if (found->is_null() || (object && object->empty()) || (list && list->empty()))
        in.erase(name);
}

inline void drop_empty_lists(json::value& in) {
    if (auto* const list = in.if_array())
        for (json::value& each : *list)
            drop_empty_lists(each);
    auto* const object = in.if_object();
    if (!object)
        return;
    std::vector<std::string> empty;
    for (auto& field : *object) {
        drop_empty_lists(field.value());
        if (field.value().is_array() && field.value().get_array().empty())
            empty.emplace_back(field.key().data(), field.key().size());
    }
    for (const std::string& each : empty)
        object->erase(each);
}

/// Gives each condition the times that it does not name.
inline void time_conditions(json::object& made, field_names times) {
    json::value* const status = made.if_contains("status");
    json::object* const fields = status ? status->if_object() : nullptr;
    json::value* const conditions = fields ? fields->if_contains("conditions") : nullptr;
    if (!conditions || !conditions->is_array())
        return;
    for (json::value& each : conditions->get_array())
        if (auto* const one = each.if_object())
            for (const std::string_view time : times)
                set_default(*one, time, nullptr);
}

inline void tidy_node(json::object& made) {
    static_cast<void>(make_object(made, "spec"));
    time_conditions(made, {"lastHeartbeatTime", "lastTransitionTime"});
    json::object& status = make_object(made, "status");
    json::object& endpoint = make_object(make_object(status, "daemonEndpoints"), "kubeletEndpoint");
    set_default(endpoint, "Port", 0);
    json::object& info = make_object(status, "nodeInfo");
    for (const std::string_view each :
         {"architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion",
          "kubeletVersion", "machineID", "operatingSystem", "osImage", "systemUUID"})
        set_default(info, each, "");
}

} // namespace detail

/// A PodGroup of Kubernetes' own, whatever others are called so.
[[nodiscard]] inline bool is_pod_group(const kind_info& of) noexcept {
    return of.plural == "podgroups" && of.group == "scheduling.k8s.io";
}

/// Writes an object down as Kubernetes' own types would: empty lists are left out, and fields that
/// are always there are there. Custom objects keep what they say, but for their metadata.
inline void tidy(const kind_info& of, json::object& made) {
    json::object& metadata = make_object(made, "metadata");
    for (const std::string_view each : {"labels", "annotations", "finalizers", "ownerReferences"})
        detail::drop_empty(metadata, each);
    if (of.custom)
        return;
    for (const std::string_view each : {"spec", "status"})
        if (json::value* const found = made.if_contains(each))
            detail::drop_empty_lists(*found);
    if (of.group.empty() && of.plural == "events") {
        detail::set_default(made, "eventTime", nullptr);
        detail::set_default(made, "reportingComponent", "");
        detail::set_default(made, "reportingInstance", "");
    }
    if (of.plural == "priorityclasses")
        detail::set_default(made, "preemptionPolicy", "PreemptLowerPriority");
    default_storage(of, made);
    if (of.plural == "nodes")
        detail::tidy_node(made);
    if (of.group.empty() && of.plural == "pods")
        detail::time_conditions(made, {"lastProbeTime", "lastTransitionTime"});
    if (is_pod_group(of)) {
        detail::set_default(make_object(made, "spec"), "podGroupTemplateRef", nullptr);
        static_cast<void>(make_object(made, "status"));
    }
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
