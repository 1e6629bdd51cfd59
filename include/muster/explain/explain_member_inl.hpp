// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <muster/admission/gates.hpp>
#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/explain/explain.hpp>
#include <muster/explain/explain_inl.hpp>
#include <muster/explain/explain_member.hpp>
#include <muster/explain/gate_reason.hpp>
#include <muster/explain/term_reasons.hpp>
#include <muster/problem/members.hpp>
#include <muster/problem/topology_requirement.hpp>
#include <muster/vocabulary/gang.hpp>
#include <muster/vocabulary/reason.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Returns the members of a gang as if the gang had the minimum 1 and only `pod` waited, in `tree`.
/// Topology constraints above the pod's role move to the root. Empty if the pod is in no class of
/// waiting members.
template<std::size_t Width>
[[nodiscard]] std::optional<gang_members<Width>> lone_member(const gang_members<Width>& members,
                                                             pod_index pod, const gang_tree& tree) {
    gang_members<Width> lone;
    lone.tree = &tree;
    lone.queue = members.queue;
    lone.queue_nodes = members.queue_nodes;
    lone.pods = {pod};
    lone.turns = {0};
    lone.holding = {0};
    lone.alive = {1};
    lone.unsupported = {0};
    for (const auto& waiting_class : members.classes) {
        if (detail::find(members.of(waiting_class), pod) == members.of(waiting_class).end())
            continue;
        lone.classes.push_back(waiting_class);
        lone.classes.front().role = vertex_index{0};
        lone.classes.front().first = 0;
        lone.classes.front().count = 1;
        for (topology_requirement requirement : members.topology) {
            if (!is_below(*members.tree, waiting_class.role.value(), requirement.vertex))
                continue;
            requirement.vertex = 0;
            lone.topology.push_back(requirement);
        }
        return lone;
    }
    return std::nullopt;
}

} // namespace detail

template<class Traits>
std::vector<reason> explain_member(const cluster_state<Traits>& cluster, pod_index pod,
                                   const explain_options& options) {
    const gang_index which = cluster[pod].gang;
    const constraints& where = cluster.where(pod).value;
    const auto members = members_of(cluster, which, where.volume_not_ready);
    if (!queue_takes(cluster, which))
        return {detail::gate_reason(cluster, which, members, gate::queue)};
    std::vector<reason> found;
    const auto only = [](reason_code code) {
        reason made;
        made.code = code;
        return std::vector<reason>{std::move(made)};
    };
    if (where.unsupported)
        return only(reason_code::unsupported_constraint);
    const gang_tree tree(1);
    const auto lone = detail::lone_member(members, pod, tree);
    if (!lone)
        return only(where.volume_not_ready ? reason_code::volume_not_ready
                                           : reason_code::fits_by_now);
    const certificate_scope scope = options.scope.value_or(certificate_scope::free_now);
    if (where.volume_not_ready) {
        found = only(reason_code::volume_not_ready);
        detail::add_beside_volumes(cluster, *lone, options, scope, found);
    } else {
        found = detail::reason_finder<Traits>(cluster, *lone, options, scope).find();
        detail::term_reason_finder<Traits> by_terms(cluster, *lone);
        for (reason& blocking : found.empty() ? by_terms.find() : by_terms.find_contributing())
            found.push_back(std::move(blocking));
    }
    // Amounts refer to the pod alone, but `together` names the gang's vertex with the constraint.
    const auto required =
        detail::find_if(members.topology, [&](const topology_requirement& requirement) {
            return requirement.required &&
                   is_below(*members.tree, cluster[pod].role.value(), requirement.vertex);
        });
    for (reason& reported : found)
        if (reported.together && required != members.topology.end())
            reported.together = vertex_index{required->vertex};
    return found.empty() ? only(reason_code::fits_by_now) : found;
}

} // namespace v0_1
} // namespace muster
