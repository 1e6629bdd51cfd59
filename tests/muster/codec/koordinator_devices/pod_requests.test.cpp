// SPDX-License-Identifier: Apache-2.0
#include <muster/codec/koordinator_devices/pod_requests.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "muster/codec/share_texts.hpp"

namespace koordinator_pod_requests_test {

using namespace share_texts;
using muster::memory_amount;
using muster::memory_part;
using muster::share_memory;
using muster::share_nearness;

namespace {

constexpr std::int64_t gib = 1 << 30;

pod_share_requests read(const std::vector<std::string>& limits,
                        const std::string& annotations = "{}") {
    read_object pod(pod_text(limits, annotations));
    return read_koordinator_requests(pod.metadata, pod.containers, "nvidia.com/gpu", pod.out);
}

muster::share_request one(const std::vector<std::string>& limits,
                          const std::string& annotations = "{}") {
    const auto made = read(limits, annotations);
    REQUIRE(made.unsupported.empty());
    REQUIRE(made.requests.size() == 1);
    return made.requests[0].request;
}

std::string hint(const std::string& gpu) {
    return "{scheduling.koordinator.sh/device-allocate-hint: '{\"gpu\":" + gpu + "}'}";
}

} // namespace

TEST_CASE("koordinator.sh/gpu is a percentage of one GPU, or a multiple of 100 for several") {
    const auto half = one({"{koordinator.sh/gpu: 50}"});
    CHECK(half.count == 1);
    CHECK(half.cores == 50);
    CHECK(half.memory == share_memory(memory_part{50, 100}));
    const auto three = one({"{koordinator.sh/gpu: 300}"});
    CHECK(three.count == 3);
    CHECK(three.cores == 100);
    CHECK(three.memory == share_memory(memory_part{100, 100}));
    CHECK(one({"{koordinator.sh/gpu: 100}"}).count == 1);
    CHECK(read({"{koordinator.sh/gpu: 150}"}).unsupported.size() == 1);
}

TEST_CASE("memory of Koordinator's GPUs is an amount or a percentage, with cores or without") {
    CHECK(one({"{koordinator.sh/gpu-memory: 8Gi}"}).memory == share_memory(memory_amount{8 * gib}));
    CHECK(one({"{koordinator.sh/gpu-memory: 8Gi}"}).cores == 0);
    CHECK(one({"{koordinator.sh/gpu-memory-ratio: 200, koordinator.sh/gpu-core: 200}"}).count == 2);
    CHECK(one({"{koordinator.sh/gpu-memory-ratio: 200, koordinator.sh/gpu-core: 100}"}).cores ==
          50);
    CHECK(one({"{koordinator.sh/gpu-memory: 8Gi, koordinator.sh/gpu-core: 40}"}).cores == 40);
    CHECK(read({"{koordinator.sh/gpu-core: 40}"}).unsupported.size() == 1);
    CHECK(read({"{koordinator.sh/gpu-memory: 8Gi, koordinator.sh/gpu-memory-ratio: 50}"})
              .unsupported.size() == 1);
    CHECK(read({"{koordinator.sh/gpu-memory-ratio: 50, koordinator.sh/gpu-core: 130}"})
              .unsupported.size() == 1);
}

TEST_CASE("koordinator.sh/gpu.shared is the number of GPUs by which the amounts are divided") {
    const auto two = one({"{koordinator.sh/gpu.shared: 2, koordinator.sh/gpu-memory: 8Gi, "
                          "koordinator.sh/gpu-core: 40}"});
    CHECK(two.count == 2);
    CHECK(two.cores == 20);
    CHECK(two.memory == share_memory(memory_amount{4 * gib}));
    CHECK(one({"{koordinator.sh/gpu.shared: 2, koordinator.sh/gpu-memory-ratio: 100}"}).memory ==
          share_memory(memory_part{50, 100}));
    CHECK(read({"{koordinator.sh/gpu.shared: 2, koordinator.sh/gpu-memory-ratio: 99}"})
              .unsupported.size() == 1);
    CHECK(read({"{koordinator.sh/gpu.shared: 2, koordinator.sh/gpu-memory-ratio: 204}"})
              .unsupported.size() == 1);
    CHECK(read({"{koordinator.sh/gpu.shared: 2}"}).unsupported.size() == 1);
}

TEST_CASE("the containers of a pod of Koordinator have one request together") {
    CHECK(one({"{koordinator.sh/gpu: 100}", "{koordinator.sh/gpu: 100}"}).count == 2);
    CHECK(one({"{koordinator.sh/gpu: 20}", "{koordinator.sh/gpu: 30}"}).cores == 50);
    read_object pod(
        "kind: Pod\nmetadata: {name: p, namespace: ns}\nspec: {initContainers: [{name: i, "
        "resources: {limits: {koordinator.sh/gpu: 60}}}], containers: [{name: c, resources: "
        "{limits: {koordinator.sh/gpu: 30}}}]}");
    CHECK(read_koordinator_requests(pod.metadata, pod.containers, "", pod.out)
              .requests.at(0)
              .request.cores == 60);
}

TEST_CASE("whole GPUs count only under the given resource name") {
    CHECK(one({"{nvidia.com/gpu: 2}"}).count == 2);
    CHECK(one({"{nvidia.com/gpu: 2}"}).memory == share_memory(memory_part{100, 100}));
    CHECK(read({"{nvidia.com/gpu: 1, koordinator.sh/gpu: 100}"}).unsupported.size() == 1);
    read_object pod(pod_text({"{nvidia.com/gpu: 2}"}));
    CHECK(read_koordinator_requests(pod.metadata, pod.containers, "", pod.out).empty());
}

TEST_CASE("whole GPUs and a share of one GPU prefer places in use") {
    CHECK(one({"{koordinator.sh/gpu: 200}"}).prefers_near);
    CHECK(one({"{koordinator.sh/gpu: 50}"}).prefers_near);
    CHECK_FALSE(
        one({"{koordinator.sh/gpu.shared: 2, koordinator.sh/gpu-memory: 8Gi}"}).prefers_near);
}

TEST_CASE("a hint of Koordinator can require a scope; a pod with other hints waits") {
    const std::vector<std::string> two{"{koordinator.sh/gpu: 200}"};
    CHECK(one(two, hint(R"({"requiredTopologyScope":"PCIe"})")).within ==
          share_nearness::same_pcie);
    CHECK(one(two, hint(R"({"requiredTopologyScope":"NUMANode"})")).within ==
          share_nearness::same_numa);
    CHECK(one(two, hint(R"({"requiredTopologyScope":"Node","selector":null})")).within ==
          share_nearness::same_node);
    CHECK(one(two, hint("null")).within == share_nearness::anywhere);
    for (const char* const wrong :
         {R"({"requiredTopologyScope":"Device"})", R"({"requiredTopologyScope":"Rack"})",
          R"({"selector":{}})", R"({"exclusivePolicy":"PCIeLevel"})", "5"})
        CHECK(read(two, hint(wrong)).unsupported.size() == 1);
    CHECK(read(two, "{scheduling.koordinator.sh/device-allocate-hint: 'x'}").unsupported.size() ==
          1);
    CHECK(read({"{koordinator.sh/gpu.shared: 2, koordinator.sh/gpu-memory: 8Gi}"},
               hint(R"({"requiredTopologyScope":"PCIe"})"))
              .unsupported.size() == 1);
}

TEST_CASE("a pod that requests RDMA, FPGA or partitions of Koordinator waits") {
    CHECK(read({"{koordinator.sh/gpu: 100, koordinator.sh/rdma: 1}"}).unsupported ==
          std::vector<std::string>{"koordinator.sh/rdma"});
    CHECK(read({"{koordinator.sh/fpga: 100}"}).unsupported.size() == 1);
    CHECK(
        read({"{koordinator.sh/gpu: 100}"}, "{scheduling.koordinator.sh/gpu-partition-spec: '{}'}")
            .unsupported.size() == 1);
    CHECK(read({"{cpu: 1}"}).empty());
    CHECK(read({"{koordinator.sh/gpu: 500m}"}).unsupported.size() == 1);
}

TEST_CASE("Koordinator's reader accepts any hint, and no device gets more than it has") {
    muster::testing::random chance(muster::testing::random_seed());
    const read_object pod(pod_text({"{koordinator.sh/gpu: 60}"}));
    node_shares node;
    for (const char* const minor : {"0", "1", "2"})
        node.devices.push_back({minor, "", 1000, 100, {}, {}, 0, "p"});
    node.devices[2].used = {1, 500, 50};
    for (std::uint64_t at = 0; at < muster::testing::case_count(3000); ++at) {
        auto metadata = pod.metadata;
        metadata.annotations.set(
            std::string(koordinator_devices::hint_key),
            mutated(R"({"gpu":{"requiredTopologyScope":"PCIe","selector":null}})", chance));
        diagnostics out;
        check_capacities(node, read_koordinator_requests(metadata, pod.containers, "", out),
                         muster::koordinator_rules);
    }
}

} // namespace koordinator_pod_requests_test
