// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <muster/cycle/cycle.hpp>

#include "build.hpp"
#include "judge.hpp"
#include "peer_case.hpp"
#include "profiles.hpp"

namespace peer_cases {

namespace detail {

/// A pod that asks for nothing at all is Volcano's "best effort": the action backfill places it.
[[nodiscard]] inline bool asks_for_nothing(const task& one) {
    for (const auto& [kind, amount] : one.request)
        if (amount > 0 && kind != "pods")
            return false;
    return true;
}

/// The action at hand does not place this pod.
[[nodiscard]] inline bool not_its_turn(const peer_case& of, const task& one) {
    if (of.from != peer::volcano || one.state != pod_state::pending)
        return false;
    return asks_for_nothing(one) ? !of.acts("backfill")
                                 : of.actions == std::vector<std::string>{"backfill"};
}

inline void add_queues(const peer_case& of, columns& kinds, cluster& to) {
    for (const queue_case& queue : of.queues) {
        cluster::queue_type spec;
        spec.quota = kinds.limits(queue.limit);
        // KAI's and Volcano's limit of 0 means none.
        for (const auto& [kind, amount] : queue.limit.named)
            if (amount == 0)
                spec.quota.clear(kinds.of(kind));
        spec.deserved = kinds.limits(queue.deserved);
        spec.weight = queue.weight.value_or(of.from == peer::kai ? 0 : 1);
        spec.priority = queue.priority.value_or(of.from == peer::kai ? 100 : 0);
        spec.closed = queue.closed;
        if (of.from == peer::kai) {
            if (!queue.deserved.named.contains("gpu") &&
                std::ranges::find(queue.deserved.unlimited, "gpu") ==
                    queue.deserved.unlimited.end())
                spec.deserved.set(kinds.of("gpu"), 0);
            spec.firm_quota = spec.deserved;
        }
        ok(to.upsert_queue(queue_key(of, queue.name), std::move(spec),
                           queue.parent.empty() ? std::nullopt
                                                : std::optional(queue_key(of, queue.parent))),
           queue.name);
    }
}

inline void add_gangs(const peer_case& of, columns& kinds, cluster& to) {
    const std::vector<std::int64_t> created = creation_times(of);
    for (std::size_t at = 0; at < of.gangs.size(); ++at) {
        const gang_case& gang = of.gangs[at];
        tree_and_roles shape = tree_of(of, gang);
        cluster::gang_type spec;
        if (of.from != peer::coscheduling)
            spec.queue = queue_key(of, gang.queue);
        spec.priority = gang.priority;
        spec.created = created[at];
        spec.preemptible = of.from != peer::kai || gang.preemptible;
        spec.tree = std::move(shape.tree);
        ok(to.upsert_gang(gang.name, std::move(spec)), gang.name);
        for (std::size_t member = 0; member < gang.tasks.size(); ++member) {
            const task& one = gang.tasks[member];
            cluster::pod_type pod = pod_of(of, one, kinds);
            pod.role = shape.roles[member];
            if (of.from != peer::volcano)
                pod.created = static_cast<std::int64_t>(member);
            if (not_its_turn(of, one))
                pod.phase = muster::pod_phase::gated;
            const bool placed = pod.phase == muster::pod_phase::running;
            ok(to.upsert_pod(pod_key(gang.name, one.name), gang.name, std::move(pod),
                             placed ? std::optional(one.node) : std::nullopt),
               one.name);
        }
    }
}

[[nodiscard]] inline std::map<std::string, std::map<std::string, pod_result>>
as_given(const peer_case& of) {
    std::map<std::string, std::map<std::string, pod_result>> found;
    for (const gang_case& gang : of.gangs)
        for (const task& one : gang.tasks) {
            const bool waits = one.state == pod_state::pending || one.state == pod_state::gated;
            found[gang.name][one.name] = {one.state, waits ? std::string() : one.node};
        }
    return found;
}

/// What has become of everybody, as the state knows it.
[[nodiscard]] inline std::map<std::string, std::map<std::string, pod_result>>
as_it_stands(const peer_case& of, const cluster& known) {
    auto found = as_given(of);
    for (const gang_case& gang : of.gangs)
        for (const task& one : gang.tasks) {
            const auto pod = known.find_pod(pod_key(gang.name, one.name));
            if (!pod)
                continue;
            const auto& record = known[pod->index];
            if (record.node && record.assumed)
                found[gang.name][one.name] = {pod_state::bound, known[*record.node].key};
        }
    return found;
}

} // namespace detail

inline void allocate(const peer_case& of, cluster& known) {
    switch (of.from) {
    case peer::kai:
        static_cast<void>(muster::cycle(known, 0, kai_profile{}));
        break;
    case peer::volcano:
        static_cast<void>(muster::cycle(known, 0, volcano_profile{}));
        break;
    case peer::coscheduling:
        static_cast<void>(muster::cycle(known, 0, coscheduling_profile{}));
        break;
    }
}

/// Runs one case through Muster, with the profile of its peer.
[[nodiscard]] inline outcome run(const peer_case& of) {
    columns kinds(of);
    cluster known(kinds.of("pods"));
    add_nodes(of, kinds, known);
    detail::add_queues(of, kinds, known);
    detail::add_gangs(of, kinds, known);
    outcome made;
    made.before = detail::as_given(of);
    const bool allocates = of.acts("allocate") || of.acts("backfill") || of.acts("end-to-end");
    if (allocates)
        allocate(of, known);
    made.after = detail::as_it_stands(of, known);
    return made;
}

/// Why the case cannot be run at all; empty when it can.
[[nodiscard]] inline std::string cannot_run(const peer_case& of) {
    if (!of.unsupported.empty())
        return of.unsupported;
    if (of.from == peer::coscheduling && !of.acts("end-to-end"))
        return "a step of the peer's pod by pod pipeline: " + of.actions.front();
    for (const std::string& action : of.actions)
        if (action != "enqueue" && action != "allocate" && action != "backfill" &&
            action != "end-to-end")
            return "action " + action;
    return {};
}

} // namespace peer_cases
