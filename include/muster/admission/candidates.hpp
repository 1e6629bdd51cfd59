// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>

#include <muster/admission/contenders.hpp>
#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/model/cluster_state.hpp>
#include <muster/policy/victim_rule_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// All gangs with a pod that may be evicted or moved, as rules see them: by queue, and in each
/// queue by priority. They are read from the state once for many waiting gangs.
template<class Traits>
class eviction_candidates {
    static constexpr std::size_t width = Traits::width;
    using sum = std::array<int128, width>;

public:
    struct candidate {
        contender side;
        gang_index gang;
        /// Among all, in the order of keys.
        std::size_t place = 0;
    };
    /// Those of one queue: a range of `all`, in ascending order of priority.
    struct group {
        std::optional<queue_index> queue;
        std::size_t first = 0;
        std::size_t last = 0;
    };

    /// The state may have changed since `look` read it.
    void forget() noexcept {
        valid_ = false;
        has_totals_ = false;
    }

    /// Reads the state, unless it did so since `forget`.
    /// O(gangs · log gangs + running pods × width + nodes × width).
    void look(const cluster_state<Traits>& known) {
        known_ = &known;
        if (valid_)
            return;
        valid_ = true;
        row_of_.reset();
        order_.clear();
        for (const gang_index which : known.gang_order()) {
            const auto& gang = known[which];
            // Gangs with nominated or newly placed members are left alone.
            if (!gang.members.empty() && gang.nominated == 0 &&
                gang.placeable != gang.members.size())
                order_.push_back({gang.queue ? gang.queue->value() + 1 : 0, gang.spec.priority,
                                  order_.size(), which});
        }
        std::ranges::sort(order_, [](const sort_key& lhs, const sort_key& rhs) {
            return std::tuple(lhs.queue, lhs.priority, lhs.place) <
                   std::tuple(rhs.queue, rhs.priority, rhs.place);
        });
        all_.clear();
        for (const sort_key& each : order_)
            all_.push_back({contender_of(known, each.gang), each.gang, each.place});
        sum_up();
    }

    /// Sums over all nodes of what is free and what is in use, and per queue what its own pods will
    /// use.
    struct totals {
        sum free{};
        sum in_use{};
        detail::sequence<resources<width>> own;
    };
    /// The sums as of the first call after `forget`. O((nodes + queues) × width), then O(1).
    [[nodiscard]] const totals& totals_of(const cluster_state<Traits>& known) {
        if (has_totals_)
            return totals_;
        has_totals_ = true;
        totals_.free = totals_.in_use = {};
        const auto& accounts = known.accounts();
        for (std::size_t at = 0; at < accounts.nodes(); ++at) {
            const resources<width>& free = accounts.free(node_index{at});
            const resources<width>& all = accounts.allocatable(node_index{at});
            for (std::size_t column = 0; column < width; ++column) {
                totals_.free[column] += std::max<std::int64_t>(0, free[column]);
                totals_.in_use[column] += all[column] - free[column];
            }
        }
        const auto& queues = accounts.queues();
        totals_.own.clear();
        for (std::size_t at = 0; at < queues.size(); ++at)
            totals_.own.push_back(queues.future().used(queue_index{at}));
        for (std::size_t at = 0; at < queues.size(); ++at)
            if (const auto parent = queues.parent(queue_index{at}))
                for (std::size_t column = 0; column < width; ++column)
                    totals_.own[parent->value()][column] -=
                        queues.future().used(queue_index{at})[column];
        return totals_;
    }

    /// Some queue has something guaranteed.
    [[nodiscard]] bool any_guarantee() const noexcept { return any_guarantee_; }
    [[nodiscard]] const detail::sequence<group>& groups() const noexcept { return groups_; }
    [[nodiscard]] const candidate& operator[](std::size_t at) const noexcept { return all_[at]; }

    /// Per group: how many queues stand above it that stand above the queue `by`, too; see
    /// `queues_in_common`. O(queues × depth²), once for all gangs of one queue in a row.
    [[nodiscard]] const detail::sequence<std::int64_t>&
    queues_in_common_with(std::optional<queue_index> by) {
        make_row(by);
        return common_;
    }

    /// False if the gang `by` cannot fit even without all gangs that the rule admits: its `amount`
    /// is more than the nodes have free in sum then, or than the quota of a queue leaves. The
    /// preconditions of `victim_rule` make the search by priority exact.
    /// O(queues × (depth + log gangs) × width).
    template<victim_rule Rule>
    [[nodiscard]] bool may_suffice(gang_index by, const Rule& rule, std::int64_t now,
                                   const resources<width>& amount) {
        const cluster_state<Traits>& known = *known_;
        const contender mine = contender_of(known, by);
        make_row(mine.queue);
        sum there = free_;
        below_.assign(chain_.size(), sum{});
        for (std::size_t at = 0; at < groups_.size(); ++at) {
            const group& each = groups_[at];
            const auto first = all_.begin() + static_cast<std::ptrdiff_t>(each.first);
            const auto last = all_.begin() + static_cast<std::ptrdiff_t>(each.last);
            const auto spared = std::partition_point(first, last, [&](const candidate& one) {
                contender of = one.side;
                of.preemptible = true;
                of.created = std::numeric_limits<std::int64_t>::max();
                of.queues_in_common = common_[at];
                return rule(mine, of, now).has_value();
            });
            const auto end = static_cast<std::size_t>(spared - all_.begin());
            for (std::size_t column = 0; end > each.first && column < width; ++column) {
                const int128 freed = held_[end][column] - held_[each.first][column];
                there[column] += freed;
                if (meets_[at] < below_.size())
                    below_[meets_[at]][column] += freed;
            }
        }
        for (std::size_t column = 0; column < width; ++column)
            if (amount[column] > there[column])
                return false;
        return fits_quotas(amount);
    }

private:
    struct sort_key {
        /// 0 = none.
        std::size_t queue = 0;
        std::int64_t priority = 0;
        std::size_t place = 0;
        gang_index gang;
    };

