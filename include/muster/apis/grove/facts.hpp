// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include <muster/gangs/api_facts.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

namespace keys {
inline constexpr std::string_view grove_gang = "grove.io/podgang";
inline constexpr std::string_view grove_clique = "grove.io/podclique";
inline constexpr std::string_view grove_base_gang = "grove.io/base-podgang";
inline constexpr std::string_view grove_scheduler = "grove.io/scheduler-name";
inline constexpr std::string_view grove_backend = "grove.io/scheduler-backend";
inline constexpr std::string_view grove_topology = "grove.io/topology-name";
inline constexpr std::string_view grove_volcano_queue = "scheduling.grove.io/volcano-queue";
inline constexpr std::string_view grove_gate = grove_gang;
inline constexpr std::string_view grove_upstream_gate = "grove.io/podgang-pending-creation";
} // namespace keys

/// The version of PodGangs.
inline constexpr std::string_view grove_gang_version = "scheduler.grove.io/v1alpha1";

namespace detail {
inline constexpr std::array grove_marks{gang_mark{mark_place::label, keys::grove_gang},
                                        gang_mark{mark_place::label, keys::grove_clique},
                                        gang_mark{mark_place::label, keys::grove_base_gang},
                                        gang_mark{mark_place::gate, keys::grove_gate},
                                        gang_mark{mark_place::gate, keys::grove_upstream_gate}};
inline constexpr std::array grove_targets{target::grove};
inline constexpr std::array grove_collections{
    api_collection{api_content::group, grove_gang_version, "PodGang", "podgangs", true}};
} // namespace detail

/// The schedulers are those of its backends.
inline constexpr api_facts grove_facts{.api = gang_api::grove,
                                       .marks = detail::grove_marks,
                                       .targets = detail::grove_targets,
                                       .collections = detail::grove_collections};

} // namespace translate
} // namespace v0_1
} // namespace muster
