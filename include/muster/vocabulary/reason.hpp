// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/base/id.hpp>

namespace muster {
inline namespace v0_1 {

/// Stable codes of reasons. Reasons are listed in the order of the enumerators.
enum class reason_code : std::uint8_t {
    /// The pods name a group that does not exist.
    group_missing,
    /// The group's definition is invalid.
    group_malformed,
    /// Its members disagree about the minimum or the priority.
    members_disagree,
    /// Fewer members exist than the minimum of the group, subgroup or role.
    not_enough_members,
    queue_unknown,
    queue_closed,
    /// The tenant may not use the queue.
    queue_forbidden,
    /// Members carry constraints that are not modelled.
    unsupported_constraint,
    /// Members have volumes that no node can use yet.
    volume_not_ready,
    insufficient_resource,
    quota_exceeded,
    node_selector_mismatch,
    untolerated_taint,
    node_unschedulable,
    /// Members that must share a domain of a topology: none takes them, or those that hold room are
    /// in two.
    topology_fragmented,
    host_port_taken,
    /// Too few nodes can use the members' volumes or have them provisioned.
    volume_out_of_reach,
    // Terms between pods, as the first member that finds no node meets them.
    spread_uneven,
    affinity_unmet,
    anti_affinity_met,
    /// The required anti-affinity of pods on nodes.
    kept_off_by_others,
    /// Room enough is free, but kept for gangs that wait longer or come first.
    room_reserved,
    /// A gang ahead of it waits, in a queue that keeps strict order.
    behind_in_queue,
    /// The search budget ended first.
    search_budget_spent,
    /// Nothing any more: what happened since it was asked lets it fit, and it is asked again in the
    /// next cycle. So wait gangs which terms kept out until others started behind them.
    fits_by_now,
    /// Too few nodes have free devices that satisfy the device demands of the members.
    devices_taken,
};

/// The names of the codes for programs, in the order of the enumerators. They stay as they are.
inline constexpr std::string_view reason_names[] = {
    "GroupMissing",     "GroupMalformed",       "MembersDisagree",    "NotEnoughMembers",
    "QueueUnknown",     "QueueClosed",          "QueueForbidden",     "UnsupportedConstraint",
    "VolumeNotReady",   "InsufficientResource", "QuotaExceeded",      "NodeSelectorMismatch",
    "UntoleratedTaint", "NodeUnschedulable",    "TopologyFragmented", "HostPortTaken",
    "VolumeOutOfReach", "SpreadUneven",         "AffinityUnmet",      "AntiAffinityMet",
    "KeptOffByOthers",  "RoomReserved",         "BehindInQueue",      "SearchBudgetSpent",
    "FitsByNow",        "DevicesTaken"};

[[nodiscard]] constexpr std::string_view name_of(reason_code code) noexcept {
    return reason_names[static_cast<std::size_t>(code)];
}
static_assert(name_of(reason_code::fits_by_now) == "FitsByNow");
static_assert(name_of(reason_code::topology_fragmented) == "TopologyFragmented");

/// How a reason affects the answer.
enum class reason_kind : std::uint8_t {
    /// Alone it keeps the gang from starting.
    blocking,
    /// Only together with the others so marked.
    blocking_together,
    /// Does not decide, yet without it some role taken alone would lack fewer pods, or the gang
    /// would fit.
    contributing,
};

/// Numbers for one role (or subgroup, or the gang as a whole at the root).
struct role_shortage {
    vertex_index role;
    /// Members that must be placed, in addition to `held`, to meet the minima of the role. With
    /// `not_enough_members`: the minimum.
    std::int64_t needed = 0;
    /// Members of the role that have nodes. With `not_enough_members`: 0.
    std::int64_t held = 0;
    /// Waiting members of the role that fit if this reason is the only limit and no other role
    /// takes room. With `not_enough_members`: members that exist. With `unsupported_constraint`:
    /// waiting members whose constraints are all modelled.
    std::int64_t possible = 0;
};

/// Room in one domain for members that must share a domain.
struct domain_room {
    /// The value of the node label.
    std::string name;
    std::int64_t possible = 0;
    /// Kinds of which the domain has too little for the needed members.
    std::vector<kind_id> short_of;
};

struct reason {
    reason_code code = reason_code::insufficient_resource;
    reason_kind kind = reason_kind::blocking;
    /// Of `blocking_together`: some members of the set could not be tried out within the budget.
    /// Of terms between pods always: there is no proof.
    bool not_minimal = false;
    std::optional<kind_id> resource;
    /// Of quotas the one whose ceiling it is, which may be above the gang's own.
    std::optional<queue_index> queue;
    /// The quota is that for non-preemptible gangs.
    bool non_preemptible = false;
    /// The vertex of the gang's tree whose members must share a domain. Its numbers say how many
    /// must still be placed, and how many the roomiest domain takes.
    std::optional<vertex_index> together;
    /// The members that hold are not in one domain, so no member can join them.
    bool spans_domains = false;
    /// The members must share a domain because they share a volume that does not exist yet.
    /// `topology` is the label key of the volume's domains. With `topology_fragmented`: `domains`
    /// lists the domains in which the volume may be.
    bool shares_volume = false;
    std::vector<domain_room> domains;
    /// If `resource` is set: the least amount that the gang needs, and the amount left.
    std::int64_t amount_needed = 0;
    std::int64_t amount_left = 0;
    std::vector<role_shortage> roles;
    /// Of a pod term: its label key, and the number of nodes that it rejects and that could
    /// otherwise take the member.
    std::string topology;
    std::int64_t nodes = 0;
    /// With `spread_uneven`: how many of these nodes lack the label.
    std::int64_t unlabelled = 0;
    /// The gangs for which room is reserved.
    std::vector<gang_index> owners;
};

} // namespace v0_1
} // namespace muster
