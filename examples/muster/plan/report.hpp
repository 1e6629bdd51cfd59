// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/core/claims/assigned_device.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/reading_rules.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/policy/shared_gpus.hpp>
#include <muster/vocabulary/labels.hpp>
#include <muster/words/told_reason.hpp>

#include "policy_options.hpp"

namespace cli {

/// What all commands that look at a cluster are asked.
struct request {
    std::vector<std::string> files;
    bool strict = false;
    std::string default_namespace = "default";
    muster::codec::reading_rules rules;
    std::optional<muster::codec::timestamp> now;
    std::string queue_namespace = "t9k-system";
    /// Node labels from coarse to fine.
    std::vector<std::string> topology;
    policy_options how;
    /// For scores by what is allocated: by the name of the kind, 0 to 10.
    std::optional<std::int64_t> budget;
    /// Ask why for every group that does not start. It costs searches.
    bool reasons = true;
    /// And what the nodes say, one by one.
    bool headlines = false;
    /// Also ask why members wait whose groups meet their minima.
    bool surplus_reasons = false;
    /// List groups of which nothing waits, too.
    bool all_groups = false;
    /// List only groups with such labels, and pods with them; those of queues.
    muster::label_selector groups_with;
    muster::label_selector queues_with;
    /// How many cycles to try out for every group that does not start, in search of changes that
    /// would start it; and four times as many in all. Absent = as many as take a few seconds: fewer
    /// in a large cluster.
    std::optional<std::int64_t> tries = 0;
    /// Only of this group, NAME or NAMESPACE/NAME, when it is named.
    std::string changes_of;
    /// Ask when groups that wait would start, as far as durations are declared.
    bool forecast = false;
    /// Say what stands on each node.
    bool node_lines = false;

    [[nodiscard]] bool evicts() const { return how.evicts(); }
};

/// The exit codes, worst last.
enum exit_code : int { fine = 0, usage = 1, invalid_input = 2, pending = 3, broken = 4 };

// What a plan says, in plain words and numbers: the one thing that every output is made from.

struct placed_line {
    std::string pod;
    std::optional<std::string> role;
    std::string node;
    /// The pod starts on the node once other pods have left.
    bool nominated = false;
    /// The devices that it gets.
    std::vector<muster::codec::assigned_device> devices{};
};

using reason_line = muster::words::told_reason;

/// A change, for people, as options of `muster whatif`, and for machines.
struct change_line {
    std::string text;
    std::vector<std::string> options;
    boost::json::object details;
};

struct pod_line {
    std::string name_space;
    std::string name;
    std::optional<std::string> role;
    std::string node;
    /// As kubectl says it.
    std::string status;
    bool placed_now = false;
};

/// used/total of the kind that makes it the dominant share; no kind when no quota names one.
struct share_line {
    std::string kind;
    std::int64_t used = 0;
    std::int64_t total = 1;
};

struct queue_resource {
    std::int64_t used = 0;
    std::optional<std::int64_t> quota;
    std::optional<std::int64_t> deserved;
    std::int64_t guarantee = 0;

