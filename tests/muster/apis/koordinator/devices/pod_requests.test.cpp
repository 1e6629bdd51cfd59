// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/koordinator/devices/pod_requests.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "muster/apis/shares/share_texts.hpp"

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

TEST_CASE("a hint of Koordinator can require a scope and select GPUs by labels") {
    const std::vector<std::string> two{"{koordinator.sh/gpu: 200}"};
    CHECK(one(two, hint(R"({"requiredTopologyScope":"PCIe"})")).within ==
          share_nearness::same_pcie);
    CHECK(one(two, hint(R"({"requiredTopologyScope":"NUMANode"})")).within ==
          share_nearness::same_numa);
    CHECK(one(two, hint(R"({"requiredTopologyScope":"Node","selector":null})")).within ==
          share_nearness::same_node);
    CHECK(one(two, hint("null")).within == share_nearness::anywhere);
    CHECK(one(two, hint(R"({"selector":{}})")).filter.labels.empty());
    CHECK(one(two, hint(R"({"selector":{"matchLabels":{"a":"1"},"matchExpressions":)"
                        R"([{"key":"b","operator":"NotIn","values":["2"]},)"
                        R"({"key":"c","operator":"Exists"}]}})"))
              .filter.labels == std::vector<muster::device_label_check>{
                                    {"a", muster::device_label_operator::in, {"1"}},
                                    {"b", muster::device_label_operator::not_in, {"2"}},
                                    {"c", muster::device_label_operator::exists}});
}

TEST_CASE("a pod with a hint that is malformed or not modelled waits, and the reason names it") {
    const std::vector<std::string> two{"{koordinator.sh/gpu: 200}"};
    for (const char* const wrong :
         {R"({"requiredTopologyScope":"Device"})", R"({"requiredTopologyScope":"Rack"})",
          R"({"selector":5})", R"({"selector":""})", R"({"Selector":{}})",
          R"({"requiredTopologyScope":5})", R"({"RequiredTopologyScope":"PCIe"})",
          R"({"selector":{"MatchLabels":{"a":"1"}}})", R"({"selector":{"matchLabels":{"a":1}}})",
          R"({"selector":{"matchExpressions":[{"key":"a","operator":"Exists","Values":["1"]}]}})",
          R"({"exclusivePolicy":"Rack"})", R"({"vfSelector":{}})", R"({"allocateStrategy":"x"})",
          R"({"other":"x"})", "5",
          R"({"selector":{"matchExpressions":[{"key":"a","operator":"In"}]}})",
          R"({"selector":{"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]}})"}) {
        INFO(wrong);
        CHECK(read(two, hint(wrong)).unsupported.size() == 1);
    }
    CHECK(read(two, hint(R"({"vfSelector":{}})")).unsupported ==
          std::vector<std::string>{"pod ns/p: scheduling.koordinator.sh/device-allocate-hint: "
                                   "gpu.vfSelector is not modelled"});
    CHECK(read(two, "{scheduling.koordinator.sh/device-allocate-hint: 'x'}").unsupported.size() ==
          1);
    CHECK(read({"{koordinator.sh/gpu.shared: 2, koordinator.sh/gpu-memory: 8Gi}"},
               hint(R"({"requiredTopologyScope":"PCIe"})"))
              .unsupported.size() == 1);
}

TEST_CASE("a selector with too many expressions or values makes the pod wait") {
    const std::vector<std::string> two{"{koordinator.sh/gpu: 200}"};
    const auto labels = [&](std::size_t count) {
        std::string list;
        for (std::size_t at = 0; at < count; ++at)
            list += (at > 0 ? R"(,"k)" : R"("k)") + std::to_string(at) + R"(":"v")";
        return read(two, hint(R"({"selector":{"matchLabels":{)" + list + "}}}"));
    };
    const auto values = [&](std::size_t count) {
        std::string list = R"("v")";
        while (--count > 0)
            list += R"(,"v")";
        return read(two, hint(R"({"selector":{"matchExpressions":[{"key":"k","operator":"In",)"
                              R"("values":[)" +
                              list + "]}]}}"));
    };
    CHECK(labels(128).unsupported.empty());
    CHECK(values(255).unsupported.empty());
    const std::vector<std::string> reason{
        "pod ns/p: scheduling.koordinator.sh/device-allocate-hint: gpu.selector has more than 256 "
        "expressions and values"};
    CHECK(labels(129).unsupported == reason);
    CHECK(values(256).unsupported == reason);
}

namespace {

std::string nic_hint(const std::string& text) {
    return "{scheduling.koordinator.sh/device-allocate-hint: '{\"rdma\":" + text + "}'}";
}

} // namespace

