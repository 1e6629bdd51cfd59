// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/shares/device_shares.hpp>

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/core/pod_reader.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_device_shares_test {

using namespace muster::codec;

namespace {

std::vector<std::string> unsupported(const std::string& metadata, const std::string& container) {
    diagnostics found;
    const auto documents = read_documents(
        "f", "metadata: {name: p" + metadata + "}\nspec: {containers: [{" + container + "}]}\n",
        found);
    REQUIRE(documents.size() == 1);
    object_reader object(documents[0], found);
    reading_context context;
    const pod_object pod = read_pod(object, context);
    CHECK(found.findings().empty());
    return pod.unsupported;
}

std::vector<std::string> of_limits(const std::string& limits) {
    return unsupported("", "resources: {limits: {" + limits + "}}");
}

} // namespace

TEST_CASE("a share that only another scheduler's agent serves makes the pod wait") {
    using entry = std::pair<const char*, const char*>;
    for (const entry& each :
         {entry{"nvidia.com/gpumem", "HAMi"}, entry{"nvidia.com/gpumem-percentage", "HAMi"},
          entry{"nvidia.com/gpucores", "HAMi"}, entry{"volcano.sh/vgpu-number", "Volcano"},
          entry{"volcano.sh/vgpu-memory", "Volcano"},
          entry{"volcano.sh/vgpu-memory-percentage", "Volcano"},
          entry{"volcano.sh/vgpu-cores", "Volcano"}, entry{"volcano.sh/gpu-memory", "Volcano"},
          entry{"koordinator.sh/gpu-core", "Koordinator"},
          entry{"koordinator.sh/gpu-memory", "Koordinator"},
          entry{"koordinator.sh/gpu-memory-ratio", "Koordinator"},
          entry{"koordinator.sh/gpu.shared", "Koordinator"},
          entry{"koordinator.sh/rdma", "Koordinator"}, entry{"aliyun.com/gpu-mem", "ACK"}}) {
        const std::string name = each.first;
        CAPTURE(name);
        const std::string by = "] (only " + std::string(each.second) + " serves it)";
        CHECK(of_limits(std::string(name) + ": 50") ==
              std::vector{"spec.containers[0].resources.limits[" + std::string(name) + by});
        CHECK(unsupported("", "resources: {requests: {" + std::string(name) + ": 50}}") ==
              std::vector{"spec.containers[0].resources.requests[" + std::string(name) + by});
    }
    for (const entry& each : {entry{"gpu-fraction", "KAI"}, entry{"gpu-memory", "KAI"},
                              entry{"volcano.sh/numa-topology-policy", "Volcano"}}) {
        const std::string key = each.first;
        CAPTURE(key);
        CHECK(
            unsupported(", annotations: {" + key + ": \"0.5\"}", "") ==
            std::vector{"metadata.annotations[" + key + "] (only " + each.second + " serves it)"});
    }
}

TEST_CASE("a share of another vendor's device that only HAMi's agents serve makes the pod wait") {
    for (const char* name : {"amd.com/gpucores",
                             "amd.com/gpumem",
                             "cambricon.com/mlu.smlu.vcore",
                             "cambricon.com/mlu.smlu.vmemory",
                             "cambricon.com/vmlu",
                             "enflame.com/drs-gcu",
                             "enflame.com/gcu-core",
                             "enflame.com/gcu-memory",
                             "enflame.com/vgcu",
                             "enflame.com/vgcu-percentage",
                             "huawei.com/Ascend310P-memory",
                             "huawei.com/Ascend910B4-1-core",
                             "hygon.com/dcucores",
                             "hygon.com/dcumem",
                             "hygon.com/dcunum",
                             "hygon.com/hcucores",
                             "hygon.com/hcumem",
                             "hygon.com/hcunum",
                             "iluvatar.ai/BI-V150.vCore",
                             "iluvatar.ai/BI-V150.vMem",
                             "iluvatar.ai/MR-V100-vgpu",
                             "iluvatar.ai/vcuda-core",
                             "iluvatar.ai/vcuda-memory",
                             "iluvatar.ai/vgpu",
                             "kunlunxin.com/vxpu",
                             "kunlunxin.com/vxpu-memory",
                             "metax-tech.com/sgpu",
                             "metax-tech.com/vcore",
                             "metax-tech.com/vmemory",
                             "mthreads.com/sgpu-core",
                             "mthreads.com/sgpu-memory",
                             "mthreads.com/vgpu"}) {
        CAPTURE(name);
        CHECK(of_limits(std::string(name) + ": 50") ==
              std::vector{"spec.containers[0].resources.limits[" + std::string(name) +
                          "] (only HAMi serves it)"});
    }
}

TEST_CASE("whole devices of vendors whose shares are refused are not shares") {
    CHECK(of_limits("amd.com/gpu: 1, aws.amazon.com/neuroncore: 1, birentech.com/gpu: 1, "
                    "cambricon.com/mlu: 1, enflame.com/gcu: 1, huawei.com/Ascend910: 1, "
                    "huawei.com/Ascend310P: 1, hygon.com/dcu: 1, iluvatar.ai/gpu: 1, "
                    "kunlunxin.com/xpu: 1, metax-tech.com/gpu: 1, mthreads.com/gpu: 1")
              .empty());
    CHECK(device_share{"x.com/a*-b", "S"}.matches("x.com/a1-b"));
    CHECK_FALSE(device_share{"x.com/ab*ba", "S"}.matches("x.com/aba"));
}

TEST_CASE("whole cards in Koordinator's amounts are refused like its shares") {
    CHECK(of_limits("koordinator.sh/gpu: 200") ==
          std::vector<std::string>{"spec.containers[0].resources.limits[koordinator.sh/gpu] (only "
                                   "Koordinator serves it)"});
}

TEST_CASE("whole devices, an amount of 0 and the NUMA policy none are not shares") {
    CHECK(of_limits("nvidia.com/gpu: 1, nvidia.com/mig-1g.5gb: 1, nvidia.com/gpu.shared: 1, "
                    "rdma/hca: 1, aliyun.com/gpu: 1, kubernetes.io/batch-cpu: 1")
              .empty());
    CHECK(of_limits("nvidia.com/gpumem: 0").empty());
    CHECK(unsupported(", annotations: {volcano.sh/numa-topology-policy: none}", "").empty());
}

} // namespace codec_device_shares_test
