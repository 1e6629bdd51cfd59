// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/gang_facts.hpp>
#include <muster/gangs/gang_leaves.hpp>
#include <muster/gangs/gang_marks.hpp>
#include <muster/gangs/job_object.hpp>
#include <muster/gangs/pod_draft.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// A networkTopology: how near each other pods are to stand in Volcano's tree of hypernodes. Only
/// Volcano knows its tiers, so it stays as it is written.
struct volcano_topology {
    bool hard = true;
    const boost::json::object* document = nullptr;
};

/// tasks[].partitionPolicy: the task's replicas in equal parts that are gangs of their own.
struct volcano_partitions {
    std::int64_t total = 0;
    std::int64_t size = 1;
    std::int64_t least = 0; ///< how many of them must start
    std::optional<volcano_topology> topology;
};

struct volcano_task {
    std::string name;
    std::int64_t replicas = 0;
    std::optional<std::int64_t> min_available;
    const boost::json::object* pod_template = nullptr;
    std::optional<volcano_partitions> partitions;
    std::string_view numa_policy; ///< topologyPolicy
    bool waits = false;           ///< dependsOn
};

/// A batch.volcano.sh/v1alpha1 Job, as its manifest says it.
struct volcano_job {
    job_object object;
    std::string_view scheduler_name = schedulers::volcano;
    std::int64_t min_available = 0; ///< 0: what the tasks want together
    std::string_view queue;         ///< empty: Volcano's own default, `default`
    std::string_view priority_class;
    std::optional<volcano_topology> topology;
    std::vector<volcano_task> tasks;
    const boost::json::object* plugins = nullptr; ///< name -> arguments
    const boost::json::array* volumes = nullptr;
    std::vector<std::string_view> lifecycle;
};

/// How many of a task's replicas must start: what it says, else what its partitions say, else all.
[[nodiscard]] inline std::int64_t minimum_of(const volcano_task& task) {
    if (task.min_available)
        return *task.min_available;
    if (task.partitions && task.partitions->least > 0)
        return task.partitions->least * task.partitions->size;
    return task.replicas;
}

namespace detail {

/// Plugins set variables, which the pods have, and do more than that; what svc makes is made.
inline void lose_plugins(const volcano_job& job, job_plan& plan) {
    if (!job.plugins)
        return;
    std::string names;
    for (const auto& each : *job.plugins)
        if (each.key() != "env" && each.key() != "svc")
            names.append(names.empty() ? "" : ", ").append(each.key());
    // It brings ssh along.
    if (job.plugins->contains("mpi") && !job.plugins->contains("ssh"))
        names.append(", ssh");
    if (!names.empty())
        lose(plan, loss_kind::pod_contents, job.object,
             "plugins " + names +
                 ": the files, keys and ports that the job's own controller makes for them");
}

/// What the PodGroup that Volcano makes of the job says of its topology, and of its tasks'.
inline void keep_topology(const volcano_job& job, gang_object& gang) {
    const auto loss_of = [](bool hard) {
        return hard ? loss_kind::topology_required : loss_kind::topology_preferred;
    };
    if (job.topology)
        gang.own_words.push_back({gang_api::volcano, loss_of(job.topology->hard), "networkTopology",
                                  *job.topology->document});
    boost::json::array policies;
    bool hard = false;
    for (const volcano_task& task : job.tasks) {
        if (!task.partitions || !task.partitions->topology)
            continue;
        hard = hard || task.partitions->topology->hard;
        policies.emplace_back(boost::json::object{
            {"name", task.name},
            {"subGroupSize", task.partitions->size},
            {"minSubGroups", task.partitions->least},
            {"labelSelector", {{"matchLabels", {{keys::volcano_task, task.name}}}}},
            {"matchLabelKeys", boost::json::array{"volcano.sh/partition-id"}},
            {"networkTopology", *task.partitions->topology->document}});
    }
    if (!policies.empty())
        gang.own_words.push_back(
            {gang_api::volcano, loss_of(hard), "subGroupPolicy", std::move(policies)});
}

} // namespace detail

/// The one gang of the job, named `<job>-<uid>` (without a uid as the job), with a leaf per task;
/// a task in partitions is a subgroup with a leaf per partition. Volcano heeds the minima of tasks
/// only when the job's own is not below their sum. O(tasks + partitions).
[[nodiscard]] inline job_plan gangs_of(const volcano_job& job, const job_options& = {}) {
    job_plan plan;
    planned_gang planned;
    std::vector<pod_series> tasks;
    std::vector<const boost::json::object*> templates;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < job.tasks.size(); ++i) {
        const volcano_task& task = job.tasks[i];
        tasks.push_back({vertex_index{0}, task.name, task.pod_template, 0, task.replicas,
                         static_cast<std::int64_t>(i), false});
        templates.push_back(task.pod_template);
        sum += minimum_of(task);
    }
    const auto labelled = settle_marks(tasks);
    std::string name(job.object.name);
    if (!job.object.uid.empty())
        name.append("-").append(job.object.uid);
    gang_object& gang = planned.gang;
    gang = gang_of(job.object, labelled ? std::string(labelled->name) : std::move(name), templates);
    const std::int64_t minimum = labelled                ? labelled->minimum
                                 : job.min_available > 0 ? job.min_available
                                                         : sum;
    const vertex_index root{0};
    gang.tree.require_members(root, minimum);
    const bool heeded = !labelled && minimum >= sum;
    bool parts = false;
    std::size_t own = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        own += tasks[i].loose ? 0U : 1U;
        parts = parts || (!tasks[i].loose && job.tasks[i].partitions);
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        const volcano_task& task = job.tasks[i];
        pod_series series = tasks[i];
        if (!series.loose && (own > 1 || parts))
            series.leaf = gang.tree.add(root, heeded ? minimum_of(task) : 0, task.name);
        if (series.loose || !task.partitions) {
            planned.series.push_back(std::move(series));
            continue;
        }
        const volcano_partitions& split = *task.partitions;
        const vertex_index above = series.leaf;
        gang.tree.require_subgroups(above, split.least);
        for (std::int64_t p = 0; p < split.total; ++p) {
            pod_series part = series;
            part.leaf = gang.tree.add(above, split.size, task.name + '-' + std::to_string(p));
            part.first = p * split.size;
            part.count = split.size;
            planned.series.push_back(std::move(part));
        }
    }
    settle_leaves(planned);
    detail::keep_topology(job, gang);
    gang.origin = labelled ? target::ack_1_31 : target::volcano;
    if (!job.queue.empty())
        gang.queue = std::string(job.queue);
    // Volcano heeds the job's own class alone; classes of tasks order its pods.
    gang.priority.class_name =
        job.priority_class.empty()
            ? translate::find_text(job.object.labels, owner_mark::priority_class)
                  .value_or(std::string_view{})
            : job.priority_class;
    plan.gangs.push_back(std::move(planned));
    detail::lose_plugins(job, plan);
    for (const volcano_task& task : job.tasks)
        if (task.waits)
            lose(plan, loss_kind::startup_order, job.object,
                 "dependsOn of task " + task.name +
                     ": its pods wait for other tasks; here they "
                     "start together");
    lose_lifecycle(plan, job.object, job.lifecycle);
    return plan;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
