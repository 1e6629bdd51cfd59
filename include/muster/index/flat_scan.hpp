// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/ledger.hpp>
#include <muster/index/node_query.hpp>
#include <muster/index/node_score.hpp>
#include <muster/index/weights.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// Returns the score of the node for a pod of the query.
template<std::size_t Width, class Score>
[[nodiscard]] std::int64_t node_score(const Score& score, const placement_weights<Width>& weights,
                                      const ledger<Width>& accounts, node_index node,
                                      const node_query<Width>& query) noexcept {
    return node_score<Width>(score, {node, accounts.allocatable(node), accounts.free(node), weights,
                                     *query.request, query.where->value, query.of,
                                     accounts.devices(node), accounts.claims(node).devices()});
}

/// Computes the scores of these nodes, in their order.
template<std::size_t Width, class Score>
void node_scores(const ledger<Width>& accounts, std::span<const node_index> nodes,
                 const node_query<Width>& query, const placement_weights<Width>& weights,
                 const Score& score, detail::sequence<std::int64_t>& into) {
    into.clear();
    for (const node_index node : nodes)
        into.push_back(node_score(score, weights, accounts, node, query));
}

/// Returns the best node for one pod: the highest preference, then the highest score, then the
/// first in `order`. One pass over all nodes, O(nodes × width). Used for small clusters and for
/// scores that are not an order of nodes.
template<std::size_t Width, class Score>
[[nodiscard]] std::optional<node_index>
best_node(const ledger<Width>& accounts, const std::vector<node_index>& order,
          const node_query<Width>& query, const placement_weights<Width>& weights,
          const Score& score) {
    std::optional<node_index> best;
    std::int32_t best_preference = 0;
    std::int64_t best_score = 0;
    for (const node_index node : order) {
        const resources<Width>& free = accounts.free(node);
        if (!fits(*query.request, free) || !eligible(query, node))
            continue;
        const std::int32_t preference = query.where->preference[node.value()];
        if (best && preference < best_preference)
            continue;
        const std::int64_t value = node_score(score, weights, accounts, node, query);
        if (best && preference == best_preference && value <= best_score)
            continue;
        if (!accounts.admits(node, query.where->value.claims))
            continue;
        best = node;
        best_preference = preference;
        best_score = value;
    }
    return best;
}

} // namespace v0_1
} // namespace muster
