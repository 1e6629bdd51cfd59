// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/apis/batch/job.hpp>
#include <muster/document/sha1_text.hpp>
#include <muster/gangs/gang_leaves.hpp>
#include <muster/gangs/gang_marks.hpp>
#include <muster/gangs/job_companions.hpp>
#include <muster/gangs/job_object.hpp>
#include <muster/gangs/pod_draft.hpp>
#include <muster/gangs/target.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// An entry of a JobSet's replicatedJobs.
struct replicated_job {
    std::string_view name;
    std::int64_t replicas = 1;
    batch_job_spec job;
    const boost::json::object* labels = nullptr;      ///< of the Jobs
    const boost::json::object* annotations = nullptr; ///< of the Jobs
    bool waits = false;                               ///< dependsOn
    std::string_view group = "default";               ///< groupName
};

/// A gang that a JobSet asks for itself.
struct job_set_gang : group_words {
    std::string name;
    std::vector<std::size_t> jobs;       ///< indices of its replicated jobs
    std::optional<std::int64_t> minimum; ///< absent: all its pods, or one of a basic policy
    bool basic = false;                  ///< its pods start when they can
    bool said = false;                   ///< it says itself whether it is a gang or basic
    bool each_job = false;               ///< a gang per Job, `<name>-<i>`
    bool in_workload = false; ///< one of the groups of a Workload that is named as the set
    std::string_view group;   ///< its name there; empty: as the set
};

/// A jobset.x-k8s.io/v1alpha2 JobSet, as its manifest says it.
struct job_set {
    job_object object;
    std::vector<replicated_job> jobs;
    bool in_order = false; ///< startupPolicy
    /// How many of the replicated jobs must start; an annotation says it.
    std::optional<std::int64_t> minimum;
    bool host_names = true;     ///< network.enableDNSHostnames
    bool early_names = true;    ///< network.publishNotReadyAddresses
    std::string_view subdomain; ///< empty: the JobSet's name
    /// A node label: each Job alone in a domain of it.
    std::string_view exclusive_topology;
    /// Nodes are labelled for its exclusive Jobs, whose pods select them.
    bool selects_nodes = false;
    /// What it says of gangs itself, in `scheduling` or the older `gangPolicy`, which its
    /// controller makes Workloads of; empty: nothing, and the podgrouper decides.
    std::vector<job_set_gang> gangs;
    target gangs_of = target::workload_1_37;
    const boost::json::object* workload_labels = nullptr; ///< of its own template for a Workload
    const boost::json::object* workload_annotations = nullptr;
    /// Templates of volumeClaimPolicies, with names.
    std::vector<const boost::json::object*> claims;
    std::string coordinator; ///< the host name of one of its pods; empty: of none
    std::vector<std::string_view> lifecycle;
};

inline constexpr std::string_view job_set_exclusive = "alpha.jobset.sigs.k8s.io/exclusive-topology";
inline constexpr std::string_view job_set_node_selector = "alpha.jobset.sigs.k8s.io/node-selector";

/// The template of the JobSet's Workload of which the groups of these Jobs are made, a group for
/// each; empty: of none.
[[nodiscard]] inline std::string_view group_template_of(const replicated_job& job) {
    return find_text(job.annotations, "scheduling.k8s.io/group-template-name").value_or("");
}

namespace detail {

[[nodiscard]] inline std::string child_job(const job_set& set, const replicated_job& of,
                                           std::int64_t replica) {
    std::string name(set.object.name);
    name.append("-").append(of.name).append("-").append(std::to_string(replica));
    return name;
}

/// The node label in a domain of which a Job of the set is to be alone; empty = none.
[[nodiscard]] inline std::string_view exclusive_domain(const job_set& set,
                                                       const replicated_job& of) {
    return translate::find_text(of.annotations, job_set_exclusive).value_or(set.exclusive_topology);
}

/// The domain that a Job of the set is to have for itself, or where its annotations want it.
[[nodiscard]] inline std::optional<topology_constraint> closeness_in(const job_set& set,
                                                                     const replicated_job& of) {
    if (auto asked = closeness_asked(of.annotations))
        return asked;
    return one_domain(exclusive_domain(set, of));
}

} // namespace detail

