// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <muster/apis/grove/names.hpp>
#include <muster/input/cluster.hpp>
#include <muster/sim/grove_play.hpp>
#include <muster/sim/input_pods.hpp>
#include <muster/sim/job_controller.hpp>
#include <muster/sim/job_run.hpp>
#include <muster/sim/read_sets.hpp>
#include <muster/sim/run_options.hpp>
#include <muster/sim/run_record.hpp>
#include <muster/sim/run_script.hpp>

namespace muster {
inline namespace v0_1 {
namespace sim {
namespace detail {

/// Who has a name, or will have: the job that it is of, else what stands in the input.
template<class Object>
struct name_holder {
    std::string self;
    const Object* object = nullptr;
};
template<class Object>
using name_holders = std::map<codec::object_key, name_holder<Object>>;

/// The pods that a job may have, one for each type; their kinds of resources are all there will be.
/// Pods and a group of the input that are its own are so from the start on; two owners of one name
/// are an error.
inline void foresee_pods(const job_input& input, job_controller& job, codec::manifests& foreseen,
                         name_holders<codec::pod_object>& owners,
                         name_holders<codec::pod_group_object>& groups, codec::diagnostics& out) {
    const std::string self =
        std::string(to_text(job.job.kind)) + " " + job.key().name_space + "/" + job.key().name;
    translate::t9k_job largest = job.job;
    if (is_elastic(largest))
        largest.elastic->expected = largest.elastic->most;
    const auto tasks = lifecycle::plan_of(largest).tasks;
    for (std::size_t type = 0; type < tasks.size(); ++type)
        for (std::size_t rank = 0; rank < tasks[type].pods.size(); ++rank) {
            const std::string& name = tasks[type].pods[rank];
            auto& holder = owners[{job.key().name_space, name}];
            if (holder.object != nullptr && is_own(*holder.object, input))
                job.adopt({type, static_cast<std::int64_t>(rank)}, name, observe(*holder.object));
            else if (!holder.self.empty())
                report(out, codec::severity::error, input.where, {"metadata", "name"},
                       "pod " + name + " would be that of " + holder.self +
                           " too (expected names of pods that are its own)");
            holder = {self, nullptr};
        }
    if (job.plan().grouped) {
        auto& holder = groups[{job.key().name_space, group_name(job.job)}];
        if (holder.object != nullptr && is_own(*holder.object, input))
            job.group = true;
        else if (!holder.self.empty())
            report(out, codec::severity::error, input.where, {"metadata", "name"},
                   "its PodGroup would be that of " + holder.self +
                       " too (expected a name of its own)");
        holder = {self, nullptr};
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
                         const std::deque<job_controller>& jobs, const grove_play& sets,
                         codec::diagnostics& out) {
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
        if (sets.check(event, out) && job == jobs.end())
            continue;
        if (job == jobs.end()) {
            out.error(event.where,
                      "there is no job " +
                          codec::in_quotes(event.whom.name_space + "/" + event.whom.name) +
                          " (expected one of the input)");
        } else if (event.what == script_action::set_image) {
            out.error(event.where, "a job keeps its image (expected a PodCliqueSet)");
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

/// A set makes its pods itself.
inline void check_pods_of_sets(const codec::manifests& objects, const std::vector<set_input>& sets,
                               codec::diagnostics& out) {
    for (const codec::pod_object& pod : objects.pods) {
        const std::string* const part = codec::label(pod, translate::grove::part_of_label);
        if (part == nullptr || codec::label(pod, translate::grove::clique_label) == nullptr)
            continue;
        for (const set_input& set : sets)
            if (key_of(set.document) == codec::object_key{pod.metadata.key.name_space, *part})
                report(out, codec::severity::error, pod.metadata.where, {"metadata", "labels"},
                       "the PodCliqueSet " + codec::in_quotes(*part) +
                           " is in the input as well (expected the set without its pods, which a "
                           "run makes, or the pods without their set)");
    }
}

} // namespace detail

/// Runs T9k jobs, PodCliqueSets, and pods of the input that are nobody's, from creation to their
/// end in virtual time: controllers, cycles and pods that run for as long as they declare. Nothing
/// when something is wrong with the input, which is reported. The order of the objects decides
/// nothing. `how` is a policy, or a function that returns the policy for the cluster that was read.
template<class Policy>
[[nodiscard]] std::optional<run_record>
run_jobs(const codec::manifests& objects, std::vector<job_input> inputs,
         std::vector<set_input> set_inputs, const std::vector<script_event>& script,
         const Policy& how, codec::cluster_options where, const run_options& options,
         codec::diagnostics& out) {
    std::ranges::sort(inputs, {}, [](const job_input& of) {
        return std::tuple(of.job.name_space, of.job.name, of.job.kind);
    });
    std::deque<job_controller> jobs;
    codec::manifests foreseen;
    detail::name_holders<codec::pod_object> owners;
    for (const codec::pod_object& pod : objects.pods)
        owners[pod.metadata.key] = {"the input", &pod};
    detail::name_holders<codec::pod_group_object> groups;
    for (const codec::pod_group_object& group : objects.pod_groups)
        groups[group.metadata.key] = {"the input", &group};
    detail::check_pods_of_sets(objects, set_inputs, out);
    grove_play sets(std::move(set_inputs), out);
    foreseen.pods = sets.foreseen();
    std::optional<codec::timestamp> first = sets.first();
    for (const job_input& each : inputs) {
        jobs.emplace_back(each, options.sample_conditions, out);
        detail::foresee_pods(each, jobs.back(), foreseen, owners, groups, out);
        if (each.created && (!first || *each.created < *first))
            first = each.created;
    }
    detail::check_script(script, objects, jobs, sets, out);
    where.now = options.now ? options.now : std::max(objects.newest, first);
    std::optional<run_record> record;
    if (!out.ok())
        return record;
    auto known = codec::make_cluster(objects, where, out, &foreseen);
    if (!known || !out.ok())
        return record;
    const auto run_by = [&](const auto& policy) {
        record = detail::job_run(*known, jobs, sets, script, policy, options, out).run();
    };
    if constexpr (std::invocable<const Policy&, decltype(*known)>)
        run_by(how(*known));
    else
        run_by(how);
    return record;
}

} // namespace sim
} // namespace v0_1
} // namespace muster
