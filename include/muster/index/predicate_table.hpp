// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/index/node_predicate.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// The predicates that were asked for, each in the form that serves it best. Predicates in use are
/// few: a cluster has as many as it has distinct constraints among pods that wait.
template<class Traits, class Index>
class predicate_table {
public:
    static constexpr std::size_t max_columns = 512;

    [[nodiscard]] const node_predicate& operator[](std::size_t at) const noexcept {
        return predicates_[at];
    }

    /// The predicate, rebuilt where the constraints or the nodes changed; `hint` is where it was
    /// last. O(1) when the hint is right, else O(predicates); and O(nodes) when it must be made.
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

    /// A node came, went, or changed in what it is. O(predicates).
    void node_changed(const cluster_state<Traits>& cluster, Index& index, node_index node,
                      bool present) {
        const auto& sets = cluster.constraint_sets();
        for (node_predicate& each : predicates_) {
            if (each.stale)
                continue;
            if (each.where_stamp != sets[each.where].stamp ||
                (each.queue_nodes && each.queue_stamp != sets[*each.queue_nodes].stamp)) {
                drop(index, each);
                continue;
            }
            const predicate_rows<Traits::width> rows(cluster, each);
            const bool admits = present && rows.admits(node);
            if (!fits_in(index, each, {node, rows.preference(node), cluster.node_labels()[node]},
                         present, admits))
                drop(index, each);
        }
    }

    void clear(Index& index) {
        for (node_predicate& each : predicates_)
            drop(index, each);
    }

private:
    [[nodiscard]] bool is(std::size_t at, constraint_index where,
                          std::optional<constraint_index> queue_nodes) const noexcept {
        return at < predicates_.size() && predicates_[at].where == where &&
               predicates_[at].queue_nodes == queue_nodes;
    }

    /// Takes the node into the predicate as it stands; false when it has to be rebuilt.
    bool fits_in(Index& index, node_predicate& of, const node_predicate::candidate& changed,
                 bool present, bool admits) {
        const node_index node = changed.node;
        const std::int32_t preference = changed.preference;
        const auto level = detail::find(of.levels, preference, &node_predicate::level::preference);
        switch (of.shape) {
        case node_predicate::form::everywhere:
            return !present || (admits && preference == of.levels.front().preference);
        case node_predicate::form::list:
            return admits ? detail::find(of.nodes, changed) != of.nodes.end()
                          : detail::find(of.nodes, node, &node_predicate::candidate::node) ==
                                of.nodes.end();
        case node_predicate::form::columns:
            if (present)
                for (const auto& each : of.levels)
                    index.set(each.column, node, admits && each.preference == preference);
            return !admits || level != of.levels.end();
        case node_predicate::form::filter:
            return !admits || level != of.levels.end();
        }
        return false;
    }

    void drop(Index& index, node_predicate& of) {
        if (!of.stale && of.shape == node_predicate::form::columns)
            for (const auto& level : of.levels) {
                index.remove_column(level.column);
                --columns_;
            }
        of.stale = true;
        of.levels.clear();
        of.nodes.clear();
    }

    void make(const cluster_state<Traits>& cluster, Index& index, node_predicate& of) {
        drop(index, of);
        of.stale = false;
        const predicate_rows<Traits::width> rows(cluster, of);
        std::size_t present = 0;
        std::size_t admitted = 0;
        for (const node_index node : cluster.node_order()) {
            present += cluster[node].present ? 1U : 0U;
            if (!cluster[node].present || !rows.admits(node))
                continue;
            const std::int32_t liked = rows.preference(node);
            if (++admitted <= node_predicate::longest_list)
                of.nodes.push_back({node, liked, cluster.node_labels()[node]});
            if (detail::find(of.levels, liked, &node_predicate::level::preference) ==
                of.levels.end())
                of.levels.push_back({liked, 0});
        }
        detail::sort_short(of.levels, [](const auto& lhs, const auto& rhs) {
            return lhs.preference > rhs.preference;
        });
        if (admitted == present && of.levels.size() == 1) {
            of.shape = node_predicate::form::everywhere;
        } else if (admitted <= node_predicate::longest_list) {
            of.shape = node_predicate::form::list;
            return;
        } else if (of.levels.size() > node_predicate::max_levels ||
                   columns_ + of.levels.size() > max_columns) {
            of.shape = node_predicate::form::filter;
        } else {
            of.shape = node_predicate::form::columns;
            for (auto& level : of.levels) {
                level.column = index.add_column([&](node_index node) {
                    return rows.admits(node) && rows.preference(node) == level.preference;
                });
                ++columns_;
            }
        }
        of.nodes.clear();
    }

    sequence<node_predicate> predicates_;
    std::size_t columns_ = 0;
};

} // namespace detail
} // namespace v0_1
} // namespace muster