namespace detail {

/// Makes a gang a group of the Workload that stands for the whole set, and gives it what the set's
/// template for that Workload bears.
inline void follow_workload(const job_set& set, const job_set_gang& asked, gang_object& gang) {
    constexpr std::array<std::string_view, 1> none{owner_mark::last_applied};
    copy_texts(set.workload_labels, none, gang.labels);
    copy_texts(set.workload_annotations, none, gang.annotations);
    group_template& follows = gang.follows.emplace();
    follows.workload = set.object.name;
    follows.name = asked.group.empty() ? set.object.name : asked.group;
    follows.at = static_cast<std::size_t>(&asked - set.gangs.data());
    follows.basic = asked.basic;
    follows.labels = gang.labels;
    follows.labels["jobset.sigs.k8s.io/jobset-name"] = set.object.name;
    follows.annotations = gang.annotations;
}

/// The pods of some replicated jobs as a gang of its own: a leaf per replicated job, all counted
/// alike.
[[nodiscard]] inline planned_gang own_gang(const job_set& set, const job_set_gang& asked,
                                           std::string name, std::optional<std::int64_t> only) {
    planned_gang planned;
    std::vector<const boost::json::object*> templates;
    for (const std::size_t at : asked.jobs) {
        const replicated_job& job = set.jobs[at];
        templates.push_back(job.job.pod_template);
        for (std::int64_t i = only.value_or(0); i < (only ? *only + 1 : job.replicas); ++i)
            planned.series.push_back({vertex_index{at}, std::string(job.name), job.job.pod_template,
                                      0, pods_at_once(job.job),
                                      static_cast<std::int64_t>(at) * most_replicas_of_a_job + i,
                                      false});
    }
    const auto labelled = settle_marks(planned.series);
    planned.gang = gang_of(set.object, labelled ? std::string(labelled->name) : std::move(name),
                           templates, false);
    planned.gang.origin = labelled ? target::ack_1_31 : set.gangs_of;
    gang_tree& tree = planned.gang.tree;
    std::int64_t total = 0;
    std::vector<vertex_index> leaves(set.jobs.size(), vertex_index{0});
    if (asked.jobs.size() > 1)
        for (const std::size_t at : asked.jobs)
            leaves[at] = tree.add(vertex_index{0}, 0, std::string(set.jobs[at].name));
    for (pod_series& series : planned.series) {
        series.leaf = leaves[series.leaf.value()];
        total += series.loose ? 0 : series.count;
    }
    tree.require_members(vertex_index{0}, labelled
                                              ? labelled->minimum
                                              : asked.minimum.value_or(asked.basic ? 1 : total));
    take_group_words(asked, planned.gang);
    if (asked.in_workload && !labelled)
        follow_workload(set, asked, planned.gang);
    settle_leaves(planned);
    return planned;
}

/// What is lost of a JobSet whatever its gangs are.
inline void lose_order(const job_set& set, const job_options& options, job_plan& plan) {
    if (set.in_order)
        lose(plan, loss_kind::startup_order, set.object,
             "startupPolicy InOrder: its controller makes one replicated job after the other");
    for (const replicated_job& job : set.jobs)
        if (job.waits)
            lose(plan, loss_kind::startup_order, set.object,
                 "dependsOn of " + std::string(job.name) +
                     ": its Jobs are made when others are ready or complete; here they start "
                     "together");
    // If there are pods, their anti-affinity enforces this.
    if (!set.exclusive_topology.empty() && !options.pods)
        lose(plan, loss_kind::topology_required, set.object,
             std::string(job_set_exclusive) + ": a Job stands in one domain, but not alone there");
    lose_lifecycle(plan, set.object, set.lifecycle);
}

} // namespace detail

