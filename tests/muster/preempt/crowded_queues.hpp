// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <muster/testing/random.hpp>

#include "../builders.hpp"

/// Full clusters in which many gangs run and some wait, for tests that compare two computations of
/// the same answer.
namespace crowded_queues {

using namespace builders;

inline constexpr int queues = 5;

/// A queue of any priority, which has a quota now and then.
[[nodiscard]] inline cluster::queue_type some_queue(muster::testing::random& draw) {
    cluster::queue_type made;
    made.priority = draw.between(0, 2);
    made.preemptible = draw.percent(85);
    if (draw.percent(60))
        made.quota = quota_of(draw.between(2, 14)).quota;
    if (draw.percent(5))
        made.non_preemptible_quota.set(cpu, draw.between(0, 9));
    return made;
}
[[nodiscard]] inline std::string some_queue_key(muster::testing::random& draw) {
    return "q" + std::to_string(draw.between(0, queues - 1));
}
[[nodiscard]] inline cluster::gang_type some_gang(muster::testing::random& draw,
                                                  std::int64_t members) {
    cluster::gang_type made = gang_of(draw.between(1, members));
    if (draw.percent(85))
        made.queue = some_queue_key(draw);
    made.priority = draw.between(0, 5);
    made.created = draw.between(0, 3);
    made.preemptible = draw.percent(80);
    if (draw.percent(15))
        made.max_disrupted = draw.between(0, 3);
    return made;
}

/// A gang with members on nodes that have room for them; some of them are on their way out.
inline void add_some_running(cluster& to, const std::string& key, muster::testing::random& draw) {
    const std::int64_t members = draw.between(1, 4);
    cluster::gang_type spec = some_gang(draw, members);
    spec.preemptible = draw.percent(90);
    ok(to.upsert_gang(key, spec));
    for (std::int64_t at = 0; at < members; ++at) {
        const std::int64_t cpus = draw.between(1, 3);
        const std::string node = "n" + std::to_string(draw.between(0, 5));
        if (free_cpu(to, node) < cpus)
            continue;
        auto member = in_phase(pod_phase::running, asking(cpus));
        member.created = draw.between(0, 3);
        member.terminating = draw.percent(8);
        ok(to.upsert_pod(key + "-" + std::to_string(at), key, member, node));
    }
}

/// Six nodes of 8 with gangs r0, r1, ..., and gangs w0, w1, ... of equal members that wait.
[[nodiscard]] inline cluster crowded(muster::testing::random& draw, int running = 24,
                                     int waiting = 6) {
    cluster known;
    for (int at = 0; at < 6; ++at)
        ok(known.upsert_node("n" + std::to_string(at), machine(8)));
    for (int at = 0; at < queues; ++at)
        ok(known.upsert_queue("q" + std::to_string(at), some_queue(draw),
                              at > 1 ? std::optional("q" + std::to_string(at % 2)) : std::nullopt));
    for (int at = 0; at < running; ++at)
        add_some_running(known, "r" + std::to_string(at), draw);
    for (int at = 0; at < waiting; ++at) {
        const std::string key = "w" + std::to_string(at);
        const std::int64_t members = draw.between(1, 4);
        ok(known.upsert_gang(key, some_gang(draw, members)));
        const auto member = asking(draw.between(1, 6));
        for (std::int64_t number = 0; number < members; ++number)
            ok(known.upsert_pod(key + "-" + std::to_string(number), key, member));
    }
    return known;
}

} // namespace crowded_queues
