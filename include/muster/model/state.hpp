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
#include <muster/model/ledger.hpp>
#include <muster/model/pod.hpp>
#include <muster/model/state_store.hpp>

namespace muster::inline v0_1 {

/// What became of an event. Everything but `applied` left the state as it was.
enum class [[nodiscard]] event_result : std::uint8_t{
    applied,
    /// An amount is negative, an allocatable is above `largest_allocatable`, or a sum leaves int64.
    out_of_range,
    /// The gang or role of a pod never changes: delete the pod and create it anew.
    immutable,
    /// No such pod, or not in a phase in which this can happen to it.
    unexpected,
    /// The role is no leaf of the gang's tree.
    no_such_role,
};

/// The cluster as far as it is known, changed only by events, each in the order of what it changed.
/// Feeding the same objects in any order gives states that decide alike. Distinct states may be
/// used from distinct threads; const calls on one state are concurrent. When memory runs out
/// during an event, the state must be dropped and rebuilt.
template<class Traits>
class state : public state_store<Traits> {
    using store = state_store<Traits>;

public:
    using store::width;
    using typename store::gang_key;
    using typename store::gang_record;
    using typename store::gang_type;
    using typename store::node_key;
    using typename store::node_record;
    using typename store::node_type;
    using typename store::pod_key;
    using typename store::pod_record;
    using typename store::pod_type;
    using typename store::queue_key;
    using typename store::queue_record;
    using typename store::queue_type;

    state() = default;
    /// `pods_kind` is the column that counts pods: it weighs nothing in placement keys.
    explicit state(kind_id pods_kind) : store(pods_kind) {}

    // ---- nodes ---------------------------------------------------------------------------------

    /// A node is new or changed. Pods bound before it was known are kept and charged to it.
    /// O(constraint sets + kinds), and O(nodes) to find its place when it is new.
    event_result upsert_node(const node_key& key, node_type spec) {
        for (std::size_t column = 0; column < width; ++column)
            if (spec.allocatable[column] < 0 || spec.allocatable[column] > largest_allocatable)
                return event_result::out_of_range;
        const node_index index = intern_node(key);
        auto& row = ledger_.rows_[index.value()];
        resources<width> free;
        if (!refit(row, spec.allocatable, free))
            return event_result::out_of_range;
        row.free = free;
        row.allocatable = spec.allocatable;
        node_record& record = nodes_[index.value()];
        record.spec = std::move(spec);
        record.present = true;
        settle_node(index);
        return event_result::applied;
    }

    /// The node is gone; what stands on it stays charged until its pods are reported gone.
    event_result remove_node(const node_key& key) {
        const auto known = node_index_.find(key);
        if (known == node_index_.end() || !nodes_[known->second.value()].present)
            return event_result::unexpected;
        const node_index index = known->second;
        auto& row = ledger_.rows_[index.value()];
        resources<width> free;
        if (!refit(row, {}, free))
            return event_result::out_of_range;
        row.free = free;
        row.allocatable = {};
        node_record& record = nodes_[index.value()];
        record.spec = {};
        record.present = false;
        ++record.generation;
        settle_node(index);
        return event_result::applied;
    }

    // ---- queues --------------------------------------------------------------------------------

    event_result upsert_queue(const queue_key& key, queue_type spec) {
        for (std::size_t column = 0; column < width; ++column)
            if (spec.quota[kind_id{column}].value_or(0) < 0)
                return event_result::out_of_range;
        const queue_index index = intern_queue(key);
        queue_record& record = queues_[index.value()];
        constraints where;
        where.selector = spec.nodes;
        const constraint_index nodes = acquire(where);
        if (record.present)
            constraints_.release(record.nodes);
        record.nodes = nodes;
        ledger_.queues_[index.value()].quota = spec.quota;
        record.spec = std::move(spec);
        record.present = true;
        moved(true);
        return event_result::applied;
    }

