// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/index/asked_shape.hpp>
#include <muster/index/capacity_index.hpp>
#include <muster/index/changed_nodes.hpp>
#include <muster/index/domain_sums.hpp>
#include <muster/index/flat_finder.hpp>
#include <muster/index/listed_node.hpp>
#include <muster/index/placement_order.hpp>
#include <muster/index/predicate_table.hpp>
#include <muster/index/spread.hpp>
#include <muster/index/weights.hpp>

namespace muster {
inline namespace v0_1 {

/// Finds nodes with the ordered capacity index, which follows the ledger's changes. For scores that
/// are an order of nodes, by their type or by their value. It finds the same nodes as a scan of all
/// nodes for one pod after the other.
///
/// For each shape that once found too little room it remembers how much room there was. That is an
/// upper bound: placements leave it unchanged, and amounts that become free raise it.
template<class Traits, std::size_t Fanout, std::size_t Thresholds>
class indexed_finder {
    static constexpr std::size_t width = Traits::width;
    using index_type = capacity_index<width, Fanout, Thresholds>;

public:
    explicit indexed_finder(placement_order order) noexcept : order_(order) {}

    [[nodiscard]] const placement_weights<width>& weights() const noexcept { return weights_; }
    [[nodiscard]] const index_type& index() const noexcept { return index_; }
    /// Bytes of the index with its map of nodes; without the remembered rooms and the predicates.
    [[nodiscard]] std::size_t memory_bytes() const noexcept { return index_.memory_bytes(); }

    /// Applies what changed since the last call, and empties the ledger's list of changes: only one
    /// finder per state can follow it. The state must not move until the next call. O(log nodes)
    /// for a node whose amounts changed, plus O(predicates + shapes) if its properties did, and
    /// O(nodes · log nodes) if the cluster's weights changed or labels were reassigned.
    void catch_up(cluster_state<Traits>& cluster) {
        cluster_ = &cluster;
        accounts_ = &cluster.tentative();
        const auto weights = weigh(cluster.accounts(), cluster.pods_kind());
        if (built_ && weights == weights_ && cluster.node_labels().epoch() == labels_epoch_) {
            follow();
            return;
        }
        weights_ = weights;
        labels_epoch_ = cluster.node_labels().epoch();
        rebuild();
    }

    /// Applies what changed since the last call to the state of the last `catch_up`.
    void follow() {
        // With prefetches the rows are loaded from memory in parallel and not one after the other.
        if (index_.size() > near_rows)
            accounts_->for_each_changed([this](node_index node) { index_.prefetch(node); });
        accounts_->take_changed([this](node_index node, node_change what) {
            if (what == node_change::properties)
                follow_properties(node);
            else
                follow_amounts(node);
            if (index_.contains(node))
                predicates_.claims_changed(*cluster_, index_, node);
            if (what == node_change::size)
                renewed_.size_changed(node, accounts_->allocatable(node));
            sums_.follow(*cluster_, node, what == node_change::properties);
        });
        if (!renewed_.all().empty())
            raise_bounds();
    }

    /// Appends nodes for up to `want` pods of the shape, the best first, and returns the number of
    /// pods. Typically O(log nodes), and a few nanoseconds for each node that it appends.
    std::int64_t find(const cluster_state<Traits>&, shape_index shape,
                      std::optional<constraint_index> queue_nodes, std::int64_t want,
                      detail::sequence<node_run>& into) {
        follow();
        asked& about = ask(shape, queue_nodes);
        return order_ == placement_order::least_allocated ? find_spread(about, want, into)
                                                          : find_packed(about, want, into);
    }

    /// Returns the free amounts of a domain. O(1), plus the changes to apply.
    const domain_sum<width>& free_in(const cluster_state<Traits>& cluster, topology_index within,
                                     domain_index domain) {
        follow();
        return sums_(cluster, within, domain);
    }

    /// Returns the number of pods of the shape for which all nodes together have room, at most
    /// `want`.
    std::int64_t room(const cluster_state<Traits>&, shape_index shape,
                      std::optional<constraint_index> queue_nodes, std::int64_t want) {
        follow();
        asked& about = ask(shape, queue_nodes);
        std::int64_t left = want;
        visit_levels(
            about, left,
            [&](node_index node, const resources<width>& free, std::int64_t) {
                left -= room_on(about, node, free, left);
                return left > 0;
            },
            [] {}, [] {});
        return want - left;
    }

    /// Remembers that there is room for exactly `room` pods of the shape. The shape must have no
    /// host ports or other claims, and there must be no tentative placement. Returns a number for
    /// `room_seen`, which is valid as long as the shape and the queue's selector are.
    [[nodiscard]] std::uint32_t
    watch(shape_index shape, std::optional<constraint_index> queue_nodes, std::int64_t room) {
        MUSTER_ASSERT(touched_.all().empty(), "what was given back is known");
        asked& about = ask(shape, queue_nodes);
        const std::uint32_t at = asked_.number_of(about);
        about.room = room;
        if (!std::exchange(about.remembered, true))
            remembered_.push_back(at);
        return at;
    }
    /// Returns an upper bound on the room for pods of the watched shape, as of the last
    /// `refresh_rooms`. Placements since then can only have reduced the room.
    [[nodiscard]] std::int64_t room_seen(std::uint32_t watched) const noexcept {
        return asked_[watched].room;
    }
    /// Returns whether the cluster with all pods gone has room for `need` pods of the shape, if
    /// only these filters apply. O(nodes) if it must count, O(1) if the last count still decides.
    [[nodiscard]] bool holds(shape_index shape, std::optional<constraint_index> queue_nodes,
                             std::uint8_t filters, std::int64_t need) {
        asked& about = ask(shape, queue_nodes);
        if (empty_cluster_filters_ == filters) {
            if (about.when_empty.least >= need)
                return true;
            if (about.when_empty.most < need)
                return false;
        }
        empty_cluster_filters_ = filters;
        auto query = detail::query_for(*cluster_, shape, queue_nodes);
        query.filters = filters;
        const std::int64_t most_here = max_beside_itself(*about.claims, max_room);
        const detail::node_predicate& allowed = predicates_[about.predicate];
        // A node that passes all filters also passes a subset of them.
        if (allowed.shape == detail::node_predicate::form::list) {
            about.when_empty.count_some(*cluster_, query, most_here, allowed.nodes);
            if (about.when_empty.least >= need)
                return true;
        }
        about.when_empty.count(*cluster_, query, most_here, need);
        return about.when_empty.least >= need;
    }
    /// `known_to_fit` returns true if `holds` is known to be true for a watched shape, and
    /// `known_too_small` if it is known to be false, without a new count. Both may be false. O(1).
    [[nodiscard]] bool known_to_fit(std::uint32_t watched, std::int64_t need) const noexcept {
        return asked_[watched].when_empty.least >= need;
    }
    [[nodiscard]] bool known_too_small(std::uint32_t watched, std::int64_t need) const noexcept {
        return asked_[watched].when_empty.most < need;
    }

    /// Returns true if the index was rebuilt since the last call. `refresh_rooms` does not report
    /// what became free before the rebuild.
    [[nodiscard]] bool take_rebuilt() noexcept { return std::exchange(rebuilt_, false); }

    /// Raises the remembered rooms by what became free since the last call. Calls `use(node,
    /// before)` for every node whose free amounts changed, and `use(node, nullptr)` for every node
    /// that is new or whose properties changed. O(nodes changed × shapes remembered).
    template<class Use>
    void refresh_rooms(const Use& use) {
        follow();
        for (const before& was : touched_.all())
            use(was.node, was.is_known ? &was.free : nullptr);
        raise_rooms();
        touched_.clear();
    }

private:
    using asked = detail::asked_shape<width, typename index_type::query>;
    static constexpr std::int64_t unknown = asked::unknown;
    static constexpr std::int64_t max_room = detail::empty_cluster_room::max_room;
    /// Up to about this many rows stay in the private caches of a core.
    static constexpr std::size_t near_rows = std::size_t{1} << 15;

    using listed = detail::listed_node;
    using before = typename detail::touched_nodes<width>::before;

    [[nodiscard]] std::int64_t rank_of(const resources<width>& free) const noexcept {
        if (order_ == placement_order::by_key)
            return 0;
        const std::int64_t key = weights_.key(free);
        return order_ == placement_order::most_allocated ? key : ~key;
    }

    // ---- following the state -------------------------------------------------------------------

    void rebuild() {
        built_ = true;
        for (asked& entry : asked_)
            entry.when_empty = {};
        accounts_->take_changed([](node_index, node_change) {});
        renewed_.clear();
        rebuilt_ = true;
        sums_.clear();
        index_.clear();
        predicates_.clear(index_);
        forget_rooms();
        // Queries that were prepared with other weights must be prepared again.
        for (asked& entry : asked_)
            entry.stamp = 0;
        const auto& labels = cluster_->node_labels();
        detail::sequence<typename index_type::row> rows;
        for (const node_index node : cluster_->node_order())
            if ((*cluster_)[node].present) {
                const auto& free = accounts_->free(node);
                rows.push_back({node, rank_of(free), labels[node], free});
                renewed_.remember(node, accounts_->allocatable(node));
            }
        index_.build(rows);
    }

    void follow_amounts(node_index node) {
        if (!index_.contains(node))
            return;
        const resources<width> was = index_.free(node);
        const resources<width>& now = accounts_->free(node);
        if (was == now)
            return;
        touched_.amounts_changed(node, was, cluster_->accounts().nodes());
        index_.update(node, rank_of(now), now);
    }

    void follow_properties(node_index node) {
        const bool present = (*cluster_)[node].present;
        if (index_.contains(node) && !present)
            index_.erase(node);
        if (present) {
            const auto& free = accounts_->free(node);
            if (index_.contains(node))
                index_.update(node, rank_of(free), free);
            else
                index_.insert(node, rank_of(free), cluster_->node_labels()[node], free);
        }
        predicates_.node_changed(*cluster_, index_, node, present);
        renewed_.properties_changed(node, accounts_->allocatable(node));
        if (present)
            touched_.renewed(node);
    }

    /// Applies the nodes whose properties or size changed to the bounds that are kept per shape.
    void raise_bounds() {
        for (asked& about : asked_) {
            if (about.when_empty.least == 0 && about.when_empty.most == unknown &&
                about.room == unknown)
                continue;
            if (!in_use(about)) {
                about.when_empty = {};
                continue;
            }
            const auto query = detail::query_for(*cluster_, about.shape, about.queue_nodes);
            auto when_empty = query;
            when_empty.filters = empty_cluster_filters_;
            const std::int64_t most_here = max_beside_itself(query.where->value.claims, max_room);
            for (const auto& changed : renewed_.all()) {
                if (changed.size_known) {
                    about.when_empty.resized(*cluster_, when_empty, changed.node, changed.size,
                                             most_here);
                    continue;
                }
                about.when_empty.changed(*cluster_, when_empty, changed.node);
                about.room = detail::empty_cluster_room::raised(
                    about.room, *cluster_, query, changed.node, accounts_->free(changed.node));
            }
        }
        renewed_.clear();
    }

    /// Returns whether the entry is current: a pod still has its shape, and the queue's selector is
    /// unchanged.
    [[nodiscard]] bool in_use(const asked& about) const {
        const auto& row = cluster_->shapes()[about.shape];
        return row.users > 0 && row.stamp == about.stamp &&
               about.queue_stamp == stamp_of(about.queue_nodes);
    }

    // ---- asking --------------------------------------------------------------------------------

    /// For orders in which the node that takes one pod is also the best for the next equal pod.
    std::int64_t find_packed(asked& about, std::int64_t want, detail::sequence<node_run>& into) {
        std::int64_t left = want;
        visit_levels(
            about, left,
            [&](node_index node, const resources<width>& free, std::int64_t) {
                const std::int64_t here = room_on(about, node, free, left);
                if (here > 0)
                    into.push_back({node, here});
                left -= here;
                return left > 0;
            },
            [] {}, [] {});
        return want - left;
    }

    /// For the order `least_allocated`, in which a node that takes one pod may no longer be the
    /// best.
    std::int64_t find_spread(asked& about, std::int64_t want, detail::sequence<node_run>& into) {
        std::int64_t left = want;
        const auto& labels = cluster_->node_labels();
        visit_levels(
            about, left,
            [&](node_index node, const resources<width>& free, std::int64_t rank) {
                const resources<width> rest = free;
                left = spread_.up_to({rank, labels[node], node, 0}, left, into);
                const std::int64_t most = room_on(about, node, rest, left);
                if (left > 0 && most > 0)
                    left = spread_.add({rank, labels[node], node, most}, rest, left, into);
                return left > 0;
            },
            [&] { left = spread_.drain(left, into); },
            [&] { spread_.begin(about.request, weights_); });
        return want - left;
    }

    [[nodiscard]] std::uint64_t stamp_of(std::optional<constraint_index> queue_nodes) const {
        return queue_nodes ? cluster_->constraint_sets()[*queue_nodes].stamp : 0;
    }

    asked& ask(shape_index shape, std::optional<constraint_index> queue_nodes) {
        const auto& row = cluster_->shapes()[shape];
        asked& about = asked_.find(shape, row.stamp, queue_nodes, stamp_of(queue_nodes));
        if (about.prepared.generation == 0) {
            about.request = row.request;
            // A node that the request fits has at least the requested amounts free, so its key is
            // at least the key of the request.
            about.prepared = order_ == placement_order::most_allocated
                                 ? index_.prepare(row.request, weights_.key(row.request))
                                 : index_.prepare(row.request);
        }
        refresh(about, row);
        return about;
    }

    void refresh(asked& about, const typename shape_table<width>::row& row) {
        index_.refresh(about.prepared);
        about.claims = &cluster_->constraint_sets()[row.where].value.claims;
        about.predicate =
            predicates_.find(*cluster_, index_, row.where, about.queue_nodes, about.predicate);
    }

    [[nodiscard]] std::int64_t room_on(const asked& about, node_index node,
                                       const resources<width>& free, std::int64_t most) {
        const std::int64_t fitting = fit_count(about.request, free, most);
        const std::int64_t room = accounts_->room_beside(node, *about.claims, fitting);
        if (room == 0 && fitting > 0)
            refused_.push_back(node);
        return room;
    }
    /// Clears the column for the nodes of the present walk that had no room for the claims of the
    /// shape, so that no walk visits these nodes until their claims change.
    void leave_out_refused(const detail::node_predicate& allowed, std::size_t column) {
        if (allowed.by_claims)
            for (const node_index node : refused_)
                index_.set(column, node, false);
        refused_.clear();
    }

    /// Visits the nodes that fit, level by level, while `left` is not 0. Calls `first()` before
    /// each level and `after()` after it.
    template<class Visit, class After, class Before>
    void visit_levels(asked& about, const std::int64_t& left, const Visit& visit,
                      const After& after, const Before& first) {
        const detail::node_predicate& allowed = predicates_[about.predicate];
        refused_.clear();
        if (allowed.shape == detail::node_predicate::form::list) {
            visit_list(about, allowed, left, visit, after, first);
            refused_.clear();
            return;
        }
        if (allowed.shape == detail::node_predicate::form::everywhere) {
            first();
            index_.for_each_fitting(about.prepared, index_type::no_column, visit);
            after();
            return;
        }
        const detail::predicate_rows<width> rows(*cluster_, allowed);
        for (const auto& level : allowed.levels) {
            if (left <= 0)
                return;
            first();
            if (allowed.shape == detail::node_predicate::form::columns) {
                index_.for_each_fitting(about.prepared, level.column, visit);
                leave_out_refused(allowed, level.column);
            } else {
                index_.for_each_fitting(
                    about.prepared, index_type::no_column,
                    [&](node_index node, const resources<width>& free, std::int64_t rank) {
                        return !rows.admits(node) || rows.preference(node) != level.preference ||
                               visit(node, free, rank);
                    });
                refused_.clear();
            }
            after();
        }
    }

    template<class Visit, class After, class Before>
    void visit_list(asked& about, const detail::node_predicate& allowed, const std::int64_t& left,
                    const Visit& visit, const After& after, const Before& first) {
        listed_.clear();
        for (const auto& [node, preference, label] : allowed.nodes)
            // The index has the same amounts, but reading them takes more memory accesses.
            if (const auto& free = accounts_->free(node); fits(about.request, free))
                listed_.push_back({preference, rank_of(free), label, node});
        // Usually the first few nodes are enough, so a heap is used and not a full sort.
        std::make_heap(listed_.begin(), listed_.end(), listed::after);
        while (!listed_.empty() && left > 0) {
            const std::int32_t level = listed_.front().preference;
            first();
            bool more = true;
            while (more && !listed_.empty() && listed_.front().preference == level) {
                std::pop_heap(listed_.begin(), listed_.end(), listed::after);
                const listed next = listed_.back();
                listed_.pop_back();
                more = visit(next.node, accounts_->free(next.node), next.rank);
            }
            after();
        }
    }

    // ---- the memo ------------------------------------------------------------------------------

    void forget_rooms() {
        for (const std::uint32_t at : remembered_) {
            asked_[at].room = unknown;
            asked_[at].remembered = false;
        }
        remembered_.clear();
        touched_.clear();
    }

    /// The outer loop is over shapes, so that each entry is read once.
    void raise_rooms() {
        grown_.clear();
        for (const before& was : touched_.all())
            // Nodes with other properties were handled by raise_bounds.
            if (was.is_known && index_.contains(was.node) &&
                !dominates(was.free, index_.free(was.node)))
                grown_.push_back({was, index_.free(was.node)});
        if (grown_.empty())
            return;
        for (std::size_t place = 0; place < remembered_.size();) {
            asked& about = asked_[remembered_[place]];
            if (!in_use(about)) {
                about.remembered = false;
                remembered_[place] = remembered_.back();
                remembered_.pop_back();
                continue;
            }
            ++place;
            if (about.room == unknown)
                continue;
            for (const auto& [was, now] : grown_)
                if (fits(about.request, now))
                    raise_room(about, was, now);
        }
    }

    void raise_room(asked& about, const before& was, const resources<width>& now) {
        const detail::predicate_rows<width> rows(*cluster_, predicates_[about.predicate]);
        if (!rows.admits(was.node))
            return;
        const std::int64_t can = fit_count(about.request, now, max_room);
        const std::int64_t could = fit_count(about.request, was.free, can);
        about.room = std::min(max_room, about.room + can - could);
    }

    placement_order order_;
    /// Nodes of the present walk that had no room for the claims of the shape.
    detail::sequence<node_index> refused_;
    cluster_state<Traits>* cluster_ = nullptr;
    ledger<width>* accounts_ = nullptr;
    bool built_ = false;
    placement_weights<width> weights_;
    std::uint64_t labels_epoch_ = 0;
    index_type index_;
    detail::predicate_table<Traits, index_type> predicates_;
    detail::spread<width> spread_;
    detail::domain_sums<Traits> sums_;
    detail::asked_shapes<width, typename index_type::query> asked_;
    detail::sequence<std::uint32_t> remembered_;
    detail::sequence<listed> listed_;
    detail::touched_nodes<width> touched_;
    /// The touched nodes with more free than before, and their free amounts now.
    detail::sequence<std::pair<before, resources<width>>> grown_;
    detail::renewed_nodes<width> renewed_;
    bool rebuilt_ = false;
    std::uint8_t empty_cluster_filters_ = 0;
};

} // namespace v0_1
} // namespace muster
