// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/cluster/queue_accounts.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {

/// Decides whether the quotas of a gang's queues admit an amount once certain pods are gone. A pod
/// that leaves a queue frees its request in that queue and in the queue's ancestors.
template<class Traits>
class quota_tally {
    static constexpr std::size_t width = Traits::width;

public:
    /// Starts with the amount that the gang charges to its queue. Returns false if quotas cannot be
    /// counted this way: with guarantees a queue may claim more than it uses, and non-preemptible
    /// pods may have a ceiling of their own. If the ceilings admit the amount already, there is
    /// nothing to count. O(depth × width).
    [[nodiscard]] bool begin(const cluster_state<Traits>& cluster,
                             const std::optional<queue_charge>& charge,
                             const resources<width>& amount, bool guarantees) {
        cluster_ = &cluster;
        clear();
        if (!charge || cluster.accounts().admits(*charge, amount))
            return true;
        if (guarantees || (charge->non_preemptible && has_own_ceiling(charge->queue)))
            return false;
        const auto& queues = cluster.accounts().queues();
        for (std::optional<queue_index> at = charge->queue; at; at = queues.parent(*at)) {
            const auto claimed = queues.claimed(*at);
            level next{*at, {}, {}};
            for (std::size_t column = 0; column < width; ++column) {
                const auto top = queues.quota(*at)[kind_id{column}];
                next.bounds[column] = top && amount[column] != 0;
                if (!next.bounds[column])
                    continue;
                next.left[column] = int128{*top} - claimed[column] - amount[column];
                short_ += next.left[column] < 0 ? 1U : 0U;
            }
            levels_.push_back(next);
        }
        return true;
    }

    /// Returns true if there is something to count.
    [[nodiscard]] bool counts() const noexcept { return !levels_.empty(); }
    /// Stops counting: everything fits.
    void clear() noexcept {
        levels_.clear();
        short_ = 0;
    }

    void take(pod_index pod) { shift(pod, 1); }
    void put_back(pod_index pod) { shift(pod, -1); }
    /// Takes pods of the queue whose requests sum to `amount`. Precondition: the sum did not
    /// overflow.
    void take(std::optional<queue_index> queue, const resources<width>& amount) {
        shift(queue, amount, 1);
    }
    [[nodiscard]] bool fits() const noexcept { return short_ == 0; }

private:
    struct level {
        queue_index queue;
        /// What its ceiling leaves beyond the amount, for the kinds that it bounds.
        std::array<int128, width> left;
        std::array<bool, width> bounds;
    };

    /// Returns true if the queue or one above it has a ceiling for non-preemptible pods.
    [[nodiscard]] bool has_own_ceiling(queue_index queue) const {
        const auto& queues = cluster_->accounts().queues().present();
        for (std::optional<queue_index> at = queue; at; at = queues.parent(*at))
            if (queues.non_preemptible_quota(*at).any())
                return true;
        return false;
    }
    void shift(pod_index pod, std::int64_t sign) {
        if (!levels_.empty())
            shift((*cluster_)[(*cluster_)[pod].gang].queue, cluster_->request(pod), sign);
    }
    void shift(std::optional<queue_index> queue, const resources<width>& amount,
               std::int64_t sign) {
        if (levels_.empty())
            return;
        const auto& queues = cluster_->accounts().queues();
        std::size_t first = levels_.size();
        for (auto at = queue; at && first == levels_.size(); at = queues.parent(*at))
            for (first = 0; first < levels_.size() && levels_[first].queue != *at; ++first) {
            }
        for (std::size_t depth = first; depth < levels_.size(); ++depth)
            for (std::size_t column = 0; column < width; ++column) {
                int128& left = levels_[depth].left[column];
                if (!levels_[depth].bounds[column])
                    continue;
                short_ -= left < 0 ? 1U : 0U;
                left += int128{sign} * amount[column];
                short_ += left < 0 ? 1U : 0U;
            }
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    /// The queue and its ancestors; empty if there is nothing to count.
    detail::sequence<level> levels_;
    /// The number of ceilings that are exceeded.
    std::size_t short_ = 0;
};

} // namespace v0_1
} // namespace muster
