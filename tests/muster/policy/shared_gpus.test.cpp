// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

#include <muster/policy/shared_gpus.hpp>

namespace policy_shared_gpus_test {

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

TEST_CASE("a task fits if CPU, the model and enough GPUs with enough left are there") {
    const shared_gpu_node node = node_of(4000, {1000, 400, 1000}, 2);
    CHECK(fits(node, task_of(4000, 2, 1000)));
    CHECK_FALSE(fits(node, task_of(4001, 2, 1000)));
    CHECK_FALSE(fits(node, task_of(4000, 3, 1000)));
    CHECK_FALSE(fits(node, task_of(4000, 2, 1000, 0b011)));
    CHECK(fits(node, task_of(4000, 2, 1000, 0b100)));
    CHECK(fits(node_of(4000, {400}), task_of(4000, 1, 400)));
    CHECK_FALSE(fits(node_of(4000, {399}), task_of(4000, 1, 400)));
    // Without GPUs the model does not matter.
    CHECK(fits(node, task_of(4000, 0, 0, 0b011)));
}

TEST_CASE("only the most frequent kinds are typical, until they cover the percentage") {
    const std::vector<typical_task> kinds{{task_of(1000, 1, 100), 5},
                                          {task_of(2000, 1, 100), 80},
                                          {task_of(3000, 1, 100), 5},
                                          {task_of(4000, 1, 100), 10}};
    const task_mix most(kinds, 95);
    REQUIRE(most.kinds().size() == 3);
    CHECK(most.total() == 95);
    CHECK(most.left_out() == 5);
    CHECK(most.kinds()[0].task.cpu == 2000);
    CHECK(most.kinds()[1].task.cpu == 4000);
    // Of two that are as frequent, the one with more CPU.
    CHECK(most.kinds()[2].task.cpu == 3000);
    CHECK(task_mix(kinds, 96).kinds().size() == 4);
    CHECK(task_mix(kinds, 80).kinds().size() == 1);
}

TEST_CASE("a task takes the tightest GPUs, or the one that was chosen") {
    const shared_gpu_node node = node_of(8000, {1000, 600, 1000, 700});
    CHECK(tightest_gpu(node, 601) == 3);
    CHECK(tightest_gpu(node, 600) == 1);
    CHECK(tightest_gpu(node, 800) == 0);
    CHECK(tightest_gpu(node_of(1, {10}), 11) == 1);
    CHECK(with_task(node, task_of(3000, 1, 600), 3) == node_of(5000, {1000, 600, 1000, 100}));
    CHECK(with_task(node, task_of(3000, 2, 1000), 0) == node_of(5000, {0, 600, 0, 700}));
    CHECK(with_task(node, task_of(3000, 0, 0), 0) == node_of(5000, {1000, 600, 1000, 700}));
}

} // namespace

} // namespace policy_shared_gpus_test
