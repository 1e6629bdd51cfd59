// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include <muster/gangs/api_facts.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

namespace keys {
inline constexpr std::string_view sigs_group = "pod-group.scheduling.sigs.k8s.io";
inline constexpr std::string_view sigs_name = "pod-group.scheduling.sigs.k8s.io/name";
inline constexpr std::string_view sigs_minimum = "pod-group.scheduling.sigs.k8s.io/min-available";
inline constexpr std::string_view sigs_groups = "pod-group.scheduling.sigs.k8s.io/groups";
inline constexpr std::string_view sigs_matching = "pod-group.scheduling.sigs.k8s.io/match-policy";
} // namespace keys

namespace detail {
inline constexpr std::array ack_marks{
    gang_mark{mark_place::label, keys::sigs_group, mark_use::membership},
    gang_mark{mark_place::label, keys::sigs_name, mark_use::membership},
    gang_mark{mark_place::label, keys::sigs_minimum, mark_use::membership},
    gang_mark{mark_place::label, keys::sigs_groups, mark_use::membership},
    gang_mark{mark_place::label, keys::sigs_matching},
    gang_mark{mark_place::annotation, keys::sigs_groups, mark_use::membership},
    gang_mark{mark_place::annotation, keys::sigs_matching}};
inline constexpr std::array ack_targets{target::ack_1_30, target::ack_1_31};
} // namespace detail

/// ACK has labels only; its scheduler is the cluster's.
inline constexpr api_facts ack_facts{.api = gang_api::coscheduling,
                                     .marks = detail::ack_marks,
                                     .targets = detail::ack_targets,
                                     .priority_of_pods = true};

} // namespace translate
} // namespace v0_1
} // namespace muster
