// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cluster.hpp"
#include "pod_by_pod.hpp"
#include "statistics.hpp"
#include "stopwatch.hpp"

namespace bench {

/// What happened to one gang: it left, or it was asked and what came of it.
template<std::size_t Width>
struct trace_event {
    bool release = false;
    bool admitted = false;
    gang_spec<Width> gang;
    std::vector<placed> members;
    double nanoseconds = 0.0;
};

/// A stretch of a run, from a given cluster on, so that others can be asked the same.
template<std::size_t Width>
struct trace {
    std::vector<node_spec<Width>> nodes;
    std::vector<amounts<Width>> free;
    std::vector<trace_event<Width>> events;
    /// Per repeat, the time of every event.
    std::vector<std::vector<double>> times;

    /// The middle one of the repeats' times for the first events, of which releases count nothing.
    [[nodiscard]] double total(std::size_t first) const {
        std::vector<double> totals;
        for (const std::vector<double>& repeat : times) {
            totals.push_back(0.0);
            for (std::size_t at = 0; at < first; ++at)
                totals.back() += events[at].release ? 0.0 : repeat[at];
        }
        return median(std::move(totals));
    }

    /// The least of the repeats' times.
    [[nodiscard]] double least(std::size_t event) const {
        double found = times.front()[event];
        for (const std::vector<double>& repeat : times)
            found = std::min(found, repeat[event]);
        return found;
    }
};

/// What another scheduler needed for the first gangs of a trace.
struct replay_report {
    std::size_t gangs = 0;
    std::size_t pods = 0;
    double nanoseconds = 0.0;
    double per_node_and_pod = 0.0;
    /// What Muster needed for the same gangs.
    double muster_nanoseconds = 0.0;
    /// Gangs that it refused and Muster placed.
    std::size_t false_rejections = 0;

    [[nodiscard]] double ratio() const noexcept {
        return muster_nanoseconds > 0.0 ? nanoseconds / muster_nanoseconds : 0.0;
    }
};

/// The same placements, whichever of its like members stands where.
[[nodiscard]] inline bool same_placements(std::vector<placed> lhs, std::vector<placed> rhs) {
    std::ranges::sort(lhs);
    std::ranges::sort(rhs);
    return lhs == rhs;
}

/// Asks `Nodes` (A or A2) the first `most` gangs of the trace, timed, and compares what it does. A
/// gang that only Muster's search could place is placed as Muster did. Fails the program when the
/// two place a gang differently, or Muster refuses what greedy admission starts.
template<class Nodes, std::size_t Width>
[[nodiscard]] replay_report replay(const trace<Width>& from, placement_rule rule, std::size_t most,
                                   const std::string& name) {
    Nodes nodes(from.nodes, from.free, rule);
    replay_report report;
    std::vector<placed> members;
    std::size_t events = 0;
    for (; events < from.events.size(); ++events) {
        const trace_event<Width>& event = from.events[events];
        if (event.release) {
            give_all(nodes, event.gang, event.members);
            continue;
        }
        if (report.gangs == most)
            break;
        bool admitted = false;
        report.nanoseconds +=
            stopwatch::time([&] { admitted = start_pod_by_pod(nodes, event.gang, members); });
        ++report.gangs;
        if (admitted && !event.admitted)
            fail(name + " starts gang " + std::to_string(report.gangs) + ", Muster does not");
        if (admitted && !same_placements(members, event.members))
            fail(name + " places gang " + std::to_string(report.gangs) + " otherwise than Muster");
        if (!admitted && event.admitted) {
            ++report.false_rejections;
            take_all(nodes, event.gang, event.members);
        }
        report.pods += event.members.size();
    }
    report.muster_nanoseconds = from.total(events);
    report.per_node_and_pod =
        nodes.scanned() == 0 ? 0.0 : report.nanoseconds / static_cast<double>(nodes.scanned());
    return report;
}

/// The middle one of several replays by time.
template<class Nodes, std::size_t Width>
[[nodiscard]] replay_report replay(const trace<Width>& from, placement_rule rule, std::size_t most,
                                   const std::string& name, std::size_t repeats) {
    std::vector<replay_report> reports;
    for (std::size_t round = 0; round < repeats; ++round)
        reports.push_back(replay<Nodes>(from, rule, most, name));
    std::ranges::sort(reports, {}, &replay_report::nanoseconds);
    return reports[reports.size() / 2];
}

} // namespace bench
