// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/policy/victim_rule_concept.hpp>
#include <muster/preempt/gang_views.hpp>
#include <muster/preempt/node_sums.hpp>

namespace muster {
inline namespace v0_1 {

/// All gangs with a pod that may be evicted or moved, as rules see them: by queue, and in each
/// queue by priority. They are read from the state once and used for many waiting gangs.
template<class Traits>
class eviction_candidates {
    static constexpr std::size_t width = Traits::width;
    static constexpr std::size_t unknown = std::numeric_limits<std::size_t>::max();
    using sum = std::array<int128, width>;

public:
    struct candidate {
        gang_view side;
        gang_index gang;
        /// The place of the gang among all gangs, in the order of keys.
        std::size_t place = 0;
    };
    /// The candidates of one queue: a range of `all_`, in ascending order of priority.
    struct group {
        std::optional<queue_index> queue;
        std::size_t first = 0;
        std::size_t last = 0;
        std::int64_t lowest_priority = 0;
        /// The number of the reading in which the group appeared or its lowest priority fell.
        std::uint64_t fell = 0;
    };

    /// Discards what `look` read, because the state may have changed.
    void forget() noexcept {
        valid_ = false;
        has_totals_ = false;
    }

    /// Updates the candidates instead of `forget`, if nothing else happened since `look`: the gang
    /// was nominated, pods were evicted for it, and the free amounts changed on the nodes for which
    /// `note_free` is called. O(candidates).
    void note_nominated(gang_index which) {
        has_totals_ = false;
        valid_ = valid_ && detail::find(all_, which, &candidate::gang) == all_.end();
    }
    void note_free(node_index changed) { changed_.push_back(changed); }

    /// The number of times that `look` read the whole state.
    [[nodiscard]] std::uint64_t readings() const noexcept { return readings_; }

    /// Reads the state, unless it was read since `forget`. O(gangs · log gangs + running pods ×
    /// width + nodes × width), or O(changed nodes × width) if it was read.
    void look(const cluster_state<Traits>& cluster) {
        cluster_ = &cluster;
        if (valid_) {
            for (const node_index node : changed_)
                on_nodes_.read(cluster.accounts(), node);
            changed_.clear();
            return;
        }
        valid_ = true;
        ++readings_;
        has_chain_ = false;
        order_.clear();
        for (const gang_index which : cluster.gang_order()) {
            const auto& gang = cluster[which];
            // Gangs with nominated or newly placed members are no candidates.
            if (!gang.members.empty() && gang.nominated == 0 &&
                gang.placeable != gang.members.size())
                order_.push_back({gang.queue ? gang.queue->value() + 1 : 0, gang.spec.priority,
                                  order_.size(), which});
        }
        detail::sort(order_, [](const sort_key& lhs, const sort_key& rhs) {
            return std::tuple(lhs.queue, lhs.priority, lhs.place) <
                   std::tuple(rhs.queue, rhs.priority, rhs.place);
        });
        all_.clear();
        for (const sort_key& key : order_)
            all_.push_back({gang_view_of(cluster, key.gang), key.gang, key.place});
        sum_up();
    }

    /// What the pods of the queue itself (not of its descendants) use after releases, and a lower
    /// bound of its gangs; see `least_of`.
    struct queue_total {
        gang_view least;
        resources<width> own;
    };
    /// Sums over all nodes once terminating pods have left: the free amounts, and what pods without
    /// a queue use. And the queues whose own pods use anything.
    struct totals {
        sum free{};
        sum loose{};
        detail::sequence<queue_total> queues;
    };
    /// Returns the sums as of the first call after `forget` or `note_nominated`. Precondition:
    /// `look` was called since. O(queues × width), then O(1).
    [[nodiscard]] const totals& totals_of(const cluster_state<Traits>& cluster) {
        if (has_totals_)
            return totals_;
        has_totals_ = true;
        totals_.free = on_nodes_.free();
        totals_.loose = on_nodes_.used();
        totals_.queues.clear();
        const auto& queues = cluster.accounts().queues().future();
        for (std::size_t at = 0; at < queues.size(); ++at) {
            const queue_index queue{at};
            if (!queues.parent(queue))
                for (std::size_t column = 0; column < width; ++column)
                    totals_.loose[column] -= queues.used(queue)[column];
            const resources<width>& own = queues.own(queue);
            if (own == resources<width>{})
                continue;
            const auto& record = cluster[queue];
            totals_.queues.push_back(
                {gang_view::least_of(queue, record.spec.priority,
                                     record.present && record.spec.preemptible),
                 own});
        }
        return totals_;
    }

    /// Returns true if a queue has a guarantee.
    [[nodiscard]] bool any_guarantee() const noexcept { return any_guarantee_; }
    [[nodiscard]] const detail::sequence<group>& groups() const noexcept { return groups_; }
    [[nodiscard]] const candidate& operator[](std::size_t at) const noexcept { return all_[at]; }

    /// Sets the starting gang (`by()`), the gang that needs room. The functions below are about
    /// this gang, with one rule at one time. O(depth). The first of these functions that reads all
    /// groups takes O(queues × depth) more, once for consecutive gangs of one queue.
    void begin_for(gang_index starting) {
        by_ = gang_view_of(*cluster_, starting);
        has_ends_ = false;
        if (has_chain_ && chain_of_ == by_.queue)
            return;
        has_chain_ = true;
        has_row_ = false;
        chain_of_ = by_.queue;
        const auto& queues = cluster_->accounts().queues();
        chain_.clear();
        for (auto at = by_.queue; at; at = queues.parent(*at))
            chain_.push_back(*at);
    }
    /// The starting gang, as rules see it.
    [[nodiscard]] const gang_view& by() const noexcept { return by_; }
    /// Returns how many queues are above both the group and the starting gang's queue; see
    /// `queues_in_common`. Precondition: `admitted_end` was called for the group.
    [[nodiscard]] std::int64_t queues_in_common_with(std::size_t which) const noexcept {
        return least_[which].queues_in_common;
    }
    /// Returns the end of the candidates of the group that the rule may admit. By its preconditions
    /// the rule spares all candidates after it. O(log gangs) calls of the rule, then O(1).
    template<victim_rule Rule>
    [[nodiscard]] std::size_t admitted_end(std::size_t which, const Rule& rule, std::int64_t now) {
        prepare_groups();
        if (admitted_[which] != unknown)
            return admitted_[which];
        const group& among = groups_[which];
        gang_view& least = least_[which];
        const auto admits = [&](std::int64_t priority) {
            least.priority = priority;
            return rule(by_, least, now).has_value();
        };
        std::size_t first = among.first;
        // Most groups have no admitted candidate.
        if (admits(among.lowest_priority)) {
            ++first;
            for (std::size_t last = among.last; first < last;) {
                const std::size_t middle = first + (last - first) / 2;
                if (admits(all_[middle].side.priority))
                    first = middle + 1;
                else
                    last = middle;
            }
        }
        return admitted_[which] = first;
    }

    /// Returns false if the rule admits no candidate for the starting gang. O(queues).
    template<victim_rule Rule>
    [[nodiscard]] bool any_admitted(const Rule& rule, std::int64_t now) {
        for (std::size_t at = 0; at < groups_.size(); ++at)
            if (admitted_end(at, rule, now) > groups_[at].first)
                return true;
        return false;
    }
    /// Returns false if the rule admits no candidate of the groups that appeared, or whose lowest
    /// priority fell, after that reading. O(groups), and one call of the rule for each of these.
    template<victim_rule Rule>
    [[nodiscard]] bool any_admitted_after(std::uint64_t reading, const Rule& rule,
                                          std::int64_t now) const {
        for (std::size_t at = 0; at < groups_.size(); ++at) {
            if (groups_[at].fell <= reading)
                continue;
            gang_view least = least_[at];
            least.priority = groups_[at].lowest_priority;
            least.queues_in_common = in_common(at, shared_with(at));
            if (rule(by_, least, now))
                return true;
        }
        return false;
    }

    /// Returns false if the starting gang does not fit without evictions, because its `amount` is
    /// more than the sum of what the nodes have free once the terminating pods have left, or more
    /// than the quota of a queue then leaves. O(depth × width).
    [[nodiscard]] bool may_suffice_as_is(const resources<width>& amount) const {
        sum rest{};
        for (std::size_t column = 0; column < width; ++column) {
            if (amount[column] > on_nodes_.free()[column])
                return false;
            rest[column] = amount[column];
        }
        return detail::all_of(chain_,
                              [&](queue_index queue) { return fits_quota(queue, sum{}, rest); });
    }
    /// Returns false if the starting gang cannot fit even without all gangs that the rule admits,
    /// because its `amount` is more than the sum of what the nodes then have free, or more than the
    /// quota of a queue then leaves. The preconditions of `victim_rule` make the search by priority
    /// exact. O(queues × (depth + log gangs) × width).
    template<victim_rule Rule>
    [[nodiscard]] bool may_suffice(const Rule& rule, std::int64_t now,
                                   const resources<width>& amount) {
        prepare_groups();
        sum there = on_nodes_.free();
        sum gone{};
        sum rest{};
        for (std::size_t column = 0; column < width; ++column)
            rest[column] = amount[column];
        // The lowest queues come first: their quotas are exceeded most often, and few groups must
        // be read.
        std::size_t next = 0;
        for (std::size_t level = 0; level <= chain_.size(); ++level) {
            for (; next < by_level_.size() && meets_[by_level_[next]] == level; ++next) {
                const std::size_t at = by_level_[next];
                const std::size_t end = admitted_end(at, rule, now);
                if (end == groups_[at].first)
                    continue;
                for (std::size_t column = 0; column < width; ++column) {
                    const int128 freed = held_[end][column] - held_[groups_[at].first][column];
                    there[column] += freed;
                    gone[column] += freed;
                }
            }
            if (level < chain_.size() && !fits_quota(chain_[level], gone, rest))
                return false;
        }
        for (std::size_t column = 0; column < width; ++column)
            if (amount[column] > there[column])
                return false;
        return true;
    }

private:
    struct sort_key {
        /// 0 if the gang has no queue, otherwise one more than the queue's index.
        std::size_t queue = 0;
        std::int64_t priority = 0;
        std::size_t place = 0;
        gang_index gang;
    };

    void add_pods_of(gang_index which, sum& to) const {
        const auto& members = (*cluster_)[which].members;
        // Members of one role are adjacent and usually have the same shape.
        for (std::size_t at = 0; at < members.size();) {
            const shape_index shape = (*cluster_)[members[at]].shape;
            std::int64_t count = 0;
            for (; at < members.size() && (*cluster_)[members[at]].shape == shape; ++at)
                count += (*cluster_)[members[at]].charged() ? 1 : 0;
            const resources<width>& request = cluster_->request(members[at - 1]);
            for (std::size_t column = 0; count > 0 && column < width; ++column)
                to[column] += int128{count} * request[column];
        }
    }

    void sum_up() {
        groups_.clear();
        least_.clear();
        paths_.clear();
        paths_from_.assign(1, 0);
        held_.assign(1, sum{});
        for (std::size_t at = 0; at < all_.size(); ++at) {
            if (at == 0 || all_[at].side.queue != all_[at - 1].side.queue) {
                groups_.push_back(
                    {all_[at].side.queue, at, at, all_[at].side.priority, last_fall(order_[at])});
                least_.push_back(all_[at].side);
                least_.back().preemptible = true;
                least_.back().created = std::numeric_limits<std::int64_t>::max();
                add_path(all_[at].side.queue);
            }
            groups_.back().last = at + 1;
            held_.push_back(held_.back());
            add_pods_of(all_[at].gang, held_.back());
        }
        any_guarantee_ = detail::any_of(cluster_->queue_order(), [&](queue_index queue) {
            return (*cluster_)[queue].spec.guarantee != resources<width>{};
        });
        changed_.clear();
        on_nodes_.read(cluster_->accounts());
    }

    /// Returns true if the quota of the queue admits `rest` after `gone` has left. Subtracts from
    /// `rest` the guaranteed amount that the queue already claims of its ancestors.
    [[nodiscard]] bool fits_quota(queue_index queue, const sum& gone, sum& rest) const {
        const auto& queues = cluster_->accounts().queues();
        const auto& quota = queues.quota(queue);
        const auto& claimed = queues.future().claimed(queue);
        const auto& guarantee = queues.future().guarantee(queue);
        for (std::size_t column = 0; column < width; ++column) {
            const int128 left = claimed[column] - gone[column];
            if (const auto top = quota[kind_id{column}];
                top && rest[column] > 0 && left + rest[column] > *top)
                return false;
            // What is guaranteed to the queue is already claimed of its ancestors.
            const int128 unclaimed = std::max<int128>(0, guarantee[column] - left);
            rest[column] = std::max<int128>(0, rest[column] - unclaimed);
        }
        return true;
    }

    /// Appends the queue's ancestors and itself, the root first.
    void add_path(std::optional<queue_index> queue) {
        const auto& queues = cluster_->accounts().queues();
        const std::size_t first = paths_.size();
        for (auto at = queue; at; at = queues.parent(*at))
            paths_.push_back(*at);
        std::reverse(paths_.begin() + first, paths_.end());
        paths_from_.push_back(paths_.size());
    }
    /// Compares the group that begins with this candidate with the last reading. Returns the
    /// reading in which it appeared or its lowest priority fell.
    [[nodiscard]] std::uint64_t last_fall(const sort_key& lowest) {
        if (floors_.size() <= lowest.queue)
            floors_.resize(lowest.queue + 1);
        floor& bound = floors_[lowest.queue];
        if (bound.read + 1 != readings_ || lowest.priority < bound.priority)
            bound.fell = readings_;
        bound.read = readings_;
        bound.priority = lowest.priority;
        return bound.fell;
    }

    /// Returns how many queues are at or above both the group's queue and the starting gang's
    /// queue. O(depth).
    [[nodiscard]] std::size_t shared_with(std::size_t which) const {
        const std::size_t first = paths_from_[which];
        const std::size_t depth = std::min(paths_from_[which + 1] - first, chain_.size());
        std::size_t shared = 0;
        while (shared < depth && paths_[first + shared] == chain_[chain_.size() - 1 - shared])
            ++shared;
        return shared;
    }
    /// Returns how many of these `shared` queues are above both queues.
    [[nodiscard]] std::int64_t in_common(std::size_t which, std::size_t shared) const {
        const bool is_above = shared == paths_from_[which + 1] - paths_from_[which];
        return static_cast<std::int64_t>(shared) - (is_above && shared > 0 ? 1 : 0);
    }
    /// Resets `admitted_` for the starting gang, and computes for its queue what the rule is asked
    /// about each group.
    void prepare_groups() {
        if (!has_ends_)
            admitted_.assign(groups_.size(), unknown);
        has_ends_ = true;
        if (has_row_)
            return;
        has_row_ = true;
        meets_.clear();
        for (std::size_t at = 0; at < groups_.size(); ++at) {
            const std::size_t shared = shared_with(at);
            meets_.push_back(chain_.size() - shared);
            least_[at].queues_in_common = in_common(at, shared);
        }
        by_level_.clear();
        for (std::size_t level = 0; level <= chain_.size(); ++level)
            for (std::size_t at = 0; at < groups_.size(); ++at)
                if (meets_[at] == level)
                    by_level_.push_back(at);
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    bool valid_ = false;
    std::uint64_t readings_ = 0;
    bool any_guarantee_ = false;
    bool has_totals_ = false;
    totals totals_;
    detail::sequence<sort_key> order_;
    detail::sequence<candidate> all_;
    detail::sequence<group> groups_;
    /// Per group: its queue and the ancestors, the root first. Group `at` has those from
    /// `paths_from_[at]` to `paths_from_[at + 1]`.
    detail::sequence<queue_index> paths_;
    detail::sequence<std::size_t> paths_from_;
    /// Per place in `all_`: the sum of what the candidates before it hold.
    detail::sequence<sum> held_;
    /// Sums over all nodes, and the nodes that may have changed since.
    detail::node_sums<width> on_nodes_;
    detail::sequence<node_index> changed_;
    /// Per queue, and first for gangs without one: the last reading in which it had candidates,
    /// their lowest priority then, and the last reading in which that fell.
    struct floor {
        std::uint64_t read = 0;
        std::uint64_t fell = 0;
        std::int64_t priority = 0;
    };
    detail::sequence<floor> floors_;
    /// The starting gang's queue and its ancestors, unless `has_chain_` is false.
    bool has_chain_ = false;
    std::optional<queue_index> chain_of_;
    detail::sequence<queue_index> chain_;
    /// If `has_row_`: per group the place in `chain_` of the lowest queue at or above the group's,
    /// and the size of `chain_` if there is none; and all groups in the order of these places.
    bool has_row_ = false;
    detail::sequence<std::size_t> meets_;
    detail::sequence<std::size_t> by_level_;
    /// Per group: a lower bound of its gangs, except for the priority.
    detail::sequence<gang_view> least_;
    /// The starting gang and, if `has_ends_`, per group what `admitted_end` returned for it.
    gang_view by_;
    bool has_ends_ = false;
    detail::sequence<std::size_t> admitted_;
};

} // namespace v0_1
} // namespace muster