    event_result remove_queue(const queue_key& key) {
        const auto known = queue_index_.find(key);
        if (known == queue_index_.end() || !queues_[known->second.value()].present)
            return event_result::unexpected;
        queue_record& record = queues_[known->second.value()];
        constraints_.release(record.nodes);
        ledger_.queues_[known->second.value()].quota = {};
        record.spec = {};
        record.present = false;
        ++record.generation;
        moved(true);
        return event_result::applied;
    }

    // ---- gangs ---------------------------------------------------------------------------------

    /// A gang is new or changed. Members may have come before it. O(members).
    event_result upsert_gang(const gang_key& key, gang_type spec) {
        const auto known = gang_index_.find(key);
        if (known != gang_index_.end())
            for (const pod_index member : gangs_[known->second.value()].members)
                if (!is_role(spec.tree, pods_[member.value()].spec.role))
                    return event_result::no_such_role;
        if (!well_formed(spec.tree))
            spec.fault = gang_fault::malformed;
        const gang_index index = intern_gang(key);
        gang_record& record = gangs_[index.value()];
        if (!recharge(record, spec.queue))
            return event_result::out_of_range;
        record.spec = std::move(spec);
        record.present = true;
        mark_dirty(record);
        return event_result::applied;
    }

    /// The group object is gone; members that are left wait for it.
    event_result remove_gang(const gang_key& key) {
        const auto known = gang_index_.find(key);
        if (known == gang_index_.end() || !gangs_[known->second.value()].present)
            return event_result::unexpected;
        gang_record& record = gangs_[known->second.value()];
        const bool moved_out = recharge(record, std::nullopt);
        MUSTER_ASSERT(moved_out, "nothing is added up when a queue is left");
        static_cast<void>(moved_out);
        record.present = false;
        record.spec = {};
        record.spec.fault = gang_fault::missing;
        mark_dirty(record);
        drop_if_unused(known->second);
        return event_result::applied;
    }

    // ---- pods ----------------------------------------------------------------------------------

    /// A pod is new or changed, as observed; with `on` it stands on that node, known or not. An
    /// assumed pod that is seen without a node stays assumed. O(log pods + log constraint sets).
    event_result upsert_pod(const pod_key& key, const gang_key& gang, pod_type spec,
                            std::optional<node_key> on = std::nullopt) {
        for (std::size_t column = 0; column < width; ++column)
            if (spec.request[column] < 0)
                return event_result::out_of_range;
        const auto group = gang_index_.find(gang);
        if (group != gang_index_.end() && gangs_[group->second.value()].present &&
            !is_role(gangs_[group->second.value()].spec.tree, spec.role))
            return event_result::no_such_role;
        const auto known = pod_index_.find(key);
        if (known == pod_index_.end())
            return insert_pod(key, gang, std::move(spec), on);
        pod_record& record = pods_[known->second.value()];
        if (group == gang_index_.end() || group->second != record.gang ||
            spec.role != record.spec.role)
            return event_result::immutable;

        pod_record changed = record;
        changed.spec = std::move(spec);
        const std::size_t nodes_before = nodes_.size();
        if (on) {
            changed.stand_on(intern_node(*on));
        } else if (!record.assumed || changed.spec.phase != pod_phase::pending) {
            changed.node.reset();
            changed.assumed = false;
        }
        const bool was_charged = record.charged();
        if (was_charged)
            uncharge(record);
        if (changed.charged() && !charge(changed)) {
            if (was_charged)
                restore(record);
            forget_nodes_from(nodes_before);
            return event_result::out_of_range;
        }
        if (was_charged && gives_something_back(record, changed))
            moved(false);
        if (changed.charged() &&
            (!was_charged || !dominates(record.spec.request, changed.spec.request)))
            more_used(record.gang);
        changed.where = acquire(changed.spec.where);
        constraints_.release(record.where);
        record = std::move(changed);
        mark_dirty(gangs_[record.gang.value()]);
        return event_result::applied;
    }

