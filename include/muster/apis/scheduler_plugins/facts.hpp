// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include <muster/gangs/api_facts.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

namespace keys {
inline constexpr std::string_view plugins_group = "scheduling.x-k8s.io/pod-group";
} // namespace keys

inline constexpr std::string_view plugins_group_version = "scheduling.x-k8s.io/v1alpha1";

namespace schedulers {
inline constexpr std::string_view plugins = "scheduler-plugins-scheduler";
} // namespace schedulers

namespace detail {
inline constexpr std::array plugins_marks{
    gang_mark{mark_place::label, keys::plugins_group, mark_use::membership}};
inline constexpr std::array plugins_targets{target::scheduler_plugins};
inline constexpr std::array plugins_collections{
    api_collection{api_content::group, plugins_group_version, "PodGroup", "podgroups"}};
} // namespace detail

inline constexpr api_facts plugins_facts{.api = gang_api::coscheduling,
                                         .dialect = "scheduler-plugins",
                                         .scheduler = schedulers::plugins,
                                         .marks = detail::plugins_marks,
                                         .targets = detail::plugins_targets,
                                         .collections = detail::plugins_collections,
                                         .priority_of_pods = true};

} // namespace translate
} // namespace v0_1
} // namespace muster
