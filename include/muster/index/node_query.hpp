// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/base/id.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/cluster/constraint_table.hpp>
#include <muster/cluster/ledger.hpp>
#include <muster/resource/resources.hpp>
#include <muster/vocabulary/gang.hpp>
#include <muster/vocabulary/node_claims.hpp>

namespace muster {
inline namespace v0_1 {

/// The requirements of a pod on a node.
template<std::size_t Width>
struct node_query {
    const resources<Width>* request = nullptr;
    const constraint_table::row* where = nullptr;
    /// The node selectors of the queue and of its ancestors, if any.
    const constraint_table::row* queue_nodes = nullptr;
    /// The gang of the pod, for scores that read it.
    const gang<queue_index>* of = nullptr;
    /// The filters that apply, one bit each.
    std::uint8_t filters = 0xff;
};

template<std::size_t Width>
[[nodiscard]] bool eligible(const node_query<Width>& query, node_index node) noexcept {
    const std::size_t at = node.value();
    unsigned found = query.where->failed_filters[at];
    if (query.queue_nodes)
        found |= query.queue_nodes->failed_filters[at] &
                 static_cast<unsigned>(node_filter_selector | node_filter_absent_node);
    return (found & query.filters) == 0;
}

namespace detail {

/// Returns the node selectors of the queue and of its ancestors; nothing if there are none. O(1).
template<class Traits>
[[nodiscard]] std::optional<constraint_index> queue_nodes_of(const cluster_state<Traits>& cluster,
                                                             std::optional<queue_index> queue) {
    if (!queue || !cluster[*queue].present)
        return std::nullopt;
    const constraint_index nodes = cluster[*queue].nodes;
    if (cluster.constraint_sets()[nodes].value.selector.requirements.empty())
        return std::nullopt;
    return nodes;
}

/// Returns the requirements of a pod of the shape whose queue has these selectors. O(1).
template<class Traits>
[[nodiscard]] node_query<Traits::width> query_for(const cluster_state<Traits>& cluster,
                                                  shape_index shape,
                                                  std::optional<constraint_index> queue_nodes) {
    node_query<Traits::width> query;
    query.request = &cluster.shapes()[shape].request;
    query.where = &cluster.constraint_sets()[cluster.shapes()[shape].where];
    if (queue_nodes)
        query.queue_nodes = &cluster.constraint_sets()[*queue_nodes];
    return query;
}

/// Returns how many pods of the query the node can take, at most `most`: as many as fit and as
/// their claims (such as host ports) allow.
template<std::size_t Width>
[[nodiscard]] std::int64_t room_on(const ledger<Width>& accounts, const node_query<Width>& query,
                                   node_index node, std::int64_t most) {
    const node_claims& claims = query.where->value.claims;
    if (!eligible(query, node))
        return 0;
    return accounts.room_beside(node, claims, fit_count(*query.request, accounts.free(node), most));
}

} // namespace detail
} // namespace v0_1
} // namespace muster
