// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <muster/codec/cluster.hpp>
#include <muster/sim/job_controller.hpp>
#include <muster/sim/job_run.hpp>
#include <muster/sim/run_options.hpp>
#include <muster/sim/run_record.hpp>
#include <muster/sim/run_script.hpp>

namespace muster::inline v0_1 {
namespace sim {
namespace detail {

/// The pods that a job may have, one for each type; their kinds of resources are all there will be.
/// Two owners of one name are an error.
inline void foresee_pods(const job_input& input, job_controller& job, codec::manifests& foreseen,
                         std::map<codec::object_key, std::string>& owners,
                         std::map<codec::object_key, std::string>& groups,
                         codec::diagnostics& out) {
    const std::string self =
        std::string(to_text(job.job.kind)) + " " + job.key().name_space + "/" + job.key().name;
    translate::t9k_job largest = job.job;
    if (is_elastic(largest))
        largest.elastic->expected = largest.elastic->most;
    for (const lifecycle::task_plan& task : lifecycle::plan_of(largest).tasks)
        for (const std::string& name : task.pods) {
            const auto [known, fresh] =
                owners.emplace(codec::object_key{job.key().name_space, name}, self);
            if (!fresh)
                report(out, codec::severity::error, input.where, {"metadata", "name"},
                       "pod " + name + " would be that of " + known->second +
                           " too (expected names of pods that are its own)");
        }
    if (job.plan().grouped) {
        const auto [known, fresh] =
            groups.emplace(codec::object_key{job.key().name_space, group_name(job.job)}, self);
        if (!fresh)
            report(out, codec::severity::error, input.where, {"metadata", "name"},
                   "its PodGroup would be that of " + known->second +
                       " too (expected a name of its own)");
    }
    for (std::size_t type = 0; type < job.plan().tasks.size(); ++type) {
        if (job.plan().tasks[type].pods.empty())
            continue;
        for (const bool resumed : {false, true})
            if (const codec::pod_object* pod = job.pod_of({type, 0}, resumed, out))
                foreseen.pods.push_back(*pod);
    }
}

inline void check_script(const std::vector<script_event>& script, const codec::manifests& objects,
                         const std::deque<job_controller>& jobs, codec::diagnostics& out) {
    for (const script_event& event : script) {
        const bool of_node =
            event.what == script_action::lose_node || event.what == script_action::return_node;
        if (of_node) {
            if (std::ranges::none_of(objects.nodes, [&](const codec::node_object& node) {
                    return node.metadata.key.name == event.whom.name;
                }))
                out.error(event.where, "there is no node " + codec::in_quotes(event.whom.name) +
                                           " (expected one of the input)");
            continue;
        }
        if (event.what == script_action::end || event.what == script_action::delete_pod)
            continue;
        const auto job = std::ranges::find(jobs, event.whom, &job_controller::key);
        if (job == jobs.end()) {
            out.error(event.where,
                      "there is no job " +
                          codec::in_quotes(event.whom.name_space + "/" + event.whom.name) +
                          " (expected one of the input)");
        } else if (event.what == script_action::scale) {
            const auto& elastic = job->job.elastic;
            if (!elastic || !elastic->enabled)
                out.error(event.where, "the job is not elastic (expected one that is)");
            else if (event.value < elastic->least || event.value > elastic->most)
                out.error(event.where, "there would be " + std::to_string(event.value) +
                                           " replicas (expected " + std::to_string(elastic->least) +
                                           " to " + std::to_string(elastic->most) + ")");
        }
    }
}

} // namespace detail

/// Runs T9k jobs, and pods of the input that are nobody's, from creation to their end in virtual
/// time: controllers, cycles and pods that run for as long as they declare. Nothing when something
/// is wrong with the input, which is reported. The order of the objects decides nothing.
template<class Policy>
[[nodiscard]] std::optional<run_record>
run_jobs(const codec::manifests& objects, std::vector<job_input> inputs,
         const std::vector<script_event>& script, const Policy& how, codec::cluster_options where,
         const run_options& options, codec::diagnostics& out) {
    std::ranges::sort(inputs, {}, [](const job_input& of) {
        return std::tuple(of.job.name_space, of.job.name, of.job.kind);
    });
    std::deque<job_controller> jobs;
    codec::manifests foreseen;
    std::map<codec::object_key, std::string> owners;
    for (const codec::pod_object& pod : objects.pods)
        owners.emplace(pod.metadata.key, "the input");
    std::map<codec::object_key, std::string> groups;
    for (const codec::pod_group_object& group : objects.pod_groups)
        groups.emplace(group.metadata.key, "the input");
    std::optional<codec::timestamp> first;
    for (const job_input& each : inputs) {
        jobs.emplace_back(each, options.sample_conditions, out);
        detail::foresee_pods(each, jobs.back(), foreseen, owners, groups, out);
        if (each.created && (!first || *each.created < *first))
            first = each.created;
    }
    detail::check_script(script, objects, jobs, out);
    where.now = options.now ? options.now : std::max(objects.newest, first);
    std::optional<run_record> record;
    if (out.ok())
        codec::with_cluster<false>(
            objects, where, out,
            [&](auto& known) {
                if (out.ok())
                    record = detail::job_run(known, jobs, script, how, options, out).run();
            },
            &foreseen);
    return record;
}

} // namespace sim
} // namespace muster::inline v0_1
