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

// What becomes of decisions: pods that were placed are bound or not, evicted pods leave or stay,
// and pods that were nominated to their room follow.

namespace muster {
inline namespace v0_1 {

template<class Traits>
event_result cluster_state<Traits>::confirm_bound(pod_index pod) {
    if (!pods_[pod.value()].assumed)
        return event_result::unexpected;
    settle(pod, [](pod_record& record) {
        record.assumed = false;
        record.phase = pod_phase::bound;
    });
    eased();
    return event_result::applied;
}

template<class Traits>
event_result cluster_state<Traits>::forget(pod_index pod) {
    const pod_record& record = pods_[pod.value()];
    if (!(record.assumed || record.nominated))
        return event_result::unexpected;
    give_up(pod);
    mark_dirty(record.gang);
    moved(false);
    return event_result::applied;
}

/// A nominated or assumed pod is pending again.
template<class Traits>
void cluster_state<Traits>::give_up(pod_index pod) {
    const bool given = transition(pod, [](pod_record& record) {
        record.node.reset();
        record.assumed = record.nominated = false;
    });
    MUSTER_ASSERT(given, "nothing is added up when room is given back");
    static_cast<void>(given);
}

template<class Traits>
event_result cluster_state<Traits>::evict(pod_index pod) {
    const pod_record& record = pods_[pod.value()];
    if (!record.charged() || record.nominated || record.evicted)
        return event_result::unexpected;
    const bool told = transition(pod, [](pod_record& changed) { changed.evicted = true; });
    MUSTER_ASSERT(told, "what was charged a moment ago can be charged again");
    static_cast<void>(told);
    population_.moved();
    mark_dirty(record.gang);
    moved(false);
    return event_result::applied;
}

template<class Traits>
event_result cluster_state<Traits>::keep(pod_index pod) {
    const event_result kept = stay(pod);
    if (kept == event_result::applied)
        release_place_of(pod);
    return kept;
}

/// The eviction of the pod is taken back.
template<class Traits>
event_result cluster_state<Traits>::stay(pod_index pod) {
    const pod_record& record = pods_[pod.value()];
    if (!record.evicted)
        return event_result::unexpected;
    const bool stays = transition(pod, [](pod_record& changed) { changed.evicted = false; });
    MUSTER_ASSERT(stays, "what was charged a moment ago can be charged again");
    static_cast<void>(stays);
    population_.moved();
    more_used(record.gang);
    mark_dirty(record.gang);
    return event_result::applied;
}

template<class Traits>
event_result cluster_state<Traits>::nominate(pod_index pod, node_index to) {
    if (!pods_[pod.value()].placeable())
        return event_result::unexpected;
    return nominate_on(pod, to) ? event_result::applied : event_result::out_of_range;
}

/// A pending pod comes to that node; false and nothing changed when a sum would overflow.
template<class Traits>
bool cluster_state<Traits>::nominate_on(pod_index pod, node_index node) {
    const gang_index which = pods_[pod.value()].gang;
    const auto before = static_cast<std::uint32_t>(gangs_[which.value()].nominated);
    if (!transition(pod, [&](pod_record& record) {
            record.node = node;
            record.nominated = true;
            record.turn = before;
        }))
        return false;
    if (before == 0)
        awaiting_.push_back(which);
    population_.moved();
    more_used(which);
    mark_dirty(which);
    return true;
}

template<class Traits>
event_result cluster_state<Traits>::expect(pod_index pod, node_index to) {
    const pod_record& record = pods_[pod.value()];
    if (record.phase != pod_phase::gated || record.terminating || record.node)
        return event_result::unexpected;
    if (!transition(pod, [&](pod_record& changed) {
            changed.node = to;
            changed.nominated = true;
        }))
        return event_result::out_of_range;
    population_.moved();
    more_used(record.gang);
    return event_result::applied;
}

template<class Traits>
event_result cluster_state<Traits>::finish_gang(gang_index which) {
    release_places(which);
    const auto end = [this](pod_index pod) {
        settle(pod, [](pod_record& record) {
            record.phase = pod_phase::succeeded;
            record.assumed = false;
        });
    };
    gang_record& group = gangs_[which.value()];
    bool any = false;
    for (std::size_t at = 0; at < group.members.size();) {
        const pod_index member = group.members[at++];
        const pod_record& record = pods_[member.value()];
        if (!record.charged())
            continue;
        any = true;
        if (record.nominated) {
            give_up(member);
            continue;
        }
        const allocation how = record.charged_as();
        end(member);
        const shape_index shape = record.shape;
        const auto& what = shapes_[shape];
        const auto& claims = constraints_[what.where].value.claims;
        // Members were mostly placed node by node: give back what a node holds at once.
        std::int64_t count = 1;
        for (; at < group.members.size(); ++at, ++count) {
            const pod_record& next = pods_[group.members[at].value()];
            if (!next.charged() || next.node != record.node || next.shape != shape ||
                next.charged_as() != allocation::allocated || how != allocation::allocated ||
                !claims.empty())
                break;
            end(group.members[at]);
        }
        ledger_.give(*record.node, group.charged_to(), what.request * count, claims, how);
    }
    if (!any)
        return event_result::unexpected;
    moved(false);
    mark_dirty(which);
    return event_result::applied;
}

// ---- for the cycle -----------------------------------------------------------------------------

template<class Traits>
void cluster_state<Traits>::assume(pod_index pod, node_index node) {
    MUSTER_ASSERT(pods_[pod.value()].placeable() && !pods_[pod.value()].node,
                  "only a pending pod is assumed");
    settle(pod, [&](pod_record& record) {
        record.node = node;
        record.assumed = true;
    });
    population_.moved();
    more_used(pods_[pod.value()].gang);
}

template<class Traits>
template<class Placements>
void cluster_state<Traits>::assume_members(gang_index gang, const Placements& placed) {
    // What `settle` does, with one count for all members: this is part of every start.
    for (const auto& each : placed) {
        pod_record& record = pods_[each.pod.value()];
        MUSTER_ASSERT(record.gang == gang && record.placeable() && !record.node,
                      "only a pending member is assumed");
        record.node = each.node;
        record.assumed = true;
        if (population_.active() && record.charged())
            count_pod(record, 1);
    }
    gangs_[gang.value()].placeable -= placed.size();
    if (placed.empty())
        return;
    population_.moved();
    more_used(gang);
}

template<class Traits>
template<class Placements>
void cluster_state<Traits>::nominate_members(gang_index gang, const Placements& placed) {
    const gang_record& group = gangs_[gang.value()];
    if (group.nominated == 0)
        awaiting_.push_back(gang);
    for (const auto& each : placed) {
        MUSTER_ASSERT(pods_[each.pod.value()].placeable() && !pods_[each.pod.value()].node,
                      "only a pending pod is nominated");
        settle(each.pod, [&](pod_record& record) {
            record.node = each.node;
            record.nominated = true;
            record.turn = static_cast<std::uint32_t>(group.nominated);
        });
    }
    population_.moved();
    more_used(gang);
}

template<class Traits>
void cluster_state<Traits>::mark_evicted(pod_index pod) {
    settle(pod, [](pod_record& record) { record.evicted = true; });
    population_.moved();
    mark_dirty(pods_[pod.value()].gang);
    moved(false);
}

template<class Traits>
template<class Placements>
void cluster_state<Traits>::started(const Placements& placed, std::int64_t now) noexcept {
    for (const auto& each : placed)
        pods_[each.pod.value()].set_started(now);
}

template<class Traits>
bool cluster_state<Traits>::assume_nominated(gang_index which) {
    const gang_record& group = gangs_[which.value()];
    std::vector<pod_index> coming;
    resources<width> sum;
    for (const pod_index member : group.members) {
        const pod_record& record = pods_[member.value()];
        if (!record.awaited() || record.migration_target)
            continue;
        coming.push_back(member);
        if (!checked_add(sum, shapes_[record.shape].request, sum))
            return false;
    }
    if (coming.empty() ||
        (group.queue && !ledger_.queues().present().admits(*group.charged_to(), sum)))
        return false;
    detail::sort_short(coming, {}, [&](pod_index at) { return *pods_[at.value()].node; });
    for (std::size_t first = 0; first < coming.size();) {
        const node_index node = *pods_[coming[first].value()].node;
        resources<width> left = ledger_.present(node);
        for (; first < coming.size(); ++first) {
            const pod_record& record = pods_[coming[first].value()];
            if (*record.node != node)
                break;
            const auto& shape = shapes_[record.shape];
            if (!fits(shape.request, left) ||
                !ledger_.admits_others_beside(node, constraints_[shape.where].value.claims))
                return false;
            left -= shape.request;
        }
    }
    for (const pod_index pod : coming) {
        const bool taken = transition(pod, [](pod_record& record) {
            record.nominated = false;
            record.assumed = true;
        });
        MUSTER_ASSERT(taken, "what was charged a moment ago can be charged again");
        static_cast<void>(taken);
    }
    population_.moved();
    more_used(which);
    return true;
}

template<class Traits>
const std::vector<gang_index>& cluster_state<Traits>::gangs_with_nominations() {
    std::erase_if(awaiting_,
                  [this](gang_index which) { return gangs_[which.value()].nominated == 0; });
    detail::sort_short(
        awaiting_, [this](gang_index lhs, gang_index rhs) { return gives_way_first(lhs, rhs); });
    awaiting_.erase(std::unique(awaiting_.begin(), awaiting_.end()), awaiting_.end());
    return awaiting_;
}

template<class Traits>
bool cluster_state<Traits>::gives_way_first(gang_index lhs, gang_index rhs) const {
    const gang_record& left = gangs_[lhs.value()];
    const gang_record& right = gangs_[rhs.value()];
    if (left.spec.priority != right.spec.priority)
        return left.spec.priority < right.spec.priority;
    if (left.spec.created != right.spec.created)
        return left.spec.created > right.spec.created;
    return gang_order_.before(rhs, lhs);
}

template<class Traits>
void cluster_state<Traits>::forget_nominations(gang_index which) {
    for (const pod_index member : gangs_[which.value()].members)
        if (const pod_record& record = pods_[member.value()];
            record.awaited() && !record.migration_target)
            give_up(member);
    mark_dirty(which);
    moved(false);
}

} // namespace v0_1
} // namespace muster
