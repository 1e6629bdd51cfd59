// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <muster/cycle/policy.hpp>
#include <muster/index/domain_sums.hpp>
#include <muster/index/node_finder.hpp>
#include <muster/testing/random.hpp>

namespace index_domain_sums_test {

namespace {

using namespace muster;
using traits = string_traits<4>;
using cluster = state<traits>;

cluster::gang_type within(topology how) {
    cluster::gang_type made;
    made.tree = single_role(1);
    made.tree.constrain_topology(vertex_index{0}, {std::move(how), 0, std::nullopt});
    return made;
}

template<class Finder>
bool sums_hold(Finder& finder, const cluster& known) {
    for (std::size_t row = 0; row < known.topologies().size(); ++row) {
        const topology_index which{row};
        const topology_domains& domains = known.topologies()[which];
        for (std::size_t level = 0; level < domains.levels(); ++level)
            for (const auto& [path, domain] : domains.of_level(level))
                if (!(finder.free_in(known, which, domain) == sum_of(known, which, domain)))
                    return false;
    }
    return true;
}

TEST_CASE("sums kept from change to change are those of looking at all nodes") {
    testing::random chance(3);
    for (int round = 0; round < 60; ++round) {
        cluster known;
        node_finder<core_of<traits>> finder{best_fit{}};
        CHECK(known.upsert_gang("g", within({{"block", "rack"}})) == event_result::applied);
        for (int event = 0; event < 60; ++event) {
            const std::string key(1, static_cast<char>('a' + chance.below(6)));
            const auto kind = chance.below(10);
            if (kind < 4) {
                cluster::node_type node;
                node.allocatable[0] = static_cast<std::int64_t>(chance.below(9));
                node.allocatable[1] = 4;
                if (chance.percent(90))
                    node.labels.set("block", std::to_string(chance.below(2)));
                if (chance.percent(90))
                    node.labels.set("rack", std::to_string(chance.below(2)));
                CHECK(known.upsert_node(key, node) == event_result::applied);
            } else if (kind == 4) {
                static_cast<void>(known.remove_node(key));
            } else if (kind == 5) {
                const topology other = chance.percent(50) ? topology{{"rack"}} : topology{{"row"}};
                CHECK(known.upsert_gang("h", within(other)) == event_result::applied);
            } else if (kind == 6) {
                static_cast<void>(known.remove_pod("p" + key));
            } else {
                // Nobody asks whether there is room: what is free may be negative.
                cluster::pod_type pod;
                pod.request[0] = static_cast<std::int64_t>(chance.below(6));
                pod.phase = pod_phase::running;
                static_cast<void>(known.upsert_pod("p" + key, "g", pod, key));
            }
            if (chance.percent(30)) {
                finder.catch_up(known);
                CHECK(sums_hold(finder, known));
            }
        }
    }
}

TEST_CASE("a node with less than nothing free takes nothing from its domain's sum") {
    cluster known;
    CHECK(known.upsert_gang("g", within({{"block"}})) == event_result::applied);
    cluster::node_type node;
    node.allocatable[0] = 3;
    node.labels.set("block", "x");
    CHECK(known.upsert_node("a", node) == event_result::applied);
    CHECK(known.upsert_node("b", node) == event_result::applied);
    cluster::pod_type pod;
    pod.request[0] = 5;
    pod.phase = pod_phase::running;
    CHECK(known.upsert_pod("p", "g", pod, "a") == event_result::applied);
    const auto domain = known.topologies()[topology_index{0}].of_level(0).begin()->second;
    CHECK(static_cast<int>(sum_of(known, topology_index{0}, domain).free[0]) == 3);
}

} // namespace

} // namespace index_domain_sums_test
