// SPDX-License-Identifier: Apache-2.0
#include <muster/cycle/cycle_context.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include <muster/admission/admit.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/index/node_finder.hpp>
#include <muster/plan/plan.hpp>
#include <muster/testing/random.hpp>

#include "../preempt/crowded_queues.hpp"

namespace cycle_cycle_context_test {

namespace {

using namespace muster;
using namespace builders;

using core = core_of<traits>;

constexpr std::int64_t steps = 100'000;

void change_something(cluster& known, testing::random& draw) {
    const std::string number = std::to_string(draw.between(0, 9));
    switch (draw.between(0, 6)) {
    case 0:
        crowded_queues::add_some_running(known, "r" + number, draw);
        break;
    case 1:
        if (known.find_gang("w" + number))
            ok(known.upsert_gang("w" + number, crowded_queues::some_gang(draw, 3)));
        break;
    case 2:
        if (draw.percent(30)) {
            auto queue = crowded_queues::some_queue(draw);
            queue.closed = draw.percent(30);
            ok(known.upsert_queue(crowded_queues::some_queue_key(draw), queue));
        }
        break;
    case 3:
        if (draw.percent(30)) {
            const std::int64_t most = draw.between(2, 9);
            for (const char* node : {"n0", "n1", "n2", "n3", "n4", "n5"})
                ok(known.upsert_node(node, machine(draw.between(1, most))));
        }
        break;
    default:
        for (const char* member : {"-0", "-1", "-2", "-3"})
            if (known.find_pod("r" + number + member))
                ok(known.remove_pod("r" + number + member));
    }
}

} // namespace

TEST_CASE("a gang that a quota refuses again is refused as if it were decided") {
    testing::random draw(7);
    const policy<> how;
    std::size_t refused = 0;
    for (int round = 0; round < 100; ++round) {
        cluster known = crowded_queues::crowded(draw, 12, 10);
        for (std::int64_t now = 0; now < 12; ++now) {
            static_cast<void>(cycle(known, now, how));
            for (std::int64_t changes = draw.between(1, 3); changes > 0; --changes)
                change_something(known, draw);
            auto& kept = detail::context_of<core>(known, how);
            for (const gang_index which : known.gang_order()) {
                const auto again = kept.refuse_again(known, which);
                if (!again)
                    continue;
                ++refused;
                plan<core::width> into(known.tentative());
                const auto weights = weigh(known.accounts(), known.pods_kind());
                const verdict expected = admit<core>(known, which, into, weights, how.score, steps);
                CHECK(again->kind == expected.kind);
                CHECK(again->at == expected.at);
                CHECK(again->could_start == expected.could_start);
                CHECK(again->steps == expected.steps);
                REQUIRE(expected.proof);
                const auto& leaf = again->proof->vertices.front();
                const auto& expected_leaf = expected.proof->vertices.front();
                CHECK(again->proof->scope == expected.proof->scope);
                CHECK(expected.proof->vertices.size() == 1);
                CHECK(leaf.weights == expected_leaf.weights);
                CHECK(leaf.prices.front().kind == expected_leaf.prices.front().kind);
                CHECK(expected_leaf.prices.size() == 1);
            }
        }
    }
    CHECK(refused > 500);
}

} // namespace cycle_cycle_context_test
