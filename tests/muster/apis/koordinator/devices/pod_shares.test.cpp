// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/koordinator/devices/pod_shares.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/koordinator/devices/pod_marks.hpp>

#include "muster/apis/shares/share_texts.hpp"

namespace koordinator_pod_shares_test {

using namespace share_texts;
using muster::share_amounts;

namespace {

constexpr std::int64_t gib = 1 << 30;

const std::string list =
    R"({"gpu":[{"minor":1,"resources":{"koordinator.sh/gpu-core":"60",)"
    R"("koordinator.sh/gpu-memory":"8Gi","koordinator.sh/gpu-memory-ratio":50}},)"
    R"({"minor":0,"id":"GPU-0","resources":{"koordinator.sh/gpu-memory-ratio":"25"}}],)"
    R"("rdma":[{"minor":0,"resources":{"koordinator.sh/rdma":"1"},)"
    R"("extension":{"vfs":[{"busID":"01.0"}]}}]})";

koordinator_device_object two_gpus() {
    koordinator_device_object object;
    for (const char* const minor : {"0", "1"}) {
        object.shares.devices.push_back({minor, "", 16 * gib, 100});
        object.uuids[minor] = std::string("GPU-") + minor;
    }
    return object;
}

} // namespace

TEST_CASE("a pod of Koordinator holds GPUs by minor number, with memory as amount or percentage") {
    diagnostics out;
    const auto pod = read_koordinator_pod(annotated(koordinator_devices::allocated_key, list), out);
    REQUIRE(pod.has_value());
    auto node = two_gpus().shares;
    CHECK(add_pod_shares(node, *pod) == std::vector<std::string>{"rdma/0"});
    CHECK(node.devices[1].used == share_amounts{1, 8 * gib, 60});
    CHECK(node.devices[0].used == share_amounts{1, 4 * gib, 0});
    CHECK(out.findings().empty());
}

TEST_CASE("a pod without GPUs of Koordinator holds none") {
    diagnostics out;
    CHECK_FALSE(read_koordinator_pod({}, out).has_value());
    for (const char* const value : {"null", "{}", R"({"gpu":null})", R"({"xpu":[]})"})
        CHECK_FALSE(
            read_koordinator_pod(annotated(koordinator_devices::allocated_key, value), out));
    CHECK(out.findings().empty());
}

TEST_CASE("a pod whose GPUs of Koordinator cannot be read blocks its node") {
    for (const char* const value :
         {"", "[]", R"({"gpu":{}})", R"({"gpu":[1]})", R"({"gpu":[{"minor":-1}]})",
          R"({"gpu":[{"minor":0.5,"resources":{}}]})", R"({"gpu":[{"minor":0}]})",
          R"({"gpu":[{"resources":{"koordinator.sh/gpu-core":"x"}}]})",
          R"({"gpu":[{"resources":{"koordinator.sh/gpu-memory":-5}}]})",
          R"({"gpu":[{"resources":{"koordinator.sh/gpu-memory":[]}}]})", R"({"rdma":5})",
          R"({"rdma":[{"minor":0}]})", R"({"fpga":[{"resources":{"koordinator.sh/fpga":"x"}}]})",
          R"({"rdma":[{"resources":{},"extension":5}]})",
          R"({"rdma":[{"resources":{},"extension":{"vfs":[{"minor":1}]}}]})"}) {
        diagnostics out;
        const auto pod =
            read_koordinator_pod(annotated(koordinator_devices::allocated_key, value), out);
        INFO(value);
        REQUIRE(pod.has_value());
        CHECK(pod->shares.empty());
        CHECK(pod->unread.find("pod x: scheduling.koordinator.sh/device-allocated: ") == 0);
        CHECK(out.warnings() == 1);
    }
}

namespace {

/// Two GPUs, and a NIC with two virtual functions.
koordinator_device_object with_nic() {
    koordinator_device_object object = two_gpus();
    auto& nic = object.shares.devices.emplace_back();
    nic.id = "rdma/3";
    nic.type = "rdma";
    nic.memory = 100;
    nic.cores = 0;
    nic.functions = {{"01.0", 0, {}, false}, {"01.1", 7, {}, false}};
    object.uuids["rdma/3"] = "mlx5_3";
    return object;
}

/// The marks of one request for GPUs without virtual functions.
share_marks marks_of(const muster::share_request& request, const std::vector<std::size_t>& chosen) {
    pod_share_requests asked;
    asked.requests.push_back({0, request});
    return koordinator_marks(asked, two_gpus().shares.devices, {chosen},
                             {std::vector<std::size_t>(chosen.size(), muster::no_function)},
                             two_gpus());
}

} // namespace

TEST_CASE("a pod holds RDMA devices and their virtual functions") {
    diagnostics out;
    const auto pod = read_koordinator_pod(
        annotated(koordinator_devices::allocated_key,
                  R"({"rdma":[{"minor":3,"resources":{"koordinator.sh/rdma":"30"},)"
                  R"("extension":{"vfs":[{"minor":7,"busID":"01.1"}]}}]})"),
        out);
    REQUIRE(pod.has_value());
    auto node = with_nic().shares;
    CHECK(add_pod_shares(node, *pod).empty());
    CHECK(node.devices[2].used == share_amounts{1, 30, 0});
    CHECK_FALSE(node.devices[2].functions[0].in_use);
    CHECK(node.devices[2].functions[1].in_use);
}

TEST_CASE("the marks of Koordinator list the devices of each type, with virtual functions") {
    muster::share_request request;
    request.memory = muster::memory_part{100, 100};
    request.cores = 100;
    auto& partner = request.partners.emplace_back();
    partner.filter.type = "rdma";
    partner.memory = muster::memory_amount{30};
    partner.function.emplace();
    pod_share_requests asked;
    asked.requests.push_back({0, request});
    const auto marks = koordinator_marks(asked, with_nic().shares.devices, {{1, 2}},
                                         {{muster::no_function, 1}}, with_nic());
    CHECK(marks.annotations.at("scheduling.koordinator.sh/device-allocated") ==
          R"({"gpu":[{"minor":1,"resources":{"koordinator.sh/gpu-core":"100",)"
          R"("koordinator.sh/gpu-memory":"16Gi","koordinator.sh/gpu-memory-ratio":"100"},)"
          R"("id":"GPU-1"}],"rdma":[{"minor":3,"resources":{"koordinator.sh/rdma":"30"},)"
          R"("id":"mlx5_3","extension":{"vfs":[{"minor":7,"busID":"01.1"}]}}]})");
    object_metadata pod;
    for (const auto& [key, value] : marks.annotations)
        pod.annotations.set(key, value);
    diagnostics out;
    auto node = with_nic().shares;
    CHECK(add_pod_shares(node, *read_koordinator_pod(pod, out)).empty());
    CHECK(node.devices[1].used == share_amounts{1, 16 * gib, 100});
    CHECK(node.devices[2].used == share_amounts{1, 30, 0});
    CHECK(node.devices[2].functions[1].in_use);
}

TEST_CASE("the marks of Koordinator name cores, memory and percentage of each GPU") {
    muster::share_request request;
    request.memory = muster::memory_part{33, 100};
    request.cores = 20;
    CHECK(marks_of(request, {1}).annotations.at("scheduling.koordinator.sh/device-allocated") ==
          R"({"gpu":[{"minor":1,"resources":{"koordinator.sh/gpu-core":"20",)"
          R"("koordinator.sh/gpu-memory":"5669356830",)"
          R"("koordinator.sh/gpu-memory-ratio":"33"},"id":"GPU-1"}]})");
    request.memory = muster::memory_amount{8 * gib + gib / 2};
    request.cores = 0;
    CHECK(marks_of(request, {0}).annotations.at("scheduling.koordinator.sh/device-allocated") ==
          R"({"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-memory":"8704Mi",)"
          R"("koordinator.sh/gpu-memory-ratio":"53"},"id":"GPU-0"}]})");
}

TEST_CASE("Koordinator's marks read back as the chosen shares") {
    muster::share_request request;
    request.count = 2;
    request.memory = muster::memory_part{50, 100};
    request.cores = 50;
    const auto marks = marks_of(request, {1, 0});
    object_metadata pod;
    for (const auto& [key, value] : marks.annotations)
        pod.annotations.set(key, value);
    diagnostics out;
    auto node = two_gpus().shares;
    CHECK(add_pod_shares(node, *read_koordinator_pod(pod, out)).empty());
    for (const auto& device : node.devices)
        CHECK(device.used == share_amounts{1, 8 * gib, 50});
}

TEST_CASE("the reader of Koordinator's allocation accepts any text") {
    muster::testing::random chance(muster::testing::random_seed());
    std::size_t readable = 0;
    for (std::uint64_t at = 0; at < muster::testing::case_count(4000); ++at) {
        const std::string text = mutated(list, chance);
        INFO(text);
        diagnostics out;
        const auto pod =
            read_koordinator_pod(annotated(koordinator_devices::allocated_key, text), out);
        if (!pod)
            continue;
        check_sound(*pod);
        auto node = with_nic().shares;
        static_cast<void>(add_pod_shares(node, *pod));
        check_sound(node);
        readable += pod->unread.empty() ? 1U : 0U;
    }
    CHECK(readable > 0);
}

} // namespace koordinator_pod_shares_test
