// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/model/state.hpp>

namespace muster::inline v0_1 {

/// What may be reclaimed for a gang: what other queues use beyond what they deserve, as long as its
/// own stays within what that deserves. Two queues are compared below the first queue that is above
/// both. Of a kind of which nothing is deserved in so many words nothing is borrowed.
template<class Traits>
class borrowing {
    static constexpr std::size_t width = Traits::width;

public:
    /// The gang's queue is to take that much more.
    void begin(const state<Traits>& known, std::optional<queue_index> by,
               const resources<width>& amount) {
        known_ = &known;
        const auto& books = known.accounts().queues();
        used_.clear();
        for (std::size_t at = 0; at < books.size(); ++at)
            used_.push_back(books.future().used(queue_index{at}));
        chain_.clear();
        for (auto at = by; at; at = books.parent(*at))
            chain_.push_back({*at, within_deserved(*at, amount)});
    }

    /// The pod goes, or stays after all.
    void take(pod_index pod) noexcept { shift(pod, -1); }
    void put_back(pod_index pod) noexcept { shift(pod, 1); }

    /// What the pod's queues use now that it goes is no less than they deserve, and the gang's
    /// stay within what they deserve. O(depth² + depth × width).
    [[nodiscard]] bool admits(pod_index pod) const {
        const auto queue = queue_of(pod);
        return queue && admits(*queue, known_->request(pod));
    }

    /// The most that may be reclaimed from the queue and those below it. O(depth² + depth × width).
    [[nodiscard]] resources<width> most(queue_index queue) const {
        resources<width> least;
        for (std::size_t column = 0; column < width; ++column)
            least[column] = std::max<std::int64_t>(0, used_[queue.value()][column]);
        if (!own_stays_within(queue))
            return {};
        for (std::optional<queue_index> at = queue; at && !is_above_both(*at);
             at = known_->accounts().queues().parent(*at))
            for (std::size_t column = 0; column < width; ++column)
                if (const auto keeps = (*known_)[*at].spec.deserved[kind_id{column}])
                    least[column] =
                        std::min(least[column],
                                 std::max<std::int64_t>(0, used_[at->value()][column] - *keeps));
        return least;
    }

private:
    struct link {
        queue_index queue;
        bool stays_within = false;
    };

    [[nodiscard]] std::optional<queue_index> queue_of(pod_index pod) const {
        return (*known_)[(*known_)[pod].gang].queue;
    }
    void shift(pod_index pod, std::int64_t by) noexcept {
        const resources<width>& amount = known_->request(pod);
        for (auto at = queue_of(pod); at; at = known_->accounts().queues().parent(*at))
            for (std::size_t column = 0; column < width; ++column)
                used_[at->value()][column] += by * amount[column];
    }
    [[nodiscard]] bool within_deserved(queue_index queue, const resources<width>& more) const {
        const auto& deserved = (*known_)[queue].spec.deserved;
        for (std::size_t column = 0; column < width; ++column)
            if (const auto top = deserved[kind_id{column}];
                top && more[column] > 0 &&
                saturating_add(used_[queue.value()][column], more[column]) > *top)
                return false;
        return true;
    }
    [[nodiscard]] bool is_above_both(queue_index queue) const {
        return std::ranges::any_of(chain_, [&](const link& each) { return each.queue == queue; });
    }
    /// The gang's queues below where both meet.
    [[nodiscard]] bool own_stays_within(queue_index other) const {
        for (const link& each : chain_) {
            if (known_->accounts().queues().within(other, each.queue))
                return true;
            if (!each.stays_within)
                return false;
        }
        return true;
    }
    [[nodiscard]] bool admits(queue_index from, const resources<width>& amount) const {
        if (is_above_both(from) || !own_stays_within(from))
            return false;
        for (std::optional<queue_index> at = from; at && !is_above_both(*at);
             at = known_->accounts().queues().parent(*at)) {
            bool any = false;
            for (std::size_t column = 0; column < width; ++column) {
                const auto keeps = (*known_)[*at].spec.deserved[kind_id{column}];
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

    const state<Traits>* known_ = nullptr;
    /// Per queue: what it will use, less who was taken.
    std::vector<resources<width>> used_;
    /// The gang's queue and those above.
    std::vector<link> chain_;
};

} // namespace muster::inline v0_1
