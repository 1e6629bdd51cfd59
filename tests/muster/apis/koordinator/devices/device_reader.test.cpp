// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/koordinator/devices/device_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "muster/apis/shares/share_texts.hpp"

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
    REQUIRE(object.shares.devices.size() == 3);
    const auto& first = object.shares.devices[1];
    CHECK(first.id == "1");
    CHECK(first.memory == 17179869184);
    CHECK(first.cores == 100);
    CHECK_FALSE(first.slots.has_value());
    CHECK(first.numa == 1);
    CHECK(first.pcie == "p");
    CHECK(first.healthy);
    CHECK(first.type.empty());
    CHECK(object.shares.devices[0].id == "0");
    CHECK_FALSE(object.shares.devices[0].numa.has_value());
    CHECK(object.uuids.at("1") == "GPU-1");
    CHECK(object.shares.blocked.empty());
}

TEST_CASE("a Device lists RDMA and FPGA devices, with their labels and virtual functions") {
    const auto [object, findings] =
        read("{type: rdma, minor: 1, id: mlx5_1, health: true, labels: {speed: '400'}, "
             "resources: {koordinator.sh/rdma: 100}, topology: {nodeID: 0, pcieID: p}, vfGroups: "
             "[{labels: {kind: a}, vfs: [{minor: 1, busID: '01.1'}, {minor: -1, busID: '01.0'}]}, "
             "{vfs: [{busID: '01.1'}, {busID: '01.2'}]}]}, "
             "{type: fpga, minor: 0, health: true, resources: {koordinator.sh/fpga: 100}}, "
             "{type: rdma, minor: 0, health: true}, {type: xpu, minor: 0, health: true}");
    CHECK(findings.empty());
    REQUIRE(object.shares.devices.size() == 3);
    CHECK(object.shares.devices[0].id == "fpga/0");
    CHECK(object.shares.devices[0].memory == 100);
    CHECK(object.shares.devices[1].id == "rdma/0");
    CHECK_FALSE(object.shares.devices[1].healthy);
    const auto& nic = object.shares.devices[2];
    CHECK(nic.id == "rdma/1");
    CHECK(nic.type == "rdma");
    CHECK(nic.pcie == "p");
    CHECK(nic.labels == muster::device_labels{{"speed", "400"}});
    REQUIRE(nic.functions.size() == 3);
    CHECK(nic.functions[0] == muster::virtual_function{"01.0", -1, {{"kind", "a"}}, false});
    CHECK(nic.functions[1] == muster::virtual_function{"01.1", 1, {{"kind", "a"}}, false});
    CHECK(nic.functions[2].bus_id == "01.2");
    CHECK(object.uuids.at("rdma/1") == "mlx5_1");
}

