// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/base/assert.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {

/// Nanoseconds since 1970-01-01T00:00:00Z.
using timestamp = std::int64_t;

enum class job_phase : std::uint8_t {
    pending,
    running,
    paused,
    resuming,
    succeeded,
    failed,
    unknown,
};

inline constexpr std::array<std::pair<job_phase, std::string_view>, 7> job_phases{{
    {job_phase::pending, "Pending"},
    {job_phase::running, "Running"},
    {job_phase::paused, "Paused"},
    {job_phase::resuming, "Resuming"},
    {job_phase::succeeded, "Succeeded"},
    {job_phase::failed, "Failed"},
    {job_phase::unknown, "Unknown"},
}};

/// Of a replica: the phases of pods, and two more.
enum class replica_phase : std::uint8_t {
    creating, ///< its pod was asked for and not seen yet
    pending,
    running,
    succeeded,
    failed, ///< for good: it is not started again
    unknown,
    deleted, ///< its pod is gone or told to go
};

inline constexpr std::array<std::pair<replica_phase, std::string_view>, 7> replica_phases{{
    {replica_phase::creating, "Creating"},
    {replica_phase::pending, "Pending"},
    {replica_phase::running, "Running"},
    {replica_phase::succeeded, "Succeeded"},
    {replica_phase::failed, "Failed"},
    {replica_phase::unknown, "Unknown"},
    {replica_phase::deleted, "Deleted"},
}};

/// In the order in which they stand in a status.
enum class condition_type : std::uint8_t {
    initialized,
    running,
    replica_failure,
    completed,
    failed,
    paused,
    cluster_running, ///< of a BeamJob, which has these two only
    job_running,
};

inline constexpr std::array<std::pair<condition_type, std::string_view>, 8> condition_types{{
    {condition_type::initialized, "Initialized"},
    {condition_type::running, "Running"},
    {condition_type::replica_failure, "ReplicaFailure"},
    {condition_type::completed, "Completed"},
    {condition_type::failed, "Failed"},
    {condition_type::paused, "Paused"},
    {condition_type::cluster_running, "ClusterRunning"},
    {condition_type::job_running, "JobRunning"},
}};

namespace detail {

template<class Kind, std::size_t Size>
[[nodiscard]] constexpr std::string_view
name_in(const std::array<std::pair<Kind, std::string_view>, Size>& all, Kind wanted) {
    for (const auto& [kind, name] : all)
        if (kind == wanted)
            return name;
    MUSTER_ASSERT(false, "all values are listed");
    return {};
}

} // namespace detail

[[nodiscard]] constexpr std::string_view to_text(job_phase phase) {
    return detail::name_in(job_phases, phase);
}
[[nodiscard]] constexpr std::string_view to_text(replica_phase phase) {
    return detail::name_in(replica_phases, phase);
}
[[nodiscard]] constexpr std::string_view to_text(condition_type type) {
    return detail::name_in(condition_types, type);
}

struct job_condition {
    condition_type type = condition_type::initialized;
    bool is_true = false;
    std::string reason;
    std::string message;
    std::string transition_id; ///< another one after every change of is_true
    timestamp changed = 0;     ///< when is_true changed last

    [[nodiscard]] friend bool operator==(const job_condition&, const job_condition&) = default;
};

struct ended_container {
    std::string name;
    std::int64_t exit_code = 0;

    [[nodiscard]] friend bool operator==(const ended_container&, const ended_container&) = default;
};

struct replica_status {
    std::string name; ///< of its pod
    /// Of the pod that the phase speaks of; empty before there was one.
    std::string uid;
    replica_phase phase = replica_phase::creating;
    std::int64_t restarts = 0;
    std::vector<ended_container> containers; ///< those that have ended

    [[nodiscard]] friend bool operator==(const replica_status&, const replica_status&) = default;
};

/// All replicas of one type, by rank.
struct task_status {
    std::string type;
    std::vector<replica_status> replicas;

    [[nodiscard]] friend bool operator==(const task_status&, const task_status&) = default;
};

/// What is stored with a job: with the job's spec and what is observed it is all that its
/// controller knows. A job that was never looked at has the value made by default.
struct job_status {
    std::optional<job_phase> phase;
    std::vector<job_condition> conditions; ///< in the order of condition_type, each at most once
    std::vector<task_status> tasks;        ///< in the order of the job's replica specs
    /// Restarts of all replicas that there ever were.
    std::int64_t restarts = 0;
    /// Since when it has been active without a pause; kept for jobs with a deadline only.
    std::optional<timestamp> started;

    [[nodiscard]] friend bool operator==(const job_status&, const job_status&) = default;
};

/// How many replicas are in each phase, in the order of `replica_phases`.
[[nodiscard]] inline std::array<std::int64_t, replica_phases.size()>
aggregate(const job_status& status) {
    std::array<std::int64_t, replica_phases.size()> counts{};
    for (const task_status& task : status.tasks)
        for (const replica_status& replica : task.replicas)
            ++counts[static_cast<std::size_t>(replica.phase)];
    return counts;
}

/// Restarts of all replicas of a type.
[[nodiscard]] inline std::int64_t restarts(const task_status& task) {
    std::int64_t sum = 0;
    for (const replica_status& replica : task.replicas)
        sum += replica.restarts;
    return sum;
}

[[nodiscard]] inline bool has_ended(const job_status& status) noexcept {
    return status.phase == job_phase::succeeded || status.phase == job_phase::failed;
}

/// nullptr when it is not there.
[[nodiscard]] inline const job_condition* find_condition(const job_status& status,
                                                         condition_type type) noexcept {
    const auto at = std::ranges::find(status.conditions, type, &job_condition::type);
    return at == status.conditions.end() ? nullptr : &*at;
}

[[nodiscard]] inline bool is_true(const job_status& status, condition_type type) noexcept {
    const job_condition* found = find_condition(status, type);
    return found != nullptr && found->is_true;
}

} // namespace lifecycle
} // namespace v0_1
} // namespace muster
