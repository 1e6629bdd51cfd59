// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

#include <muster/policy/placement.hpp>
#include <muster/policy/power.hpp>

#include "../builders.hpp"

namespace policy_power_test {

using namespace builders;
using namespace muster;

TEST_CASE("a GPU needs full power as soon as a pod has a part of it, and a CPU package likewise") {
    const node_watts watts;
    shared_gpu_node node;
    node.cpu = 64'000;
    node.gpus = 2;
    node.left = {whole_gpu_milli, whole_gpu_milli};
    CHECK(power_of(watts, 64'000, node) == 2 * 15 + 2 * 30);
    node.left[0] = 999;
    CHECK(power_of(watts, 64'000, node) == 2 * 15 + 30 + 250);
    node.cpu = 63'999;
    CHECK(power_of(watts, 64'000, node) == 15 + 120 + 30 + 250);
    node.cpu = 0;
    CHECK(power_of(watts, 64'000, node) == 2 * 120 + 30 + 250);
}

TEST_CASE("the node whose power rises least is preferred") {
    constexpr std::size_t width = 2;
    power score;
    score.view.whole[1] = true;
    const placement_weights<width> weights{};
    const constraints where;
    const auto of = [](std::int64_t cpu_milli, std::int64_t gpus) {
        resources<width> made;
        made[0] = cpu_milli;
        made[1] = gpus;
        return made;
    };
    const auto rise = [&](const resources<width>& capacity, const resources<width>& free,
                          const resources<width>& request) {
        return score(offered_node<width>{node_index{0}, capacity, free, weights, request, where});
    };
    // A package that is in use already, an idle one, and a GPU on top.
    CHECK(rise(of(32'000, 0), of(31'000, 0), of(1'000, 0)) == 0);
    CHECK(rise(of(32'000, 0), of(32'000, 0), of(1'000, 0)) == -(120 - 15));
    CHECK(rise(of(32'000, 4), of(31'000, 2), of(1'000, 1)) == -(250 - 30));
    CHECK(rise(of(32'000, 4), of(32'000, 4), of(1'000, 2)) == -(120 - 15) - 2 * (250 - 30));
    CHECK(rise(of(32'000, 4), of(32'000, 0), of(1'000, 1)) ==
          std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("a cycle fills what is in use before it wakes an idle node") {
    cluster known{kind_id{2}};
    power score;
    score.view.whole[1] = true;
    for (const char* name : {"a", "b"}) {
        ok(known.upsert_node(name, machine(64, 4)));
    }
    ok(known.upsert_gang("running", gang_of(1)));
    ok(known.upsert_pod("r", "running", in_phase(pod_phase::running, asking(1, 1)), "b"));
    ok(known.upsert_gang("asking", gang_of(1)));
    ok(known.upsert_pod("p", "asking", asking(1)));
    policy<power> how;
    how.score = score;
    const auto result = cycle(known, 0, how);
    std::string found;
    for (const auto& each : result.decisions)
        for (const placement& one : each.placements)
            found = known.key(one.node);
    CHECK(found == "b");
}

} // namespace policy_power_test