    void add_pods_of(gang_index which, sum& to) const {
        const auto& members = (*known_)[which].members;
        // Members of one role stand side by side and are alike as a rule.
        for (std::size_t at = 0; at < members.size();) {
            const shape_index shape = (*known_)[members[at]].shape;
            std::int64_t count = 0;
            for (; at < members.size() && (*known_)[members[at]].shape == shape; ++at)
                count += (*known_)[members[at]].charged() ? 1 : 0;
            const resources<width>& each = known_->request(members[at - 1]);
            for (std::size_t column = 0; count > 0 && column < width; ++column)
                to[column] += int128{count} * each[column];
        }
    }

    void sum_up() {
        groups_.clear();
        held_.assign(1, sum{});
        for (std::size_t at = 0; at < all_.size(); ++at) {
            if (at == 0 || all_[at].side.queue != all_[at - 1].side.queue)
                groups_.push_back({all_[at].side.queue, at, at});
            groups_.back().last = at + 1;
            held_.push_back(held_.back());
            add_pods_of(all_[at].gang, held_.back());
        }
        any_guarantee_ = std::ranges::any_of(known_->queue_order(), [&](queue_index each) {
            return (*known_)[each].spec.guarantee != resources<width>{};
        });
        free_ = {};
        const auto& accounts = known_->accounts();
        for (std::size_t at = 0; at < accounts.nodes(); ++at) {
            const auto later = accounts.future(node_index{at});
            const auto& free = accounts.free(node_index{at});
            for (std::size_t column = 0; column < width; ++column)
                free_[column] += std::max(std::int64_t{0}, std::max(later[column], free[column]));
        }
    }

    /// The quotas of the chain admit the amount, once what is in `below_` has left.
    [[nodiscard]] bool fits_quotas(const resources<width>& amount) const {
        const auto& queues = known_->accounts().queues();
        sum gone{};
        sum rest{};
        for (std::size_t column = 0; column < width; ++column)
            rest[column] = amount[column];
        for (std::size_t level = 0; level < chain_.size(); ++level) {
            const auto& quota = queues.quota(chain_[level]);
            const auto& claimed = queues.future().claimed(chain_[level]);
            const auto& guarantee = queues.future().guarantee(chain_[level]);
            for (std::size_t column = 0; column < width; ++column) {
                gone[column] += below_[level][column];
                const int128 left = claimed[column] - gone[column];
                if (const auto top = quota[kind_id{column}];
                    top && rest[column] > 0 && left + rest[column] > *top)
                    return false;
                // What is guaranteed to the queue is claimed of those above already.
                const int128 unclaimed = std::max<int128>(0, guarantee[column] - left);
                rest[column] = std::max<int128>(0, rest[column] - unclaimed);
            }
        }
        return true;
    }

    void make_row(std::optional<queue_index> by) {
        if (row_of_ && *row_of_ == by)
            return;
        row_of_ = by;
        const auto& queues = known_->accounts().queues();
        chain_.clear();
        for (auto at = by; at; at = queues.parent(*at))
            chain_.push_back(*at);
        common_.clear();
        meets_.clear();
        for (const group& each : groups_) {
            common_.push_back(queues_in_common(*known_, each.queue, by));
            std::size_t level = 0;
            while (level < chain_.size() &&
                   !(each.queue && queues.within(*each.queue, chain_[level])))
                ++level;
            meets_.push_back(level);
        }
    }

    const cluster_state<Traits>* known_ = nullptr;
    bool valid_ = false;
    bool any_guarantee_ = false;
    bool has_totals_ = false;
    totals totals_;
    detail::sequence<sort_key> order_;
    detail::sequence<candidate> all_;
    detail::sequence<group> groups_;
    /// Sums of what the candidates before a place in `all_` hold.
    detail::sequence<sum> held_;
    /// An upper bound of what is free on all nodes once the leaving pods have left.
    sum free_{};
    /// The queue that the members below are for. `chain_` is that queue and those above it;
    /// `meets_` has per group the first queue of the chain that the group is below.
    std::optional<std::optional<queue_index>> row_of_;
    detail::sequence<queue_index> chain_;
    detail::sequence<std::int64_t> common_;
    detail::sequence<std::size_t> meets_;
    detail::sequence<sum> below_;
};

} // namespace v0_1
} // namespace muster