TEST_CASE("RDMA and FPGA are requested in parts of one device, or above 100 as whole devices") {
    const auto part = one({"{koordinator.sh/rdma: 50}"});
    CHECK(part.count == 1);
    CHECK(part.memory == share_memory(memory_amount{50}));
    CHECK(part.filter.type == "rdma");
    CHECK_FALSE(part.function.has_value());
    const auto three = one({"{koordinator.sh/fpga: 300}"});
    CHECK(three.count == 3);
    CHECK(three.memory == share_memory(memory_amount{100}));
    CHECK(three.filter.type == "fpga");
    CHECK(read({"{koordinator.sh/rdma: 150}"}).unsupported ==
          std::vector<std::string>{
              "koordinator.sh/rdma (expected a multiple of 100, if it is above 100)"});
    CHECK(read({"{cpu: 1}"}).empty());
    CHECK(read({"{koordinator.sh/gpu: 500m}"}).unsupported.size() == 1);
    CHECK(read({"{koordinator.sh/rdma: 500m}"}).unsupported.size() == 1);
}

TEST_CASE("a hint can request all devices, count them by the amount, or need virtual functions") {
    const std::vector<std::string> two{"{koordinator.sh/rdma: 2}"};
    const auto all = one(two, nic_hint(R"({"allocateStrategy":"ApplyForAll"})"));
    CHECK(all.takes_all);
    CHECK(all.memory == share_memory(memory_amount{2}));
    const auto counted = one(two, nic_hint(R"({"allocateStrategy":"RequestsAsCount"})"));
    CHECK(counted.count == 2);
    CHECK(counted.memory == share_memory(memory_amount{1}));
    CHECK(one(two, nic_hint(R"({"allocateStrategy":"RequestsAsCount",)"
                            R"("exclusivePolicy":"DeviceLevel"})"))
              .memory == share_memory(memory_amount{100}));
    CHECK(one({"{koordinator.sh/rdma: 200}"}, nic_hint(R"({"allocateStrategy":"ApplyForAll"})"))
              .count == 2);
    const auto labeled = one(two, nic_hint(R"({"vfSelector":{"matchLabels":{"a":"1"}},)"
                                           R"("selector":{"matchLabels":{"b":"2"}}})"));
    CHECK(labeled.function ==
          std::vector<muster::device_label_check>{{"a", muster::device_label_operator::in, {"1"}}});
    CHECK(labeled.filter.labels.size() == 1);
}

TEST_CASE("joint types become one request and its partners, other types stay alone") {
    const std::vector<std::string> both{
        "{koordinator.sh/gpu: 200, koordinator.sh/rdma: 50, koordinator.sh/fpga: 100}"};
    const auto joint = [](const std::string& text) {
        return "{scheduling.koordinator.sh/device-joint-allocate: '" + text + "'}";
    };
    auto made = read(both, joint(R"({"deviceTypes":["gpu","rdma"],"requiredScope":"SamePCIe"})"));
    REQUIRE(made.requests.size() == 2);
    CHECK(made.requests[0].request.count == 2);
    CHECK(made.requests[0].request.partners_at_same_roots);
    REQUIRE(made.requests[0].request.partners.size() == 1);
    CHECK(made.requests[0].request.partners[0].filter.type == "rdma");
    CHECK(made.requests[1].request.filter.type == "fpga");
    CHECK(made.requests[1].request.partners.empty());
    made = read(both, joint(R"({"deviceTypes":["gpu","fpga","rdma"]})"));
    REQUIRE(made.requests.size() == 1);
    CHECK(made.requests[0].request.partners.size() == 2);
    CHECK_FALSE(made.requests[0].request.partners_at_same_roots);
    CHECK(read(both).requests.size() == 3);
    CHECK(read(both, joint(R"({"deviceTypes":["gpu","xpu"]})")).requests.size() == 3);
    CHECK(read(both, joint("null")).requests.size() == 3);
    CHECK(read(both, "{scheduling.koordinator.sh/device-allocate-hint: "
                     R"('{"rdma":{"allocateStrategy":"ApplyForAll"}}', )"
                     "scheduling.koordinator.sh/device-joint-allocate: "
                     R"('{"deviceTypes":["gpu","rdma"]}'})")
              .requests.size() == 3);
    for (const char* const wrong :
         {"x", R"({"deviceTypes":5})", R"({"deviceTypes":[5]})", R"({"deviceTypes":["gpu","gpu"]})",
          R"({"deviceTypes":["rdma","gpu"]})", R"({"requiredScope":5})", R"({"requiredScope":{}})",
          R"({"deviceTypes":["gpu"],"RequiredScope":"SamePCIe"})", R"({"DeviceTypes":["gpu"]})",
          R"({"deviceTypes":["gpu"],"requiredScope":"SameNUMANode"})"}) {
        const auto refused = read(both, joint(wrong));
        INFO(wrong);
        REQUIRE(refused.unsupported.size() == 1);
        CHECK(refused.requests.empty());
        CHECK(refused.unsupported[0].find("device-joint-allocate") != std::string::npos);
    }
}

