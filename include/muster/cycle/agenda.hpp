// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/model/state.hpp>
#include <muster/policy/gang_order_concept.hpp>
#include <muster/policy/queue_order_concept.hpp>
#include <muster/resource/share.hpp>

namespace muster::inline v0_1 {

/// The gangs to ask, queue by queue. Inside a queue the order of gangs, then their keys; between
/// queues the order of queues as their use stands, then their keys. Gangs without a queue form one
/// of their own, with priority 0 and nothing used, which stands before the named ones of its rank.
template<class Traits, gang_order GangOrder, queue_order QueueOrder>
class agenda {
public:
    agenda(const state<Traits>& known, std::int64_t now, const GangOrder& gangs,
           const QueueOrder& queues)
        : known_(&known), queues_(&queues) {
        std::map<std::optional<queue_index>, std::vector<gang_index>> by_queue;
        for (const auto& [key, which] : known.gang_keys())
            by_queue[known[which].queue].push_back(which);
        for (auto& [queue, waiting] : by_queue) {
            // Gangs come in the order of their keys, which a stable sort keeps among equals.
            std::ranges::stable_sort(waiting, [&](gang_index lhs, gang_index rhs) {
                return gangs(rank(lhs), rank(rhs), now);
            });
            lines_.push_back({queue, std::move(waiting)});
        }
        std::ranges::sort(lines_, [&](const line& lhs, const line& rhs) {
            if (!lhs.queue || !rhs.queue)
                return !lhs.queue && rhs.queue;
            return key_less<Traits>{}(known[*lhs.queue].key, known[*rhs.queue].key);
        });
    }

    /// The next gang, or nothing when all were given.
    [[nodiscard]] std::optional<gang_index> next() {
        if (!current_ || lines_[*current_].done())
            choose();
        if (!current_)
            return std::nullopt;
        line& from = lines_[*current_];
        return from.gangs[from.given++];
    }

    /// Something started: shares moved, so the queues are compared anew.
    void shares_moved() noexcept { current_.reset(); }

private:
    struct line {
        std::optional<queue_index> queue;
        std::vector<gang_index> gangs;
        std::size_t given = 0;

        [[nodiscard]] bool done() const noexcept { return given == gangs.size(); }
    };

    [[nodiscard]] gang_rank rank(gang_index which) const noexcept {
        return {(*known_)[which].spec.priority, (*known_)[which].spec.created};
    }

    [[nodiscard]] queue_rank rank(const line& of) const noexcept {
        if (!of.queue)
            return {};
        const auto& accounts = known_->accounts();
        return {(*known_)[*of.queue].spec.priority,
                dominant_share(accounts.used(*of.queue), accounts.quota(*of.queue))};
    }

    void choose() {
        current_.reset();
        for (std::size_t at = 0; at < lines_.size(); ++at)
            if (!lines_[at].done() &&
                (!current_ || (*queues_)(rank(lines_[at]), rank(lines_[*current_]))))
                current_ = at;
    }

    const state<Traits>* known_;
    const QueueOrder* queues_;
    /// In the order of the queues' keys.
    std::vector<line> lines_;
    std::optional<std::size_t> current_;
};

} // namespace muster::inline v0_1
