// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/numa/node_topology_reader.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_node_topology_reader_test {

using namespace muster::codec;
using muster::numa_policy;
using muster::numa_scope;

namespace {

struct reading {
    node_topology_object object;
    std::string findings;
    std::size_t errors = 0;
};

reading read(const std::string& body, const std::string& metadata = "name: n1") {
    diagnostics out;
    const auto documents =
        read_documents("f",
                       "apiVersion: topology.node.k8s.io/v1alpha2\nkind: NodeResourceTopology\n"
                       "metadata: {" +
                           metadata + "}\n" + body + "\n",
                       out);
    reading made;
    if (documents.size() == 1) {
        object_reader root(documents[0], out);
        reading_context context;
        made.object = read_node_topology(root, context);
    }
    for (const diagnostic& finding : out.findings()) {
        made.findings += to_text(finding) + '\n';
        made.errors += finding.level == severity::error ? 1U : 0U;
    }
    return made;
}

const std::string two_zones =
    "zones: [{name: node-1, type: Node, parent: socket-0, costs: [{name: node-0, value: 20}], "
    "attributes: [{name: a, value: b}], resources: [{name: example.com/gpu, capacity: 2, "
    "allocatable: 2, available: 1}]}, {name: socket-0, type: Socket}, {name: node-0, type: Node, "
    "resources: [{name: cpu, capacity: '4', allocatable: 3500m, available: 3}, {name: memory, "
    "capacity: 2Ki, allocatable: 1Ki, available: 1000}]}]";

std::string attributes(const std::string& policy, const std::string& scope = "") {
    return "attributes: [{name: topologyManagerPolicy, value: " + policy + "}" +
           (scope.empty() ? "" : ", {name: topologyManagerScope, value: " + scope + "}") + "]\n";
}

} // namespace

TEST_CASE("zones are read by number, with cpu in thousandths and all else in units") {
    const reading made = read(attributes("single-numa-node", "pod") + two_zones);
    CHECK(made.findings == "");
    CHECK(made.object.metadata.key.name == "n1");
    REQUIRE(made.object.zones);
    CHECK(made.object.zones->policy == numa_policy::single_numa_node);
    CHECK(made.object.zones->scope == numa_scope::pod);
    CHECK_FALSE(made.object.zones->closed);
    const auto& zones = made.object.zones->zones;
    REQUIRE(zones.size() == 2);
    CHECK(zones[0].id == 0);
    CHECK(zones[0].supplies.at("cpu").capacity == 4000);
    CHECK(zones[0].supplies.at("cpu").allocatable == 3500);
    CHECK(zones[0].supplies.at("cpu").available == 3000);
    CHECK(zones[0].supplies.at("memory").allocatable == 1024);
    CHECK(zones[1].id == 1);
    CHECK(zones[1].supplies.at("example.com/gpu").available == 1);
}

TEST_CASE("a policy that rejects no pod leaves no zones") {
    for (const char* const policy : {"none", "best-effort"})
        CHECK_FALSE(read(attributes(policy) + two_zones).object.zones);
    CHECK_FALSE(read(two_zones).object.zones);
    CHECK_FALSE(
        read("topologyPolicies: [BestEffortPodLevel, Restricted]\n" + two_zones).object.zones);
}

TEST_CASE("of the deprecated policies the first counts, and attributes count more") {
    const auto policy = [](const std::string& named) {
        const reading made = read("topologyPolicies: [" + named + "]\n" + two_zones);
        CHECK(made.findings == "");
        REQUIRE(made.object.zones);
        return std::pair(made.object.zones->policy, made.object.zones->scope);
    };
    CHECK(policy("SingleNUMANodePodLevel") ==
          std::pair(numa_policy::single_numa_node, numa_scope::pod));
    CHECK(policy("SingleNUMANodeContainerLevel, None") ==
          std::pair(numa_policy::single_numa_node, numa_scope::container));
    CHECK(policy("Restricted") == std::pair(numa_policy::restricted, numa_scope::container));
    CHECK(policy("RestrictedContainerLevel") ==
          std::pair(numa_policy::restricted, numa_scope::container));
    CHECK(policy("RestrictedPodLevel") == std::pair(numa_policy::restricted, numa_scope::pod));
    const reading both = read("topologyPolicies: [RestrictedPodLevel]\n" +
                              attributes("single-numa-node") + two_zones);
    CHECK(both.object.zones->policy == numa_policy::single_numa_node);
    CHECK(both.object.zones->scope == numa_scope::pod);
    CHECK_FALSE(read("topologyPolicies: [RestrictedPodLevel]\n" + attributes("none") + two_zones)
                    .object.zones);
}

TEST_CASE("the report is as old as the last write of the zones") {
    const std::string zones = "fieldsV1: {'f:zones': {}}";
    const reading made =
        read(attributes("restricted") + two_zones,
             "name: n1, managedFields: [{manager: a, time: '2026-01-02T03:04:05Z', " + zones +
                 "}, {manager: b, time: '2026-01-02T03:04:06Z', " + zones +
                 "}, {manager: c, time: soon, " + zones + "}, {manager: d, " + zones +
                 "}, 7, {manager: e, time: '2026-01-02T03:04:07Z', fieldsV1: {'f:metadata': "
                 "{'f:labels': {}}}}, {manager: f, time: '2026-01-02T03:04:08Z'}]");
    CHECK(made.findings == "");
    CHECK(made.object.reported == parse_timestamp("2026-01-02T03:04:06Z"));
    CHECK_FALSE(read(two_zones).object.reported);
}

