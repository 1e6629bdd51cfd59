// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/base/id.hpp>
#include <muster/base/sequence.hpp>
#include <muster/model/attachment.hpp>
#include <muster/model/constraint_table.hpp>
#include <muster/model/label_table.hpp>
#include <muster/model/ledger.hpp>
#include <muster/model/order_labels.hpp>
#include <muster/model/pod_population.hpp>
#include <muster/model/records.hpp>
#include <muster/model/shape_table.hpp>
#include <muster/model/topology_table.hpp>

namespace muster {
inline namespace v0_1 {

/// The records of a cluster: what is known, without what can happen to it (that is `cluster`). No
/// record has a key here; what keys there are tell only in which order they stand. Reading is const
/// and concurrent.
template<std::size_t Width>
class state_store {
public:
    static constexpr std::size_t width = Width;
    using node_type = muster::node<Width>;
    using pod_type = muster::pod<Width>;
    using queue_type = muster::queue<Width>;
    using node_record = muster::node_record<Width>;
    using queue_record = muster::queue_record<Width>;

    state_store() = default;
    explicit state_store(kind_id pods_kind) : pods_kind_(pods_kind) {}

    [[nodiscard]] const ledger<Width>& accounts() const noexcept { return ledger_; }
    [[nodiscard]] const constraint_table& constraint_sets() const noexcept { return constraints_; }
    [[nodiscard]] const topology_table& topologies() const noexcept { return topologies_; }
    [[nodiscard]] const shape_table<Width>& shapes() const noexcept { return shapes_; }
    /// What a pod asks for.
    [[nodiscard]] const resources<Width>& request(pod_index pod) const noexcept {
        return shapes_[pods_[pod.value()].shape].request;
    }
    /// All that is known of a pod but where it stands, as an event would say it.
    [[nodiscard]] pod_type spec_of(pod_index pod) const {
        const pod_record& from = pods_[pod.value()];
        return {from.role,  request(pod),     where(pod).value,         from.created, from.started,
                from.phase, from.terminating, label_sets_[from.labels], from.ready};
    }
    /// The pods on each node, as far as pod terms need them.
    [[nodiscard]] const pod_population& population() const noexcept { return population_; }
    [[nodiscard]] const label_table& label_sets() const noexcept { return label_sets_; }
    /// Where a pod may stand.
    [[nodiscard]] const constraint_table::row& where(pod_index pod) const noexcept {
        return constraints_[shapes_[pods_[pod.value()].shape].where];
    }
    /// Nodes in the order of their keys, absent ones among them.
    [[nodiscard]] const std::vector<node_index>& node_order() const noexcept { return node_order_; }
    /// The same order as numbers, which newcomers may change.
    [[nodiscard]] const order_labels<node_tag>& node_labels() const noexcept { return labels_; }
    /// Gangs in the order of their keys, those that only their members name among them.
    [[nodiscard]] const order_labels<gang_tag>& gang_order() const noexcept { return gang_order_; }
    /// Queues in the order of their keys, those that only their gangs name among them.
    [[nodiscard]] const order_labels<queue_tag>& queue_order() const noexcept {
        return queue_order_;
    }
    /// Pods in the order of their keys, and behind a pod the place that is promised for its key.
    [[nodiscard]] const order_labels<pod_tag>& pod_order() const noexcept { return pod_order_; }
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
    [[nodiscard]] handle<node_tag> handle_of(node_index at) const noexcept {
        return {at, nodes_[at.value()].generation};
    }
    [[nodiscard]] handle<pod_tag> handle_of(pod_index at) const noexcept {
        return {at, pods_[at.value()].generation};
    }
    [[nodiscard]] handle<gang_tag> handle_of(gang_index at) const noexcept {
        return {at, gangs_[at.value()].generation};
    }
    [[nodiscard]] handle<queue_tag> handle_of(queue_index at) const noexcept {
        return {at, queues_[at.value()].generation};
    }

    /// The index that a handle stands for, unless that record has gone since.
    [[nodiscard]] std::optional<node_index> resolve(handle<node_tag> what) const {
        return resolve(nodes_, what);
    }
    [[nodiscard]] std::optional<pod_index> resolve(handle<pod_tag> what) const {
        return resolve(pods_, what);
    }
    [[nodiscard]] std::optional<gang_index> resolve(handle<gang_tag> what) const {
        return resolve(gangs_, what);
    }
    [[nodiscard]] std::optional<queue_index> resolve(handle<queue_tag> what) const {
        return resolve(queues_, what);
    }

    /// Moves whenever something happened that could make a waiting gang fit.
    [[nodiscard]] std::uint64_t release_epoch() const noexcept { return release_epoch_; }
    /// Moves whenever what the emptied cluster could hold may have changed, either way.
    [[nodiscard]] std::uint64_t capability_epoch() const noexcept { return capability_epoch_; }
    /// Moves with the capability epoch, but not when a node came, has no less than before, or was
    /// cordoned or uncordoned: whatever could start by what the emptied cluster holds still could.
    [[nodiscard]] std::uint64_t loss_epoch() const noexcept { return loss_epoch_; }

    /// Moves with the capability epoch when a queue was the cause.
    [[nodiscard]] std::uint64_t queue_epoch() const noexcept { return queue_epoch_; }
    /// The number of the cycle that goes on or comes next, from 1.
    [[nodiscard]] std::uint64_t cycles() const noexcept { return cycles_; }

    /// Moves whenever pods took more, now or for later, under a ceiling that binds the queue, its
    /// own or one above.
    /// O(depth).
    [[nodiscard]] std::uint64_t use_epoch(queue_index queue) const noexcept {
        std::uint64_t newest = 0;
        for (std::optional<queue_index> at = queue; at; at = queues_[at->value()].parent)
            if (const auto& spec = queues_[at->value()].spec;
                spec.quota.any() || spec.firm_quota.any())
                newest = std::max(newest, queues_[at->value()].use_epoch);
        return newest;
    }

    /// The column that counts pods, if there is one.
    [[nodiscard]] std::optional<kind_id> pods_kind() const noexcept { return pods_kind_; }

protected:
    template<class Records, class Tag>
    static std::optional<index_of<Tag>> resolve(const Records& records, handle<Tag> what) {
        const std::size_t at = what.index.value();
        if (at >= records.size() || records[at].generation != what.generation)
            return std::nullopt;
        return what.index;
    }

    /// A node of which nothing but its place in the order of keys is known.
    node_index name_node(std::optional<node_index> behind) {
        const node_index index{nodes_.size()};
        nodes_.push_back({});
        ledger_.add_row();
        labels_.insert(index, behind);
        if (labels_.last() == index)
            node_order_.push_back(index);
        else
            node_order_.insert(std::ranges::lower_bound(node_order_, index,
                                                        [this](node_index lhs, node_index rhs) {
                                                            return labels_.before(lhs, rhs);
                                                        }),
                               index);
        constraints_.node_changed(index.value(), nodes_.back());
        topologies_.node_changed(index, nodes_.back(), labels_);
        return index;
    }
    /// The node named last is forgotten: the event that named it was refused.
    void forget_last_node() {
        const node_index last{nodes_.size() - 1};
        std::erase(node_order_, last);
        labels_.erase(last);
        nodes_.pop_back();
        ledger_.drop_row();
    }

    queue_index name_queue(std::optional<queue_index> behind) {
        const queue_index index{queues_.size()};
        queues_.push_back({});
        ledger_.queues_.add();
        queue_order_.insert(index, behind);
        return index;
    }
    /// As for nodes.
    void forget_last_queue() {
        queue_order_.erase(queue_index{queues_.size() - 1});
        queues_.pop_back();
        ledger_.queues_.drop_last();
    }

    gang_index name_gang(std::optional<gang_index> behind) {
        const gang_index index = take_slot(gangs_, unused_gangs_);
        gangs_[index.value()].spec.fault = gang_fault::missing;
        gang_order_.insert(index, behind);
        mark_dirty(index);
        return index;
    }

    /// Its last answer counts no more.
    void count_out(const gang_record& record) noexcept {
        if (record.last.known)
            answers_.remove(record.last.kind);
    }

    template<class Records, class Index>
    static Index take_slot(Records& records, std::vector<Index>& unused) {
        if (unused.empty()) {
            records.push_back({});
            return Index{records.size() - 1};
        }
        const Index index = unused.back();
        unused.pop_back();
        return index;
    }

    /// Forgets a gang that neither an object nor a member names; false when one does.
    bool drop_if_unused(gang_index index) {
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

    constraint_index acquire(const constraints& value) {
        return constraints_.acquire(
            value, nodes_.size(),
            [this](std::size_t at) -> const node_record& { return nodes_[at]; });
    }

    /// Interns the topologies that the gang's tree names; those it had are given back.
    void acquire_topologies(gang_record& of) {
        std::vector<vertex_topology> fresh;
        for (std::size_t at = 0; at < of.spec.tree.size(); ++at)
            if (const auto& how = of.spec.tree[at].together; how && well_formed(*how))
                fresh.push_back({vertex_index{at},
                                 topologies_.acquire(how->within, nodes_.size(), labels_,
                                                     [this](node_index node) -> const node_record& {
                                                         return (*this)[node];
                                                     }),
                                 how->required, how->preferred});
        for (const vertex_topology& old : of.together)
            topologies_.release(old.within);
        of.together = std::move(fresh);
    }

    /// Puts a member in its place among the gang's. O(log members), and 4 bytes moved for each
    /// member behind it.
    void enlist(pod_index pod) {
        std::vector<pod_index>& members = gangs_[pods_[pod.value()].gang.value()].members;
        if (members.empty() || member_less(members.back(), pod))
            members.push_back(pod);
        else
            members.insert(find_member(members, pod), pod);
    }

    void delist(pod_index pod) {
        std::vector<pod_index>& members = gangs_[pods_[pod.value()].gang.value()].members;
        if (!members.empty() && members.back() == pod) {
            members.pop_back();
            return;
        }
        const auto place = find_member(members, pod);
        MUSTER_ASSERT(place != members.end() && *place == pod, "a member is in its gang's list");
        members.erase(place);
    }

    void mark_dirty(gang_index which) {
        gang_record& record = gangs_[which.value()];
        record.dirty = true;
        ++changes_;
        if (record.listed)
            return;
        record.listed = true;
        changed_gangs_.push_back(which);
    }

    /// What may let a gang start happened; `capability`: also what may change whether one could
    /// ever start; `lost`: what could once start may not any more.
    void moved(bool capability) noexcept { moved(capability, capability); }
    void moved(bool capability, bool lost) noexcept {
        ++changes_;
        ++release_epoch_;
        capability_epoch_ += capability ? 1U : 0U;
        loss_epoch_ += lost ? 1U : 0U;
    }

    [[nodiscard]] bool member_less(pod_index lhs, pod_index rhs) const {
        const pod_record& left = pods_[lhs.value()];
        const pod_record& right = pods_[rhs.value()];
        if (left.role != right.role)
            return left.role < right.role;
        if (left.created != right.created)
            return left.created < right.created;
        return pod_order_.before(lhs, rhs);
    }

    [[nodiscard]] auto find_member(std::vector<pod_index>& among, pod_index pod) const {
        return std::ranges::lower_bound(
            among, pod, [this](pod_index lhs, pod_index rhs) { return member_less(lhs, rhs); });
    }

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
    shape_table<Width> shapes_;
    /// Gangs that changed since the last query, each once.
    std::vector<gang_index> changed_gangs_;
    attachment derived_;
    answer_counts answers_;
    ledger<Width> ledger_;
    std::optional<kind_id> pods_kind_;
    std::uint64_t changes_ = 0;
    std::uint64_t release_epoch_ = 0;
    std::uint64_t capability_epoch_ = 0;
    std::uint64_t loss_epoch_ = 0;
    std::uint64_t queue_epoch_ = 0;
    std::uint64_t cycles_ = 1;
    std::uint64_t use_clock_ = 0;
};

} // namespace v0_1
} // namespace muster
