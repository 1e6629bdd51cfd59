// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/serve/answer.hpp>
#include <muster/serve/json_values.hpp>
#include <muster/serve/schema.hpp>
#include <muster/serve/tidy.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

namespace detail {

inline void default_container(json::object& container) {
    set_default(container, "resources", json::object{});
    set_default(container, "terminationMessagePath", "/dev/termination-log");
    set_default(container, "terminationMessagePolicy", "File");
    const std::string_view image = text_at(container, {"image"});
    const auto colon = image.rfind(':');
    const bool latest = colon == std::string_view::npos || image.substr(colon) == ":latest" ||
                        image.find('/', colon) != std::string_view::npos;
    set_default(container, "imagePullPolicy", latest ? "Always" : "IfNotPresent");
    if (json::value* const ports = container.if_contains("ports"); ports && ports->is_array())
        for (json::value& port : ports->get_array())
            if (port.is_object())
                set_default(port.get_object(), "protocol", "TCP");
    json::object* const resources = container["resources"].if_object();
    const json::object* const limits = resources ? object_at(*resources, {"limits"}) : nullptr;
    if (limits) {
        const json::object copy = *limits;
        json::object& requests = make_object(*resources, "requests");
        for (const auto& [name, value] : copy)
            set_default(requests, {name.data(), name.size()}, value);
    }
}

[[nodiscard]] inline std::string_view quality_of(const json::object& spec) {
    bool any = false;
    bool guaranteed = true;
    for (const std::string_view list : {"containers", "initContainers"}) {
        const json::array* const containers = array_at(spec, {list});
        if (!containers)
            continue;
        for (const json::value& each : *containers) {
            const json::object* const one = each.if_object();
            for (const std::string_view kind : {"cpu", "memory"}) {
                const auto* const limit =
                    one ? value_at(*one, {"resources", "limits", kind}) : nullptr;
                const auto* const request =
                    one ? value_at(*one, {"resources", "requests", kind}) : nullptr;
                any = any || limit || request;
                guaranteed = guaranteed && limit && request && *limit == *request;
            }
        }
    }
    return !any ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

inline void add_toleration(json::array& to, std::string_view key) {
    for (const json::value& each : to)
        if (const json::object* const one = each.if_object())
            if (text_at(*one, {"key"}) == key)
                return;
    to.push_back(json::object{
        {"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 300}});
}

} // namespace detail

/// Returns a pod as the server stores it: with defaults filled in, and with the status of a new pod
/// unless the pod has a phase. `created` is the time as text.
inline void default_pod(json::object& pod, std::string_view created) {
    json::object& spec = make_object(pod, "spec");
    detail::set_default(spec, "restartPolicy", "Always");
    detail::set_default(spec, "dnsPolicy", "ClusterFirst");
    detail::set_default(spec, "schedulerName", "default-scheduler");
    detail::set_default(spec, "terminationGracePeriodSeconds", 30);
    detail::set_default(spec, "securityContext", json::object{});
    detail::set_default(spec, "enableServiceLinks", true);
    detail::set_default(spec, "priority", 0);
    detail::set_default(spec, "preemptionPolicy", "PreemptLowerPriority");
    for (const std::string_view list : {"containers", "initContainers"})
        if (json::value* const found = spec.if_contains(list); found && found->is_array())
            for (json::value& each : found->get_array())
                if (each.is_object())
                    detail::default_container(each.get_object());
    json::value& tolerations = spec["tolerations"];
    if (!tolerations.is_array())
        tolerations.emplace_array();
    detail::add_toleration(tolerations.get_array(), "node.kubernetes.io/not-ready");
    detail::add_toleration(tolerations.get_array(), "node.kubernetes.io/unreachable");
    if (!text_at(pod, {"status", "phase"}).empty())
        return;
    json::object status{{"phase", "Pending"}, {"qosClass", detail::quality_of(spec)}};
    const json::array* const gates = array_at(spec, {"schedulingGates"});
    if (gates && !gates->empty())
        status["conditions"] = json::array{
            json::object{{"type", "PodScheduled"},
                         {"status", "False"},
                         {"reason", "SchedulingGated"},
                         {"message", "Scheduling is blocked due to non-empty scheduling gates"},
                         {"lastProbeTime", nullptr},
                         {"lastTransitionTime", created}}};
    pod["status"] = std::move(status);
}

namespace detail {

/// The spec without what an update may change.
[[nodiscard]] inline json::object fixed_part(json::object spec) {
    for (const std::string_view each : {"activeDeadlineSeconds", "tolerations",
                                        "terminationGracePeriodSeconds", "schedulingGates"})
        spec.erase(each);
    for (const std::string_view list : {"containers", "initContainers"})
        if (json::value* const found = spec.if_contains(list); found && found->is_array())
            for (json::value& each : found->get_array())
                if (each.is_object())
                    each.get_object().erase("image");
    return spec;
}

[[nodiscard]] inline bool contains_all(const json::array* of, const json::array* in) {
    if (!of)
        return true;
    return std::ranges::all_of(*of, [&](const json::value& each) {
        return in && std::ranges::find(*in, each) != in->end();
    });
}

} // namespace detail

/// What the server refuses of a change to a pod: gates may only go, tolerations only come, and
/// nearly nothing else of the spec changes. A gated pod may also get a narrower choice of nodes.
inline void check_pod_change(const json::object& before, const json::object& after,
                             std::vector<field_cause>& wrong) {
    const json::object* const old_spec = object_at(before, {"spec"});
    const json::object* const new_spec = object_at(after, {"spec"});
    if (!old_spec || !new_spec || *old_spec == *new_spec)
        return;
    const json::array* const old_gates = array_at(*old_spec, {"schedulingGates"});
    if (const json::array* const new_gates = array_at(*new_spec, {"schedulingGates"}))
        for (std::size_t at = 0; at < new_gates->size(); ++at)
            if (const json::value& gate = (*new_gates)[at];
                gate.is_object() &&
                (!old_gates || std::ranges::find(*old_gates, gate) == old_gates->end()))
                wrong.push_back(
                    {"FieldValueForbidden",
                     "Forbidden: only deletion is allowed, but found new scheduling gate '" +
                         std::string(text_at(gate.get_object(), {"name"})) + "'",
                     "spec.schedulingGates[" + std::to_string(at) + "].name"});
    json::object old_fixed = detail::fixed_part(*old_spec);
    json::object new_fixed = detail::fixed_part(*new_spec);
    if (old_gates && !old_gates->empty())
        for (const std::string_view each : {"nodeSelector", "affinity"}) {
            old_fixed.erase(each);
            new_fixed.erase(each);
        }
    if (old_fixed != new_fixed || !detail::contains_all(array_at(*old_spec, {"tolerations"}),
                                                        array_at(*new_spec, {"tolerations"})))
        wrong.push_back(
            {"FieldValueForbidden",
             "Forbidden: pod updates may not change fields other than "
             "`spec.containers[*].image`,`spec.initContainers[*].image`,"
             "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
             "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was "
             "previously negative)",
             "spec"});
}

/// Whether a node runs the pod, so that only its kubelet can say that it is gone.
[[nodiscard]] inline bool is_held(const json::object& pod) {
    const std::string_view phase = text_at(pod, {"status", "phase"});
    return !text_at(pod, {"spec", "nodeName"}).empty() && phase != "Succeeded" && phase != "Failed";
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
