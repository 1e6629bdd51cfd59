// SPDX-License-Identifier: Apache-2.0
#include <muster/input/cluster_checks.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_cluster_checks_test {

using namespace muster::codec;

namespace {

/// What the checks say, without where.
std::string said(const std::string& text) {
    diagnostics reading;
    const auto documents = read_documents("f", text, reading);
    const manifests objects = read_manifests(documents, {}, reading);
    REQUIRE(reading.findings().empty());
    const object_lookup lookup(objects);
    std::vector<const group_map::value_type*> group_of;
    group_map groups = find_groups(objects, lookup, group_of, reading);
    keep_groups_together(objects, {}, groups, reading);
    diagnostics out;
    check_cluster(objects, groups, "t9k-system", out);
    std::string all;
    for (const diagnostic& each : out.findings()) {
        CHECK(each.level == severity::warning);
        all += each.path + ": " + each.message + "\n";
    }
    return all;
}

std::string node(const std::string& name, const std::string& labels) {
    return "---\n{apiVersion: v1, kind: Node, metadata: {name: " + name + ", labels: {" + labels +
           "}}, status: {allocatable: {pods: 9}}}\n";
}
std::string levels(const std::string& first, const std::string& second) {
    return "---\n{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: t}, "
           "spec: {levels: [{nodeLabel: " +
           first + "}, {nodeLabel: " + second + "}]}}\n";
}
std::string group(const std::string& annotations) {
    return "---\n{apiVersion: scheduler.tensorstack.dev/v1beta1, kind: PodGroup, metadata: "
           "{name: g, annotations: {" +
           annotations + "}}, spec: {minMember: 1, queue: q}}\n";
}
std::string pod(const std::string& labels, const std::string& spec,
                const std::string& requests = "cpu: 1") {
    return "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {" + labels +
           "}}, spec: {" + spec + "containers: [{resources: {requests: {" + requests + "}}}]}}\n";
}
const std::string in_g = "scheduler.tensorstack.dev/group-name: g";
const std::string required = "kai.scheduler/topology-required-placement: ";
const std::string preferred = "kai.scheduler/topology-preferred-placement: ";
const std::string four =
    node("n1", "block: a, rack: r1") + node("n2", "block: a, rack: r2") + node("n3", "block: b");

} // namespace

TEST_CASE("levels from fine to coarse are told from levels that refine one another") {
    CHECK(said(four + levels("rack", "block")) ==
          "spec.levels: level rack stands before block, but each rack lies in one block, so that "
          "both count as the former (expected levels from coarse to fine)\n");
    CHECK(said(four + levels("block", "rack")) == "");
    // Racks of one name in two blocks are two; a rack to a block could be either.
    const std::string same = node("n1", "block: a, rack: r1") + node("n2", "block: a, rack: r2") +
                             node("n3", "block: b, rack: r1");
    CHECK(said(same + levels("block", "rack")) == "");
    CHECK(said(same + levels("rack", "block")) == "");
    const std::string one = node("n1", "block: a, rack: r1") + node("n2", "block: b, rack: r2");
    CHECK(said(one + levels("rack", "block")) == "");
    CHECK(said(one + levels("block", "rack")) == "");
}

TEST_CASE("a preferred level that is no finer than the required one wishes for nothing") {
    const std::string wish = "metadata.annotations: the preferred level block is no finer than "
                             "the required rack, so that it wishes for nothing (expected a finer "
                             "one)\n";
    const std::string named = "kai.scheduler/topology: t, ";
    CHECK(said(four + levels("block", "rack") +
               group(named + required + "rack, " + preferred + "block")) == wish);
    // Without a Topology the nodes tell.
    CHECK(said(four + group(required + "rack, " + preferred + "block")) == wish);
    CHECK(said(four + group(required + "block, " + preferred + "rack")) == "");
    CHECK(said(four + levels("block", "rack") +
               group(named + required + "block, " + preferred + "rack")) == "");
}

TEST_CASE("a pod on a node that nobody describes is told, once for each node") {
    const std::string stands = pod("", "nodeName: ghost, ");
    std::string other = stands;
    other.replace(other.find("name: p"), 7, "name: o");
    CHECK(said(stands + other) ==
          "spec.nodeName: \"ghost\" is no node of the input (expected one; what its pods hold "
          "counts for their queues alone)\n");
    CHECK(said(four + pod("", "nodeName: n1, ")) == "");
    CHECK(said(pod("", "")) == "");
}

TEST_CASE("the queue of a pod's group counts, and another on the pod is told") {
    const std::string own = in_g + ", scheduler.tensorstack.dev/queue: ";
    CHECK(said(group("") + pod(own + "other", "")) ==
          "metadata.labels[scheduler.tensorstack.dev/queue]: \"other\" is not the queue of its "
          "group, which counts (expected \"q\")\n");
    CHECK(said(group("") + pod(own + "q", "")) == "");
    CHECK(said(group("") + pod(in_g, "")) == "");
}

TEST_CASE("a pod without a request that its queue's quota is about is told") {
    const std::string queue =
        "---\n{apiVersion: scheduler.tensorstack.dev/v1beta1, kind: Queue, metadata: {name: q, "
        "namespace: t9k-system}, spec: {quota: {requests: {cpu: 1, nvidia.com/gpu: 1}}}}\n";
    const std::string uses = "scheduler.tensorstack.dev/queue: q";
    CHECK(said("---\n{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}, "
               "spec: {capability: {cpu: 1}}}\n" +
               pod(uses, "", "memory: 1Gi")) == "");
    CHECK(said(queue + pod(uses, "", "memory: 1Gi")) ==
          "spec.containers: no container requests cpu, of which queue q has a quota: it counts as "
          "0 (expected a request)\n");
    CHECK(said(queue + pod(uses, "")) == "");
    CHECK(said(queue + pod("", "", "memory: 1Gi")) == "");
}

} // namespace codec_cluster_checks_test
