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

/// For how many pods of a shape the cluster has room with every pod gone: bounds that stay true
/// while nodes come, go and change.
struct empty_cluster_room {
    static constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();
    /// More room than this is not told apart.
    static constexpr std::int64_t max_room = std::int64_t{1} << 40;

    std::int64_t least = 0;
    std::int64_t most = unknown;
    /// No node of those counted has room for more.
    std::int64_t largest = 0;
    /// No node behind this label was counted.
    std::uint64_t counted_to = std::numeric_limits<std::uint64_t>::max();

    /// Counts node after node until `need` is reached, `most_here` on each at most. O(nodes).
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
            // Some nodes more than are needed, so that a few that change do not ask this anew.
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

    /// Counts these nodes alone, which are eligible: a bound from below, and none from above. Of
    /// another that is eligible nothing is counted but what it grows by, which is no more than it
    /// has. O(nodes listed).
    template<class Traits>
    void count_some(const cluster_state<Traits>& cluster, const node_query<Traits::width>& query,
                    std::int64_t most_here, const sequence<node_predicate::candidate>& listed) {
        *this = {};
        for (const node_predicate::candidate& each : listed) {
            const std::int64_t here =
                fit_count(*query.request, cluster.accounts().allocatable(each.node), most_here);
            largest = std::max(largest, here);
            least = std::min(max_room, least + here);
        }
    }

    /// A node's properties changed. What it gave before is not known: all that it has now may be
    /// new, and if it was counted, as much as any node gave may be lost. O(1).
    template<class Traits>
    void changed(const cluster_state<Traits>& cluster, const node_query<Traits::width>& query,
                 node_index node) {
        if (cluster.node_labels()[node] <= counted_to)
            least = std::max<std::int64_t>(0, least - largest);
        most = raised(most, cluster, query, node, cluster.accounts().allocatable(node));
    }

    /// A node has so much now where it had `before`, and is what it was: neither bound loosens.
    /// O(1).
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

    /// A bound on room, with all that the node has counted as new. O(1).
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
