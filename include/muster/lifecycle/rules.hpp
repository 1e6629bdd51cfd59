// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <muster/lifecycle/job_plan.hpp>
#include <muster/lifecycle/replicas.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {

/// A rule as T9k prints it: `{ "worker": [0, 1] }`.
[[nodiscard]] inline std::string rule_text(const job_plan& plan, const translate::t9k_rule& rule) {
    std::string text = "{ ";
    for (const translate::t9k_rule_part& part : rule) {
        if (&part != &rule.front())
            text += ", ";
        text += '"' + plan.tasks[part.spec].type + "\": [";
        for (std::size_t i = 0; i < part.ranks.size(); ++i)
            text += (i > 0 ? ", " : "") + std::to_string(part.ranks[i]);
        text += ']';
    }
    return text + " }";
}

/// How a job ended.
struct job_end {
    bool succeeded = false;
    std::string message;
};

namespace detail {

/// Whether `wanted` is the phase of all replicas of a rule (`every`), or of any.
[[nodiscard]] inline bool holds(const replica_table& replicas, const translate::t9k_rule& rule,
                                replica_phase wanted, bool every) {
    for (const translate::t9k_rule_part& part : rule)
        for (const std::int64_t rank : part.ranks) {
            // Scaled away: neither here nor there.
            const bool exists = rank < std::ssize(replicas.tasks[part.spec].replicas);
            if ((exists && replicas.at({part.spec, rank}).phase == wanted) != every)
                return !every;
        }
    return every;
}

/// Likewise of all the replicas of a job.
[[nodiscard]] inline bool holds(const replica_table& replicas, replica_phase wanted, bool every) {
    for (const task_status& task : replicas.tasks)
        for (const replica_status& replica : task.replicas)
            if ((replica.phase == wanted) != every)
                return !every;
    return every;
}

[[nodiscard]] inline std::string failure_text(const job_plan& plan,
                                              const translate::t9k_rule& rule) {
    if (plan.prints_rules)
        return "The job is failed with rule: " + rule_text(plan, rule);
    const translate::t9k_rule_part& part = rule.front();
    const auto rank = static_cast<std::size_t>(part.ranks.front());
    return "The job is failed because Pod[" + plan.tasks[part.spec].pods[rank] + "] failed.";
}

} // namespace detail

/// Whether the replicas, as they are, end the job. Success goes before failure; of rules that are
/// met the first one counts.
[[nodiscard]] inline std::optional<job_end> judge(const job_plan& plan,
                                                  const detail::replica_table& replicas) {
    using detail::holds;
    const job_end success{true, "The job has finished successfully."};
    for (const translate::t9k_rule& rule : plan.success)
        if (holds(replicas, rule, replica_phase::succeeded, true))
            return success;
    if (plan.success.empty() && holds(replicas, replica_phase::succeeded, true))
        return success;
    for (const translate::t9k_rule& rule : plan.failure)
        if (holds(replicas, rule, replica_phase::failed, true))
            return job_end{false, detail::failure_text(plan, rule)};
    if (!plan.failure.empty())
        return std::nullopt;
    bool hopeless = plan.success.empty() ? holds(replicas, replica_phase::failed, false) : true;
    for (const translate::t9k_rule& rule : plan.success)
        hopeless = hopeless && holds(replicas, rule, replica_phase::failed, false);
    if (hopeless)
        return job_end{false, "The job is failed because no success rule can be met any more."};
    return std::nullopt;
}

} // namespace lifecycle
} // namespace v0_1
} // namespace muster
