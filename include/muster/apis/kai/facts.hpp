// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include <muster/gangs/api_facts.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

namespace keys {
inline constexpr std::string_view kai_group = "pod-group-name";
inline constexpr std::string_view kai_subgroup = "kai.scheduler/subgroup-name";
inline constexpr std::string_view kai_queue = "kai.scheduler/queue";
inline constexpr std::string_view kai_skip = "kai.scheduler/skip-podgrouper";
inline constexpr std::string_view kai_owner = "kai.scheduler/top-owner-metadata";
inline constexpr std::string_view kai_topology = "kai.scheduler/topology";
inline constexpr std::string_view kai_preemptibility = "kai.scheduler/preemptibility";
inline constexpr std::string_view kai_topology_required =
    "kai.scheduler/topology-required-placement";
inline constexpr std::string_view kai_topology_preferred =
    "kai.scheduler/topology-preferred-placement";
inline constexpr std::string_view kai_batch_minimum = "kai.scheduler/batch-min-member";
inline constexpr std::string_view kai_preemption_delay = "kai.scheduler/preemption-delay";
inline constexpr std::string_view kai_staleness = "kai.scheduler/staleness-grace-period";

/// Annotations by which a pod asks for a part of a GPU.
inline constexpr std::array<std::string_view, 2> kai_device_shares{"gpu-fraction", "gpu-memory"};
} // namespace keys

inline constexpr std::string_view kai_group_version = "scheduling.run.ai/v2alpha2";
inline constexpr std::string_view kai_queue_version = "scheduling.run.ai/v2";
inline constexpr std::string_view kai_topology_version = "kai.scheduler/v1alpha1";

namespace schedulers {
inline constexpr std::string_view kai = "kai-scheduler";
} // namespace schedulers

namespace detail {
inline constexpr std::array kai_marks{
    gang_mark{mark_place::annotation, keys::kai_group, mark_use::membership},
    gang_mark{mark_place::annotation, keys::kai_skip},
    gang_mark{mark_place::label, keys::kai_subgroup},
    gang_mark{mark_place::label, keys::kai_queue, mark_use::queue}};
inline constexpr std::array kai_targets{target::kai_0_14, target::kai_0_15};
inline constexpr std::array kai_collections{
    api_collection{api_content::topology, kai_topology_version, "Topology", "topologies"},
    api_collection{api_content::queue, kai_queue_version, "Queue", "queues"},
    api_collection{api_content::group, kai_group_version, "PodGroup", "podgroups"}};
} // namespace detail

inline constexpr api_facts kai_facts{.api = gang_api::kai,
                                     .dialect = "kai",
                                     .scheduler = schedulers::kai,
                                     .marks = detail::kai_marks,
                                     .targets = detail::kai_targets,
                                     .collections = detail::kai_collections};

} // namespace translate
} // namespace v0_1
} // namespace muster
