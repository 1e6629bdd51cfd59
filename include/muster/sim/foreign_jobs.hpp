// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>

#include <muster/apis/t9k/writer.hpp>
#include <muster/document/document.hpp>
#include <muster/gangs/loss.hpp>
#include <muster/gangs/write_with.hpp>
#include <muster/input/gang_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace sim {

/// True if objects of the kind are jobs of others that a run can simulate (those of Kubeflow,
/// Volcano, Kubernetes and Ray, JobSets, LeaderWorkerSets, batch scripts of Slurm), or objects that
/// are needed to read such jobs.
[[nodiscard]] inline bool is_foreign_job(std::string_view version, std::string_view kind) {
    if (version.starts_with("kubeflow.org/"))
        return kind.ends_with("Job");
    if (version.starts_with("batch.volcano.sh/") || version == "batch/v1")
        return kind == "Job";
    return version.starts_with("jobset.x-k8s.io/") ||
           version.starts_with("leaderworkerset.x-k8s.io/") || version.starts_with("ray.io/") ||
           version.starts_with("trainer.kubeflow.org/") || version.starts_with("slurm.muster.dev/");
}

/// Jobs of others as T9k's scheduler would see them.
struct foreign_jobs {
    /// Their PodGroups and pods, to be read with the rest of the input.
    std::vector<codec::document> documents;
    /// Features of these jobs that a run does not support.
    std::vector<translate::loss> losses;
};

/// The jobs of others in an input, as their controllers make them first: groups and pods. Their
/// controllers are not there: nothing of theirs is started again or cleaned up.
[[nodiscard]] inline foreign_jobs read_foreign_jobs(const std::vector<codec::document>& documents,
                                                    const codec::gang_options& options,
                                                    codec::diagnostics& out) {
    foreign_jobs read;
    codec::gangs found = codec::read_gangs_of(documents, options, out, is_foreign_job);
    read.losses = std::move(found.losses);
    if (!out.ok())
        return read;
    for (const translate::gang_bundle& bundle : found.bundles) {
        translate::written made = translate::write_with(translate::t9k_writer{}, bundle, {});
        std::ranges::move(made.losses, std::back_inserter(read.losses));
        for (const translate::violation& each : made.violations)
            out.error({each.object, 0, 0}, each.field + ": " + each.message);
        for (boost::json::object& object : made.objects)
            read.documents.emplace_back(bundle.gang.kind + " " + bundle.gang.name,
                                        std::move(object));
    }
    return read;
}

} // namespace sim
} // namespace v0_1
} // namespace muster
