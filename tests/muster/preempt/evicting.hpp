// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <muster/testing/random.hpp>
#include <support/world.hpp>

#include "../builders.hpp"

/// What tests of evictions share.
namespace evicting_clusters {

using namespace muster;
using namespace muster::testing;

using keys = std::vector<std::string>;

/// The default policy with that rule of victims.
template<class Rule>
auto evicting(Rule rule) {
    return policy{best_fit{},
                  priority_then_age{},
                  priority_then_share{},
                  no_reservations{},
                  surplus_at_once{},
                  most_packed{},
                  rule};
}

/// The pods that a cycle evicts, sorted.
template<class State>
keys evicted_by(const State& known, const cycle_result& result) {
    keys out;
    for (const decision& made : result.decisions)
        for (const pod_index pod : made.evictions)
            out.push_back(known.key(pod));
    std::sort(out.begin(), out.end());
    return out;
}
template<class State, class Policy>
keys evicted(State& known, const Policy& how, std::int64_t now = 0) {
    return evicted_by(known, cycle(known, now, how));
}

/// Nodes n0, n1, ... of 8, queues low (priority 1) and high (2).
inline builders::cluster machines(int count) {
    builders::cluster known;
    for (int at = 0; at < count; ++at)
        builders::ok(known.upsert_node("n" + std::to_string(at), builders::machine(8)));
    auto queue = builders::quota_of(1000);
    for (const std::string name : {"low", "high"}) {
        ++queue.priority;
        builders::ok(known.upsert_queue(name, queue));
    }
    return known;
}

/// Gives a small world of two kinds at least so many nodes, and three at most. Returns their cpus.
inline std::vector<std::int64_t> add_random_nodes(world& to, testing::random& draw, int least) {
    constexpr kind_id cpu{0};
    to.kinds = 2;
    std::vector<std::int64_t> left;
    for (int at = 0; at < draw.between(least, 3); ++at) {
        node<world_width> spec;
        spec.allocatable[cpu] = draw.between(2, 6);
        spec.allocatable[to.pods_kind()] = 10;
        left.push_back(spec.allocatable[cpu]);
        to.nodes.push_back({"n" + std::to_string(at), spec});
    }
    return left;
}

/// Takes cpus from one of the nodes, and returns the node; nothing if too few are left there.
inline std::optional<std::string> take(std::vector<std::int64_t>& left, testing::random& draw,
                                       std::int64_t cpus) {
    const std::size_t node = draw.below(left.size());
    if (left[node] < cpus)
        return std::nullopt;
    left[node] -= cpus;
    return "n" + std::to_string(node);
}

} // namespace evicting_clusters
