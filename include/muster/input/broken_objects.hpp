// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/apis/kueue/reader.hpp>
#include <muster/vocabulary/taints.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

// An object that has an unread part is broken: the unread part is never ignored. README.md lists
// what that means for each kind.

/// True if the part of a pod at this path (`unread_part::path`) has its resource requests.
[[nodiscard]] inline bool hides_requests(std::string_view path) {
    return path == "spec" || path.starts_with("spec.containers") ||
           path.starts_with("spec.initContainers") || path.starts_with("spec.overhead") ||
           path.starts_with("spec.resources");
}

/// Keeps new pods off a node that could not be read, or that has a pod that could not be read.
template<class Node>
void close_unread(Node& node) {
    node.taints.push_back({std::string(unread_taint_key), {}, taint_effect::no_schedule});
}
template<class Node>
[[nodiscard]] bool is_closed_unread(const Node& node) {
    return has_taint(node.taints, unread_taint_key);
}

/// A broken budget allows no disruption in its namespace.
inline void forbid_disruption(disruption_budget_object& budget) {
    budget.min_available.reset();
    budget.max_unavailable.reset();
    budget.pods.emplace();
}

namespace detail {

/// Restricts an object of which a part could not be read, for the reason `why`. Returns false if
/// the object counts as absent.
template<class Object>
[[nodiscard]] bool restrict_broken(Object&, const std::string&) {
    return true;
}
[[nodiscard]] inline bool restrict_broken(node_object& node, const std::string&) {
    close_unread(node);
    return true;
}
[[nodiscard]] inline bool restrict_broken(pod_object& pod, const std::string& why) {
    pod.unsupported.push_back(why);
    return true;
}
[[nodiscard]] inline bool restrict_broken(pod_group_object& group, const std::string& why) {
    group.unread = why;
    return true;
}
[[nodiscard]] inline bool restrict_broken(queue_object& queue, const std::string&) {
    queue.closed = true;
    return true;
}
[[nodiscard]] inline bool restrict_broken(kueue_queue& queue, const std::string&) {
    queue.closed = true;
    return true;
}
[[nodiscard]] inline bool restrict_broken(local_queue_object& queue, const std::string&) {
    queue.held = true;
    return true;
}
[[nodiscard]] inline bool restrict_broken(disruption_budget_object& budget, const std::string&) {
    forbid_disruption(budget);
    return true;
}
[[nodiscard]] inline bool restrict_broken(runtime_class_object& runtime, const std::string& why) {
    runtime.unsupported.push_back(why);
    return true;
}
[[nodiscard]] inline bool restrict_broken(topology_object&, const std::string&) {
    return false;
}
[[nodiscard]] inline bool restrict_broken(claim_object& claim, const std::string& why) {
    claim.unread = why;
    return true;
}
[[nodiscard]] inline bool restrict_broken(volume_object& volume, const std::string& why) {
    volume.unread = why;
    volume.available = false;
    return true;
}
[[nodiscard]] inline bool restrict_broken(storage_class_object&, const std::string&) {
    return false;
}
[[nodiscard]] inline bool restrict_broken(storage_capacity_object&, const std::string&) {
    return false;
}
[[nodiscard]] inline bool restrict_broken(resource_claim_object&, const std::string&) {
    return false;
}
[[nodiscard]] inline bool restrict_broken(resource_claim_template_object&, const std::string&) {
    return false;
}
[[nodiscard]] inline bool restrict_broken(resource_slice_object&, const std::string&) {
    return false;
}
[[nodiscard]] inline bool restrict_broken(device_taint_rule_object& rule, const std::string&) {
    rule.is_unread = true;
    return true;
}
[[nodiscard]] inline bool restrict_broken(device_class_object&, const std::string&) {
    return false;
}
[[nodiscard]] inline bool restrict_broken(koordinator_device_object& node, const std::string& why) {
    node.shares.blocked = why;
    return true;
}
[[nodiscard]] inline bool restrict_broken(node_topology_object& node, const std::string&) {
    node.zones.emplace().closed = true;
    return true;
}

} // namespace detail
} // namespace codec
} // namespace v0_1
} // namespace muster
