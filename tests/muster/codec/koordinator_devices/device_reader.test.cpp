// SPDX-License-Identifier: Apache-2.0
#include <muster/codec/koordinator_devices/device_reader.hpp>

#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include "muster/codec/share_texts.hpp"

namespace koordinator_device_reader_test {

using namespace share_texts;

namespace {

struct reading {
    koordinator_device_object object;
    std::string findings;
};

/// Reads a Device from its list of devices; `more` follows the name in its metadata.
reading read(const std::string& devices, const std::string& more = "") {
    diagnostics out;
    const auto documents = read_documents(
        "f",
        "apiVersion: scheduling.koordinator.sh/v1alpha1\nkind: Device\nmetadata: {name: n1" + more +
            "}\nspec: {devices: [" + devices + "]}\n",
        out);
    reading made;
    if (documents.size() == 1) {
        object_reader root(documents[0], out);
        reading_context context;
        made.object = read_koordinator_device(root, context);
        check_sound(made.object.shares);
    }
    for (const diagnostic& finding : out.findings())
        made.findings += to_text(finding) + '\n';
    return made;
}

const std::string amounts = "{koordinator.sh/gpu-core: 100, koordinator.sh/gpu-memory: 16Gi, "
                            "koordinator.sh/gpu-memory-ratio: 100}";

std::string gpu(const std::string& minor, const std::string& more = "") {
    return "{type: gpu, id: GPU-" + minor + ", minor: " + minor +
           ", health: true, resources: " + amounts + more + "}";
}

} // namespace

TEST_CASE("a Device lists the GPUs of a node by their minor numbers, with memory in bytes") {
    const auto [object, findings] =
        read(gpu("1", ", topology: {socketID: 0, nodeID: 1, pcieID: p, busID: '0000:1'}") + ", " +
             gpu("0") +
             ", {type: rdma, minor: 0, health: true, vfGroups: [], resources: "
             "{koordinator.sh/rdma: 100}}");
    CHECK(findings.empty());
    CHECK(object.shares.node == "n1");
    REQUIRE(object.shares.devices.size() == 2);
    const auto& first = object.shares.devices[0];
    CHECK(first.id == "1");
    CHECK(first.memory == 17179869184);
    CHECK(first.cores == 100);
    CHECK_FALSE(first.slots.has_value());
    CHECK(first.numa == 1);
    CHECK(first.pcie == "p");
    CHECK(first.healthy);
    CHECK_FALSE(object.shares.devices[1].numa.has_value());
    CHECK(object.uuids.at("1") == "GPU-1");
    CHECK(object.shares.blocked.empty());
}

TEST_CASE("an unhealthy GPU of a Device gets no pods") {
    CHECK_FALSE(read("{type: gpu, minor: 0, health: false}").object.shares.devices[0].healthy);
    CHECK_FALSE(read("{type: gpu, minor: 0}").object.shares.devices[0].healthy);
}

TEST_CASE("a NUMA node of -1 is unknown") {
    const auto made = read(gpu("0", ", topology: {socketID: -1, nodeID: -1, pcieID: ''}"));
    CHECK_FALSE(made.object.shares.devices[0].numa.has_value());
    CHECK(made.object.shares.devices[0].pcie.empty());
}

TEST_CASE("a GPU of a Device without memory gets no pods, with a warning") {
    const auto made =
        read("{type: gpu, minor: 0, health: true, resources: {koordinator.sh/gpu-core: 100}}");
    CHECK_FALSE(made.object.shares.devices[0].healthy);
    CHECK(made.findings.find("spec.devices[0].resources") != std::string::npos);
    CHECK(made.findings.find("expected koordinator.sh/gpu-memory") != std::string::npos);
}

TEST_CASE("a minor number that a Device lists twice gets no pods") {
    const auto made = read(gpu("3") + "," + gpu("3"));
    REQUIRE(made.object.shares.devices.size() == 1);
    CHECK_FALSE(made.object.shares.devices[0].healthy);
    CHECK(made.findings.find("device 3 of node n1 is listed twice") != std::string::npos);
}

TEST_CASE("malformed fields of a Device are findings with their places") {
    const auto made = read("{type: gpu, minor: -1, health: true, resources: " + amounts + "}");
    CHECK(made.object.shares.devices.empty());
    CHECK(made.findings.find("f:4:") == 0);
    CHECK(made.findings.find("minor") != std::string::npos);
    CHECK(read("{type: gpu, minor: 0, health: true, resources: {koordinator.sh/gpu-memory: -1}}")
              .findings.find("negative") != std::string::npos);
    CHECK(read("{type: gpu, minor: 0, typo: 1}").findings.find("unknown field") !=
          std::string::npos);
}

TEST_CASE("a node that honors GPU partitions gives no devices") {
    const auto made = read(gpu("0"), ", labels: {node.koordinator.sh/gpu-partition-policy: Honor}");
    CHECK(made.object.shares.blocked.find("node n1 honors") == 0);
}

TEST_CASE("the reader of a Device accepts any text") {
    muster::testing::random chance(muster::testing::random_seed());
    const std::string devices =
        gpu("1", ", topology: {socketID: 0, nodeID: 1, pcieID: p}") + ", " + gpu("0");
    std::size_t with_devices = 0;
    for (std::uint64_t at = 0; at < muster::testing::case_count(2000); ++at) {
        const std::string text = mutated(devices, chance);
        INFO(text);
        with_devices += read(text).object.shares.devices.empty() ? 0U : 1U;
    }
    CHECK(with_devices > 0);
}

} // namespace koordinator_device_reader_test
