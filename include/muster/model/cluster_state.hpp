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
#include <muster/model/event_result.hpp>
#include <muster/model/ledger.hpp>
#include <muster/model/pod.hpp>
#include <muster/model/state_budgets.hpp>
#include <muster/model/traits.hpp>

namespace muster {
inline namespace v0_1 {

/// A cluster as far as it is known, whose records have no keys: they are told by their indexes, and
/// where each stands in the order of keys. It is changed only by events, each in the order of what
/// it changed. `state` gives it keys. When memory runs out during an event, the cluster must be
/// dropped and rebuilt.
template<class Traits>
class cluster_state : public state_budgets<Traits::width> {
    using store = state_budgets<Traits::width>;

public:
    using store::width;
    using typename store::node_record;
    using typename store::node_type;
    using typename store::pod_type;
    using typename store::queue_record;
    using typename store::queue_type;

    cluster_state();
    /// `pods_kind` is the column that counts pods: it weighs nothing in placement keys.
    explicit cluster_state(kind_id pods_kind);
    cluster_state(const cluster_state&);
    cluster_state(cluster_state&&) noexcept;
    cluster_state& operator=(const cluster_state&);
    cluster_state& operator=(cluster_state&&) noexcept;
    ~cluster_state();

    // ---- nodes ---------------------------------------------------------------------------------

    /// A node is new or changed. Pods bound before it was known are kept and charged to it. Of one
    /// that is as it was nothing comes.
    /// O(constraint sets + kinds), and 4 bytes moved for each node behind it when it is new.
    event_result set_node(node_index index, node_type spec);

    /// What can be seen to be wrong with a node by itself.
    [[nodiscard]] static event_result check(const node_type& spec) noexcept;
    using store::check;

    /// The node is gone; what stands on it stays charged until its pods are reported gone.
    event_result clear_node(node_index index);

    // ---- gangs ---------------------------------------------------------------------------------

    /// A gang is new or changed. Members may have come before it. O(members).
    event_result set_gang(gang_index index, gang<queue_index> spec);

    /// What can be seen to be wrong with a tree for that gang's members.
    [[nodiscard]] event_result check(gang_index which, const gang_tree& tree) const noexcept;

    /// The group object is gone; members that are left wait for it.
    event_result clear_gang(gang_index which);

    /// The gang has done its work: every member that stands on a node has succeeded, and its room
    /// is free. O(members).
    event_result finish_gang(gang_index which) { return finish(which); }

    // ---- pods ----------------------------------------------------------------------------------

    /// What can be seen to be wrong with a pod of that gang, or of one that is not known yet.
    [[nodiscard]] event_result check(std::optional<gang_index> gang,
                                     const pod_type& spec) const noexcept;

    /// A pod is new, as observed; with `on` it stands on that node, known or not. It comes right
    /// behind that one in the order of keys; `promised` is the place in its gang that is promised
    /// for its key. O(members), and O(nodes) for constraints that no pod had.
    event_result add_pod(pod_index& index, gang_index gang, const pod_type& spec,
                         std::optional<node_index> on, std::optional<pod_index> behind,
                         std::optional<pod_index> promised);

    /// A pod changed, as observed; with `on` it stands on that node, known or not. An assumed pod
    /// that is seen without a node stays assumed. O(log constraint sets), and O(nodes) for
    /// constraints that no pod had.
    event_result change_pod(pod_index index, const pod_type& spec, std::optional<node_index> on);

    /// The pod is gone. O(log pods), and 4 bytes moved for each member behind it.
    void remove_pod(pod_index index);

    // ---- for the cycle -------------------------------------------------------------------------

    /// The accounts, for a plan to write to: what it does not commit it takes back.
    [[nodiscard]] ledger<width>& tentative() noexcept { return ledger_; }

    /// A pod that a committed plan has already charged to `node` is assumed to stand there.
    void assume(pod_index pod, node_index node) {
        stand_assumed(pod, node);
        --gangs_[pods_[pod.value()].gang.value()].placeable;
        more_used(pods_[pod.value()].gang);
    }

    /// The same for pods of one gang; `placed` gives pairs of pod and node.
    template<class Placements>
    void assume_members(gang_index gang, const Placements& placed) {
        for (const auto& [pod, node] : placed)
            stand_assumed(pod, node);
        gangs_[gang.value()].placeable -= placed.size();
        if (!placed.empty())
            more_used(gang);
    }

    /// Remembers what was answered last.
    void answered(gang_index gang, const standing& what) noexcept {
        gang_record& record = gangs_[gang.value()];
        count_out(record);
        record.last = what;
        record.dirty = false;
        if (what.known)
            answers_.add(what.kind);
    }

    /// Calls `use(gang)` for every gang that something happened to since the last time, each once,
    /// and forgets them. The record may have gone, or stand for another gang by now.
    template<class Use>
    void take_changed_gangs(const Use& use) {
        for (const gang_index which : changed_gangs_) {
            gangs_[which.value()].listed = false;
            use(which);
        }
        changed_gangs_.clear();
    }

    /// Where the cycle keeps what it derived from this state.
    [[nodiscard]] attachment& derived() noexcept { return derived_; }

    /// Nothing that bears on any answer happened since the last cycle that left nothing open.
    [[nodiscard]] bool at_rest() const noexcept { return rested_at_ == changes_; }

    /// How many gangs have each answer.
    [[nodiscard]] const answer_counts& last_answers() const noexcept { return answers_; }

    /// A cycle ended; `nothing_open` when it answered everything within its budget.
    void cycle_ended(bool nothing_open) noexcept {
        rested_at_ = nothing_open ? changes_ : ~std::uint64_t{0};
        ++this->cycles_;
    }

private:
    using store::acquire;
    using store::acquire_topologies;
    using store::adopt;
    using store::answers_;
    using store::capability_epoch_;
    using store::changed_gangs_;
    using store::changes_;
    using store::charge;
    using store::constraints_;
    using store::count_out;
    using store::delist;
    using store::derived_;
    using store::disown;
    using store::enlist;
    using store::finish;
    using store::gangs_;
    using store::gives_something_back;
    using store::ledger_;
    using store::mark_dirty;
    using store::more_used;
    using store::move_to_tenant;
    using store::moved;
    using store::nodes_;
    using store::pods_;
    using store::population_;
    using store::queues_;
    using store::recharge;
    using store::refit;
    using store::release_epoch_;
    using store::restore;
    using store::same_to_others;
    using store::shapes_;
    using store::take_slot;
    using store::topologies_;
    using store::uncharge;
    using store::unused_pods_;

    void stand_assumed(pod_index pod, node_index node) {
        pod_record& record = pods_[pod.value()];
        MUSTER_ASSERT(!record.node && record.phase == pod_phase::pending,
                      "only a pending pod is assumed");
        record.node = node;
        record.assumed = true;
        this->stand(record, 1);
        population_.moved();
    }

    static bool is_role(const gang_tree& tree, vertex_index role) noexcept {
        return role.value() < tree.size() && tree.is_leaf(role.value());
    }

    void settle_node(node_index index) {
        constraints_.node_changed(index.value(), nodes_[index.value()]);
        topologies_.node_changed(index, nodes_[index.value()], this->labels_);
        ledger_.note(index, node_change::properties);
    }

    static void take_over(pod_record& into, const pod_type& spec) {
        into.role = spec.role;
        into.created = spec.created;
        if (spec.started || spec.phase == pod_phase::pending)
            into.started = spec.started;
        into.phase = spec.phase;
        into.terminating = spec.terminating;
        into.ready = spec.ready;
    }

    [[nodiscard]] static bool well_formed(const gang_tree& tree) noexcept {
        for (std::size_t at = 0; at < tree.size(); ++at) {
            const auto& vertex = tree[at];
            const auto children = static_cast<std::int64_t>(vertex.children);
            const auto required = vertex.min_subgroups.value_or(children);
            if (vertex.min_member < 0 || required < 0 || required > children ||
                (vertex.together && !muster::well_formed(*vertex.together)))
                return false;
        }
        return true;
    }

    std::uint64_t rested_at_ = ~std::uint64_t{0};
};

/// The classes that a state derives from, for so many kinds: `how` is `template` to compile them,
/// `extern template` if they are compiled elsewhere.
#define MUSTER_STATE_OF(how, kinds)                                                                \
    how class ledger<kinds>;                                                                       \
    how class queue_accounts<kinds>;                                                               \
    how class state_store<kinds>;                                                                  \
    how class state_population<kinds>;                                                             \
    how class state_accounts<kinds>;                                                               \
    how class state_queues<kinds>;                                                                 \
    how class state_departures<kinds>;                                                             \
    how class state_promises<kinds>;                                                               \
    how class state_staleness<kinds>;                                                              \
    how class state_reservations<kinds>;                                                           \
    how class state_budgets<kinds>;

#ifdef MUSTER_SEPARATE_COMPILATION
// The numbers of kinds for which muster::core is compiled.
MUSTER_STATE_OF(extern template, 4)
MUSTER_STATE_OF(extern template, 16)
MUSTER_STATE_OF(extern template, 32)
extern template class cluster_state<core_traits<4>>;
extern template class cluster_state<core_traits<16>>;
extern template class cluster_state<core_traits<32>>;
#endif

} // namespace v0_1
} // namespace muster

#ifndef MUSTER_SEPARATE_COMPILATION
#include <muster/model/cluster_state_inl.hpp>
#endif
