// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <muster/gangs/target.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// How KAI's PodGroups are called.
enum class kai_naming : std::uint8_t {
    /// As the gang; pods are kept from KAI's own grouping.
    backend,
    /// As KAI's podgrouper does it: `pg-<top owner>-<its uid>`.
    podgrouper,
};

/// What the source does not say and a target wants to know.
struct write_options {
    grove_dialect dialect = grove_dialect::upstream;
    /// Absent: what the dialect does for PodGangs, and `backend` for others.
    std::optional<kai_naming> naming{};
    /// The schedulerName of pods; absent: the one that the target's scheduler usually has.
    std::optional<std::string> scheduler_name{};
    /// For gangs that name no queue, where a target needs one; KAI's podgrouper falls back to this
    /// one too.
    std::string kai_queue = "default-queue";
    /// The Topology of gangs that ask for levels and name none; empty: they lose that wish.
    std::string kai_topology{};
    /// ACK: roles become gangs of a gang group where one gang would lose their minima.
    bool ack_gang_groups = true;
    /// Kubernetes 1.37: gangs of several roles become trees of CompositePodGroups, an alpha API;
    /// otherwise PodGroups that start without each other.
    bool composite_pod_groups = true;
    /// Kubernetes: always one PodGroup, which keeps all-or-nothing and loses minima of roles.
    bool one_pod_group = false;
    /// How long members of a Koordinator PodGroup made for a PodGang wait; absent: Koordinator's
    /// own default.
    std::optional<std::int64_t> koordinator_wait_seconds{};
};

} // namespace translate
} // namespace v0_1
} // namespace muster
