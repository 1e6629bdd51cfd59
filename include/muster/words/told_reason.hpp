// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/resource/kind_table.hpp>
#include <muster/vocabulary/certificate.hpp>
#include <muster/vocabulary/gang.hpp>
#include <muster/vocabulary/reason.hpp>
#include <muster/words/amount_text.hpp>
#include <muster/words/node_filter_text.hpp>
#include <muster/words/object_names.hpp>
#include <muster/words/reason_context.hpp>
#include <muster/words/reason_name.hpp>
#include <muster/words/reason_text.hpp>

namespace muster {
inline namespace v0_1 {
namespace words {

/// The numbers of one role. For the meaning of `needed` and `possible` see `role_shortage`.
struct told_role {
    /// Absent = the gang as a whole, or a role without a name.
    std::optional<std::string> role;
    std::int64_t needed = 0;
    std::int64_t possible = 0;
};

/// A reason as names, numbers and text, independent of the state.
struct told_reason {
    /// `reason_name`.
    std::string code;
    /// `reason_kind_name`.
    std::string kind;
    bool not_minimal = false;
    /// The queue whose quota is too low, or that is unknown or closed.
    std::optional<std::string> queue;
    std::optional<std::string> resource;
    /// `reason_text`.
    std::string message;
    /// With `resource`: the least amount that the gang needs and the amount that is left, as
    /// quantities of Kubernetes; else empty.
    std::string needed;
    std::string left;
    std::vector<told_role> roles;
    /// The gangs for which room is reserved.
    std::vector<std::string> kept_for;
    /// Nodes lack room in NUMA zones, not devices.
    bool is_about_zones = false;
};

/// True if such a reason is about a queue.
[[nodiscard]] constexpr bool is_about_queue(reason_code code) noexcept {
    return code == reason_code::quota_exceeded || code == reason_code::queue_unknown ||
           code == reason_code::queue_closed || code == reason_code::queue_forbidden;
}

/// Returns the role's name, or nullopt for the gang itself and for roles without a name.
[[nodiscard]] inline std::optional<std::string> role_name(const gang_tree& tree,
                                                          vertex_index role) {
    if (role.value() == 0 || tree[role].name.empty())
        return std::nullopt;
    return tree[role].name;
}

/// Options of `tell_reasons`.
struct telling {
    /// The names of the resource kinds. Not null.
    const kind_table* kinds = nullptr;
    /// The scope in which the reasons were found.
    certificate_scope scope = certificate_scope::free_now;
    /// The reasons are those of this member.
    std::optional<pod_index> only{};
    /// The gang is a single pod that names no group.
    bool single_pod = false;
};

/// Adds nothing to what the state knows.
struct no_details {
    void operator()(const reason&, reason_context&) const noexcept {}
};

namespace detail {

/// Returns, for each vertex of a gang's tree, the number of members with scheduling gates at or
/// below the vertex.
template<class Traits>
[[nodiscard]] std::vector<std::int64_t> gated_members(const cluster_state<Traits>& cluster,
                                                      gang_index which) {
    const gang_tree& tree = cluster[which].spec.tree;
    std::vector<std::int64_t> counts(tree.size(), 0);
    for (const pod_index member : cluster[which].members)
        if (cluster[member].gated() && cluster[member].role.value() < counts.size())
            ++counts[cluster[member].role.value()];
    for (std::size_t vertex = tree.size(); vertex-- > 1;)
        counts[tree[vertex].parent] += counts[vertex];
    return counts;
}

/// Returns the nodes to which other schedulers have nominated members of the gang.
template<class Traits, object_names Names>
[[nodiscard]] std::set<std::string> nominated_nodes(const cluster_state<Traits>& cluster,
                                                    gang_index which, const Names& names) {
    std::set<std::string> found;
    for (const pod_index member : cluster[which].members)
        if (const auto& pod = cluster[member]; pod.gated() && pod.nominated && pod.node)
            found.insert(names(*pod.node));
    return found;
}

template<class Details>
[[nodiscard]] std::string filter_text(const Details& details, const node_filter_key& filter,
                                      const auto& write) {
    if constexpr (requires { details.filter_text(filter, write); })
        return details.filter_text(filter, write);
    else
        return write();
}

} // namespace detail

/// Returns the reasons of a gang as text and under stable names, in the same order. `found`: the
/// reasons that `explain` or `explain_member` returned. Precondition: `how.kinds` is not null.
///
/// `details(reason, context)` adds to the context what the state does not know, such as names of
/// volumes; it may also replace what the state knows. `details` may have a function
/// `filter_text(key, write)`, a cache for gangs with the same constraints: it returns `write()`, or
/// the text that `write` returned for an equal `node_filter_key`.
///
/// O(members) for each reason; for a reason about labels, taints, cordons or host ports
/// O(constraint sets × requirements × nodes).
template<class Traits, object_names Names, class Details = no_details>
[[nodiscard]] std::vector<told_reason>
tell_reasons(const cluster_state<Traits>& cluster, gang_index which,
             const std::vector<reason>& found, const telling& how, const Names& names,
             const Details& details = {}) {
    const auto& gang = cluster[which];
    reason_context context;
    context.kinds = how.kinds;
    context.tree = &gang.spec.tree;
    context.scope = how.scope;
    context.no_nodes = muster::detail::none_of(
        cluster.node_order(), [&](node_index node) { return cluster[node].present; });
    context.single_pod = how.only || how.single_pod;
    const bool with_unready = muster::detail::any_of(
        found, [](const reason& each) { return each.code == reason_code::volume_not_ready; });
    std::vector<told_reason> all;
    for (const reason& each : found) {
        told_reason told;
        for (const gang_index owner : each.owners)
            told.kept_for.push_back(names(owner));
        context.owners = told.kept_for;
        told.code = reason_name(each);
        told.kind = reason_kind_name(each.kind);
        told.not_minimal = each.not_minimal;
        if (each.code == reason_code::not_enough_members) {
            context.gated = detail::gated_members(cluster, which);
            context.nominated_to = detail::nominated_nodes(cluster, which, names);
        }
        // A reason can name another queue than the gang's, such as one above it.
        context.queue.clear();
        if (const auto queue = each.queue ? each.queue : gang.queue)
            context.queue = names(*queue);
        if (each.queue && is_about_queue(each.code))
            told.queue = context.queue;
        if (each.resource) {
            told.resource = how.kinds->name(*each.resource);
            told.needed = amount_text(*told.resource, each.amount_needed);
            told.left = amount_text(*told.resource, each.amount_left);
        }
        if (is_about_node_filter(each.code)) {
            const node_filter_key filter{filtered_pods_of(cluster, which, how.only, with_unready),
                                         how.scope, each.code};
            context.node_filter = detail::filter_text(
                details, filter, [&] { return node_filter_text(cluster, filter, names); });
        }
        details(each, context);
        told.is_about_zones = each.code == reason_code::devices_taken && !context.asks_devices;
        told.message = reason_text(each, context);
        for (const role_shortage& one : each.roles)
            told.roles.push_back({role_name(gang.spec.tree, one.role), one.needed, one.possible});
        all.push_back(std::move(told));
    }
    return all;
}

} // namespace words
} // namespace v0_1
} // namespace muster
