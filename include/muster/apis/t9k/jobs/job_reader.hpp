// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/apis/core/reading_context.hpp>
#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/apis/t9k/jobs/job_fields.hpp>
#include <muster/apis/t9k/jobs/job_kinds.hpp>
#include <muster/apis/t9k/jobs/names.hpp>
#include <muster/document/field_reader.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// The kind of T9k job that an object says it is; nothing when it is none.
[[nodiscard]] inline std::optional<translate::t9k_kind> t9k_job_kind(std::string_view version,
                                                                     std::string_view kind) {
    if (version != translate::t9k_job_api)
        return std::nullopt;
    using enum translate::t9k_kind;
    for (const translate::t9k_kind each :
         {generic, tensorflow, pytorch, xgboost, mpi, colossal_ai, deepspeed, beam})
        if (kind == to_text(each))
            return each;
    // Spelled so in places of the documents.
    if (kind == "DeepspeedJob")
        return deepspeed;
    return std::nullopt;
}

namespace detail {

[[nodiscard]] inline bool is_job_name(std::string_view name) {
    if (name.size() > 253)
        return false;
    while (true) {
        const std::size_t dot = name.find('.');
        if (!is_name_part(name.substr(0, dot)))
            return false;
        if (dot == std::string_view::npos)
            return true;
        name.remove_prefix(dot + 1);
    }
}

inline void read_job_metadata(object_reader& object, translate::t9k_job& job,
                              reading_context& context) {
    const field at = object.required("metadata");
    object_reader metadata = at.as_object();
    const field name_at = metadata.required("name");
    if (const auto name = name_at.as_string()) {
        job.name = *name;
        if (!is_job_name(*name))
            name_at.error(in_quotes(*name) + " is not a name (expected a-z, 0-9, '-' and '.')");
    }
    job.name_space = text_at(metadata.optional("namespace"), context.default_namespace);
    job.uid = text_at(metadata.optional("uid"));
    job.labels = string_map_at(metadata.optional("labels"));
    const field annotations_at = metadata.optional("annotations");
    check_annotations(annotations_at);
    job.annotations = object_at(annotations_at);
    static_cast<void>(context.time(metadata.optional("creationTimestamp")));
    metadata.ignore_rest();
}

inline void read_run_policy(object_reader& spec, translate::t9k_job& job) {
    using kind = translate::t9k_kind;
    constexpr std::int64_t most_seconds = 1'000'000'000;
    translate::t9k_run_policy& to = job.run_policy;
    if (job.kind == kind::generic) {
        to.clean_up = read_clean_up(spec.optional("cleanUpPolicy"));
        return;
    }
    const field at = spec.optional("runPolicy");
    object_reader policy = at.as_object();
    if (job.kind == kind::mpi || job.kind == kind::colossal_ai) {
        to.clean_up_workers = policy.optional("cleanUpWorkers").as_boolean().value_or(false);
    } else if (job.kind == kind::beam) {
        to.clean_up_cluster = policy.optional("cleanUpCluster").as_boolean().value_or(false);
    } else {
        to.active_deadline_seconds =
            policy.optional("activeDeadlineSeconds").as_integer(1, most_seconds);
        to.backoff_limit = policy.optional("backoffLimit").as_integer(0, largest_member_count);
        to.clean_up = read_clean_up(policy.optional("cleanUpPolicy"));
        if (job.kind == kind::pytorch && !to.backoff_limit)
            to.backoff_limit = 3;
    }
    policy.finish();
}

inline void read_kind(object_reader& spec, translate::t9k_job& job, reading_context& context) {
    using kind = translate::t9k_kind;
    switch (job.kind) {
    case kind::generic:
        return read_generic(spec, job, context);
    case kind::tensorflow:
        return read_tensorflow(spec, job, context);
    case kind::pytorch:
        return read_pytorch(spec, job, context);
    case kind::xgboost:
        return read_xgboost(spec, job, context);
    case kind::mpi:
        return read_mpi(spec, job, context);
    case kind::colossal_ai:
        return read_colossal(spec, job, context);
    case kind::deepspeed:
        return read_deepspeed(spec, job, context);
    case kind::beam:
        return read_beam(spec, job, context);
    }
}

/// Pods are named in labels, and looked up as hosts.
inline void check_pod_name(const field& spec_at, const translate::t9k_job& job,
                           translate::t9k_replica of) {
    constexpr std::size_t longest = 63;
    const std::string name = pod_name(job, of);
    if (name.size() > longest)
        spec_at.error("the pod " + in_quotes(name) + " has a name of " +
                      std::to_string(name.size()) + " characters (expected at most " +
                      std::to_string(longest) + ")");
}

inline void check_counts(const field& spec_at, const translate::t9k_job& job) {
    std::int64_t total = 0;
    const std::vector<std::int64_t> counts = replica_counts(job);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        total += counts[i];
        if (counts[i] > 0)
            check_pod_name(spec_at, job, {i, counts[i] - 1});
    }
    const std::int64_t most =
        job.kind == translate::t9k_kind::tensorflow ? largest_replica_list : largest_replica_count;
    if (total > most)
        spec_at.error("there are " + std::to_string(total) + " replicas in all (expected at most " +
                      std::to_string(most) + ")");
    if (!job.replica_specs.empty() && total == 0)
        spec_at.error("there are no replicas at all (expected at least one)");
}

} // namespace detail

/// A T9k job of the given kind. What is wrong is reported at its place: wrong types, types and
/// ranks that do not exist, negative counts, minima above maxima, limits below requests; unknown
/// fields are warnings. The job views the document and is to be used while that lives, and only
/// when there was no error. O(manifest).
[[nodiscard]] inline translate::t9k_job
read_t9k_job(object_reader& object, translate::t9k_kind kind, reading_context& context) {
    translate::t9k_job job;
    job.kind = kind;
    job.document = detail::object_at(object);
    detail::read_job_metadata(object, job, context);
    const field spec_at = object.required("spec");
    object_reader spec = spec_at.as_object();
    detail::read_run_policy(spec, job);
    detail::read_kind(spec, job, context);
    detail::check_counts(spec_at, job);
    job.run_mode = detail::read_run_mode(spec.optional("runMode"), job);
    job.scheduler = detail::read_scheduler(spec.optional("scheduler"));
    spec.finish();
    const field status_at = object.optional("status");
    static_cast<void>(status_at.as_object());
    job.status = detail::object_at(status_at);
    object.ignore({"apiVersion", "kind"});
    object.finish();
    return job;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
