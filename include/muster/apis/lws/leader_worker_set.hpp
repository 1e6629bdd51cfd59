// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/document/sha1_text.hpp>
#include <muster/gangs/gang_leaves.hpp>
#include <muster/gangs/gang_marks.hpp>
#include <muster/gangs/job_companions.hpp>
#include <muster/gangs/job_object.hpp>
#include <muster/gangs/pod_draft.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// What a LeaderWorkerSet's `scheduling` says of one kind of its groups.
struct leader_worker_level : group_words {
    bool active = false; ///< it says something
    bool basic = false;  ///< nobody waits for others
    bool gang = false;
};

/// Its controller makes groups of Kubernetes of one of these kinds: of the whole set, of each
/// replica, which is meant when nothing is said, or of leaders and workers.
struct leader_worker_scheduling {
    leader_worker_level whole;
    leader_worker_level replica;
    leader_worker_level leader;
    leader_worker_level workers;
};

/// A leaderworkerset.x-k8s.io/v1 LeaderWorkerSet, as its manifest says it.
struct leader_worker_set {
    job_object object;
    std::int64_t replicas = 1; ///< groups
    std::int64_t size = 1;     ///< pods of a group, its leader among them
    const boost::json::object* leader_template = nullptr; ///< absent: as the workers
    const boost::json::object* worker_template = nullptr;
    bool leader_first = false;                ///< startupPolicy LeaderReady
    std::optional<std::int64_t> segment_size; ///< subGroupPolicy, or KAI's annotation
    bool leader_apart = false;                ///< subGroupPolicyType LeaderExcluded
    bool own_subdomains = false;              ///< UniquePerReplica
    /// Node labels: each group, each segment alone in a domain.
    std::string_view exclusive_topology;
    std::string_view segment_exclusive_topology;
    std::string_view shared_topology;                  ///< a group in one domain, with others
    const boost::json::array* volume_claims = nullptr; ///< volumeClaimTemplates
    std::optional<leader_worker_scheduling> scheduling;
    std::vector<std::string_view> lifecycle;
};

/// The segment of a pod of a group. When the workers fill the segments evenly the leader is one
/// more in the first.
[[nodiscard]] inline std::int64_t segment_of(std::int64_t index, std::int64_t size,
                                             std::int64_t segment) {
    if (index == 0)
        return 0;
    return ((size - 1) % segment == 0 ? index - 1 : index) / segment;
}

namespace detail {

[[nodiscard]] inline std::optional<topology_constraint>
segment_closeness(const leader_worker_set& set) {
    auto asked = translate::segment_closeness(annotations_of(set.worker_template));
    return asked ? asked : one_domain(set.segment_exclusive_topology);
}

/// The tree and the pods of one group.
class group_shape {
public:
    group_shape(const leader_worker_set& set, std::int64_t group, planned_gang& to)
        : set_(set), group_(group), to_(to) {
        const vertex_index root{0};
        gang_tree& tree = to.gang.tree;
        // A worker is made only when the leader is ready: waiting for it would wait forever.
        tree.require_members(root, set.leader_first ? 1 : set.size);
        const bool in_segments = set.segment_size && !set.leader_first && set.size > 1;
        std::int64_t from = 0;
        if (set.size == 1)
            add(root, 0, 1);
        else if (!in_segments || set.leader_apart)
            add(tree.add(root, 1, "leader"), 0, from = 1);
        if (in_segments)
            while (from < set.size)
                from = add_segment(from);
        else if (set.size > 1)
            add(tree.add(root, set.leader_first ? 0 : set.size - 1, "workers"), 1, set.size);
    }

private:
    std::int64_t add_segment(std::int64_t from) {
        gang_tree& tree = to_.gang.tree;
        const std::int64_t which = segment_of(from, set_.size, *set_.segment_size);
        std::int64_t end = from;
        while (end < set_.size && segment_of(end, set_.size, *set_.segment_size) == which)
            ++end;
        const bool led = from == 0;
        const vertex_index at =
            tree.add(vertex_index{0}, led ? 0 : end - from, "segment-" + std::to_string(which));
        if (auto asked = segment_closeness(set_))
            tree.constrain_topology(at, std::move(*asked));
        if (led) {
            add(tree.add(at, 1, "leader"), 0, 1);
            if (end > 1)
                add(tree.add(at, end - 1, "workers"), 1, end);
        } else {
            add(at, from, end);
        }
        return end;
    }

    void add(vertex_index leaf, std::int64_t from, std::int64_t end) {
        const bool leader = from == 0;
        const boost::json::object* const own =
            leader && set_.leader_template ? set_.leader_template : set_.worker_template;
        to_.series.push_back({leaf, leader ? "leader" : "workers", own, from, end - from, group_,
                              !membership_mark(own).empty()});
    }

    const leader_worker_set& set_;
    std::int64_t group_;
    planned_gang& to_;
};

} // namespace detail

