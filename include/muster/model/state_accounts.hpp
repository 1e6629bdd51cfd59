// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/model/event_result.hpp>
#include <muster/model/state_population.hpp>

namespace muster {
inline namespace v0_1 {

/// What the pods of a state hold: of their nodes, and of their queues' quotas.
template<std::size_t Width>
class state_accounts : public state_population<Width> {
    using store = state_population<Width>;

public:
protected:
    state_accounts() = default;
    explicit state_accounts(kind_id pods_kind) : store(pods_kind) {}

    template<class Row>
    static bool refit(const Row& row, const resources<Width>& allocatable,
                      resources<Width>& free) noexcept {
        resources<Width> used;
        return checked_subtract(row.allocatable, row.free, used) &&
               checked_subtract(allocatable, used, free);
    }

    void more_used(gang_index by) noexcept {
        ++use_clock_;
        for (auto at = gangs_[by.value()].queue; at; at = queues_[at->value()].parent)
            queues_[at->value()].use_epoch = use_clock_;
    }

    [[nodiscard]] bool charge(const pod_record& of) {
        const auto& shape = shapes_[of.shape];
        if (!ledger_.take(*of.node, gangs_[of.gang.value()].charged_to(), shape.request,
                          constraints_[shape.where].value.ports, of.charged_as()))
            return false;
        this->stand(of, 1);
        return true;
    }
    void uncharge(const pod_record& of) {
        this->stand(of, -1);
        const auto& shape = shapes_[of.shape];
        ledger_.give(*of.node, gangs_[of.gang.value()].charged_to(), shape.request,
                     constraints_[shape.where].value.ports, of.charged_as());
    }
    void restore(const pod_record& of) {
        const bool restored = charge(of);
        MUSTER_ASSERT(restored, "what was charged a moment ago can be charged again");
        static_cast<void>(restored);
    }

    /// False if the pod keeps everything that it held, so that no other gang can become able to
    /// start.
    [[nodiscard]] bool gives_something_back(const pod_record& from, const pod_record& to) const {
        const auto& before = shapes_[from.shape];
        const auto& after = shapes_[to.shape];
        return !to.charged() || to.node != from.node || to.charged_as() != from.charged_as() ||
               !dominates(after.request, before.request) ||
               constraints_[after.where].value.ports != constraints_[before.where].value.ports;
    }

    /// Moves what the gang's members hold from its queue to the one named; false and nothing
    /// changed when that overflows.
    [[nodiscard]] bool recharge(gang_index which, std::optional<queue_index> to,
                                bool preemptible = true) {
        gang_record& group = gangs_[which.value()];
        const auto into = to ? std::optional(queue_charge(*to, !preemptible)) : std::nullopt;
        if (group.charged_to() == into)
            return true;
        resources<Width> held;
        for (const pod_index member : group.members)
            if (const pod_record& record = pods_[member.value()]; record.charged())
                if (!checked_add(held, shapes_[record.shape].request, held))
                    return false;
        const auto from = group.charged_to();
        if (from)
            leave_queue(group, *from);
        if (into && !enter_queue(group, *into)) {
            const bool restored = !from || enter_queue(group, *from);
            MUSTER_ASSERT(restored, "what was charged a moment ago can be charged again");
            static_cast<void>(restored);
            return false;
        }
        group.queue = to;
        if (held != resources<Width>{})
            more_used(which);
        if (from && held != resources<Width>{})
            moved(false);
        return true;
    }

    void leave_queue(const gang_record& group, queue_charge from) noexcept {
        for (const pod_index member : group.members)
            if (const pod_record& record = pods_[member.value()]; record.charged())
                ledger_.queues_.give(from, shapes_[record.shape].request, record.charged_as());
    }
    [[nodiscard]] bool enter_queue(const gang_record& group, queue_charge into) noexcept {
        for (std::size_t at = 0; at < group.members.size(); ++at) {
            const pod_record& record = pods_[group.members[at].value()];
            if (!record.charged() ||
                ledger_.queues_.take(into, shapes_[record.shape].request, record.charged_as()))
                continue;
            while (at-- > 0)
                if (const pod_record& done = pods_[group.members[at].value()]; done.charged())
                    ledger_.queues_.give(into, shapes_[done.shape].request, done.charged_as());
            return false;
        }
        return true;
    }

    event_result finish(gang_index which);
    static void end(pod_record& of) noexcept {
        of.phase = pod_phase::succeeded;
        of.assumed = false;
    }

    /// A nominated or assumed pod is pending again.
    void give_up(pod_record& of) {
        uncharge(of);
        gang_record& group = gangs_[of.gang.value()];
        group.nominated -= of.awaited() ? 1U : 0U;
        of.node.reset();
        of.assumed = of.nominated = false;
        group.placeable += of.placeable() ? 1U : 0U;
    }

    using store::constraints_;
    using store::gangs_;
    using store::ledger_;
    using store::mark_dirty;
    using store::moved;
    using store::pods_;
    using store::population_;
    using store::queues_;
    using store::shapes_;
    using store::use_clock_;
};

} // namespace v0_1
} // namespace muster
