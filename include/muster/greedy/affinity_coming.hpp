// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/index/node_query.hpp>
#include <muster/problem/affinity_counts.hpp>
#include <muster/problem/affinity_members.hpp>

namespace muster {
inline namespace v0_1 {

/// True if pod terms let the gang's nominated members start on their nodes, one after the other in
/// the order of their nominations; a member that a term blocks is tried again after the others.
/// Checks against the pods that run now or, with `ahead`, against the pods that will run once all
/// terminating pods have left and all nominated pods have started, and then also with the pods that
/// take the places of migrations. O(members² · terms + nodes · terms).
template<class Traits>
[[nodiscard]] bool terms_let_come(const cluster_state<Traits>& cluster, gang_index which,
                                  bool ahead) {
    constexpr std::size_t width = Traits::width;
    const auto& group = cluster[which];
    std::vector<pod_index> coming;
    bool affected = false;
    for (const pod_index member : group.members)
        if (cluster[member].awaited() && (ahead || !cluster[member].migration_target)) {
            coming.push_back(member);
            affected = affected || detail::terms_bear_on(cluster, member);
        }
    if (!affected)
        return true;
    // A pod that a spread term counts may have to start after the pod with the term, so the order
    // matters.
    detail::stable_sort(coming, {}, [&](pod_index pod) { return cluster[pod].turn; });
    const auto queue_nodes = detail::queue_nodes_of(cluster, group.queue);
    const pod_population& population = cluster.population();
    detail::affinity_members<width> alike;
    std::map<std::pair<shape_index, identity_index>, std::size_t> class_of;
    detail::sequence<std::size_t> classes;
    for (const pod_index pod : coming) {
        const auto& record = cluster[pod];
        const identity_index identity = population.identity_of(record.labels, group.tenant);
        const auto [found, fresh] =
            class_of.try_emplace({record.shape, identity}, alike.classes.size());
        classes.push_back(found->second);
        if (!fresh)
            continue;
        detail::affinity_class<width>& made = alike.classes.add();
        made.role = record.role;
        made.identity = identity;
        made.query = detail::query_for(cluster, record.shape, queue_nodes);
        made.terms = population.terms(cluster.shapes()[record.shape].where);
        if (made.terms)
            made.values = &*made.query.where->value.pods;
    }
    detail::affinity_counts<Traits> counts(cluster, alike, {ahead, coming, {}});
    // Repeats until nothing changes: a pod that needs other pods is placed after them.
    detail::sequence<char> placed(coming.size(), 0);
    std::size_t left = coming.size();
    for (bool more = true; more && left > 0;) {
        more = false;
        for (std::size_t at = 0; at < coming.size(); ++at) {
            const node_index node = *cluster[coming[at]].node;
            if (placed[at] ||
                counts.violation_on(classes[at], node).kind != affinity_violation::none)
                continue;
            counts.place(classes[at], node, 1);
            placed[at] = 1;
            --left;
            more = true;
        }
    }
    return left == 0;
}

} // namespace v0_1
} // namespace muster
