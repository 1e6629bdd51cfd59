// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/base/checked.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/exact/proof_list.hpp>
#include <muster/index/node_finder.hpp>
#include <muster/index/node_query.hpp>
#include <muster/problem/fit_problem.hpp>
#include <muster/problem/members.hpp>
#include <muster/problem/topology_requirement.hpp>
#include <muster/vocabulary/certificate.hpp>

namespace muster {
inline namespace v0_1 {

/// The result of checking one domain after the other for a gang whose needs are fixed.
enum class domains_outcome : std::uint8_t {
    /// A domain takes all members, which are of one class. Quotas are not checked.
    fits,
    /// In every domain there is a class that alone has too little room.
    impossible,
    /// Only the search can decide.
    open,
};

/// A proof that a gang fits in no domain. Memory is reused.
struct domain_proof {
    detail::sequence<std::optional<domain_index>> ways;
    detail::proof_list vertices;
};

/// Looks for room for a gang whose needs are fixed, in every domain of the first vertex that
/// requires one. If the result is `impossible`, `proof` is complete. The nodes of a domain are not
/// read if the sum of its free amounts is too low. O(nodes × classes × width) at worst.
template<class Traits>
[[nodiscard]] domains_outcome
look_in_domains(const cluster_state<Traits>& cluster, const gang_members<Traits::width>& members,
                const detail::sequence<std::int64_t>& needs, certificate_scope scope,
                node_finder<Traits>& finder, domain_proof& proof) {
    constexpr std::size_t width = Traits::width;
    const bool now = scope == certificate_scope::free_now;
    const gang_tree& tree = *members.tree;
    const auto required = [](const topology_requirement& constraint) {
        return constraint.required.has_value();
    };
    const auto requirement = detail::find_if(members.topology, required);
    if (requirement == members.topology.end())
        return domains_outcome::open;
    const auto room_in = [&](domain_index domain, std::size_t at) {
        const auto& member_shape = members.classes[at];
        const std::int64_t want = needs[at];
        if (now) {
            const auto& sum = finder.free_in(cluster, requirement->within, domain);
            for (std::size_t column = 0; column < width; ++column)
                if (member_shape.request[column] > 0 &&
                    sum.free[column] < static_cast<int128>(member_shape.request[column]) * want)
                    return saturate(sum.free[column] / member_shape.request[column]);
        }
        auto query = detail::query_for(cluster, member_shape.shape, members.queue_nodes);
        query.filters = filters_in_force({}, scope);
        const bool alone = !compatible(*member_shape.claims, *member_shape.claims);
        std::int64_t room = 0;
        for (const node_index node : cluster.topologies()[requirement->within][domain].nodes) {
            if (now)
                room += detail::room_on(cluster.accounts(), query, node, want - room);
            else if (eligible(query, node))
                room += fit_count(member_shape.request, cluster.accounts().allocatable(node),
                                  alone ? 1 : want - room);
            if (room >= want)
                break;
        }
        return room;
    };

    proof.vertices.clear();
    certificate::vertex& split = proof.vertices.add();
    split.leaf = false;
    split.together = vertex_index{requirement->vertex};
    list_candidate_domains(cluster, tree, *requirement, *requirement->required, now, {},
                           proof.ways);
    for (const auto& way : proof.ways) {
        std::size_t at = 0;
        while (at < needs.size() &&
               (needs[at] == 0 ||
                !is_below(tree, members.classes[at].role.value(), requirement->vertex) ||
                (way && room_in(*way, at) >= needs[at])))
            ++at;
        if (at == needs.size())
            return needs.size() == 1 && detail::count_if(members.topology, required) == 1
                       ? domains_outcome::fits
                       : domains_outcome::open;
        certificate::vertex& leaf = proof.vertices.add();
        leaf.weights.assign(needs.size(), 0);
        leaf.weights[at] = 1;
    }
    return domains_outcome::impossible;
}

} // namespace v0_1
} // namespace muster