    /// The pod is gone.
    event_result remove_pod(const pod_key& key) {
        const auto known = pod_index_.find(key);
        if (known == pod_index_.end())
            return event_result::unexpected;
        const pod_index index = known->second;
        pod_record& record = pods_[index.value()];
        if (record.charged()) {
            uncharge(record);
            moved(false);
        }
        gang_record& group = gangs_[record.gang.value()];
        std::erase(group.members, index);
        mark_dirty(group);
        constraints_.release(record.where);
        drop_if_unused(record.gang);
        pod_index_.erase(known);
        const std::uint32_t generation = record.generation + 1;
        record = pod_record{};
        record.generation = generation;
        unused_pods_.push_back(index);
        return event_result::applied;
    }

    /// The bind of an assumed pod went through.
    event_result confirm_bound(const pod_key& key) {
        pod_record* record = assumed_pod(key);
        if (!record)
            return event_result::unexpected;
        record->assumed = false;
        record->spec.phase = pod_phase::bound;
        return event_result::applied;
    }

    /// The bind of an assumed pod failed: it is pending again and its room is free.
    event_result forget(const pod_key& key) {
        pod_record* record = assumed_pod(key);
        if (!record)
            return event_result::unexpected;
        uncharge(*record);
        record->node.reset();
        record->assumed = false;
        mark_dirty(gangs_[record->gang.value()]);
        moved(false);
        return event_result::applied;
    }

    // ---- for the cycle -------------------------------------------------------------------------

    /// The accounts, for a plan to write to: what it does not commit it takes back.
    [[nodiscard]] ledger<width>& tentative() noexcept { return ledger_; }

    /// A pod that a committed plan has already charged to `node` is assumed to stand there.
    void assume(pod_index pod, node_index node) noexcept {
        pod_record& record = pods_[pod.value()];
        MUSTER_ASSERT(!record.node && record.spec.phase == pod_phase::pending,
                      "only a pending pod is assumed");
        record.node = node;
        record.assumed = true;
        more_used(record.gang);
    }

    /// Remembers what was answered last.
    void answered(gang_index gang, const standing& what) noexcept {
        gangs_[gang.value()].last = what;
        gangs_[gang.value()].dirty = false;
    }

    /// Nothing that bears on any answer happened since the last cycle that left nothing open.
    [[nodiscard]] bool at_rest() const noexcept { return rested_at_ == changes_; }

    [[nodiscard]] const answer_counts& last_answers() const noexcept { return last_answers_; }

    /// A cycle ended; `nothing_open` when it answered everything within its budget.
    void cycle_ended(const answer_counts& answers, bool nothing_open) noexcept {
        last_answers_ = answers;
        rested_at_ = nothing_open ? changes_ : ~std::uint64_t{0};
    }

private:
    using store::acquire;
    using store::capability_epoch_;
    using store::changes_;
    using store::constraints_;
    using store::drop_if_unused;
    using store::forget_nodes_from;
    using store::gang_index_;
    using store::gangs_;
    using store::intern_gang;
    using store::intern_node;
    using store::intern_queue;
    using store::ledger_;
    using store::mark_dirty;
    using store::moved;
    using store::node_index_;
    using store::nodes_;
    using store::pod_index_;
    using store::pods_;
    using store::queue_index_;
    using store::queues_;
    using store::release_epoch_;
    using store::take_slot;
    using store::unused_pods_;

    static bool is_role(const gang_tree& tree, vertex_index role) noexcept {
        return role.value() < tree.size() && tree.is_leaf(role.value());
    }

    template<class Row>
    static bool refit(const Row& row, const resources<width>& allocatable,
                      resources<width>& free) noexcept {
        resources<width> used;
        return checked_subtract(row.allocatable, row.free, used) &&
               checked_subtract(allocatable, used, free);
    }

    void settle_node(node_index index) {
        constraints_.node_changed(index.value(), nodes_[index.value()]);
        moved(true);
    }

