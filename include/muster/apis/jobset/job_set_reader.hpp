// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/batch/job_reader.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/job_reader.hpp>
#include <muster/apis/jobset/job_set.hpp>
#include <muster/document/field_reader.hpp>
#include <muster/gangs/job_object.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

inline void read_replicated_job(object_reader& object, const reading_context& context,
                                translate::job_set& set) {
    translate::replicated_job read;
    const field name_at = object.required("name");
    read.name = text_of(name_at);
    read.replicas = count_of(object.optional("replicas")).value_or(1);
    const field template_at = object.required("template");
    object_reader made = template_at.as_object();
    const field metadata_at = made.optional("metadata");
    object_reader metadata = metadata_at.as_object();
    read.labels = read_texts(metadata.optional("labels"));
    read.annotations = read_texts(metadata.optional("annotations"));
    read.job = read_batch_job_spec(made, context);
    // JobSet's webhook makes its Jobs indexed unless they say otherwise.
    const field spec_at = made.optional("spec");
    object_reader spec = spec_at.as_object();
    if (!spec.optional("completionMode").is_present())
        read.job.indexed = true;
    const field waits_at = object.optional("dependsOn");
    read.waits = waits_at.as_array().size() > 0;
    if (const std::string_view group = text_of(object.optional("groupName")); !group.empty())
        read.group = group;
    object.finish();
    // Which of its Jobs are gangs is for the set to say.
    if (read.job.scheduled)
        read.job.lifecycle.push_back("scheduling of its Jobs");
    for (const std::string_view each : read.job.lifecycle)
        if (std::ranges::find(set.lifecycle, each) == set.lifecycle.end())
            set.lifecycle.push_back(each);
    if (std::ranges::find(set.jobs, read.name, &translate::replicated_job::name) != set.jobs.end())
        name_at.error(in_quotes(read.name) + " is there twice (expected every name once)");
    set.jobs.push_back(std::move(read));
}

inline void read_network(const field& at, translate::job_set& set) {
    object_reader object = at.as_object();
    set.host_names = object.optional("enableDNSHostnames").as_boolean().value_or(true);
    set.subdomain = text_of(object.optional("subdomain"));
    set.early_names = object.optional("publishNotReadyAddresses").as_boolean().value_or(true);
    object.finish();
}

/// The pod that `coordinator` names by its replicated job and indices, by its host name.
inline void read_coordinator(const field& at, translate::job_set& set) {
    object_reader object = at.as_object();
    if (!object.is_present())
        return;
    const field name_at = object.required("replicatedJob");
    const std::string_view name = text_of(name_at);
    const auto job = count_of(object.optional("jobIndex")).value_or(0);
    const auto pod = count_of(object.optional("podIndex")).value_or(0);
    object.finish();
    const auto found = std::ranges::find(set.jobs, name, &translate::replicated_job::name);
    if (found == set.jobs.end())
        return name_at.error(in_quotes(name) + " is no replicated job (expected the name of one)");
    set.coordinator = std::string(set.object.name) + '-' + std::string(name) + '-' +
                      std::to_string(job) + '-' + std::to_string(pod) + '.' +
                      std::string(set.subdomain.empty() ? set.object.name : set.subdomain);
}

/// The volumes of volumeClaimPolicies.
inline void read_claim_policies(const field& at, translate::job_set& set) {
    const array_reader policies = at.as_array();
    policies.for_each_object([&](object_reader& policy) {
        const field templates_at = policy.optional("templates");
        const array_reader templates = templates_at.as_array();
        templates.for_each_object([&](object_reader& each) {
            const field metadata_at = each.required("metadata");
            object_reader metadata = metadata_at.as_object();
            if (const std::string_view name = text_of(metadata.required("name")); !name.empty())
                set.claims.push_back(&each.value()->get_object());
            metadata.ignore_rest();
            each.ignore_rest();
        });
        std::vector<std::string_view> kept;
        note_present(policy, {"retentionPolicy"}, kept);
        if (!kept.empty() && std::ranges::find(set.lifecycle, kept[0]) == set.lifecycle.end())
            set.lifecycle.push_back(kept[0]);
        policy.finish();
    });
}

/// schedulingPolicy or policy: a gang of minCount, or basic.
inline void read_job_set_policy(object_reader& object, translate::job_set_gang& into) {
    for (const std::string_view key : {"schedulingPolicy", "policy"}) {
        const field policy_at = object.optional(key);
        object_reader policy = policy_at.as_object();
        const field gang_at = policy.optional("gang");
        object_reader gang = gang_at.as_object();
        if (const auto least = count_of(gang.optional("minCount"), 1))
            into.minimum = least;
        into.said = into.said || gang.is_present();
        gang.finish();
        if (policy.optional("basic").is_present())
            into.basic = into.said = true;
        policy.finish();
    }
    read_group_constraints(object, into);
}

