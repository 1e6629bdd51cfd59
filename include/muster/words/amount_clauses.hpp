// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <muster/resource/storage_kinds.hpp>
#include <muster/vocabulary/reason.hpp>
#include <muster/words/amount_text.hpp>
#include <muster/words/reason_context.hpp>
#include <muster/words/role_clauses.hpp>

namespace muster {
inline namespace v0_1 {
namespace words {
namespace detail {

/// Says by how much the demand exceeds the total supply.
[[nodiscard]] inline std::string short_by(const reason& what, const std::string& kind) {
    if (what.amount_needed <= what.amount_left)
        return "";
    if (what.amount_needed == std::numeric_limits<std::int64_t>::max())
        return ", which is more than can be counted";
    return ": short by " + amount_text(kind, what.amount_needed - what.amount_left);
}

/// Names what is short: a resource, or storage for claims.
[[nodiscard]] inline std::string supply_name(const reason_context& context,
                                             const std::string& kind) {
    if (const auto driver = storage_kinds::driver_in(kind); !driver.empty())
        return "attachments of CSI driver " + std::string(driver);
    if (context.claims.empty() || !storage_kinds::counts_storage(kind))
        return kind;
    return (storage_kinds::counts_bytes(kind) ? "storage of class " : "free volumes of class ") +
           std::string(storage_kinds::class_in(kind)) +
           (context.claims.find(',') == std::string::npos ? " for claim " : " for claims ") +
           context.claims;
}

/// The text of `insufficient_resource`, without the roles.
[[nodiscard]] inline std::string resource_shortage(const reason& what,
                                                   const reason_context& context) {
    const std::string& kind = context.kinds->name(*what.resource);
    const bool now = context.scope == certificate_scope::free_now;
    const std::string needed = amount_text(kind, what.amount_needed);
    const std::string left = amount_text(kind, what.amount_left);
    const std::string needs = supply_name(context, kind) + ": " + subject(context) + " needs ";
    // A sum over all nodes is misleading if some nodes have no limit.
    if (!storage_kinds::driver_in(kind).empty() && !context.by_node.empty())
        return needs + (context.counted_high ? "up to " : "") + needed +
               (!now                   ? "; nodes attach at most: "
                : context.keeps_shared ? "; attached + kept for volumes that waiting pods share: "
                                       : "; attached: ") +
               context.by_node;
    const std::string by_node = context.by_node.empty() ? "" : " (" + context.by_node + ")";
    const std::string demand = needs + needed + ", ";
    const std::string whole = "the whole cluster has " + left + by_node;
    if (what.amount_needed > what.amount_left)
        return demand + (now ? left + (left == "1" ? " is free" : " are free") + by_node : whole) +
               short_by(what, kind);
    const std::string enough =
        demand +
        (now ? left + (left == "1" ? " is free in all" : " are free in all") + by_node : whole);
    if (what.kind == reason_kind::blocking_together)
        return enough + ", but too little on the nodes that the other reasons leave";
    if (what.kind != reason_kind::blocking)
        return enough + ", but too little where " + (context.single_pod ? "it" : "its members") +
               " could be placed";
    if (context.single_pod)
        return enough + ", but no node has that much";
    return enough + (each_role_has_room(what) ? ", but not where its members fit beside one another"
                                              : ", but in pieces too small for all its members");
}

/// The text of `quota_exceeded`, without the roles.
[[nodiscard]] inline std::string quota_shortage(const reason& what, const reason_context& context) {
    const std::string& kind = context.kinds->name(*what.resource);
    const bool now = context.scope == certificate_scope::free_now;
    const std::string of_gangs = what.non_preemptible ? " for non-preemptible gangs" : "";
    return kind + ": " + subject(context) + " needs " + amount_text(kind, what.amount_needed) +
           (now ? ", queue " + context.queue + " has "
                : ", the quota of queue " + context.queue + of_gangs + " is ") +
           amount_text(kind, what.amount_left) + (now ? " of its quota" + of_gangs + " left" : "") +
           short_by(what, kind);
}

} // namespace detail
} // namespace words
} // namespace v0_1
} // namespace muster
