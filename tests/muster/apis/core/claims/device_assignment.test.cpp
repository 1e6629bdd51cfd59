// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/claims/device_assignment.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_device_assignment_test {

using namespace muster::codec;

namespace {

/// The devices of pods placed on a node, as "POD: ENTRY|RESOURCE REQUEST POOL/DEVICE, ...; ", and
/// the nodes that lack devices.
std::string assign(const std::string& text, const device_assignment::placements& placed) {
    diagnostics out;
    const manifests objects = read_manifests(read_documents("f", text, out), {}, out);
    for (const diagnostic& each : out.findings())
        FAIL_CHECK(to_text(each));
    const device_assignment made(objects, placed, {});
    std::string found;
    for (const auto& each : placed) {
        found += each.first.name + ":";
        if (const auto* const devices = made.of(each.first))
            for (const assigned_device& one : *devices)
                found += " " + one.entry + "|" + one.resource + " " + one.request + " " + one.pool +
                         "/" + one.device;
        found += "; ";
    }
    for (const std::string& each : made.lacking())
        found += "lacking " + each + "; ";
    return found;
}

std::string node(const std::string& name, const std::string& more = "") {
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name +
           "}\nstatus: {allocatable: {cpu: 8, pods: 110" + more + "}}\n";
}
std::string slice(const std::string& name, const std::string& devices) {
    return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: " + name +
           "}\nspec: {driver: x.com, pool: {name: " + name +
           ", generation: 1, resourceSliceCount: 1}, nodeName: " + name + ", devices: [" + devices +
           "]}\n";
}
std::string pod(const std::string& name, const std::string& resources,
                const std::string& more = "") {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", uid: u-" + name +
           "}\nspec: {containers: [{name: c, resources: {" + resources + "}}]" + more + "}\n";
}
const std::string gpu_class =
    "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: "
    "{extendedResourceName: x.com/gpu, selectors: [{cel: {expression: \"device.driver == "
    "'x.com'\"}}]}\n";

} // namespace

TEST_CASE("extended resources that devices serve get devices, beside claims on the node") {
    const std::string claim =
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: one}\nspec: "
        "{devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}\n";
    const std::string text =
        node("n1", ", x.com/gpu: 0") + slice("n1", "{name: d0}, {name: d1}, {name: d2}") +
        gpu_class + claim + pod("a", "requests: {cpu: 1, x.com/gpu: 1}, limits: {x.com/gpu: 1}") +
        pod("b", "limits: {cpu: 1, x.com/gpu: 1}") +
        pod("c", "requests: {cpu: 1}", ", resourceClaims: [{name: g, resourceClaimName: one}]");
    CHECK(assign(text,
                 {{{"default", "a"}, "n1"}, {{"default", "b"}, "n1"}, {{"default", "c"}, "n1"}}) ==
          "a: |x.com/gpu container-0-request-1 n1/d1; b: |x.com/gpu container-0-request-1 n1/d2; "
          "c: g| r n1/d0; ");
}

TEST_CASE("where the node lists the extended resource, a device plugin gives it") {
    const std::string text = node("n1", ", x.com/gpu: 2") + slice("n1", "{name: d0}") + gpu_class +
                             pod("a", "requests: {x.com/gpu: 1}, limits: {x.com/gpu: 1}");
    CHECK(assign(text, {{{"default", "a"}, "n1"}}) == "a:; ");
}

TEST_CASE("a node with too few devices for extended resources lacks them") {
    const std::string text = node("n1") + slice("n1", "{name: d0}") + gpu_class +
                             pod("a", "requests: {x.com/gpu: 2}, limits: {x.com/gpu: 2}");
    CHECK(assign(text, {{{"default", "a"}, "n1"}}) == "a:; lacking n1; ");
}

TEST_CASE("instances of one GPU with the same profile have ids of their own") {
    const auto asks = [](const std::string& name) {
        return pod(name, "limits: {nvidia.com/gpu: 1, nvidia.com/gpumem: 20000}");
    };
    const std::string mig =
        "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, annotations: "
        "{hami.io/node-nvidia-register: '[{\"id\":\"GPU-a\",\"count\":7,\"devmem\":40960,"
        "\"devcore\":100,\"type\":\"NVIDIA-A100\",\"mode\":\"mig\",\"health\":true,\"migProfiles\":"
        "[{\"name\":\"3g.20gb\",\"memoryMB\":20480,\"core\":42,\"sliceCount\":3,\"placements\":"
        "[{\"start\":0,\"size\":4},{\"start\":4,\"size\":4}]}]}]'}}\n"
        "status: {allocatable: {cpu: 8, pods: 110, nvidia.com/gpu: 7}}\n";
    CHECK(
        assign(mig + asks("a") + asks("b"), {{{"default", "a"}, "n1"}, {{"default", "b"}, "n1"}}) ==
        "a: |  /GPU-a[3g.20gb@4]; b: |  /GPU-a[3g.20gb@0]; ");
}

} // namespace codec_device_assignment_test