TEST_CASE("whole GPUs prefer partitions, and a partition spec requires them") {
    const auto spec = [](const std::string& text) {
        return "{scheduling.koordinator.sh/gpu-partition-spec: '" + text + "'}";
    };
    const std::vector<std::string> two{"{koordinator.sh/gpu: 200}"};
    CHECK(one(two).partition == muster::partition_wish{});
    CHECK(one(two, spec("{}")).partition == muster::partition_wish{true, false, {}});
    CHECK(one(two, spec(R"({"allocatePolicy":"Restricted","ringBusBandwidth":"2"})")).partition ==
          muster::partition_wish{true, true, 2000});
    CHECK(one(two, spec(R"({"allocatePolicy":"BestEffort"})")).partition ==
          muster::partition_wish{true, false, {}});
    CHECK(one(two, spec("null")).partition == muster::partition_wish{true, false, {}});
    CHECK(one(two, spec(R"({"allocatePolicy":"","ringBusBandwidth":1.5})")).partition ==
          muster::partition_wish{true, false, 1500});
    CHECK_FALSE(one({"{koordinator.sh/gpu: 50}"}, spec("{}")).partition.has_value());
    for (const char* const wrong :
         {"x", "[]", "5", R"({"allocatePolicy":"x"})", R"({"allocatePolicy":5})",
          R"({"AllocatePolicy":"Restricted"})", R"({"ringBusBandwidth":"x"})",
          R"({"ringBusBandwidth":{}})", R"({"RingBusBandwidth":"2"})", R"({"other":null})"})
        CHECK(read(two, spec(wrong)).unsupported.size() == 1);
}

TEST_CASE("whole NPUs are requested by cores and memory; a part of one waits for templates") {
    const auto npu = one({"{huawei.com/npu-core: 16, koordinator.sh/gpu-memory-ratio: 200}"});
    CHECK(npu.count == 2);
    CHECK(npu.cores == 8);
    CHECK(npu.filter.model_names == std::vector<std::string>{"npu"});
    CHECK(one({"{koordinator.sh/gpu: 100}"}).filter.models_not == std::vector<std::string>{"npu"});
    for (const char* const parts :
         {"{huawei.com/npu-core: 4, koordinator.sh/gpu-memory-ratio: 50}",
          "{huawei.com/npu-core: 4, huawei.com/npu-cpu: 1, koordinator.sh/gpu.shared: 1, "
          "koordinator.sh/gpu-memory: 8Gi}"}) {
        const auto refused = read({parts});
        REQUIRE_FALSE(refused.unsupported.empty());
        CHECK(refused.unsupported[0].find("huawei.com/npu-") == 0);
    }
}

TEST_CASE("GPUs of other vendors are not modelled, also beside other devices") {
    for (const char* const resource :
         {"amd.com/gpu", "dcu.com/gpu", "huawei.com/npu-core", "huawei.com/npu-cpu"}) {
        INFO(resource);
        for (const char* const beside :
             {"", ", koordinator.sh/rdma: 20", ", koordinator.sh/fpga: 100",
              ", koordinator.sh/gpu: 100", ", nvidia.com/gpu: 1"}) {
            const auto refused = read({"{" + std::string(resource) + ": 1" + beside + "}"});
            REQUIRE_FALSE(refused.unsupported.empty());
            CHECK(refused.requests.empty());
        }
        const auto refused = read({"{" + std::string(resource) + ": 1, koordinator.sh/rdma: 20}"});
        CHECK(refused.unsupported[0].find(resource) == 0);
        CHECK(read({"{" + std::string(resource) + ": 0, koordinator.sh/rdma: 20}"})
                  .unsupported.empty());
    }
    read_object amd(pod_text({"{amd.com/gpu: 2}"}));
    CHECK(read_koordinator_requests(amd.metadata, amd.containers, "amd.com/gpu", amd.out)
              .requests.size() == 1);
}

TEST_CASE("the types that a pod requests of Koordinator do not depend on what is modelled") {
    const auto types = [](const std::string& limits) {
        read_object pod(pod_text({limits}));
        std::string all;
        for (const std::string& each : koordinator_types(pod.containers, "nvidia.com/gpu"))
            all += each + " ";
        return all;
    };
    CHECK(types("{cpu: 1, koordinator.sh/gpu: 0}").empty());
    CHECK(types("{amd.com/gpu: 1, koordinator.sh/rdma: 150}") == "gpu rdma ");
    CHECK(types("{koordinator.sh/fpga: 100}") == "fpga ");
    for (const char* const gpu :
         {"nvidia.com/gpu", "dcu.com/gpu", "huawei.com/npu-core", "huawei.com/npu-dvpp",
          "koordinator.sh/gpu", "koordinator.sh/gpu-core", "koordinator.sh/gpu-memory",
          "koordinator.sh/gpu-memory-ratio", "koordinator.sh/gpu.shared"})
        CHECK(types("{" + std::string(gpu) + ": 1}") == "gpu ");
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
