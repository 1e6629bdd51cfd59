// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include <muster/gangs/api_facts.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

namespace keys {
/// The application of a pod, as a label or an annotation.
inline constexpr std::string_view yunikorn_application = "yunikorn.apache.org/app-id";
/// Older labels for the same, in the order in which YuniKorn looks at them.
inline constexpr std::string_view yunikorn_old_application = "applicationId";
inline constexpr std::string_view yunikorn_spark_application = "spark-app-selector";
inline constexpr std::string_view yunikorn_task_group = "yunikorn.apache.org/task-group-name";
inline constexpr std::string_view yunikorn_task_groups = "yunikorn.apache.org/task-groups";
inline constexpr std::string_view yunikorn_parameters =
    "yunikorn.apache.org/schedulingPolicyParameters";
/// The queue, as a label or an annotation; the old label has no domain.
inline constexpr std::string_view yunikorn_queue = "yunikorn.apache.org/queue";
inline constexpr std::string_view yunikorn_old_queue = "queue";
} // namespace keys

namespace detail {
inline constexpr gang_api yunikorn_family{"yunikorn"};
inline constexpr std::array yunikorn_marks{
    gang_mark{mark_place::annotation, keys::yunikorn_task_group, mark_use::membership},
    gang_mark{mark_place::annotation, keys::yunikorn_task_groups, mark_use::membership},
    gang_mark{mark_place::annotation, keys::yunikorn_parameters},
    gang_mark{mark_place::label, keys::yunikorn_application},
    gang_mark{mark_place::annotation, keys::yunikorn_application},
    gang_mark{mark_place::label, keys::yunikorn_old_application},
    gang_mark{mark_place::label, keys::yunikorn_queue, mark_use::queue},
    gang_mark{mark_place::annotation, keys::yunikorn_queue, mark_use::queue},
    gang_mark{mark_place::label, keys::yunikorn_old_queue}};
inline constexpr std::array yunikorn_targets{target{"yunikorn"}};
} // namespace detail

/// YuniKorn has no objects for gangs: pods describe them.
inline constexpr api_facts yunikorn_facts{.api = detail::yunikorn_family,
                                          .dialect = "yunikorn",
                                          .scheduler = "yunikorn",
                                          .marks = detail::yunikorn_marks,
                                          .targets = detail::yunikorn_targets,
                                          .priority_of_pods = true};

} // namespace translate
} // namespace v0_1
} // namespace muster
