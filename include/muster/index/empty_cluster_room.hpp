// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/index/node_predicate.hpp>
#include <muster/index/node_query.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Bounds on the number of pods of a shape for which the cluster has room with all pods gone. The
/// bounds stay true while nodes come, go and change.
struct empty_cluster_room {
    static constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();
    /// Room is counted up to this number.
    static constexpr std::int64_t max_room = std::int64_t{1} << 40;

    std::int64_t least = 0;
    std::int64_t most = unknown;
    /// The most pods that one counted node has room for.
    std::int64_t largest = 0;
    /// Nodes with a label above this were not counted.
    std::uint64_t counted_to = std::numeric_limits<std::uint64_t>::max();

    /// Counts nodes in order until `need` is exceeded by a reserve, with at most `most_here` pods
    /// on each node. O(nodes).
    template<class Traits>
    void count(const cluster_state<Traits>& cluster, const node_query<Traits::width>& query,
               std::int64_t most_here, std::int64_t need) {
        std::int64_t sum = 0;
        *this = {};
        for (const node_index node : cluster.node_order()) {
            if (!eligible(query, node))
                continue;
            const std::int64_t here =
                fit_count(*query.request, cluster.accounts().allocatable(node), most_here);
            largest = std::max(largest, here);
            sum = std::min(max_room, sum + here);
            // Counts some nodes more than necessary, so that changes of a few nodes do not force a
            // new count.
            const bool enough = sum - need >= spare_nodes * largest && here > 0;
            if (enough || largest == max_room) {
                counted_to = cluster.node_labels()[node];
                least = sum;
                most = enough || sum == max_room ? unknown : sum;
                return;
            }
        }
        least = sum;
        most = sum == max_room ? unknown : sum;
    }

    /// Counts only the listed nodes, which must be eligible: gives a lower bound and no upper
    /// bound. If an eligible node that is not listed grows, the lower bound may rise by that
    /// growth, which is no more than the node has. O(nodes listed).
    template<class Traits>
    void count_some(const cluster_state<Traits>& cluster, const node_query<Traits::width>& query,
                    std::int64_t most_here, const sequence<node_predicate::candidate>& listed) {
        *this = {};
        for (const node_predicate::candidate& candidate_node : listed) {
            const std::int64_t here = fit_count(
                *query.request, cluster.accounts().allocatable(candidate_node.node), most_here);
            largest = std::max(largest, here);
            least = std::min(max_room, least + here);
        }
    }

    /// Updates the bounds after a node's properties changed. What was counted for the node is not
    /// known: the upper bound rises by all that the node has now and, if the node was counted, the
    /// lower bound falls by the most that any node counts for. O(1).
    template<class Traits>
    void changed(const cluster_state<Traits>& cluster, const node_query<Traits::width>& query,
                 node_index node) {
        if (cluster.node_labels()[node] <= counted_to)
            least = std::max<std::int64_t>(0, least - largest);
        most = raised(most, cluster, query, node, cluster.accounts().allocatable(node));
    }

    /// Updates the bounds after the allocatable of a node changed from `before` and its properties
    /// did not. Neither bound becomes less tight. O(1).
    template<class Traits>
    void resized(const cluster_state<Traits>& cluster, const node_query<Traits::width>& query,
                 node_index node, const resources<Traits::width>& before, std::int64_t most_here) {
        const bool counted = cluster.node_labels()[node] <= counted_to;
        if (!counted && most == unknown)
            return;
        const resources<Traits::width>& now = cluster.accounts().allocatable(node);
        const bool did = fits(*query.request, before);
        const bool does = fits(*query.request, now);
        if ((!did && !does) || !eligible(query, node))
            return;
        const std::int64_t had = did ? fit_count(*query.request, before, most_here) : 0;
        const std::int64_t has = does ? fit_count(*query.request, now, most_here) : 0;
        if (counted) {
            least = std::clamp<std::int64_t>(least + has - had, 0, max_room);
            largest = std::max(largest, has);
        }
        if (most != unknown)
            most = std::min(max_room, most + has - had);
    }

    /// Returns the upper bound raised by all that the node has room for. O(1).
    template<class Traits>
    [[nodiscard]] static std::int64_t raised(std::int64_t bound,
                                             const cluster_state<Traits>& cluster,
                                             const node_query<Traits::width>& query,
                                             node_index node, const resources<Traits::width>& has) {
        if (bound == unknown || !cluster[node].present || !fits(*query.request, has) ||
            !eligible(query, node))
            return bound;
        return std::min(max_room, bound + fit_count(*query.request, has, max_room));
    }

private:
    static constexpr std::int64_t spare_nodes = 12;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
