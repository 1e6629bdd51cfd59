// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include <muster/policy/gpu_places.hpp>
#include <muster/policy/shared_gpus.hpp>
#include <muster/testing/random.hpp>

namespace policy_gpu_places_test {

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

TEST_CASE("places are GPUs with enough left, as far as the CPU goes") {
    const shared_gpu_node node = node_of(10, {1000, 600, 400, 1000}, 1);
    CHECK(gpu_places(node, {1, 1, 400}) == 4);
    CHECK(gpu_places(node, {1, 1, 500}) == 3);
    CHECK(gpu_places(node, {4, 1, 400}) == 2);
    CHECK(gpu_places(node, {11, 1, 400}) == 0);
    CHECK(gpu_places(node, {0, 1, 400}) == 4);
    CHECK(gpu_places(node, {1, 2, 1000}) == 1);
    CHECK(gpu_places(node, {1, 3, 1000}) == 0);
    CHECK(gpu_places(node, {1, 0, 0}) == 0);
    CHECK(gpu_places(node, {1, 1, 400, 0b01}) == 0);
    CHECK(gpu_places(node, {1, 1, 400, 0b10}) == 4);
}

TEST_CASE("a place costs the share of its kind over its GPUs and all places") {
    const task_mix mix({{{1, 1, 1000}, 3}, {{1, 4, 1000}, 1}}, 100);
    const std::int64_t unit = std::int64_t{1} << 48;
    const place_prices prices(mix.kinds(), std::vector<std::int64_t>{6, 0});
    CHECK(prices.value(node_of(9, {1000})) == unit * 3 / 4 / 6);
    // The one that no node has a place for costs as if there were one.
    CHECK(prices.value(node_of(9, {1000, 1000, 1000, 1000})) ==
          4 * (unit * 3 / 4 / 6) + unit / 4 / 4);
    CHECK(prices.value(node_of(9, {999})) == 0);
}

TEST_CASE("tasks that are not typical may need any unused node, each shape equally likely") {
    const task_mix mix({{{1, 1, 500}, 90}, {{2, 1, 500}, 7}, {{3, 1, 500}, 3}}, 90);
    const std::vector<shared_gpu_node> empty{node_of(8, {1000, 1000}), node_of(9, {}),
                                             node_of(8, {1000, 1000}, 1), node_of(8, {1000, 1000})};
    const auto kinds = kinds_with_places(mix, empty);
    REQUIRE(kinds.size() == 3);
    CHECK(kinds[0].task == shared_gpu_task{1, 1, 500});
    CHECK(kinds[0].share == 2 * 90);
    CHECK(kinds[1].task == shared_gpu_task{8, 2, 1000, 0b01});
    CHECK(kinds[2].task == shared_gpu_task{8, 2, 1000, 0b10});
    CHECK(kinds[1].share + kinds[2].share == 2 * 10);
    CHECK(gpu_places(node_of(8, {1000, 1000}), kinds[1].task) == 1);
    CHECK(gpu_places(node_of(7, {1000, 1000}), kinds[1].task) == 0);
    CHECK(gpu_places(node_of(8, {1000, 999}), kinds[1].task) == 0);
    const task_mix all({{{1, 1, 500}, 90}}, 100);
    CHECK(kinds_with_places(all, empty).size() == 1);
}

TEST_CASE("a task goes where it takes no place from a kind that has few") {
    // Half of the tasks need model 1, which has a tenth of the places.
    const task_mix mix({{{1, 1, 1000, 0b10}, 1}, {{1, 1, 1000}, 1}}, 100);
    const place_prices prices(mix.kinds(), std::vector<std::int64_t>{10, 100});
    const shared_gpu_task anywhere{1, 1, 1000};
    const auto score = [&](const shared_gpu_node& node) {
        return places_lost_score(prices, node, prices.value(node), anywhere).score;
    };
    CHECK(score(node_of(9, {1000}, 0)) > score(node_of(9, {1000}, 1)));
    // A node whose CPU is used up for typical tasks loses nothing of what is left.
    CHECK(score(node_of(2, {1000, 1000, 1000, 1000})) ==
          score(node_of(9, {1000, 1000, 1000, 1000})));
    const shared_gpu_task no_gpu{1, 0, 0};
    const shared_gpu_node rich = node_of(9, {1000}, 1);
    const shared_gpu_node poor = node_of(1, {1000}, 1);
    CHECK(places_lost_score(prices, rich, prices.value(rich), no_gpu).score == 0);
    CHECK(places_lost_score(prices, poor, prices.value(poor), no_gpu).score < 0);
}

TEST_CASE("of GPUs on which as much is lost the tightest is chosen") {
    const task_mix mix({{{0, 1, 1000}, 1}}, 100);
    const place_prices prices(mix.kinds(), std::vector<std::int64_t>{5});
    const auto choice = [&](const shared_gpu_node& node) {
        return places_lost_score(prices, node, prices.value(node), {0, 1, 300});
    };
    CHECK(choice(node_of(1, {1000, 700, 400, 400, 200})).gpu == 2);
    CHECK(choice(node_of(1, {1000, 700, 400, 400, 200})).score == 0);
    CHECK(choice(node_of(1, {100, 1000, 1000})).gpu == 1);
    CHECK(choice(node_of(1, {100, 1000, 1000})).score == -((std::int64_t{1} << 48) / 5));
}

/// Tries how many of the task can be put on the node one after another, each on GPUs of its own.
std::int64_t counted(const shared_gpu_node& node, const shared_gpu_task& task) {
    if (task.gpus == 0 || (task.models & (std::uint64_t{1} << node.model)) == 0)
        return 0;
    std::int64_t cpu = node.cpu;
    std::int64_t count = 0;
    std::uint32_t next = 0;
    for (;;) {
        cpu -= task.cpu;
        if (cpu < 0)
            return count;
        for (std::int32_t found = 0; found < task.gpus; ++next) {
            if (next == node.gpus)
                return count;
            found += node.left[next] >= task.milli ? 1 : 0;
        }
        ++count;
    }
}

TEST_CASE("the score is that of the places counted one by one before and after") {
    testing::random chance(23);
    for (int world = 0; world < 500; ++world) {
        std::vector<typical_task> kinds;
        for (std::int64_t cpu = 0, count = chance.between(1, 6); cpu < count; ++cpu) {
            const auto gpus = static_cast<std::int32_t>(chance.between(0, 3));
            const auto milli = static_cast<std::int32_t>(gpus == 0   ? 0
                                                         : gpus == 1 ? chance.between(1, 10) * 100
                                                                     : 1000);
            const auto models = static_cast<std::uint64_t>(chance.between(1, 7));
            kinds.push_back({{cpu, gpus, milli, models}, chance.between(1, 50)});
        }
        const task_mix mix(kinds, 100);
        std::vector<std::int64_t> places;
        std::vector<std::int64_t> price;
        for (const typical_task& kind : mix.kinds()) {
            places.push_back(chance.between(0, 9));
            const std::int64_t all = places.back() == 0 ? 1 : places.back();
            price.push_back(kind.task.gpus == 0
                                ? 0
                                : (kind.share << 48) / (mix.total() * kind.task.gpus * all));
        }
        const auto value = [&](const shared_gpu_node& node) {
            std::int64_t sum = 0;
            for (std::size_t kind = 0; kind < price.size(); ++kind)
                sum += price[kind] * counted(node, mix.kinds()[kind].task);
            return sum;
        };
        const place_prices prices(mix.kinds(), places);
        shared_gpu_node node;
        node.cpu = chance.between(0, 8);
        node.model = static_cast<std::uint32_t>(chance.between(0, 2));
        node.gpus = static_cast<std::uint32_t>(chance.between(1, 4));
        for (std::uint32_t gpu = 0; gpu < node.gpus; ++gpu)
            node.left[gpu] = static_cast<std::int32_t>(chance.between(0, 10) * 100);
        CAPTURE(world);
        REQUIRE(prices.value(node) == value(node));
        for (const typical_task& kind : kinds) {
            const shared_gpu_task& task = kind.task;
            if (!fits(node, task))
                continue;
            std::int64_t best = -(std::int64_t{1} << 60);
            for (std::uint32_t gpu = 0; gpu < node.gpus; ++gpu)
                if (!task.shares_gpu() || node.left[gpu] >= task.milli)
                    best = std::max(best, value(with_task(node, task, gpu)) - value(node));
            const gpu_choice choice = places_lost_score(prices, node, value(node), task);
            REQUIRE(choice.score == best);
            if (task.shares_gpu())
                CHECK(value(with_task(node, task, choice.gpu)) - value(node) == best);
        }
    }
}

} // namespace

} // namespace policy_gpu_places_test