/// What a gang leaves open it has as the set says it for all.
inline void take_from_whole(const translate::job_set_gang& whole, translate::job_set_gang& into) {
    if (!into.said)
        into.basic = whole.basic;
    if (into.topology.empty())
        into.topology = whole.topology;
    if (!into.disruption)
        into.disruption = whole.disruption;
}

/// An entry of scheduling.replicatedJobs: a gang of the replicated jobs that it names.
inline void read_job_set_entry(object_reader& object, const translate::job_set_gang& whole,
                               translate::job_set& set) {
    translate::job_set_gang read;
    read.name = set.object.name;
    for (const std::string_view key : {"targetReplicatedJobs", "targetReplicatedJob"}) {
        const field names_at = object.optional(key);
        const array_reader names = names_at.as_array();
        names.for_each([&](const field& each) {
            const std::string_view name = text_of(each);
            const auto found = std::ranges::find(set.jobs, name, &translate::replicated_job::name);
            if (found == set.jobs.end())
                return each.error(in_quotes(name) +
                                  " is no replicated job (expected the name of one)");
            read.jobs.push_back(static_cast<std::size_t>(found - set.jobs.begin()));
            read.name.append("-").append(name);
        });
    }
    read_job_set_policy(object, read);
    const field job_at = object.optional("job");
    object_reader job = job_at.as_object();
    if (job.is_present()) {
        read.each_job = true;
        read_job_set_policy(job, read);
        job.finish();
    }
    object.finish();
    if (read.jobs.empty())
        object.error("no replicated job is named (expected targetReplicatedJobs)");
    else if (read.each_job && read.jobs.size() > 1)
        job_at.error("it names several replicated jobs (expected one with `job`)");
    else {
        take_from_whole(whole, read);
        set.gangs.push_back(std::move(read));
    }
}

/// A gang per replicated job that no gang has yet, as the set says it for all.
inline void add_remaining_gangs(translate::job_set& set, const translate::job_set_gang& whole) {
    for (std::size_t i = 0; i < set.jobs.size(); ++i) {
        bool known = false;
        for (const translate::job_set_gang& each : set.gangs)
            known = known || std::ranges::find(each.jobs, i) != each.jobs.end();
        if (known)
            continue;
        translate::job_set_gang one;
        one.name = std::string(set.object.name) + '-' + std::string(set.jobs[i].name);
        one.jobs = {i};
        one.in_workload = whole.in_workload;
        one.group = set.jobs[i].name;
        take_from_whole(whole, one);
        set.gangs.push_back(std::move(one));
    }
}

inline void add_one_gang(translate::job_set& set, translate::job_set_gang one) {
    one.name = set.object.name;
    for (std::size_t i = 0; i < set.jobs.size(); ++i)
        one.jobs.push_back(i);
    set.gangs.push_back(std::move(one));
}

/// spec.scheduling: one gang of all pods, unless entries speak of some of them, they start one
/// after the other or nobody waits for others (policy `basic`): then one per replicated job, and
/// per entry.
inline void read_job_set_scheduling(const field& at, translate::job_set& set) {
    object_reader object = at.as_object();
    if (!object.is_present())
        return;
    translate::job_set_gang whole;
    read_job_set_policy(object, whole);
    bool entries = false;
    for (const std::string_view key : {"replicatedJobs", "replicatedJobPolicies"}) {
        const field list_at = object.optional(key);
        const array_reader list = list_at.as_array();
        list.for_each_object([&](object_reader& each) { read_job_set_entry(each, whole, set); });
        entries = entries || list.size() > 0;
    }
    object.finish();
    bool waits = set.in_order;
    for (const translate::replicated_job& job : set.jobs)
        waits = waits || job.waits;
    if (entries || whole.basic || (waits && !whole.minimum))
        add_remaining_gangs(set, whole);
    else
        add_one_gang(set, std::move(whole));
}

