// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/core/claims/device_judge.hpp>
#include <muster/apis/shares/shared_gpu_view.hpp>
#include <muster/input/cluster.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/policy/typical_tasks.hpp>

namespace codec_shared_gpu_view_test {

using namespace muster;
using namespace muster::codec;

/// Two GPUs of HAMi with 1,000 MiB.
share_stock two_gpus() {
    share_stock made;
    made.system = share_system::hami;
    for (const char* id : {"a", "b"}) {
        shared_device gpu;
        gpu.id = id;
        gpu.memory = 1'000;
        gpu.cores = 100;
        gpu.slots = 2;
        made.devices.push_back(gpu);
    }
    return made;
}

share_demand asks(std::int64_t memory, std::int64_t cores, std::int64_t count = 1) {
    share_request request;
    request.count = count;
    request.memory = memory_amount{memory};
    request.cores = cores;
    share_demand made;
    made.asks[share_system::hami] = {request};
    return made;
}

std::vector<std::int64_t> left(const share_stock& of, const std::vector<share_demand>& pods) {
    std::vector<const share_demand*> all;
    for (const share_demand& each : pods)
        all.push_back(&each);
    return gpu_milli_left(of, all, 1'000);
}

TEST_CASE("of a GPU the smaller part of memory and cores is left, rounded down") {
    CHECK(left(two_gpus(), {}) == std::vector<std::int64_t>{1'000, 1'000});
    CHECK(left(two_gpus(), {asks(1, 60, 2)}) == std::vector<std::int64_t>{400, 400});
    CHECK(left(two_gpus(), {asks(601, 30, 2)}) == std::vector<std::int64_t>{399, 399});
    share_stock odd = two_gpus();
    odd.devices[0].memory = 3;
    odd.devices[0].used.memory = 1;
    odd.devices[1].cores = 0;
    CHECK(left(odd, {}) == std::vector<std::int64_t>{666, 1'000});
}

TEST_CASE("a GPU that takes no more pods has nothing left") {
    share_stock stock = two_gpus();
    stock.devices[0].used.slots = 2;
    stock.devices[1].healthy = false;
    CHECK(left(stock, {}) == std::vector<std::int64_t>{0, 0});
    stock = two_gpus();
    stock.devices[0].used.memory = 2'000;
    CHECK(left(stock, {})[0] == 0);
    share_demand held;
    held.held.push_back({1, {1, 250, 0}, ""});
    CHECK(left(two_gpus(), {held}) == std::vector<std::int64_t>{1'000, 750});
}

TEST_CASE("of a partitioned GPU the largest free instance is left") {
    share_stock stock = two_gpus();
    stock.devices[0].is_partitioned = true;
    CHECK(left(stock, {})[0] == 0);
    stock.devices[0].instances = {{"small", 200, 20, 0b001, {}, {}},
                                  {"large", 495, 50, 0b110, {}, {}}};
    CHECK(left(stock, {})[0] == 495);
    stock.devices[0].used.slices = 0b100;
    CHECK(left(stock, {})[0] == 200);
    CHECK(left(stock, {asks(100, 0, 2)}) == std::vector<std::int64_t>{0, 900});
}

TEST_CASE("a pod requests the larger part of memory and cores, rounded up") {
    const auto part = [](const share_demand& of) {
        const gpu_part made = gpu_part_of(two_gpus(), of);
        return std::array{made.gpus, made.milli};
    };
    CHECK(part(asks(250, 10)) == std::array<std::int64_t, 2>{1, 250});
    CHECK(part(asks(1, 33, 2)) == std::array<std::int64_t, 2>{2, 330});
    CHECK(part(asks(5'000, 0)) == std::array<std::int64_t, 2>{1, 1'000});
    CHECK(part({}) == std::array<std::int64_t, 2>{0, 0});
    share_stock without_cores = two_gpus();
    without_cores.devices[0].cores = without_cores.devices[1].cores = 0;
    CHECK(gpu_part_of(without_cores, asks(250, 0)).milli == 250);
    without_cores.devices[0].memory = without_cores.devices[1].memory = 3;
    CHECK(gpu_part_of(without_cores, asks(1, 0)).milli == 334);
}

TEST_CASE("a pod that holds GPUs requests the largest part of them, whatever the node") {
    const auto part = [](const std::vector<held_device_share>& held) {
        share_stock on = two_gpus();
        on.devices.push_back(on.devices[0]);
        on.devices[2].type = "rdma";
        share_demand demand;
        demand.held = held;
        demand.held_gpus = held_gpu_part(on, held);
        share_stock other = two_gpus();
        other.devices.pop_back();
        other.devices[0].memory = 9'000;
        const gpu_part made = gpu_part_of(other, demand);
        return std::array{made.gpus, made.milli};
    };
    CHECK(part({{1, {1, 250, 0}, ""}}) == std::array<std::int64_t, 2>{1, 250});
    CHECK(part({{0, {1, 250, 30}, ""}}) == std::array<std::int64_t, 2>{1, 300});
    CHECK(part({{0, {1, 250, 0}, ""}, {1, {1, 2'000, 0}, ""}}) ==
          std::array<std::int64_t, 2>{2, 1'000});
    CHECK(part({{2, {1, 250, 0}, ""}, {3, {1, 250, 0}, ""}}) == std::array<std::int64_t, 2>{0, 0});
}

/// Returns the typical tasks of one node with one GPU of Volcano, where a pod of 3 of 10 parts
/// runs, and a pod of 5 parts waits.
task_mix tasks_of_volcano(const std::string& running) {
    const std::string text =
        "apiVersion: v1\nkind: Node\nmetadata: {name: n1, annotations: "
        "{volcano.sh/node-vgpu-register: 'GPU-0,10,10000,NVIDIA-A100,true,hami-core:'}}\n"
        "status: {allocatable: {cpu: 9, pods: 9, volcano.sh/vgpu-number: 10, "
        "volcano.sh/vgpu-memory: 10000, volcano.sh/vgpu-cores: 100}}\n"
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: runs, annotations: {" +
        running +
        "}}\nspec: {nodeName: n1, containers: [{name: c, resources: {limits: "
        "{volcano.sh/vgpu-number: 1, volcano.sh/vgpu-memory: 3000}}}]}\n"
        "status: {phase: Running}\n"
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: waits}\nspec: {containers: [{name: c, "
        "resources: {limits: {volcano.sh/vgpu-number: 1, volcano.sh/vgpu-memory: 5000}}}]}\n";
    diagnostics out;
    const auto documents = read_documents("f", text, out);
    const manifests objects = read_manifests(documents, {}, out);
    const auto known = make_cluster<max_kinds>(objects, {}, out);
    for (const diagnostic& each : out.findings())
        FAIL_CHECK(to_text(each));
    REQUIRE(known.volumes.judge);
    gpu_view view;
    view.shared = gpu_reader::of(std::as_const(*known.volumes.judge));
    return typical_tasks(known.state, view, 100);
}

TEST_CASE("the typical task of a running pod has the GPUs that it holds") {
    const task_mix all = tasks_of_volcano(
        "volcano.sh/vgpu-node: n1, volcano.sh/vgpu-ids-new: 'GPU-0,NVIDIA,3000,0:'");
    const std::uint64_t shared = std::uint64_t{1} << gpu_view::shared_model;
    REQUIRE(all.kinds().size() == 2);
    CHECK(all.kinds()[0].task == shared_gpu_task{0, 1, 500, shared});
    CHECK(all.kinds()[1].task == shared_gpu_task{0, 1, 300, shared});
}

TEST_CASE("a judge reads the GPUs of its nodes for scores, and none for numbers of another judge") {
    device_judge judge({});
    const auto stock = judge.with_shares(device_stock::none, "node", two_gpus());
    const auto half = judge.with_shares(device_demand::none, "half", asks(500, 50));
    std::array<std::int32_t, 4> milli{};
    REQUIRE(judge.gpus_left(stock, std::vector{half, half, half}, milli) == 2);
    CHECK(milli[0] + milli[1] == 500);
    CHECK(judge.part(stock, half).gpus == 1);
    CHECK(judge.part(stock, half).milli == 500);
    CHECK(judge.gpus_left(device_stock{9}, {}, milli) == 0);
    CHECK(judge.gpus_left(stock, std::vector{device_demand{9}}, milli) == 2);
    CHECK(judge.part(stock, device_demand{9}).gpus == 0);
    CHECK(judge.part(device_stock{9}, half).gpus == 0);
    CHECK_FALSE(judge.shares_of(device_stock::none).system);
    CHECK(judge.shares_of(device_demand::none).empty());
}

} // namespace codec_shared_gpu_view_test
