// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <muster/apis/t9k/jobs/job_config.hpp>
#include <muster/base/assert.hpp>
#include <muster/base/checked.hpp>

namespace muster {
inline namespace v0_1 {
namespace translate {

/// The kinds of batch.tensorstack.dev/v1beta1.
enum class t9k_kind : std::uint8_t {
    generic,
    tensorflow,
    pytorch,
    xgboost,
    mpi,
    colossal_ai,
    deepspeed,
    beam,
};

inline constexpr std::string_view t9k_job_api = "batch.tensorstack.dev/v1beta1";

[[nodiscard]] constexpr std::string_view to_text(t9k_kind kind) {
    switch (kind) {
    case t9k_kind::generic:
        return "GenericJob";
    case t9k_kind::tensorflow:
        return "TensorFlowTrainingJob";
    case t9k_kind::pytorch:
        return "PyTorchTrainingJob";
    case t9k_kind::xgboost:
        return "XGBoostTrainingJob";
    case t9k_kind::mpi:
        return "MPIJob";
    case t9k_kind::colossal_ai:
        return "ColossalAIJob";
    case t9k_kind::deepspeed:
        return "DeepSpeedJob";
    case t9k_kind::beam:
        return "BeamJob";
    }
    MUSTER_ASSERT(false, "all kinds are above");
    return {};
}

enum class restart_policy : std::uint8_t {
    never,
    on_failure,
    always,
    /// On failure, but only after an exit code that says "killed" (130, 137, 138, 143).
    exit_code,
};

/// When a replica is started again, and how often at most.
struct t9k_restart {
    restart_policy policy = restart_policy::on_failure;
    /// Per replica; absent = unlimited. Where the policy is written as a word (TensorFlow, PyTorch,
    /// XGBoost, DeepSpeed), `run_policy.backoff_limit` bounds the sum over all replicas instead.
    std::optional<std::int64_t> limit = 0;

    [[nodiscard]] friend bool operator==(const t9k_restart&, const t9k_restart&) = default;
};

/// What a replica is for; it decides its name and whether it counts in the gang.
enum class replica_part : std::uint8_t {
    worker,    ///< `<job>-<type>-<rank>`
    launcher,  ///< `<job>-launcher`; counts in the gang unless an option says otherwise
    submitter, ///< starts when the others run; does not count unless an option says so
};

/// All replicas of one type.
struct t9k_replica_spec {
    std::string_view type;
    /// As written; of an elastic job see replica_counts().
    std::int64_t replicas = 1;
    replica_part part = replica_part::worker;
    t9k_restart restart;
    /// A PodTemplateSpec; nullptr where the job writes none (the launcher of an MPIJob).
    const boost::json::object* pod_template = nullptr;
    /// How much of an elastic job's replicas are of this type.
    std::int64_t scaling_weight = 1;
};

/// Some replicas of one type.
struct t9k_rule_part {
    std::size_t spec = 0; ///< index in t9k_job::replica_specs
    std::vector<std::int64_t> ranks;
};

/// A rule is met when all its replicas have succeeded (failed). At least one part, in the order of
/// the replica specs, each with at least one rank; every rank exists.
using t9k_rule = std::vector<t9k_rule_part>;

/// A port of `service.ports`.
struct t9k_port {
    std::string_view name;
    std::int64_t number = 0;
    const boost::json::object* document = nullptr; ///< as a v1 ServicePort
};

/// What debug mode, or a resume after a pause, changes in the pods of one type.
struct t9k_override {
    std::size_t spec = 0; ///< index in t9k_job::replica_specs
    bool skip_init_containers = false;
    const boost::json::array* command = nullptr; ///< absent: the default
    const boost::json::array* arguments = nullptr;
};

struct t9k_run_mode {
    bool debug = false;
    std::vector<t9k_override> debug_specs;
    bool pause = false;
    std::vector<t9k_override> resume_specs;
};

enum class clean_up_policy : std::uint8_t { none, all, unfinished };

/// runPolicy, and GenericJob's cleanUpPolicy.
struct t9k_run_policy {
    clean_up_policy clean_up = clean_up_policy::none;
    std::optional<std::int64_t> active_deadline_seconds; ///< counted from the start
    std::optional<std::int64_t> backoff_limit;           ///< restarts of all replicas together
    bool clean_up_workers = false;                       ///< MPIJob and ColossalAIJob
    bool clean_up_cluster = false;                       ///< BeamJob
};

/// Present and enabled: 1 <= least <= expected <= most.
struct t9k_elastic {
    bool enabled = false;
    std::int64_t least = 0;
    std::int64_t most = 0;
    std::int64_t expected = 0;
};

struct t9k_scheduler {
    std::string_view queue = "default";
    std::int64_t priority = 0; ///< 0 to 100
};

/// A job of any of the eight kinds, as its manifest says it. All views and pointers lead into that
/// manifest, which outlives it: reading and expanding a job copies no templates.
struct t9k_job {
    t9k_kind kind = t9k_kind::generic;
    /// MPIJob and ColossalAIJob: written with `launcher` and `worker` instead of replicaSpecs.
    bool first_generation = false;
    std::string name_space = "default";
    std::string_view name;
    std::string_view uid;
    const boost::json::object* labels = nullptr;
    const boost::json::object* annotations = nullptr;

    /// At least one. Launchers and submitters that a job implies are there too.
    std::vector<t9k_replica_spec> replica_specs;
    std::vector<t9k_rule> success_rules; ///< empty: all replicas
    std::vector<t9k_rule> failure_rules; ///< empty: when no success rule can be met any more
    std::optional<std::vector<t9k_port>> service;
    t9k_run_mode run_mode;
    t9k_run_policy run_policy;
    std::optional<t9k_elastic> elastic;
    std::optional<t9k_scheduler> scheduler; ///< absent: Kubernetes' own, and no gang
    t9k_config config;
    const boost::json::object* status = nullptr;

    /// The manifest itself.
    const boost::json::object* document = nullptr;
};

/// One replica of a job.
struct t9k_replica {
    std::size_t spec = 0; ///< index in t9k_job::replica_specs
    std::int64_t rank = 0;

    [[nodiscard]] friend bool operator==(const t9k_replica&, const t9k_replica&) = default;
};

[[nodiscard]] inline bool is_elastic(const t9k_job& job) noexcept {
    return job.elastic && job.elastic->enabled;
}

/// The index of a type's replica spec.
[[nodiscard]] inline std::optional<std::size_t> find_type(const t9k_job& job,
                                                          std::string_view type) noexcept {
    for (std::size_t i = 0; i < job.replica_specs.size(); ++i)
        if (job.replica_specs[i].type == type)
            return i;
    return std::nullopt;
}

namespace detail {

/// `expected` replicas shared among the types by scaling weight: the largest remainder first, then
/// the first type.
[[nodiscard]] inline std::vector<std::int64_t> share_replicas(const t9k_job& job,
                                                              std::int64_t expected) {
    const std::vector<t9k_replica_spec>& specs = job.replica_specs;
    std::vector<std::int64_t> counts(specs.size());
    int128 weights = 0;
    for (const t9k_replica_spec& each : specs)
        weights += each.scaling_weight;
    if (weights <= 0)
        return counts;
    std::vector<std::pair<int128, std::size_t>> remainders;
    std::int64_t given = 0;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        const int128 share = static_cast<int128>(expected) * specs[i].scaling_weight;
        counts[i] = static_cast<std::int64_t>(share / weights);
        given += counts[i];
        remainders.emplace_back(-(share % weights), i);
    }
    std::ranges::sort(remainders);
    for (std::size_t i = 0; given < expected; ++i, ++given)
        ++counts[remainders[i].second];
    return counts;
}

} // namespace detail

/// How many pods of each type there are to be, in the order of the replica specs. Of an elastic job
/// `expected` in all, shared by scaling weight.
[[nodiscard]] inline std::vector<std::int64_t> replica_counts(const t9k_job& job) {
    if (is_elastic(job))
        return detail::share_replicas(job, job.elastic->expected);
    std::vector<std::int64_t> counts;
    counts.reserve(job.replica_specs.size());
    for (const t9k_replica_spec& each : job.replica_specs)
        counts.push_back(each.replicas);
    return counts;
}

/// The replica whose end is the job's end: TensorFlow's chief or else worker 0, PyTorch's first,
/// XGBoost's master, the launcher of MPI and ColossalAI, DeepSpeed's worker 0, Beam's submitter.
/// Nothing for a GenericJob, which has rules.
[[nodiscard]] inline std::optional<t9k_replica> master_of(const t9k_job& job) {
    const auto first_of = [&](std::string_view type) -> std::optional<t9k_replica> {
        if (const auto spec = find_type(job, type); spec && job.replica_specs[*spec].replicas > 0)
            return t9k_replica{*spec, 0};
        return std::nullopt;
    };
    switch (job.kind) {
    case t9k_kind::generic:
        return std::nullopt;
    case t9k_kind::tensorflow:
        if (const auto chief = first_of("chief"))
            return chief;
        return first_of("worker");
    case t9k_kind::pytorch: {
        const std::vector<std::int64_t> counts = replica_counts(job);
        for (std::size_t i = 0; i < counts.size(); ++i)
            if (counts[i] > 0)
                return t9k_replica{i, 0};
        return std::nullopt;
    }
    case t9k_kind::xgboost:
        return first_of("master");
    case t9k_kind::mpi:
    case t9k_kind::colossal_ai:
        return first_of("launcher");
    case t9k_kind::deepspeed:
        return first_of("worker");
    case t9k_kind::beam:
        return first_of("batchjob");
    }
    MUSTER_ASSERT(false, "all kinds are above");
    return std::nullopt;
}

} // namespace translate
} // namespace v0_1
} // namespace muster
