// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

#include <muster/serve/json_values.hpp>
#include <muster/serve/tidy.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// Holds a PodGroup of Kubernetes' own (1.36) until no pod of it is active.
inline constexpr std::string_view pod_group_protection = "scheduling.k8s.io/podgroup-protection";

/// A new PodGroup as the server stores it.
inline void default_pod_group(json::object& group) {
    detail::set_default(make_object(group, "spec"), "disruptionMode", "Pod");
    json::value& finalizers = make_object(group, "metadata")["finalizers"];
    if (!finalizers.is_array())
        finalizers.emplace_array();
    const json::value held(pod_group_protection);
    if (std::ranges::find(finalizers.get_array(), held) == finalizers.get_array().end())
        finalizers.get_array().push_back(held);
}

/// The PodGroup that the pod names; empty when none.
[[nodiscard]] inline std::string_view pod_group_of(const json::object& pod) {
    return text_at(pod, {"spec", "schedulingGroup", "podGroupName"});
}

[[nodiscard]] inline bool has_ended(const json::object& pod) {
    const std::string_view phase = text_at(pod, {"status", "phase"});
    return phase == "Succeeded" || phase == "Failed";
}

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
