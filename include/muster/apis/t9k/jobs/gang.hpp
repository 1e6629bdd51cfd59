// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/apis/t9k/jobs/names.hpp>
#include <muster/base/id.hpp>
#include <muster/gangs/gang_object.hpp>
#include <muster/gangs/target.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// The job as its pods and its group name it.
[[nodiscard]] inline object_reference owner_of(const t9k_job& job) {
    return {std::string(t9k_job_api), std::string(to_text(job.kind)), std::string(job.name),
            std::string(job.uid), true};
}

namespace detail {

[[nodiscard]] inline bool counts(const t9k_replica_spec& spec, const t9k_options& options) {
    switch (spec.part) {
    case replica_part::worker:
        break;
    case replica_part::launcher:
        return options.count_launcher;
    case replica_part::submitter:
        return options.count_submitter;
    }
    return true;
}

/// Of an elastic job's minimum a type has the share that it has of the replicas.
[[nodiscard]] inline std::vector<std::int64_t> least_counts(const t9k_job& job,
                                                            const t9k_options& options) {
    std::vector<std::int64_t> least =
        is_elastic(job) ? share_replicas(job, job.elastic->least) : replica_counts(job);
    for (std::size_t i = 0; i < least.size(); ++i)
        if (!counts(job.replica_specs[i], options))
            least[i] = 0;
    return least;
}

} // namespace detail

/// The job's PodGroup: its minimum is the number of all replicas, of an elastic job minReplicas.
/// Types of replicas are roles without minima of their own, unless an option asks for these. None
/// for a job that leaves its pods to the default scheduler. O(types).
[[nodiscard]] inline std::vector<gang_object> gangs_of(const t9k_job& job,
                                                       const t9k_options& options = {}) {
    std::vector<gang_object> gangs;
    if (!job.scheduler)
        return gangs;
    gang_object& gang = gangs.emplace_back();
    gang.kind = to_text(job.kind);
    gang.origin = target::t9k;
    gang.name_space = job.name_space;
    gang.name = group_name(job, options);
    gang.owners.push_back(owner_of(job));
    gang.queue.emplace(job.scheduler->queue);
    gang.priority.number = job.scheduler->priority;

    const std::vector<std::int64_t> least = detail::least_counts(job, options);
    const std::vector<std::int64_t> replicas = replica_counts(job);
    std::int64_t total = 0;
    for (const std::int64_t each : least)
        total += each;
    gang.tree = gang_tree(total);
    const vertex_index root{0};
    gang.sizes.reserve(replicas.size());
    if (replicas.size() == 1) {
        gang.tree.rename(root, std::string(job.replica_specs.front().type));
        gang.sizes.push_back({root, replicas.front()});
        return gangs;
    }
    for (std::size_t i = 0; i < replicas.size(); ++i) {
        const vertex_index leaf = gang.tree.add(root, options.fill_roles ? least[i] : 0,
                                                std::string(job.replica_specs[i].type));
        gang.sizes.push_back({leaf, replicas[i]});
    }
    return gangs;
}

/// The vertex of the job's gang to which the replicas of a type belong.
[[nodiscard]] inline vertex_index leaf_of(const t9k_job& job, std::size_t spec) {
    return vertex_index{job.replica_specs.size() == 1 ? 0 : spec + 1};
}

} // namespace translate
} // namespace v0_1
} // namespace muster
