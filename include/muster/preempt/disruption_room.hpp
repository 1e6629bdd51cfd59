// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/vocabulary/disruption_budget.hpp>

namespace muster {
inline namespace v0_1 {

/// Checks disruption budgets for a set of pods to evict, while pods are added to it and removed. If
/// a set keeps all budgets, so does every subset.
template<class Traits>
class disruption_room {
public:
    /// Starts with an empty set. O(1) if there are no budgets or nothing happened since the last
    /// call; otherwise O(pods · log kinds of pods + kinds of pods × budgets), where a kind is a
    /// pair of labels and tenant.
    void begin(const cluster_state<Traits>& cluster) {
        broken_ = 0;
        if (cluster.budgets().empty()) {
            cluster_ = nullptr;
            return;
        }
        if (cluster_ == &cluster && seen_ == cluster.changes()) {
            for (room& budget_room : rooms_)
                budget_room.reset();
            return;
        }
        cluster_ = &cluster;
        seen_ = cluster.changes();
        rooms_.clear();
        covering_.clear();
        for (const budget_index number : cluster.budgets()) {
            const disruption_budget& budget = cluster.budget(number);
            rooms_.push_back({&budget, -budget.keeps, 0, 0});
        }
        for (const pod_index pod : cluster.pod_order())
            if (available(pod))
                for (const std::size_t budget : covering(pod))
                    ++rooms_[budget].spare;
    }

    /// Returns true if there are budgets.
    [[nodiscard]] bool any() const noexcept { return cluster_ != nullptr; }

    void take(pod_index pod) { shift(pod, 1); }
    void put_back(pod_index pod) { shift(pod, -1); }
    /// Returns true if the set keeps all budgets. O(1).
    [[nodiscard]] bool kept() const noexcept { return broken_ == 0; }

private:
    struct room {
        const disruption_budget* budget = nullptr;
        /// Available pods beyond those that must stay, before any pod is evicted.
        std::int64_t spare = 0;
        /// Pods of the set: those that are available, and other protected pods.
        std::int64_t gone = 0;
        std::int64_t unready = 0;

        [[nodiscard]] bool broken() const noexcept {
            return (gone > 0 || (unready > 0 && !budget->frees_unready)) && gone > spare;
        }
        void reset() noexcept { gone = unready = 0; }
    };

    [[nodiscard]] bool available(pod_index pod) const noexcept {
        const auto& record = (*cluster_)[pod];
        return record.phase == pod_phase::running && record.ready && record.charged() &&
               record.charged_as() == allocation::allocated;
    }
    /// Returns true if the pod has run and may still run.
    [[nodiscard]] bool started(pod_index pod) const noexcept {
        const pod_phase phase = (*cluster_)[pod].phase;
        return phase == pod_phase::running || phase == pod_phase::unknown;
    }

    [[nodiscard]] const detail::sequence<std::size_t>& covering(pod_index pod) {
        const auto& record = (*cluster_)[pod];
        const auto tenant = (*cluster_)[record.gang].tenant;
        const auto [found, fresh] = covering_.try_emplace({record.labels, tenant});
        if (fresh)
            for (std::size_t at = 0; at < rooms_.size(); ++at)
                if (rooms_[at].budget->pods.matches(cluster_->label_sets()[record.labels],
                                                    cluster_->label_sets()[tenant]))
                    found->second.push_back(at);
        return found->second;
    }

    void shift(pod_index pod, std::int64_t difference) {
        if (!any() || !started(pod))
            return;
        const bool counts = available(pod);
        for (const std::size_t at : covering(pod)) {
            room& affected = rooms_[at];
            broken_ -= affected.broken() ? 1 : 0;
            (counts ? affected.gone : affected.unready) += difference;
            broken_ += affected.broken() ? 1 : 0;
        }
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    std::uint64_t seen_ = 0;
    /// One entry per budget, in the order of keys.
    detail::sequence<room> rooms_;
    /// Per labels and tenant: the budgets that cover such pods.
    std::map<std::pair<label_set_index, label_set_index>, detail::sequence<std::size_t>> covering_;
    std::int64_t broken_ = 0;
};

} // namespace v0_1
} // namespace muster
