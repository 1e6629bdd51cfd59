// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <muster/cluster/state.hpp>
#include <muster/cycle/any_policy.hpp>
#include <muster/input/cluster.hpp>
#include <muster/kube/dialect.hpp>
#include <muster/policy/gpu_use.hpp>
#include <muster/policy/typical_tasks.hpp>
#include <muster/resource/kind_table.hpp>
#include <muster/vocabulary/budget.hpp>

#include "policy_options.hpp"
#include "report.hpp"

namespace cli {

/// How a plan reads its input.
[[nodiscard]] inline muster::codec::cluster_options cluster_options_of(const request& asked) {
    muster::codec::cluster_options options;
    options.now = asked.now;
    options.queue_namespace = asked.queue_namespace;
    options.levels.levels = asked.topology;
    for (const muster::kube::dialect_facts& each : muster::kube::dialects)
        if (!each.scheduler_name.empty())
            options.scheduler_names.emplace(each.scheduler_name);
    return options;
}

/// The steps of a plan's cycle.
[[nodiscard]] inline muster::budget budget_of(const request& asked) {
    muster::budget limit;
    if (asked.budget) {
        limit.per_gang = *asked.budget;
        limit.per_cycle = std::max(limit.per_cycle, limit.per_gang);
    }
    return limit;
}

/// How many cycles a plan may try out for one group by default: as many as take a few seconds in a
/// cluster of `objects` nodes, pods and groups, since each copies the cluster.
[[nodiscard]] inline std::int64_t affordable_tries(std::int64_t objects) {
    return std::clamp<std::int64_t>(500'000 / std::max<std::int64_t>(1, objects), 20, 500);
}

/// A trial of changed objects reads them anew, which takes about as long as this many tries.
inline constexpr std::int64_t tries_of_trial = 4;

/// The policy of a plan for the cluster, which must outlive it.
template<class Traits, class Cluster>
[[nodiscard]] muster::any_policy<muster::core_of<Traits>> policy_of(const request& asked,
                                                                    const Cluster& known) {
    policy_options how = asked.how;
    how.see_kinds(known.kinds);
    how.see_pods(known.state, known.volumes);
    return how;
}

/// Returns the use of the GPUs of the cluster; nullopt if no node has any.
template<class Cluster>
[[nodiscard]] std::optional<muster::gpu_use> use_of_gpus(const Cluster& known) {
    policy_options how;
    how.see_kinds(known.kinds);
    how.gpus.shared = gpus_of(known.volumes);
    const auto typical = muster::typical_tasks(known.state, how.gpus, typical_percent);
    const muster::gpu_use found = muster::use_of_gpus(known.state, how.gpus, typical);
    return found.gpus > 0 ? std::optional(found) : std::nullopt;
}

} // namespace cli
