// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <muster/document/document_hash.hpp>
#include <muster/document/generated_name.hpp>
#include <muster/gangs/gang_leaves.hpp>
#include <muster/gangs/gang_marks.hpp>
#include <muster/gangs/job_object.hpp>
#include <muster/gangs/pod_draft.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// How an object that is no batch job makes equal pods of one template.
enum class workload_kind : std::uint8_t {
    deployment,
    /// ReplicaSet and ReplicationController.
    replica_set,
    stateful_set,
    /// Kubeflow's, through a StatefulSet of one.
    notebook,
    /// Knative's Service, by its first revision.
    knative_service,
    /// Pods are made by a controller of its own, if the manifest has a template at all.
    other,
};

struct workload {
    job_object object;
    workload_kind kind = workload_kind::other;
    std::int64_t replicas = 1;
    std::int64_t first = 0; ///< ordinal
    /// How many start together; Knative's min-scale, AmlJob's node count.
    std::int64_t minimum = 1;
    const boost::json::object* pod_template = nullptr; ///< absent: unknown pods
    std::string_view service_name;
    const boost::json::array* volume_claims = nullptr; ///< a StatefulSet's volumeClaimTemplates
    std::vector<std::string_view> lifecycle;
};

namespace detail {

/// The object that owns the pods: itself, or what it has made.
[[nodiscard]] inline object_reference pod_owner(const workload& from) {
    const std::string name(from.object.name);
    if (from.kind != workload_kind::deployment && from.kind != workload_kind::knative_service &&
        from.kind != workload_kind::notebook)
        return reference_to(from.object);
    if (from.kind == workload_kind::notebook)
        return {"apps/v1", "StatefulSet", name, {}};
    document_hash hash;
    if (from.pod_template)
        hash.add_document(*from.pod_template);
    const std::string stem =
        from.kind == workload_kind::knative_service ? name + "-00001-deployment" : name;
    return {"apps/v1", "ReplicaSet", stem + '-' + hash.letters(10), {}};
}

[[nodiscard]] inline std::string workload_pod(const workload& from, const object_reference& owner,
                                              std::int64_t index) {
    if (from.kind == workload_kind::stateful_set || from.kind == workload_kind::notebook)
        return std::string(from.object.name) + '-' + std::to_string(index);
    return generated_name(from.object.name_space, owner.name + '-', index);
}

inline void dress_workload_pod(const workload& from, const object_reference& owner, pod_draft& pod,
                               std::string_view name, std::int64_t index,
                               std::vector<boost::json::object>& claims) {
    pod.own(owner);
    const std::string ordinal = std::to_string(index);
    switch (from.kind) {
    case workload_kind::deployment:
        pod.label("pod-template-hash", std::string_view(owner.name).substr(owner.name.size() - 10));
        break;
    case workload_kind::notebook:
        pod.label("notebook-name", from.object.name);
        pod.label("statefulset", from.object.name);
        [[fallthrough]];
    case workload_kind::stateful_set:
        pod.label("statefulset.kubernetes.io/pod-name", name);
        pod.label("apps.kubernetes.io/pod-index", ordinal);
        pod.spec()["hostname"] = name;
        if (!from.service_name.empty())
            pod.spec()["subdomain"] = from.service_name;
        mount_own_claims(pod, from.volume_claims, from.object.name_space, name, claims);
        break;
    case workload_kind::knative_service:
        pod.label("pod-template-hash", std::string_view(owner.name).substr(owner.name.size() - 10));
        pod.label("serving.knative.dev/service", from.object.name);
        pod.label("serving.knative.dev/revision", std::string(from.object.name) + "-00001");
        // What a revision says beside a pod's spec.
        for (const std::string_view key : {"containerConcurrency", "timeoutSeconds",
                                           "idleTimeoutSeconds", "responseStartTimeoutSeconds"})
            pod.spec().erase(key);
        pod.for_each_container([](boost::json::object& each) {
            if (!find(&each, "name"))
                each["name"] = "user-container";
        });
        break;
    case workload_kind::replica_set:
    case workload_kind::other:
        break;
    }
}

} // namespace detail

/// The gangs of the object: a Deployment's pods are one gang each, a Knative Service's first
/// revision is one, and so is any other object. O(gangs).
[[nodiscard]] inline job_plan gangs_of(const workload& from, const job_options& = {}) {
    job_plan plan;
    const bool apart = from.kind == workload_kind::deployment;
    const object_reference owner = detail::pod_owner(from);
    const auto add = [&](std::string name, std::int64_t first, std::int64_t count) {
        planned_gang planned;
        if (from.pod_template && count > 0)
            planned.series.push_back(
                {vertex_index{0}, {}, from.pod_template, first, count, 0, false});
        std::optional<labelled_gang> labelled;
        if (!apart)
            labelled = settle_marks(planned.series);
        else if (!planned.series.empty())
            planned.series.front().loose = !membership_mark(from.pod_template).empty();
        if (labelled)
            name = labelled->name;
        planned.gang = gang_of(from.object, name, {from.pod_template});
        planned.gang.tree.require_members(vertex_index{0},
                                          labelled ? labelled->minimum : from.minimum);
        if (labelled)
            planned.gang.origin = target::ack_1_31;
        if (apart)
            planned.gang.owners = {{"v1", "Pod", std::move(name), {}, true}};
        if (from.pod_template)
            settle_leaves(planned);
        plan.gangs.push_back(std::move(planned));
    };
    if (apart)
        for (std::int64_t i = 0; i < from.replicas; ++i)
            add(detail::workload_pod(from, owner, i), i, 1);
    else if (from.kind == workload_kind::knative_service)
        add(std::string(from.object.name) + "-00001", 0, from.replicas);
    else
        add(std::string(from.object.name), from.first, from.replicas);
    lose_lifecycle(plan, from.object, from.lifecycle);
    return plan;
}

/// The pods as they are named and labelled by the object's controllers.
[[nodiscard]] inline job_gangs pods_of(const workload& from, job_plan plan,
                                       const job_options& options = {}) {
    const object_reference owner = detail::pod_owner(from);
    std::vector<boost::json::object> claims;
    job_gangs made = make_pods(
        from.object, std::move(plan), options,
        [&](const planned_gang&, const pod_series&, std::int64_t index) {
            return detail::workload_pod(from, owner, index);
        },
        [&](pod_draft& pod, const planned_gang&, const pod_series&, std::int64_t index) {
            detail::dress_workload_pod(from, owner, pod, detail::workload_pod(from, owner, index),
                                       index, claims);
        });
    made.companions = std::move(claims);
    return made;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
