// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include <muster/policy/fragmentation.hpp>
#include <muster/policy/shared_gpus.hpp>
#include <muster/testing/random.hpp>

namespace policy_fragmentation_test {

namespace {

using namespace muster;

shared_gpu_node node_of(std::int64_t cpu, std::initializer_list<std::int32_t> left,
                        std::uint32_t model = 0) {
    shared_gpu_node made;
    made.cpu = cpu;
    made.model = model;
    for (const std::int32_t milli : left)
        made.left[made.gpus++] = milli;
    return made;
}

shared_gpu_task task_of(std::int64_t cpu, std::int32_t gpus, std::int32_t milli,
                        std::uint64_t models = ~std::uint64_t{0}) {
    return {cpu, gpus, milli, models};
}

TEST_CASE("a kind that fits cannot use the GPUs that have too little left for it") {
    const task_mix mix({{task_of(1000, 1, 500), 1}}, 100);
    CHECK(fragmentation(mix, node_of(4000, {1000, 400, 500})) == 400);
    CHECK(fragmentation(mix, node_of(4000, {1000, 1000})) == 0);
    CHECK(fragmentation(mix, node_of(4000, {400, 300})) == 700);
}

TEST_CASE("all idle GPUs are fragmented for a kind that lacks CPU, GPUs, or an allowed model") {
    const shared_gpu_node node = node_of(4000, {1000, 400, 500}, 3);
    CHECK(fragmentation(task_mix({{task_of(4001, 1, 500), 1}}, 100), node) == 1900);
    CHECK(fragmentation(task_mix({{task_of(1000, 2, 1000), 1}}, 100), node) == 1900);
    CHECK(fragmentation(task_mix({{task_of(1000, 1, 500, 0b0111), 1}}, 100), node) == 1900);
    CHECK(fragmentation(task_mix({{task_of(1000, 1, 500, 0b1000), 1}}, 100), node) == 400);
}

TEST_CASE("a kind without GPUs can use none of them, even if it fits") {
    CHECK(fragmentation(task_mix({{task_of(1000, 0, 0), 1}}, 100), node_of(4000, {1000, 400})) ==
          1400);
}

TEST_CASE("kinds count by their shares") {
    const task_mix mix({{task_of(1000, 1, 500), 3}, {task_of(1000, 0, 0), 2}}, 100);
    CHECK(mix.total() == 5);
    CHECK(fragmentation(mix, node_of(4000, {1000, 400})) == 3 * 400 + 2 * 1400);
}

TEST_CASE("the score is a hundred times the logistic function, rounded down") {
    CHECK(logistic_score(0, 7) == 50);
    CHECK(logistic_score(-1, 7) == 49);
    // ln(51 / 49) = 0.040005…
    CHECK(logistic_score(40, 1) == 50);
    CHECK(logistic_score(41, 1) == 51);
    CHECK(logistic_score(-40, 1) == 49);
    CHECK(logistic_score(-41, 1) == 48);
    CHECK(logistic_score(8000, 1) == 99);
    CHECK(logistic_score(-8000, 1) == 0);
    for (std::int64_t decrease = -9000; decrease <= 9000; ++decrease) {
        const double exact = 100.0 / (1.0 + std::exp(-static_cast<double>(decrease) / 3000.0));
        const double below = std::floor(exact);
        // No decrease but 0 is so near a threshold that doubles could not tell.
        if (decrease != 0)
            REQUIRE(std::min(exact - below, below + 1.0 - exact) > 1e-9);
        REQUIRE(logistic_score(decrease, 3) == static_cast<std::int64_t>(below));
    }
}

TEST_CASE("the best GPU of a node is the one that leaves least fragmented") {
    // Of what 400 leave, tasks of 600 can use the 600 of the whole GPU, and nothing of the rest.
    const task_mix mix({{task_of(0, 1, 600), 1}}, 100);
    const shared_gpu_node node = node_of(8000, {1000, 700, 500});
    const gpu_choice choice = fragmentation_score(mix, node, task_of(0, 1, 400));
    CHECK(choice.gpu == 2);
    // F falls from 500 to 100.
    CHECK(choice.score == logistic_score(400, 1));
    // On either of these F stays as it is.
    CHECK(fragmentation_score(mix, node_of(8000, {1000, 1000}), task_of(0, 1, 400)) ==
          gpu_choice{50, 0});
}

/// F as its definition says, over single GPUs and kinds, without any of the code above.
std::int64_t by_definition(const std::vector<typical_task>& kinds, const shared_gpu_node& node) {
    std::int64_t sum = 0;
    for (const typical_task& kind : kinds) {
        std::int32_t large_enough = 0;
        std::int64_t small = 0;
        std::int64_t all = 0;
        for (std::uint32_t gpu = 0; gpu < node.gpus; ++gpu) {
            all += node.left[gpu];
            if (node.left[gpu] < kind.task.milli)
                small += node.left[gpu];
            else
                ++large_enough;
        }
        const bool runs = kind.task.gpus != 0 && large_enough >= kind.task.gpus &&
                          kind.task.cpu <= node.cpu &&
                          (kind.task.models & (std::uint64_t{1} << node.model)) != 0;
        sum += kind.share * (runs ? small : all);
    }
    return sum;
}

TEST_CASE("scores are those of every GPU recomputed by the definition") {
    testing::random chance(11);
    for (int world = 0; world < 500; ++world) {
        std::vector<typical_task> kinds;
        for (std::int64_t cpu = 1, count = chance.between(1, 6); cpu <= count; ++cpu) {
            const auto gpus = static_cast<std::int32_t>(chance.between(0, 3));
            const auto milli = static_cast<std::int32_t>(gpus == 0   ? 0
                                                         : gpus == 1 ? chance.between(1, 10) * 100
                                                                     : 1000);
            const auto models = static_cast<std::uint64_t>(chance.between(1, 7));
            kinds.push_back({task_of(cpu * 1000, gpus, milli, models), chance.between(1, 50)});
        }
        const task_mix mix(kinds, 100);
        shared_gpu_node node;
        node.cpu = chance.between(0, 8) * 1000;
        node.model = static_cast<std::uint32_t>(chance.between(0, 2));
        node.gpus = static_cast<std::uint32_t>(chance.between(1, 4));
        for (std::uint32_t gpu = 0; gpu < node.gpus; ++gpu)
            node.left[gpu] = static_cast<std::int32_t>(chance.between(0, 10) * 100);
        CAPTURE(world);
        REQUIRE(fragmentation(mix, node) == by_definition(kinds, node));
        for (const typical_task& kind : kinds) {
            const shared_gpu_task& task = kind.task;
            if (!fits(node, task))
                continue;
            const gpu_choice choice = fragmentation_score(mix, node, task);
            std::int64_t best = -1;
            for (std::uint32_t gpu = 0; gpu < node.gpus; ++gpu) {
                if (task.shares_gpu() && node.left[gpu] < task.milli)
                    continue;
                const std::int64_t decrease =
                    by_definition(kinds, node) - by_definition(kinds, with_task(node, task, gpu));
                const std::int64_t score = logistic_score(decrease, mix.total());
                if (score > best) {
                    best = score;
                    CHECK_FALSE((task.shares_gpu() && gpu > choice.gpu));
                }
            }
            REQUIRE(choice.score == best);
        }
    }
}

} // namespace

} // namespace policy_fragmentation_test
