// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/index/any_score.hpp>
#include <muster/index/domain_sums.hpp>
#include <muster/index/flat_scan.hpp>
#include <muster/index/node_query.hpp>
#include <muster/index/placement_order.hpp>
#include <muster/index/weights.hpp>

namespace muster {
inline namespace v0_1 {

/// Finds nodes by reading all of them. For scores that are not an order of nodes.
template<std::size_t Width>
class flat_finder {
public:
    explicit flat_finder(const any_score<Width>& score) : score_(score) {}
    flat_finder(const placement_weights<Width>& weights, const any_score<Width>& score)
        : weights_(weights), score_(score) {}

    [[nodiscard]] const any_score<Width>& score() const noexcept { return score_; }
    [[nodiscard]] const placement_weights<Width>& weights() const noexcept { return weights_; }

    /// Updates the weights to the current nodes.
    template<class Traits>
    void catch_up(cluster_state<Traits>& cluster) {
        weights_ = weigh(cluster.accounts(), cluster.pods_kind());
    }

    /// Sets the gang of the pods that `find` is called for from now on, for scores that read it.
    void serve(const gang<queue_index>* pods_gang) noexcept { of_ = pods_gang; }

    /// Appends nodes for up to `want` pods of the shape, the best first, and returns the number of
    /// pods: 0 if no node has room. O(nodes × width).
    template<class Traits>
    std::int64_t find(const cluster_state<Traits>& cluster, shape_index shape,
                      std::optional<constraint_index> queue_nodes, std::int64_t want,
                      detail::sequence<node_run>& into) {
        auto query = detail::query_for(cluster, shape, queue_nodes);
        query.of = of_;
        const auto best =
            best_node(cluster.accounts(), cluster.node_order(), query, weights_, score_);
        if (!best)
            return 0;
        std::int64_t count = 1;
        if (fills_nodes(score_))
            count = detail::room_on(cluster.accounts(), query, *best, want);
        into.push_back({*best, count});
        return count;
    }

    /// Returns the free amounts of a domain. O(nodes of the domain × width).
    template<class Traits>
    [[nodiscard]] domain_sum<Width> free_in(const cluster_state<Traits>& cluster,
                                            topology_index within, domain_index domain) const {
        return sum_of(cluster, within, domain);
    }

    /// Returns the number of pods of the shape for which all nodes together have room, at most
    /// `want`. O(nodes × width).
    template<class Traits>
    std::int64_t room(const cluster_state<Traits>& cluster, shape_index shape,
                      std::optional<constraint_index> queue_nodes, std::int64_t want) {
        const auto query = detail::query_for(cluster, shape, queue_nodes);
        std::int64_t sum = 0;
        for (const node_index node : cluster.node_order()) {
            sum += detail::room_on(cluster.accounts(), query, node, want - sum);
            if (sum >= want)
                break;
        }
        return sum;
    }

private:
    placement_weights<Width> weights_;
    any_score<Width> score_;
    const gang<queue_index>* of_ = nullptr;
};

} // namespace v0_1
} // namespace muster
