// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include <muster/gangs/api_facts.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

namespace keys {
inline constexpr std::string_view koord_name = "gang.scheduling.koordinator.sh/name";
inline constexpr std::string_view koord_minimum = "gang.scheduling.koordinator.sh/min-available";
inline constexpr std::string_view koord_groups = "gang.scheduling.koordinator.sh/groups";
inline constexpr std::string_view koord_matching = "gang.scheduling.koordinator.sh/match-policy";
inline constexpr std::string_view koord_queue = "quota.scheduling.koordinator.sh/name";
inline constexpr std::string_view koord_mode = "gang.scheduling.koordinator.sh/mode";
inline constexpr std::string_view koord_wait = "gang.scheduling.koordinator.sh/waiting-time";
inline constexpr std::string_view koord_total = "gang.scheduling.koordinator.sh/total-number";
inline constexpr std::string_view koord_timeout = "gang.scheduling.koordinator.sh/timeout";
inline constexpr std::string_view koord_topology =
    "gang.scheduling.koordinator.sh/network-topology-spec";
} // namespace keys

/// The version of Koordinator's PodGroups, which scheduler-plugins had before.
inline constexpr std::string_view sigs_group_version = "scheduling.sigs.k8s.io/v1alpha1";

namespace schedulers {
inline constexpr std::string_view koordinator = "koord-scheduler";
} // namespace schedulers

namespace detail {
inline constexpr std::array koordinator_marks{
    gang_mark{mark_place::label, keys::koord_queue, mark_use::queue},
    gang_mark{mark_place::annotation, keys::koord_name, mark_use::membership},
    gang_mark{mark_place::annotation, keys::koord_minimum},
    gang_mark{mark_place::annotation, keys::koord_groups, mark_use::membership},
    gang_mark{mark_place::annotation, keys::koord_matching},
    gang_mark{mark_place::annotation, keys::koord_mode},
    gang_mark{mark_place::annotation, keys::koord_wait},
    gang_mark{mark_place::annotation, keys::koord_total},
    gang_mark{mark_place::annotation, keys::koord_timeout},
    gang_mark{mark_place::annotation, keys::koord_topology}};
inline constexpr std::array koordinator_targets{target::koordinator};
inline constexpr std::array koordinator_collections{
    api_collection{api_content::group, sigs_group_version, "PodGroup", "podgroups"}};
} // namespace detail

inline constexpr api_facts koordinator_facts{.api = gang_api::coscheduling,
                                             .dialect = "koordinator",
                                             .scheduler = schedulers::koordinator,
                                             .marks = detail::koordinator_marks,
                                             .targets = detail::koordinator_targets,
                                             .collections = detail::koordinator_collections,
                                             .priority_of_pods = true};

} // namespace translate
} // namespace v0_1
} // namespace muster
