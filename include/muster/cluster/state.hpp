// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/vocabulary/disruption_budget.hpp>
#include <muster/vocabulary/event_result.hpp>
#include <muster/vocabulary/gang.hpp>
#include <muster/vocabulary/pod.hpp>
#include <muster/vocabulary/traits.hpp>

namespace muster {
inline namespace v0_1 {

/// A cluster by the caller's keys: each event names its objects by key, is refused when it is
/// wrong, and then leaves the state as it was. Feeding the same objects in any order gives states
/// that decide alike. Distinct states may be used from distinct threads; const calls on one state
/// are concurrent. When memory runs out during an event, the state must be dropped and rebuilt.
template<class Traits>
class state : public cluster_state<core_of<Traits>> {
    static_assert(state_traits<Traits>);
    using store = cluster_state<core_of<Traits>>;
    using less = key_less<Traits>;

public:
    using traits = Traits;
    using node_key = typename Traits::node_key;
    using pod_key = typename Traits::pod_key;
    using gang_key = typename Traits::gang_key;
    using queue_key = typename Traits::queue_key;
    using store::width;
    using gang_type = muster::gang<queue_key>;
    using typename store::node_type;
    using typename store::pod_type;
    using typename store::queue_type;

    state() = default;
    /// `pods_kind` is the column that counts pods: it weighs nothing in placement keys.
    explicit state(kind_id pods_kind) : store(pods_kind) {}

    // ---- keys ----------------------------------------------------------------------------------

    [[nodiscard]] const node_key& key(node_index at) const noexcept {
        return node_names_[at.value()];
    }
    [[nodiscard]] const gang_key& key(gang_index at) const noexcept {
        return gang_names_[at.value()];
    }
    [[nodiscard]] const queue_key& key(queue_index at) const noexcept {
        return queue_names_[at.value()];
    }
    /// Of the target of a migration: the key of the pod that moves.
    [[nodiscard]] const pod_key& key(pod_index at) const noexcept {
        const pod_record& of = (*this)[at];
        return pod_names_[of.migration_target && of.partner ? of.partner->value() : at.value()];
    }

    /// Gangs by key, those that only their members name among them.
    [[nodiscard]] const auto& gang_keys() const noexcept { return gangs_by_key_; }
    [[nodiscard]] const auto& queue_keys() const noexcept { return queues_by_key_; }
    [[nodiscard]] const auto& pod_keys() const noexcept { return pods_by_key_; }
    [[nodiscard]] const auto& budget_keys() const noexcept { return budgets_by_key_; }

    [[nodiscard]] std::optional<handle<node_tag>> find_node(const node_key& key) const {
        return find(nodes_by_key_, key);
    }
    [[nodiscard]] std::optional<handle<pod_tag>> find_pod(const pod_key& key) const {
        return find(pods_by_key_, key);
    }
    [[nodiscard]] std::optional<handle<gang_tag>> find_gang(const gang_key& key) const {
        return find(gangs_by_key_, key);
    }
    [[nodiscard]] std::optional<handle<queue_tag>> find_queue(const queue_key& key) const {
        return find(queues_by_key_, key);
    }

    /// What a gang asks for, as an event would say it.
    [[nodiscard]] gang_type spec_of(gang_index which) const {
        const gang<queue_index>& spec = (*this)[which].spec;
        return with_queue(spec, spec.queue ? std::optional(key(*spec.queue)) : std::nullopt);
    }
    using store::spec_of;

    // ---- nodes ---------------------------------------------------------------------------------

    /// Adds or changes a node. Pods bound before the node was known are kept and charged to it. An
    /// unchanged node is a no-op.
    /// O(constraint sets + kinds), and 4 bytes moved for each node behind it when it is new.
    event_result upsert_node(const node_key& key, node_type spec) {
        if (const event_result bad = store::check(spec); bad != event_result::applied)
            return bad;
        return store::set_node(name_node(key), std::move(spec));
    }
    /// Removes a node; its pods stay charged until they are reported gone.
    event_result remove_node(const node_key& key) {
        const auto found = nodes_by_key_.find(key);
        return found == nodes_by_key_.end() ? event_result::unexpected
                                            : store::clear_node(found->second);
    }

    // ---- queues --------------------------------------------------------------------------------

    /// Adds or changes a queue, below `parent` or at the root. An unknown parent has no limits
    /// until it is known. O(depth), and O(queues × depth) if the nodes that the queues below may
    /// use change.
    event_result upsert_queue(const queue_key& key, queue_type spec,
                              const std::optional<queue_key>& parent = std::nullopt) {
        if (const event_result bad = store::check(spec); bad != event_result::applied)
            return bad;
        const std::size_t before = this->queue_order().size();
        const queue_index index = name_queue(key);
        const auto above = parent ? std::optional(name_queue(*parent)) : std::nullopt;
        const event_result done = store::set_queue(index, std::move(spec), above);
        if (done != event_result::applied)
            forget_queues_from(before);
        return done;
    }
    /// Removes a queue: its gangs wait, and the queues below it have an unknown parent.
    event_result remove_queue(const queue_key& key) {
        const auto found = queues_by_key_.find(key);
        return found == queues_by_key_.end() ? event_result::unexpected
                                             : store::clear_queue(found->second);
    }

    // ---- gangs ---------------------------------------------------------------------------------

    /// Adds or changes a gang. Members may have come before it. O(members).
    event_result upsert_gang(const gang_key& key, gang_type spec) {
        if (const auto found = gangs_by_key_.find(key); found != gangs_by_key_.end())
            if (const event_result bad = store::check(found->second, spec.tree);
                bad != event_result::applied)
                return bad;
        const gang_index index = name_gang(key);
        const std::size_t before = this->queue_order().size();
        const auto queue = spec.queue ? std::optional(name_queue(*spec.queue)) : std::nullopt;
        const event_result done = store::set_gang(index, with_queue(std::move(spec), queue));
        if (done != event_result::applied)
            forget_queues_from(before);
        return done;
    }
    /// Removes the group object; remaining members wait for it.
    event_result remove_gang(const gang_key& key) {
        const auto found = gangs_by_key_.find(key);
        if (found == gangs_by_key_.end())
            return event_result::unexpected;
        const event_result done = store::clear_gang(found->second);
        if (done == event_result::applied)
            forget_if_unused(found->second);
        return done;
    }

    /// Finishes a gang: every member on a node has succeeded, and its room is free.
    /// O(members + log gangs).
    event_result finish_gang(const gang_key& key) {
        const auto found = gangs_by_key_.find(key);
        return found == gangs_by_key_.end() ? event_result::unexpected
                                            : store::finish_gang(found->second);
    }
    /// The same, O(members).
    event_result finish_gang(handle<gang_tag> which) {
        const auto found = this->resolve(which);
        return found ? store::finish_gang(*found) : event_result::unexpected;
    }

    // ---- pods ----------------------------------------------------------------------------------

    /// Adds or changes a pod, as observed; with `on` it is on that node, known or not. An assumed
    /// pod that is observed without a node stays assumed. O(log pods + log constraint sets), and
    /// O(nodes) for constraints that no pod had.
    event_result upsert_pod(const pod_key& key, const gang_key& gang, const pod_type& spec,
                            const std::optional<node_key>& on = std::nullopt) {
        const auto group = gangs_by_key_.find(gang);
        const auto of = group != gangs_by_key_.end() ? std::optional(group->second) : std::nullopt;
        if (const event_result bad = store::check(of, spec); bad != event_result::applied)
            return bad;
        const auto behind = pods_by_key_.lower_bound(key);
        const bool fresh = behind == pods_by_key_.end() || less{}(key, behind->first);
        if (!fresh) {
            const pod_record& record = (*this)[behind->second];
            if (of != record.gang || spec.role != record.role)
                return event_result::immutable;
        }
        const gang_index in = of ? *of : name_gang(gang);
        const std::size_t nodes_before = this->node_order().size();
        const auto where = on ? std::optional(name_node(*on)) : std::nullopt;
        const event_result done = fresh ? add_pod(behind, key, in, spec, where)
                                        : store::change_pod(behind->second, spec, where);
        if (done != event_result::applied) {
            forget_nodes_from(nodes_before);
            forget_if_unused(in);
        }
        return done;
    }

    /// Removes a pod. O(log pods), and 4 bytes moved for each member behind it.
    event_result remove_pod(const pod_key& key) {
        const auto found = pods_by_key_.find(key);
        if (found == pods_by_key_.end())
            return event_result::unexpected;
        const pod_record& record = (*this)[found->second];
        const gang_index gang = record.gang;
        if (record.partner)
            note_migration(key, *record.partner);
        store::remove_pod(found->second);
        pods_by_key_.erase(found);
        forget_if_unused(gang);
        return event_result::applied;
    }

    // ---- outcomes of decisions -----------------------------------------------------------------

    using store::evict;
    using store::expect;
    using store::forget;
    using store::keep;
    using store::move;
    using store::nominate;

    /// The bind of an assumed pod succeeded.
    event_result confirm_bound(const pod_key& key) {
        return with_pod(key, [&](pod_index pod) { return store::confirm_bound(pod); });
    }
    /// The bind of an assumed pod failed, or the nomination of a pod is withdrawn: the pod is
    /// pending again and its room is free.
    event_result forget(const pod_key& key) {
        return with_pod(key, [&](pod_index pod) { return store::forget(pod); });
    }
    /// Evicts a pod that has a node. The pod is no longer a member, and takes its room until it is
    /// reported gone or ended; others may be nominated to come after it.
    event_result evict(const pod_key& key) {
        return with_pod(key, [&](pod_index pod) { return store::evict(pod); });
    }
    /// The eviction of the pod was refused: it stays.
    event_result keep(const pod_key& key) {
        return with_pod(key, [&](pod_index pod) { return store::keep(pod); });
    }
    /// A pod on a node is evicted, as by `evict`, and room on that node is reserved for the pod
    /// that comes for it: a pending member of its gang with the same role, request and constraints,
    /// which the next cycle nominates there. Until then the place counts as a member that holds.
    /// `until`: it is given up at that time, if none came; absent = when the gang is no more. A pod
    /// of that key has one place at most.
    event_result move(const pod_key& key, const node_key& node,
                      std::optional<std::int64_t> until = std::nullopt) {
        return with_pod(key, node,
                        [&](pod_index pod, node_index to) { return store::move(pod, to, until); });
    }
    /// A pending pod is to come to that node when there is room, as an earlier decision said: what
    /// it asks for is kept for it even where that is more than will be free.
    event_result nominate(const pod_key& key, const node_key& node) {
        return with_pod(key, node,
                        [&](pod_index pod, node_index to) { return store::nominate(pod, to); });
    }
    /// A gated pod is to come to that node, as another scheduler has decided: what it asks for is
    /// kept from all others, now and later, until the pod is observed again. No cycle places it.
    event_result expect(const pod_key& key, const node_key& node) {
        return with_pod(key, node,
                        [&](pod_index pod, node_index to) { return store::expect(pod, to); });
    }

    // ---- budgets -------------------------------------------------------------------------------

    /// A budget is new or changed. Its key is one of its own, though of the type of pods' keys.
    /// O(log budgets).
    event_result upsert_budget(const pod_key& key, disruption_budget spec) {
        if (spec.keeps < 0)
            return event_result::out_of_range;
        const auto [place, fresh] = budgets_by_key_.try_emplace(key);
        if (fresh)
            place->second = store::add_budget(previous(budgets_by_key_, place));
        return store::set_budget(place->second, std::move(spec));
    }
    event_result remove_budget(const pod_key& key) {
        const auto found = budgets_by_key_.find(key);
        if (found == budgets_by_key_.end())
            return event_result::unexpected;
        store::remove_budget(found->second);
        budgets_by_key_.erase(found);
        return event_result::applied;
    }

private:
    template<class From, class To>
    [[nodiscard]] static gang<To> with_queue(gang<From> from, std::optional<To> queue) {
        return {std::move(queue),      from.priority,      from.created,     from.duration,
                from.start_by,         from.max_disrupted, from.grace,       from.short_since,
                std::move(from.tree),  from.preemptible,   from.may_preempt, from.fault,
                std::move(from.tenant)};
    }

    template<class Index, class Key>
    [[nodiscard]] auto find(const Index& index, const Key& key) const
        -> std::optional<decltype(this->handle_of(index.begin()->second))> {
        const auto found = index.find(key);
        if (found == index.end())
            return std::nullopt;
        return this->handle_of(found->second);
    }

    template<class Index, class Place>
    [[nodiscard]] static auto previous(const Index& index, Place place) {
        return place == index.begin() ? std::nullopt : std::optional(std::prev(place)->second);
    }

    /// The record of that key, made by `make(the one before it)` when there is none.
    template<class Index, class Names, class Key, class Make>
    static auto name(Index& index, Names& names, const Key& key, const Make& make) {
        const auto [place, fresh] = index.try_emplace(key);
        if (!fresh)
            return place->second;
        place->second = make(previous(index, place));
        if (names.size() <= place->second.value())
            names.resize(place->second.value() + 1);
        names[place->second.value()] = place->first;
        return place->second;
    }
    node_index name_node(const node_key& key) {
        return name(nodes_by_key_, node_names_, key,
                    [this](auto behind) { return store::name_node(behind); });
    }
    queue_index name_queue(const queue_key& key) {
        return name(queues_by_key_, queue_names_, key,
                    [this](auto behind) { return store::name_queue(behind); });
    }
    gang_index name_gang(const gang_key& key) {
        return name(gangs_by_key_, gang_names_, key,
                    [this](auto behind) { return store::name_gang(behind); });
    }

    /// Takes back the nodes that an event named before it was refused.
    void forget_nodes_from(std::size_t first) {
        for (std::size_t at = this->node_order().size(); at-- > first;) {
            nodes_by_key_.erase(node_names_[at]);
            store::forget_last_node();
        }
    }
    void forget_queues_from(std::size_t first) {
        for (std::size_t at = this->queue_order().size(); at-- > first;) {
            queues_by_key_.erase(queue_names_[at]);
            store::forget_last_queue();
        }
    }
    void forget_if_unused(gang_index which) {
        if (store::drop_if_unused(which))
            gangs_by_key_.erase(gang_names_[which.value()]);
    }

    template<class Use>
    event_result with_pod(const pod_key& key, const Use& use) {
        const auto found = pods_by_key_.find(key);
        return found == pods_by_key_.end() ? event_result::unexpected : use(found->second);
    }
    template<class Use>
    event_result with_pod(const pod_key& key, const node_key& node, const Use& use) {
        const auto to = nodes_by_key_.find(node);
        return to == nodes_by_key_.end()
                   ? event_result::unexpected
                   : with_pod(key, [&](pod_index pod) { return use(pod, to->second); });
    }

    /// `behind` is the first pod whose key is greater.
    template<class Place>
    event_result add_pod(Place behind, const pod_key& key, gang_index gang, const pod_type& spec,
                         std::optional<node_index> on) {
        std::optional<pod_index> before = previous(pods_by_key_, behind);
        if (before)
            if (const auto place = (*this)[*before].partner)
                before = place;
        std::optional<pod_index> migration_target;
        if (!migrations_by_key_.empty())
            find_migration(key, gang, before, migration_target);
        pod_index index;
        const event_result done = store::add_pod(index, gang, spec, on, before, migration_target);
        if (done != event_result::applied)
            return done;
        const auto place = pods_by_key_.emplace_hint(behind, key, index);
        if (pod_names_.size() <= index.value())
            pod_names_.resize(index.value() + 1);
        pod_names_[index.value()] = place->first;
        return done;
    }

    // ---- migration targets for keys of which there is no pod -----------------------------------

    void note_migration(pod_key key, pod_index place) {
        erase_if(migrations_by_key_,
                 [this](const auto& each) { return !this->resolve(each.second); });
        migrations_by_key_.push_back({key, this->handle_of(place)});
        if (pod_names_.size() <= place.value())
            pod_names_.resize(place.value() + 1);
        pod_names_[place.value()] = std::move(key);
    }
    /// The place of a new pod among the targets of migrations: before the target for its key, and
    /// behind targets for keys before it; and the target for its key, if any.
    void find_migration(const pod_key& key, gang_index gang, std::optional<pod_index>& before,
                        std::optional<pod_index>& migration_target) {
        for (const auto& [of, which] : migrations_by_key_) {
            const auto place = this->resolve(which);
            if (!place || less{}(key, of))
                continue;
            if (less{}(of, key)) {
                if (!before || this->pod_order().before(*before, *place))
                    before = place;
            } else if ((*this)[*place].gang == gang) {
                migration_target = place;
            }
        }
        if (!migration_target)
            return;
        erase_if(migrations_by_key_,
                 [&](const auto& each) { return this->resolve(each.second) == migration_target; });
    }

    std::map<node_key, node_index, less> nodes_by_key_;
    std::map<pod_key, pod_index, less> pods_by_key_;
    std::map<gang_key, gang_index, less> gangs_by_key_;
    std::map<queue_key, queue_index, less> queues_by_key_;
    std::map<pod_key, budget_index, less> budgets_by_key_;
    detail::sequence<std::pair<pod_key, handle<pod_tag>>> migrations_by_key_;
    /// By index; of records that are gone, what they were called.
    std::vector<node_key> node_names_;
    std::vector<pod_key> pod_names_;
    std::vector<gang_key> gang_names_;
    std::vector<queue_key> queue_names_;
};

} // namespace v0_1
} // namespace muster
