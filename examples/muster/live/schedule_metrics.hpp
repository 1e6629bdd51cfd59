// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <muster/adapter/driver.hpp>
#include <muster/base/id.hpp>
#include <muster/kube/metrics.hpp>
#include <muster/resource/kind_table.hpp>
#include <muster/vocabulary/answer.hpp>
#include <muster/words/amount_text.hpp>

namespace cli {

/// Writes `muster_pending_gangs`: the number of gangs with waiting members, by queue and gate. A
/// gang that no gate stops is undecided, or waits for evicted pods to end (gate "none"). The
/// label of a queue that does not exist is empty: any pod can name such a queue, and the number of
/// label sets must stay small. `is_held(gang_key)`: the gang is held back after failed binds.
/// O(gangs).
template<class State, class IsHeld>
void write_pending_gangs(const State& known, const IsHeld& is_held,
                         muster::kube::metrics_writer& out) {
    std::map<std::pair<std::string_view, std::string_view>, std::uint64_t> counts;
    // A queue without waiting gangs gets a sample of 0, so that its series continues.
    for (const auto& [key, queue] : known.queue_keys())
        if (known[queue].present)
            counts[{key, name_of(muster::gate::space)}] = 0;
    for (const auto& [key, which] : known.gang_keys()) {
        const auto& gang = known[which];
        const bool held = is_held(key);
        if (gang.placeable == 0 && !held)
            continue;
        const bool has_queue = gang.queue && known[*gang.queue].present;
        const auto at = gang.last.is_known ? gang.last.at : muster::gate::none;
        ++counts[{has_queue ? std::string_view(known.key(*gang.queue)) : std::string_view{},
                  held ? std::string_view("held") : name_of(at)}];
    }
    out.family("muster_pending_gangs", "gauge",
               "Gangs with waiting members, by queue and by the gate that stops them.");
    for (const auto& [labels, count] : counts)
        out.sample(count, {{"queue", labels.first}, {"gate", labels.second}});
}

/// Writes `muster_queue_used` and `muster_queue_quota` of all queues, for each resource that is
/// used or limited: cpu in cores, other resources in their own unit. O(queues × kinds).
template<class State>
void write_queues(const State& known, const muster::kind_table& kinds,
                  muster::kube::metrics_writer& out) {
    const auto write = [&](const char* name, const char* help, const auto& amount_of) {
        out.family(name, "gauge", help);
        for (const auto& [key, queue] : known.queue_keys()) {
            if (!known[queue].present)
                continue;
            for (std::size_t column = 0; column < kinds.size(); ++column) {
                const muster::kind_id kind{column};
                const auto amount = amount_of(queue, kind);
                if (!amount)
                    continue;
                const muster::kube::metrics_writer::labels labels{{"queue", key},
                                                                  {"resource", kinds.name(kind)}};
                if (kinds.name(kind) == "cpu")
                    out.thousandths(*amount, labels);
                else
                    out.sample(*amount, labels);
            }
        }
    };
    write("muster_queue_used", "Resources held by the gangs of a queue and its subqueues.",
          [&](muster::queue_index queue, muster::kind_id kind) -> std::optional<std::int64_t> {
              const std::int64_t used = known.accounts().used(queue)[kind];
              return used > 0 || known[queue].spec.quota[kind] ? std::optional(used) : std::nullopt;
          });
    write("muster_queue_quota", "Quota of a queue; absent if the queue has none.",
          [&](muster::queue_index queue, muster::kind_id kind) -> std::optional<std::int64_t> {
              return known[queue].spec.quota[kind];
          });
}

/// Writes `muster_schedule_attempts_total`, by result.
inline void write_attempts(const muster::adapter::driver_counters& count,
                           muster::kube::metrics_writer& out) {
    const muster::adapter::attempt_counters& of = count.attempts;
    const std::pair<std::string_view, std::size_t> results[] = {
        {"scheduled", of.scheduled},         {"nominated", of.nominated},
        {"unschedulable", of.unschedulable}, {"never", of.never},
        {"undecided", of.undecided},         {"error", count.failed}};
    out.family("muster_schedule_attempts_total", "counter",
               "Decisions about gangs, by result. error: a bind failed permanently.");
    for (const auto& [result, value] : results)
        out.sample(static_cast<std::uint64_t>(value), {{"result", result}});
}

} // namespace cli