/// The gangs that a JobSet asks for itself, or else the one gang of a JobSet: below the root a
/// subgroup per replicated job, below it a leaf
/// `<job>-replica-<i>` per Job, which wants its parallelism. All replicated jobs must start; one is
/// enough when they start in order, and an annotation may ask for some. O(Jobs).
[[nodiscard]] inline job_plan gangs_of(const job_set& set, const job_options& options = {}) {
    job_plan plan;
    if (!set.gangs.empty() && options.rules == job_rules::controller) {
        for (const job_set_gang& asked : set.gangs) {
            if (!asked.each_job) {
                plan.gangs.push_back(detail::own_gang(set, asked, asked.name, {}));
                continue;
            }
            for (std::int64_t i = 0; i < set.jobs[asked.jobs.front()].replicas; ++i)
                plan.gangs.push_back(
                    detail::own_gang(set, asked, asked.name + '-' + std::to_string(i), i));
        }
        detail::lose_order(set, options, plan);
        return plan;
    }
    planned_gang planned;
    std::vector<const boost::json::object*> templates;
    for (std::size_t i = 0; i < set.jobs.size(); ++i) {
        templates.push_back(set.jobs[i].job.pod_template);
        // Marked by the position of the replicated job until its replicas are split.
        planned.series.push_back({vertex_index{0}, std::string(set.jobs[i].name), templates.back(),
                                  static_cast<std::int64_t>(i), pods_at_once(set.jobs[i].job), 0,
                                  false});
    }
    const auto labelled = settle_marks(planned.series);
    if (options.rules == job_rules::controller)
        for (pod_series& each : planned.series)
            each.loose = each.loose ||
                         !group_template_of(set.jobs[static_cast<std::size_t>(each.first)]).empty();
    planned.gang = gang_of(set.object, std::string(labelled ? labelled->name : set.object.name),
                           templates, false);
    gang_tree& tree = planned.gang.tree;
    const vertex_index root{0};
    if (labelled) {
        tree.require_members(root, labelled->minimum);
        planned.gang.origin = target::ack_1_31;
    }
    std::vector<pod_series> split;
    std::int64_t own = 0;
    for (pod_series& series : planned.series) {
        const replicated_job& job = set.jobs[static_cast<std::size_t>(series.first)];
        const std::int64_t count = series.count;
        vertex_index above = root;
        if (!series.loose) {
            above = tree.add(root, 0, series.role);
            ++own;
        }
        for (std::int64_t i = 0; i < job.replicas; ++i) {
            pod_series one = series;
            one.part = series.first * most_replicas_of_a_job + i;
            one.first = 0;
            one.count = count;
            if (!series.loose) {
                const std::int64_t least = labelled ? 0 : job.job.minimum.value_or(count);
                one.leaf = tree.add(above, least, series.role + "-replica-" + std::to_string(i));
                if (auto asked = detail::closeness_in(set, job))
                    tree.constrain_topology(one.leaf, std::move(*asked));
            }
            split.push_back(std::move(one));
        }
    }
    planned.series = std::move(split);
    const std::int64_t wanted = set.minimum.value_or(set.in_order ? 1 : own);
    if (!labelled && wanted < own)
        tree.require_subgroups(root, wanted);
    else if (!labelled)
        tree.require_members(root, leaf_minima(tree));
    settle_leaves(planned);
    if (planned.gang.topology_name.empty())
        for (const replicated_job& job : set.jobs)
            if (const auto name = translate::find_text(job.annotations, owner_mark::topology_name);
                name && planned.gang.topology_name.empty())
                planned.gang.topology_name = *name;
    plan.gangs.push_back(std::move(planned));
    detail::lose_order(set, options, plan);
    return plan;
}

namespace detail {

[[nodiscard]] inline std::string_view volume_of(const boost::json::object* claim) {
    return translate::find_text(find_object(claim, "metadata"), "name").value_or("");
}

/// A set's claims are shared by its pods: `<claim>-<set>`.
[[nodiscard]] inline std::string claim_name(const job_set& set, std::string_view volume) {
    return std::string(volume) + '-' + std::string(set.object.name);
}

/// Each pod mounts those claims whose volumes its containers name.
inline void mount_shared_claims(const job_set& set, pod_draft& pod) {
    for (const boost::json::object* const from : set.claims) {
        const std::string_view claim = volume_of(from);
        bool mounted = false;
        const auto look = [&](boost::json::object& container) {
            if (const auto* const mounts = find_array(&container, "volumeMounts"))
                for (const boost::json::value& each : *mounts)
                    mounted = mounted || translate::find_text(each.if_object(), "name") == claim;
        };
        pod.for_each_container(look);
        pod.for_each_init_container(look);
        if (mounted)
            mount_claim(pod, claim, claim_name(set, claim));
    }
}

/// Adds what JobSet's controller and webhooks do for Jobs that are alone in their domains: the
/// label by which the pods of a Job know each other, and for an exclusive Job the terms. If the
/// gang keeps the Job's pods in one domain (`together`), the term of the first pod is enough.
/// (Newer versions of JobSet let Jobs of another priority into the domain.)
inline void keep_exclusive(const job_set& set, const replicated_job& of, std::string_view job_name,
                           std::int64_t index, bool together, pod_draft& pod) {
    constexpr std::string_view key = "jobset.sigs.k8s.io/job-key";
    const std::string own =
        sha1_text(std::string(set.object.name_space) + '/' + std::string(job_name));
    pod.label(key, own);
    const std::string_view domain = exclusive_domain(set, of);
    if (domain.empty())
        return;
    if (set.selects_nodes || translate::find(of.annotations, job_set_node_selector)) {
        child_at(pod.spec(), "nodeSelector")["alpha.jobset.sigs.k8s.io/namespaced-job"] =
            std::string(set.object.name_space) + '_' + std::string(job_name);
        boost::json::value& list = pod.spec()["tolerations"];
        if (!list.is_array())
            list = boost::json::array{};
        list.get_array().emplace_back(
            boost::json::object{{"key", "alpha.jobset.sigs.k8s.io/no-schedule"},
                                {"operator", "Exists"},
                                {"effect", "NoSchedule"}});
        return;
    }
    if (index == 0 || !together)
        pod.exclude_others(domain, key, own, true);
    if (!together)
        pod.join_own(domain, key, own, true);
}

/// The Jobs of the same group: how many there are, and how many before a replicated job.
[[nodiscard]] inline std::pair<std::int64_t, std::int64_t> group_places(const job_set& set,
                                                                        std::size_t of) {
    std::pair<std::int64_t, std::int64_t> made{0, 0};
    for (std::size_t i = 0; i < set.jobs.size(); ++i) {
        if (set.jobs[i].group != set.jobs[of].group)
            continue;
        made.first += set.jobs[i].replicas;
        made.second += i < of ? set.jobs[i].replicas : 0;
    }
    return made;
}

} // namespace detail

