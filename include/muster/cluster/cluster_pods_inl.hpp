// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/vocabulary/event_result.hpp>

// A pod's life in a state: transition() and settle() are the only writers of what a pod is, so that
// charges, the counts of its gang and what terms of other pods see of it always follow.

namespace muster {
inline namespace v0_1 {

/// Changes what a pod is by `change(record)`, and with it what it is charged with. False and
/// nothing changed when a sum would overflow. The caller moves the epochs: mark_dirty(), moved(),
/// more_used(), population_.moved(). Precondition: `change` keeps the pod's place in the order of
/// the gang's members, or the pod is not in the list of members.
template<class Traits>
template<class Change>
bool cluster_state<Traits>::transition(pod_index pod, const Change& change) {
    const pod_record before = pods_[pod.value()];
    pod_record after = before;
    change(after);
    if (before.charged())
        give(before);
    if (after.charged() && !take(after)) {
        const bool restored = !before.charged() || take(before);
        MUSTER_ASSERT(restored, "what was charged a moment ago can be charged again");
        static_cast<void>(restored);
        return false;
    }
    settle(pod, [&](pod_record& record) { record = after; });
    return true;
}

/// Changes what a pod is by `change(record)`: the counts of its gang and what terms of other pods
/// see follow. What it is charged with has followed already, or does not change.
template<class Traits>
template<class Change>
void cluster_state<Traits>::settle(pod_index pod, const Change& change) {
    pod_record& record = pods_[pod.value()];
    count(record, -1);
    change(record);
    count(record, 1);
}

/// Counts the pod in its gang and, for terms of other pods, on its node (1), or no more (-1).
template<class Traits>
void cluster_state<Traits>::count(const pod_record& pod, std::int32_t by) {
    if (pod.placeable())
        gangs_[pod.gang.value()].placeable += static_cast<std::size_t>(by);
    else if (pod.awaited() && !pod.migration_target)
        gangs_[pod.gang.value()].nominated += static_cast<std::size_t>(by);
    if (population_.active() && pod.charged())
        count_pod(pod, by);
}

/// Charges the pod to its node and queue; false and nothing changed when a sum would overflow.
template<class Traits>
bool cluster_state<Traits>::take(const pod_record& of) {
    const auto& shape = shapes_[of.shape];
    return ledger_.take(*of.node, gangs_[of.gang.value()].charged_to(), shape.request,
                        constraints_[shape.where].value.claims, of.charged_as());
}

template<class Traits>
void cluster_state<Traits>::give(const pod_record& of) noexcept {
    const auto& shape = shapes_[of.shape];
    ledger_.give(*of.node, gangs_[of.gang.value()].charged_to(), shape.request,
                 constraints_[shape.where].value.claims, of.charged_as());
}

/// A pod that takes room is counted on its node (1), or no longer (-1). Precondition: some pod has
/// terms on other pods.
template<class Traits>
void cluster_state<Traits>::count_pod(const pod_record& pod, std::int32_t by) {
    const constraint_index where = shapes_[pod.shape].where;
    population_.count(population_.identity_of(pod.labels, gangs_[pod.gang.value()].tenant),
                      constraints_[where].value.pods ? &where : nullptr, *pod.node, by,
                      pod.present_as());
}

/// False if the pod keeps everything that it held, so that no other gang can become able to start.
template<class Traits>
bool cluster_state<Traits>::gives_something_back(const pod_record& from,
                                                 const pod_record& to) const {
    const auto& before = shapes_[from.shape];
    const auto& after = shapes_[to.shape];
    return !to.charged() || to.node != from.node || to.charged_as() != from.charged_as() ||
           !dominates(after.request, before.request) ||
           constraints_[after.where].value.claims != constraints_[before.where].value.claims;
}

/// Terms on other pods see no difference between the two.
template<class Traits>
bool cluster_state<Traits>::same_to_others(const pod_record& lhs, const pod_record& rhs) const {
    return lhs.charged() == rhs.charged() && lhs.node == rhs.node && lhs.labels == rhs.labels &&
           lhs.terminating == rhs.terminating && lhs.nominated == rhs.nominated &&
           shapes_[lhs.shape].where == shapes_[rhs.shape].where;
}

// ---- events ------------------------------------------------------------------------------------

namespace detail {

template<class Spec>
void take_over(pod_record& into, const Spec& spec) {
    into.role = spec.role;
    into.created = spec.created;
    if (spec.started || spec.phase == pod_phase::pending)
        into.set_started(spec.started);
    into.phase = spec.phase;
    into.terminating = spec.terminating;
    into.ready = spec.ready;
}

} // namespace detail

template<class Traits>
event_result cluster_state<Traits>::check(std::optional<gang_index> gang,
                                          const pod_type& spec) const noexcept {
    for (std::size_t column = 0; column < width; ++column)
        if (spec.request[column] < 0)
            return event_result::out_of_range;
    return gang && gangs_[gang->value()].present &&
                   !detail::is_role(gangs_[gang->value()].spec.tree, spec.role)
               ? event_result::no_such_role
               : event_result::applied;
}

template<class Traits>
event_result cluster_state<Traits>::add_pod(pod_index& index, gang_index gang, const pod_type& spec,
                                            std::optional<node_index> on,
                                            std::optional<pod_index> behind,
                                            std::optional<pod_index> migration_target) {
    pod_record fresh;
    fresh.gang = gang;
    detail::take_over(fresh, spec);
    if (on)
        fresh.bind_to(*on);
    adopt(fresh, spec);
    if (fresh.charged() && !take(fresh)) {
        disown(fresh);
        return event_result::out_of_range;
    }
    fresh.partner = migration_target;
    index = keep_record(std::move(fresh));
    if (migration_target)
        pods_[migration_target->value()].partner = index;
    count(pods_[index.value()], 1);
    if (pods_[index.value()].charged()) {
        more_used(gang);
        population_.moved();
    }
    mark_dirty(gang);
    pod_order_.insert(index, behind);
    enlist(index);
    return event_result::applied;
}

template<class Traits>
event_result cluster_state<Traits>::change_pod(pod_index index, const pod_type& spec,
                                               std::optional<node_index> on) {
    const pod_record before = pods_[index.value()];
    pod_record changed = before;
    detail::take_over(changed, spec);
    if (on) {
        changed.bind_to(*on);
    } else if (changed.phase != pod_phase::pending || !(before.assumed || before.nominated) ||
               (before.nominated && !(before.awaited() && changed.alive()))) {
        changed.node.reset();
        changed.assumed = changed.nominated = false;
    }
    adopt(changed, spec);
    const bool moves = changed.created != before.created;
    if (moves)
        delist(index);
    const bool fits = transition(index, [&](pod_record& record) { record = changed; });
    if (moves)
        enlist(index);
    if (!fits) {
        disown(changed);
        return event_result::out_of_range;
    }
    if (before.charged() && gives_something_back(before, changed))
        moved(false);
    const bool grew = changed.charged() && !dominates(shapes_[before.shape].request, spec.request);
    if (grew || !same_to_others(before, changed))
        population_.moved();
    if (grew ||
        (changed.charged() && (!before.charged() || before.charged_as() != changed.charged_as())))
        more_used(before.gang);
    disown(before);
    mark_dirty(before.gang);
    return event_result::applied;
}

template<class Traits>
void cluster_state<Traits>::remove_pod(pod_index index) {
    const pod_record& record = pods_[index.value()];
    delist(index);
    mark_dirty(record.gang);
    count(record, -1);
    if (record.charged()) {
        give(record);
        moved(false);
    }
    disown(record);
    if (record.partner)
        pods_[record.partner->value()].partner.reset();
    release_orphaned_places(record.gang);
    drop_record(index);
}

// ---- records -----------------------------------------------------------------------------------

template<class Traits>
pod_index cluster_state<Traits>::keep_record(pod_record fresh) {
    const pod_index index = detail::take_slot(pods_, unused_pods_);
    fresh.generation = pods_[index.value()].generation;
    pods_[index.value()] = std::move(fresh);
    return index;
}

template<class Traits>
void cluster_state<Traits>::drop_record(pod_index which) {
    pod_order_.erase(which);
    pod_record& record = pods_[which.value()];
    const std::uint32_t generation = record.generation + 1;
    record = pod_record{};
    record.generation = generation;
    unused_pods_.push_back(which);
}

template<class Traits>
bool cluster_state<Traits>::member_less(pod_index lhs, pod_index rhs) const {
    const pod_record& left = pods_[lhs.value()];
    const pod_record& right = pods_[rhs.value()];
    if (left.role != right.role)
        return left.role < right.role;
    if (left.created != right.created)
        return left.created < right.created;
    return pod_order_.before(lhs, rhs);
}

/// Puts a member in its place among the gang's. O(log members), and 4 bytes moved for each member
/// behind it.
template<class Traits>
void cluster_state<Traits>::enlist(pod_index pod) {
    std::vector<pod_index>& members = gangs_[pods_[pod.value()].gang.value()].members;
    const auto less = [this](pod_index lhs, pod_index rhs) { return member_less(lhs, rhs); };
    if (members.empty() || less(members.back(), pod))
        members.push_back(pod);
    else
        members.insert(detail::lower_bound(members, pod, less), pod);
}

template<class Traits>
void cluster_state<Traits>::delist(pod_index pod) {
    std::vector<pod_index>& members = gangs_[pods_[pod.value()].gang.value()].members;
    if (!members.empty() && members.back() == pod) {
        members.pop_back();
        return;
    }
    const auto place = detail::lower_bound(
        members, pod, [this](pod_index lhs, pod_index rhs) { return member_less(lhs, rhs); });
    MUSTER_ASSERT(place != members.end() && *place == pod, "a member is in its gang's list");
    members.erase(place);
}

// ---- interned properties -----------------------------------------------------------------------

/// The pod is as `spec` says. Its gang is known.
template<class Traits>
void cluster_state<Traits>::adopt(pod_record& pod, const pod_type& spec) {
    pod.shape = acquire_shape(spec.request, spec.where);
    pod.labels = label_sets_.acquire(spec.labels);
    enter(pod);
}

/// The inverse, for a pod that has no node any more.
template<class Traits>
void cluster_state<Traits>::disown(const pod_record& pod) {
    leave(pod);
    label_sets_.release(pod.labels);
    release_shape(pod.shape);
}

template<class Traits>
void cluster_state<Traits>::enter(const pod_record& pod) {
    if (population_.active())
        population_.add_pod(pod.labels, gangs_[pod.gang.value()].tenant, label_sets_);
}

template<class Traits>
void cluster_state<Traits>::leave(const pod_record& pod) {
    if (population_.active())
        population_.remove_pod(pod.labels, gangs_[pod.gang.value()].tenant);
}

template<class Traits>
shape_index cluster_state<Traits>::acquire_shape(const resources<width>& request,
                                                 const constraints& value) {
    const constraint_index where = acquire(value);
    if (value.pods && constraints_[where].users == 1)
        know_terms(where, *value.pods);
    bool fresh = false;
    const shape_index shape = shapes_.acquire(request, where, fresh);
    // A shape holds its constraints once, however many pods have it.
    if (!fresh)
        constraints_.release(where);
    return shape;
}

template<class Traits>
void cluster_state<Traits>::release_shape(shape_index shape) {
    const constraint_index where = shapes_[shape].where;
    if (!shapes_.release(shape))
        return;
    if (constraints_[where].users == 1 && constraints_[where].value.pods)
        population_.remove_terms(where, [this](topology_index at) { topologies_.release(at); });
    constraints_.release(where);
}

template<class Traits>
constraint_index cluster_state<Traits>::acquire(const constraints& value) {
    return constraints_.acquire(
        value, nodes_.size(), [this](std::size_t at) -> const node_record& { return nodes_[at]; });
}

/// The first terms of all make the pods that there are known.
template<class Traits>
void cluster_state<Traits>::know_terms(constraint_index where, const pod_terms& value) {
    if (!population_.active()) {
        population_.activate();
        for (const gang_index which : gang_order_)
            for (const pod_index member : gangs_[which.value()].members) {
                const pod_record& pod = pods_[member.value()];
                enter(pod);
                if (pod.charged())
                    count_pod(pod, 1);
            }
    }
    population_.add_terms(where, value, label_sets_, [this](const std::string& key) {
        return topologies_.acquire(
            topology{{key}}, nodes_.size(), labels_,
            [this](node_index node) -> const node_record& { return nodes_[node.value()]; });
    });
}

} // namespace v0_1
} // namespace muster
