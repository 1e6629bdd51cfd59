// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <muster/testing/random.hpp>
#include <support/brute_force.hpp>
#include <support/cases.hpp>

#include "budget_rules.hpp"
#include "fewest_moves.hpp"

namespace preempt_consolidation_properties_test {

namespace {

using namespace muster;
using namespace muster::testing;

constexpr kind_id cpu{0};

/// Up to `most_nodes` nodes and a few more running pods of gangs than `most_pods`, and a gang "new"
/// that waits.
world scattered(std::uint64_t seed, std::int64_t most_nodes, std::size_t most_pods) {
    testing::random draw(seed);
    const bool many = most_pods > 5;
    world made;
    made.seed = seed;
    made.kinds = 2;
    std::vector<std::int64_t> left;
    for (int at = 0; at < draw.between(2, most_nodes); ++at) {
        node<world_width> spec;
        spec.allocatable[cpu] = draw.between(many ? 6 : 3, 8);
        spec.allocatable[made.pods_kind()] = 10;
        spec.labels = {{"is", "n" + std::to_string(at)}};
        left.push_back(spec.allocatable[cpu]);
        made.nodes.push_back({"n" + std::to_string(at), spec});
    }
    for (int at = 0; at < 2; ++at) {
        queue<world_width> spec;
        if (draw.percent(20))
            spec.preemptible = false;
        if (draw.percent(30))
            spec.quota.set(cpu, draw.between(3, 12));
        made.queues.push_back({"q" + std::to_string(at), spec, {}});
    }
    const auto add_gang = [&](const std::string& key, bool stands, std::size_t most) {
        gang<std::string> spec;
        spec.queue = "q" + std::to_string(draw.below(2));
        spec.priority = draw.between(0, 2);
        spec.created = draw.between(0, 3);
        if (stands && draw.percent(15))
            spec.preemptible = false;
        if (stands && draw.percent(25))
            spec.max_disrupted = draw.between(0, 2);
        const std::size_t pods = 1 + draw.below(most);
        std::vector<vertex_index> roles{vertex_index{0}};
        if (!stands && draw.percent(30)) {
            gang_tree tree(1);
            roles = {tree.add(vertex_index{0}, draw.between(0, 1)), tree.add(vertex_index{0}, 1)};
            spec.tree = tree;
        } else {
            spec.tree = gang_tree(draw.between(1, static_cast<std::int64_t>(pods)));
        }
        for (std::size_t at = 0; at < pods; ++at) {
            pod<world_width> one;
            one.role = roles[at % roles.size()];
            one.created = draw.between(0, 3);
            one.request[cpu] = stands ? draw.between(1, 3)
                               : many ? draw.between(4, 7)
                                      : draw.between(1, 6);
            one.request[made.pods_kind()] = 1;
            if (draw.percent(10))
                one.where.claims.ports.push_back({"TCP", "", 80});
            std::optional<std::string> on;
            if (stands) {
                one.phase = pod_phase::running;
                const std::size_t node = draw.below(left.size());
                if (left[node] < one.request[cpu])
                    continue;
                if (draw.percent(15))
                    one.where.selector.requirements.push_back(
                        {"is", label_operator::in, {"n" + std::to_string(node), "n0"}});
                left[node] -= one.request[cpu];
                on = "n" + std::to_string(node);
                const bool taken =
                    std::any_of(made.pods.begin(), made.pods.end(), [&](const auto& other) {
                        return other.on == on && !other.spec.where.claims.ports.empty();
                    });
                if (taken)
                    one.where.claims.ports.clear();
            } else if (draw.percent(10)) {
                one.where.selector.requirements.push_back({"is", label_operator::in, {"n0"}});
            }
            made.pods.push_back({key + "-" + std::to_string(at), key, one, on});
        }
        made.gangs.push_back({key, spec});
    };
    for (std::size_t at = 0; at < most_pods && made.pods.size() < most_pods; ++at)
        add_gang("g" + std::to_string(at), true, 2);
    add_gang("new", false, many ? 5 : 3);
    return made;
}
world few_pods(std::uint64_t seed) {
    return scattered(seed, 3, 5);
}
world many_pods(std::uint64_t seed) {
    return scattered(seed, 10, 20);
}
world few_pods_with_budgets(std::uint64_t seed) {
    world made = few_pods(seed);
    testing::random draw(seed ^ 0x5bd1e995U);
    budget_rules::add(made, draw);
    return made;
}

/// Worlds in which somebody moved, by how many did.
std::map<std::size_t, std::size_t> moving_worlds;

std::string check_moves(const world& from) {
    const auto anybody = [](const world_state&, pod_index) { return true; };
    const auto fits = [](const world_state& known, gang_index by) {
        return brute_force<world_traits>(known, by).fits();
    };
    return fewest_moves::check(
        from, fewest_moves::rules<decltype(anybody), decltype(fits)>{anybody, fits}, moving_worlds);
}

TEST_CASE("on small clusters exactly the fewest pods move, and the gang and all of them stand") {
    moving_worlds.clear();
    CHECK(count_faults("consolidation", 2000, few_pods, check_moves) == 0);
    CHECK(count_faults(
              "consolidation with devices", 2000,
              [](std::uint64_t seed) { return with_cards(few_pods(seed)); }, check_moves) == 0);
    std::size_t worlds = 0;
    for (const auto& [moves, count] : moving_worlds) {
        std::printf("consolidation: %zu moves in %zu worlds\n", moves, count);
        worlds += count;
    }
    if (all_cases(2000))
        CHECK((worlds > 20 && moving_worlds.size() > 1));
}

TEST_CASE("with budgets exactly the fewest pods move that keep to all of them") {
    moving_worlds.clear();
    CHECK(count_faults("consolidation with budgets", 1000, few_pods_with_budgets, check_moves) ==
          0);
    if (all_cases(1000))
        CHECK(moving_worlds.size() > 1);
}

TEST_CASE("on clusters of many pods, too, whoever moves and the gang all stand in the end") {
    moving_worlds.clear();
    CHECK(count_faults("consolidation of many", 1000, many_pods, check_moves) == 0);
    std::size_t worlds = 0;
    for (const auto& [moves, count] : moving_worlds) {
        std::printf("consolidation of many: %zu moves in %zu worlds\n", moves, count);
        worlds += count;
    }
    if (all_cases(1000))
        CHECK(worlds > 20);
}

} // namespace

} // namespace preempt_consolidation_properties_test