/// The pods of all Jobs, `<set>-<job>-<i>-<index>-<letters>`, with the labels of JobSet and of Job.
/// The label job-key, a hash of the Job's name, is left out unless its Jobs are to be alone in
/// their domains.
[[nodiscard]] inline job_gangs pods_of(const job_set& set, job_plan plan,
                                       const job_options& options = {}) {
    std::vector<std::int64_t> before; // Jobs before each replicated job
    std::int64_t all = 0;
    for (const replicated_job& job : set.jobs) {
        before.push_back(all);
        all += job.replicas;
    }
    const std::string_view domain = set.subdomain.empty() ? set.object.name : set.subdomain;
    const auto place_of = [](const pod_series& series) {
        return std::pair{static_cast<std::size_t>(series.part / most_replicas_of_a_job),
                         series.part % most_replicas_of_a_job};
    };
    job_gangs made = make_pods(
        set.object, std::move(plan), options,
        [&](const planned_gang&, const pod_series& series, std::int64_t index) {
            const auto [at, replica] = place_of(series);
            return detail::job_pod_name(set.jobs[at].job, set.object.name_space,
                                        detail::child_job(set, set.jobs[at], replica), index);
        },
        [&](pod_draft& pod, const planned_gang& gang, const pod_series& series,
            std::int64_t index) {
            const auto [at, replica] = place_of(series);
            const replicated_job& job = set.jobs[at];
            detail::dress_job_pod(
                job.job, {"batch/v1", "Job", detail::child_job(set, job, replica), {}}, pod, index);
            const auto both = [&](std::string_view key, std::string_view value) {
                std::string whole("jobset.sigs.k8s.io/");
                whole += key;
                pod.label(whole, value);
                pod.annotate(whole, value);
            };
            both("jobset-name", set.object.name);
            both("replicatedjob-name", job.name);
            both("replicatedjob-replicas", std::to_string(job.replicas));
            both("global-replicas", std::to_string(all));
            both("job-index", std::to_string(replica));
            both("job-global-index", std::to_string(before[at] + replica));
            both("restart-attempt", "0");
            const auto [peers, peers_before] = detail::group_places(set, at);
            both("group-name", job.group);
            both("group-replicas", std::to_string(peers));
            both("job-group-index", std::to_string(peers_before + replica));
            if (!set.coordinator.empty())
                both("coordinator", set.coordinator);
            detail::mount_shared_claims(set, pod);
            const bool together =
                !series.loose &&
                keeps_together(gang.gang.tree, series.leaf, detail::exclusive_domain(set, job));
            detail::keep_exclusive(set, job, detail::child_job(set, job, replica), index, together,
                                   pod);
            // A mark for the reader of groups, which knows the template; it is taken off there.
            if (const std::string_view from = group_template_of(job); series.loose && !from.empty())
                pod.spec()["workloadRef"] = {
                    {"name", std::string(set.object.name)},
                    {"podGroup", std::string(from)},
                    {"podGroupReplicaKey", detail::child_job(set, job, replica)}};
            if (set.host_names)
                pod.set_default("subdomain", domain);
        });
    if (!options.pods)
        return made;
    const object_reference owner =
        set.object.kind == "JobSet"
            ? reference_to(set.object)
            : object_reference{
                  "jobset.x-k8s.io/v1alpha2", "JobSet", std::string(set.object.name), {}};
    const std::string_view of_set = "jobset.sigs.k8s.io/jobset-name";
    if (set.host_names)
        made.companions.push_back(headless_service(
            set.object, domain, {}, {{of_set, set.object.name}}, set.early_names, owner));
    for (const boost::json::object* const from : set.claims) {
        boost::json::object claim = claim_document(
            set.object.name_space, detail::claim_name(set, detail::volume_of(from)), *from);
        set_label(claim, std::string(of_set), std::string(set.object.name));
        child_at(claim, "metadata")["ownerReferences"] = boost::json::array{owner_document(owner)};
        made.companions.push_back(std::move(claim));
    }
    return made;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
