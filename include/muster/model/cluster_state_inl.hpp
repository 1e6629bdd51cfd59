// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/model/cluster_state.hpp>
#include <muster/model/disruption_budget.hpp>
#include <muster/model/event_result.hpp>

// The events are compiled once per program if the program links muster::core. The functions that
// events and cycles call stay in the classes.

namespace muster {
inline namespace v0_1 {

template<class Traits>
cluster_state<Traits>::cluster_state() = default;
template<class Traits>
cluster_state<Traits>::cluster_state(kind_id pods_kind) : store(pods_kind) {}
template<class Traits>
cluster_state<Traits>::cluster_state(const cluster_state&) = default;
template<class Traits>
cluster_state<Traits>::cluster_state(cluster_state&&) noexcept = default;
template<class Traits>
cluster_state<Traits>& cluster_state<Traits>::operator=(const cluster_state&) = default;
template<class Traits>
cluster_state<Traits>& cluster_state<Traits>::operator=(cluster_state&&) noexcept = default;
template<class Traits>
cluster_state<Traits>::~cluster_state() = default;

template<std::size_t Width>
event_result state_accounts<Width>::finish(gang_index which) {
    gang_record& group = gangs_[which.value()];
    bool any = false;
    for (std::size_t at = 0; at < group.members.size();) {
        pod_record& record = pods_[group.members[at].value()];
        ++at;
        if (!record.charged())
            continue;
        any = true;
        if (record.nominated) {
            give_up(record);
            continue;
        }
        this->stand(record, -1);
        const tenure how = record.charged_as();
        end(record);
        const shape_index shape = record.shape;
        const auto& what = shapes_[shape];
        const auto& ports = constraints_[what.where].value.ports;
        // Members were mostly placed node by node: give back what a node holds at once.
        std::int64_t count = 1;
        for (; at < group.members.size(); ++at, ++count) {
            pod_record& next = pods_[group.members[at].value()];
            if (!next.charged() || next.node != record.node || next.shape != shape ||
                next.charged_as() != tenure::lasting || how != tenure::lasting || !ports.empty())
                break;
            this->stand(next, -1);
            end(next);
        }
        resources<Width> amount = what.request;
        for (std::size_t column = 0; column < Width; ++column)
            amount[column] *= count;
        ledger_.give(*record.node, group.charged_to(), amount, ports, how);
    }
    if (!any)
        return event_result::unexpected;
    moved(false);
    mark_dirty(which);
    return event_result::applied;
}

template<std::size_t Width>
event_result state_queues<Width>::set_queue(queue_index index, queue_type spec,
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

template<std::size_t Width>
event_result state_queues<Width>::check(const queue_type& spec) noexcept {
    for (std::size_t column = 0; column < Width; ++column)
        if (spec.quota[kind_id{column}].value_or(0) < 0 ||
            spec.firm_quota[kind_id{column}].value_or(0) < 0 ||
            spec.deserved[kind_id{column}].value_or(0) < 0 || spec.guarantee[column] < 0 ||
            spec.past_use[column] < 0)
            return event_result::out_of_range;
    if (spec.weight < 0 || spec.weight > largest_weight)
        return event_result::out_of_range;
    return event_result::applied;
}

template<std::size_t Width>
event_result state_queues<Width>::clear_queue(queue_index which) {
    if (!queues_[which.value()].present)
        return event_result::unexpected;
    const bool left = ledger_.queues_.settle(which, std::nullopt, {});
    MUSTER_ASSERT(left, "nothing is added up when a parent is left");
    static_cast<void>(left);
    place_queue(which, std::nullopt, {}, false);
    ++queues_[which.value()].generation;
    return event_result::applied;
}

template<std::size_t Width>
event_result state_departures<Width>::confirm_bound(pod_index pod) {
    pod_record& record = pods_[pod.value()];
    if (!record.assumed)
        return event_result::unexpected;
    record.assumed = false;
    record.phase = pod_phase::bound;
    eased();
    return event_result::applied;
}

template<std::size_t Width>
event_result state_departures<Width>::forget(pod_index pod) {
    pod_record& record = pods_[pod.value()];
    if (!(record.assumed || record.nominated))
        return event_result::unexpected;
    give_up(record);
    mark_dirty(record.gang);
    moved(false);
    return event_result::applied;
}

template<std::size_t Width>
event_result state_departures<Width>::evict(pod_index pod) {
    pod_record& record = pods_[pod.value()];
    if (!may_go(record))
        return event_result::unexpected;
    uncharge(record);
    record.evicted = true;
    restore(record);
    population_.moved();
    mark_dirty(record.gang);
    moved(false);
    return event_result::applied;
}

template<std::size_t Width>
event_result state_departures<Width>::keep(pod_index pod) {
    pod_record& record = pods_[pod.value()];
    if (!record.evicted)
        return event_result::unexpected;
    if (record.charged())
        uncharge(record);
    record.evicted = false;
    if (record.charged())
        restore(record);
    population_.moved();
    more_used(record.gang);
    gangs_[record.gang.value()].placeable += record.placeable() ? 1U : 0U;
    mark_dirty(record.gang);
    return event_result::applied;
}

template<std::size_t Width>
event_result state_departures<Width>::nominate(pod_index pod, node_index to) {
    pod_record& record = pods_[pod.value()];
    if (!record.placeable())
        return event_result::unexpected;
    return nominate_on(record, to) ? event_result::applied : event_result::out_of_range;
}

template<std::size_t Width>
event_result state_departures<Width>::expect(pod_index pod, node_index to) {
    pod_record& record = pods_[pod.value()];
    if (record.phase != pod_phase::gated || record.terminating || record.node)
        return event_result::unexpected;
    record.node = to;
    record.nominated = true;
    if (!charge(record)) {
        record.node.reset();
        record.nominated = false;
        return event_result::out_of_range;
    }
    population_.moved();
    more_used(record.gang);
    return event_result::applied;
}

template<std::size_t Width>
event_result state_promises<Width>::move(pod_index pod, node_index to,
                                         std::optional<std::int64_t> until) {
    if (!this->may_go(pods_[pod.value()]) || pods_[pod.value()].node == to)
        return event_result::unexpected;
    event_result went = store::evict(pod);
    MUSTER_ASSERT(went == event_result::applied, "it may go");
    const pod_index place = add_place(pod, to, until);
    if (this->charge(pods_[place.value()]))
        return went;
    erase_place(place);
    went = store::keep(pod);
    MUSTER_ASSERT(went == event_result::applied, "it was told to go a moment ago");
    return event_result::out_of_range;
}

template<std::size_t Width>
event_result state_promises<Width>::keep(pod_index pod) {
    const event_result kept = store::keep(pod);
    if (kept == event_result::applied)
        release_place_of(pod);
    return kept;
}

template<std::size_t Width>
event_result state_promises<Width>::finish(gang_index which) {
    release_places(which);
    return store::finish(which);
}

template<std::size_t Width>
auto state_budgets<Width>::add_budget(std::optional<budget_index> behind) -> budget_index {
    const budget_index index = store::take_slot(budgets_, unused_);
    budget_order_.insert(index, behind);
    return index;
}

template<std::size_t Width>
event_result state_budgets<Width>::set_budget(budget_index which, disruption_budget spec) {
    if (spec.keeps < 0)
        return event_result::out_of_range;
    budgets_[which.value()] = std::move(spec);
    ++this->changes_;
    this->eased();
    return event_result::applied;
}

template<std::size_t Width>
void state_budgets<Width>::remove_budget(budget_index which) {
    budget_order_.erase(which);
    budgets_[which.value()] = {};
    unused_.push_back(which);
    ++this->changes_;
    this->eased();
}

template<class Traits>
event_result cluster_state<Traits>::set_node(node_index index, node_type spec) {
    if (const event_result bad = check(spec); bad != event_result::applied)
        return bad;
    // Upserting an unchanged node is a no-op.
    if (nodes_[index.value()].present && nodes_[index.value()].spec == spec)
        return event_result::applied;
    auto& row = ledger_.rows_[index.value()];
    resources<width> free;
    if (!refit(row, spec.allocatable, free))
        return event_result::out_of_range;
    ledger_.resize(index, spec.allocatable, free);
    node_record& record = nodes_[index.value()];
    const bool same_place = record.present && record.spec.labels == spec.labels &&
                            record.spec.taints == spec.taints && record.spec.name == spec.name;
    const bool same = same_place && record.spec.unschedulable == spec.unschedulable;
    // An emptied cluster is asked as if no node were cordoned.
    const bool lost =
        record.present && !(same_place && dominates(spec.allocatable, record.spec.allocatable));
    record.spec = std::move(spec);
    record.present = true;
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
    if (!nodes_[index.value()].present)
        return event_result::unexpected;
    auto& row = ledger_.rows_[index.value()];
    resources<width> free;
    if (!refit(row, {}, free))
        return event_result::out_of_range;
    ledger_.resize(index, {}, free);
    node_record& record = nodes_[index.value()];
    record.spec = {};
    record.present = false;
    ++record.generation;
    settle_node(index);
    moved(true);
    return event_result::applied;
}

template<class Traits>
event_result cluster_state<Traits>::set_gang(gang_index index, gang<queue_index> spec) {
    if (const event_result bad = check(index, spec.tree); bad != event_result::applied)
        return bad;
    if (!well_formed(spec.tree))
        spec.fault = gang_fault::malformed;
    gang_record& record = gangs_[index.value()];
    if (!recharge(index, spec.queue, spec.preemptible))
        return event_result::out_of_range;
    this->release_places(index,
                         [&](const pod_record& place) { return !is_role(spec.tree, place.role); });
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
            !record.promised && !is_role(tree, record.role))
            return event_result::no_such_role;
    return event_result::applied;
}

template<class Traits>
event_result cluster_state<Traits>::clear_gang(gang_index which) {
    gang_record& record = gangs_[which.value()];
    if (!record.present)
        return event_result::unexpected;
    this->release_places(which);
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

template<class Traits>
event_result cluster_state<Traits>::check(std::optional<gang_index> gang,
                                          const pod_type& spec) const noexcept {
    for (std::size_t column = 0; column < width; ++column)
        if (spec.request[column] < 0)
            return event_result::out_of_range;
    return gang && gangs_[gang->value()].present &&
                   !is_role(gangs_[gang->value()].spec.tree, spec.role)
               ? event_result::no_such_role
               : event_result::applied;
}

template<class Traits>
event_result cluster_state<Traits>::add_pod(pod_index& index, gang_index gang, const pod_type& spec,
                                            std::optional<node_index> on,
                                            std::optional<pod_index> behind,
                                            std::optional<pod_index> promised) {
    pod_record fresh;
    fresh.gang = gang;
    take_over(fresh, spec);
    if (on)
        fresh.stand_on(*on);
    adopt(fresh, spec);
    if (fresh.charged() && !charge(fresh)) {
        disown(fresh);
        return event_result::out_of_range;
    }
    if (fresh.charged()) {
        more_used(fresh.gang);
        population_.moved();
    }
    index = take_slot(pods_, unused_pods_);
    fresh.generation = pods_[index.value()].generation;
    fresh.partner = promised;
    if (promised)
        pods_[promised->value()].partner = index;
    gangs_[fresh.gang.value()].placeable += fresh.placeable() ? 1U : 0U;
    mark_dirty(fresh.gang);
    pods_[index.value()] = std::move(fresh);
    this->pod_order_.insert(index, behind);
    enlist(index);
    return event_result::applied;
}

template<class Traits>
event_result cluster_state<Traits>::change_pod(pod_index index, const pod_type& spec,
                                               std::optional<node_index> on) {
    pod_record& record = pods_[index.value()];
    pod_record changed = record;
    take_over(changed, spec);
    if (on) {
        changed.stand_on(*on);
    } else if (changed.phase != pod_phase::pending || !(record.assumed || record.nominated) ||
               (record.nominated && !(record.awaited() && changed.alive()))) {
        changed.node.reset();
        changed.assumed = changed.nominated = false;
    }
    adopt(changed, spec);
    const bool was_charged = record.charged();
    if (was_charged)
        uncharge(record);
    if (changed.charged() && !charge(changed)) {
        if (was_charged)
            restore(record);
        disown(changed);
        return event_result::out_of_range;
    }
    if (was_charged && gives_something_back(record, changed))
        moved(false);
    const bool grew = changed.charged() && !dominates(shapes_[record.shape].request, spec.request);
    if (grew || !same_to_others(record, changed))
        population_.moved();
    if (grew ||
        (changed.charged() && (!was_charged || record.charged_as() != changed.charged_as())))
        more_used(record.gang);
    gang_record& of = gangs_[record.gang.value()];
    of.placeable -= record.placeable() ? 1U : 0U;
    of.placeable += changed.placeable() ? 1U : 0U;
    of.nominated -= record.awaited() && !changed.awaited() ? 1U : 0U;
    const bool moves = changed.created != record.created;
    if (moves)
        delist(index);
    disown(record);
    record = std::move(changed);
    if (moves)
        enlist(index);
    mark_dirty(record.gang);
    return event_result::applied;
}

template<class Traits>
void cluster_state<Traits>::remove_pod(pod_index index) {
    pod_record& record = pods_[index.value()];
    if (record.charged()) {
        uncharge(record);
        moved(false);
    }
    gangs_[record.gang.value()].placeable -= record.placeable() ? 1U : 0U;
    gangs_[record.gang.value()].nominated -= record.awaited() ? 1U : 0U;
    delist(index);
    mark_dirty(record.gang);
    disown(record);
    if (record.partner)
        pods_[record.partner->value()].partner.reset();
    this->release_orphaned_places(record.gang);
    this->pod_order_.erase(index);
    const std::uint32_t generation = record.generation + 1;
    record = pod_record{};
    record.generation = generation;
    unused_pods_.push_back(index);
}

} // namespace v0_1
} // namespace muster
