// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/loss.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// Who says what a job's gang is.
enum class job_rules : std::uint8_t {
    /// The job's own controller; where it knows no gangs, the podgrouper.
    controller,
    /// KAI's podgrouper, for all kinds.
    podgrouper,
};

struct job_options {
    job_rules rules = job_rules::controller;
    /// The pods too; without them a gang tells only how many there are to be.
    bool pods = true;
};

/// What is the same in the manifests of all jobs. Views and pointers lead into the manifest, which
/// outlives this and everything that is planned from it.
struct job_object {
    std::string_view api_version;
    std::string_view kind;
    std::string_view name_space;
    std::string_view name;
    std::string_view uid;
    const boost::json::object* labels = nullptr;
    const boost::json::object* annotations = nullptr;
};

/// The largest number of replicas that Kubernetes can count.
inline constexpr std::int64_t most_replicas_of_a_job = 2147483647;

/// Pods that differ only in their index. They run from `first` to `first + count - 1`.
struct pod_series {
    vertex_index leaf; ///< of the gang's tree
    std::string role;
    const boost::json::object* pod_template = nullptr; ///< a PodTemplateSpec
    std::int64_t first = 0;
    std::int64_t count = 0;
    /// Which of several equal parts of the job they are, such as the group of a LeaderWorkerSet.
    std::int64_t part = 0;
    /// The template ties its pods to a gang that is described elsewhere: they are none of this one.
    bool loose = false;
};

/// A gang and the pods that it is to have.
struct planned_gang {
    gang_object gang;
    std::vector<pod_series> series;
};

/// What a job means, before its pods are made.
struct job_plan {
    std::vector<planned_gang> gangs;
    /// What the job says and no gang can.
    std::vector<loss> losses;
};

/// What a job is made into.
struct job_gangs {
    std::vector<gang_bundle> gangs;
    /// Pods whose template ties them to a gang that is described elsewhere, with all their marks:
    /// to be read as pods are.
    std::vector<boost::json::object> loose_pods;
    /// What its controller makes beside pods and groups and its pods need: Services by whose names
    /// they find each other, and ConfigMaps. Made with the pods.
    std::vector<boost::json::object> companions;
    std::vector<loss> losses;
};

/// As losses name it: kind namespace/name.
[[nodiscard]] inline std::string title_of(const job_object& job) {
    std::string title(job.kind);
    title.append(" ").append(job.name_space).append("/").append(job.name);
    return title;
}

[[nodiscard]] inline object_reference reference_to(const job_object& job) {
    return {std::string(job.api_version), std::string(job.kind), std::string(job.name),
            std::string(job.uid)};
}

/// Notes what a job says and no gang can.
inline void lose(job_plan& plan, loss_kind what, const job_object& job, std::string detail) {
    plan.losses.push_back({what, title_of(job), std::move(detail)});
}

/// What happens after the start, by the fields that say it; nothing when there are none. `title` as
/// of title_of().
inline void lose_lifecycle(std::vector<loss>& to, std::string title,
                           const std::vector<std::string_view>& fields) {
    if (fields.empty())
        return;
    std::string detail;
    for (const std::string_view field : fields)
        detail.append(detail.empty() ? "" : ", ").append(field);
    to.push_back(
        {loss_kind::lifecycle, std::move(title), detail + ": the job's own controller sees to it"});
}
inline void lose_lifecycle(job_plan& plan, const job_object& job,
                           const std::vector<std::string_view>& fields) {
    lose_lifecycle(plan.losses, title_of(job), fields);
}

} // namespace translate
} // namespace v0_1
} // namespace muster
