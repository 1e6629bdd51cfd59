// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/volcano/vgpu/pod_requests.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "muster/apis/shares/share_texts.hpp"

namespace volcano_vgpu_pod_requests_test {

using namespace share_texts;
using muster::device_key;
using muster::memory_amount;
using muster::memory_part;
using muster::share_memory;
using muster::whole_memory;

namespace {

pod_share_requests read(const std::vector<std::string>& limits,
                        const std::string& annotations = "{}", const std::string& policy = "") {
    const read_object pod(pod_text(limits, annotations));
    return read_volcano_vgpu_requests(pod.metadata, pod.containers, policy);
}

muster::share_request one(const std::string& limits, const std::string& annotations = "{}") {
    const auto made = read({limits}, annotations);
    REQUIRE(made.unsupported.empty());
    REQUIRE(made.requests.size() == 1);
    return made.requests[0].request;
}

} // namespace

TEST_CASE("a percentage overrides the memory of Volcano's vGPUs, and 101 counts as absent") {
    CHECK(one("{volcano.sh/vgpu-number: 2, volcano.sh/vgpu-memory: 30}").memory ==
          share_memory(memory_amount{30}));
    CHECK(one("{volcano.sh/vgpu-number: 2, volcano.sh/vgpu-memory: 30, "
              "volcano.sh/vgpu-memory-percentage: 50}")
              .memory == share_memory(memory_part{50, 100}));
    CHECK(one("{volcano.sh/vgpu-number: 2, volcano.sh/vgpu-memory: 30, "
              "volcano.sh/vgpu-memory-percentage: 101}")
              .memory == share_memory(memory_amount{30}));
    CHECK(one("{volcano.sh/vgpu-number: 2}").memory == share_memory(whole_memory{}));
    CHECK(one("{volcano.sh/vgpu-number: 2, volcano.sh/vgpu-cores: 40}").cores == 40);
}

TEST_CASE("a request for memory without a count is for one vGPU of Volcano") {
    CHECK(one("{volcano.sh/vgpu-memory: 30}").count == 1);
    CHECK(read({"{volcano.sh/vgpu-number: 0}"}).empty());
    CHECK(read({"{cpu: 1}"}).empty());
    CHECK(read({"{volcano.sh/vgpu-cores: 10}"}).unsupported.size() == 1);
}

TEST_CASE("use-gputype overrides nouse-gputype in pods of Volcano") {
    CHECK(one("{volcano.sh/vgpu-number: 1}").filter.kind == "NVIDIA");
    const auto both = one("{volcano.sh/vgpu-number: 1}",
                          "{nvidia.com/use-gputype: 'A100, T4', nvidia.com/nouse-gputype: x}");
    CHECK(both.filter.models == std::vector<std::string>{"A100", " T4"});
    CHECK(both.filter.models_not.empty());
    CHECK(one("{volcano.sh/vgpu-number: 1}", "{nvidia.com/nouse-gputype: x}").filter.models_not ==
          std::vector<std::string>{"x"});
}

TEST_CASE("ids, mode and PodGroup of a pod of Volcano restrict its devices") {
    const std::string limits = "{volcano.sh/vgpu-number: 1}";
    CHECK(one(limits, "{volcano.sh/vgpu-use-gpuuuid: 'a,, b,'}").filter.ids ==
          std::vector<std::string>{"a", "b"});
    CHECK_FALSE(one(limits, "{volcano.sh/vgpu-use-gpuuuid: ', ,'}").filter.ids.has_value());
    CHECK(one(limits, "{volcano.sh/vgpu-nouse-gpuuuid: 'a'}").filter.ids_not ==
          std::vector<std::string>{"a"});
    CHECK(one(limits, "{volcano.sh/vgpu-mode: mig}").filter.modes ==
          std::vector<std::string>{"mig"});
    const auto apart =
        one(limits, "{volcano.sh/vgpu-podgroup-policy: spread, scheduling.k8s.io/group-name: g}");
    CHECK(apart.apart_from_group);
    CHECK(apart.group == "ns/g");
    CHECK_FALSE(one(limits, "{volcano.sh/vgpu-podgroup-policy: pack}").apart_from_group);
}

TEST_CASE("each policy of Volcano is an order of devices") {
    CHECK(detail::volcano_order("binpack")[0] == device_key::memory_down);
    CHECK(detail::volcano_order("spread")[0] == device_key::slots_up);
    CHECK(detail::volcano_order("")[0] == device_key::index_down);
}

TEST_CASE("a pod of Volcano with an amount that is not a whole number waits") {
    CHECK(read({"{volcano.sh/vgpu-number: 1, volcano.sh/vgpu-memory: 3G}"}).unsupported.size() ==
          1);
    CHECK(read({"{volcano.sh/vgpu-number: 500m}"}).unsupported.size() == 1);
    const read_object pod(
        "kind: Pod\nmetadata: {name: p, namespace: ns}\nspec: {initContainers: [{name: i, "
        "resources: {limits: {volcano.sh/vgpu-number: 1}}}], containers: [{name: c}]}");
    CHECK(read_volcano_vgpu_requests(pod.metadata, pod.containers, "").unsupported.size() == 1);
}

TEST_CASE("Volcano's reader accepts any annotation, and no device gets more than it has") {
    muster::testing::random chance(muster::testing::random_seed());
    const std::vector<std::string_view> keys{
        volcano_vgpu::use_type_key, volcano_vgpu::no_use_type_key, volcano_vgpu::use_id_key,
        volcano_vgpu::no_use_id_key, volcano_vgpu::mode_key};
    const read_object pod(
        pod_text({"{volcano.sh/vgpu-number: 1, volcano.sh/vgpu-memory: 3000}",
                  "{volcano.sh/vgpu-number: 1, volcano.sh/vgpu-memory-percentage: 40}"}));
    node_shares node;
    for (const char* const id : {"GPU-0", "GPU-1"})
        node.devices.push_back({id, "NVIDIA", 8000, 100, 3});
    for (std::uint64_t at = 0; at < muster::testing::case_count(3000); ++at) {
        auto metadata = pod.metadata;
        for (const std::string_view key : keys)
            if (chance.percent(30))
                metadata.annotations.set(std::string(key),
                                         mutated("NVIDIA,GPU-0,hami-core", chance));
        check_capacities(node, read_volcano_vgpu_requests(metadata, pod.containers, "binpack"),
                         muster::volcano_vgpu_rules);
    }
}

} // namespace volcano_vgpu_pod_requests_test
