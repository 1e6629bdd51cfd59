// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <muster/apis/grove/facts.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// Words of Grove's API. The names below are made and never taken apart again: objects say by
/// labels where they belong.
namespace grove {

inline constexpr std::string_view api_version = "grove.io/v1alpha1";
inline constexpr std::string_view scheduler_api_version = grove_gang_version;

inline constexpr std::string_view managed_by_label = "app.kubernetes.io/managed-by";
inline constexpr std::string_view part_of_label = "app.kubernetes.io/part-of";
inline constexpr std::string_view component_label = "app.kubernetes.io/component";
inline constexpr std::string_view operator_name = "grove-operator";
inline constexpr std::string_view clique_label = keys::grove_clique;
inline constexpr std::string_view gang_label = keys::grove_gang;
inline constexpr std::string_view base_gang_label = keys::grove_base_gang;
inline constexpr std::string_view replica_label = "grove.io/podcliqueset-replica-index";
inline constexpr std::string_view group_label = "grove.io/podcliquescalinggroup";
inline constexpr std::string_view group_replica_label =
    "grove.io/podcliquescalinggroup-replica-index";
inline constexpr std::string_view pod_index_label = "grove.io/podclique-pod-index";
inline constexpr std::string_view template_hash_label = "grove.io/pod-template-hash";
inline constexpr std::string_view topology_annotation = keys::grove_topology;
/// Which backend a PodGang is for: in the dialect `seed` the backend's own name, in `upstream` the
/// name of its scheduler.
inline constexpr std::string_view backend_label = keys::grove_backend;
inline constexpr std::string_view scheduler_label = keys::grove_scheduler;
/// Held by pods that are not to be scheduled yet, in the dialects `seed` and `upstream`.
inline constexpr std::string_view seed_gate = keys::grove_gate;
inline constexpr std::string_view upstream_gate = keys::grove_upstream_gate;

/// The most characters that the names of a set, a scaling group and a clique may have together, so
/// that names of pods with their random ends stay legal host names.
inline constexpr std::size_t name_budget = 45;

/// `<name>-<index>`: the base PodGang and the headless Service of a set's replica.
[[nodiscard]] inline std::string replica_name(std::string_view set, std::int64_t replica) {
    return std::string(set) + '-' + std::to_string(replica);
}

/// `<set>-<replica>-<part>`: a clique that stands alone, or a scaling group.
[[nodiscard]] inline std::string part_name(std::string_view set, std::int64_t replica,
                                           std::string_view part) {
    return replica_name(set, replica).append("-").append(part);
}

/// `<set>-<replica>-<group>-<k>`: the PodGang of the group's replica minAvailable + k.
[[nodiscard]] inline std::string scaled_gang_name(std::string_view set, std::int64_t replica,
                                                  std::string_view group, std::int64_t beyond) {
    return replica_name(part_name(set, replica, group), beyond);
}

/// `<set>-<replica>-<group>-<group replica>-<clique>`.
[[nodiscard]] inline std::string member_name(std::string_view set, std::int64_t replica,
                                             std::string_view group, std::int64_t group_replica,
                                             std::string_view clique) {
    return part_name(part_name(set, replica, group), group_replica, clique);
}

} // namespace grove
} // namespace translate
} // namespace v0_1
} // namespace muster
