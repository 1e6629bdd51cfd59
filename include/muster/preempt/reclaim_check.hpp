// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/policy/victim_rule_concept.hpp>

namespace muster {
inline namespace v0_1 {

/// What may be reclaimed for a gang: what other queues use beyond what they deserve, as long as its
/// own stays within what that deserves. Two queues are compared below the first queue that is above
/// both. Of a kind of which nothing is deserved in so many words nothing is borrowed.
template<class Traits>
class reclaim_check {
    static constexpr std::size_t width = Traits::width;

public:
    /// The gang's queue is to take that much more.
    /// `due`: the fair shares of all queues, for terms that look at them.
    void begin(const cluster_state<Traits>& cluster, std::optional<queue_index> by,
               const resources<width>& amount,
               const detail::sequence<resources<width>>* due = nullptr) {
        cluster_ = &cluster;
        due_ = due;
        amount_ = amount;
        by_ = by;
        used_.clear();
    }
    /// Reads what the queues use, unless it did so since `begin`. All functions below need it.
    /// O(queues × width).
    void read() {
        const auto& books = cluster_->accounts().queues();
        if (!used_.empty())
            return;
        for (std::size_t at = 0; at < books.size(); ++at)
            used_.push_back(books.future().used(queue_index{at}));
        chain_.clear();
        for (auto at = by_; at; at = books.parent(*at))
            chain_.push_back({*at, within(*at, amount_, false), within(*at, amount_, true)});
    }

    /// The pod goes, or stays after all.
    void take(pod_index pod) noexcept { shift(pod, -1); }
    void put_back(pod_index pod) noexcept { shift(pod, 1); }

    /// What the pod's queues use now that it goes is no less than they deserve, and the gang's
    /// stay within what they deserve. O(depth² + depth × width).
    [[nodiscard]] bool admits(pod_index pod, bool fair = false) const {
        const auto queue = queue_of(pod);
        return queue && admits(*queue, cluster_->request(pod), fair);
    }
    /// Leniently: before the last of that much went, the queue right below where it meets the
    /// gang's used more of some kind than it keeps. O(depth² + width).
    [[nodiscard]] bool admits_before(queue_index from, const resources<width>& last,
                                     const victim_terms& terms) const {
        if (terms.of_leaves)
            return leaf_admits(from, last, terms.levels);
        std::optional<queue_index> top;
        for (std::optional<queue_index> at = from; at && !is_above_both(*at);
             at = cluster_->accounts().queues().parent(*at))
            top = at;
        if (!top)
            return false;
        const bool over = gives(*top, last, false, false);
        if (terms.preemptor_may_borrow && over && keeps_all(from, last))
            return true;
        const link* own = own_below(from);
        if (!own)
            return false;
        if (!terms.by_fair_share)
            return over && own->stays_within;
        return ((over && own->stays_within) || gives(*top, last, true, false)) &&
               stays_behind(own->queue, *top, last);
    }

    /// The most that may be reclaimed from the queue and those below it. O(depth² + depth × width).
    [[nodiscard]] resources<width> most(queue_index queue, const victim_terms& terms) const {
        const bool fair = terms.by_fair_share;
        // What others give back may let the gang's own queues stay within their shares later.
        if (terms.lenient)
            return is_above_both(queue) ? resources<width>{} : used_[queue.value()];
        resources<width> least = greater(used_[queue.value()], {});
        if (!own_stays_within(queue, fair))
            return {};
        for (std::optional<queue_index> at = queue; at && !is_above_both(*at);
             at = cluster_->accounts().queues().parent(*at))
            for (std::size_t column = 0; column < width; ++column)
                if (const auto keeps = kept(*at, kind_id{column}, fair))
                    least[column] =
                        std::min(least[column],
                                 std::max<std::int64_t>(0, used_[at->value()][column] - *keeps));
        return least;
    }

private:
    struct link {
        queue_index queue;
        /// What it deserves; its fair share.
        bool stays_within = false;
        bool stays_fair = false;
    };

    /// What the queue keeps of the kind; nothing when nothing of it can be reclaimed.
    [[nodiscard]] std::optional<std::int64_t> kept(queue_index queue, kind_id kind,
                                                   bool fair) const {
        const auto deserved = (*cluster_)[queue].spec.deserved[kind];
        if (!deserved || !fair || !due_)
            return deserved;
        return std::max(*deserved, (*due_)[queue.value()][kind]);
    }

    [[nodiscard]] std::optional<queue_index> queue_of(pod_index pod) const {
        return (*cluster_)[(*cluster_)[pod].gang].queue;
    }
    void shift(pod_index pod, std::int64_t by) noexcept {
        const resources<width> amount = cluster_->request(pod) * by;
        for (auto at = queue_of(pod); at; at = cluster_->accounts().queues().parent(*at))
            used_[at->value()] += amount;
    }
    [[nodiscard]] bool within(queue_index queue, const resources<width>& more, bool fair) const {
        const auto& deserved = (*cluster_)[queue].spec.deserved;
        for (std::size_t column = 0; column < width; ++column) {
            auto top = deserved[kind_id{column}];
            if (!top || more[column] == 0)
                continue;
            if (fair && due_)
                top = (*due_)[queue.value()][column];
            if (saturating_add(used_[queue.value()][column], more[column]) > *top)
                return false;
        }
        return true;
    }
    /// The gang's queue right below where both meet; none when its own does not stay within its
    /// fair share, where that is known.
    [[nodiscard]] const link* own_below(queue_index other) const {
        if (chain_.empty() || (due_ && !chain_.front().stays_fair))
            return nullptr;
        const link* top = nullptr;
        for (const link& each : chain_) {
            if (cluster_->accounts().queues().within(other, each.queue))
                break;
            top = &each;
        }
        return top;
    }
    /// Of no kind that is asked for or goes does the gang's queue get more than its fair share, and
    /// so much of it as the other is left with of its own.
    [[nodiscard]] bool stays_behind(queue_index own, queue_index other,
                                    const resources<width>& last) const {
        for (std::size_t column = 0; due_ && column < width; ++column) {
            const kind_id kind{column};
            if ((amount_[column] == 0 && last[column] == 0) ||
                !(*cluster_)[own].spec.deserved[kind] || !(*cluster_)[other].spec.deserved[kind])
                continue;
            const int128 mine = int128{used_[own.value()][column]} + amount_[column];
            const int128 my_due = (*due_)[own.value()][kind];
            const int128 their_due = (*due_)[other.value()][kind];
            if (mine > my_due && their_due > 0 &&
                saturate(mine) * their_due >= used_[other.value()][column] * my_due)
                return false;
        }
        return true;
    }
    /// Before the last of that much went, the queue used more of some kind than it keeps; `strict`:
    /// and of no kind less that it deserves and the last has, too.
    [[nodiscard]] bool gives(queue_index queue, const resources<width>& last, bool fair,
                             bool strict) const {
        bool any = false;
        for (std::size_t column = 0; column < width; ++column) {
            const auto keeps = kept(queue, kind_id{column}, fair);
            if (!keeps)
                continue;
            const bool more = saturating_add(used_[queue.value()][column], last[column]) > *keeps;
            any = any || more;
            if (strict && !more && *keeps > 0 && last[column] > 0 &&
                kind_id{column} != cluster_->pods_kind())
                return false;
        }
        return any;
    }
    /// Without that much the queue, and those above it below where both meet, use no less than they
    /// deserve of any kind that goes.
    [[nodiscard]] bool keeps_all(queue_index from, const resources<width>& gone) const {
        for (std::optional<queue_index> at = from; at && !is_above_both(*at);
             at = cluster_->accounts().queues().parent(*at))
            for (std::size_t column = 0; column < width; ++column)
                if (const auto keeps = (*cluster_)[*at].spec.deserved[kind_id{column}];
                    keeps && gone[column] > 0 && used_[at->value()][column] < *keeps)
                    return false;
        return true;
    }
    /// Between the two queues themselves, and so many levels above them; the uppermost queue is
    /// above all.
    [[nodiscard]] bool leaf_admits(queue_index from, const resources<width>& last,
                                   std::int64_t levels) const {
        if (is_above_both(from) || chain_.empty() || !gives(from, last, false, true))
            return false;
        const auto& queues = cluster_->accounts().queues();
        const queue_index own = chain_.front().queue;
        const bool deserves = deserves_some(own);
        bool within = stays_within_some(own);
        std::optional<queue_index> theirs = queues.parent(from);
        for (std::size_t level = 1;
             level + 1 < chain_.size() && static_cast<std::int64_t>(level) <= levels; ++level) {
            within = within || stays_within_some(chain_[level].queue);
            if (!deserves && !deserves_some(from) && queues.within(from, chain_[level].queue))
                return false;
        }
        for (std::int64_t level = 1; within && level <= levels && theirs && queues.parent(*theirs);
             ++level, theirs = queues.parent(*theirs))
            within = is_above_both(*theirs) || gives(*theirs, last, false, true);
        return within;
    }
    /// Of some kind that the gang asks for.
    [[nodiscard]] bool deserves_some(queue_index queue) const {
        for (std::size_t column = 0; column < width; ++column)
            if (const auto top = (*cluster_)[queue].spec.deserved[kind_id{column}];
                top && *top > 0 && amount_[column] > 0 && kind_id{column} != cluster_->pods_kind())
                return true;
        return false;
    }
    [[nodiscard]] bool stays_within_some(queue_index queue) const {
        for (std::size_t column = 0; column < width; ++column)
            if (const auto top = (*cluster_)[queue].spec.deserved[kind_id{column}];
                top && amount_[column] > 0 &&
                saturating_add(used_[queue.value()][column], amount_[column]) <= *top)
                return true;
        return false;
    }
    [[nodiscard]] bool is_above_both(queue_index queue) const {
        return detail::any_of(chain_, [&](const link& each) { return each.queue == queue; });
    }
    /// The gang's queues below where both meet.
    [[nodiscard]] bool own_stays_within(queue_index other, bool fair) const {
        for (const link& each : chain_) {
            if (cluster_->accounts().queues().within(other, each.queue))
                return true;
            if (!(fair ? each.stays_fair : each.stays_within))
                return false;
        }
        return true;
    }
    [[nodiscard]] bool admits(queue_index from, const resources<width>& amount, bool fair) const {
        if (is_above_both(from) || !own_stays_within(from, fair))
            return false;
        for (std::optional<queue_index> at = from; at && !is_above_both(*at);
             at = cluster_->accounts().queues().parent(*at)) {
            bool any = false;
            for (std::size_t column = 0; column < width; ++column) {
                const auto keeps = kept(*at, kind_id{column}, fair);
                if (!keeps || amount[column] == 0)
                    continue;
                any = true;
                if (used_[at->value()][column] < *keeps)
                    return false;
            }
            if (!any)
                return false;
        }
        return true;
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    const detail::sequence<resources<width>>* due_ = nullptr;
    /// The gang's queue, and what it asks for.
    std::optional<queue_index> by_;
    resources<width> amount_;
    /// Per queue: what it will use without the pods that were taken.
    detail::sequence<resources<width>> used_;
    /// The gang's queue and those above.
    detail::sequence<link> chain_;
};

} // namespace v0_1
} // namespace muster
