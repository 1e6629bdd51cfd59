// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <muster/apis/t9k/jobs/job.hpp>
#include <muster/lifecycle/job_status.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {

/// All replicas of one type, as they are to be.
struct task_plan {
    std::string type;
    std::vector<std::string> pods; ///< their names, by rank
    translate::t9k_restart restart;
    /// Which of them go when the job has ended.
    translate::clean_up_policy at_end = translate::clean_up_policy::none;
    /// How many of them, the first, have a Service each.
    std::int64_t services = 0;
    /// They are created once all replicas of other types run.
    bool after_others = false;
};

/// Which conditions a job has.
enum class condition_set : std::uint8_t {
    training,
    cluster, ///< ClusterRunning and JobRunning, as a BeamJob has
};

/// What a job's spec says about its life. Jobs of all kinds are told by it: what tells them apart
/// is who decides (the rules), who is restarted, and who is cleaned up.
struct job_plan {
    std::string uid;
    std::vector<task_plan> tasks;
    /// The indices in rules are those of `tasks`. One rule that is met decides; none: all replicas.
    std::vector<translate::t9k_rule> success;
    /// None: the job fails when no rule of success can be met any more.
    std::vector<translate::t9k_rule> failure;
    /// Restarts of all replicas together, at most; absent = unlimited.
    std::optional<std::int64_t> restarts;
    /// Seconds from the start to failure.
    std::optional<std::int64_t> deadline_seconds;
    /// How many replicas must run for the job to run (elastic jobs); absent = all.
    std::optional<std::int64_t> running_from;
    bool paused = false;
    bool grouped = false;    ///< its pods belong to a PodGroup, which is created first
    bool configured = false; ///< its pods mount a ConfigMap
    /// The job itself is being deleted: whoever owns it collects what is its own.
    bool terminating = false;
    /// Messages of failure print the rule (GenericJob) or name the pod that decided.
    bool prints_rules = true;
    condition_set conditions = condition_set::training;
    /// Running and ReplicaFailure keep the value that they had before the job's end, as in T9k's
    /// own sample of a status.
    bool keeps_conditions_at_end = false;
};

/// One replica of a job.
struct replica_id {
    std::size_t task = 0; ///< index in job_plan::tasks
    std::int64_t rank = 0;

    [[nodiscard]] friend auto operator<=>(const replica_id&, const replica_id&) = default;
};

} // namespace lifecycle
} // namespace v0_1
} // namespace muster
