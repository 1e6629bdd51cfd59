// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/numa/aligned_requests.hpp>

#include <regex>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/core/numa/numa_text.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_aligned_requests_test {

using namespace muster::codec;

namespace {

/// The demand of a pod with these containers, as a text.
std::string demand(const std::string& containers, const std::string& more = "") {
    diagnostics out;
    const auto documents =
        read_documents("f",
                       "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {" + more +
                           "containers: [" + containers + "]}\n",
                       out);
    const manifests objects = read_manifests(documents, {}, out);
    REQUIRE(objects.pods.size() == 1);
    // Without the lengths of the names.
    return std::regex_replace(numa_text(objects.pods[0].aligned), std::regex("[0-9]+:"), "");
}
std::string container(const std::string& limits, const std::string& requests = "",
                      const std::string& more = "") {
    return "{name: c, image: i, " + more + "resources: {limits: {" + limits + "}, requests: {" +
           requests + "}}}";
}

} // namespace

TEST_CASE("a Guaranteed container with whole CPUs aligns cpu, memory and devices") {
    CHECK(demand(container("cpu: 2, memory: 1k, example.com/gpu: 1, hugepages-2Mi: 2Mi")) ==
          "[cpu=2000 example.com/gpu=1 hugepages-2Mi=2097152 memory=1000 ] together [cpu=2000 "
          "example.com/gpu=1 hugepages-2Mi=2097152 memory=1000 ]");
}

TEST_CASE("a fraction of a CPU is not aligned") {
    CHECK(demand(container("cpu: 2500m, memory: 1k")) == "[memory=1000 ] together [memory=1000 ]");
    CHECK(demand(container("cpu: 1500m, memory: 1k") + ", " + container("cpu: 1, memory: 1k")) ==
          "[memory=1000 ][cpu=1000 memory=1000 ] together [cpu=1000 memory=2000 ]");
}

TEST_CASE("in pods that are not Guaranteed only devices are aligned") {
    const std::string nothing = " together []";
    const std::string gpu = "[example.com/gpu=1 ] together [example.com/gpu=1 ]";
    CHECK(demand(container("cpu: 2")) == nothing);
    CHECK(demand(container("cpu: 2, memory: 1k", "cpu: 1")) == nothing);
    CHECK(demand(container("", "cpu: 2, memory: 1k")) == nothing);
    CHECK(demand(container("cpu: 2, example.com/gpu: 1")) == gpu);
    // One container that has no limits makes the pod Burstable.
    CHECK(demand(container("cpu: 2, memory: 1k, example.com/gpu: 1") + ", " + container("")) ==
          gpu);
    CHECK(demand(container("cpu: 0, memory: 1k")) == nothing);
}

TEST_CASE("pod-level resources leave only devices aligned") {
    CHECK(demand(container("cpu: 2, memory: 1k, example.com/gpu: 1"),
                 "resources: {limits: {cpu: 2, memory: 1k}}, ") ==
          "[example.com/gpu=1 ] together [example.com/gpu=1 ]");
}

TEST_CASE("ordinary init containers count by their peak, and sidecars beside all that follows") {
    const std::string init = container("cpu: 4, memory: 1k");
    const std::string sidecar = container("cpu: 1, memory: 1k", "", "restartPolicy: Always, ");
    const std::string main = container("cpu: 2, memory: 1k");
    CHECK(demand(main, "initContainers: [" + sidecar + ", " + init + "], ") ==
          "init [cpu=1000 memory=1000 ][cpu=4000 memory=1000 ][cpu=2000 memory=1000 ] together "
          "[cpu=5000 memory=2000 ]");
    CHECK(demand(main + ", " + main, "initContainers: [" + init + ", " + sidecar + "], ") ==
          "init [cpu=4000 memory=1000 ][cpu=1000 memory=1000 ][cpu=2000 memory=1000 ][cpu=2000 "
          "memory=1000 ] together [cpu=5000 memory=3000 ]");
    CHECK(demand(main, "initContainers: [" + sidecar + "], ") ==
          "[cpu=1000 memory=1000 ][cpu=2000 memory=1000 ] together [cpu=3000 memory=2000 ]");
}

} // namespace codec_aligned_requests_test
