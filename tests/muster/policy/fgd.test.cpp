// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <muster/policy/fgd.hpp>
#include <muster/policy/gpu_use.hpp>
#include <muster/policy/typical_tasks.hpp>
#include <muster/testing/random.hpp>
#include <support/settings.hpp>

#include "../builders.hpp"

namespace policy_fgd_test {

using namespace builders;
using namespace muster;

fgd score_for(const cluster& known) {
    fgd made;
    made.view.whole[gpu.value()] = true;
    made.mix = std::make_shared<task_mix>(typical_tasks(known, made.view, 100));
    return made;
}

TEST_CASE("the typical tasks are those of all pods, running and waiting, by shape") {
    cluster known{kind_id{2}};
    ok(known.upsert_node("n", machine(9, 4)));
    ok(known.upsert_gang("g", gang_of(1)));
    for (int at = 0; at < 3; ++at)
        ok(known.upsert_pod("w" + std::to_string(at), "g", asking(2, 1)));
    ok(known.upsert_pod("r", "g", in_phase(pod_phase::running, asking(1)), "n"));
    gpu_view view;
    view.whole[gpu.value()] = true;
    const task_mix all = typical_tasks(known, view, 100);
    REQUIRE(all.kinds().size() == 2);
    CHECK(all.kinds()[0].share == 3);
    CHECK(all.kinds()[0].task ==
          shared_gpu_task{2, 1, whole_gpu_milli, std::uint64_t{1} << gpu.value()});
    CHECK(all.kinds()[1].share == 1);
    CHECK(all.kinds()[1].task.gpus == 0);
    CHECK(typical_tasks(known, view, 75).kinds().size() == 1);
    ok(known.remove_pod("r"));
    CHECK(typical_tasks(known, view, 100).kinds().size() == 1);
}

/// Demands are of so many thousandths of a GPU; nodes of stock 1 share none.
struct of_thousandths {
    std::size_t gpus_left(device_stock has, std::span<const device_demand>,
                          std::span<std::int32_t> milli) const {
        if (has == device_stock{1})
            return 0;
        milli[0] = whole_gpu_milli;
        return 1;
    }
    gpu_part part(device_stock has, device_demand more) const {
        if (has == device_stock{1})
            return {};
        return {1, static_cast<std::int64_t>(more) * static_cast<std::int64_t>(has)};
    }
};

TEST_CASE("of shared GPUs a task is what the pod requests on the first node that shares them") {
    const of_thousandths object;
    cluster known{kind_id{2}};
    for (const std::uint32_t stock : {1U, 3U, 2U}) {
        cluster::node_type node = machine(9);
        node.devices = device_stock{stock};
        ok(known.upsert_node("n" + std::to_string(9 - stock), node));
    }
    ok(known.upsert_gang("g", gang_of(1)));
    cluster::pod_type pod = asking(1);
    pod.where.claims.devices = device_demand{100};
    ok(known.upsert_pod("p", "g", pod));
    gpu_view view;
    view.shared = gpu_reader::of(object);
    const task_mix all = typical_tasks(known, view, 100);
    REQUIRE(all.kinds().size() == 1);
    // n6 has stock 3.
    CHECK(all.kinds()[0].task.milli == 300);
    CHECK(all.kinds()[0].task.models == std::uint64_t{1} << gpu_view::shared_model);
}

TEST_CASE("shares that count in the column of whole GPUs are shares, not whole GPUs") {
    const of_thousandths object;
    cluster known{kind_id{2}};
    cluster::node_type node = machine(9, 20);
    node.devices = device_stock{2};
    ok(known.upsert_node("shares", node));
    ok(known.upsert_gang("g", gang_of(1)));
    cluster::pod_type pod = asking(1, 1);
    pod.where.claims.devices = device_demand{250};
    ok(known.upsert_pod("part", "g", pod));
    gpu_view view;
    view.whole[gpu.value()] = true;
    view.shared = gpu_reader::of(object);
    const std::uint64_t shared = std::uint64_t{1} << gpu_view::shared_model;
    const std::uint64_t column = std::uint64_t{1} << gpu.value();
    task_mix all = typical_tasks(known, view, 100);
    REQUIRE(all.kinds().size() == 1);
    CHECK(all.kinds()[0].task == shared_gpu_task{1, 1, 500, shared});
    CHECK(use_of_gpus(known, view, all) == gpu_use{1, 1'000, 0});
    // A whole GPU can be one that a node shares, or one of a node that shares none.
    pod.where.claims.devices = device_demand{500};
    ok(known.upsert_pod("part", "g", pod));
    ok(known.upsert_node("whole", machine(9, 2)));
    all = typical_tasks(known, view, 100);
    REQUIRE(all.kinds().size() == 1);
    CHECK(all.kinds()[0].task == shared_gpu_task{1, 1, whole_gpu_milli, shared | column});
    CHECK(use_of_gpus(known, view, all) == gpu_use{3, 3'000, 0});
    // Without a demand for shares the column is all that the pod requests.
    pod.where.claims.devices = device_demand::none;
    ok(known.upsert_pod("part", "g", pod));
    all = typical_tasks(known, view, 100);
    REQUIRE(all.kinds().size() == 1);
    CHECK(all.kinds()[0].task.models == column);
}

TEST_CASE("without typical tasks all nodes are equal, and scores with equal mixes are equal") {
    cluster known{kind_id{2}};
    ok(known.upsert_gang("g", gang_of(1)));
    const fgd none = score_for(known);
    CHECK(none == score_for(known));
    CHECK(none != fgd{});
    ok(known.upsert_pod("p", "g", asking(1, 1)));
    const fgd one = score_for(known);
    CHECK(one == score_for(known));
    CHECK(one != none);
    const placement_weights<traits::width> weights{};
    const constraints where;
    const auto capacity = units(8, 4);
    const auto request = units(1, 1);
    CHECK(none(offered_node<traits::width>{node_index{0}, capacity, capacity, weights, request,
                                           where}) == 0);
}

/// Pods of one GPU, of two and of none, on nodes that run some of them already.
struct small_world {
    cluster known{kind_id{2}};
    std::vector<std::string> names;

    explicit small_world(testing::random& chance) {
        ok(known.upsert_gang("running", gang_of(1)));
        for (std::int64_t at = chance.between(2, 5); at > 0; --at) {
            const std::string name = "n" + std::to_string(at);
            ok(known.upsert_node(name, machine(chance.between(4, 16), chance.between(0, 4))));
            names.push_back(name);
            for (std::int64_t pods = chance.between(0, 3); pods > 0; --pods)
                ok(known.upsert_pod(name + "-" + std::to_string(pods), "running",
                                    in_phase(pod_phase::running, some_pod(chance)), name));
        }
        std::sort(names.begin(), names.end());
        ok(known.upsert_gang("asking", gang_of(1)));
        ok(known.upsert_pod("p", "asking", some_pod(chance)));
    }
    static cluster::pod_type some_pod(testing::random& chance) {
        return asking(chance.between(1, 4), chance.between(0, 2));
    }
};

/// The node of the highest score, by the definition, over nodes in the order of their keys; empty
/// if the pod fits nowhere.
std::string best_by_definition(const small_world& world, const task_mix& mix) {
    const cluster& known = world.known;
    const auto& request = known.request(known.find_pod("p")->index);
    shared_gpu_task task;
    task.cpu = request[cpu.value()];
    task.gpus = static_cast<std::int32_t>(request[gpu.value()]);
    task.milli = task.gpus > 0 ? whole_gpu_milli : 0;
    std::string best;
    std::int64_t best_score = -1;
    for (const std::string& name : world.names) {
        const auto index = known.find_node(name)->index;
        const auto& free = known.accounts().free(index);
        if (!fits(request, free))
            continue;
        shared_gpu_node node;
        node.cpu = free[cpu.value()];
        node.gpus = static_cast<std::uint32_t>(known.accounts().allocatable(index)[gpu.value()]);
        node.model = node.gpus > 0 ? static_cast<std::uint32_t>(gpu.value()) : 0;
        for (std::int64_t at = 0; at < free[gpu.value()]; ++at)
            node.left[static_cast<std::size_t>(at)] = whole_gpu_milli;
        const auto after = with_task(node, task, 0);
        const std::int64_t score =
            logistic_score(fragmentation(mix, node) - fragmentation(mix, after), mix.total());
        if (score > best_score) {
            best = name;
            best_score = score;
        }
    }
    return best;
}

TEST_CASE("a cycle puts a pod where, by the definition, the GPUs are fragmented least") {
    testing::random chance{testing::random_seed()};
    std::size_t placed = 0;
    for (std::uint64_t at = 0; at < testing::case_count(2'000); ++at) {
        small_world world(chance);
        policy<fgd> how;
        how.score = score_for(world.known);
        const std::string expected = best_by_definition(world, *how.score.mix);
        const auto result = cycle(world.known, 0, how);
        std::string found;
        for (const auto& each : result.decisions)
            for (const placement& one : each.placements)
                found = world.known.key(one.node);
        INFO("case ", at);
        REQUIRE(found == expected);
        placed += found.empty() ? 0U : 1U;
    }
    CHECK(placed > 0);
}

} // namespace policy_fgd_test