namespace detail {

/// Pods of some groups as one gang, all counted alike: the leaders, the workers or both.
[[nodiscard]] inline planned_gang level_gang(const leader_worker_set& set,
                                             const leader_worker_level& level, bool waits,
                                             std::string name, std::int64_t from, std::int64_t end,
                                             bool leaders, bool workers) {
    planned_gang planned;
    planned.gang = gang_of(set.object, std::move(name), {set.leader_template, set.worker_template});
    gang_tree& tree = planned.gang.tree;
    workers = workers && set.size > 1;
    const vertex_index root{0};
    const bool both = leaders && workers;
    const vertex_index lead = both ? tree.add(root, 0, "leader") : root;
    const vertex_index work = both ? tree.add(root, 0, "workers") : root;
    std::int64_t total = 0;
    for (std::int64_t group = from; group < end; ++group) {
        const auto add = [&](vertex_index leaf, const char* role, std::int64_t first,
                             std::int64_t count, const boost::json::object* own) {
            planned.series.push_back(
                {leaf, role, own, first, count, group, !membership_mark(own).empty()});
            total += count;
        };
        if (leaders)
            add(lead, "leader", 0, 1,
                set.leader_template ? set.leader_template : set.worker_template);
        if (workers)
            add(work, "workers", 1, set.size - 1, set.worker_template);
    }
    tree.require_members(root, waits ? total : 1);
    planned.gang.origin = target::workload_1_37;
    take_group_words(level, planned.gang);
    settle_leaves(planned);
    return planned;
}

/// The gangs of a set with `scheduling`: of the whole set, of leaders and workers, or else of each
/// replica. Of these only replicas wait for their pods when nothing is said.
inline void add_level_gangs(const leader_worker_set& set, job_plan& plan) {
    const leader_worker_scheduling& said = *set.scheduling;
    const std::string name(set.object.name);
    if (said.whole.active && set.replicas > 0)
        plan.gangs.push_back(
            level_gang(set, said.whole, said.whole.gang, name, 0, set.replicas, true, true));
    if (said.whole.active)
        return;
    const std::string_view domain =
        set.exclusive_topology.empty() ? set.shared_topology : set.exclusive_topology;
    for (std::int64_t group = 0; group < set.replicas; ++group) {
        const std::string own = name + "-group-" + std::to_string(group);
        const auto add = [&](const leader_worker_level& level, bool waits, const char* part,
                             bool leaders, bool workers) {
            plan.gangs.push_back(
                level_gang(set, level, waits, own + part, group, group + 1, leaders, workers));
            gang_tree& tree = plan.gangs.back().gang.tree;
            if (auto asked = one_domain(domain); asked && !tree[0].together)
                tree.constrain_topology(vertex_index{0}, std::move(*asked));
        };
        if (!said.leader.active && !said.workers.active) {
            add(said.replica, !said.replica.basic, "", true, true);
            continue;
        }
        add(said.leader, said.leader.gang, "-leader", true, false);
        if (set.size > 1)
            add(said.workers, said.workers.gang, "-workers", false, true);
    }
}

} // namespace detail

/// A gang per group, `<set>-group-<i>`, of all its pods; with leaves for the leader and the
/// workers, or a subgroup per segment; with `scheduling`, what that says. O(pods).
[[nodiscard]] inline job_plan gangs_of(const leader_worker_set& set,
                                       const job_options& options = {}) {
    job_plan plan;
    const bool scheduled = set.scheduling && options.rules == job_rules::controller;
    if (scheduled)
        detail::add_level_gangs(set, plan);
    for (std::int64_t group = 0; group < set.replicas && !scheduled; ++group) {
        planned_gang planned;
        planned.gang =
            gang_of(set.object, std::string(set.object.name) + "-group-" + std::to_string(group),
                    {set.leader_template, set.worker_template});
        const detail::group_shape shape(set, group, planned);
        if (auto asked = one_domain(set.exclusive_topology.empty() ? set.shared_topology
                                                                   : set.exclusive_topology);
            asked && !planned.gang.tree[0].together)
            planned.gang.tree.constrain_topology(vertex_index{0}, std::move(*asked));
        settle_leaves(planned);
        plan.gangs.push_back(std::move(planned));
    }
    if (set.leader_first)
        lose(plan, loss_kind::startup_order, set.object,
             "startupPolicy LeaderReady: workers are made when their leader is ready, so a gang "
             "starts with the leader");
    // If there are pods, their anti-affinity enforces this.
    for (const std::string_view label : {set.exclusive_topology, set.segment_exclusive_topology})
        if (!label.empty() && !options.pods)
            lose(plan, loss_kind::topology_required, set.object,
                 "exclusive topology " + std::string(label) +
                     ": pods stand in one domain, but not alone there");
    lose_lifecycle(plan, set.object, set.lifecycle);
    return plan;
}

