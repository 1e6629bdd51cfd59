// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include <muster/vocabulary/pod_terms.hpp>
#include <muster/vocabulary/reason.hpp>
#include <muster/words/amount_clauses.hpp>
#include <muster/words/domain_clauses.hpp>
#include <muster/words/reason_context.hpp>
#include <muster/words/reason_name.hpp>
#include <muster/words/role_clauses.hpp>

namespace muster {
inline namespace v0_1 {
namespace words {
namespace detail {

/// True if such a reason says that the nodes have no room, or not where it is needed.
[[nodiscard]] constexpr bool is_about_nodes(reason_code code) noexcept {
    return code == reason_code::insufficient_resource ||
           code == reason_code::node_selector_mismatch || code == reason_code::untolerated_taint ||
           code == reason_code::node_unschedulable || code == reason_code::host_port_taken ||
           code == reason_code::topology_fragmented || code == reason_code::volume_out_of_reach ||
           code == reason_code::devices_taken;
}

[[nodiscard]] inline std::string or_else(const std::string& text, const char* otherwise) {
    return text.empty() ? otherwise : text;
}

/// The text of `devices_taken`, without the roles.
[[nodiscard]] inline std::string device_shortage(const reason_context& context) {
    const std::string& asked = context.asked_devices;
    const std::string& unread = context.unread_registers;
    return std::string("too few nodes have ") +
           (!context.asks_zones     ? "devices free"
            : !context.asks_devices ? "room in NUMA zones"
                                    : "devices free and room in NUMA zones") +
           " for what the pods ask of them" + (asked.empty() ? "" : " (" + asked + ")") +
           ", taken together" +
           (context.numa_room.empty() ? "" : ": available on " + context.numa_room) +
           (unread.empty() ? "" : "; not all devices are known: " + unread);
}

/// The text of a reason for which `keeps_volumes_apart` holds.
[[nodiscard]] inline std::string volume_conflict(const reason& what,
                                                 const reason_context& context) {
    if (what.topology == volume_supply_label)
        return or_else(context.taken_supplies,
                       "free volumes or storage were assigned to other gangs") +
               role_shortages(what, context);
    if (what.topology == volume_cluster_label)
        return or_else(context.lone_claims, "another pod uses a claim of the pods") +
               ": one pod alone may use such a claim (ReadWriteOncePod)" +
               role_shortages(what, context);
    return "nodes have a pod that uses the same disk" +
           (context.disks.empty() ? "" : " (" + context.disks + ")") + ruled_out(what, context);
}

[[nodiscard]] inline std::string reserved_room(const reason_context& context) {
    std::string out = "room for " + subject(context) + " is free, but kept for ";
    for (std::size_t at = 0; at < context.owners.size(); ++at)
        out += (at > 0 ? ", " : "") + context.owners[at];
    return out;
}

/// Returns what rejects the nodes if the context does not say it.
[[nodiscard]] constexpr const char* node_filter_summary(reason_code code) noexcept {
    return code == reason_code::node_selector_mismatch
               ? "too few nodes match the node selector or affinity"
           : code == reason_code::untolerated_taint  ? "nodes have taints that are not tolerated"
           : code == reason_code::node_unschedulable ? "nodes are cordoned"
                                                     : "too few nodes have the host ports free";
}

} // namespace detail

/// Returns why the gang does not start, in one line without a final full stop. The text is for
/// people and may change between versions; `reason_name` is for programs. Preconditions:
/// `context.kinds` has the resource of the reason, and `context.tree` its roles.
[[nodiscard]] inline std::string reason_text(const reason& what, const reason_context& context) {
    using namespace detail;
    if (context.no_nodes && is_about_nodes(what.code))
        return "the cluster has no nodes";
    if (keeps_volumes_apart(what))
        return volume_conflict(what, context);
    switch (what.code) {
    case reason_code::group_missing:
        if (!context.detail.empty())
            return context.detail;
        return context.group.empty() ? "the group does not exist"
                                     : "there is no PodGroup " + context.group + " in namespace " +
                                           context.name_space;
    case reason_code::group_malformed:
        return or_else(context.detail, "the group is malformed");
    case reason_code::members_disagree:
        return or_else(context.detail, "the members disagree about their group");
    case reason_code::not_enough_members:
        return member_counts(what, context);
    case reason_code::queue_unknown:
        return "there is no queue " + context.queue;
    case reason_code::queue_closed:
        return "queue " + context.queue + " is closed to groups that hold nothing yet";
    case reason_code::queue_forbidden:
        return "queue " + context.queue + " does not take " +
               (context.name_space.empty() ? "the gang" : "namespace " + context.name_space);
    case reason_code::unsupported_constraint:
        return "not modelled: " + or_else(context.detail, "constraints of members");
    case reason_code::volume_not_ready:
        return or_else(context.detail, "volumes of members are not ready");
    case reason_code::volume_out_of_reach:
        return (context.only_devices ? "too few nodes have the allocated devices"
                                     : "too few nodes reach the volumes") +
               (context.volumes.empty() ? "" : ": " + context.volumes) +
               role_shortages(what, context);
    case reason_code::devices_taken:
        return device_shortage(context) + role_shortages(what, context);
    case reason_code::insufficient_resource:
        return resource_shortage(what, context) + role_shortages(what, context);
    case reason_code::quota_exceeded:
        return quota_shortage(what, context) + role_shortages(what, context);
    case reason_code::node_selector_mismatch:
    case reason_code::untolerated_taint:
    case reason_code::node_unschedulable:
    case reason_code::host_port_taken:
        return or_else(context.node_filter, node_filter_summary(what.code)) +
               role_shortages(what, context);
    case reason_code::topology_fragmented:
        return topology_shortage(what, context);
    case reason_code::spread_uneven:
        return uneven_spread(what) + ruled_out(what, context);
    case reason_code::affinity_unmet:
        if (what.shares_volume)
            return or_else(context.shared_claims, "a volume that the pods share") +
                   will_be_in_one(domain_noun(what.topology)) +
                   ", and nodes are outside that of the pods placed first" +
                   ruled_out(what, context);
        return "nodes have no pod that is sought in their " + what.topology +
               ruled_out(what, context);
    case reason_code::anti_affinity_met:
        return "nodes have a pod that is avoided in their " + what.topology +
               ruled_out(what, context);
    case reason_code::kept_off_by_others:
        return "nodes have a pod that avoids it in their " + what.topology +
               ruled_out(what, context);
    case reason_code::room_reserved:
        return reserved_room(context);
    case reason_code::behind_in_queue:
        return "a group ahead of it waits, and queue " + context.queue + " keeps its order";
    case reason_code::fits_by_now:
        return "nothing stops it any more since it was asked: the next cycle asks it again";
    case reason_code::search_budget_spent:
        break;
    }
    return "the search ended at its budget, with neither a placement nor a proof";
}

} // namespace words
} // namespace v0_1
} // namespace muster
