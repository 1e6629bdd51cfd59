// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>

namespace muster {
inline namespace v0_1 {

/// What queues use while victims are chosen for a starting gang, compared with what they deserve.
/// All reclaim rules use this view. The meeting queue of the gang's queue and another queue is
/// their lowest common ancestor. A kind of which a queue deserves nothing explicitly is not
/// compared.
template<class Traits>
class queue_use {
public:
    static constexpr std::size_t width = Traits::width;

    /// The gang's queue, or one of its ancestors.
    struct own_queue {
        queue_index queue;
        /// With the gang it uses no more than it deserves, or than its fair share.
        bool within_deserved = false;
        bool within_fair_share = false;
    };

    /// Starts with a gang that requests `amount` in the queue `gang_queue`. `due` has the fair
    /// shares of all queues, if the rule needs them.
    void begin(const cluster_state<Traits>& cluster, std::optional<queue_index> gang_queue,
               const resources<width>& amount, const detail::sequence<resources<width>>* due) {
        cluster_ = &cluster;
        due_ = due;
        amount_ = amount;
        by_ = gang_queue;
        used_.clear();
    }
    /// Reads what the queues use, once after `begin`. All functions below need it. O(queues ×
    /// width).
    void read() {
        if (!used_.empty())
            return;
        for (std::size_t at = 0; at < queues().size(); ++at)
            used_.push_back(queues().future().used(queue_index{at}));
        own_.clear();
        for (auto at = by_; at; at = queues().parent(*at))
            own_.push_back({*at, fits(*at, false), fits(*at, true)});
    }

    /// Counts the pod as evicted; `put_back` undoes this. O(depth × width).
    void take(pod_index pod) noexcept { shift(pod, -1); }
    void put_back(pod_index pod) noexcept { shift(pod, 1); }

    [[nodiscard]] const cluster_state<Traits>& cluster() const noexcept { return *cluster_; }
    [[nodiscard]] const resources<width>& asked() const noexcept { return amount_; }
    [[nodiscard]] const resources<width>& used(queue_index queue) const noexcept {
        return used_[queue.value()];
    }
    [[nodiscard]] const auto& deserved(queue_index queue) const noexcept {
        return (*cluster_)[queue].spec.deserved;
    }
    /// The fair shares of all queues, or null.
    [[nodiscard]] const detail::sequence<resources<width>>* fair_shares() const noexcept {
        return due_;
    }
    /// The gang's queue and its ancestors, the lowest first; empty for a gang without a queue.
    [[nodiscard]] const detail::sequence<own_queue>& own() const noexcept { return own_; }

    /// Returns true if the queue is the gang's queue or one of its ancestors, so that it can be a
    /// meeting queue.
    [[nodiscard]] bool is_above_gang(queue_index queue) const {
        for (const own_queue& own_entry : own_)
            if (own_entry.queue == queue)
                return true;
        return false;
    }
    /// Calls `use(queue)` for the queue and its ancestors below the meeting queue, until it returns
    /// false.
    template<class Use>
    void each_below_common_ancestor(queue_index from, const Use& use) const {
        for (std::optional<queue_index> at = from; at && !is_above_gang(*at);
             at = queues().parent(*at))
            if (!use(*at))
                return;
    }
    /// Returns the child of the meeting queue on the side of `from`.
    [[nodiscard]] std::optional<queue_index> top_of(queue_index from) const {
        std::optional<queue_index> top;
        each_below_common_ancestor(from, [&](queue_index at) { return top = at, true; });
        return top;
    }
    /// Returns the child of the meeting queue on the side of the gang. Null if the gang's own queue
    /// exceeds its fair share, in case fair shares are given.
    [[nodiscard]] const own_queue* own_top(queue_index other) const {
        if (own_.empty() || (due_ && !own_.front().within_fair_share))
            return nullptr;
        const own_queue* top = nullptr;
        for (const own_queue& own_entry : own_) {
            if (queues().within(other, own_entry.queue))
                break;
            top = &own_entry;
        }
        return top;
    }

    /// Returns what the queue keeps of the kind: what it deserves or, with `fair`, its fair share
    /// if that is more. Nothing if the kind is not compared.
    [[nodiscard]] std::optional<std::int64_t> kept(queue_index queue, kind_id kind,
                                                   bool fair) const {
        const auto least = deserved(queue)[kind];
        if (!least || !fair || !due_)
            return least;
        return std::max(*least, (*due_)[queue.value()][kind]);
    }
    /// Returns true if the queue used more of some kind than it keeps before `last` was evicted.
    [[nodiscard]] bool was_above(queue_index queue, const resources<width>& last, bool fair) const {
        for (std::size_t column = 0; column < width; ++column)
            if (const auto keeps = kept(queue, kind_id{column}, fair);
                keeps && saturating_add(used(queue)[column], last[column]) > *keeps)
                return true;
        return false;
    }

private:
    [[nodiscard]] const auto& queues() const noexcept { return cluster_->accounts().queues(); }

    void shift(pod_index pod, std::int64_t sign) noexcept {
        const resources<width> amount = cluster_->request(pod) * sign;
        for (auto at = (*cluster_)[(*cluster_)[pod].gang].queue; at; at = queues().parent(*at))
            used_[at->value()] += amount;
    }
    [[nodiscard]] bool fits(queue_index queue, bool fair) const {
        for (std::size_t column = 0; column < width; ++column) {
            auto top = deserved(queue)[kind_id{column}];
            if (!top || amount_[column] == 0)
                continue;
            if (fair && due_)
                top = (*due_)[queue.value()][column];
            if (saturating_add(used(queue)[column], amount_[column]) > *top)
                return false;
        }
        return true;
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    const detail::sequence<resources<width>>* due_ = nullptr;
    std::optional<queue_index> by_;
    resources<width> amount_;
    /// Per queue: what it uses without the evicted pods.
    detail::sequence<resources<width>> used_;
    detail::sequence<own_queue> own_;
};

} // namespace v0_1
} // namespace muster