/// The Service by which the pods find each other; of each group one, owned by its leader, when
/// groups have subdomains of their own.
[[nodiscard]] inline std::vector<boost::json::object> services_of(const leader_worker_set& set) {
    const std::string_view by_name = "leaderworkerset.sigs.k8s.io/name";
    if (!set.own_subdomains)
        return {headless_service(set.object, set.object.name, {}, {{by_name, set.object.name}},
                                 true, reference_to(set.object))};
    std::vector<boost::json::object> made;
    for (std::int64_t group = 0; group < set.replicas; ++group) {
        const std::string leader = std::string(set.object.name) + '-' + std::to_string(group);
        made.push_back(
            headless_service(set.object, leader, {},
                             {{by_name, set.object.name},
                              {"leaderworkerset.sigs.k8s.io/group-index", std::to_string(group)}},
                             true, {"v1", "Pod", leader, {}}));
    }
    return made;
}

namespace detail {

/// Adds what LeaderWorkerSet's webhook does for groups and segments that are alone in their
/// domains: the labels by which their pods know each other, and for exclusive ones the terms. If
/// the gang keeps the group in one domain (`together`), the term of its leader is enough.
inline void keep_exclusive(const leader_worker_set& set, const std::string& leader,
                           std::int64_t index, bool together, pod_draft& pod) {
    constexpr std::string_view group_key = "leaderworkerset.sigs.k8s.io/group-key";
    const std::string group = sha1_text(std::string(set.object.name_space) + '/' + leader);
    pod.label(group_key, group);
    if (!set.exclusive_topology.empty() && (index == 0 || !together))
        pod.exclude_others(set.exclusive_topology, group_key, group, false);
    if (!set.exclusive_topology.empty() && !together)
        pod.join_own(set.exclusive_topology, group_key, group, false);
    if (!set.segment_size || (set.leader_apart && index == 0))
        return;
    constexpr std::string_view segment_key = "leaderworkerset.sigs.k8s.io/subgroup-key";
    const std::string segment =
        sha1_text(leader + '/' + std::to_string(segment_of(index, set.size, *set.segment_size)));
    pod.label(segment_key, segment);
    if (set.segment_exclusive_topology.empty())
        return;
    pod.exclude_others(set.segment_exclusive_topology, segment_key, segment, false);
    if (set.scheduling)
        pod.join_own(set.segment_exclusive_topology, segment_key, segment, false);
}

} // namespace detail

/// The pods of all groups: leaders `<set>-<i>`, workers `<set>-<i>-<index>`, as the controller
/// labels and equips them.
[[nodiscard]] inline job_gangs pods_of(const leader_worker_set& set, job_plan plan,
                                       const job_options& options = {}) {
    const auto leader_of = [&](std::int64_t group) {
        return std::string(set.object.name) + '-' + std::to_string(group);
    };
    std::vector<boost::json::object> claims;
    job_gangs made = make_pods(
        set.object, std::move(plan), options,
        [&](const planned_gang&, const pod_series& series, std::int64_t index) {
            std::string name = leader_of(series.part);
            return index == 0 ? name : name + '-' + std::to_string(index);
        },
        [&](pod_draft& pod, const planned_gang& gang, const pod_series& series,
            std::int64_t index) {
            const std::string leader = leader_of(series.part);
            const std::string own = std::to_string(index);
            const std::string size = std::to_string(set.size);
            const std::string prefix = "leaderworkerset.sigs.k8s.io/";
            pod.own(
                {"apps/v1", "StatefulSet", index == 0 ? std::string(set.object.name) : leader, {}});
            pod.label(prefix + "name", set.object.name);
            pod.label(prefix + "group-index", std::to_string(series.part));
            pod.label(prefix + "worker-index", own);
            pod.annotate(prefix + "size", size);
            if (index > 0)
                pod.annotate(prefix + "leader-name", leader);
            if (set.segment_size && !(set.leader_apart && index == 0)) {
                pod.label(prefix + "subgroup-index",
                          std::to_string(segment_of(index, set.size, *set.segment_size)));
                pod.annotate(prefix + "subgroup-size", std::to_string(*set.segment_size));
            }
            // Levels may be gangs of their own: leaders and workers in two domains.
            const bool together =
                !set.scheduling && !series.loose &&
                keeps_together(gang.gang.tree, vertex_index{0}, set.exclusive_topology);
            detail::keep_exclusive(set, leader, index, together, pod);
            const std::string domain = set.own_subdomains ? leader : std::string(set.object.name);
            pod.spec()["hostname"] = index == 0 ? leader : leader + '-' + own;
            pod.spec()["subdomain"] = domain;
            mount_own_claims(pod, set.volume_claims, set.object.name_space,
                             index == 0 ? leader : leader + '-' + own, claims);
            const std::string address =
                leader + '.' + domain + '.' + std::string(set.object.name_space);
            for (const auto& [name, value] :
                 {std::pair<std::string_view, const std::string&>{"LWS_LEADER_ADDRESS", address},
                  {"LWS_GROUP_SIZE", size},
                  {"LWS_WORKER_INDEX", own}}) {
                pod.env(name, value);
                pod.env_of_init_containers(name, value);
            }
        });
    if (options.pods && set.replicas > 0)
        made.companions = services_of(set);
    std::ranges::move(claims, std::back_inserter(made.companions));
    return made;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
