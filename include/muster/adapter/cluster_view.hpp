// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <muster/adapter/sightings.hpp>
#include <muster/base/id.hpp>
#include <muster/cluster/state.hpp>
#include <muster/vocabulary/event_result.hpp>

namespace muster {
inline namespace v0_1 {
namespace adapter {

/// Applies the observed objects of a cluster to a state of the core. A cluster reports objects in
/// the order in which they changed, separately for each stream, and whole listings. The result does
/// not depend on intermediate events.
///
/// The uid identifies an object: an object with another uid than the last one of its name is new,
/// even if the end of the last one was not observed. A listing holds all objects of its kind: those
/// that it lacks are gone. Objects that the core refuses (amounts beyond int64) are left out of the
/// state and listed among the refusals.
///
/// `driver` carries out decisions. Until their effects are observed, the pods stay assumed, however
/// often they are observed without a node. Pods and gangs may be held back: the core then treats
/// their waiting members as gated.
template<class Traits>
class cluster_view {
public:
    using state_type = state<Traits>;
    using node_key = typename Traits::node_key;
    using pod_key = typename Traits::pod_key;
    using gang_key = typename Traits::gang_key;
    using queue_key = typename Traits::queue_key;

    /// What is known of a pod beside what the state knows.
    struct pod_facts {
        object_uid uid;
        gang_key gang{};
        /// As observed.
        pod_phase phase = pod_phase::pending;
        std::optional<node_key> on;
        /// Its bind is on its way, and the state has it there as if it had been seen.
        std::optional<node_key> carried;
        bool ours = true;
        bool own_gate = false;
        bool unbound_volumes = false;
        bool held = false;
        /// When it is to end, and when that is looked at next. Wall clock.
        std::optional<std::int64_t> ends{};
        std::int64_t listed_end = 0;
        std::uint64_t mark = 0;
    };
    /// What is known of a gang beside what the state knows.
    struct gang_facts {
        object_uid uid;
        /// Its minima were reached once, as observed.
        bool reached = false;
        /// The cluster stores that value.
        bool kept = false;
        std::uint64_t mark = 0;
    };

    /// The state outlives the view, and is changed by events through it alone.
    explicit cluster_view(state_type& known) : known_(&known) {}

    [[nodiscard]] const state_type& known() const noexcept { return *known_; }
    [[nodiscard]] state_type& known() noexcept { return *known_; }

    // ---- for the cluster -----------------------------------------------------------------------

    /// Until `end_listing`, all objects of the kind are reported, and none of its events.
    void begin_listing(object_kind kind) noexcept { ++mark(kind); }
    /// All that were not told since `begin_listing` are gone.
    void end_listing(object_kind kind) {
        switch (kind) {
        case object_kind::node:
            return sweep(nodes_, kind, [this](const node_key& key) { node_gone(key); });
        case object_kind::queue:
            return sweep(queues_, kind, [this](const queue_key& key) { queue_gone(key); });
        case object_kind::gang:
            return sweep(gangs_, kind, [this](const gang_key& key) { gang_gone(key); });
        case object_kind::pod:
            return sweep(pods_, kind, [this](const pod_key& key) { pod_gone(key); });
        }
    }

    /// A node is new or changed.
    void node(const node_key& key, muster::node<Traits::width> spec) {
        nodes_[key] = mark(object_kind::node);
        if (!taken(known_->upsert_node(key, std::move(spec)), key, refusals_.nodes))
            static_cast<void>(known_->remove_node(key));
        for (const auto& [pod, to] : nominated_)
            if (to == key)
                static_cast<void>(known_->expect(pod, to));
    }
    void node_gone(const node_key& key) {
        nodes_.erase(key);
        refusals_.nodes.erase(key);
        static_cast<void>(known_->remove_node(key));
    }

    /// A queue is new or changed.
    void queue(const queue_key& key, muster::queue<Traits::width> spec,
               const std::optional<queue_key>& parent = std::nullopt) {
        queues_[key] = mark(object_kind::queue);
        if (!taken(known_->upsert_queue(key, std::move(spec), parent), key, refusals_.queues))
            static_cast<void>(known_->remove_queue(key));
    }
    void queue_gone(const queue_key& key) {
        queues_.erase(key);
        refusals_.queues.erase(key);
        static_cast<void>(known_->remove_queue(key));
    }

    /// A budget is new or changed. It applies from now on.
    void budget(const pod_key& key, disruption_budget spec) {
        static_cast<void>(known_->upsert_budget(key, std::move(spec)));
    }
    void budget_gone(const pod_key& key) { static_cast<void>(known_->remove_budget(key)); }

    /// A gang is new or changed. When its tree has other vertices than before, all of its members
    /// must be reported again, with their roles in it, before `observe` returns.
    void gang(const gang_key& key, seen_gang<Traits> seen) {
        auto [at, fresh] = gangs_.try_emplace(key);
        gang_facts& facts = at->second;
        if (fresh || facts.uid != seen.uid)
            facts = {std::move(seen.uid), false, false, 0};
        facts.kept = seen.reached.has_value();
        facts.reached = facts.reached || seen.reached.value_or(false);
        facts.mark = mark(object_kind::gang);
        touched_.insert(key);
        event_result result = known_->upsert_gang(key, seen.spec);
        if (result == event_result::no_such_role) {
            move_members(key, seen.spec.tree);
            result = known_->upsert_gang(key, std::move(seen.spec));
        }
        if (!taken(result, key, refusals_.gangs))
            static_cast<void>(known_->remove_gang(key));
    }
    void gang_gone(const gang_key& key) {
        gangs_.erase(key);
        refusals_.gangs.erase(key);
        touched_.insert(key);
        static_cast<void>(known_->remove_gang(key));
    }

    /// A pod is new or changed.
    void pod(const pod_key& key, const seen_pod<Traits>& seen) {
        if (const pod_facts* const old = find_pod(key); old != nullptr && old->uid != seen.uid)
            pod_gone(key);
        const bool comes = !seen.ours && !seen.on && seen.nominated &&
                           seen.spec.phase == pod_phase::pending && !seen.spec.terminating;
        if (!seen.ours && !seen.on && !comes)
            return pod_gone(key);
        const auto [at, fresh] = pods_.try_emplace(key);
        pod_facts& facts = at->second;
        if (!fresh)
            touched_.insert(facts.gang);
        facts.uid = seen.uid;
        facts.gang = seen.gang;
        facts.phase = seen.spec.phase;
        facts.on = seen.on;
        facts.ours = seen.ours;
        facts.own_gate = seen.own_gate;
        facts.unbound_volumes = seen.unbound_volumes;
        facts.mark = mark(object_kind::pod);
        set_end(key, facts, seen.ours && seen.on ? seen.ends : std::nullopt);
        if (seen.on)
            facts.carried.reset();
        touched_.insert(seen.gang);
        muster::pod<Traits::width> spec = seen.spec;
        facts.phase = comes ? pod_phase::gated : facts.phase;
        spec.phase = phase_for_core(facts);
        put(key, facts, std::move(spec));
        nominated_.erase(key);
        if (comes) {
            nominated_.emplace(key, *seen.nominated);
            static_cast<void>(known_->expect(key, *seen.nominated));
        }
    }
    void pod_gone(const pod_key& key) {
        const auto at = pods_.find(key);
        refusals_.pods.erase(key);
        if (at == pods_.end())
            return;
        touched_.insert(at->second.gang);
        static_cast<void>(known_->remove_pod(key));
        set_end(key, at->second, std::nullopt);
        nominated_.erase(key);
        pods_.erase(at);
    }

    // ---- for the driver ------------------------------------------------------------------------

    /// Returns nullptr if the pod is unknown. Pods of other schedulers are known only while they
    /// have a node or are nominated to one.
    [[nodiscard]] const pod_facts* find_pod(const pod_key& key) const {
        const auto at = pods_.find(key);
        return at == pods_.end() ? nullptr : &at->second;
    }
    /// The pod of that name, if it is the one with this uid.
    [[nodiscard]] const pod_facts* find_pod(const pod_key& key, const object_uid& uid) const {
        const pod_facts* const found = find_pod(key);
        return found != nullptr && found->uid == uid ? found : nullptr;
    }
    [[nodiscard]] const gang_facts* find_gang(const gang_key& key) const {
        const auto at = gangs_.find(key);
        return at == gangs_.end() ? nullptr : &at->second;
    }
    [[nodiscard]] const auto& pods() const noexcept { return pods_; }
    [[nodiscard]] const auto& gangs() const noexcept { return gangs_; }
    [[nodiscard]] const auto& nodes() const noexcept { return nodes_; }

    /// Pods that are as old by now as they may get, in the order in which they came to be. Those
    /// that are still there at `again` are given again.
    [[nodiscard]] std::vector<pod_key> take_ended(std::int64_t wall, std::int64_t again) {
        std::vector<pod_key> ended;
        while (!ends_.empty() && ends_.begin()->first <= wall) {
            const pod_key key = ends_.begin()->second;
            ends_.erase(ends_.begin());
            ends_.emplace(again, key);
            pods_.at(key).listed_end = again;
            ended.push_back(key);
        }
        return ended;
    }

    /// Its minima were observed to be reached.
    void mark_reached(const gang_key& key) {
        if (const auto at = gangs_.find(key); at != gangs_.end())
            at->second.reached = true;
    }

    /// The bind of an assumed pod came to nothing: it waits again.
    void release(const pod_key& key) {
        const auto at = pods_.find(key);
        if (at == pods_.end())
            return;
        touched_.insert(at->second.gang);
        if (at->second.carried) {
            at->second.carried.reset();
            reconsider(key, at->second);
        } else if (known_->forget(key) == event_result::applied) {
            reconsider_waiting(key, at->second);
        }
    }

    /// The server says that the pod is assigned to that node, which is still to be seen.
    void told_of(const pod_key& key, const node_key& node) {
        const auto at = pods_.find(key);
        if (at == pods_.end() || at->second.on)
            return;
        at->second.carried = node;
        touched_.insert(at->second.gang);
        reconsider(key, at->second);
    }

    /// A pod that waits is kept out of decisions, until it is let go or gone.
    void hold_pod(const pod_key& key) { set_held(key, true); }
    void let_go_pod(const pod_key& key) { set_held(key, false); }
    /// The same for all members of a gang that wait, and those to come.
    void hold_gang(const gang_key& key) {
        if (held_.insert(key).second)
            reconsider_members(key);
    }
    void let_go_gang(const gang_key& key) {
        if (held_.erase(key) > 0)
            reconsider_members(key);
    }
    [[nodiscard]] bool holds_gang(const gang_key& key) const { return held_.contains(key); }

    /// The gangs that something was seen of since this was asked last, in the order of keys.
    [[nodiscard]] auto take_touched() { return std::exchange(touched_, {}); }
    void touch(const gang_key& key) { touched_.insert(key); }

    /// What the core could not take in, and why, until it can or it is gone. A pod among them that
    /// has a node takes nothing of it as far as the core knows.
    struct refusals {
        std::map<node_key, event_result, key_less<Traits>> nodes;
        std::map<queue_key, event_result, key_less<Traits>> queues;
        std::map<gang_key, event_result, key_less<Traits>> gangs;
        std::map<pod_key, event_result, key_less<Traits>> pods;
    };
    [[nodiscard]] const refusals& refused() const noexcept { return refusals_; }

private:
    using pod_map = std::map<pod_key, pod_facts, key_less<Traits>>;

    template<class Key, class Refused>
    static bool taken(event_result what, const Key& key, Refused& refused) {
        if (what == event_result::applied)
            refused.erase(key);
        else
            refused.insert_or_assign(key, what);
        return what == event_result::applied;
    }

    /// Moves with every listing of the kind; objects carry the one at which they were told last.
    [[nodiscard]] std::uint64_t& mark(object_kind kind) noexcept {
        return marks_[static_cast<std::size_t>(kind)];
    }
    [[nodiscard]] static std::uint64_t mark_of(std::uint64_t told) noexcept { return told; }
    template<class Facts>
    [[nodiscard]] static std::uint64_t mark_of(const Facts& facts) noexcept {
        return facts.mark;
    }
    template<class Map, class Gone>
    void sweep(Map& all, object_kind kind, const Gone& gone) {
        std::vector<typename Map::key_type> left_out;
        for (const auto& [key, facts] : all)
            if (mark_of(facts) != mark(kind))
                left_out.push_back(key);
        for (const auto& key : left_out)
            gone(key);
    }

    [[nodiscard]] pod_phase phase_for_core(const pod_facts& of) const {
        const bool kept_out = of.phase == pod_phase::pending && !of.on && !of.carried &&
                              (of.held || held_.contains(of.gang));
        return kept_out ? pod_phase::gated : of.phase;
    }

    /// Where the state is to have it: an assumed one that it takes out and in again stays there.
    [[nodiscard]] static const std::optional<node_key>& place_of(const pod_facts& of) noexcept {
        return of.on ? of.on : of.carried;
    }

    [[nodiscard]] static vertex_index first_leaf(const gang_tree& tree) noexcept {
        std::size_t at = 0;
        while (!tree.is_leaf(at))
            ++at;
        return vertex_index{at};
    }

    void put(const pod_key& key, pod_facts& facts, muster::pod<Traits::width> spec) {
        event_result result = known_->upsert_pod(key, facts.gang, spec, place_of(facts));
        if (result == event_result::immutable || result == event_result::no_such_role) {
            take_out(key, facts);
            result = known_->upsert_pod(key, facts.gang, spec, place_of(facts));
        }
        if (result == event_result::no_such_role) {
            // It is not known where it belongs, but what it takes counts.
            spec.role = first_leaf((*known_)[known_->find_gang(facts.gang)->index].spec.tree);
            spec.where.unsupported = true;
            result = known_->upsert_pod(key, facts.gang, spec, place_of(facts));
        }
        if (!taken(result, key, refusals_.pods))
            static_cast<void>(known_->remove_pod(key));
    }

    /// Takes it out of the state; where its bind was on its way is remembered.
    void take_out(const pod_key& key, pod_facts& facts) {
        const auto found = known_->find_pod(key);
        if (!found)
            return;
        const auto& record = (*known_)[found->index];
        if (record.assumed && record.node)
            facts.carried = known_->key(*record.node);
        static_cast<void>(known_->remove_pod(key));
    }

    /// The gang's tree is about to have other vertices. Moves its members to the first leaf until
    /// they are reported again.
    void move_members(const gang_key& key, const gang_tree& tree) {
        const auto gang = known_->find_gang(key);
        if (!gang)
            return;
        std::vector<std::pair<pod_key, muster::pod<Traits::width>>> members;
        for (const pod_index member : (*known_)[gang->index].members)
            if (!(*known_)[member].migration_target)
                members.emplace_back(known_->key(member), known_->spec_of(member));
        for (const auto& [pod, spec] : members)
            take_out(pod, pods_.at(pod));
        // Without members any tree will do.
        seen_gang<Traits> bare;
        bare.spec.tree = tree;
        static_cast<void>(known_->upsert_gang(key, std::move(bare.spec)));
        for (auto& [pod, spec] : members) {
            spec.role = first_leaf(tree);
            put(pod, pods_.at(pod), std::move(spec));
        }
    }

    /// Records the end time of the pod. A changed time replaces the earlier one of the same end.
    void set_end(const pod_key& key, pod_facts& facts, std::optional<std::int64_t> when) {
        if (facts.ends == when)
            return;
        if (facts.ends) {
            auto [at, past] = ends_.equal_range(facts.listed_end);
            while (at != past && !(at->second == key))
                ++at;
            if (at != past)
                ends_.erase(at);
        }
        facts.ends = when;
        if (when) {
            facts.listed_end = *when;
            ends_.emplace(*when, key);
        }
    }

    /// Updates the state after the phase or the node of a pod changed.
    void reconsider(const pod_key& key, pod_facts& facts) {
        const auto found = known_->find_pod(key);
        if (!found)
            return;
        muster::pod<Traits::width> spec = known_->spec_of(found->index);
        spec.phase = phase_for_core(facts);
        put(key, facts, std::move(spec));
    }

    void set_held(const pod_key& key, bool held) {
        const auto at = pods_.find(key);
        if (at == pods_.end() || at->second.held == held)
            return;
        at->second.held = held;
        touched_.insert(at->second.gang);
        reconsider_waiting(key, at->second);
    }

    void reconsider_waiting(const pod_key& key, pod_facts& facts) {
        const auto found = known_->find_pod(key);
        if (!found || (*known_)[found->index].assumed || place_of(facts) ||
            facts.phase != pod_phase::pending)
            return;
        reconsider(key, facts);
    }

    void reconsider_members(const gang_key& key) {
        touched_.insert(key);
        const auto gang = known_->find_gang(key);
        if (!gang)
            return;
        std::vector<pod_key> members;
        for (const pod_index member : (*known_)[gang->index].members)
            if (!(*known_)[member].migration_target)
                members.push_back(known_->key(member));
        for (const pod_key& each : members)
            reconsider_waiting(each, pods_.at(each));
    }

    state_type* known_;
    pod_map pods_;
    /// Nodes that pods of other schedulers are nominated to, whether the nodes are known or not.
    std::map<pod_key, node_key, key_less<Traits>> nominated_;
    std::map<gang_key, gang_facts, key_less<Traits>> gangs_;
    std::map<node_key, std::uint64_t, key_less<Traits>> nodes_;
    std::map<queue_key, std::uint64_t, key_less<Traits>> queues_;
    std::set<gang_key, key_less<Traits>> held_;
    std::set<gang_key, key_less<Traits>> touched_;
    refusals refusals_;
    /// Pods by when they are to end. Wall clock.
    std::multimap<std::int64_t, pod_key> ends_;
    std::array<std::uint64_t, object_kinds> marks_{};
};

} // namespace adapter
} // namespace v0_1
} // namespace muster
