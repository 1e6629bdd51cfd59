// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/claims/device_words.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/input/cluster.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_device_words_test {

using namespace muster::codec;

namespace {

/// What is said of the devices that the pods of the input ask for.
struct words {
    std::string asked;
    std::string unread;
};
words say(const std::string& text) {
    diagnostics out;
    const auto documents = read_documents("f", text, out);
    const manifests objects = read_manifests(documents, {}, out);
    REQUIRE(out.ok());
    const auto cluster = make_cluster<muster::max_kinds>(objects, {}, out);
    volumes_of_pods pods;
    for (const auto& [key, effects] : cluster.volumes.pods)
        pods.emplace_back(key.name, &effects);
    return {asked_devices_text(pods, cluster.volumes),
            unread_registers_text(pods, cluster.volumes)};
}

std::string hami_node(const std::string& name, const std::string& value) {
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name +
           ", annotations: {hami.io/node-nvidia-register: '" + value +
           "'}}\nstatus: {allocatable: {cpu: 8, pods: 110, nvidia.com/gpu: 8}}\n";
}
std::string pod(const std::string& name, const std::string& annotations) {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", annotations: {" +
           annotations +
           "}}\nspec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}\n";
}
const std::string gpu =
    R"([{"id":"g","count":8,"devmem":100,"devcore":100,"type":"NVIDIA-A100","health":true}])";

} // namespace

TEST_CASE("the models of GPUs that pods ask for are named, each once") {
    CHECK(say(hami_node("n1", gpu) + pod("a", "nvidia.com/use-gputype: 'A100,H100'") +
              pod("b", "nvidia.com/use-gputype: 'A100,H100'") +
              pod("c", "nvidia.com/use-gputype: T4"))
              .asked == "GPUs of model A100 or H100, GPUs of model T4");
    CHECK(say(hami_node("n1", gpu) + pod("a", "")).asked.empty());
}

TEST_CASE("the classes of claims that do not add up are named") {
    const std::string more = ", selectors: [{cel: {expression: \"device.attributes['x.com'].";
    std::string text =
        "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 8, "
        "pods: 110}}\n---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: "
        "gpu}\nspec: {selectors: [{cel: {expression: \"device.driver == 'x.com'\"}}]}\n"
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec: "
        "{driver: x.com, pool: {name: n1, generation: 1, resourceSliceCount: 1}, nodeName: n1, "
        "devices: [{name: d0, attributes: {a: {int: 1}, b: {int: 0}}}, {name: d1, attributes: {a: "
        "{int: 1}, b: {int: 1}}}, {name: d2, attributes: {a: {int: 0}, b: {int: 1}}}]}\n";
    for (const std::string name : {"a", "b"})
        text +=
            "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: " + name +
            "}\nspec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu" + more +
            name + " == 1\"}}]}}]}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
            ", uid: u-" + name +
            "}\nspec: {containers: [{name: c}], resourceClaims: [{name: g, "
            "resourceClaimName: " +
            name + "}]}\n";
    CHECK(say(text).asked == "device class gpu");
}

TEST_CASE("a register that cannot be read is named, with the number of further nodes") {
    const std::string broken = hami_node("n1", "[{") + hami_node("n2", "[{");
    const std::string unread = say(broken + pod("a", "")).unread;
    CHECK(unread.starts_with("node n1: hami.io/node-nvidia-register: not JSON"));
    CHECK(unread.ends_with(" (+1 node)"));
    CHECK(say(hami_node("n1", gpu) + pod("a", "")).unread.empty());
}

} // namespace codec_device_words_test
