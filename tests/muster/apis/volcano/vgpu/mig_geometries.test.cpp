// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/volcano/vgpu/mig_geometries.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/shares/share_systems.hpp>
#include <muster/apis/volcano/vgpu/node_register.hpp>
#include <muster/apis/volcano/vgpu/pod_shares.hpp>
#include <muster/devices/share_allocator.hpp>

#include "muster/apis/shares/share_texts.hpp"

namespace volcano_mig_geometries_test {

using namespace share_texts;
using muster::gpu_instance;
using volcano_vgpu::mig_geometry;

namespace {

const std::string one_gpu = "GPU-0,7,40960,NVIDIA-A100-SXM4-40GB,true,mig:";

node_shares node_of(const std::string& text, std::string* findings = nullptr) {
    diagnostics out;
    const std::map<std::string, std::int64_t> reported{
        {"volcano.sh/vgpu-number", 1}, {"volcano.sh/vgpu-memory", 1}, {"volcano.sh/vgpu-cores", 1}};
    auto node = read_volcano_vgpu_node(annotated(volcano_vgpu::register_key, text), reported, out);
    REQUIRE(node.has_value());
    check_sound(*node);
    for (const diagnostic& each : out.findings())
        if (findings)
            *findings += to_text(each) + "\n";
        else if (to_text(each).find("the geometries of Volcano's documented") == std::string::npos)
            FAIL_CHECK(to_text(each));
    return std::move(*node);
}

std::string names_of(const std::vector<gpu_instance>& list) {
    std::string text;
    for (const gpu_instance& each : list)
        text += (text.empty() ? "" : " ") + each.name;
    return text;
}

/// Gives a pod one share, and returns the entry of its list; empty if the node has no room.
std::string give(node_shares& node, std::int64_t memory, std::int64_t cores = 0) {
    pod_share_requests asked;
    asked.containers = 1;
    asked.requests.push_back({0, {}});
    asked.requests[0].request.memory = muster::memory_amount{memory};
    asked.requests[0].request.cores = cores;
    const std::vector<muster::share_request> requests{asked.requests[0].request};
    const auto answer =
        muster::allocate_shares(node.devices, requests, muster::volcano_vgpu_rules, 10'000);
    if (answer.outcome != muster::share_outcome::allocated)
        return {};
    const auto marks = handover_marks(share_system::volcano, asked, "n", node.devices,
                                      answer.devices, 0, nullptr, answer.instances);
    const std::string list = marks.annotations.at(std::string(volcano_vgpu::ids_key));
    diagnostics out;
    const auto held = read_volcano_vgpu_pod(annotated(volcano_vgpu::ids_key, list), out);
    REQUIRE(held.has_value());
    const auto after = muster::with_shares(node.devices, requests, answer);
    CHECK(add_pod_shares(node, *held).empty());
    // What is handed over is read back as held.
    CHECK(node.devices == after);
    return list;
}

} // namespace

TEST_CASE("Volcano's geometries are instances in the order in which they are tried") {
    const node_shares node = node_of(one_gpu);
    REQUIRE(node.devices.size() == 1);
    CHECK(node.devices[0].is_partitioned);
    CHECK(names_of(node.devices[0].instances) ==
          "group1-0 group1-1 group1-2 group1-3 group1-4 group1-5 group1-6 "
          "group2-3 group2-0 group2-1 group2-2 group3-0 group3-1 group4-0");
}

TEST_CASE("a pod of Volcano gets the first geometry that fits, and the next one the same") {
    node_shares node = node_of(one_gpu);
    CHECK(give(node, 8000, 10) == "GPU-0[group2-0],NVIDIA,8000,10:");
    CHECK(node.devices[0].used == muster::share_amounts{1, 10'240, 10, 1U << 7U});
    // The kind of 5,120 MiB of this geometry is not in use, so Volcano gives none of it.
    CHECK(give(node, 5000, 10) == "GPU-0[group2-1],NVIDIA,5000,10:");
    CHECK(give(node, 15'000).empty());
    CHECK(give(node, 1) == "GPU-0[group2-2],NVIDIA,1,0:");
    CHECK(give(node, 1).empty());
    node = node_of(one_gpu);
    for (int at = 0; at < 7; ++at)
        CHECK(give(node, 5120) == "GPU-0[group1-" + std::to_string(at) + "],NVIDIA,5120,0:");
    CHECK(give(node, 1).empty());
}

TEST_CASE("both kinds of a geometry can be given if both are in use") {
    node_shares node = node_of(one_gpu);
    for (const char* const held : {"GPU-0[group2-3],NVIDIA,1,0:", "GPU-0[group2-1],NVIDIA,1,0:"}) {
        diagnostics out;
        CHECK(add_pod_shares(node,
                             *read_volcano_vgpu_pod(annotated(volcano_vgpu::ids_key, held), out))
                  .empty());
    }
    CHECK(give(node, 100) == "GPU-0[group2-0],NVIDIA,100,0:");
    CHECK(node.devices[0].used == muster::share_amounts{3, 25'600, 0, 0b1011U << 7U});
}

TEST_CASE("a device of Volcano gives no shares if a pod holds an instance of it that is unknown") {
    for (const char* const held : {"GPU-0,NVIDIA,1,0:", "GPU-0[group9-0],NVIDIA,1,0:",
                                   "GPU-0[group1-7],NVIDIA,1,0:", "GPU-0[group1,0],NVIDIA,1,0:"}) {
        node_shares node = node_of(one_gpu);
        diagnostics out;
        static_cast<void>(add_pod_shares(
            node, *read_volcano_vgpu_pod(annotated(volcano_vgpu::ids_key, held), out)));
        CHECK_FALSE(node.devices[0].healthy);
        CHECK(give(node, 1).empty());
    }
}

TEST_CASE("a device of Volcano whose model has no known geometry gets no pods, with a warning") {
    std::string findings;
    node_shares node = node_of("GPU-0,7,81920,NVIDIA-H100-80GB,true,mig:" + one_gpu, &findings);
    CHECK(findings.find("\"GPU-0\" has mode mig and gets no pods: no geometry of model "
                        "\"NVIDIA-H100-80GB\" is known") != std::string::npos);
    CHECK(node.devices[0].instances.empty());
}

TEST_CASE("one warning for a node of Volcano in mode mig says that its ConfigMap is not read") {
    std::string findings;
    static_cast<void>(
        node_of(one_gpu + "GPU-1,7,40960,NVIDIA-A100-SXM4-40GB,true,mig:", &findings));
    const std::string text = "node x: volcano.sh/node-vgpu-register: the node has mode mig: its "
                             "devices have the geometries of Volcano's documented configuration";
    const std::size_t first = findings.find(text);
    CHECK(first != std::string::npos);
    CHECK(findings.find(text, first + 1) == std::string::npos);
    findings.clear();
    static_cast<void>(node_of("GPU-1,7,40960,NVIDIA-A100-SXM4-40GB,true,hami-core:", &findings));
    CHECK(findings.empty());
}

TEST_CASE("the first entry with a part of the model has its geometries") {
    const auto config = volcano_vgpu::known_mig_geometries();
    REQUIRE(find_geometries(config, "NVIDIA-A30"));
    CHECK(find_geometries(config, "NVIDIA-A30")->size() == 3);
    CHECK(find_geometries(config, "NVIDIA A100-SXM4-80GB")->back().templates[0].name == "7g.79gb");
    CHECK_FALSE(find_geometries(config, "nvidia-a30"));
    CHECK_FALSE(find_geometries({}, "NVIDIA-A30"));
    // Every known geometry is well formed.
    for (const auto& each : config)
        CHECK_FALSE(mig_instances(each.geometries).empty());
}

TEST_CASE("no random edit of Volcano's annotations makes an instance be given twice") {
    muster::testing::random chance(muster::testing::random_seed());
    std::size_t given = 0;
    for (std::uint64_t at = 0; at < muster::testing::case_count(4000); ++at) {
        std::string aside;
        node_shares node = node_of(mutated(one_gpu + one_gpu, chance), &aside);
        diagnostics out;
        const auto pod = read_volcano_vgpu_pod(
            annotated(volcano_vgpu::ids_key, mutated("GPU-0[group2-1],NVIDIA,9000,30:", chance)),
            out);
        static_cast<void>(add_pod_shares(node, *pod));
        check_sound(node);
        const auto before = node.devices;
        const std::vector<muster::share_request> requests(
            3, {1, muster::memory_amount{chance.between(0, 11'000)}});
        const auto answer =
            muster::allocate_shares(node.devices, requests, muster::volcano_vgpu_rules, 500);
        std::vector<std::uint64_t> used;
        for (const auto& device : before)
            used.push_back(device.used.slices);
        for (std::size_t each = 0; each < answer.instances.size(); ++each)
            for (std::size_t share = 0; share < answer.instances[each].size(); ++share) {
                const std::size_t device = answer.devices[each][share];
                CHECK(before[device].healthy);
                if (!before[device].is_partitioned)
                    continue;
                const auto& instance = before[device].instances.at(answer.instances[each][share]);
                CHECK((used[device] & (instance.slices | instance.apart_from)) == 0);
                used[device] |= instance.slices;
                ++given;
            }
    }
    CHECK(given > 0);
}

TEST_CASE("malformed geometries have no instances") {
    CHECK(mig_instances({}).empty());
    CHECK(mig_instances({{"", {{"a", 1, 1}}}}).empty());
    CHECK(mig_instances({{"a-b", {{"a", 1, 1}}}}).empty());
    CHECK(mig_instances({{"a[", {{"a", 1, 1}}}}).empty());
    CHECK(mig_instances({{"a", {{"a", 1, 1}}}, {"a", {{"a", 1, 1}}}}).empty());
    CHECK(mig_instances({{"a", {{"a", 1, 0}}}}).empty());
    CHECK(mig_instances({{"a", {{"a", 1, -1}}}}).empty());
    CHECK(mig_instances({{"a", {{"a", -1, 1}}}}).empty());
    CHECK(mig_instances({{"a", {{"a", 1, 64}}}, {"b", {{"a", 1, 1}}}}).empty());
    CHECK(mig_instances({{"a", {{"a", 1, INT64_MAX}}}, {"b", {{"a", 1, INT64_MAX}}}}).empty());
    CHECK(mig_instances({{"a", {{"a", 1, 63}}}, {"b", {{"a", 1, 1}}}}).size() == 64);
}

} // namespace volcano_mig_geometries_test
