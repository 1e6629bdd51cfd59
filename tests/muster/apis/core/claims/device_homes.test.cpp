// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/claims/device_homes.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>

namespace device_homes_test {

namespace codec = muster::codec;

namespace {

/// Returns "NODE HOLDER" of the only device, which is on node n1 and allocated to claim c. Pod g
/// runs on n1; it is of PodGroup g and uses the claim.
std::string home(const std::string& consumers) {
    const std::string text =
        "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec: {driver: "
        "x.com, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: "
        "[{name: d0}]}\n"
        "---\napiVersion: v1\nkind: Pod\nmetadata: {name: g, uid: u-g}\nspec: {nodeName: n1, "
        "containers: [{name: c}], schedulingGroup: {podGroupName: g}, resourceClaims: [{name: e, "
        "resourceClaimName: c}]}\nstatus: {phase: Running}\n"
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\nspec: "
        "{devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}\nstatus: "
        "{allocation: {devices: {results: [{request: r, driver: x.com, pool: n1, device: d0}]}}, "
        "reservedFor: [" +
        consumers + "]}\n";
    codec::diagnostics out;
    const auto documents = codec::read_documents("f", text, out);
    const codec::manifests objects = codec::read_manifests(documents, {}, out);
    for (const codec::diagnostic& each : out.findings())
        FAIL_CHECK(to_text(each));
    REQUIRE(objects.pods.size() == 1);
    const codec::device_catalog catalog(objects.devices);
    const std::vector<codec::pooled_device> devices = codec::devices_of(catalog.slices);
    REQUIRE(devices.size() == 1);
    std::vector<muster::node<1>> nodes(1);
    nodes.front().name = "n1";
    const std::vector<const codec::pod_object*> pods{&objects.pods.front()};
    const codec::device_homes homes(catalog, devices, nodes, pods);
    const codec::device_homes::home& found = homes.of(0);
    return std::string(found.node) + " " + (found.holder ? found.holder->metadata.key.name : "-");
}

} // namespace

TEST_CASE("a device counts on the node of the pod that its claim is reserved for") {
    CHECK(home("{resource: pods, name: g, uid: u-g}") == "n1 g");
    CHECK(home("{resource: pods, name: g, uid: u-x}") == " -");
    CHECK(home("{resource: pods, name: g, uid: u-g}, {resource: pods, name: h, uid: u-h}") == " -");
}

TEST_CASE("a pod does not hold the devices of a PodGroup of its name") {
    CHECK(home("{apiGroup: scheduling.k8s.io, resource: podgroups, name: g, uid: u-g}") == " -");
}

} // namespace device_homes_test