    /// Beyond what it deserves.
    [[nodiscard]] std::int64_t borrowed() const {
        return deserved ? std::max<std::int64_t>(0, used - *deserved) : 0;
    }
};

/// A queue; the one without a name stands for all groups that have none.
struct queue_line {
    std::string name;
    std::string parent;
    std::size_t depth = 0;
    /// open, closed, or unknown to the cluster; empty for the one without a name.
    std::string state;
    std::int64_t priority = 0;
    std::int64_t weight = 1;
    share_line share;
    std::map<std::string, queue_resource> resources;
    std::size_t running_groups = 0;
    std::size_t running_pods = 0;
    std::size_t waiting_groups = 0;
    std::size_t waiting_pods = 0;
    /// Since when the oldest group waits that has an age.
    std::optional<muster::codec::timestamp> oldest;
    /// Of a queue that has an object: what its status is to be.
    std::optional<boost::json::object> status;
};

/// A member that is to go for a group that cannot start otherwise.
struct lost_line {
    std::string pod;
    /// As NAMESPACE/NAME.
    std::string to;
    /// The node of the pod's replacement; empty if the pod does not move.
    std::string node;
};

/// A pod, as NAMESPACE/NAME, that moves for a group, and where to.
struct move_line {
    std::string pod;
    std::string node;
};

/// Amounts by the name of the kind, in the core's units; those of nothing are left out.
using amounts_by_kind = std::map<std::string, std::int64_t>;

/// Room that is reserved for a waiting group.
struct kept_line {
    /// When the group is planned to start, if that is known.
    std::optional<muster::codec::timestamp> start;
    std::map<std::string, amounts_by_kind> nodes;
    /// Of its queue's quota.
    amounts_by_kind quota;
};

/// What all pods that may be evicted would leave a group short of.
struct shortage_line {
    /// Empty = room for pods, of which so many are needed and so many would find some.
    std::string kind;
    std::int64_t needed = 0;
    std::int64_t there = 0;
};

/// Waiting members beyond the minima of a group that starts or runs, and why they wait.
struct surplus_line {
    std::vector<std::string> pods;
    /// The reasons of the first pod. All these pods have the same role and shape.
    std::vector<reason_line> reasons;
};

/// The place of a group among those that wait, from 1: in its queue, and among all.
struct queue_position {
    std::size_t in_queue = 0;
    std::size_t overall = 0;
};

struct group_line {
    std::string name_space;
    std::string name;
    std::string origin;
    std::optional<std::string> queue;
    std::int64_t priority = 0;
    std::optional<muster::codec::timestamp> created;
    /// Of its queue, when its turn came.
    std::int64_t queue_priority = 0;
    share_line share;
    /// admitted, nominated (placed for when others have left), evicted (left below its minima for
    /// others), waiting, never or undecided.
    std::string answer;
    std::optional<std::string> gate;
    bool could_start = false;
    std::vector<placed_line> placements;
    /// Pods to evict before the group's nominated members start, as NAMESPACE/NAME.
    std::vector<std::string> evictions;
    /// The pods among them that move.
    std::vector<move_line> moves;
    /// Its own members that are to go, or to move.
    std::vector<lost_line> lost;
    std::optional<kept_line> kept;
    std::optional<shortage_line> short_after_evictions;
    std::vector<reason_line> reasons;
    /// Only for the group that `request::changes_of` names.
    std::vector<surplus_line> surplus;
    std::optional<boost::json::object> certificate;
    std::optional<boost::json::object> status;
    /// Every member, in the order of names.
    std::vector<pod_line> pods;
    /// Members that waited before the plan, and that still wait after it.
    std::size_t waited = 0;
    std::size_t waits = 0;
    /// Number of members with scheduling gates.
    std::size_t gated = 0;
    /// Members that exist, the fewest that start, and those that held something before.
    std::int64_t members = 0;
    std::int64_t minimum = 0;
    std::int64_t holding = 0;
    /// Of a group that waits.
    std::optional<queue_position> position;
    /// When it starts if nothing happens but that pods end when they declare to.
    std::optional<muster::codec::timestamp> expected_start;
    /// What would start it: each list on its own, all of its changes together.
    std::vector<std::vector<change_line>> remedies;
    /// Whether such changes were looked for, and whether to the end.
    bool changes_sought = false;
    bool changes_complete = true;
    /// One line as kube-scheduler would have it; empty for a group that starts.
    std::string headline;

    [[nodiscard]] bool starts() const { return answer == "admitted"; }
    [[nodiscard]] bool nominated() const { return answer == "nominated"; }
    /// Returns the number of placements that start once other pods have left.
    [[nodiscard]] std::size_t nominated_pods() const {
        return static_cast<std::size_t>(std::ranges::count_if(placements, &placed_line::nominated));
    }
    /// It got what it asked for, or lost what it had: nothing remains to be explained.
    [[nodiscard]] bool is_settled() const { return starts() || nominated() || answer == "evicted"; }
};

/// Of one kind: what all nodes have, and what all pods that hold one request. In the core's units.
struct resource_use {
    std::int64_t allocatable = 0;
    std::int64_t requested = 0;
};

struct node_pod {
    std::string name_space;
    std::string name;
    std::string group;
    std::int64_t amount = 0;
    bool placed_now = false;
    /// It comes when others have left.
    bool nominated = false;
};

/// The use of one resource kind on a node after the plan.
struct node_use {
    std::string kind;
    std::int64_t allocatable = 0;
    std::int64_t requested = 0;
    /// Pods that request the kind, group by group. `others` counts pods that request none of it.
    std::vector<node_pod> pods;
    std::size_t others = 0;
};

struct node_line {
    std::string name;
    bool unschedulable = false;
    /// The kinds that the node has and that any pod requests: devices first, then cpu and memory.
    /// The kind that counts pods is listed only if there is no other.
    std::vector<node_use> uses;
    /// Number of pods that leave to make room for nominated pods.
    std::size_t leaving = 0;
};

/// What is asked of: groups and pods that are listed, and all that is counted, only where labels
/// are as they are asked for.
struct report {
    muster::codec::timestamp now = 0;
    /// In the order in which they were decided.
    std::vector<group_line> groups;
    /// As they stand before the plan.
    std::vector<queue_line> queues;
    /// All pods of the input, in the order of their names.
    std::vector<pod_line> pods;
    std::size_t pods_placed = 0;
    std::size_t pods_nominated = 0;
    std::size_t pods_evicted = 0;
    /// Number of pods among them that move.
    std::size_t pods_moved = 0;
    /// Includes pods that are nominated or have scheduling gates.
    std::size_t pods_pending = 0;
    std::size_t nodes = 0;
    /// In the order of names, when they are asked for.
    std::vector<node_line> node_lines;
    /// By the name of the kind, as the plan leaves it.
    std::map<std::string, resource_use> resources;
    /// The GPUs before the plan, and as the plan leaves them; no value if no node has any.
    std::optional<muster::gpu_use> gpus_before;
    std::optional<muster::gpu_use> gpus;
    std::int64_t search_steps = 0;
    /// What the plan breaks; always empty unless there is a bug.
    std::vector<std::string> violations;
};

/// Plans one cycle. What is wrong with the objects goes to `out`; then the report means nothing.
[[nodiscard]] report make_report(const muster::codec::manifests& objects, const request& asked,
                                 muster::codec::diagnostics& out);

} // namespace cli
