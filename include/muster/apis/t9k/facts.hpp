// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include <muster/gangs/api_facts.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

namespace keys {
inline constexpr std::string_view t9k_group = "scheduler.tensorstack.dev/group-name";
inline constexpr std::string_view t9k_role = "scheduler.tensorstack.dev/role";
inline constexpr std::string_view t9k_queue = "scheduler.tensorstack.dev/queue";
} // namespace keys

/// The version of T9k's PodGroups and Queues.
inline constexpr std::string_view t9k_group_version = "scheduler.tensorstack.dev/v1beta1";

namespace schedulers {
inline constexpr std::string_view t9k = "t9k-scheduler";
} // namespace schedulers

namespace detail {
inline constexpr std::array t9k_marks{
    gang_mark{mark_place::label, keys::t9k_group, mark_use::membership},
    gang_mark{mark_place::label, keys::t9k_role},
    gang_mark{mark_place::label, keys::t9k_queue, mark_use::queue}};
inline constexpr std::array t9k_targets{target::t9k};
inline constexpr std::array t9k_collections{
    api_collection{api_content::queue, t9k_group_version, "Queue", "queues"},
    api_collection{api_content::group, t9k_group_version, "PodGroup", "podgroups"}};
} // namespace detail

inline constexpr api_facts t9k_facts{.api = gang_api::t9k,
                                     .dialect = "t9k",
                                     .scheduler = schedulers::t9k,
                                     .marks = detail::t9k_marks,
                                     .targets = detail::t9k_targets,
                                     .collections = detail::t9k_collections};

} // namespace translate
} // namespace v0_1
} // namespace muster
