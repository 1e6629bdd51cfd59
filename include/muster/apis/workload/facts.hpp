// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include <muster/gangs/api_facts.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// The versions of Kubernetes' Workloads and PodGroups: of 1.35, of 1.36, and the two of 1.37.
inline constexpr std::string_view workload_version_1_35 = "scheduling.k8s.io/v1alpha1";
inline constexpr std::string_view workload_version_1_36 = "scheduling.k8s.io/v1alpha2";
inline constexpr std::string_view workload_version_1_37_alpha = "scheduling.k8s.io/v1alpha3";
inline constexpr std::string_view workload_version_1_37 = "scheduling.k8s.io/v1beta1";

namespace detail {
inline constexpr std::array workload_marks{
    gang_mark{mark_place::field, "workloadRef", mark_use::membership},
    gang_mark{mark_place::field, "schedulingGroup", mark_use::membership}};
inline constexpr std::array workload_targets{target::workload_1_35, target::workload_1_36,
                                             target::workload_1_37};
inline constexpr std::array workload_collections{
    api_collection{api_content::group, workload_version_1_35, "Workload", "workloads"},
    api_collection{api_content::group, workload_version_1_36, "Workload", "workloads"},
    api_collection{api_content::group, workload_version_1_36, "PodGroup", "podgroups"}};
} // namespace detail

/// It has no scheduler name of its own: its pods name kube-scheduler, so a live scheduler must be
/// given the name (`--scheduler-name`).
inline constexpr api_facts workload_facts{.api = gang_api::workload,
                                          .dialect = "workload",
                                          .marks = detail::workload_marks,
                                          .targets = detail::workload_targets,
                                          .collections = detail::workload_collections,
                                          .priority_of_pods = true};

} // namespace translate
} // namespace v0_1
} // namespace muster
