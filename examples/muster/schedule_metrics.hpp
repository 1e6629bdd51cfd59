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
#include <muster/model/answer.hpp>
#include <muster/resource/kind_table.hpp>

#include "reason_text.hpp"

namespace cli {

/// The value of the label `gate`. A gang that no gate stops is undecided, or waits for the pods
/// that it evicts.
[[nodiscard]] constexpr std::string_view gate_label(muster::gate at) noexcept {
    return at == muster::gate::none ? std::string_view("none") : gate_name(at);
}

/// Writes `muster_pending_gangs`: the gangs with members that wait, by queue and gate. The label of
/// a queue that does not exist is empty: any pod can name one, and label sets must stay few.
/// `is_held(gang_key)`: binds of the gang failed, and it is held back for a while. O(gangs).
template<class State, class IsHeld>
void write_pending_gangs(const State& known, const IsHeld& is_held,
                         muster::kube::metrics_writer& out) {
    std::map<std::pair<std::string_view, std::string_view>, std::uint64_t> counts;
    // A queue without waiting gangs has a sample too, so that its series does not end.
    for (const auto& [key, queue] : known.queue_keys())
        if (known[queue].present)
            counts[{key, gate_label(muster::gate::space)}] = 0;
    for (const auto& [key, which] : known.gang_keys()) {
        const auto& gang = known[which];
        const bool held = is_held(key);
        if (gang.placeable == 0 && !held)
            continue;
        const bool has_queue = gang.queue && known[*gang.queue].present;
        const auto at = gang.last.known ? gang.last.at : muster::gate::none;
        ++counts[{has_queue ? std::string_view(known[*gang.queue].key) : std::string_view{},
                  held ? std::string_view("held") : gate_label(at)}];
    }
    out.family("muster_pending_gangs", "gauge",
               "Gangs with members that wait, by queue and by the gate that stops them.");
    for (const auto& [labels, count] : counts)
        out.sample(count, {{"queue", labels.first}, {"gate", labels.second}});
}

/// Writes `muster_queue_used` and `muster_queue_quota` of the queues that exist, per resource that
/// is used or limited there: cpu in cores, the rest in the resource's own unit.
/// O(queues × kinds).
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
    write("muster_queue_used", "What a queue's gangs hold, with those of the queues below it.",
          [&](muster::queue_index queue, muster::kind_id kind) -> std::optional<std::int64_t> {
              const std::int64_t used = known.accounts().used(queue)[kind];
              return used > 0 || known[queue].spec.quota[kind] ? std::optional(used) : std::nullopt;
          });
    write("muster_queue_quota", "The ceiling on what a queue's gangs hold; absent without one.",
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
               "Decisions about gangs by result; error: a bind failed for good.");
    for (const auto& [result, value] : results)
        out.sample(static_cast<std::uint64_t>(value), {{"result", result}});
}

} // namespace cli
