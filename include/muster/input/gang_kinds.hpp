// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <muster/apis/gang_facts.hpp>
#include <muster/apis/grove/names.hpp>
#include <muster/apis/grove/pod_gang_reader.hpp>
#include <muster/apis/job_kinds.hpp>
#include <muster/apis/kubeflow/train_job_reader.hpp>
#include <muster/apis/t9k/jobs/job_reader.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/input/group_objects.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

// Classification of kinds, for the readers of gangs.

[[nodiscard]] inline bool is_grove(std::string_view version, std::string_view kind,
                                   std::string_view wanted) {
    return version == translate::grove::api_version && kind == wanted;
}

/// Older versions of Grove call a PodCliqueSet a PodGangSet.
[[nodiscard]] inline bool is_grove_set(std::string_view version, std::string_view kind) {
    return is_grove(version, kind, "PodCliqueSet") || is_grove(version, kind, "PodGangSet");
}

[[nodiscard]] inline bool is_gang_group(std::string_view version, std::string_view kind) {
    return group_api(version, kind) != translate::gang_api::none;
}

/// Kinds whose objects are read as the groups and pods that their controller makes.
[[nodiscard]] inline bool makes_gangs(std::string_view version, std::string_view kind) {
    return t9k_job_kind(version, kind) || find_job_kind(version, kind) ||
           (version == trainer_api && kind == "TrainJob") || is_grove_set(version, kind) ||
           is_pod_gang(version, kind);
}

/// Returns true for kinds whose objects create jobs later.
[[nodiscard]] inline bool makes_jobs_later(std::string_view version, std::string_view kind) {
    const job_kind* const known = find_job_kind(version, kind);
    return known && (known->read == read_cron_job || known->read == read_volcano_cron_job ||
                     known->read == read_volcano_template || known->read == read_volcano_flow);
}

/// Returns true for job kinds whose pods exist as soon as the object does, and follow from it.
[[nodiscard]] inline bool has_pods_now(std::string_view version, std::string_view kind) {
    if (!makes_gangs(version, kind) || is_pod_gang(version, kind) ||
        makes_jobs_later(version, kind))
        return false;
    const job_kind* const known = find_job_kind(version, kind);
    return !known || (known->read != read_unknown_pods && known->read != read_unknown_owner &&
                      known->read != read_aml_job && known->read != read_undescribed_version);
}

/// Objects of a cluster as it stands that are gangs, or become gangs.
[[nodiscard]] inline bool is_of_gangs(std::string_view version, std::string_view kind) {
    return (is_gang_group(version, kind) && version != translate::t9k_group_version) ||
           is_pod_gang(version, kind) || has_pods_now(version, kind);
}

/// Kinds that are known to describe no pods.
[[nodiscard]] inline bool describes_no_pods(std::string_view version, std::string_view kind) {
    static constexpr std::array<std::string_view, 13> core{
        "Node",          "Namespace",  "Service",          "ConfigMap",
        "Secret",        "Event",      "Endpoints",        "ServiceAccount",
        "ResourceQuota", "LimitRange", "PersistentVolume", "PersistentVolumeClaim",
        "Binding"};
    if (version == "v1")
        return std::ranges::find(core, kind) != core.end();
    static constexpr std::array<std::string_view, 10> groups{"rbac.authorization.k8s.io",
                                                             "storage.k8s.io",
                                                             "networking.k8s.io",
                                                             "apiextensions.k8s.io",
                                                             "policy",
                                                             "autoscaling",
                                                             "resource.k8s.io",
                                                             "discovery.k8s.io",
                                                             "coordination.k8s.io",
                                                             "node.k8s.io"};
    if (std::ranges::find(groups, version.substr(0, version.find('/'))) != groups.end())
        return true;
    return kind == "Queue" &&
           (version == translate::t9k_group_version || apis::volcano_api::is_version(version) ||
            version == translate::kai_queue_version);
}

} // namespace detail

/// Why objects of a kind in `manifests::skipped` were left out.
enum class skip_reason : std::uint8_t {
    describes_no_pods, ///< such as Service
    makes_none_now,    ///< a CronJob, or a job that is over or whose pods the input lacks
    not_understood,
};

/// `title` is the object's `apiVersion kind`.
[[nodiscard]] inline skip_reason reason_to_skip(std::string_view title) {
    const std::string_view version = title.substr(0, title.find(' '));
    const std::string_view kind = title.substr(std::min(title.size(), version.size() + 1));
    if (detail::has_pods_now(version, kind) || detail::makes_jobs_later(version, kind))
        return skip_reason::makes_none_now;
    return detail::describes_no_pods(version, kind) ? skip_reason::describes_no_pods
                                                    : skip_reason::not_understood;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
