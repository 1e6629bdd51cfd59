// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <muster/base/assert.hpp>
#include <muster/cluster/state.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/vocabulary/budget.hpp>

namespace muster {
inline namespace v0_1 {

struct forecast_options {
    /// Maximum number of cycles to simulate.
    std::int64_t cycles = 10'000;
    budget limit{};
};

/// The expected start of a waiting gang.
struct expected_start {
    gang_index gang;
    std::int64_t at = 0;
};

struct forecast_result {
    /// In the order of time, then of decisions. Gangs that are not expected to start are missing.
    std::vector<expected_start> starts;
    /// False if the limit of cycles was reached.
    bool complete = true;
};

/// Simulates the cluster from `now` on, as if no pods or gangs arrive and pods end as declared: a
/// cycle starts what fits, pods end, the next cycle starts what fits then, and so on, until no pod
/// with a known end is left. A pod that ends has succeeded; a terminating pod is removed at its
/// end, and an evicted pod immediately. `end_of(pod, start)` returns when a pod ends that runs
/// already (`start` is absent) or that starts at `start`; nullopt if unknown. An end in the past
/// counts as `now`.
///
/// The result contains every gang of which members start, once, with the first time; also gangs
/// that start at `now`. A gang that arrives later may start before these gangs. Works on a copy:
/// O(state), and a cycle for every time at which pods end.
template<class Traits, class Policy, class EndOf>
[[nodiscard]] forecast_result forecast(const state<Traits>& from, std::int64_t now,
                                       const Policy& how, const EndOf& end_of,
                                       const forecast_options& options = {}) {
    state<Traits> cluster = from;
    forecast_result found;
    cycle_result result;
    std::set<gang_index> started;
    std::map<std::int64_t, std::vector<pod_index>> ends;
    const auto note_end = [&](pod_index pod, std::optional<std::int64_t> start) {
        if (const std::optional<std::int64_t> at = end_of(pod, start))
            ends[*at > now ? *at : now].push_back(pod);
    };
    const auto end = [&](pod_index pod) {
        const pod_record& record = cluster[pod];
        if (!record.charged()) // it has been evicted since its end was noted
            return true;
        if (record.terminating || record.evicted)
            return cluster.remove_pod(cluster.key(pod)) == event_result::applied;
        auto spec = cluster.spec_of(pod);
        spec.phase = pod_phase::succeeded;
        return cluster.upsert_pod(cluster.key(pod), cluster.key(record.gang), spec,
                                  cluster.key(*record.node)) == event_result::applied;
    };
    for (const pod_index pod : cluster.pod_order())
        if (cluster[pod].charged())
            note_end(pod, std::nullopt);
    for (std::int64_t cycles = 0;; ++cycles) {
        if (cycles == options.cycles) {
            found.complete = false;
            break;
        }
        cycle(cluster, now, how, options.limit, {}, result);
        for (const decision& made : result.decisions) {
            for (const pod_index pod : made.evictions)
                ends[now].push_back(pod);
            if (made.nominated)
                continue;
            if (!made.placements.empty() && started.insert(made.gang).second)
                found.starts.push_back({made.gang, now});
            for (const placement& one : made.placements)
                note_end(one.pod, now);
        }
        if (ends.empty())
            break;
        const auto next = ends.begin();
        now = next->first;
        const std::vector<pod_index> pods = std::move(next->second);
        ends.erase(next);
        for (const pod_index pod : pods) {
            const bool ended = end(pod);
            MUSTER_ASSERT(ended, "a pod that stands can end");
            static_cast<void>(ended);
        }
    }
    return found;
}

} // namespace v0_1
} // namespace muster
