// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/ranges.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/vocabulary/disruption_budget.hpp>
#include <muster/vocabulary/event_result.hpp>

// The definitions of a state are compiled once per program if the program links muster::core. Here
// are names, epochs, budgets and what cycles remember of gangs; the rest is in the headers that are
// included last.

namespace muster {
inline namespace v0_1 {

template<class Traits>
cluster_state<Traits>::cluster_state() = default;
template<class Traits>
cluster_state<Traits>::cluster_state(kind_id pods_kind) : pods_kind_(pods_kind) {}
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

// ---- names -------------------------------------------------------------------------------------

namespace detail {

/// Returns the index of an unused record, or of a new one.
template<class Records, class Index>
[[nodiscard]] Index take_slot(Records& records, std::vector<Index>& unused) {
    if (unused.empty()) {
        records.push_back({});
        return Index{records.size() - 1};
    }
    const Index index = unused.back();
    unused.pop_back();
    return index;
}

} // namespace detail

template<class Traits>
node_index cluster_state<Traits>::name_node(std::optional<node_index> behind) {
    const node_index index{nodes_.size()};
    nodes_.push_back({});
    ledger_.add_row();
    labels_.insert(index, behind);
    if (labels_.last() == index)
        node_order_.push_back(index);
    else
        node_order_.insert(detail::lower_bound(node_order_, index,
                                               [this](node_index lhs, node_index rhs) {
                                                   return labels_.before(lhs, rhs);
                                               }),
                           index);
    constraints_.node_changed(index.value(), nodes_.back());
    topologies_.node_changed(index, nodes_.back(), labels_);
    return index;
}

template<class Traits>
void cluster_state<Traits>::forget_last_node() {
    const node_index last{nodes_.size() - 1};
    std::erase(node_order_, last);
    labels_.erase(last);
    nodes_.pop_back();
    ledger_.drop_row();
}

template<class Traits>
queue_index cluster_state<Traits>::name_queue(std::optional<queue_index> behind) {
    const queue_index index{queues_.size()};
    queues_.push_back({});
    ledger_.queues_.add();
    queue_order_.insert(index, behind);
    return index;
}

template<class Traits>
void cluster_state<Traits>::forget_last_queue() {
    queue_order_.erase(queue_index{queues_.size() - 1});
    queues_.pop_back();
    ledger_.queues_.drop_last();
}

template<class Traits>
gang_index cluster_state<Traits>::name_gang(std::optional<gang_index> behind) {
    const gang_index index = detail::take_slot(gangs_, unused_gangs_);
    gangs_[index.value()].spec.fault = gang_fault::missing;
    gang_order_.insert(index, behind);
    mark_dirty(index);
    return index;
}

template<class Traits>
bool cluster_state<Traits>::drop_if_unused(gang_index index) {
    gang_record& record = gangs_[index.value()];
    if (record.present || !record.members.empty())
        return false;
    gang_order_.erase(index);
    count_out(record);
    const std::uint32_t generation = record.generation + 1;
    const bool listed = record.listed;
    record = gang_record{};
    record.generation = generation;
    record.listed = listed;
    unused_gangs_.push_back(index);
    mark_dirty(index);
    return true;
}

// ---- epochs ------------------------------------------------------------------------------------

template<class Traits>
void cluster_state<Traits>::mark_dirty(gang_index which) {
    gang_record& record = gangs_[which.value()];
    record.dirty = true;
    ++changes_;
    if (record.listed)
        return;
    record.listed = true;
    changed_gangs_.push_back(which);
}

template<class Traits>
void cluster_state<Traits>::moved(bool capability, bool lost) noexcept {
    ++changes_;
    ++release_epoch_;
    capability_epoch_ += capability ? 1U : 0U;
    loss_epoch_ += lost ? 1U : 0U;
}

template<class Traits>
void cluster_state<Traits>::more_used(gang_index by) noexcept {
    ++use_clock_;
    for (auto at = gangs_[by.value()].queue; at; at = queues_[at->value()].parent)
        queues_[at->value()].use_epoch = use_clock_;
}

template<class Traits>
std::uint64_t cluster_state<Traits>::use_epoch(queue_index queue) const noexcept {
    std::uint64_t newest = 0;
    for (std::optional<queue_index> at = queue; at; at = queues_[at->value()].parent)
        if (const auto& spec = queues_[at->value()].spec;
            spec.quota.any() || spec.non_preemptible_quota.any())
            newest = std::max(newest, queues_[at->value()].use_epoch);
    return newest;
}

// ---- what cycles remember ----------------------------------------------------------------------

/// The gang's last answer counts no more.
template<class Traits>
void cluster_state<Traits>::count_out(const gang_record& record) noexcept {
    if (record.last.is_known)
        answers_.remove(record.last.kind);
}

template<class Traits>
void cluster_state<Traits>::answered(gang_index gang, const last_verdict& what) noexcept {
    gang_record& record = gangs_[gang.value()];
    count_out(record);
    record.last = what;
    record.dirty = false;
    if (what.is_known)
        answers_.add(what.kind);
}

template<class Traits>
template<class Use>
void cluster_state<Traits>::take_changed_gangs(const Use& use) {
    for (const gang_index which : changed_gangs_) {
        gangs_[which.value()].listed = false;
        use(which);
    }
    changed_gangs_.clear();
}

template<class Traits>
void cluster_state<Traits>::found_short(gang_index which, std::int64_t now) {
    gang_record& record = gangs_[which.value()];
    if (record.short_since)
        return;
    record.short_since = record.spec.short_since.value_or(now);
    short_.push_back(which);
}

template<class Traits>
std::vector<gang_index> cluster_state<Traits>::short_gangs() {
    std::erase_if(short_, [this](gang_index which) { return !gangs_[which.value()].short_since; });
    detail::sort_short(
        short_, [this](gang_index lhs, gang_index rhs) { return gang_order_.before(lhs, rhs); });
    short_.erase(std::unique(short_.begin(), short_.end()), short_.end());
    return short_;
}

template<class Traits>
void cluster_state<Traits>::bypassed(gang_index which, std::int64_t more) noexcept {
    std::int64_t& count = gangs_[which.value()].bypassed;
    count = more < 0 ? 0 : saturate(static_cast<int128>(count) + more);
}

// ---- budgets -----------------------------------------------------------------------------------

template<class Traits>
budget_index cluster_state<Traits>::add_budget(std::optional<budget_index> behind) {
    const budget_index index = detail::take_slot(budgets_, unused_budgets_);
    budget_order_.insert(index, behind);
    return index;
}

template<class Traits>
event_result cluster_state<Traits>::set_budget(budget_index which, disruption_budget spec) {
    if (spec.keeps < 0)
        return event_result::out_of_range;
    budgets_[which.value()] = std::move(spec);
    ++changes_;
    eased();
    return event_result::applied;
}

template<class Traits>
void cluster_state<Traits>::remove_budget(budget_index which) {
    budget_order_.erase(which);
    budgets_[which.value()] = {};
    unused_budgets_.push_back(which);
    ++changes_;
    eased();
}

} // namespace v0_1
} // namespace muster

#include <muster/cluster/cluster_evictions_inl.hpp>
#include <muster/cluster/cluster_moves_inl.hpp>
#include <muster/cluster/cluster_objects_inl.hpp>
#include <muster/cluster/cluster_pods_inl.hpp>
#include <muster/cluster/cluster_reservations_inl.hpp>
#include <muster/cluster/tables_inl.hpp>
