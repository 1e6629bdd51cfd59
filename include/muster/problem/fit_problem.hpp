// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/index/node_query.hpp>
#include <muster/problem/class_devices.hpp>
#include <muster/problem/members.hpp>
#include <muster/resource/resources.hpp>
#include <muster/vocabulary/certificate.hpp>

namespace muster {
inline namespace v0_1 {

/// The constraints that are applied. The minima always are.
struct constraints_in_force {
    std::uint64_t resources = ~std::uint64_t{0};
    std::uint64_t quotas = ~std::uint64_t{0};
    bool selector = true;
    bool taints = true;
    bool cordon = true;
    /// One bit per topology constraint, in the order of `gang_members::topology`. All from the 64th
    /// on share a bit.
    std::uint64_t topologies = ~std::uint64_t{0};
    bool ports = true;
    bool volumes = true;
    bool devices = true;

    [[nodiscard]] static constexpr constraints_in_force none() noexcept {
        return {0, 0, false, false, false, 0, false, false, false};
    }
    [[nodiscard]] friend constexpr bool operator==(const constraints_in_force&,
                                                   const constraints_in_force&) = default;
};

/// The question whether a gang fits, in numbers: classes of members, the tree with the minima,
/// nodes with their free amounts, and what the quotas of its queue and of the queue's ancestors
/// leave.
template<std::size_t Width>
struct fit_problem {
    struct member {
        std::size_t role = 0;
        /// What it requests of a node, in the kinds in force.
        resources<Width> request;
        /// What it charges to the quota.
        resources<Width> charge;
        std::int64_t waiting = 0;
    };
    struct row {
        node_index node;
        resources<Width> free;
    };
    struct allowance {
        kind_id kind;
        std::int64_t left = 0;
    };

    const gang_tree* tree = nullptr;
    /// Per vertex (leaves only): members that hold a node already.
    detail::sequence<std::int64_t> holding;
    detail::sequence<member> members;
    /// Nodes that can take at least one member, in the order of their keys.
    detail::sequence<row> rows;
    /// rows × members: how many members of the class the node can take if it takes no other.
    detail::sequence<std::int64_t> most;
    /// members × members: 1 if the two classes exclude each other on a node.
    detail::sequence<char> apart;
    /// The device demands of the classes.
    detail::class_devices<Width> devices;
    detail::sequence<allowance> quotas;
    /// By class; used while the problem is written.
    detail::sequence<node_query<Width>> queries;

    [[nodiscard]] const std::int64_t* most_of(std::size_t at) const noexcept {
        return most.data() + at * members.size();
    }
};

/// Returns the node filters that these constraints apply in this scope.
[[nodiscard]] constexpr std::uint8_t filters_in_force(const constraints_in_force& force,
                                                      certificate_scope scope) noexcept {
    const bool now = scope == certificate_scope::free_now;
    unsigned mask = node_filter_absent_node;
    if (force.selector)
        mask |= node_filter_selector;
    if (force.taints)
        mask |= node_filter_taint | (now ? unsigned{node_filter_condition_taint} : 0U);
    if (force.volumes)
        mask |= node_filter_volume | (now ? unsigned{node_filter_unbound_volume} : 0U);
    if (force.cordon && now)
        mask |= node_filter_cordon;
    return static_cast<std::uint8_t>(mask);
}

/// Returns which pods count against quotas in this scope.
[[nodiscard]] constexpr occupancy counted_in(certificate_scope scope) noexcept {
    return scope == certificate_scope::free_now ? occupancy::current : occupancy::empty_cluster;
}

/// Lists what the quotas of the queue and of its ancestors leave of each kind that has a quota and
/// that the gang requests. O((classes + depth) × width).
template<class Traits>
void list_allowances(const cluster_state<Traits>& cluster,
                     const gang_members<Traits::width>& members, certificate_scope scope,
                     const constraints_in_force& force,
                     detail::sequence<typename fit_problem<Traits::width>::allowance>& left) {
    left.clear();
    if (!members.queue)
        return;
    const auto quota = cluster.accounts().headroom(*members.queue, counted_in(scope));
    for (std::size_t column = 0; column < Traits::width; ++column) {
        const kind_id kind{column};
        const bool asked = detail::any_of(members.classes, [&](const auto& member_shape) {
            return member_shape.request[kind] > 0;
        });
        if (!quota.limited(kind) || !asked || (force.quotas >> column & 1U) == 0)
            continue;
        left.push_back({kind, *quota[kind]});
    }
}

/// Writes the gang's problem for the quotas alone, with one node that can take everything.
/// Overwrites `problem` and reuses its memory. O(members).
template<class Traits>
void pose_quotas(const cluster_state<Traits>& cluster, const gang_members<Traits::width>& members,
                 certificate_scope scope, fit_problem<Traits::width>& problem) {
    problem.tree = members.tree;
    problem.holding = members.holding;
    problem.rows.assign(1, {});
    problem.members.clear();
    problem.most.clear();
    for (const auto& member_shape : members.classes) {
        const auto waiting = member_shape.waiting();
        problem.members.push_back({member_shape.role.value(), {}, member_shape.request, waiting});
        problem.most.push_back(waiting);
    }
    problem.apart.assign(members.classes.size() * members.classes.size(), 0);
    problem.devices.clear();
    list_allowances(cluster, members, scope, {}, problem.quotas);
}

namespace detail {

/// Returns nodes, in the order of their keys, that include all nodes that the domains of the root
/// allow.
template<class Traits>
[[nodiscard]] std::span<const node_index> nodes_left(const cluster_state<Traits>& cluster,
                                                     std::span<const vertex_domain> among) {
    std::span<const node_index> least = cluster.node_order();
    for (const vertex_domain& confinement : among) {
        if (confinement.vertex > 0)
            continue;
        if (!confinement.domain)
            return {};
        const auto& nodes = cluster.topologies()[confinement.within][*confinement.domain].nodes;
        if (nodes.size() < least.size())
            least = nodes;
    }
    return least;
}

/// Returns true if a node may later have more of a kind that a waiting member requests. The quick
/// proofs of "never" count every kind, so they do not hold then.
template<class Traits>
[[nodiscard]] bool asks_for_growing_kinds(const cluster_state<Traits>& cluster,
                                          const gang_members<Traits::width>& members) {
    return detail::any_of(members.classes, [&](const auto& member_shape) {
        return cluster.constraint_sets()[member_shape.where].value.growing_kinds != 0;
    });
}

/// Returns true if the pod terms of a waiting member may change. They then prove no "never".
template<class Traits>
[[nodiscard]] bool has_changing_terms(const cluster_state<Traits>& cluster,
                                      const gang_members<Traits::width>& members) {
    return detail::any_of(members.classes, [&](const auto& member_shape) {
        return cluster.constraint_sets()[member_shape.where].value.terms_may_change;
    });
}

} // namespace detail

/// Writes the problem of a gang on these nodes only, with its members confined to the domains in
/// `among` and to no others. Overwrites `problem` and reuses its memory. O(nodes × classes ×
/// width).
template<class Traits>
void pose_on(const cluster_state<Traits>& cluster, const gang_members<Traits::width>& members,
             certificate_scope scope, const constraints_in_force& force,
             std::span<const vertex_domain> among, std::span<const node_index> nodes,
             fit_problem<Traits::width>& problem) {
    constexpr std::size_t width = Traits::width;
    const auto& accounts = cluster.accounts();
    const bool now = scope == certificate_scope::free_now;
    problem.tree = members.tree;
    problem.holding = members.holding;
    const std::size_t classes = members.classes.size();

    problem.members.clear();
    problem.rows.clear();
    problem.most.clear();
    auto& queries = problem.queries;
    queries.clear();
    for (const member_class<width>& waiting_class : members.classes) {
        typename fit_problem<width>::member member;
        member.role = waiting_class.role.value();
        member.waiting = waiting_class.waiting();
        member.charge = waiting_class.request;
        const std::uint64_t left_out =
            now ? 0 : cluster.constraint_sets()[waiting_class.where].value.growing_kinds;
        for (std::size_t column = 0; column < width; ++column)
            if (((force.resources & ~left_out) >> column & 1U) != 0)
                member.request[column] = waiting_class.request[column];
        problem.members.push_back(member);
        auto query = detail::query_for(cluster, waiting_class.shape, members.queue_nodes);
        query.filters = filters_in_force(force, scope);
        queries.push_back(query);
    }

    problem.apart.assign(classes * classes, 0);
    if (force.ports)
        for (std::size_t one = 0; one < classes; ++one)
            for (std::size_t other = 0; other < classes; ++other)
                problem.apart[one * classes + other] =
                    compatible(*members.classes[one].claims, *members.classes[other].claims) ? 0
                                                                                             : 1;
    problem.devices.clear();
    if (force.devices && now) {
        problem.devices.look_at(accounts);
        for (const member_class<width>& waiting_class : members.classes)
            problem.devices.add(waiting_class.claims->devices);
        problem.devices.settle();
    }

    for (const node_index node : nodes) {
        const resources<width>& free = now ? accounts.free(node) : accounts.allocatable(node);
        bool any = false;
        const std::size_t first = problem.most.size();
        problem.most.resize(first + classes, 0);
        for (std::size_t at = 0; at < classes; ++at) {
            std::int64_t& most = problem.most[first + at];
            if (!eligible(queries[at], node) ||
                !admits(cluster, *members.tree, among, problem.members[at].role, node))
                continue;
            const auto& claims = *members.classes[at].claims;
            if (force.ports && now && !compatible(claims.ports, accounts.claims(node).ports()))
                continue;
            const bool one_per_node = problem.apart[at * classes + at] != 0;
            most = fit_count(problem.members[at].request, free,
                             one_per_node ? 1 : problem.members[at].waiting);
            most = problem.devices.room(node, nullptr, at, most);
            any = any || most > 0;
        }
        if (any)
            problem.rows.push_back({node, free});
        else
            problem.most.resize(first);
    }
    list_allowances(cluster, members, scope, force, problem.quotas);
}
/// Writes the problem on all nodes. O(nodes × classes × width); only the nodes of a domain count if
/// the whole gang is confined to it.
template<class Traits>
void pose(const cluster_state<Traits>& cluster, const gang_members<Traits::width>& members,
          certificate_scope scope, const constraints_in_force& force,
          std::span<const vertex_domain> among, fit_problem<Traits::width>& problem) {
    pose_on(cluster, members, scope, force, among, detail::nodes_left(cluster, among), problem);
}
template<class Traits>
[[nodiscard]] fit_problem<Traits::width>
pose(const cluster_state<Traits>& cluster, const gang_members<Traits::width>& members,
     certificate_scope scope, const constraints_in_force& force = {},
     std::span<const vertex_domain> among = {}) {
    fit_problem<Traits::width> problem;
    pose(cluster, members, scope, force, among, problem);
    return problem;
}

} // namespace v0_1
} // namespace muster
