// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <muster/explain/affinity_refusal.hpp>
#include <muster/problem/affinity_counts.hpp>
#include <muster/resource/storage_kinds.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/node.hpp>
#include <muster/vocabulary/pod_terms.hpp>
#include <muster/vocabulary/reason.hpp>
#include <muster/words/told_reason.hpp>

namespace muster {
inline namespace v0_1 {
namespace words {
namespace detail {

// The messages of kube-scheduler for a node that it rejects.

/// Returns kube-scheduler's message for a node that has too little of a resource.
[[nodiscard]] inline std::string shortage_text(const std::string& kind) {
    if (storage_kinds::counts_storage(kind))
        return storage_kinds::counts_bytes(kind)
                   ? "node(s) did not have enough free storage"
                   : "node(s) didn't find available persistent volumes to bind";
    if (kind.starts_with("attachable-volumes-"))
        return "node(s) exceed max volume count";
    return kind == "pods" ? "Too many pods" : "Insufficient " + kind;
}

/// Returns kube-scheduler's message for a node that cannot use the pod's volumes or devices.
template<std::size_t Width>
[[nodiscard]] std::string volume_text(const constraints& where, const node<Width>& spec) {
    bool bound = false;
    bool devices = false;
    for (const volume_reach& each : where.volumes) {
        const bool reached =
            std::ranges::any_of(each.any_of, [&](const auto& term) { return term.matches(spec); });
        bound = bound || (!reached && each.bound && !each.of_devices);
        devices = devices || (!reached && each.of_devices);
    }
    return bound     ? "node(s) had volume node affinity conflict"
           : devices ? "resourceclaim not available on the node"
                     : "node(s) didn't find available persistent volumes to bind";
}

/// kube-scheduler's message for a node that lacks devices. For a node that lacks room in NUMA
/// zones, the message of the plugin NodeResourceTopologyMatch is "cannot align pod".
inline constexpr const char* devices_taken_text = "cannot allocate all claims";

/// Returns kube-scheduler's message for a node that a pod term of the pod's spec rules out.
[[nodiscard]] constexpr const char* term_text(affinity_violation why) noexcept {
    switch (why) {
    case affinity_violation::spread_label:
        return "node(s) didn't match pod topology spread constraints (missing required label)";
    case affinity_violation::spread:
        return "node(s) didn't match pod topology spread constraints";
    case affinity_violation::affinity:
        return "node(s) didn't match pod affinity rules";
    case affinity_violation::anti_affinity:
        return "node(s) didn't match pod anti-affinity rules";
    case affinity_violation::existing_anti_affinity:
        return "node(s) didn't satisfy existing pods anti-affinity rules";
    case affinity_violation::none:
        break;
    }
    return "";
}

/// Returns kube-scheduler's message for a node that a pod term rules out. Terms for shared volumes
/// and ResourceClaims have no pod affinity in the pod's spec, so they get the message for these.
[[nodiscard]] inline std::string term_text(const affinity_refusal::place& refused,
                                           const constraints& where) {
    const auto seeks = [&](const affinity_term& term) {
        return !term.of_volume && term.topology == refused.topology;
    };
    if (refused.why == affinity_violation::affinity && where.pods &&
        std::ranges::none_of(where.pods->affinity, seeks))
        return refused.topology == volume_node_label
                   ? devices_taken_text
                   : "node(s) didn't find available persistent volumes to bind";
    const bool apart = refused.why == affinity_violation::anti_affinity ||
                       refused.why == affinity_violation::existing_anti_affinity;
    if (apart && refused.topology == volume_cluster_label)
        return "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod "
               "access mode";
    if (apart && refused.topology == volume_node_label)
        return "node(s) had no available disk";
    if (apart && refused.topology == volume_supply_label)
        return "node(s) didn't find available persistent volumes to bind";
    return term_text(refused.why);
}

/// Returns the message for a node that could take a member of a gang that these reasons stop.
[[nodiscard]] inline std::string gang_refusal(const std::vector<told_reason>& why) {
    const auto has = [&](reason_code code) {
        return std::ranges::find(why, name_of(code), &told_reason::code) != why.end();
    };
    return has(reason_code::quota_exceeded) ? "node(s) would take the queue over its quota"
           : has(reason_code::topology_fragmented)
               ? "node(s) stood in no domain that takes the group"
           : has(reason_code::room_reserved) ? "node(s) had room kept for other groups"
           : has(reason_code::fits_by_now)   ? "node(s) are to be asked again"
                                             : "node(s) couldn't take the group with the others";
}

} // namespace detail

} // namespace words
} // namespace v0_1
} // namespace muster
