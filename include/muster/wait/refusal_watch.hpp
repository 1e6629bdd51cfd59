// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/exact/pattern.hpp>
#include <muster/index/node_query.hpp>
#include <muster/problem/fit_problem.hpp>
#include <muster/problem/members.hpp>

namespace muster {
inline namespace v0_1 {

/// A refusal that the search proved by one leaf: weights per class of members, of which the nodes
/// can carry too little in total. The refusal holds until the weight that the nodes can carry has
/// grown by `slack`. After a change, only nodes with more free resources are recomputed.
template<class Traits>
class refusal_watch {
public:
    static constexpr std::size_t width = Traits::width;

    /// Maximum number of steps to find the heaviest pattern of a node. If it is exceeded, the
    /// refusal no longer holds and the gang is asked again.
    static constexpr std::int64_t steps_per_node = 1024;

    /// Forgets the refusal, so the gang is asked again.
    void clear() noexcept { slack_ = 0; }

    /// Replaces the refusal. If a member with weight claims host ports, the refusal cannot be
    /// watched, because a released port changes no amount; then `holds()` is false. O(classes).
    void watch(const cluster_state<Traits>& cluster, const gang_members<width>& members,
               std::span<const std::int64_t> weights, int128 slack) {
        slack_ = 0;
        problem_.members.clear();
        weights_.clear();
        where_.clear();
        queue_nodes_ =
            members.queue_nodes ? named(cluster, *members.queue_nodes) : constraints_seen{};
        for (std::size_t at = 0; at < weights.size(); ++at) {
            if (weights[at] == 0)
                continue;
            const member_class<width>& from = members.classes[at];
            if (!from.claims->empty())
                return;
            problem_.members.push_back(
                {from.role.value(), from.request, from.request, from.waiting()});
            weights_.push_back(weights[at]);
            where_.push_back(named(cluster, from.where));
        }
        problem_.apart.assign(weights_.size() * weights_.size(), 0);
        least_.assign(weights_.size(), 0);
        slack_ = slack;
    }

    /// True if the refusal still holds after the changes reported so far.
    [[nodiscard]] bool holds() const noexcept { return slack_ > 0; }

    /// Returns, per kind, the least request of the members with weight. A node with less free of
    /// some kind carries no weight. O(classes).
    [[nodiscard]] resources<width> least_request() const noexcept {
        resources<width> least = problem_.members.front().request;
        for (const auto& member : problem_.members)
            least = lesser(least, member.request);
        return least;
    }

    /// Handles a node whose free resources changed from `before`; nullptr if it is unknown what the
    /// node carried before.
    void changed(const cluster_state<Traits>& cluster, node_index node,
                 const resources<width>* before) {
        if (slack_ <= 0)
            return;
        most_.resize(weights_.size());
        queries_.resize(weights_.size());
        bool any = false;
        for (std::size_t at = 0; at < weights_.size(); ++at) {
            // The constraint set is gone once no pod uses it.
            const auto* where = seen(cluster, where_[at]);
            const auto* queue_nodes = seen(cluster, queue_nodes_);
            if (!where || (queue_nodes_.which && !queue_nodes))
                return clear();
            queries_[at].where = where;
            queries_[at].queue_nodes = queue_nodes;
            any = eligible(queries_[at], node) || any;
        }
        if (!any)
            return;
        const auto now = carried(node, cluster.accounts().free(node));
        const auto was = before ? carried(node, *before) : std::optional(int128{0});
        if (!now || !was)
            slack_ = 0;
        else
            slack_ -= std::max<int128>(0, *now - *was);
    }

private:
    struct constraints_seen {
        std::optional<constraint_index> which;
        std::uint64_t stamp = 0;
    };

    [[nodiscard]] static constraints_seen named(const cluster_state<Traits>& cluster,
                                                constraint_index which) {
        return {which, cluster.constraint_sets()[which].stamp};
    }
    [[nodiscard]] static const constraint_table::row* seen(const cluster_state<Traits>& cluster,
                                                           const constraints_seen& what) {
        if (!what.which)
            return nullptr;
        const auto& row = cluster.constraint_sets()[*what.which];
        return row.users > 0 && row.stamp == what.stamp ? &row : nullptr;
    }

    /// Returns the largest weight of members that fit `free` on the node; nullopt if the steps do
    /// not suffice.
    [[nodiscard]] std::optional<int128> carried(node_index node, const resources<width>& free) {
        for (std::size_t at = 0; at < weights_.size(); ++at) {
            const auto& member = problem_.members[at];
            most_[at] =
                eligible(queries_[at], node) ? fit_count(member.request, free, member.waiting) : 0;
        }
        std::int64_t steps = steps_per_node;
        finder_.reset(problem_, steps);
        const bool found = finder_.find({}, free, least_.data(), most_.data(), weights_);
        if (steps < 0)
            return std::nullopt;
        return found ? finder_.weight() : int128{0};
    }

    int128 slack_ = 0;
    fit_problem<width> problem_;
    detail::sequence<std::int64_t> weights_;
    detail::sequence<constraints_seen> where_;
    constraints_seen queue_nodes_;
    detail::sequence<node_query<width>> queries_;
    detail::sequence<std::int64_t> least_;
    detail::sequence<std::int64_t> most_;
    pattern_finder<width> finder_;
};

} // namespace v0_1
} // namespace muster
