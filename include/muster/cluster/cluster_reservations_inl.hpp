// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/cluster/cluster_state.hpp>

// Room kept for gangs that wait.

namespace muster {
inline namespace v0_1 {

template<class Traits>
std::optional<std::int64_t> cluster_state<Traits>::ends(pod_index which) const noexcept {
    const pod_record& record = pods_[which.value()];
    const auto& duration = gangs_[record.gang.value()].spec.duration;
    if (!duration || !record.started())
        return std::nullopt;
    return saturate(static_cast<int128>(*record.started()) + *duration);
}

template<class Traits>
bool cluster_state<Traits>::reserve(reservation_type made) {
    reservations_.reserve(reservations_.size() + 1);
    if (!hold(made))
        return false;
    reservations_.push_back(std::move(made));
    return true;
}

template<class Traits>
auto cluster_state<Traits>::lift_reservations() -> std::vector<reservation_type> {
    for (std::size_t at = reservations_.size(); at-- > 0;)
        let_go(reservations_[at]);
    if (!reservations_.empty())
        moved(false);
    return std::exchange(reservations_, {});
}

template<class Traits>
void cluster_state<Traits>::drop_reservation(gang_index owner) noexcept {
    const auto mine = detail::find(reservations_, owner,
                                   [](const reservation_type& each) { return each.owner.index; });
    if (mine == reservations_.end())
        return;
    let_go(*mine);
    reservations_.erase(mine);
    moved(false);
}

template<class Traits>
void cluster_state<Traits>::suspend_reservation(std::size_t at) noexcept {
    let_go(reservations_[at]);
}

template<class Traits>
void cluster_state<Traits>::resume_reservation(std::size_t at) noexcept {
    const bool held = hold(reservations_[at]);
    MUSTER_ASSERT(held, "what was kept a moment ago can be kept again");
    static_cast<void>(held);
}

template<class Traits>
bool cluster_state<Traits>::hold(const reservation_type& what) {
    const node_claims none;
    const std::optional<queue_index> queue = what.queue;
    if (queue && !ledger_.queues_.take(queue_charge(*queue), what.quota))
        return false;
    for (std::size_t at = 0; at < what.parts.size(); ++at) {
        if (ledger_.take(what.parts[at].node, std::nullopt, what.parts[at].amount, none))
            continue;
        while (at-- > 0)
            ledger_.give(what.parts[at].node, std::nullopt, what.parts[at].amount, none);
        if (queue)
            ledger_.queues_.give(queue_charge(*queue), what.quota);
        return false;
    }
    return true;
}

template<class Traits>
void cluster_state<Traits>::let_go(const reservation_type& what) noexcept {
    const node_claims none;
    for (const auto& part : what.parts)
        ledger_.give(part.node, std::nullopt, part.amount, none);
    if (what.queue)
        ledger_.queues_.give(queue_charge(*what.queue), what.quota);
}

} // namespace v0_1
} // namespace muster
