// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/index/any_score.hpp>
#include <muster/index/flat_scan.hpp>
#include <muster/index/node_query.hpp>
#include <muster/index/node_score.hpp>
#include <muster/index/placement_order.hpp>
#include <muster/index/weights.hpp>

namespace muster {
inline namespace v0_1 {

/// Finds nodes among a few by reading all of them. For the domains of a topology.
template<class Traits>
class domain_scan {
    static constexpr std::size_t width = Traits::width;

public:
    /// Like a finder's `find`, but only considers those of `nodes` for which `admits(node)` is
    /// true. `nodes` must be in the order of their keys. O(nodes × width), plus O(log nodes) for
    /// each node that it appends.
    template<class Admits>
    std::int64_t
    find(const cluster_state<Traits>& cluster, const placement_weights<width>& weights,
         const any_score<width>& score, std::span<const node_index> nodes, const Admits& admits,
         shape_index shape, std::optional<constraint_index> queue_nodes,
         const gang<queue_index>* pods_gang, std::int64_t want, detail::sequence<node_run>& into) {
        auto query = detail::query_for(cluster, shape, queue_nodes);
        query.of = pods_gang;
        const auto& accounts = cluster.accounts();
        found_.clear();
        for (std::size_t place = 0; place < nodes.size(); ++place) {
            const node_index node = nodes[place];
            const resources<width>& free = accounts.free(node);
            if (!fits(*query.request, free) || !admits(node))
                continue;
            const std::int64_t room = detail::room_on(accounts, query, node, want);
            if (room > 0)
                found_.push_back({query.where->preference[node.value()],
                                  node_score(score, weights, accounts, node, query), place, room});
        }
        if (!fills_nodes(score)) {
            const auto best = std::min_element(found_.begin(), found_.end(), better);
            if (best == found_.end())
                return 0;
            into.push_back({nodes[best->place], 1});
            return 1;
        }
        // Usually the first few nodes are enough, so a heap is used and not a full sort.
        const auto worse = [](const entry& lhs, const entry& rhs) { return better(rhs, lhs); };
        std::make_heap(found_.begin(), found_.end(), worse);
        std::int64_t left = want;
        while (left > 0 && !found_.empty()) {
            std::pop_heap(found_.begin(), found_.end(), worse);
            const std::int64_t here = std::min(left, found_.back().room);
            into.push_back({nodes[found_.back().place], here});
            left -= here;
            found_.pop_back();
        }
        return want - left;
    }

private:
    struct entry {
        std::int32_t preference = 0;
        std::int64_t score = 0;
        std::size_t place = 0;
        std::int64_t room = 0;
    };
    [[nodiscard]] static bool better(const entry& lhs, const entry& rhs) noexcept {
        return lhs.preference != rhs.preference ? lhs.preference > rhs.preference
               : lhs.score != rhs.score         ? lhs.score > rhs.score
                                                : lhs.place < rhs.place;
    }

    detail::sequence<entry> found_;
};

} // namespace v0_1
} // namespace muster