    event_result insert_pod(const pod_key& key, const gang_key& gang, pod_type spec,
                            const std::optional<node_key>& on) {
        pod_record fresh;
        fresh.key = key;
        fresh.gang = intern_gang(gang);
        fresh.spec = std::move(spec);
        const std::size_t nodes_before = nodes_.size();
        if (on)
            fresh.stand_on(intern_node(*on));
        if (fresh.charged() && !charge(fresh)) {
            forget_nodes_from(nodes_before);
            drop_if_unused(fresh.gang);
            return event_result::out_of_range;
        }
        if (fresh.charged())
            more_used(fresh.gang);
        fresh.where = acquire(fresh.spec.where);
        const pod_index index = take_slot(pods_, unused_pods_);
        fresh.generation = pods_[index.value()].generation;
        gang_record& group = gangs_[fresh.gang.value()];
        group.members.push_back(index);
        mark_dirty(group);
        pods_[index.value()] = std::move(fresh);
        pod_index_.emplace(key, index);
        return event_result::applied;
    }

    void more_used(gang_index by) noexcept {
        if (const auto queue = gangs_[by.value()].queue)
            ++queues_[queue->value()].use_epoch;
    }

    [[nodiscard]] bool charge(const pod_record& of) {
        return ledger_.take(*of.node, gangs_[of.gang.value()].queue, of.spec.request,
                            of.spec.where.ports);
    }
    void uncharge(const pod_record& of) noexcept {
        ledger_.give(*of.node, gangs_[of.gang.value()].queue, of.spec.request, of.spec.where.ports);
    }
    void restore(const pod_record& of) {
        const bool restored = charge(of);
        MUSTER_ASSERT(restored, "what was charged a moment ago can be charged again");
        static_cast<void>(restored);
    }

    /// False when the pod keeps all that it held: nobody else can have become able to start.
    [[nodiscard]] static bool gives_something_back(const pod_record& from, const pod_record& to) {
        return !to.charged() || to.node != from.node ||
               !dominates(to.spec.request, from.spec.request) ||
               to.spec.where.ports != from.spec.where.ports;
    }

    /// Moves what the gang's members hold from its queue to the one named; false and nothing
    /// changed when that overflows.
    [[nodiscard]] bool recharge(gang_record& group, const std::optional<queue_key>& to) {
        const auto known = to ? queue_index_.find(*to) : queue_index_.end();
        if (known != queue_index_.end() ? known->second == group.queue : !to && !group.queue)
            return true;
        const bool leaves = group.queue.has_value();
        resources<width> held;
        for (const pod_index member : group.members)
            if (const pod_record& record = pods_[member.value()]; record.charged())
                if (!checked_add(held, record.spec.request, held))
                    return false;
        resources<width> sum = held;
        if (known != queue_index_.end() &&
            !checked_add(ledger_.queues_[known->second.value()].used, held, sum))
            return false;
        if (leaves)
            for (std::size_t column = 0; column < width; ++column)
                ledger_.queues_[group.queue->value()].used[column] -= held[column];
        group.queue.reset();
        if (to) {
            group.queue = intern_queue(*to);
            ledger_.queues_[group.queue->value()].used = sum;
            if (held != resources<width>{})
                ++queues_[group.queue->value()].use_epoch;
        }
        if (leaves && held != resources<width>{})
            moved(false);
        return true;
    }

    [[nodiscard]] static bool well_formed(const gang_tree& tree) noexcept {
        for (std::size_t at = 0; at < tree.size(); ++at) {
            const auto& vertex = tree[at];
            const auto children = static_cast<std::int64_t>(vertex.children);
            const auto required = vertex.min_subgroups.value_or(children);
            if (vertex.min_member < 0 || required < 0 || required > children)
                return false;
        }
        return true;
    }

    [[nodiscard]] pod_record* assumed_pod(const pod_key& key) {
        const auto known = pod_index_.find(key);
        if (known == pod_index_.end() || !pods_[known->second.value()].assumed)
            return nullptr;
        return &pods_[known->second.value()];
    }

    answer_counts last_answers_;
    std::uint64_t rested_at_ = ~std::uint64_t{0};
};

} // namespace muster::inline v0_1
