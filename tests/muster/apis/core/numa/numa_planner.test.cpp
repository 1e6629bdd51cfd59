// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/numa/numa_planner.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/core/claims/device_assignment.hpp>
#include <muster/apis/core/numa/numa_text.hpp>
#include <muster/apis/core/numa/numa_words.hpp>
#include <muster/cycle/cycle.hpp>
#include <muster/input/cluster.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_numa_planner_test {

using namespace muster::codec;

namespace {

std::string node(const std::string& name) {
    return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name +
           "}\nstatus: {allocatable: {cpu: 64, memory: 64Gi, pods: 110, example.com/gpu: 8}}\n";
}
/// Zones with these available CPUs, of 8 each, and one GPU each.
std::string topology(const std::string& name, const std::vector<int>& cpus,
                     const std::string& policy = "single-numa-node",
                     const std::string& metadata = "") {
    std::string text = "---\napiVersion: topology.node.k8s.io/v1alpha2\nkind: "
                       "NodeResourceTopology\nmetadata: {name: " +
                       name + metadata +
                       "}\nattributes: [{name: topologyManagerPolicy, value: " + policy +
                       "}]\nzones:\n";
    for (std::size_t at = 0; at < cpus.size(); ++at)
        text += "- {name: node-" + std::to_string(at) +
                ", type: Node, resources: [{name: cpu, capacity: 8, allocatable: 8, available: " +
                std::to_string(cpus[at]) +
                "}, {name: example.com/gpu, capacity: 1, allocatable: 1, available: 1}]}\n";
    return text;
}
std::string pod(const std::string& name, const std::string& limits, const std::string& more = "",
                const std::string& status = "") {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec: {" + more +
           "containers: [{name: c, image: i, resources: {limits: {" + limits + "}}}]}\nstatus: {" +
           status + "}\n";
}

struct world {
    explicit world(const std::string& text)
        : documents(read_documents("f", text, out)), objects(read_manifests(documents, {}, out)) {
        for (const diagnostic& each : out.findings())
            FAIL_CHECK(to_text(each));
    }
    diagnostics out;
    std::vector<document> documents;
    manifests objects;
};

/// Returns "pod=node " of the pods with nodes. The plan must pass its own check.
std::string placed(const std::string& text) {
    world of(text);
    auto cluster = make_cluster<muster::max_kinds>(of.objects, {}, of.out);
    static_cast<void>(muster::cycle(cluster.state, cluster.now));
    std::string made;
    device_assignment::placements placements;
    for (const auto& [key, pod] : cluster.state.pod_keys())
        if (cluster.state[pod].node) {
            const std::string& to = cluster.state.key(*cluster.state[pod].node);
            made += key.name + "=" + to + " ";
            placements.emplace(key, to);
        }
    CHECK(device_assignment(of.objects, placements, {}).misaligned().empty());
    return made;
}

const std::string six = "cpu: 6, memory: 1Gi";

} // namespace

TEST_CASE("a pod goes where a zone has room, and nodes without zones restrict nothing") {
    const std::string pods = pod("p", six);
    CHECK(placed(node("a") + topology("a", {4, 4}) + pods) == "");
    CHECK(placed(node("a") + topology("a", {4, 6}) + pods) == "p=a ");
    CHECK(placed(node("a") + topology("a", {4, 4}) + node("b") + pods) == "p=b ");
    CHECK(placed(node("a") + topology("a", {4, 4}, "best-effort") + pods) == "p=a ");
    CHECK(placed(node("a") + topology("b", {4, 4}) + pods) == "p=a ");
}

TEST_CASE("pods that are placed together must fit in every order") {
    const std::string two = pod("p", six) + pod("q", six);
    CHECK(placed(node("a") + topology("a", {8, 8}) + two) == "p=a q=a ");
    CHECK(placed(node("a") + topology("a", {8, 4}) + two) == "p=a ");
    // The small pod would take the first zone if it came first.
    const std::string unlike = pod("p", six) + pod("q", "cpu: 4, memory: 1Gi");
    CHECK(placed(node("a") + topology("a", {6, 4}) + unlike) == "p=a ");
    CHECK(placed(node("a") + topology("a", {6, 4}) + node("b") + topology("b", {4}) + unlike) ==
          "p=a q=b ");
}

TEST_CASE("a pod that is not Guaranteed is aligned by its devices only") {
    CHECK(placed(node("a") + topology("a", {0, 0}) + pod("p", "cpu: 6")) == "p=a ");
    CHECK(placed(node("a") + topology("a", {0, 0}) + pod("p", "cpu: 6, example.com/gpu: 1")) ==
          "p=a ");
    CHECK(placed(node("a") + topology("a", {0, 0}) + pod("p", "cpu: 6, example.com/gpu: 2")) == "");
    CHECK(placed(node("a") + topology("a", {8, 8}, "restricted") +
                 pod("p", "cpu: 6, example.com/gpu: 2")) == "p=a ");
}

TEST_CASE("standing pods are in the report, unless they started after it") {
    const std::string at = ", managedFields: [{time: '2026-01-01T00:00:10Z', "
                           "fieldsV1: {'f:zones': {}}}]";
    const auto with = [&](const std::string& status, const std::string& metadata) {
        return placed(node("a") + topology("a", {8}, "single-numa-node", metadata) +
                      pod("old", six, "nodeName: a, ", "phase: Running, " + status) +
                      pod("p", six));
    };
    CHECK(with("startTime: '2026-01-01T00:00:10Z'", at) == "old=a p=a ");
    CHECK(with("startTime: '2026-01-01T00:00:11Z'", at) == "old=a ");
    CHECK(with("", at) == "old=a ");
    CHECK(with("startTime: '2026-01-01T00:00:11Z'", "") == "old=a p=a ");
}

TEST_CASE("if no waiting pod aligns anything, nothing is planned") {
    const world of(node("a") + topology("a", {8}) + pod("p", "cpu: 6") +
                   pod("old", six, "nodeName: a, ", "phase: Running"));
    volume_plan made;
    std::vector<const node_object*> nodes{&of.objects.nodes[0]};
    std::vector<const pod_object*> pods{&of.objects.pods[0], &of.objects.pods[1]};
    std::vector<const node_topology_object*> topologies{&of.objects.node_topologies[0]};
    numa_planner(nodes, pods, topologies).plan(made);
    CHECK(made.stocks.empty());
    CHECK_FALSE(made.judge);
    // A moved pod could not be aligned elsewhere.
    REQUIRE(made.pods.size() == 1);
    CHECK(made.pods.at({"default", "old"}).is_aligned);
}

TEST_CASE("standing pods that some kubelet would have to align are not moved") {
    const auto is_tied = [](const std::string& policy, const std::string& limits) {
        world of(node("a") + node("b") + topology("b", {8}, policy) +
                 pod("old", limits, "nodeName: a, ", "phase: Running"));
        const auto cluster = make_cluster<muster::max_kinds>(of.objects, {}, of.out);
        const auto& [key, old] = *cluster.state.pod_keys().begin();
        return cluster.state.where(old).value.tied_to_node;
    };
    CHECK(is_tied("single-numa-node", six));
    CHECK(is_tied("restricted", "cpu: 1, example.com/gpu: 1"));
    CHECK_FALSE(is_tied("single-numa-node", "cpu: 6"));
    CHECK_FALSE(is_tied("single-numa-node", "cpu: 1, example.com/nic: 1"));
    CHECK_FALSE(is_tied("best-effort", six));
}

TEST_CASE("the texts of demands and zones differ whatever the names of resources are") {
    const auto demand = [](muster::numa_amounts amounts) {
        return numa_text(muster::numa_demand{{amounts}, amounts, false});
    };
    CHECK(demand({{"a", 1}, {"b", 2}}) != demand({{"a=1 b", 2}}));
    const auto zones = [](std::vector<muster::numa_zone> all) {
        muster::numa_zones made;
        made.zones = std::move(all);
        return numa_text(made);
    };
    const muster::numa_supply one{1, 1, 1};
    CHECK(zones({{0, {{"a", one}, {"b", one}}}}) != zones({{0, {{"a=1,1,1 b", one}}}}));
    CHECK(zones({{0, {{"a", one}}}, {1, {{"b", one}}}}) != zones({{0, {{"a=1,1,1 \nb", one}}}}));
}

TEST_CASE("a closed node takes no pod that must be aligned") {
    world of(node("a") + topology("a", {8}) + pod("p", six) + pod("q", "cpu: 1"));
    of.objects.node_topologies[0].zones->closed = true;
    auto cluster = make_cluster<muster::max_kinds>(of.objects, {}, of.out);
    static_cast<void>(muster::cycle(cluster.state, cluster.now));
    for (const auto& [key, pod] : cluster.state.pod_keys())
        CHECK(cluster.state[pod].node.has_value() == (key.name == "q"));
}

TEST_CASE("the check finds pods that a kubelet can reject") {
    const world of(node("a") + topology("a", {6, 4}) + pod("p", six) +
                   pod("q", "cpu: 4, memory: 1Gi"));
    const device_assignment::placements both{{{"default", "p"}, "a"}, {{"default", "q"}, "a"}};
    CHECK(device_assignment(of.objects, both, {}).misaligned() == std::set<std::string>{"a"});
    const device_assignment::placements one{{{"default", "p"}, "a"}};
    CHECK(device_assignment(of.objects, one, {}).misaligned().empty());
}

TEST_CASE("the words name policy, resources and room of up to three nodes") {
    std::string text = pod("p", six + ", example.com/gpu: 1");
    for (const char* const name : {"a", "b", "c", "d"})
        text +=
            node(name) + topology(name, {4, 2}, *name == 'b' ? "restricted" : "single-numa-node");
    world of(text);
    const volume_plan plan = plan_volumes(of.objects, of.out);
    const volumes_of_pods pods{{"p", plan.find({"default", "p"})}};
    CHECK(numa_share_of(pods, plan) == numa_share::all);
    CHECK(numa_room_text(pods, plan) ==
          "a (single-numa-node): cpu 4 + 2, example.com/gpu 1 + 1; b (restricted): cpu 4 + 2, "
          "example.com/gpu 1 + 1; c (single-numa-node): cpu 4 + 2, example.com/gpu 1 + 1 (+1 "
          "node)");
}

} // namespace codec_numa_planner_test
