// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <muster/base/id.hpp>
#include <muster/cluster/allocation.hpp>
#include <muster/cluster/label_table.hpp>
#include <muster/cluster/pod_population.hpp>
#include <muster/cluster/queue_accounts.hpp>
#include <muster/vocabulary/answer.hpp>
#include <muster/vocabulary/gang.hpp>
#include <muster/vocabulary/node.hpp>
#include <muster/vocabulary/pod.hpp>
#include <muster/vocabulary/queue.hpp>

namespace muster {
inline namespace v0_1 {

/// What was answered to a gang last, and about which cluster.
struct last_verdict {
    bool is_known = false;
    answer kind = answer::waiting;
    gate at = gate::none;
    /// A placement in the empty cluster was found at that capability epoch.
    bool could_start = false;
    std::uint64_t release_epoch = 0;
    std::uint64_t capability_epoch = 0;
    /// It runs, but strict order kept its surplus waiting.
    bool held_back = false;
    /// Since that cycle (`state::cycles`) budgets ended before this gang had its own: it is asked
    /// again, and before those that waited less long for their search. 0 = it had its own.
    std::uint64_t unreached_since = 0;
};

/// A vertex of a gang's tree with the topology that constrains it.
struct vertex_topology {
    vertex_index vertex;
    topology_index within;
    std::optional<std::size_t> required;
    std::optional<std::size_t> preferred;
};

template<std::size_t Width>
struct node_record {
    using tag = node_tag;
    node<Width> spec;
    /// False for a node that only its pods name.
    bool present = false;
    std::uint32_t generation = 0;
};

/// One per pod, so its members are ordered and packed to be small: 56 bytes.
struct pod_record {
    using tag = pod_tag;
    gang_index gang;
    vertex_index role;
    /// What it asks for and which nodes it may use.
    shape_index shape;
    optional_index<node_tag> node;
    std::uint32_t generation = 0;
    label_set_index labels;
    /// Of a pod that is the replacement in a migration: the record of the target. Of the target:
    /// the replacement, as long as there is one.
    optional_index<pod_tag> partner;
    /// Of one that is nominated: how many of its gang had been before it. Pod affinity may require
    /// this order.
    std::uint32_t turn = 0;
    /// Creation time in the caller's unit; older goes first among equals.
    std::int64_t created = 0;

private:
    std::int64_t started_ = 0;

public:
    pod_phase phase = pod_phase::pending;
    /// Being deleted: no member any more, yet it occupies its node until it is gone.
    bool terminating = false;
    /// Placed by a committed decision, not yet observed.
    bool assumed = false;
    /// To be placed on `node` once the pods that occupy its room have left.
    bool nominated = false;
    /// Evicted by a committed decision, whatever was observed since.
    bool evicted = false;
    /// Of one that runs: it is available, as far as is known.
    bool ready = true;
    /// Not a pod yet, but a place reserved for the replacement of the pod with this key, which
    /// moves. Nominated on `node`; not found by key.
    bool migration_target = false;

private:
    bool has_started_ = false;

public:
    /// When it started to run, as observed, or else when it was assumed to.
    [[nodiscard]] std::optional<std::int64_t> started() const noexcept {
        return has_started_ ? std::optional(started_) : std::nullopt;
    }
    void set_started(std::optional<std::int64_t> at) noexcept {
        has_started_ = at.has_value();
        started_ = at.value_or(0);
    }

    /// It was seen on that node, so it waits no more, whatever its phase said.
    void bind_to(node_index seen_on) noexcept {
        node = seen_on;
        assumed = false;
        nominated = false;
        if (phase == pod_phase::pending || phase == pod_phase::gated)
            phase = pod_phase::bound;
    }

    [[nodiscard]] bool terminal() const noexcept {
        return phase == pod_phase::succeeded || phase == pod_phase::failed;
    }
    /// It takes room on its node and from its queue's quota, now or later.
    [[nodiscard]] bool charged() const noexcept { return node.has_value() && !terminal(); }
    /// When what it is charged with counts.
    [[nodiscard]] allocation charged_as() const noexcept {
        return nominated                ? allocation::pipelined
               : terminating || evicted ? allocation::releasing
                                        : allocation::allocated;
    }
    /// How others find it on its node.
    [[nodiscard]] presence present_as() const noexcept {
        return nominated                ? presence::coming
               : terminating || evicted ? presence::leaving
                                        : presence::staying;
    }
    /// It counts as a member: not failed, not gated, not being deleted.
    [[nodiscard]] bool alive() const noexcept {
        return !terminating && !evicted && phase != pod_phase::failed && phase != pod_phase::gated;
    }
    /// Scheduling gates keep it from being a member.
    [[nodiscard]] bool gated() const noexcept {
        return phase == pod_phase::gated && !terminating && !evicted;
    }
    /// It counts towards the minima already: it has a node, if only for later, or has succeeded.
    [[nodiscard]] bool holding() const noexcept {
        return alive() && (assumed || nominated || phase != pod_phase::pending);
    }
    /// The gang waits for this nominated pod to be placed. False for a gated pod: another scheduler
    /// places it.
    [[nodiscard]] bool awaited() const noexcept { return nominated && phase != pod_phase::gated; }
    /// It waits for a node.
    [[nodiscard]] bool placeable() const noexcept {
        return phase == pod_phase::pending && !assumed && !nominated && !terminating && !evicted;
    }
};

struct gang_record {
    using tag = gang_tag;
    gang<queue_index> spec;
    /// The same as in `spec`.
    std::optional<queue_index> queue;
    /// What its members are charged to.
    [[nodiscard]] std::optional<queue_charge> charged_to() const noexcept {
        return queue ? std::optional(queue_charge(*queue, !spec.preemptible)) : std::nullopt;
    }
    /// In the order of their vertices.
    std::vector<vertex_topology> together;
    /// By role, oldest first, then by key: the order in which members are taken.
    std::vector<pod_index> members;
    /// How many gangs behind it have started since it waits for room or quota.
    std::int64_t bypassed = 0;
    /// Members that wait for a node.
    std::size_t placeable = 0;
    /// Of the spec.
    label_set_index tenant;
    /// Number of members for which `pod_record::awaited()` holds.
    std::size_t nominated = 0;
    /// Since when it has been below its minima, as cycles saw it whose policy asks.
    std::optional<std::int64_t> short_since;
    /// False for a gang that only its members name.
    bool present = false;
    /// Something about it or its members changed since it was answered last.
    bool dirty = false;
    /// In the state's list of gangs to look at.
    bool listed = false;
    last_verdict last;
    std::uint32_t generation = 0;
};

template<std::size_t Width>
struct queue_record {
    using tag = queue_tag;
    queue<Width> spec;
    /// The queue above it, known or not.
    std::optional<queue_index> parent;
    /// The interned node selectors of it and of all above it, while the queue is present.
    constraint_index nodes;
    /// Moves whenever its pods, or those of a queue below it, take more.
    std::uint64_t use_epoch = 0;
    /// False for a queue that only its gangs name.
    bool present = false;
    std::uint32_t generation = 0;
};

} // namespace v0_1
} // namespace muster
