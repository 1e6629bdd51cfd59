// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/index/node_predicate.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// The predicates in use, each in the form that is cheapest for it. There are few: as many as there
/// are distinct constraints among waiting pods.
template<class Traits, class Index>
class predicate_table {
public:
    static constexpr std::size_t max_columns = 512;

    [[nodiscard]] const node_predicate& operator[](std::size_t at) const noexcept {
        return predicates_[at];
    }

    /// Returns the number of the predicate, and rebuilds it if the constraints or the nodes
    /// changed. `hint` is its last number. O(1) if the hint is right, otherwise O(predicates);
    /// O(nodes) if it must be rebuilt.
    std::size_t find(const cluster_state<Traits>& cluster, Index& index, constraint_index where,
                     std::optional<constraint_index> queue_nodes, std::size_t hint) {
        std::size_t at = hint;
        if (!is(at, where, queue_nodes)) {
            at = 0;
            while (at < predicates_.size() && !is(at, where, queue_nodes))
                ++at;
        }
        if (at == predicates_.size()) {
            predicates_.push_back({});
            predicates_[at].where = where;
            predicates_[at].queue_nodes = queue_nodes;
        }
        node_predicate& found = predicates_[at];
        const auto& sets = cluster.constraint_sets();
        const std::uint64_t queue_stamp = queue_nodes ? sets[*queue_nodes].stamp : 0;
        if (found.stale || found.where_stamp != sets[where].stamp ||
            found.queue_stamp != queue_stamp) {
            found.where_stamp = sets[where].stamp;
            found.queue_stamp = queue_stamp;
            make(cluster, index, found);
        }
        return at;
    }

    /// Updates all predicates after a node came, went, or changed its properties. O(predicates).
    void node_changed(const cluster_state<Traits>& cluster, Index& index, node_index node,
                      bool present) {
        update(cluster, index, node, present, false);
    }
    /// Sets the columns of predicates with claims for a node whose claims or devices may have
    /// changed: the node may have room again. O(predicates); O(1) if no predicate has claims.
    void claims_changed(const cluster_state<Traits>& cluster, Index& index, node_index node) {
        if (with_claims_ > 0)
            update(cluster, index, node, true, true);
    }

    void clear(Index& index) {
        for (node_predicate& predicate : predicates_)
            drop(index, predicate);
    }

private:
    void update(const cluster_state<Traits>& cluster, Index& index, node_index node, bool present,
                bool only_claims) {
        const auto& sets = cluster.constraint_sets();
        for (node_predicate& predicate : predicates_) {
            if (predicate.stale || (only_claims && !predicate.by_claims))
                continue;
            if (predicate.where_stamp != sets[predicate.where].stamp ||
                (predicate.queue_nodes &&
                 predicate.queue_stamp != sets[*predicate.queue_nodes].stamp)) {
                drop(index, predicate);
                continue;
            }
            const predicate_rows<Traits::width> rows(cluster, predicate);
            const bool admits = present && rows.admits(node);
            if (!fits_in(index, predicate,
                         {node, rows.preference(node), cluster.node_labels()[node]}, present,
                         admits))
                drop(index, predicate);
        }
    }

    [[nodiscard]] bool is(std::size_t at, constraint_index where,
                          std::optional<constraint_index> queue_nodes) const noexcept {
        return at < predicates_.size() && predicates_[at].where == where &&
               predicates_[at].queue_nodes == queue_nodes;
    }

    /// Applies the changed node to the predicate in its present form. Returns false if the
    /// predicate must be rebuilt.
    bool fits_in(Index& index, node_predicate& predicate, const node_predicate::candidate& changed,
                 bool present, bool admits) {
        const node_index node = changed.node;
        const std::int32_t preference = changed.preference;
        const auto level =
            detail::find(predicate.levels, preference, &node_predicate::level::preference);
        switch (predicate.shape) {
        case node_predicate::form::everywhere:
            return !present || (admits && preference == predicate.levels.front().preference);
        case node_predicate::form::list:
            return admits ? detail::find(predicate.nodes, changed) != predicate.nodes.end()
                          : detail::find(predicate.nodes, node, &node_predicate::candidate::node) ==
                                predicate.nodes.end();
        case node_predicate::form::columns:
            if (present)
                for (const auto& with_column : predicate.levels)
                    index.set(with_column.column, node,
                              admits && with_column.preference == preference);
            return !admits || level != predicate.levels.end();
        case node_predicate::form::filter:
            return !admits || level != predicate.levels.end();
        }
        return false;
    }

    void drop(Index& index, node_predicate& predicate) {
        if (!predicate.stale && predicate.shape == node_predicate::form::columns)
            for (const auto& level : predicate.levels) {
                index.remove_column(level.column);
                --columns_;
            }
        with_claims_ -= std::exchange(predicate.by_claims, false) ? 1U : 0U;
        predicate.stale = true;
        predicate.levels.clear();
        predicate.nodes.clear();
    }

    void make(const cluster_state<Traits>& cluster, Index& index, node_predicate& predicate) {
        drop(index, predicate);
        predicate.stale = false;
        const predicate_rows<Traits::width> rows(cluster, predicate);
        std::size_t present = 0;
        std::size_t admitted = 0;
        for (const node_index node : cluster.node_order()) {
            present += cluster[node].present ? 1U : 0U;
            if (!cluster[node].present || !rows.admits(node))
                continue;
            const std::int32_t preference = rows.preference(node);
            if (++admitted <= node_predicate::longest_list)
                predicate.nodes.push_back({node, preference, cluster.node_labels()[node]});
            if (detail::find(predicate.levels, preference, &node_predicate::level::preference) ==
                predicate.levels.end())
                predicate.levels.push_back({preference, 0});
        }
        detail::sort_short(predicate.levels, [](const auto& lhs, const auto& rhs) {
            return lhs.preference > rhs.preference;
        });
        const bool by_claims = !cluster.constraint_sets()[predicate.where].value.claims.empty();
        if (admitted == present && predicate.levels.size() == 1 && !by_claims) {
            predicate.shape = node_predicate::form::everywhere;
        } else if (admitted <= node_predicate::longest_list) {
            predicate.shape = node_predicate::form::list;
            return;
        } else if (predicate.levels.size() > node_predicate::max_levels ||
                   columns_ + predicate.levels.size() > max_columns) {
            predicate.shape = node_predicate::form::filter;
        } else {
            predicate.shape = node_predicate::form::columns;
            predicate.by_claims = by_claims;
            with_claims_ += by_claims ? 1U : 0U;
            for (auto& level : predicate.levels) {
                level.column = index.add_column([&](node_index node) {
                    return rows.admits(node) && rows.preference(node) == level.preference;
                });
                ++columns_;
            }
        }
        predicate.nodes.clear();
    }

    sequence<node_predicate> predicates_;
    std::size_t columns_ = 0;
    /// Number of predicates with `by_claims`.
    std::size_t with_claims_ = 0;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
