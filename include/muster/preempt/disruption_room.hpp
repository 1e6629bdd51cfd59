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

/// What budgets say of a set of pods to evict, as pods are added to it and taken out again. Of a
/// set that keeps to all budgets every part does.
template<class Traits>
class disruption_room {
public:
    /// Starts with no pod to evict. O(1) without budgets, and when nothing happened since; else
    /// O(pods · log kinds of pods + kinds of pods × budgets), a kind being labels and tenant.
    void begin(const cluster_state<Traits>& cluster) {
        broken_ = 0;
        if (cluster.budgets().empty()) {
            cluster_ = nullptr;
            return;
        }
        if (cluster_ == &cluster && seen_ == cluster.changes()) {
            for (room& each : rooms_)
                each.reset();
            return;
        }
        cluster_ = &cluster;
        seen_ = cluster.changes();
        rooms_.clear();
        covering_.clear();
        for (const budget_index each : cluster.budgets()) {
            const disruption_budget& budget = cluster.budget(each);
            rooms_.push_back({&budget, -budget.keeps, 0, 0});
        }
        for (const pod_index pod : cluster.pod_order())
            if (available(pod))
                for (const std::size_t budget : covering(pod))
                    ++rooms_[budget].spare;
    }

    /// Some budget is there.
    [[nodiscard]] bool any() const noexcept { return cluster_ != nullptr; }

    void take(pod_index pod) { shift(pod, 1); }
    void put_back(pod_index pod) { shift(pod, -1); }
    /// All budgets are kept to. O(1).
    [[nodiscard]] bool kept() const noexcept { return broken_ == 0; }

private:
    struct room {
        const disruption_budget* budget = nullptr;
        /// Available pods beyond those that must stay, before any pod is evicted.
        std::int64_t spare = 0;
        /// To evict: of those available, and of others that it protects.
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
    /// It has run, and may be about to again.
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

    void shift(pod_index pod, std::int64_t by) {
        if (!any() || !started(pod))
            return;
        const bool counts = available(pod);
        for (const std::size_t at : covering(pod)) {
            room& of = rooms_[at];
            broken_ -= of.broken() ? 1 : 0;
            (counts ? of.gone : of.unready) += by;
            broken_ += of.broken() ? 1 : 0;
        }
    }

    const cluster_state<Traits>* cluster_ = nullptr;
    std::uint64_t seen_ = 0;
    /// One for each budget, in the order of keys.
    detail::sequence<room> rooms_;
    /// Per labels and tenant: the budgets that cover such pods.
    std::map<std::pair<label_set_index, label_set_index>, detail::sequence<std::size_t>> covering_;
    std::int64_t broken_ = 0;
};

} // namespace v0_1
} // namespace muster
