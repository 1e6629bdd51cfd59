// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/model/event_result.hpp>
#include <muster/model/state_queues.hpp>

namespace muster {
inline namespace v0_1 {

/// What becomes of decisions: pods that were placed are bound or not, pods that were told to go
/// leave or stay, and those nominated to come after them come.
template<std::size_t Width>
class state_departures : public state_queues<Width> {
    using store = state_queues<Width>;

public:
    /// The bind of an assumed pod went through.
    event_result confirm_bound(pod_index pod);

    /// The bind of an assumed pod failed, or a nominated pod is to come no more: it is pending
    /// again and its room is free.
    event_result forget(pod_index pod);

    /// Marks a pod with a node as evicted. It is no longer a member, and keeps its room until it is
    /// reported gone or ended; other pods may be nominated to that room.
    event_result evict(pod_index pod);

    /// A pod that was told to go stays: its eviction was refused.
    event_result keep(pod_index pod);

    /// Restores the nomination of a pending pod to `node` by an earlier decision. The room that the
    /// pod requests is reserved even if it exceeds what will be free. Returns `unexpected` if the
    /// node or a pod that waits for one is unknown.
    event_result nominate(pod_index pod, node_index to);

    /// Reserves room on `node` for a gated pod that another scheduler has nominated to it. No other
    /// pod gets the room until the pod is observed again, and no cycle places the pod. Returns
    /// `unexpected` if the pod or the node is unknown, or if the pod is not gated, is terminating
    /// or has a node; `out_of_range` if a sum would overflow. O(1).
    event_result expect(pod_index pod, node_index to);

    // ---- for the cycle -------------------------------------------------------------------------

    /// Pods of one gang that a committed plan has nominated already; `placed` gives pairs of pod
    /// and node, in the order of their turns.
    template<class Placements>
    void nominate_members(gang_index gang, const Placements& placed) {
        await(gang);
        gang_record& group = gangs_[gang.value()];
        for (const auto& [pod, node] : placed) {
            pod_record& record = pods_[pod.value()];
            MUSTER_ASSERT(!record.node && record.phase == pod_phase::pending,
                          "only a pending pod is nominated");
            record.node = node;
            record.nominated = true;
            record.turn = static_cast<std::uint32_t>(group.nominated++);
            this->stand(record, 1);
        }
        population_.moved();
        group.placeable -= placed.size();
        more_used(gang);
    }

    /// A pod that a committed plan has told to go already.
    void told_to_go(pod_index pod) {
        pod_record& record = pods_[pod.value()];
        this->stand(record, -1);
        record.evicted = true;
        this->stand(record, 1);
        population_.moved();
        mark_dirty(record.gang);
        moved(false);
    }

    /// Nominated members of the gang are assumed as soon as there is room for all of them now, on
    /// their nodes and in their queue; false and nothing changed until then. O(members · log).
    [[nodiscard]] bool assume_nominated(gang_index which) {
        gang_record& group = gangs_[which.value()];
        std::vector<pod_index> coming;
        resources<Width> sum;
        for (const pod_index member : group.members) {
            const pod_record& record = pods_[member.value()];
            if (!record.awaited() || record.promised)
                continue;
            coming.push_back(member);
            if (!checked_add(sum, shapes_[record.shape].request, sum))
                return false;
        }
        if (coming.empty() ||
            (group.queue && !ledger_.queues().present().admits(*group.charged_to(), sum)))
            return false;
        std::ranges::sort(coming, {}, [&](pod_index at) { return *pods_[at.value()].node; });
        for (std::size_t first = 0; first < coming.size();) {
            const node_index node = *pods_[coming[first].value()].node;
            resources<Width> left = ledger_.present(node);
            for (; first < coming.size(); ++first) {
                const pod_record& record = pods_[coming[first].value()];
                if (*record.node != node)
                    break;
                const auto& shape = shapes_[record.shape];
                if (!fits(shape.request, left) ||
                    !claims_alone(constraints_[shape.where].value.ports, node))
                    return false;
                for (std::size_t column = 0; column < Width; ++column)
                    left[column] -= shape.request[column];
            }
        }
        for (const pod_index pod : coming) {
            pod_record& record = pods_[pod.value()];
            uncharge(record);
            record.nominated = false;
            record.assumed = true;
            restore(record);
        }
        group.nominated = 0;
        population_.moved();
        more_used(which);
        return true;
    }

    /// The gangs that have nominated members: of lower priority, newer, later in the order of keys
    /// first. O(such gangs · log).
    [[nodiscard]] const std::vector<gang_index>& gangs_with_nominations() {
        std::erase_if(awaiting_,
                      [this](gang_index which) { return gangs_[which.value()].nominated == 0; });
        std::ranges::sort(awaiting_, [this](gang_index lhs, gang_index rhs) {
            return gives_way_first(lhs, rhs);
        });
        awaiting_.erase(std::unique(awaiting_.begin(), awaiting_.end()), awaiting_.end());
        return awaiting_;
    }

    /// The gang is to be asked again.
    void recall(gang_index which) { mark_dirty(which); }

    /// True if no pod became easier to evict since `victims_seen`, apart from effects of other
    /// events.
    [[nodiscard]] bool victims_at_rest(std::int64_t now) const noexcept {
        return seen_settled_ == settled_ && (!look_again_ || now < *look_again_);
    }
    /// Moves when a pod became easier to evict, apart from effects of other events.
    [[nodiscard]] std::uint64_t settle_epoch() const noexcept { return settled_; }
    /// Gangs that wait were told what evictions could do for them; by time alone that may change at
    /// the one that is named.
    void victims_seen(std::optional<std::int64_t> look_again) noexcept {
        seen_settled_ = settled_;
        look_again_ = look_again;
    }

    /// The gang's nominations are given up: its members wait again.
    void forget_nominations(gang_index which) {
        for (const pod_index member : gangs_[which.value()].members)
            if (pod_record& record = pods_[member.value()]; record.awaited() && !record.promised)
                give_up(record);
        mark_dirty(which);
        moved(false);
    }

protected:
    /// A pod became easier to evict.
    void eased() noexcept { ++settled_; }

    state_departures() = default;
    explicit state_departures(kind_id pods_kind) : store(pods_kind) {}

    [[nodiscard]] static bool may_go(const pod_record& of) noexcept {
        return of.charged() && !of.nominated && !of.evicted;
    }

    [[nodiscard]] bool gives_way_first(gang_index lhs, gang_index rhs) const {
        const gang_record& left = gangs_[lhs.value()];
        const gang_record& right = gangs_[rhs.value()];
        if (left.spec.priority != right.spec.priority)
            return left.spec.priority < right.spec.priority;
        if (left.spec.created != right.spec.created)
            return left.spec.created > right.spec.created;
        return this->gang_order_.before(rhs, lhs);
    }

    /// True if no other pod on the node has ports that conflict with these, which are already
    /// claimed there.
    [[nodiscard]] bool claims_alone(const std::vector<host_port>& ports, node_index node) const {
        return std::ranges::all_of(ports, [&](const host_port& mine) {
            return std::ranges::count_if(ledger_.ports(node), [&](const host_port& other) {
                       return conflicts(mine, other);
                   }) == 1;
        });
    }

    /// A pending pod comes to that node; false and nothing changed when a sum leaves int64.
    [[nodiscard]] bool nominate_on(pod_record& record, node_index node) {
        record.node = node;
        record.nominated = true;
        if (!charge(record)) {
            record.node.reset();
            record.nominated = false;
            return false;
        }
        population_.moved();
        gang_record& group = gangs_[record.gang.value()];
        --group.placeable;
        await(record.gang);
        record.turn = static_cast<std::uint32_t>(group.nominated++);
        more_used(record.gang);
        mark_dirty(record.gang);
        return true;
    }

    void await(gang_index which) {
        if (gangs_[which.value()].nominated == 0)
            awaiting_.push_back(which);
    }

    using store::charge;
    using store::constraints_;
    using store::gangs_;
    using store::give_up;
    using store::ledger_;
    using store::mark_dirty;
    using store::more_used;
    using store::moved;
    using store::pods_;
    using store::population_;
    using store::queues_;
    using store::restore;
    using store::shapes_;
    using store::uncharge;

private:
    /// Gangs that had nominated members when it was looked last, and those that got some since.
    std::vector<gang_index> awaiting_;
    /// Number of times that pods were confirmed on their nodes. Only the choice of pods to evict
    /// depends on it.
    std::uint64_t settled_ = 1;
    std::uint64_t seen_settled_ = 0;
    std::optional<std::int64_t> look_again_;
};

} // namespace v0_1
} // namespace muster
