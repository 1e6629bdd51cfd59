// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/node_reader.hpp>

#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include <muster/input/read_documents.hpp>

namespace codec_node_reader_test {

using namespace muster::codec;
using muster::taint_effect;

namespace {

struct read_result {
    node_object node;
    std::string findings;
};

/// Reads a node from what follows its name.
read_result read(const std::string& rest) {
    read_result made;
    diagnostics out;
    const auto documents =
        read_documents("f", "apiVersion: v1\nkind: Node\nmetadata: {name: node}\n" + rest, out);
    REQUIRE(documents.size() == 1);
    reading_context context;
    object_reader root(documents[0], out);
    made.node = read_node(root, context);
    for (const diagnostic& finding : out.findings())
        made.findings += to_text(finding) + '\n';
    return made;
}

} // namespace

TEST_CASE("a node has what is allocatable, and its capacity does not matter") {
    const auto [node, findings] = read(R"(status:
  capacity: {cpu: 8, memory: 32Gi, example.com/only-here: 1}
  allocatable: {cpu: 7500m, memory: 30Gi, nvidia.com/gpu: 4, pods: "110"}
)");
    CHECK(findings.empty());
    CHECK(node.allocatable ==
          std::map<std::string, std::int64_t>{
              {"cpu", 7500}, {"memory", 32212254720}, {"nvidia.com/gpu", 4}, {"pods", 110}});
}

TEST_CASE("a node without allocatable has its capacity, one without both has nothing") {
    CHECK(read("status: {capacity: {cpu: 8}}").node.allocatable.at("cpu") == 8000);
    CHECK(read("status: {capacity: {cpu: 8}, allocatable: null}").node.allocatable.size() == 1);
    CHECK(read("status: {capacity: {cpu: 8}, allocatable: {}}").node.allocatable.empty());
    CHECK(read("").node.allocatable.empty());
    CHECK(read("").findings.empty());
}

TEST_CASE("what a node has is rounded down: cpu to thousandths, all else to units") {
    const auto node = read("status: {allocatable: {cpu: 1.9999, memory: 1999m, a: 0.5m}}").node;
    CHECK(node.allocatable.at("cpu") == 1999);
    CHECK(node.allocatable.at("memory") == 1);
    CHECK(node.allocatable.at("a") == 0);
}

TEST_CASE(
    "up to 2^57 is allocatable, in the unit that is counted; more counts as that, and says so") {
    constexpr std::int64_t most = std::int64_t{1} << 57;
    const auto exact = read("status: {allocatable: {memory: 144115188075855872}}");
    CHECK(exact.findings.empty());
    CHECK(exact.node.allocatable.at("memory") == most);
    const auto above = read("status: {allocatable: {memory: 144115188075855873}}");
    CHECK(above.findings == "f:4:32: warning: status.allocatable.memory: \"144115188075855873\" "
                            "counts as 2^57, the most "
                            "that a node has\n");
    CHECK(above.node.allocatable.at("memory") == most);
    CHECK(read("status:\n  allocatable:\n    cpu: 1e15\n").findings ==
          "f:6:10: warning: status.allocatable.cpu: \"1e15\" counts as 2^57 thousandths, the most "
          "that a "
          "node has\n");
    for (const char* huge : {"2000E", "9Ei", "1e30", "1e300", "12E"})
        CHECK(read(std::string("status: {allocatable: {cpu: ") + huge + "}}")
                  .node.allocatable.at("cpu") == most);
}

TEST_CASE("what is no quantity, or a negative one, is an error") {
    CHECK(read("status: {allocatable: {cpu: -1}}").findings ==
          "f:4:29: status.allocatable.cpu: \"-1\" is negative (expected a quantity of at least "
          "0)\n");
    CHECK(read("status: {capacity: {cpu: 1K}}").findings ==
          "f:4:26: status.capacity.cpu: \"1K\" is not a quantity (expected e.g. 500m, 4, 2Gi)\n");
    CHECK(read("status: {capacity: {cpu: [1]}}").findings ==
          "f:4:26: status.capacity.cpu: found a list, expected a quantity such as 500m, 4 or "
          "16Gi\n");
}

TEST_CASE("taints are read with their effect, a value may be absent") {
    const auto [node, findings] = read(R"(spec:
  unschedulable: true
  taints:
  - {key: a, value: b, effect: NoSchedule, timeAdded: 2024-01-01T00:00:00Z}
  - {key: a, effect: PreferNoSchedule}
  - {key: c, effect: NoExecute}
)");
    CHECK(findings.empty());
    CHECK(node.unschedulable);
    REQUIRE(node.taints.size() == 3);
    CHECK(node.taints[0] == muster::taint{"a", "b", taint_effect::no_schedule});
    CHECK(node.taints[1] == muster::taint{"a", "", taint_effect::prefer_no_schedule});
    CHECK(node.taints[2] == muster::taint{"c", "", taint_effect::no_execute});
    CHECK_FALSE(read("").node.unschedulable);
}

TEST_CASE("a taint without a key or an effect is an error, it never just disappears") {
    CHECK(read("spec: {taints: [{effect: NoSchedule}]}").findings ==
          "f:4:17: spec.taints[0].key: required, but missing\n");
    CHECK(read("spec: {taints: [{key: a}]}").findings ==
          "f:4:17: spec.taints[0].effect: required, but missing\n");
    CHECK(read("spec: {taints: [{key: a, effect: ''}]}").findings ==
          "f:4:34: spec.taints[0].effect: \"\" is not an effect (expected NoSchedule, "
          "PreferNoSchedule or NoExecute)\n");
    CHECK(read("spec: {taints: [{key: a, effect: noSchedule}]}").findings ==
          "f:4:34: spec.taints[0].effect: \"noSchedule\" is not an effect (expected NoSchedule, "
          "PreferNoSchedule or NoExecute)\n");
    CHECK(read("spec: {taints: [5]}").findings ==
          "f:4:17: spec.taints[0]: found 5, expected an object\n");
}

TEST_CASE("fields that a node does not have are warned of, those of its status are not ours") {
    CHECK(read("spec:\n  taint: []\nstatus: {nodeInfo: {}, whatever: 1}\n").findings ==
          "f:5:3: warning: spec.taint: unknown field, ignored (did you mean taints?)\n");
    CHECK(read("stauts: {}").findings ==
          "f:4:1: warning: stauts: unknown field, ignored (did you mean status?)\n");
    CHECK(read("spec: {unschedulable: 'true'}").findings ==
          "f:4:23: spec.unschedulable: found \"true\", expected true or false\n");
}

TEST_CASE("a node lives in no namespace, whatever it says") {
    diagnostics out;
    const auto documents = read_documents("f", "metadata: {name: node, namespace: x}", out);
    reading_context context;
    object_reader root(documents[0], out);
    CHECK(read_node(root, context).metadata.key == object_key{"", "node"});
}

} // namespace codec_node_reader_test
