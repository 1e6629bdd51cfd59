// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/adapter/writes.hpp>
#include <muster/kube/arrived.hpp>
#include <muster/vocabulary/answer.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// Why a pod waits, for its condition PodScheduled=False.
struct pod_waiting {
    /// `Unschedulable` is a word of Kubernetes': autoscalers look for it.
    std::string reason;
    std::string message;

    [[nodiscard]] friend bool operator==(const pod_waiting&, const pod_waiting&) = default;
};

inline constexpr std::string_view volume_not_ready = "VolumeNotReady";

[[nodiscard]] inline std::string_view waiting_reason(const adapter::gang_status& of) {
    switch (of.at) {
    case gate::group:
        return "PodGroupNotReady";
    case gate::members:
        return "NotEnoughMembers";
    case gate::queue:
        return "QueueNotReady";
    case gate::unsupported:
        return "UnsupportedConstraint";
    case gate::quota:
        return "QuotaExceeded";
    case gate::order:
        return "BehindInQueue";
    case gate::volumes:
        return volume_not_ready;
    case gate::space:
    case gate::none:
        break;
    }
    return of.lacks_volumes ? volume_not_ready : "Unschedulable";
}

/// True if `name` is the only scheduling gate of the pod.
[[nodiscard]] inline bool has_only_gate(const boost::json::object& pod, std::string_view name) {
    const boost::json::object* const spec = detail::object_in(pod, "spec");
    const boost::json::value* const gates = spec ? spec->if_contains("schedulingGates") : nullptr;
    if (!gates || !gates->is_array() || gates->get_array().size() != 1)
        return false;
    const boost::json::object* const gate = gates->get_array()[0].if_object();
    return gate && detail::string_in(*gate, "name") == name;
}

/// What a pod says already; nothing when it has no such condition.
[[nodiscard]] inline pod_waiting waiting_of(const boost::json::object& pod) {
    const boost::json::object* const status = detail::object_in(pod, "status");
    const boost::json::value* const all = status ? status->if_contains("conditions") : nullptr;
    if (all && all->is_array())
        for (const boost::json::value& each : all->get_array())
            if (const boost::json::object* const one = each.if_object();
                one && detail::string_in(*one, "type") == "PodScheduled" &&
                detail::string_in(*one, "status") == "False")
                return {detail::string_in(*one, "reason"), detail::string_in(*one, "message")};
    return {};
}

} // namespace kube
} // namespace v0_1
} // namespace muster
