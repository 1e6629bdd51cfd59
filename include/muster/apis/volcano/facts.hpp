// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include <muster/gangs/api_facts.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

namespace keys {
inline constexpr std::string_view volcano_group = "scheduling.k8s.io/group-name";
inline constexpr std::string_view volcano_own_group = "scheduling.volcano.sh/group-name";
inline constexpr std::string_view volcano_task = "volcano.sh/task-spec";
inline constexpr std::string_view volcano_preemptible = "volcano.sh/preemptable";
inline constexpr std::string_view volcano_queue = "scheduling.volcano.sh/queue-name";
inline constexpr std::string_view volcano_minimum = "scheduling.volcano.sh/group-min-member";
} // namespace keys

/// The version of Volcano's PodGroups and Queues.
inline constexpr std::string_view volcano_group_version = "scheduling.volcano.sh/v1beta1";
/// With older ones; the last is kube-batch's, from which Volcano's come.
inline constexpr std::array<std::string_view, 4> volcano_group_versions{
    volcano_group_version, "scheduling.volcano.sh/v1alpha2", "scheduling.volcano.sh/v1alpha1",
    "scheduling.incubator.k8s.io/v1alpha1"};

namespace schedulers {
inline constexpr std::string_view volcano = "volcano";
} // namespace schedulers

namespace detail {
inline constexpr std::array volcano_marks{
    gang_mark{mark_place::annotation, keys::volcano_group, mark_use::membership},
    gang_mark{mark_place::annotation, keys::volcano_own_group, mark_use::membership},
    gang_mark{mark_place::annotation, keys::volcano_task},
    gang_mark{mark_place::annotation, keys::volcano_queue, mark_use::queue},
    gang_mark{mark_place::annotation, keys::volcano_preemptible},
    gang_mark{mark_place::label, keys::volcano_task}};
inline constexpr std::array volcano_targets{target::volcano};
inline constexpr std::array volcano_collections{
    api_collection{api_content::queue, volcano_group_version, "Queue", "queues"},
    api_collection{api_content::group, volcano_group_version, "PodGroup", "podgroups"}};
} // namespace detail

inline constexpr api_facts volcano_facts{.api = gang_api::volcano,
                                         .dialect = "volcano",
                                         .scheduler = schedulers::volcano,
                                         .marks = detail::volcano_marks,
                                         .targets = detail::volcano_targets,
                                         .collections = detail::volcano_collections};

} // namespace translate
} // namespace v0_1
} // namespace muster
