// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/volcano/vgpu/pod_shares.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "muster/apis/shares/share_texts.hpp"

namespace volcano_vgpu_pod_shares_test {

using namespace share_texts;
using muster::share_amounts;

namespace {

const std::string list = "GPU-0,NVIDIA,4000,30:GPU-1,NVIDIA,2000,0:;GPU-0,NVIDIA,1000,10:";

node_shares two_gpus() {
    node_shares node;
    for (const char* const id : {"GPU-0", "GPU-1"})
        node.devices.push_back({id, "NVIDIA", 16384, 100, 10});
    return node;
}

} // namespace

TEST_CASE("a pod of Volcano holds its devices as a member of its PodGroup") {
    diagnostics out;
    auto metadata = annotated(volcano_vgpu::ids_key, list);
    metadata.key.name_space = "ns";
    metadata.annotations.set("scheduling.k8s.io/group-name", "g");
    metadata.annotations.set("scheduling.volcano.sh/group-name", "other");
    metadata.annotations.set("volcano.sh/vgpu-node", "n1");
    const auto pod = read_volcano_vgpu_pod(metadata, out);
    REQUIRE(pod.has_value());
    CHECK(pod->group == "ns/g");
    CHECK(pod->node == "n1");
    auto node = two_gpus();
    CHECK(add_pod_shares(node, *pod).empty());
    CHECK(node.devices[0].used == share_amounts{2, 5000, 40});
    CHECK(node.devices[0].sharers == std::vector<muster::device_sharer>{{{}, "ns/g"}});
    CHECK(node.devices[1].used == share_amounts{1, 2000, 0});
    CHECK_FALSE(read_volcano_vgpu_pod({}, out).has_value());
}

TEST_CASE("a pod without a group name of Volcano is in no group") {
    object_metadata pod;
    CHECK(volcano_group_of(pod).empty());
    pod.key.name_space = "ns";
    pod.annotations.set("scheduling.volcano.sh/group-name", "v");
    CHECK(volcano_group_of(pod) == "ns/v");
    pod.annotations.set("scheduling.k8s.io/group-name", "");
    CHECK(volcano_group_of(pod) == "ns/v");
}

TEST_CASE("a pod with a malformed list of Volcano's devices blocks its node") {
    for (const char* const value : {"GPU-0,NVIDIA:", "GPU-0,NVIDIA,abc,30:", "GPU-0,N,1,-1:"}) {
        diagnostics out;
        const auto pod = read_volcano_vgpu_pod(annotated(volcano_vgpu::ids_key, value), out);
        CHECK(pod->unread.find("pod x: volcano.sh/vgpu-ids-new: ") == 0);
        CHECK(pod->shares.empty());
        CHECK(out.warnings() == 1);
    }
}

TEST_CASE("the marks of Volcano list the containers with requests") {
    const auto marks = volcano_vgpu_marks({{1, "GPU-1", 4000, 30}, {3, "GPU-0", 10, 0}}, {1, 2, 3},
                                          "n1", 1'700'000'000);
    CHECK(marks.annotations.size() == 6);
    CHECK(marks.annotations.at("volcano.sh/vgpu-ids-new") ==
          "GPU-1,NVIDIA,4000,30:;;GPU-0,NVIDIA,10,0:");
    CHECK(marks.annotations.at("volcano.sh/devices-to-allocate") ==
          marks.annotations.at("volcano.sh/vgpu-ids-new"));
    CHECK(marks.annotations.at("volcano.sh/bind-phase") == "allocating");
    CHECK(marks.annotations.at("volcano.sh/bind-time") == "1700000000");
    CHECK(marks.annotations.at("volcano.sh/vgpu-time") == "1700000000");
    CHECK(marks.annotations.at("volcano.sh/vgpu-node") == "n1");
    object_metadata pod;
    for (const auto& [key, value] : marks.annotations)
        pod.annotations.set(key, value);
    diagnostics out;
    const auto read = read_volcano_vgpu_pod(pod, out);
    REQUIRE(read->shares.size() == 2);
    CHECK(read->shares[0].device == "GPU-1");
    CHECK(read->shares[1].device == "GPU-0");
}

TEST_CASE("the reader of Volcano's list accepts any text") {
    muster::testing::random chance(muster::testing::random_seed());
    std::size_t readable = 0;
    for (std::uint64_t at = 0; at < muster::testing::case_count(4000); ++at) {
        const std::string text = mutated(list, chance);
        INFO(text);
        diagnostics out;
        const auto pod = read_volcano_vgpu_pod(annotated(volcano_vgpu::ids_key, text), out);
        check_sound(*pod);
        auto node = two_gpus();
        static_cast<void>(add_pod_shares(node, *pod));
        check_sound(node);
        readable += pod->unread.empty() ? 1U : 0U;
    }
    CHECK(readable > 0);
}

} // namespace volcano_vgpu_pod_shares_test
