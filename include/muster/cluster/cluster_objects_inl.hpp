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
#include <muster/cluster/cluster_state.hpp>
#include <muster/vocabulary/event_result.hpp>
#include <muster/vocabulary/labels.hpp>

// Nodes, queues and gangs of a state.

namespace muster {
inline namespace v0_1 {

// ---- nodes -------------------------------------------------------------------------------------

template<class Traits>
event_result cluster_state<Traits>::set_node(node_index index, node_type spec) {
    if (const event_result bad = check(spec); bad != event_result::applied)
        return bad;
    node_record& record = nodes_[index.value()];
    if (record.present && record.spec == spec)
        return event_result::applied;
    if (!refit(index, spec.allocatable))
        return event_result::out_of_range;
    const bool same_place = record.present && record.spec.labels == spec.labels &&
                            record.spec.taints == spec.taints && record.spec.name == spec.name;
    const bool same = same_place && record.spec.unschedulable == spec.unschedulable;
    // An empty cluster is asked as if no node were cordoned.
    const bool lost =
        record.present && !(same_place && dominates(spec.allocatable, record.spec.allocatable));
    record.spec = std::move(spec);
    record.present = true;
    ledger_.set_devices(index, record.spec.devices);
    if (same)
        ledger_.note(index, node_change::size);
    else
        settle_node(index);
    moved(true, lost);
    return event_result::applied;
}

template<class Traits>
event_result cluster_state<Traits>::check(const node_type& spec) noexcept {
    for (std::size_t column = 0; column < width; ++column)
        if (spec.allocatable[column] < 0 || spec.allocatable[column] > largest_allocatable)
            return event_result::out_of_range;
    return event_result::applied;
}

template<class Traits>
event_result cluster_state<Traits>::clear_node(node_index index) {
    node_record& record = nodes_[index.value()];
    if (!record.present)
        return event_result::unexpected;
    if (!refit(index, {}))
        return event_result::out_of_range;
    record.spec = {};
    record.present = false;
    ledger_.set_devices(index, device_stock::none);
    ++record.generation;
    settle_node(index);
    moved(true);
    return event_result::applied;
}

template<class Traits>
void cluster_state<Traits>::set_device_rule(device_rule rule) {
    ledger_.set_rule(rule);
    moved(true, true);
}

/// The node has so much; false and nothing changed when what is free on it would overflow.
template<class Traits>
bool cluster_state<Traits>::refit(node_index index, const resources<width>& allocatable) {
    const auto& row = ledger_.rows_[index.value()];
    resources<width> used;
    resources<width> free;
    if (!checked_subtract(row.allocatable, row.free, used) ||
        !checked_subtract(allocatable, used, free))
        return false;
    ledger_.resize(index, allocatable, free);
    return true;
}

/// What the node is has changed.
template<class Traits>
void cluster_state<Traits>::settle_node(node_index index) {
    constraints_.node_changed(index.value(), nodes_[index.value()]);
    topologies_.node_changed(index, nodes_[index.value()], labels_);
    ledger_.note(index, node_change::properties);
}

// ---- queues ------------------------------------------------------------------------------------

template<class Traits>
event_result cluster_state<Traits>::set_queue(queue_index index, queue_type spec,
                                              std::optional<queue_index> parent) {
    if (const event_result bad = check(spec); bad != event_result::applied)
        return bad;
    if (parent && ledger_.queues().within(*parent, index))
        return event_result::circular;
    const queue_record& record = queues_[index.value()];
    if (record.present && record.parent == parent && record.spec == spec)
        return event_result::applied;
    if (!ledger_.queues_.settle(index, parent, spec.guarantee))
        return event_result::out_of_range;
    place_queue(index, parent, std::move(spec), true);
    return event_result::applied;
}

template<class Traits>
event_result cluster_state<Traits>::check(const queue_type& spec) noexcept {
    for (std::size_t column = 0; column < width; ++column)
        if (spec.quota[kind_id{column}].value_or(0) < 0 ||
            spec.non_preemptible_quota[kind_id{column}].value_or(0) < 0 ||
            spec.deserved[kind_id{column}].value_or(0) < 0 || spec.guarantee[column] < 0 ||
            spec.past_use[column] < 0)
            return event_result::out_of_range;
    if (spec.weight < 0 || spec.weight > largest_weight)
        return event_result::out_of_range;
    return event_result::applied;
}

template<class Traits>
event_result cluster_state<Traits>::clear_queue(queue_index which) {
    if (!queues_[which.value()].present)
        return event_result::unexpected;
    const bool left = ledger_.queues_.settle(which, std::nullopt, {});
    MUSTER_ASSERT(left, "nothing is added up when a parent is left");
    static_cast<void>(left);
    place_queue(which, std::nullopt, {}, false);
    ++queues_[which.value()].generation;
    return event_result::applied;
}

/// The accounts have the queue below its parent already.
template<class Traits>
void cluster_state<Traits>::place_queue(queue_index index, std::optional<queue_index> above,
                                        queue_type spec, bool present) {
    queue_record& record = queues_[index.value()];
    const label_selector before = nodes_allowed(index);
    const bool was_present = std::exchange(record.present, present);
    record.parent = above;
    ledger_.queues_.set_quota(index, spec.quota, spec.non_preemptible_quota);
    record.spec = std::move(spec);
    if (was_present && !present)
        constraints_.release(record.nodes);
    const bool same = before == nodes_allowed(index);
    for (std::size_t at = 0; at < queues_.size(); ++at) {
        const queue_index each{same ? index.value() : at};
        if (queues_[each.value()].present && ledger_.queues().within(each, index))
            allow_nodes(each, each != index || was_present);
        if (same)
            break;
    }
    moved(true);
    ++queue_epoch_;
}

/// What the queue and all above it ask of nodes.
template<class Traits>
label_selector cluster_state<Traits>::nodes_allowed(queue_index queue) const {
    label_selector all;
    for (std::optional<queue_index> at = queue; at; at = queues_[at->value()].parent) {
        const auto& own = queues_[at->value()].spec.nodes.requirements;
        all.requirements.insert(all.requirements.end(), own.begin(), own.end());
    }
    return all;
}

template<class Traits>
void cluster_state<Traits>::allow_nodes(queue_index queue, bool anew) {
    queue_record& record = queues_[queue.value()];
    constraints where;
    where.selector = nodes_allowed(queue);
    const constraint_index nodes = acquire(where);
    if (anew)
        constraints_.release(record.nodes);
    record.nodes = nodes;
}

// ---- gangs -------------------------------------------------------------------------------------

namespace detail {

[[nodiscard]] inline bool is_role(const gang_tree& tree, vertex_index role) noexcept {
    return role.value() < tree.size() && tree.is_leaf(role.value());
}

[[nodiscard]] inline bool is_well_formed(const gang_tree& tree) noexcept {
    for (std::size_t at = 0; at < tree.size(); ++at) {
        const auto& vertex = tree[at];
        const auto children = static_cast<std::int64_t>(vertex.children);
        const auto required = vertex.min_subgroups.value_or(children);
        if (vertex.min_member < 0 || required < 0 || required > children ||
            (vertex.together && !well_formed(*vertex.together)))
            return false;
    }
    return true;
}

} // namespace detail

template<class Traits>
event_result cluster_state<Traits>::set_gang(gang_index index, gang<queue_index> spec) {
    if (const event_result bad = check(index, spec.tree); bad != event_result::applied)
        return bad;
    if (!detail::is_well_formed(spec.tree))
        spec.fault = gang_fault::malformed;
    gang_record& record = gangs_[index.value()];
    if (!recharge(index, spec.queue, spec.preemptible))
        return event_result::out_of_range;
    release_places(index, [&](pod_index place) {
        return !detail::is_role(spec.tree, pods_[place.value()].role);
    });
    move_to_tenant(record, spec.tenant);
    record.spec = std::move(spec);
    record.present = true;
    acquire_topologies(record);
    mark_dirty(index);
    return event_result::applied;
}

template<class Traits>
event_result cluster_state<Traits>::check(gang_index which, const gang_tree& tree) const noexcept {
    for (const pod_index member : gangs_[which.value()].members)
        if (const pod_record& record = pods_[member.value()];
            !record.migration_target && !detail::is_role(tree, record.role))
            return event_result::no_such_role;
    return event_result::applied;
}

template<class Traits>
event_result cluster_state<Traits>::clear_gang(gang_index which) {
    gang_record& record = gangs_[which.value()];
    if (!record.present)
        return event_result::unexpected;
    release_places(which);
    const bool moved_out = recharge(which, std::nullopt);
    MUSTER_ASSERT(moved_out, "nothing is added up when a queue is left");
    static_cast<void>(moved_out);
    move_to_tenant(record, {});
    record.present = false;
    record.spec = {};
    record.spec.fault = gang_fault::missing;
    acquire_topologies(record);
    mark_dirty(which);
    return event_result::applied;
}

/// Moves what the gang's members hold from its queue to the one named; false and nothing changed
/// when that overflows.
template<class Traits>
bool cluster_state<Traits>::recharge(gang_index which, std::optional<queue_index> to,
                                     bool preemptible) {
    gang_record& group = gangs_[which.value()];
    const auto into = to ? std::optional(queue_charge(*to, !preemptible)) : std::nullopt;
    if (group.charged_to() == into)
        return true;
    resources<width> held;
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
    if (held != resources<width>{})
        more_used(which);
    if (from && held != resources<width>{})
        moved(false);
    return true;
}

template<class Traits>
void cluster_state<Traits>::leave_queue(const gang_record& group, queue_charge from) noexcept {
    for (const pod_index member : group.members)
        if (const pod_record& record = pods_[member.value()]; record.charged())
            ledger_.queues_.give(from, shapes_[record.shape].request, record.charged_as());
}

template<class Traits>
bool cluster_state<Traits>::enter_queue(const gang_record& group, queue_charge into) noexcept {
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

/// The gang's tenant becomes that. O(1) as long as no pod ever had terms on other pods, else
/// O(members).
template<class Traits>
void cluster_state<Traits>::move_to_tenant(gang_record& group, const label_set& tenant) {
    const label_set_index to = label_sets_.acquire(tenant);
    const label_set_index from = group.tenant;
    if (to != from && population_.active()) {
        for (const pod_index member : group.members) {
            const pod_record& pod = pods_[member.value()];
            if (pod.charged())
                count_pod(pod, -1);
            leave(pod);
        }
        group.tenant = to;
        for (const pod_index member : group.members) {
            const pod_record& pod = pods_[member.value()];
            enter(pod);
            if (pod.charged())
                count_pod(pod, 1);
        }
        population_.moved();
    }
    group.tenant = to;
    label_sets_.release(from);
}

/// Interns the topologies that the gang's tree names; those it had are given back.
template<class Traits>
void cluster_state<Traits>::acquire_topologies(gang_record& of) {
    std::vector<vertex_topology> fresh;
    for (std::size_t at = 0; at < of.spec.tree.size(); ++at)
        if (const auto& how = of.spec.tree[at].together; how && well_formed(*how))
            fresh.push_back({vertex_index{at},
                             topologies_.acquire(how->within, nodes_.size(), labels_,
                                                 [this](node_index node) -> const node_record& {
                                                     return nodes_[node.value()];
                                                 }),
                             how->required, how->preferred});
    for (const vertex_topology& old : of.together)
        topologies_.release(old.within);
    of.together = std::move(fresh);
}

} // namespace v0_1
} // namespace muster
