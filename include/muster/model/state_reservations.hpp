// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/model/reservation.hpp>
#include <muster/model/state_staleness.hpp>

namespace muster {
inline namespace v0_1 {

/// Room kept for gangs that wait: what is free to others is less by it.
template<std::size_t Width>
class state_reservations : public state_staleness<Width> {
    using store = state_staleness<Width>;

public:
    using reservation_type = reservation<Width>;

    /// Those that stand, in the order in which they were made.
    [[nodiscard]] const std::vector<reservation_type>& reservations() const noexcept {
        return reservations_;
    }

    /// When the pod will have ended, as far as its gang declares how long it runs.
    [[nodiscard]] std::optional<std::int64_t> ends(pod_index which) const noexcept {
        const auto& record = pods_[which.value()];
        const auto& duration = gangs_[record.gang.value()].spec.duration;
        if (!duration || !record.started)
            return std::nullopt;
        return saturate(static_cast<int128>(*record.started) + *duration);
    }

    // ---- for the cycle -------------------------------------------------------------------------

    /// Keeps room; false and nothing changed when a sum leaves int64. O(parts).
    [[nodiscard]] bool reserve(reservation_type made) {
        reservations_.reserve(reservations_.size() + 1);
        if (!hold(made))
            return false;
        reservations_.push_back(std::move(made));
        return true;
    }

    /// Removes all reservations and returns them. O(parts).
    [[nodiscard]] std::vector<reservation_type> lift_reservations() {
        for (std::size_t at = reservations_.size(); at-- > 0;)
            let_go(reservations_[at]);
        if (!reservations_.empty())
            moved(false);
        return std::exchange(reservations_, {});
    }

    /// The gang's reservation, if it has one, is no more; the state stays as it was otherwise.
    void drop_reservation(gang_index owner) noexcept {
        const auto mine = std::ranges::find(
            reservations_, owner, [](const reservation_type& each) { return each.owner.index; });
        if (mine == reservations_.end())
            return;
        let_go(*mine);
        reservations_.erase(mine);
        moved(false);
    }

    /// The reservation at that place keeps nothing until it is resumed. O(parts).
    void suspend_reservation(std::size_t at) noexcept { let_go(reservations_[at]); }
    void resume_reservation(std::size_t at) noexcept {
        const bool held = hold(reservations_[at]);
        MUSTER_ASSERT(held, "what was kept a moment ago can be kept again");
        static_cast<void>(held);
    }

    /// Pods that a committed plan placed start to run at that time, as far as is known.
    template<class Placements>
    void started(const Placements& placed, std::int64_t now) noexcept {
        for (const auto& [pod, node] : placed)
            pods_[pod.value()].started = now;
    }

    /// So many more gangs have passed this one; negative = it is passed by none any more.
    void bypassed(gang_index which, std::int64_t more) noexcept {
        std::int64_t& count = gangs_[which.value()].bypassed;
        count = more < 0 ? 0 : saturate(static_cast<int128>(count) + more);
    }

protected:
    state_reservations() = default;
    explicit state_reservations(kind_id pods_kind) : store(pods_kind) {}

    using store::gangs_;
    using store::ledger_;
    using store::moved;
    using store::pods_;

private:
    [[nodiscard]] bool hold(const reservation_type& what) {
        const std::optional<queue_index> queue = what.queue;
        if (queue && !ledger_.queues_.take(*queue, what.quota))
            return false;
        for (std::size_t at = 0; at < what.parts.size(); ++at) {
            if (ledger_.take(what.parts[at].node, std::nullopt, what.parts[at].amount, no_ports_))
                continue;
            while (at-- > 0)
                ledger_.give(what.parts[at].node, std::nullopt, what.parts[at].amount, no_ports_);
            if (queue)
                ledger_.queues_.give(*queue, what.quota);
            return false;
        }
        return true;
    }
    void let_go(const reservation_type& what) noexcept {
        for (const auto& part : what.parts)
            ledger_.give(part.node, std::nullopt, part.amount, no_ports_);
        if (what.queue)
            ledger_.queues_.give(*what.queue, what.quota);
    }

    std::vector<reservation_type> reservations_;
    std::vector<host_port> no_ports_;
};

} // namespace v0_1
} // namespace muster
