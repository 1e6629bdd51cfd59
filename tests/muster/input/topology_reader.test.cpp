// SPDX-License-Identifier: Apache-2.0
#include <muster/input/topology_reader.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/input/cluster.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>
#include <muster/muster.hpp>

namespace codec_topology_reader_test {

using namespace muster::codec;

namespace {

const std::string required = "kai.scheduler/topology-required-placement: ";
const std::string preferred = "kai.scheduler/topology-preferred-placement: ";
const std::string topology_a =
    "---\n{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: a}, "
    "spec: {levels: [{nodeLabel: block}, {nodeLabel: rack, alias: r}]}}\n";

std::string node(const std::string& name, int cpus) {
    return "---\n{apiVersion: v1, kind: Node, metadata: {name: " + name +
           ", labels: {block: " + name.substr(0, 1) + ", rack: r" + name.substr(1, 1) +
           "}}, status: {allocatable: {pods: 110, cpu: " + std::to_string(cpus) + "}}}\n";
}

std::string pod_group(const std::string& annotations) {
    return "---\n{apiVersion: scheduler.tensorstack.dev/v1beta1, kind: PodGroup, metadata: "
           "{name: g, annotations: {" +
           annotations + "}}, spec: {minMember: 2}}\n";
}

std::string pod(const std::string& name, const std::string& labels,
                const std::string& annotations = {}) {
    return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", labels: {" + labels +
           "}, annotations: {" + annotations +
           "}}, spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}\n";
}

const std::string in_group = "scheduler.tensorstack.dev/group-name: g";
const std::string in_ack = "pod-group.scheduling.sigs.k8s.io/name: l, "
                           "pod-group.scheduling.sigs.k8s.io/min-available: '2'";

struct outcome {
    std::string nodes;
    std::string answers;
    std::string details;
    std::string findings;
};

outcome plan(const std::string& text, const muster::topology& levels = {}) {
    outcome made;
    diagnostics out;
    const auto documents = read_documents("f", text, out);
    const manifests objects = read_manifests(documents, {}, out);
    cluster_options options;
    options.levels = levels;
    if (auto made_cluster = make_cluster(objects, options, out)) {
        auto& cluster = *made_cluster;
        const auto result = muster::cycle(cluster.state, cluster.now);
        std::map<std::string, std::string> placed;
        for (const muster::decision& each : result.decisions) {
            const auto& facts = cluster.groups.at(cluster.state.key(each.gang));
            made.details += facts.fault_detail + facts.unsupported;
            constexpr const char* kinds[] = {"admitted", "waiting", "never", "undecided"};
            made.answers += kinds[static_cast<std::size_t>(each.outcome.kind)];
            for (const muster::placement& one : each.placements)
                placed[cluster.state.key(one.pod).name] = cluster.state.key(one.node);
        }
        for (const auto& [name, on] : placed)
            made.nodes += on + " ";
    }
    for (const diagnostic& finding : out.findings())
        made.findings += to_text(finding) + '\n';
    return made;
}

/// Three nodes on which two pods fit by racks, by blocks, or not at all.
const std::string nodes = node("a1x", 1) + node("a2x", 1) + node("b1x", 1);
const std::string members = pod("p", in_group) + pod("q", in_group);

} // namespace

TEST_CASE("a PodGroup's annotations keep its members in one domain of the level") {
    CHECK(plan(nodes + pod_group(required + "block") + members).nodes == "a1x a2x ");
    CHECK(plan(nodes + pod_group(required + "rack") + members).nodes == "a1x b1x ");
    CHECK(plan(nodes + pod_group(preferred + "block") + members).nodes == "a1x a2x ");
    CHECK(plan(nodes + pod_group("") + members).nodes == "a1x a2x ");
}

TEST_CASE("levels are those of the Topology that is named, else those that are given") {
    // Racks of one name in two blocks are two.
    CHECK(plan(topology_a + nodes + pod_group("kai.scheduler/topology: a, " + required + "rack") +
               members)
              .answers == "never");
    CHECK(plan(nodes + pod_group(required + "rack") + members, {{"block", "rack"}}).answers ==
          "never");
    CHECK(plan(nodes + pod_group(preferred + "rack") + members, {{"block", "rack"}}).nodes ==
          "a1x a2x ");
}

TEST_CASE("a Topology that the input does not hold makes the members wait with that reason") {
    const outcome made =
        plan(nodes + pod_group("kai.scheduler/topology: b, " + required + "rack") + members);
    CHECK(made.answers == "waiting");
    CHECK(made.details == "Topology b, which the input does not hold");
}

TEST_CASE("a level that its topology does not have makes the group malformed, with a warning") {
    const outcome made = plan(nodes + pod_group(required + "zone") + members, {{"block", "rack"}});
    CHECK(made.answers == "never");
    CHECK(made.findings ==
          "f:8:98: warning: metadata.annotations: kai.scheduler/topology-required-placement: "
          "\"zone\" is no level of its topology (expected one of block rack)\n");
}

TEST_CASE("groups without an object, or whose object says nothing, are asked by their pods") {
    CHECK(plan(nodes + pod("p", in_ack, required + "rack") + pod("q", in_ack, required + "rack"))
              .nodes == "a1x b1x ");
    CHECK(plan(nodes + pod_group("") + pod("p", in_group, required + "rack") +
               pod("q", in_group, required + "rack"))
              .nodes == "a1x b1x ");
    const outcome made =
        plan(nodes + pod("p", in_ack, required + "rack") + pod("q", in_ack, required + "block"));
    CHECK(made.answers == "waiting");
    CHECK(made.details == "pods p and q disagree on their topology");
}

TEST_CASE("T9k's topologyPolicy, which nobody defines, makes the members wait") {
    const outcome made =
        plan(nodes +
             "---\n{apiVersion: scheduler.tensorstack.dev/v1beta1, kind: PodGroup, "
             "metadata: {name: g}, spec: {minMember: 2, topologyPolicy: rack}}\n" +
             members);
    CHECK(made.answers == "waiting");
    CHECK(made.details == "topologyPolicy of its PodGroup");
}

TEST_CASE("a Topology names every level once") {
    diagnostics out;
    const auto documents =
        read_documents("f",
                       "{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: a}, "
                       "spec: {levels: [{nodeLabel: x}, {nodeLabel: x}]}}",
                       out);
    static_cast<void>(read_manifests(documents, {}, out));
    REQUIRE(out.findings().size() == 1);
    CHECK(to_text(out.findings().front())
              .find("spec.levels[1].nodeLabel: \"x\" is there twice (expected every level once)") !=
          std::string::npos);
}

} // namespace codec_topology_reader_test
