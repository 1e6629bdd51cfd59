// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/index/node_query.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Which nodes a set of constraints admits, under a queue's node selector or none, and how much it
/// likes them: as the index keeps it. Nodes that are liked alike form a level.
struct node_predicate {
    enum class form : std::uint8_t {
        /// All nodes, and all are liked alike.
        everywhere,
        /// A few nodes, written down.
        list,
        /// A column of the index for every level.
        columns,
        /// Too many levels, or too many columns already: each node is looked at when its turn
        /// comes.
        filter,
    };
    struct level {
        std::int32_t preference = 0;
        std::size_t column = 0;
    };

    /// What is known of a node that is written down, so that it need not be looked up.
    struct candidate {
        node_index node;
        std::int32_t preference = 0;
        std::uint64_t label = 0;

        [[nodiscard]] friend bool operator==(const candidate&, const candidate&) = default;
    };

    constraint_index where;
    std::optional<constraint_index> queue_nodes;
    /// Of the two sets of constraints, so that others in their place are noticed.
    std::uint64_t where_stamp = 0;
    std::uint64_t queue_stamp = 0;
    /// It has to be rebuilt before it is used.
    bool stale = true;
    form shape = form::everywhere;
    /// The most liked first; of a list none.
    sequence<level> levels;
    /// Of a list, in the order of nodes.
    sequence<candidate> nodes;

    static constexpr std::size_t longest_list = 64;
    static constexpr std::size_t max_levels = 8;
};

/// What a predicate says of nodes, read from the constraints' rows.
template<std::size_t Width>
struct predicate_rows {
    node_query<Width> query;

    template<class Traits>
    predicate_rows(const cluster_state<Traits>& cluster, const node_predicate& of) {
        query.where = &cluster.constraint_sets()[of.where];
        if (of.queue_nodes)
            query.queue_nodes = &cluster.constraint_sets()[*of.queue_nodes];
    }

    [[nodiscard]] bool admits(node_index node) const noexcept { return eligible(query, node); }
    [[nodiscard]] std::int32_t preference(node_index node) const noexcept {
        return query.where->preference[node.value()];
    }
};

} // namespace detail
} // namespace v0_1
} // namespace muster
