// SPDX-License-Identifier: Apache-2.0
#include "topology.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <muster/muster.hpp>

#include "cluster.hpp"
#include "muster_engine.hpp"
#include "random.hpp"
#include "stopwatch.hpp"

namespace bench {

namespace topology_runs {
namespace {

constexpr std::size_t width = 4;
constexpr std::uint32_t nodes = 5000;
constexpr std::uint32_t racks = 50;
constexpr std::uint32_t blocks = 5;
constexpr std::int64_t devices = 8;
using cluster = muster::state<engine_traits<width>>;

void must(muster::event_result what) {
    if (what != muster::event_result::applied)
        fail("Muster refuses an event");
}

struct gang_shape {
    std::int64_t members = 0;
    std::int64_t devices = 0;
};

/// Mostly few members, now and then as many as half a rack takes.
std::vector<gang_shape> shapes(std::size_t count) {
    random_numbers chance(2026);
    std::vector<gang_shape> made(count);
    for (gang_shape& each : made) {
        each.members = std::int64_t{1} << chance.between(0, 6);
        each.devices = std::int64_t{1} << chance.between(0, 3);
    }
    return made;
}

struct asked_gang {
    double nanoseconds = 0.0;
    std::size_t placed = 0;
    bool started = false;
};

std::vector<asked_gang> run(togetherness how, double in_use, const std::vector<gang_shape>& asked) {
    cluster known;
    const muster::topology network{{"block", "rack"}};
    for (std::uint32_t number = 0; number < nodes; ++number) {
        muster::node<width> machine;
        machine.allocatable[0] = 128'000;
        machine.allocatable[1] = 1024;
        machine.allocatable[2] = devices;
        const std::uint32_t rack = number % racks;
        machine.labels = {{"block", std::to_string(rack % blocks)}, {"rack", std::to_string(rack)}};
        must(known.upsert_node(number, machine));
    }
    const muster::any_policy<muster::core_of<engine_traits<width>>> policy;
    muster::cycle_result result;
    std::vector<asked_gang> times;
    struct running {
        std::uint32_t gang;
        std::int64_t devices;
    };
    std::deque<running> run_now;
    std::int64_t used = 0;
    const auto most = static_cast<std::int64_t>(in_use * static_cast<double>(nodes * devices));
    std::uint32_t next_pod = 0;
    for (std::uint32_t number = 0; number < asked.size(); ++number) {
        const gang_shape& shape = asked[number];
        muster::gang<std::uint32_t> group;
        group.tree = muster::single_role(shape.members);
        if (how == togetherness::rack)
            group.tree.constrain_topology(muster::vertex_index{0}, {network, 1, std::nullopt});
        if (how == togetherness::block_or_rack)
            group.tree.constrain_topology(muster::vertex_index{0}, {network, 0, 1});
        must(known.upsert_gang(number, group));
        muster::pod<width> member;
        member.request[0] = 8'000 * shape.devices;
        member.request[1] = 64 * shape.devices;
        member.request[2] = shape.devices;
        for (std::int64_t left = shape.members; left > 0; --left)
            must(known.upsert_pod(next_pod++, number, member));
        while (!run_now.empty() && used + shape.members * shape.devices > most) {
            must(known.finish_gang(run_now.front().gang));
            used -= run_now.front().devices;
            run_now.pop_front();
        }
        muster::catch_up(known, policy);
        const auto which = known.find_gang(number)->index;
        asked_gang made;
        made.nanoseconds =
            stopwatch::time([&] { muster::start(known, which, policy, {}, result); });
        made.started = result.decisions.front().outcome.kind == muster::answer::admitted;
        made.placed = result.decisions.front().placements.size();
        times.push_back(made);
        if (!made.started)
            continue;
        run_now.push_back({number, shape.members * shape.devices});
        used += shape.members * shape.devices;
    }
    return times;
}

} // namespace
} // namespace topology_runs

topology_report measure_topology(togetherness how, double in_use, std::size_t gangs,
                                 std::size_t runs) {
    using namespace topology_runs;
    const std::vector<gang_shape> asked = shapes(gangs);
    std::vector<asked_gang> best = run(how, in_use, asked);
    for (std::size_t again = 1; again < runs; ++again) {
        const std::vector<asked_gang> next = run(how, in_use, asked);
        for (std::size_t at = 0; at < best.size(); ++at)
            best[at].nanoseconds = std::min(best[at].nanoseconds, next[at].nanoseconds);
    }
    topology_report found;
    double starting = 0.0;
    double refusing = 0.0;
    std::size_t pods = 0;
    // The first half fills the cluster.
    for (std::size_t at = best.size() / 2; at < best.size(); ++at) {
        ++found.asked;
        (best[at].started ? found.started : found.refused) += 1;
        (best[at].started ? starting : refusing) += best[at].nanoseconds;
        pods += best[at].placed;
    }
    const auto per = [](double sum, std::size_t count) {
        return count == 0 ? 0.0 : sum / static_cast<double>(count);
    };
    found.per_start_ns = per(starting, found.started);
    found.per_pod_ns = per(starting, pods);
    found.per_refusal_ns = per(refusing, found.refused);
    return found;
}

} // namespace bench