TEST_CASE("managed fields that cannot be read close the node") {
    const reading made =
        read(attributes("restricted") + two_zones, "name: n1, managedFields: null");
    CHECK(made.errors == 0);
    CHECK(made.findings.find("node n1 takes no pods that must be aligned: metadata.managedFields "
                             "cannot be read (expected a list)") != std::string::npos);
    REQUIRE(made.object.zones);
    CHECK(made.object.zones->closed);
    CHECK(read(attributes("none") + two_zones, "name: n1, managedFields: null").findings == "");
}

TEST_CASE("a zone with too many resources closes the node") {
    const auto with = [](int resources) {
        std::string list;
        for (int at = 0; at < resources; ++at)
            list +=
                "{name: r" + std::to_string(at) + ", capacity: 1, allocatable: 1, available: 1}, ";
        return read(attributes("restricted") + "zones: [{name: node-3, type: Node, resources: [" +
                    list + "]}]");
    };
    CHECK(with(256).findings == "");
    CHECK_FALSE(with(256).object.zones->closed);
    CHECK(with(257).findings.find(
              "node n1 has more than 256 resources in NUMA zone 3, and takes no "
              "pods that must be aligned (expected at most 256)") != std::string::npos);
    CHECK(with(257).object.zones->closed);
    CHECK(with(257).object.zones->zones.empty());
}

TEST_CASE("unknown words are ignored with a warning that names the place") {
    CHECK(read(attributes("strict", "process") + two_zones).findings ==
          "f:4:51: warning: attributes[0].value: \"strict\" is not a policy, and is ignored "
          "(expected none, best-effort, restricted or single-numa-node)\n"
          "f:4:96: warning: attributes[1].value: \"process\" is not a scope, and is ignored "
          "(expected container or pod)\n");
    CHECK(read("topologyPolicies: [SingleNUMANode]\n" + two_zones).findings ==
          "f:4:20: warning: topologyPolicies[0]: \"SingleNUMANode\" is not a policy, and counts as "
          "None (expected e.g. SingleNUMANodeContainerLevel or RestrictedPodLevel)\n");
}

TEST_CASE("what is listed twice counts once, and zones without a number take no pods") {
    const std::string zone = "{name: node-0, type: Node, resources: [{name: cpu, capacity: 2, "
                             "allocatable: 2, available: 5}, {name: cpu, capacity: 9, allocatable: "
                             "9, available: 9}]}";
    const reading made = read(attributes("restricted") + "zones: [" + zone + ", " +
                              "{name: node-0, type: Node}, {name: numa1, type: Node}]");
    REQUIRE(made.object.zones->zones.size() == 1);
    CHECK(made.object.zones->zones[0].supplies.at("cpu").available == 2000);
    CHECK(made.findings.find("available: more than is allocatable, which counts (expected at most "
                             "2000)") != std::string::npos);
    CHECK(made.findings.find("resource cpu is listed twice") != std::string::npos);
    CHECK(made.findings.find("zone node-0 is listed twice") != std::string::npos);
    CHECK(made.findings.find("\"numa1\" is not the name of a NUMA node") != std::string::npos);
}

TEST_CASE("more zones than are modelled close the node") {
    std::string zones = "zones: [";
    for (int at = 0; at < 17; ++at)
        zones +=
            (at > 0 ? ", {name: node-" : "{name: node-") + std::to_string(at) + ", type: Node}";
    zones += "]";
    const reading made = read(attributes("restricted") + zones);
    CHECK(made.object.zones->closed);
    CHECK(made.findings.find("node n1 has 17 NUMA zones") != std::string::npos);
    CHECK_FALSE(read(attributes("single-numa-node") + zones).object.zones->closed);
}

TEST_CASE("malformed fields are errors with their places") {
    CHECK(read("zones: [{name: node-0, type: Node, resources: [{name: cpu, capacity: x, "
               "allocatable: 1, available: -1}]}]")
              .findings ==
          "f:4:70: zones[0].resources[0].capacity: \"x\" is not a quantity (expected e.g. "
          "500m, 4, 2Gi)\n"
          "f:4:100: zones[0].resources[0].available: \"-1\" is negative (expected a quantity "
          "of at least 0)\n");
    for (const char* const body :
         {"zones: 7", "zones: [7]", "attributes: {}\nzones: []", "attributes: [{}]\nzones: []",
          "topologyPolicies: [7]\nzones: []", "topologyPolicies: x\nzones: []", "x: 1",
          "zones: [{name: node-0, type: Node, resources: [{name: cpu}]}]", "zones: [{}]"})
        CHECK_MESSAGE(read(body).errors > 0, std::string(body));
}

TEST_CASE("a broken object of a cluster closes its node") {
    diagnostics out;
    auto documents = read_documents(
        "f",
        "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: topology.node.k8s.io/v1alpha1, kind: "
        "NodeResourceTopology, metadata: {name: n1, uid: u}, topologyPolicies: [None], zones: "
        "[]}\n",
        out);
    REQUIRE(documents.size() == 1);
    const manifests objects = read_manifests(documents, {}, out);
    REQUIRE(objects.node_topologies.size() == 1);
    node_topology_object broken = objects.node_topologies[0];
    CHECK_FALSE(broken.zones);
    CHECK(detail::restrict_broken(broken, "why"));
    REQUIRE(broken.zones);
    CHECK(broken.zones->closed);
}

} // namespace codec_node_topology_reader_test
