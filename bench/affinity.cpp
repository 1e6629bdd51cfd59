// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <muster/cluster/state.hpp>
#include <muster/cycle/cycle.hpp>

#include "figures.hpp"
#include "muster_engine.hpp"
#include "stopwatch.hpp"

namespace bench {

namespace affinity_runs {
namespace {

constexpr std::size_t width = 4;
using cluster = muster::state<engine_traits<width>>;

enum class rule { none, apart_by_host, spread_by_zone, near_by_zone };

void must(bool held) {
    if (!held) {
        std::puts("the affinity benchmark's cluster is not as it should be");
        std::exit(1);
    }
}
void must(muster::event_result what) {
    must(what == muster::event_result::applied);
}

cluster make_cluster(std::size_t nodes) {
    cluster made;
    for (std::size_t at = 0; at < nodes; ++at) {
        muster::node<width> spec;
        spec.allocatable[0] = 4'000;
        spec.allocatable[1] = 32LL << 30;
        spec.allocatable[3] = 110;
        spec.labels = {{"host", "node-" + std::to_string(at)},
                       {"zone", "zone-" + std::to_string(at % 3)}};
        must(made.upsert_node(static_cast<std::uint32_t>(at), spec));
    }
    return made;
}

muster::pod<width> member(rule by, const std::string& app) {
    muster::pod<width> made;
    made.request[0] = 100;
    made.request[1] = 500LL << 20;
    made.request[3] = 1;
    made.labels = {{"app", app}};
    muster::pod_selector mine;
    mine.labels.requirements.push_back({"app", muster::label_operator::in, {app}});
    if (by == rule::none)
        return made;
    muster::pod_terms terms;
    if (by == rule::apart_by_host) {
        terms.anti_affinity.push_back({mine, "host"});
    } else if (by == rule::near_by_zone) {
        terms.affinity.push_back({mine, "zone"});
    } else {
        muster::spread_term spread;
        spread.pods = mine;
        spread.topology = "zone";
        terms.spread.push_back(spread);
    }
    made.where.pods = terms;
    return made;
}

/// Nanoseconds per pod of cycles that place `gangs` gangs of `members`, one gang arriving before
/// each; pods of 10 gangs in turn have a label, and its terms, in common.
double ns_per_pod(rule by, std::size_t nodes, std::size_t gangs, std::size_t members) {
    cluster known = make_cluster(nodes);
    static_cast<void>(muster::cycle(known, 0));
    muster::cycle_result result;
    double spent = 0;
    std::size_t placed = 0;
    for (std::size_t at = 0; at < gangs; ++at) {
        const auto key = static_cast<std::uint32_t>(at);
        muster::gang<std::uint32_t> group;
        group.tree = muster::single_role(static_cast<std::int64_t>(members));
        must(known.upsert_gang(key, group));
        const auto one = member(by, "app-" + std::to_string(at % 10));
        for (std::size_t number = 0; number < members; ++number)
            must(known.upsert_pod(static_cast<std::uint32_t>(at * members + number), key, one));
        const auto from = stopwatch::begin();
        muster::cycle(known, 0, muster::policy<>{}, {}, {}, result);
        spent += stopwatch::nanoseconds(from, stopwatch::end());
        placed += result.counters.pods_placed;
    }
    must(placed == gangs * members);
    return spent / static_cast<double>(placed);
}

} // namespace
} // namespace affinity_runs

void add_affinity(report& to, bool quick) {
    using namespace affinity_runs;
    const std::size_t nodes = quick ? 200 : 5000;
    const std::size_t pods = quick ? 100 : 2000;
    const std::size_t gang = quick ? 50 : 500;
    const std::string where = size_text(nodes) + " nodes";
    const auto add = [&](const char* what, rule by) {
        to.orientation(std::string(what) + ", pod by pod, " + where, "ns/pod",
                       ns_per_pod(by, nodes, pods, 1));
        to.orientation(std::string(what) + ", gangs of " + std::to_string(gang) + ", " + where,
                       "ns/pod", ns_per_pod(by, nodes, 4, gang));
    };
    add("no terms between pods", rule::none);
    add("anti-affinity by host", rule::apart_by_host);
    add("spread over zones", rule::spread_by_zone);
    add("affinity by zone", rule::near_by_zone);
}

} // namespace bench
