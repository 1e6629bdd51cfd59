// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
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
#include <muster/model/traits.hpp>

namespace muster::inline v0_1 {

/// The records of a state and their indexes by key: what is known, without what can happen to it
/// (that is `state`). Reading is const and concurrent.
template<class Traits>
class state_store {
    static_assert(state_traits<Traits>);

public:
    using traits = Traits;
    using node_key = typename Traits::node_key;
    using pod_key = typename Traits::pod_key;
    using gang_key = typename Traits::gang_key;
    using queue_key = typename Traits::queue_key;
    static constexpr std::size_t width = Traits::width;
    using node_type = muster::node<width>;
    using pod_type = muster::pod<width>;
    using gang_type = muster::gang<queue_key>;
    using queue_type = muster::queue<width>;
    using node_record = muster::node_record<Traits>;
    using pod_record = muster::pod_record<Traits>;
    using gang_record = muster::gang_record<Traits>;
    using queue_record = muster::queue_record<Traits>;

    state_store() = default;
    explicit state_store(kind_id pods_kind) : pods_kind_(pods_kind) {}

    [[nodiscard]] const ledger<width>& accounts() const noexcept { return ledger_; }
    [[nodiscard]] const constraint_table& constraint_sets() const noexcept { return constraints_; }
    [[nodiscard]] const topology_table& topologies() const noexcept { return topologies_; }
    [[nodiscard]] const shape_table<width>& shapes() const noexcept { return shapes_; }
    /// What a pod asks for.
    [[nodiscard]] const resources<width>& request(pod_index pod) const noexcept {
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
    [[nodiscard]] const order_labels& node_labels() const noexcept { return labels_; }
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
    /// Gangs by key, those that only their members name among them.
    [[nodiscard]] const auto& gang_keys() const noexcept { return gang_index_; }
    [[nodiscard]] const auto& queue_keys() const noexcept { return queue_index_; }
    [[nodiscard]] const auto& pod_keys() const noexcept { return pod_index_; }

    [[nodiscard]] std::optional<handle<node_tag>> find_node(const node_key& key) const {
        return find(node_index_, nodes_, key);
    }
    [[nodiscard]] std::optional<handle<pod_tag>> find_pod(const pod_key& key) const {
        return find(pod_index_, pods_, key);
    }
    [[nodiscard]] std::optional<handle<gang_tag>> find_gang(const gang_key& key) const {
        return find(gang_index_, gangs_, key);
    }
    [[nodiscard]] std::optional<handle<queue_tag>> find_queue(const queue_key& key) const {
        return find(queue_index_, queues_, key);
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
    template<class Index, class Records, class Key>
    static auto find(const Index& index, const Records& records, const Key& key)
        -> std::optional<handle<typename Records::value_type::tag>> {
        const auto known = index.find(key);
        if (known == index.end())
            return std::nullopt;
        return handle<typename Records::value_type::tag>{known->second,
                                                         records[known->second.value()].generation};
    }

    template<class Records, class Tag>
    static std::optional<index_of<Tag>> resolve(const Records& records, handle<Tag> what) {
        const std::size_t at = what.index.value();
        if (at >= records.size() || records[at].generation != what.generation)
            return std::nullopt;
        return what.index;
    }

    node_index intern_node(const node_key& key) {
        const auto known = node_index_.find(key);
        if (known != node_index_.end())
            return known->second;
        const node_index index{nodes_.size()};
        nodes_.push_back({});
        nodes_.back().key = key;
        ledger_.add_row();
        const auto place = node_index_.emplace(key, index).first;
        const auto next = std::next(place);
        if (next == node_index_.end())
            node_order_.push_back(index);
        else
            node_order_.insert(std::ranges::lower_bound(node_order_, next->first,
                                                        key_less<Traits>{},
                                                        [&](node_index at) -> const node_key& {
                                                            return nodes_[at.value()].key;
                                                        }),
                               index);
        labels_.insert(node_index_, place);
        constraints_.node_changed(index.value(), nodes_.back());
        topologies_.node_changed(index, nodes_.back(), labels_);
        return index;
    }

    /// Takes back the nodes that an event named before it was refused.
    void forget_nodes_from(std::size_t first) {
        for (std::size_t at = nodes_.size(); at-- > first;) {
            node_index_.erase(nodes_[at].key);
            std::erase(node_order_, node_index{at});
            nodes_.pop_back();
            labels_.pop_back();
            ledger_.drop_row();
        }
    }

    queue_index intern_queue(const queue_key& key) {
        const auto known = queue_index_.find(key);
        if (known != queue_index_.end())
            return known->second;
        const queue_index index{queues_.size()};
        queues_.push_back({});
        queues_.back().key = key;
        ledger_.queues_.add();
        queue_index_.emplace(key, index);
        return index;
    }

    /// Takes back the queues that an event named before it was refused.
    void forget_queues_from(std::size_t first) {
        while (queues_.size() > first) {
            queue_index_.erase(queues_.back().key);
            queues_.pop_back();
            ledger_.queues_.drop_last();
        }
    }

    gang_index intern_gang(const gang_key& key) {
        const auto known = gang_index_.find(key);
        if (known != gang_index_.end())
            return known->second;
        const gang_index index = take_slot(gangs_, unused_gangs_);
        gang_record& record = gangs_[index.value()];
        record.key = key;
        record.spec.fault = gang_fault::missing;
        gang_index_.emplace(key, index);
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

    void drop_if_unused(gang_index index) {
        gang_record& record = gangs_[index.value()];
        if (record.present || !record.members.empty())
            return;
        gang_index_.erase(record.key);
        count_out(record);
        const std::uint32_t generation = record.generation + 1;
        const bool listed = record.listed;
        record = gang_record{};
        record.generation = generation;
        record.listed = listed;
        unused_gangs_.push_back(index);
        mark_dirty(index);
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
                fresh.push_back(
                    {vertex_index{at},
                     topologies_.acquire(
                         how->within, node_order_, nodes_.size(), labels_,
                         [this](node_index node) -> const node_record& { return (*this)[node]; }),
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
        const bool before = key_less<Traits>{}(left.key, right.key);
        if (before || left.promised == right.promised)
            return before;
        return right.promised && !key_less<Traits>{}(right.key, left.key);
    }

    [[nodiscard]] auto find_member(std::vector<pod_index>& among, pod_index pod) const {
        return std::ranges::lower_bound(
            among, pod, [this](pod_index lhs, pod_index rhs) { return member_less(lhs, rhs); });
    }

    using less = key_less<Traits>;
    std::map<node_key, node_index, less> node_index_;
    std::map<pod_key, pod_index, less> pod_index_;
    std::map<gang_key, gang_index, less> gang_index_;
    std::map<queue_key, queue_index, less> queue_index_;
    detail::sequence<node_record> nodes_;
    detail::sequence<pod_record> pods_;
    detail::sequence<gang_record> gangs_;
    detail::sequence<queue_record> queues_;
    std::vector<pod_index> unused_pods_;
    std::vector<gang_index> unused_gangs_;
    std::vector<node_index> node_order_;
    order_labels labels_;
    constraint_table constraints_;
    topology_table topologies_;
    label_table label_sets_;
    pod_population population_;
    shape_table<width> shapes_;
    /// Gangs that changed since the last query, each once.
    std::vector<gang_index> changed_gangs_;
    attachment derived_;
    answer_counts answers_;
    ledger<width> ledger_;
    std::optional<kind_id> pods_kind_;
    std::uint64_t changes_ = 0;
    std::uint64_t release_epoch_ = 0;
    std::uint64_t capability_epoch_ = 0;
    std::uint64_t loss_epoch_ = 0;
    std::uint64_t queue_epoch_ = 0;
    std::uint64_t cycles_ = 1;
    std::uint64_t use_clock_ = 0;
};

} // namespace muster::inline v0_1
