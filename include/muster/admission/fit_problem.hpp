// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/admission/certificate.hpp>
#include <muster/admission/members.hpp>
#include <muster/base/id.hpp>
#include <muster/index/flat_scan.hpp>
#include <muster/model/state.hpp>
#include <muster/resource/resources.hpp>

namespace muster::inline v0_1 {

/// The constraints that count. Member counts always do.
struct constraints_in_force {
    std::uint64_t resources = ~std::uint64_t{0};
    std::uint64_t quotas = ~std::uint64_t{0};
    bool selector = true;
    bool taints = true;
    bool cordon = true;
    bool ports = true;

    [[nodiscard]] static constexpr constraints_in_force none() noexcept {
        return {0, 0, false, false, false, false};
    }
};

/// "Does this gang fit?" as numbers: classes of members, the tree that says how many are needed,
/// nodes with what is free, and what the queue's quota leaves.
template<std::size_t Width>
struct fit_problem {
    struct member {
        std::size_t role = 0;
        resources<Width> request;
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
    /// Per vertex (leaves only).
    std::vector<std::int64_t> holding;
    std::vector<member> members;
    /// Nodes that can take at least one member, in the order of their keys.
    std::vector<row> rows;
    /// rows × members: how many of the class the node can take when it takes no other.
    std::vector<std::int64_t> most;
    /// members × members: the two never share a node.
    std::vector<char> apart;
    std::vector<allowance> quotas;

    [[nodiscard]] const std::int64_t* most_of(std::size_t at) const noexcept {
        return most.data() + at * members.size();
    }
};

/// The obstacles that count for these constraints in this scope.
[[nodiscard]] constexpr std::uint8_t obstacles_in_force(const constraints_in_force& force,
                                                        certificate_scope scope) noexcept {
    const bool now = scope == certificate_scope::free_now;
    unsigned mask = obstacle_absent_node;
    if (force.selector)
        mask |= obstacle_selector;
    if (force.taints)
        mask |= obstacle_taint | (now ? unsigned{obstacle_condition_taint} : 0U);
    if (force.cordon && now)
        mask |= obstacle_cordon;
    return static_cast<std::uint8_t>(mask);
}

/// Writes the problem of a gang down. O(nodes × classes × width).
template<class Traits>
[[nodiscard]] fit_problem<Traits::width>
pose(const state<Traits>& known, const gang_members<Traits::width>& members,
     certificate_scope scope, const constraints_in_force& force = {}) {
    constexpr std::size_t width = Traits::width;
    const auto& accounts = known.accounts();
    const bool now = scope == certificate_scope::free_now;
    fit_problem<width> problem;
    problem.tree = members.tree;
    problem.holding = members.holding;
    const std::size_t classes = members.classes.size();

    std::vector<node_query<width>> queries;
    for (const member_class<width>& each : members.classes) {
        typename fit_problem<width>::member member;
        member.role = each.role.value();
        member.waiting = static_cast<std::int64_t>(each.pods.size());
        for (std::size_t column = 0; column < width; ++column)
            if ((force.resources >> column & 1U) != 0)
                member.request[column] = each.request[column];
        problem.members.push_back(member);
        node_query<width> query;
        query.where = &known.constraint_sets()[each.where];
        if (members.queue && known[*members.queue].present)
            query.queue_nodes = &known.constraint_sets()[known[*members.queue].nodes];
        query.obstacles = obstacles_in_force(force, scope);
        queries.push_back(query);
    }

    problem.apart.assign(classes * classes, 0);
    if (force.ports)
        for (std::size_t one = 0; one < classes; ++one)
            for (std::size_t other = 0; other < classes; ++other)
                problem.apart[one * classes + other] =
                    conflicts(*members.classes[one].ports, *members.classes[other].ports);

    std::vector<std::int64_t> most(classes);
    for (const node_index node : known.node_order()) {
        const resources<width>& free = now ? accounts.free(node) : accounts.allocatable(node);
        bool any = false;
        for (std::size_t at = 0; at < classes; ++at) {
            most[at] = 0;
            if (!eligible(queries[at], node))
                continue;
            const auto& ports = *members.classes[at].ports;
            if (force.ports && now && !ports.empty() && conflicts(ports, accounts.ports(node)))
                continue;
            const bool one_per_node = problem.apart[at * classes + at] != 0;
            most[at] = fit_count(problem.members[at].request, free,
                                 one_per_node ? 1 : problem.members[at].waiting);
            any = any || most[at] > 0;
        }
        if (!any)
            continue;
        problem.rows.push_back({node, free});
        problem.most.insert(problem.most.end(), most.begin(), most.end());
    }

    if (members.queue) {
        const limits<width>& quota = accounts.quota(*members.queue);
        for (std::size_t column = 0; column < width; ++column) {
            const kind_id kind{column};
            const bool asked = std::ranges::any_of(
                members.classes, [&](const auto& each) { return each.request[kind] > 0; });
            if (!quota.limited(kind) || !asked || (force.quotas >> column & 1U) == 0)
                continue;
            const std::int64_t used = now ? accounts.used(*members.queue)[kind] : 0;
            problem.quotas.push_back({kind, std::max<std::int64_t>(0, *quota[kind] - used)});
        }
    }
    return problem;
}

} // namespace muster::inline v0_1
