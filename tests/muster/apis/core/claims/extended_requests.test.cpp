// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/claims/extended_requests.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>

namespace extended_requests_test {

using namespace muster::codec;

namespace {

const std::string classes =
    "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: "
    "{extendedResourceName: x.com/gpu}\n---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\n"
    "metadata: {name: nic}\n";

std::string container(const std::string& name, const std::string& requests,
                      const std::string& more = "") {
    return "{name: " + name + ", image: i" + more + ", resources: {requests: {" + requests + "}}}";
}

/// The requests and the mappings of a pod with these containers, as text.
std::string claim_of(const std::string& containers, const std::set<std::string>& resources) {
    diagnostics out;
    const manifests read = read_manifests(
        read_documents("input",
                       classes + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {" +
                           containers + "}\n",
                       out, input_format::yaml),
        {}, out);
    REQUIRE(out.ok());
    REQUIRE(read.pods.size() == 1);
    const extended_claim made =
        make_extended_claim(read.pods.front().extended, resources, device_catalog(read.devices));
    std::string text;
    for (const auto& each : made.asks.requests)
        text += each.name + ": " + std::to_string(each.alternatives.front().count) + " of " +
                each.alternatives.front().class_name + "; ";
    text += "| ";
    for (const auto& each : made.mappings)
        text += each.container + " " + each.resource + " " + each.request + "; ";
    return text;
}

} // namespace

TEST_CASE("a container requests what it only limits, as the API server sets it") {
    CHECK(claim_of("containers: [{name: c, image: i, resources: {requests: {memory: 1Gi}, limits: "
                   "{cpu: 1, x.com/gpu: 2}}}]",
                   {"x.com/gpu"}) ==
          "container-0-request-2: 2 of gpu; | c x.com/gpu container-0-request-2; ");
}

TEST_CASE("each container has a request for each of its resources that devices serve") {
    CHECK(claim_of("containers: [" + container("c", "cpu: 1, x.com/gpu: 2") + ", " +
                       container("d", "cpu: 1, deviceclass.resource.kubernetes.io/nic: 1, "
                                      "memory: 1Gi, x.com/gpu: 1") +
                       "]",
                   {"x.com/gpu", "deviceclass.resource.kubernetes.io/nic"}) ==
          "container-0-request-1: 2 of gpu; container-1-request-1: 1 of nic; "
          "container-1-request-3: 1 of gpu; | "
          "d deviceclass.resource.kubernetes.io/nic container-1-request-1; "
          "c x.com/gpu container-0-request-1; d x.com/gpu container-1-request-3; ");
}

TEST_CASE("resources that the node itself lists are not requested") {
    CHECK(claim_of("containers: [" + container("c", "x.com/gpu: 2, x.com/other: 1") + "]",
                   {"x.com/gpu"}) ==
          "container-0-request-0: 2 of gpu; | c x.com/gpu container-0-request-0; ");
}

TEST_CASE("an init container uses devices of later containers, and asks for what it lacks") {
    CHECK(claim_of("initContainers: [" + container("i", "x.com/gpu: 3") + ", " +
                       container("j", "x.com/gpu: 2") + "], containers: [" +
                       container("c", "x.com/gpu: 1") + "]",
                   {"x.com/gpu"}) ==
          "container-0-request-0: 2 of gpu; container-2-request-0: 1 of gpu; | "
          "c x.com/gpu container-2-request-0; i x.com/gpu container-2-request-0; "
          "j x.com/gpu container-2-request-0; i x.com/gpu container-0-request-0; "
          "j x.com/gpu container-0-request-0; ");
}

TEST_CASE("a sidecar keeps its devices, and an init container before it uses them") {
    CHECK(claim_of("initContainers: [" + container("i", "x.com/gpu: 1") + ", " +
                       container("s", "x.com/gpu: 1", ", restartPolicy: Always") +
                       "], containers: [" + container("c", "cpu: 1") + "]",
                   {"x.com/gpu"}) ==
          "container-1-request-0: 1 of gpu; | s x.com/gpu container-1-request-0; "
          "i x.com/gpu container-1-request-0; ");
}

} // namespace extended_requests_test
