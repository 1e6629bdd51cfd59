// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/model/event_result.hpp>
#include <muster/model/state_departures.hpp>

namespace muster {
inline namespace v0_1 {

/// Places reserved for the replacements of pods that move. A place is a member of the gang without
/// a key: it counts as a member that holds, is charged for its future room and quota, and is passed
/// on to the replacement pod.
template<std::size_t Width>
class state_promises : public state_departures<Width> {
    using store = state_departures<Width>;

public:
    /// Evicts a pod, as `evict` does, and reserves room on `node` for its replacement: a pending
    /// member of its gang with the same role, request and constraints, which the next cycle
    /// nominates there. Until then the place counts as a member that holds. `until`: the time at
    /// which an unused place is given up; absent = when the gang is removed. A pod key has at most
    /// one place.
    event_result move(pod_index pod, node_index to,
                      std::optional<std::int64_t> until = std::nullopt);

    /// The eviction of the pod was refused, so the pod stays and its place is given up.
    event_result keep(pod_index pod);

    /// How many places are promised.
    [[nodiscard]] std::size_t promises() const noexcept { return promises_.size(); }

    // ---- for the cycle -------------------------------------------------------------------------

    /// Pods that a committed plan has moved already, as far as their nodes go; `moves` gives pairs
    /// of pod and node.
    template<class Moves>
    void told_to_move(const Moves& moves, std::optional<std::int64_t> until) {
        for (const auto& [pod, node] : moves) {
            const auto queue = gangs_[pods_[pod.value()].gang.value()].charged_to();
            const resources<Width> amount = this->request(pod);
            if (queue)
                ledger_.queues_.give(*queue, amount);
            this->told_to_go(pod);
            const pod_index place = add_place(pod, node, until);
            this->stand(pods_[place.value()], 1);
            // What it takes of the quota now and what it takes later come to what it took.
            const bool taken = !queue || (ledger_.queues_.take(*queue, amount, tenure::leaving) &&
                                          ledger_.queues_.take(*queue, amount, tenure::nominated));
            MUSTER_ASSERT(taken, "what was charged a moment ago can be charged again");
            static_cast<void>(taken);
        }
    }

    /// No promise ends by then.
    [[nodiscard]] bool promises_at_rest(std::int64_t now) const noexcept {
        return std::ranges::none_of(
            promises_, [&](const promise& each) { return each.until && *each.until <= now; });
    }

    /// Pods that came for those that were moved are nominated where they are to come. Places of
    /// which nothing can come any more are given up: their time is over, their node does not take
    /// them, or the pod has succeeded. O(promises · members of their gangs).
    void keep_promises(std::int64_t now) {
        if (promises_.empty())
            return;
        std::vector<gang_index> gangs;
        for (const promise& each : promises_)
            gangs.push_back(pods_[each.place.value()].gang);
        std::ranges::sort(gangs, [this](gang_index lhs, gang_index rhs) {
            return this->gives_way_first(lhs, rhs);
        });
        gangs.erase(std::unique(gangs.begin(), gangs.end()), gangs.end());
        for (const gang_index which : gangs) {
            release_places(which, [&](const pod_record& place) { return is_void(place, now); });
            hand_over(which);
        }
    }

protected:
    state_promises() = default;
    explicit state_promises(kind_id pods_kind) : store(pods_kind) {}

    /// The gang's places of which `given_up` says so are promised no more. O(members).
    template<class Which>
    void release_places(gang_index gang, const Which& given_up) {
        if (promises_.empty())
            return;
        std::vector<pod_index> places;
        for (const pod_index member : gangs_[gang.value()].members)
            if (const pod_record& record = pods_[member.value()];
                record.promised && given_up(record))
                places.push_back(member);
        for (const pod_index place : places)
            release(place);
    }
    void release_places(gang_index gang) {
        release_places(gang, [](const pod_record&) { return true; });
    }
    /// A gang that only places name is none.
    void release_orphaned_places(gang_index gang) {
        const gang_record& group = gangs_[gang.value()];
        if (!promises_.empty() && !group.present &&
            std::ranges::all_of(group.members,
                                [&](pod_index each) { return pods_[each.value()].promised; }))
            release_places(gang);
    }

    event_result finish(gang_index which);

    using store::gangs_;
    using store::ledger_;
    using store::pods_;

private:
    struct promise {
        pod_index place;
        std::optional<std::int64_t> until;
    };

    [[nodiscard]] auto promise_of(pod_index place) {
        return std::ranges::find(promises_, place, &promise::place);
    }

    /// Adds a place for the replacement of that pod. It is not charged yet.
    [[nodiscard]] pod_index add_place(pod_index of, node_index to,
                                      std::optional<std::int64_t> until) {
        release_place_of(of);
        pod_record place = pods_[of.value()];
        place.node = to;
        place.started.reset();
        place.phase = pod_phase::pending;
        place.terminating = place.assumed = place.evicted = false;
        place.nominated = place.promised = true;
        place.partner = of;
        this->adopt(place, this->spec_of(of));
        const pod_index index = store::take_slot(pods_, this->unused_pods_);
        place.generation = pods_[index.value()].generation;
        this->mark_dirty(place.gang);
        pods_[index.value()] = std::move(place);
        pods_[of.value()].partner = index;
        this->pod_order_.insert(index, of);
        this->enlist(index);
        promises_.push_back({index, until});
        return index;
    }

    /// The place, which is charged no more, is gone.
    void erase_place(pod_index which) {
        this->delist(which);
        this->pod_order_.erase(which);
        pod_record& record = pods_[which.value()];
        if (record.partner)
            pods_[record.partner->value()].partner.reset();
        this->disown(record);
        const std::uint32_t generation = record.generation + 1;
        record = pod_record{};
        record.generation = generation;
        this->unused_pods_.push_back(which);
        promises_.erase(promise_of(which));
    }
    void release(pod_index place) {
        this->mark_dirty(pods_[place.value()].gang);
        this->uncharge(pods_[place.value()]);
        erase_place(place);
        this->moved(false);
    }
    void release_place_of(pod_index pod) {
        if (const auto place = pods_[pod.value()].partner)
            release(*place);
    }

    [[nodiscard]] bool is_void(const pod_record& place, std::int64_t now) {
        const auto member = static_cast<std::size_t>(&place - pods_.data());
        const auto until = promise_of(pod_index{member})->until;
        if (until && *until <= now)
            return true;
        const auto& shape = this->shapes_[place.shape];
        if (this->constraints_[shape.where].obstacles[place.node->value()] != 0)
            return true;
        const auto later = ledger_.future(*place.node);
        for (std::size_t column = 0; column < Width; ++column)
            if (later[column] < 0 && shape.request[column] > 0)
                return true;
        return place.partner && pods_[place.partner->value()].phase == pod_phase::succeeded;
    }

    /// Waiting members of the gang take the places that they are alike to, their own first.
    void hand_over(gang_index which) {
        std::vector<pod_index> places;
        std::vector<pod_index> waiting;
        for (const pod_index member : gangs_[which.value()].members) {
            const pod_record& record = pods_[member.value()];
            if (record.promised || record.placeable())
                (record.promised ? places : waiting).push_back(member);
        }
        for (const bool own : {true, false})
            std::erase_if(places, [&](pod_index place) {
                const auto next = std::ranges::find_if(waiting, [&](pod_index member) {
                    return takes(member, pods_[place.value()], own);
                });
                if (next == waiting.end())
                    return false;
                const node_index node = *pods_[place.value()].node;
                this->uncharge(pods_[place.value()]);
                erase_place(place);
                const bool taken = this->nominate_on(pods_[next->value()], node);
                MUSTER_ASSERT(taken, "what was charged a moment ago can be charged again");
                static_cast<void>(taken);
                waiting.erase(next);
                return true;
            });
    }
    [[nodiscard]] bool takes(pod_index member, const pod_record& place, bool own) const {
        const pod_record& pod = pods_[member.value()];
        return pod.role == place.role && pod.shape == place.shape &&
               (pod.labels == place.labels || !this->population_.in_use()) &&
               (!own || place.partner == member);
    }

    detail::sequence<promise> promises_;
};

} // namespace v0_1
} // namespace muster