TEST_CASE("the cores of an NPU are those of huawei.com/npu-core") {
    const auto made =
        read("{type: gpu, minor: 0, health: true, resources: {huawei.com/npu-core: 8, "
             "koordinator.sh/gpu-memory: 24Gi, koordinator.sh/gpu-memory-ratio: 100}}");
    CHECK(made.object.shares.devices[0].cores == 8);
    CHECK(made.object.shares.devices[0].model == "npu");
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

TEST_CASE("an id that a Device lists under two minor numbers closes both, and no other device") {
    const auto with_id = [](const std::string& minor, const std::string& id) {
        return "{type: gpu, id: " + id + ", minor: " + minor +
               ", health: true, resources: " + amounts + "}";
    };
    const auto healthy = [](const reading& of) {
        std::string ids;
        for (const auto& each : of.object.shares.devices)
            ids += each.healthy ? each.id + " " : std::string();
        return ids;
    };
    const auto made =
        read(with_id("0", "GPU-a") + "," + with_id("1", "GPU-a") + "," + with_id("2", "GPU-b"));
    CHECK(made.object.shares.devices.size() == 3);
    CHECK(healthy(made) == "2 ");
    const std::string why = "has the id \"GPU-a\" of device 0, and both get no pods";
    CHECK(made.findings.find("device 1 of node n1 " + why) != std::string::npos);
    REQUIRE(made.object.shares.remarks.size() == 1);
    CHECK(made.object.shares.remarks[0].starts_with("device 1 " + why));
    // The entry that is dropped for its minor number names an id, too.
    CHECK(healthy(read(with_id("0", "GPU-a") + "," + with_id("0", "GPU-b") + "," +
                       with_id("1", "GPU-b") + "," + with_id("2", "GPU-c"))) == "2 ");
    // Devices without ids, and those of different types, are different devices.
    const std::string nic = "{type: rdma, id: GPU-a, minor: 0, health: true, resources: "
                            "{koordinator.sh/rdma: 100}}";
    CHECK(healthy(read(with_id("0", "GPU-a") + "," + nic)) == "0 rdma/0 ");
    CHECK(healthy(read(with_id("0", "''") + "," + with_id("1", "''"))) == "0 1 ");
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

namespace {

/// The metadata of a Device with these partitions.
std::string partitions(const std::string& table, const std::string& policy = "Prefer") {
    return ", labels: {node.koordinator.sh/gpu-partition-policy: " + policy +
           "}, annotations: {scheduling.koordinator.sh/gpu-partitions: '" + table + "'}";
}

} // namespace

TEST_CASE("a Device lists partitions of its GPUs by minor number, and says if they are required") {
    const std::string table = R"({"1":[{"minors":[3],"allocationScore":2}],"2":[{"minors":[3,0],)"
                              R"("gpuLinkType":"NVLink","ringBusBandwidth":"1500m"},)"
                              R"({"minors":[0,7]}],"4":null})";
    const auto [object, findings] = read(gpu("3") + "," + gpu("0"), partitions(table));
    CHECK(findings.empty());
    REQUIRE(object.partitions.has_value());
    CHECK_FALSE(object.partitions->is_required);
    REQUIRE(object.partitions->partitions.size() == 3);
    CHECK(object.partitions->partitions[0] == muster::device_partition{{1}, 2, {}});
    CHECK(object.partitions->partitions[1] == muster::device_partition{{1, 0}, 0, 1500});
    CHECK(object.partitions->partitions[2].devices == std::vector<std::size_t>{0, 2});
    CHECK(read(gpu("0"), partitions("{}", "Honor")).object.partitions->is_required);
    CHECK_FALSE(read(gpu("0")).object.partitions.has_value());
}

TEST_CASE("partitions may have numbers as bandwidths, and lists that differ from their keys") {
    const auto [object, findings] =
        read(gpu("0") + "," + gpu("1"),
             partitions(R"({"1":[{"minors":[0,1],"ringBusBandwidth":1.5},{"minors":[1]}],)"
                        R"("2":[{"minors":[0,0],"ringBusBandwidth":2e3}]})"));
    CHECK(findings.empty());
    REQUIRE(object.partitions.has_value());
    REQUIRE(object.partitions->partitions.size() == 3);
    CHECK(object.partitions->partitions[0] == muster::device_partition{{0, 1}, 0, 1500, 1});
    CHECK(object.partitions->partitions[1] == muster::device_partition{{1}, 0, {}});
    CHECK(object.partitions->partitions[2] == muster::device_partition{{0}, 0, 2'000'000, 2});
}

TEST_CASE("a partition that is listed twice is one, and there is a largest number of them") {
    const auto table = [](std::size_t count, bool same) {
        std::string list;
        for (std::size_t at = 0; at < count; ++at)
            list += std::string(at > 0 ? "," : "") + R"({"minors":[0],"allocationScore":)" +
                    std::to_string(same ? 7 : at) + "}";
        return read(gpu("0"), partitions(R"({"1":[)" + list + "]}")).object;
    };
    CHECK(table(2000, true).partitions->partitions ==
          std::vector<muster::device_partition>{{{0}, 7, {}}});
    CHECK(table(most_partitions, false).partitions->partitions.size() == most_partitions);
    CHECK(table(most_partitions + 1, false).has_unread_partitions);
}

TEST_CASE("if partitions are honored but cannot be read, no whole GPUs are given") {
    object_metadata plain;
    object_metadata honoring;
    honoring.labels.set("node.koordinator.sh/gpu-partition-policy", "Honor");
    honoring.labels.set("node.koordinator.sh/gpu-model", "H800");
    const muster::partition_table nothing{{}, true};
    const auto device = [&](const std::string& policy) {
        return read(gpu("0"), partitions("x", policy)).object;
    };
    CHECK(koordinator_partitions(device("Honor"), plain) == nothing);
    CHECK(koordinator_partitions(device("Prefer"), honoring) == nothing);
    CHECK(koordinator_partitions(device("Prefer"), plain) == muster::partition_table{});
    CHECK(koordinator_partitions(read(gpu("0")).object, honoring).partitions.size() == 15);
}

TEST_CASE("partitions that cannot be read are ignored with a warning, as Koordinator does") {
    for (const char* const table :
         {"x", "[]", R"({"x":[]})", R"({"-1":[]})", R"({"1":{}})", R"({"1":[5]})", R"({"1":[{}]})",
          R"({"1":[{"minors":["0"]}]})", R"({"1":[{"minors":[-1]}]})",
          R"({"1":[{"minors":[0],"allocationScore":"1"}]})",
          R"({"1":[{"minors":[0],"ringBusBandwidth":"x"}]})"}) {
        const auto made = read(gpu("0"), partitions(table));
        INFO(table);
        CHECK_FALSE(made.object.partitions.has_value());
        CHECK(made.findings.find("so the partitions are ignored") != std::string::npos);
    }
}

TEST_CASE("a node without partitions of its own has those of the model that its labels name") {
    std::vector<muster::shared_device> devices(8);
    for (std::size_t index = 0; index < devices.size(); ++index)
        devices[index].id = std::to_string(index);
    object_metadata node;
    CHECK(koordinator_model_partitions(node, devices) == muster::partition_table{});
    node.labels.set("node.koordinator.sh/gpu-model", "H800");
    CHECK(koordinator_model_partitions(node, devices).partitions.size() == 15);
    CHECK_FALSE(koordinator_model_partitions(node, devices).is_required);
    node.labels.set("node.koordinator.sh/gpu-partition-policy", "Honor");
    CHECK(koordinator_model_partitions(node, devices).is_required);
    node.labels.set("node.koordinator.sh/gpu-vendor", "huawei");
    CHECK(koordinator_model_partitions(node, devices).partitions.empty());
    node.labels.set("node.koordinator.sh/gpu-vendor", "nvidia");
    node.labels.set("node.koordinator.sh/gpu-model", "A100");
    CHECK(koordinator_model_partitions(node, devices).partitions.empty());
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
