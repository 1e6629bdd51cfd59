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

/// Which nodes a set of constraints admits, with a queue's node selector or without, and with which
/// preference; in the form that the index stores. Nodes of equal preference form a level.
struct node_predicate {
    enum class form : std::uint8_t {
        /// All nodes, all with the same preference.
        everywhere,
        /// A list of a few nodes.
        list,
        /// One column of the index per level.
        columns,
        /// There are too many levels or columns: each node that fits is tested when it is visited.
        filter,
    };
    struct level {
        std::int32_t preference = 0;
        std::size_t column = 0;
    };

    /// A node of the list, with what would otherwise have to be looked up.
    struct candidate {
        node_index node;
        std::int32_t preference = 0;
        std::uint64_t label = 0;

        [[nodiscard]] friend bool operator==(const candidate&, const candidate&) = default;
    };

    constraint_index where;
    std::optional<constraint_index> queue_nodes;
    /// The stamps of the two sets of constraints. They differ if the index of a set was reused.
    std::uint64_t where_stamp = 0;
    std::uint64_t queue_stamp = 0;
    /// The predicate must be rebuilt before it is used.
    bool stale = true;
    form shape = form::everywhere;
    /// The constraints have claims (see node_claims). A column can then also be cleared for a node
    /// whose claims and devices have no room for a pod, until these change.
    bool by_claims = false;
    /// The levels, the most preferred first. Not used in list form.
    sequence<level> levels;
    /// The nodes of the list form, in the order of nodes.
    sequence<candidate> nodes;

    static constexpr std::size_t longest_list = 64;
    static constexpr std::size_t max_levels = 8;
};

/// Evaluates a predicate for a node directly from the rows of the constraint table.
template<std::size_t Width>
struct predicate_rows {
    node_query<Width> query;

    template<class Traits>
    predicate_rows(const cluster_state<Traits>& cluster, const node_predicate& predicate) {
        query.where = &cluster.constraint_sets()[predicate.where];
        if (predicate.queue_nodes)
            query.queue_nodes = &cluster.constraint_sets()[*predicate.queue_nodes];
    }

    [[nodiscard]] bool admits(node_index node) const noexcept { return eligible(query, node); }
    [[nodiscard]] std::int32_t preference(node_index node) const noexcept {
        return query.where->preference[node.value()];
    }
};

} // namespace detail
} // namespace v0_1
} // namespace muster