/// spec.gangPolicy, which came before `scheduling`: JobSetAsGang, JobSetGangPerReplicatedJob or
/// JobSetWorkloadTemplate, whose podGroups are named as the replicated jobs.
inline void read_gang_policy(const field& at, translate::job_set& set) {
    object_reader object = at.as_object();
    if (!object.is_present())
        return;
    set.gangs_of = translate::target::workload_1_35;
    const field policy_at = object.required("policy");
    const std::string_view policy = text_of(policy_at);
    const field workload_at = object.optional("workload");
    object_reader workload = workload_at.as_object();
    const field metadata_at = workload.optional("metadata");
    object_reader metadata = metadata_at.as_object();
    set.workload_labels = read_texts(metadata.optional("labels"));
    set.workload_annotations = read_texts(metadata.optional("annotations"));
    metadata.ignore_rest();
    const field spec_at = workload.optional("spec");
    object_reader spec = spec_at.as_object();
    const field groups_at = spec.optional("podGroups");
    const array_reader groups = groups_at.as_array();
    translate::job_set_gang grouped;
    grouped.in_workload = true;
    if (policy == "JobSetAsGang")
        add_one_gang(set, grouped);
    else if (policy == "JobSetGangPerReplicatedJob")
        add_remaining_gangs(set, grouped);
    else if (policy != "JobSetWorkloadTemplate")
        policy_at.error(in_quotes(policy) +
                        " is no policy (expected JobSetAsGang, JobSetGangPerReplicatedJob or "
                        "JobSetWorkloadTemplate)");
    groups.for_each_object([&](object_reader& each) {
        const std::string_view name = text_of(each.required("name"));
        translate::job_set_gang one;
        one.name = std::string(set.object.name) + '-' + std::string(name);
        one.in_workload = true;
        one.group = name;
        read_job_set_policy(each, one);
        each.finish();
        const auto found = std::ranges::find(set.jobs, name, &translate::replicated_job::name);
        if (found == set.jobs.end())
            return each.warning("no replicated job is named so: no pods are known of this gang");
        one.jobs = {static_cast<std::size_t>(found - set.jobs.begin())};
        set.gangs.push_back(std::move(one));
    });
    spec.finish();
    workload.ignore_rest();
    object.finish();
    if (policy != "JobSetWorkloadTemplate")
        return;
    translate::job_set_gang rest;
    rest.basic = true;
    rest.in_workload = true;
    add_remaining_gangs(set, rest);
}

} // namespace detail

/// The spec of a JobSet, which a training runtime holds too.
inline void read_job_set_spec(object_reader& spec, const reading_context& context,
                              translate::job_set& set) {
    // As the first version called them.
    const bool first = set.object.api_version == "jobset.x-k8s.io/v1alpha1" && spec.is_present() &&
                       spec.value()->get_object().contains("jobs");
    const field jobs_at = spec.required(first ? "jobs" : "replicatedJobs");
    const array_reader jobs = jobs_at.as_array();
    jobs.for_each_object(
        [&](object_reader& each) { detail::read_replicated_job(each, context, set); });
    if (jobs.is_present() && jobs.size() == 0)
        jobs.error("no replicated job is there (expected at least one)");
    const field startup_at = spec.optional("startupPolicy");
    object_reader startup = startup_at.as_object();
    const field order_at = startup.optional("startupPolicyOrder");
    const std::string_view order = text_of(order_at);
    set.in_order = order == "InOrder";
    if (!order.empty() && !set.in_order && order != "AnyOrder")
        order_at.error(in_quotes(order) + " is no order (expected InOrder or AnyOrder)");
    startup.finish();
    detail::read_network(spec.optional("network"), set);
    note_present(
        spec, {"successPolicy", "failurePolicy", "suspend", "managedBy", "ttlSecondsAfterFinished"},
        set.lifecycle);
    detail::read_job_set_scheduling(spec.optional("scheduling"), set);
    detail::read_gang_policy(spec.optional("gangPolicy"), set);
    detail::read_coordinator(spec.optional("coordinator"), set);
    detail::read_claim_policies(spec.optional("volumeClaimPolicies"), set);
    spec.finish();
}

/// Whether the set's pods are not too many, which is an error.
[[nodiscard]] inline bool can_make(const translate::job_set& set, const object_reader& object) {
    std::int64_t sum = 0;
    for (const translate::replicated_job& job : set.jobs) {
        sum += job.replicas * std::max<std::int64_t>(1, pods_at_once(job.job));
        if (sum > most_pods_of_a_job) {
            report_too_many_pods(object);
            return false;
        }
    }
    return true;
}

/// jobset.x-k8s.io/v1alpha2 JobSet.
[[nodiscard]] inline translate::job_gangs read_job_set(object_reader& object,
                                                       reading_context& context,
                                                       const translate::job_options& options) {
    translate::job_set set;
    set.object = read_job_object(object, context);
    set.minimum = read_batch_minimum(object);
    set.exclusive_topology =
        translate::find_text(set.object.annotations, translate::job_set_exclusive)
            .value_or(std::string_view{});
    set.selects_nodes =
        translate::find(set.object.annotations, translate::job_set_node_selector) != nullptr;
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    read_job_set_spec(spec, context, set);
    object.finish();
    if (!can_make(set, object))
        return {};
    return pods_of(set, gangs_of(set, options), options);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
