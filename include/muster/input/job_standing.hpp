// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/document/json_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

// What a job's manifest says of its life, in the words that the kinds have in common.

namespace detail {

[[nodiscard]] inline bool is_true(const boost::json::object* in, std::string_view key) {
    const auto* value = in ? in->if_contains(key) : nullptr;
    return value && value->is_bool() && value->get_bool();
}

[[nodiscard]] inline bool is_end(std::string_view word) {
    constexpr std::array<std::string_view, 13> ends{
        "Complete",   "Completed", "Succeeded", "Finished",  "Failed", "FailureTarget", "Aborted",
        "Terminated", "COMPLETE",  "COMPLETED", "SUCCEEDED", "FAILED", "STOPPED"};
    return std::ranges::find(ends, word) != ends.end();
}

/// Says how many of its pods are there.
[[nodiscard]] inline bool counts(std::string_view key, const boost::json::value& value) {
    constexpr std::array<std::string_view, 10> counts{
        "active",          "ready",    "running",
        "pending",         "replicas", "readyReplicas",
        "currentReplicas", "creating", "availableWorkerReplicas",
        "terminating"};
    return std::ranges::find(counts, key) != counts.end() && value.is_number() &&
           value.to_number<double>() > 0;
}

[[nodiscard]] inline bool counts_any(const boost::json::value& in, int depth) {
    if (const auto* object = in.if_object())
        return std::ranges::any_of(*object, [&](const auto& each) {
            return counts(each.key(), each.value()) ||
                   (depth > 0 && counts_any(each.value(), depth - 1));
        });
    const auto* list = in.if_array();
    return list && depth > 0 && std::ranges::any_of(*list, [&](const auto& each) {
               return counts_any(each, depth - 1);
           });
}

} // namespace detail

/// Its status says that it has pods.
[[nodiscard]] inline bool counts_pods(const boost::json::object& job) {
    const auto* status = job.if_contains("status");
    return status && detail::counts_any(*status, 3);
}

/// Returns true if the object's `spec` has no field but `selector`: `muster snapshot` writes no
/// more of a ReplicaSet, since its template may hold secrets.
[[nodiscard]] inline bool holds_only_selector(const boost::json::object& object) {
    const auto* spec = translate::find_object(&object, "spec");
    return spec && spec->size() == (spec->contains("selector") ? 1U : 0U);
}

/// It is over, on its way out, suspended (but by Kueue, in whose queue it waits), asks for no
/// replicas, or the cluster holds it and the input only its selector.
[[nodiscard]] inline bool wants_no_pods(const boost::json::object& job) {
    using translate::find_object;
    using translate::find_text;
    const auto* metadata = find_object(&job, "metadata");
    if (metadata && metadata->contains("deletionTimestamp"))
        return true;
    const auto* spec = find_object(&job, "spec");
    if (find_text(metadata, "uid") && holds_only_selector(job))
        return true;
    const auto* replicas = spec ? spec->if_contains("replicas") : nullptr;
    const bool queued =
        find_text(find_object(metadata, "labels"), "kueue.x-k8s.io/queue-name").has_value();
    const bool suspended = detail::is_true(spec, "suspend") ||
                           detail::is_true(find_object(spec, "runPolicy"), "suspend");
    if ((suspended && !queued) || (replicas && replicas->is_int64() && replicas->get_int64() == 0))
        return true;
    const auto* status = find_object(&job, "status");
    for (const std::string_view key : {"phase", "jobStatus", "jobDeploymentStatus"})
        if (detail::is_end(find_text(status, key).value_or("")))
            return true;
    if (detail::is_end(find_text(find_object(status, "state"), "phase").value_or("")) ||
        detail::is_end(find_text(find_object(status, "applicationState"), "state").value_or("")))
        return true;
    const auto* conditions = status ? status->if_contains("conditions") : nullptr;
    return conditions && conditions->is_array() &&
           std::ranges::any_of(conditions->get_array(), [](const boost::json::value& each) {
               const auto* one = each.if_object();
               return one && find_text(one, "status") == "True" &&
                      detail::is_end(find_text(one, "type").value_or(""));
           });
}

} // namespace codec
} // namespace v0_1
} // namespace muster
