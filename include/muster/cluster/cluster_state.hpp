// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <muster/base/checked.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/cluster/attachment.hpp>
#include <muster/cluster/constraint_table.hpp>
#include <muster/cluster/label_table.hpp>
#include <muster/cluster/ledger.hpp>
#include <muster/cluster/order_labels.hpp>
#include <muster/cluster/pod_population.hpp>
#include <muster/cluster/records.hpp>
#include <muster/cluster/shape_table.hpp>
#include <muster/cluster/topology_table.hpp>
#include <muster/vocabulary/disruption_budget.hpp>
#include <muster/vocabulary/event_result.hpp>
#include <muster/vocabulary/pod.hpp>
#include <muster/vocabulary/reservation.hpp>
#include <muster/vocabulary/traits.hpp>

namespace muster {
inline namespace v0_1 {

/// A cluster as far as it is known. Its records have no keys: they have indexes, and places in the
/// order of keys. `state` gives it keys. Only events change it, each in the order of what it
/// changed. Reading is const and concurrent. When memory runs out during an event, the cluster must
/// be dropped and rebuilt.
template<class Traits>
class cluster_state {
public:
    static constexpr std::size_t width = Traits::width;
    using node_type = muster::node<width>;
    using pod_type = muster::pod<width>;
    using queue_type = muster::queue<width>;
    using node_record = muster::node_record<width>;
    using queue_record = muster::queue_record<width>;
    using reservation_type = reservation<width>;

    cluster_state();
    /// `pods_kind` is the column that counts pods: it weighs nothing in placement keys.
    explicit cluster_state(kind_id pods_kind);
    cluster_state(const cluster_state&);
    cluster_state(cluster_state&&) noexcept;
    cluster_state& operator=(const cluster_state&);
    cluster_state& operator=(cluster_state&&) noexcept;
    ~cluster_state();

    // ---- reading -------------------------------------------------------------------------------

    [[nodiscard]] const ledger<width>& accounts() const noexcept { return ledger_; }
    [[nodiscard]] const constraint_table& constraint_sets() const noexcept { return constraints_; }
    [[nodiscard]] const topology_table& topologies() const noexcept { return topologies_; }
    [[nodiscard]] const shape_table<width>& shapes() const noexcept { return shapes_; }
    [[nodiscard]] const label_table& label_sets() const noexcept { return label_sets_; }
    /// The pods on each node, as far as pod terms need them.
    [[nodiscard]] const pod_population& population() const noexcept { return population_; }
    /// The request of the pod.
    [[nodiscard]] const resources<width>& request(pod_index pod) const noexcept {
        return shapes_[pods_[pod.value()].shape].request;
    }
    /// The placement constraints of the pod.
    [[nodiscard]] const constraint_table::row& where(pod_index pod) const noexcept {
        return constraints_[shapes_[pods_[pod.value()].shape].where];
    }
    /// The pod as an event would report it, without its node.
    [[nodiscard]] pod_type spec_of(pod_index pod) const {
        const pod_record& from = pods_[pod.value()];
        return {from.role,      request(pod), where(pod).value, from.created,
                from.started(), from.phase,   from.terminating, label_sets_[from.labels],
                from.ready};
    }
    /// The time at which the pod will have ended; absent if its gang declares no duration.
    [[nodiscard]] std::optional<std::int64_t> ends(pod_index which) const noexcept;

    /// Nodes in the order of their keys, including absent ones.
    [[nodiscard]] const std::vector<node_index>& node_order() const noexcept { return node_order_; }
    /// The same order as numbers, which new nodes may change.
    [[nodiscard]] const order_labels<node_tag>& node_labels() const noexcept { return labels_; }
    /// Gangs in the order of their keys, including those that only members name.
    [[nodiscard]] const order_labels<gang_tag>& gang_order() const noexcept { return gang_order_; }
    /// Queues in the order of their keys, including those that only gangs name.
    [[nodiscard]] const order_labels<queue_tag>& queue_order() const noexcept {
        return queue_order_;
    }
    /// Pods in the order of their keys, and behind a pod the target of its migration.
    [[nodiscard]] const order_labels<pod_tag>& pod_order() const noexcept { return pod_order_; }
    /// Budgets in the order of their keys.
    [[nodiscard]] const order_labels<budget_tag>& budgets() const noexcept { return budget_order_; }
    /// Reservations in the order in which they were made.
    [[nodiscard]] const std::vector<reservation_type>& reservations() const noexcept {
        return reservations_;
    }

    [[nodiscard]] const node_record& operator[](node_index at) const noexcept {
        return nodes_[at.value()];
    }
    [[nodiscard]] const pod_record& operator[](pod_index at) const noexcept {
        return pods_[at.value()];
    }
    [[nodiscard]] const gang_record& operator[](gang_index at) const noexcept {
        return gangs_[at.value()];
    }
    [[nodiscard]] const queue_record& operator[](queue_index at) const noexcept {
        return queues_[at.value()];
    }
    [[nodiscard]] const disruption_budget& budget(budget_index at) const noexcept {
        return budgets_[at.value()];
    }

    template<class Tag>
    [[nodiscard]] handle<Tag> handle_of(index_of<Tag> at) const noexcept {
        return {at, (*this)[at].generation};
    }
    /// The index of a handle, unless that record has gone since.
    template<class Tag>
    [[nodiscard]] std::optional<index_of<Tag>> resolve(handle<Tag> what) const noexcept {
        return what.index.value() < count_of(what.index) &&
                       (*this)[what.index].generation == what.generation
                   ? std::optional(what.index)
                   : std::nullopt;
    }

    /// Increases with every event that could make a waiting gang fit.
    [[nodiscard]] std::uint64_t release_epoch() const noexcept { return release_epoch_; }
    /// Increases when what the empty cluster could hold may have changed, in either direction.
    [[nodiscard]] std::uint64_t capability_epoch() const noexcept { return capability_epoch_; }
    /// Increases with the capability epoch, except when a node came, has no less than before, or
    /// was cordoned or uncordoned: a gang that could start in the empty cluster still could.
    [[nodiscard]] std::uint64_t loss_epoch() const noexcept { return loss_epoch_; }
    /// Increases with the capability epoch if a queue was the cause.
    [[nodiscard]] std::uint64_t queue_epoch() const noexcept { return queue_epoch_; }
    /// Increases when pods take more, now or later, under a ceiling that binds the queue: its own
    /// or one above. O(depth).
    [[nodiscard]] std::uint64_t use_epoch(queue_index queue) const noexcept;
    /// Increases when a pod became easier to evict, apart from effects of other events.
    [[nodiscard]] std::uint64_t settle_epoch() const noexcept { return settled_; }
    /// Increases with every event that affects any answer.
    [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }
    /// Number of the cycle that runs or comes next, from 1.
    [[nodiscard]] std::uint64_t cycles() const noexcept { return cycles_; }

    /// The number of migrations.
    [[nodiscard]] std::size_t migrations() const noexcept { return migrations_.size(); }
    /// How many gangs have each answer.
    [[nodiscard]] const answer_counts& last_answers() const noexcept { return answers_; }
    /// The column that counts pods, if there is one.
    [[nodiscard]] std::optional<kind_id> pods_kind() const noexcept { return pods_kind_; }

    // ---- names ---------------------------------------------------------------------------------

    /// Add empty records right behind the given ones in the order of keys. For `state`, which knows
    /// the keys.
    node_index name_node(std::optional<node_index> behind);
    queue_index name_queue(std::optional<queue_index> behind);
    gang_index name_gang(std::optional<gang_index> behind);
    budget_index add_budget(std::optional<budget_index> behind);
    /// Remove the record that was added last, because its event was refused.
    void forget_last_node();
    void forget_last_queue();
    /// Removes a gang that neither an object nor a member names; false if one does.
    bool drop_if_unused(gang_index index);

    // ---- events --------------------------------------------------------------------------------

    /// Adds or changes a node. Pods bound before the node was known are kept and charged to it. An
    /// unchanged node is a no-op.
    /// O(constraint sets + kinds), and 4 bytes moved for each node behind it when it is new.
    event_result set_node(node_index index, node_type spec);
    /// Checks a node by itself.
    [[nodiscard]] static event_result check(const node_type& spec) noexcept;
    /// Removes a node; its pods stay charged until they are reported gone.
    event_result clear_node(node_index index);
    /// Sets what decides about `node::devices` and `node_claims::devices`. Without it, no pod that
    /// demands devices is placed. O(1).
    void set_device_rule(device_rule rule);

    /// Adds or changes a queue, below `parent` or at the root. An unknown parent has no limits
    /// until it is known. O(depth), and O(queues × depth) if the nodes that the queues below may
    /// use change.
    event_result set_queue(queue_index index, queue_type spec, std::optional<queue_index> parent);
    /// Checks a queue by itself.
    [[nodiscard]] static event_result check(const queue_type& spec) noexcept;
    /// Removes a queue: its gangs wait, and the queues below it have an unknown parent.
    event_result clear_queue(queue_index which);

    /// Adds or changes a gang. Members may have come before it. O(members).
    event_result set_gang(gang_index index, gang<queue_index> spec);
    /// Checks a tree against the members of the gang.
    [[nodiscard]] event_result check(gang_index which, const gang_tree& tree) const noexcept;
    /// Removes the group object; remaining members wait for it.
    event_result clear_gang(gang_index which);
    /// Finishes a gang: every member on a node has succeeded, and its room is free.
    /// O(members).
    event_result finish_gang(gang_index which);

    /// Checks a pod of the gang, or of a gang that is not known yet.
    [[nodiscard]] event_result check(std::optional<gang_index> gang,
                                     const pod_type& spec) const noexcept;
    /// Adds a pod, as observed; with `on` it is on that node, known or not. `behind`: the pod
    /// before it in the order of keys; `migration_target`: the record of its migration's target in
    /// the gang. O(members), and O(nodes) for constraints that no pod had.
    event_result add_pod(pod_index& index, gang_index gang, const pod_type& spec,
                         std::optional<node_index> on, std::optional<pod_index> behind,
                         std::optional<pod_index> migration_target);
    /// Changes a pod, as observed; with `on` it is on that node, known or not. An assumed pod that
    /// is observed without a node stays assumed. O(log constraint sets), and O(nodes) for
    /// constraints that no pod had.
    event_result change_pod(pod_index index, const pod_type& spec, std::optional<node_index> on);
    /// Removes a pod. O(log pods), and 4 bytes moved for each member behind it.
    void remove_pod(pod_index index);

    /// Budgets for evictions may be reported before or after the pods that they cover.
    event_result set_budget(budget_index which, disruption_budget spec);
    void remove_budget(budget_index which);

    // ---- outcomes of decisions -----------------------------------------------------------------

    /// The bind of an assumed pod succeeded.
    event_result confirm_bound(pod_index pod);
    /// The bind of an assumed pod failed, or the nomination of a pod is withdrawn: the pod is
    /// pending again and its room is free.
    event_result forget(pod_index pod);
    /// Marks a pod with a node as evicted. It is no longer a member, and keeps its room until it is
    /// reported gone or ended; other pods may be nominated to that room.
    event_result evict(pod_index pod);
    /// The eviction of the pod was refused: it stays, and a place that was reserved for its
    /// replacement is given up.
    event_result keep(pod_index pod);
    /// Restores the nomination of a pending pod to `node` by an earlier decision. The room that the
    /// pod requests is reserved even if it exceeds what will be free. Returns `unexpected` if the
    /// node or a pod that waits for one is unknown.
    event_result nominate(pod_index pod, node_index to);
    /// Reserves room on `node` for a gated pod that another scheduler has nominated to it. No other
    /// pod gets the room until the pod is observed again, and no cycle places the pod. Returns
    /// `unexpected` if the pod or the node is unknown, or if the pod is not gated, is terminating
    /// or has a node; `out_of_range` if a sum would overflow. O(1).
    event_result expect(pod_index pod, node_index to);
    /// Evicts a pod, as `evict` does, and reserves room on `node` for its replacement: a pending
    /// member of its gang with the same role, request and constraints, which the next cycle
    /// nominates there. Until then the place counts as a member that holds. `until`: the time at
    /// which an unused place is given up; absent = when the gang is removed. A pod key has at most
    /// one place.
    ///
    /// A place is a member of the gang without a key: it counts as a member that holds, is charged
    /// for its future room and quota, and is passed on to the replacement pod.
    event_result move(pod_index pod, node_index to,
                      std::optional<std::int64_t> until = std::nullopt);

    // ---- for the cycle -------------------------------------------------------------------------

    /// The accounts, for a plan to write to; the plan undoes what it does not commit.
    [[nodiscard]] ledger<width>& tentative() noexcept { return ledger_; }
    /// What the cycle derived from this state and keeps with it.
    [[nodiscard]] attachment& derived() noexcept { return derived_; }

    /// A pod that a committed plan has already charged to `node` is assumed to be there.
    void assume(pod_index pod, node_index node);
    /// The same for pods of one gang; `placed` holds pairs of pod and node.
    template<class Placements>
    void assume_members(gang_index gang, const Placements& placed);
    /// Pods of one gang that a committed plan has nominated already; `placed` gives pairs of pod
    /// and node, in the order of their turns.
    template<class Placements>
    void nominate_members(gang_index gang, const Placements& placed);
    /// A pod that a committed plan has evicted already.
    void mark_evicted(pod_index pod);
    /// Marks pods that a committed plan has moved; `moves` holds pairs of pod and new node.
    template<class Moves>
    void mark_migrating(const Moves& moves, std::optional<std::int64_t> until);
    /// Sets the start time of pods that a committed plan placed.
    template<class Placements>
    void started(const Placements& placed, std::int64_t now) noexcept;

    /// Assumes the nominated members of the gang if there is room for all of them now, on their
    /// nodes and in their queue; otherwise returns false and changes nothing. O(members · log).
    [[nodiscard]] bool assume_nominated(gang_index which);
    /// The gangs with nominated members, in ascending order of priority, then newest first, then in
    /// descending order of keys. O(such gangs · log).
    [[nodiscard]] const std::vector<gang_index>& gangs_with_nominations();
    /// Withdraws the nominations of the gang: its members wait again.
    void forget_nominations(gang_index which);

    /// No migration expires by then.
    [[nodiscard]] bool migrations_at_rest(std::int64_t now) const noexcept;
    /// Nominates replacements of moved pods to the targets of their migrations. Gives up targets
    /// that cannot be used any more: their time is over, their node does not admit them, or the pod
    /// has succeeded. O(migrations · members of their gangs).
    void update_migrations(std::int64_t now);

    /// Reserves room for a waiting gang: other gangs see it as used. Returns false and changes
    /// nothing if a sum leaves int64. O(parts).
    [[nodiscard]] bool reserve(reservation_type made);
    /// Removes all reservations and returns them. O(parts).
    [[nodiscard]] std::vector<reservation_type> lift_reservations();
    /// Removes the reservation of the gang, if there is one.
    void drop_reservation(gang_index owner) noexcept;
    /// Suspends the reservation: it reserves nothing until it is resumed. O(parts).
    void suspend_reservation(std::size_t at) noexcept;
    void resume_reservation(std::size_t at) noexcept;
    /// Adds `more` gangs that started ahead of this one; a negative number resets the count.
    void bypassed(gang_index which, std::int64_t more) noexcept;

    /// Stores the last answer to the gang.
    void answered(gang_index gang, const last_verdict& what) noexcept;
    /// Makes the next cycle ask the gang again.
    void recall(gang_index which) { mark_dirty(which); }
    /// Calls `use(gang)` once for every gang that changed since the last call, and clears the list.
    /// The record may have gone, or be another gang's by now.
    template<class Use>
    void take_changed_gangs(const Use& use);
    /// Calls `use(gang)` for every gang that changed since a cycle cleared the list.
    template<class Use>
    void for_each_changed_gang(const Use& use) const {
        for (const gang_index which : changed_gangs_)
            use(which);
    }

    /// Marks the gang as below its minima: since `now`, unless it was before or says so itself.
    void found_short(gang_index which, std::int64_t now);
    void found_whole(gang_index which) noexcept { gangs_[which.value()].short_since.reset(); }
    /// The gangs that were found below their minima, in the order of keys. O(such gangs · log).
    [[nodiscard]] std::vector<gang_index> short_gangs();
    /// True if no gang has been below its minima for too long by then, as of the last cycle.
    [[nodiscard]] bool stale_at_rest(std::int64_t now) const noexcept {
        return !stale_from_ || now < *stale_from_;
    }
    void stale_seen(std::optional<std::int64_t> next) noexcept { stale_from_ = next; }

    /// True if no pod became easier to evict since `victims_seen`, apart from effects of other
    /// events.
    [[nodiscard]] bool victims_at_rest(std::int64_t now) const noexcept {
        return seen_settled_ == settled_ && (!look_again_ || now < *look_again_);
    }
    /// The preempt phase has run; time alone may change its outcome at `look_again`.
    void victims_seen(std::optional<std::int64_t> look_again) noexcept {
        seen_settled_ = settled_;
        look_again_ = look_again;
    }

    /// True if no event affected any answer since the last cycle that left nothing open.
    [[nodiscard]] bool at_rest() const noexcept { return rested_at_ == changes_; }
    /// Ends a cycle; `nothing_open`: it answered everything within its budget.
    void cycle_ended(bool nothing_open) noexcept {
        rested_at_ = nothing_open ? changes_ : ~std::uint64_t{0};
        ++cycles_;
    }

private:
    struct migration {
        pod_index place;
        std::optional<std::int64_t> until;
    };

    [[nodiscard]] std::size_t count_of(node_index) const noexcept { return nodes_.size(); }
    [[nodiscard]] std::size_t count_of(pod_index) const noexcept { return pods_.size(); }
    [[nodiscard]] std::size_t count_of(gang_index) const noexcept { return gangs_.size(); }
    [[nodiscard]] std::size_t count_of(queue_index) const noexcept { return queues_.size(); }

    // ---- epochs (cluster_state_inl.hpp) --------------------------------------------------------

    void mark_dirty(gang_index which);
    /// What may let a gang start happened; `capability`: also what may change whether one could
    /// ever start; `lost`: what could once start may not any more.
    void moved(bool capability) noexcept { moved(capability, capability); }
    void moved(bool capability, bool lost) noexcept;
    void more_used(gang_index by) noexcept;
    /// A pod became easier to evict.
    void eased() noexcept { ++settled_; }
    void count_out(const gang_record& record) noexcept;

    // ---- nodes, queues and gangs (cluster_objects_inl.hpp) --------------------------------------

    [[nodiscard]] bool refit(node_index index, const resources<width>& allocatable);
    void settle_node(node_index index);
    void place_queue(queue_index index, std::optional<queue_index> above, queue_type spec,
                     bool present);
    [[nodiscard]] label_selector nodes_allowed(queue_index queue) const;
    void allow_nodes(queue_index queue, bool anew);
    [[nodiscard]] bool recharge(gang_index which, std::optional<queue_index> to,
                                bool preemptible = true);
    void leave_queue(const gang_record& group, queue_charge from) noexcept;
    [[nodiscard]] bool enter_queue(const gang_record& group, queue_charge into) noexcept;
    void move_to_tenant(gang_record& group, const label_set& tenant);
    void acquire_topologies(gang_record& of);

    // ---- pods (cluster_pods_inl.hpp) -----------------------------------------------------------

    template<class Change>
    [[nodiscard]] bool transition(pod_index pod, const Change& change);
    template<class Change>
    void settle(pod_index pod, const Change& change);
    [[nodiscard]] bool take(const pod_record& of);
    void give(const pod_record& of) noexcept;
    void count(const pod_record& pod, std::int32_t by);
    void count_pod(const pod_record& pod, std::int32_t by);
    [[nodiscard]] bool gives_something_back(const pod_record& from, const pod_record& to) const;
    [[nodiscard]] bool same_to_others(const pod_record& lhs, const pod_record& rhs) const;
    void adopt(pod_record& pod, const pod_type& spec);
    void disown(const pod_record& pod);
    void enter(const pod_record& pod);
    void leave(const pod_record& pod);
    [[nodiscard]] shape_index acquire_shape(const resources<width>& request,
                                            const constraints& value);
    void release_shape(shape_index shape);
    void know_terms(constraint_index where, const pod_terms& value);
    constraint_index acquire(const constraints& value);
    void enlist(pod_index pod);
    void delist(pod_index pod);
    [[nodiscard]] bool member_less(pod_index lhs, pod_index rhs) const;
    [[nodiscard]] pod_index keep_record(pod_record fresh);
    void drop_record(pod_index which);

    // ---- evictions and nominations (cluster_evictions_inl.hpp) ----------------------------------

    void give_up(pod_index pod);
    [[nodiscard]] event_result stay(pod_index pod);
    [[nodiscard]] bool nominate_on(pod_index pod, node_index node);
    [[nodiscard]] bool gives_way_first(gang_index lhs, gang_index rhs) const;

    // ---- moves (cluster_moves_inl.hpp) ---------------------------------------------------------

    template<class Which>
    void release_places(gang_index gang, const Which& given_up);
    void release_places(gang_index gang);
    void release_orphaned_places(gang_index gang);
    [[nodiscard]] pod_index add_place(pod_index of, node_index to,
                                      std::optional<std::int64_t> until);
    void erase_place(pod_index which);
    void release_place(pod_index place);
    void release_place_of(pod_index pod);
    [[nodiscard]] bool is_void(pod_index which, std::int64_t now) const;
    void hand_over(gang_index which);
    [[nodiscard]] bool takes(pod_index member, const pod_record& place, bool own) const;

    // ---- reservations (cluster_reservations_inl.hpp) --------------------------------------------

    [[nodiscard]] bool hold(const reservation_type& what);
    void let_go(const reservation_type& what) noexcept;

    detail::sequence<node_record> nodes_;
    detail::sequence<pod_record> pods_;
    detail::sequence<gang_record> gangs_;
    detail::sequence<queue_record> queues_;
    std::vector<pod_index> unused_pods_;
    std::vector<gang_index> unused_gangs_;
    std::vector<node_index> node_order_;
    order_labels<node_tag> labels_;
    order_labels<pod_tag> pod_order_;
    order_labels<gang_tag> gang_order_;
    order_labels<queue_tag> queue_order_;
    constraint_table constraints_;
    topology_table topologies_;
    label_table label_sets_;
    pod_population population_;
    shape_table<width> shapes_;
    ledger<width> ledger_;
    std::optional<kind_id> pods_kind_;
    attachment derived_;
    answer_counts answers_;
    /// Gangs that changed since the last query, each once.
    std::vector<gang_index> changed_gangs_;
    /// Gangs that had nominated members when it was looked last, and those that got some since.
    std::vector<gang_index> awaiting_;
    detail::sequence<migration> migrations_;
    std::vector<reservation_type> reservations_;
    /// Gangs that were found below their minima.
    std::vector<gang_index> short_;
    std::vector<disruption_budget> budgets_;
    std::vector<budget_index> unused_budgets_;
    order_labels<budget_tag> budget_order_;
    std::optional<std::int64_t> stale_from_;
    std::optional<std::int64_t> look_again_;
    std::uint64_t changes_ = 0;
    std::uint64_t release_epoch_ = 0;
    std::uint64_t capability_epoch_ = 0;
    std::uint64_t loss_epoch_ = 0;
    std::uint64_t queue_epoch_ = 0;
    std::uint64_t cycles_ = 1;
    std::uint64_t use_clock_ = 0;
    std::uint64_t rested_at_ = ~std::uint64_t{0};
    /// Number of times that pods were confirmed on their nodes. Only the choice of pods to evict
    /// depends on it.
    std::uint64_t settled_ = 1;
    std::uint64_t seen_settled_ = 0;
};

/// The classes of a state that depend on nothing but the number of kinds: `how` is `template` to
/// compile them, `extern template` if they are compiled elsewhere.
#define MUSTER_STATE_OF(how, kinds)                                                                \
    how class ledger<kinds>;                                                                       \
    how class queue_accounts<kinds>;

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
#include <muster/cluster/cluster_state_inl.hpp>
#endif
