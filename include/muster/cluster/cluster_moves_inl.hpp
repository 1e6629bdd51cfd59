// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/vocabulary/event_result.hpp>

// Places that are reserved for the replacements of pods that move (cluster_state::move).

namespace muster {
inline namespace v0_1 {

template<class Traits>
event_result cluster_state<Traits>::move(pod_index pod, node_index to,
                                         std::optional<std::int64_t> until) {
    if (pods_[pod.value()].node == to)
        return event_result::unexpected;
    if (const event_result went = evict(pod); went != event_result::applied)
        return went;
    const pod_index place = add_place(pod, to, until);
    if (take(pods_[place.value()])) {
        count(pods_[place.value()], 1);
        return event_result::applied;
    }
    erase_place(place);
    const event_result stays = stay(pod);
    MUSTER_ASSERT(stays == event_result::applied, "the pod was evicted a moment ago");
    static_cast<void>(stays);
    return event_result::out_of_range;
}

template<class Traits>
template<class Moves>
void cluster_state<Traits>::mark_migrating(const Moves& moves, std::optional<std::int64_t> until) {
    for (const auto& each : moves) {
        const auto queue = gangs_[pods_[each.pod.value()].gang.value()].charged_to();
        const resources<width> amount = request(each.pod);
        if (queue)
            ledger_.queues_.give(*queue, amount);
        mark_evicted(each.pod);
        const pod_index place = add_place(each.pod, each.node, until);
        count(pods_[place.value()], 1);
        // What it takes of the quota now and what it takes later come to what it took.
        const bool taken = !queue || (ledger_.queues_.take(*queue, amount, allocation::releasing) &&
                                      ledger_.queues_.take(*queue, amount, allocation::pipelined));
        MUSTER_ASSERT(taken, "what was charged a moment ago can be charged again");
        static_cast<void>(taken);
    }
}

template<class Traits>
bool cluster_state<Traits>::migrations_at_rest(std::int64_t now) const noexcept {
    return detail::none_of(migrations_,
                           [&](const migration& each) { return each.until && *each.until <= now; });
}

template<class Traits>
void cluster_state<Traits>::update_migrations(std::int64_t now) {
    if (migrations_.empty())
        return;
    std::vector<gang_index> gangs;
    for (const migration& each : migrations_)
        gangs.push_back(pods_[each.place.value()].gang);
    detail::sort_short(
        gangs, [this](gang_index lhs, gang_index rhs) { return gives_way_first(lhs, rhs); });
    gangs.erase(std::unique(gangs.begin(), gangs.end()), gangs.end());
    for (const gang_index which : gangs) {
        release_places(which, [&](pod_index place) { return is_void(place, now); });
        hand_over(which);
    }
}

/// Ends the gang's migrations for whose target `given_up(target)` is true. O(members).
template<class Traits>
template<class Which>
void cluster_state<Traits>::release_places(gang_index gang, const Which& given_up) {
    if (migrations_.empty())
        return;
    std::vector<pod_index> places;
    for (const pod_index member : gangs_[gang.value()].members)
        if (pods_[member.value()].migration_target && given_up(member))
            places.push_back(member);
    for (const pod_index place : places)
        release_place(place);
}
template<class Traits>
void cluster_state<Traits>::release_places(gang_index gang) {
    release_places(gang, [](pod_index) { return true; });
}

/// A gang that only places name is none.
template<class Traits>
void cluster_state<Traits>::release_orphaned_places(gang_index gang) {
    const gang_record& group = gangs_[gang.value()];
    if (!migrations_.empty() && !group.present &&
        detail::all_of(group.members,
                       [&](pod_index each) { return pods_[each.value()].migration_target; }))
        release_places(gang);
}

/// Adds a place for the replacement of that pod. It is not charged yet.
template<class Traits>
pod_index cluster_state<Traits>::add_place(pod_index of, node_index to,
                                           std::optional<std::int64_t> until) {
    release_place_of(of);
    pod_record place = pods_[of.value()];
    place.node = to;
    place.set_started(std::nullopt);
    place.phase = pod_phase::pending;
    place.terminating = place.assumed = place.evicted = false;
    place.nominated = place.migration_target = true;
    place.partner = of;
    adopt(place, spec_of(of));
    const pod_index index = keep_record(place);
    mark_dirty(place.gang);
    pods_[of.value()].partner = index;
    pod_order_.insert(index, of);
    enlist(index);
    migrations_.push_back({index, until});
    return index;
}

/// The place, which is charged no more, is gone.
template<class Traits>
void cluster_state<Traits>::erase_place(pod_index which) {
    const pod_record place = pods_[which.value()];
    delist(which);
    if (place.partner)
        pods_[place.partner->value()].partner.reset();
    disown(place);
    drop_record(which);
    migrations_.erase(detail::find(migrations_, which, &migration::place));
}

template<class Traits>
void cluster_state<Traits>::release_place(pod_index place) {
    const pod_record& record = pods_[place.value()];
    mark_dirty(record.gang);
    count(record, -1);
    give(record);
    erase_place(place);
    moved(false);
}

template<class Traits>
void cluster_state<Traits>::release_place_of(pod_index pod) {
    if (const auto place = pods_[pod.value()].partner)
        release_place(*place);
}

/// Nothing can come to the place any more.
template<class Traits>
bool cluster_state<Traits>::is_void(pod_index which, std::int64_t now) const {
    const auto until = detail::find(migrations_, which, &migration::place)->until;
    if (until && *until <= now)
        return true;
    const pod_record& place = pods_[which.value()];
    const auto& shape = shapes_[place.shape];
    if (constraints_[shape.where].failed_filters[place.node->value()] != 0)
        return true;
    const auto later = ledger_.future(*place.node);
    for (std::size_t column = 0; column < width; ++column)
        if (later[column] < 0 && shape.request[column] > 0)
            return true;
    return place.partner && pods_[place.partner->value()].phase == pod_phase::succeeded;
}

/// Waiting members of the gang take the places that they are alike to, their own first.
template<class Traits>
void cluster_state<Traits>::hand_over(gang_index which) {
    std::vector<pod_index> places;
    std::vector<pod_index> waiting;
    for (const pod_index member : gangs_[which.value()].members) {
        const pod_record& record = pods_[member.value()];
        if (record.migration_target || record.placeable())
            (record.migration_target ? places : waiting).push_back(member);
    }
    for (const bool own : {true, false})
        std::erase_if(places, [&](pod_index place) {
            const auto next = detail::find_if(waiting, [&](pod_index member) {
                return takes(member, pods_[place.value()], own);
            });
            if (next == waiting.end())
                return false;
            const pod_record& record = pods_[place.value()];
            const node_index node = *record.node;
            count(record, -1);
            give(record);
            erase_place(place);
            const bool taken = nominate_on(*next, node);
            MUSTER_ASSERT(taken, "what was charged a moment ago can be charged again");
            static_cast<void>(taken);
            waiting.erase(next);
            return true;
        });
}

template<class Traits>
bool cluster_state<Traits>::takes(pod_index member, const pod_record& place, bool own) const {
    const pod_record& pod = pods_[member.value()];
    return pod.role == place.role && pod.shape == place.shape &&
           (pod.labels == place.labels || !population_.in_use()) &&
           (!own || place.partner == member);
}

} // namespace v0_1
} // namespace muster
