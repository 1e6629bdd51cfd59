// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/default_spread.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/input/cluster_input.hpp>
#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_default_spread_test {

using namespace muster::codec;

namespace {

const std::string node = R"(
---
apiVersion: v1
kind: Node
metadata: {name: one, labels: {kubernetes.io/hostname: one, topology.kubernetes.io/zone: z}}
status: {allocatable: {cpu: 8, pods: 20}}
)";

std::string pod(const std::string& metadata, const std::string& spec = {}) {
    return "\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, " + metadata + "}\nspec: {" +
           spec + "containers: [{}]}\n";
}

std::string object(const std::string& kind, const std::string& metadata, const std::string& spec) {
    const bool core = kind == "Service" || kind == "ReplicationController";
    return "\n---\napiVersion: " + std::string(core ? "v1" : "apps/v1") + "\nkind: " + kind +
           "\nmetadata: {" + metadata + "}\nspec: " + spec + "\n";
}

std::string controlled_by(const std::string& version, const std::string& kind,
                          const std::string& more = "controller: true") {
    return "labels: {app: web, rev: '7'}, ownerReferences: [{apiVersion: " + version +
           ", kind: " + kind + ", name: o, uid: u, " + more + "}]";
}

/// The pods that the constraints of the last pod count, or "" without constraints; all of its
/// constraints count the same.
std::string counted(const std::string& yaml, const std::string& nodes = node) {
    diagnostics found;
    const auto documents = read_documents("f", nodes + yaml, found);
    manifest_options how;
    how.rules.default_spread = system_default_spread();
    const manifests read = read_manifests(documents, how, found);
    for (const diagnostic& each : found.findings())
        MESSAGE(to_text(each));
    REQUIRE(found.ok());
    const auto& terms = read.pods.back().where.pods;
    if (!terms || terms->spread.empty())
        return "";
    std::string out;
    for (const auto& each : terms->spread.front().pods.labels.requirements) {
        out += each.key + "=";
        for (const std::string& value : each.values)
            out += value + " ";
    }
    for (const auto& each : terms->spread)
        CHECK(each.pods == terms->spread.front().pods);
    return out;
}

std::vector<muster::spread_term> of_configuration(const std::string& text, std::string& wrong) {
    diagnostics found;
    const auto documents = read_documents("f", text, found);
    REQUIRE(documents.size() == 1);
    auto read = read_default_spread(documents.front(), found);
    for (const diagnostic& each : found.findings())
        wrong += to_text(each) + '\n';
    return read;
}

} // namespace

TEST_CASE("a pod's default constraints count the pods that its Services and controller select") {
    const std::string labels = "labels: {app: web, rev: '7'}";
    const std::string service = object("Service", "name: s", "{selector: {app: web}}");
    CHECK(counted(service + pod(labels)) == "app=web ");
    CHECK(counted(object("Service", "name: s", "{selector: {rev: '7'}}") + service + pod(labels)) ==
          "app=web rev=7 ");
    for (const std::string kind : {"ReplicaSet", "StatefulSet"}) {
        CAPTURE(kind);
        const std::string owner = object(kind, "name: o", "{selector: {matchLabels: {rev: '7'}}}");
        CHECK(counted(owner + pod(controlled_by("apps/v1", kind))) == "rev=7 ");
        CHECK(counted(service + owner + pod(controlled_by("apps/v1", kind))) == "app=web rev=7 ");
    }
    CHECK(counted(object("ReplicationController", "name: o", "{selector: {rev: '7'}}") +
                  pod(controlled_by("v1", "ReplicationController"))) == "rev=7 ");
    CHECK(counted(object("ReplicationController", "name: o",
                         "{template: {metadata: {labels: {rev: '7'}}}}") +
                  pod(controlled_by("v1", "ReplicationController"))) == "rev=7 ");
}

TEST_CASE("a pod that nothing selects has no default constraints") {
    const std::string owner =
        object("ReplicaSet", "name: o", "{selector: {matchLabels: {rev: '7'}}}");
    CHECK(counted(pod("labels: {app: web}")) == "");
    CHECK(counted(object("Service", "name: s", "{selector: {app: db}}") +
                  pod("labels: {app: web}")) == "");
    CHECK(counted(object("Service", "name: s", "{}") + pod("labels: {app: web}")) == "");
    CHECK(counted(object("Service", "name: s, namespace: other", "{selector: {app: web}}") +
                  pod("labels: {app: web}")) == "");
    CHECK(counted(owner + pod(controlled_by("apps/v1", "ReplicaSet", "controller: false"))) == "");
    CHECK(counted(owner + pod(controlled_by("batch/v1", "Job"))) == "");
    CHECK(counted(owner + pod(controlled_by("example.com/v1", "ReplicaSet"))) == "");
}

TEST_CASE("a pod with spread constraints or a node gets no default constraints") {
    const std::string service = object("Service", "name: s", "{selector: {app: web}}");
    CHECK(counted(service + pod("labels: {app: web}", "nodeName: one, ")) == "");
    diagnostics found;
    const std::string own =
        "topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, "
        "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}}], ";
    CHECK(counted(service + pod("labels: {app: web}", own)) == "a=b ");
}

TEST_CASE("a default constraint over a label that no node has is left out") {
    const std::string yaml =
        object("Service", "name: s", "{selector: {app: web}}") + pod("labels: {app: web}");
    CHECK(counted(yaml, "apiVersion: v1\nkind: Node\nmetadata: {name: one}\n") == "");
}

TEST_CASE("without default constraints nothing is added, and Services stay unread") {
    diagnostics found;
    const auto documents = read_documents(
        "f",
        node + object("Service", "name: s", "{selector: {app: web}}") + pod("labels: {app: web}"),
        found);
    const manifests read = read_manifests(documents, {}, found);
    CHECK_FALSE(read.pods.front().where.pods);
    CHECK(read.skipped.at("v1 Service") == 1);
}

TEST_CASE("the objects of a snapshot that hold only a selector select pods and make none") {
    const std::string kinds = "v1/Service,v1/ReplicationController,apps/v1/ReplicaSet,"
                              "apps/v1/StatefulSet";
    const std::string items =
        "items:\n"
        "- {apiVersion: v1, kind: Node, metadata: {name: one, labels: {kubernetes.io/hostname: "
        "one}}}\n"
        "- {apiVersion: v1, kind: Service, metadata: {name: s, uid: a}, spec: {}}\n"
        "- {apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: o, uid: u}, spec: {selector: "
        "{matchLabels: {rev: '7'}}}}\n"
        "- {apiVersion: apps/v1, kind: StatefulSet, metadata: {name: o, uid: v}, spec: {selector: "
        "{matchLabels: {rev: '7'}}}}\n"
        "- {apiVersion: v1, kind: ReplicationController, metadata: {name: o, uid: w}, spec: "
        "{selector: {rev: '7'}}}\n"
        "- {apiVersion: example.com/v1, kind: Thing, metadata: {name: o}}\n"
        "- {apiVersion: v1, kind: Pod, metadata: {name: p, ownerReferences: [{controller: true, "
        "apiVersion: apps/v1, kind: ReplicaSet, name: o, uid: u}]}, spec: {containers: [{}]}}\n";
    const auto read_snapshot = [&](const std::string& listed, bool spread) {
        diagnostics found;
        const auto documents = read_documents(
            "f",
            "apiVersion: v1\nkind: List\nmetadata: {annotations: {muster.dev/listed-kinds: \"" +
                listed + "\"}}\n" + items,
            found);
        gang_options how;
        if (spread)
            how.rules.default_spread = system_default_spread();
        manifests read = read_cluster(documents, how, found);
        for (const diagnostic& each : found.findings())
            MESSAGE(to_text(each));
        CHECK(found.findings().empty());
        CHECK(read.pods.size() == 1);
        CHECK(read.pods.front().where.pods.has_value() == spread);
        return read;
    };
    for (const bool spread : {false, true}) {
        const manifests read = read_snapshot(kinds, spread);
        CHECK(read.lists_spread_owners);
        CHECK(read.skipped.size() == 1);
        CHECK(read.skipped.contains("example.com/v1 Thing"));
    }
    CHECK_FALSE(read_snapshot("v1/Service", true).lists_spread_owners);
}

TEST_CASE("pods that a StatefulSet has yet to create get its default constraints") {
    diagnostics found;
    const auto documents = read_documents(
        "f",
        node + object("StatefulSet", "name: o",
                      "{replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: "
                      "{labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}"),
        found);
    gang_options how;
    how.rules.default_spread = system_default_spread();
    const manifests read = read_cluster(documents, how, found);
    REQUIRE(found.ok());
    REQUIRE(read.pods.size() == 2);
    for (const pod_object& each : read.pods) {
        REQUIRE(each.where.pods);
        CHECK(each.where.pods->spread.size() == 2);
    }
}

TEST_CASE("a configuration defines the default constraints") {
    std::string wrong;
    const std::string head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: "
                             "KubeSchedulerConfiguration\n";
    CHECK(of_configuration(head, wrong) == system_default_spread());
    CHECK(of_configuration(head + "profiles: [{pluginConfig: [{name: PodTopologySpread, args: "
                                  "{defaultingType: System}}]}]\n",
                           wrong) == system_default_spread());
    const auto listed = of_configuration(
        head + "profiles: [{pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List, "
               "defaultConstraints: [{maxSkew: 2, topologyKey: rack, whenUnsatisfiable: "
               "DoNotSchedule}]}}]}]\n",
        wrong);
    REQUIRE(listed.size() == 1);
    CHECK(listed.front().topology == "rack");
    CHECK(listed.front().max_skew == 2);
    CHECK(listed.front().required);
    CHECK(of_configuration("kind: PodTopologySpreadArgs\ndefaultingType: List\n", wrong).empty());
    CHECK(wrong.empty());
}

TEST_CASE("a configuration that kube-scheduler refuses is an error") {
    const auto finding = [](const std::string& text) {
        std::string wrong;
        static_cast<void>(of_configuration(text, wrong));
        return wrong;
    };
    CHECK(finding("kind: Pod\n") ==
          "f:1:7: kind: \"Pod\" has no default constraints (expected KubeSchedulerConfiguration "
          "or PodTopologySpreadArgs)\n");
    CHECK(finding("kind: PodTopologySpreadArgs\ndefaultingType: Own\n") ==
          "f:2:17: defaultingType: \"Own\" is not a type of defaults (expected System or List)\n");
    CHECK(finding("kind: PodTopologySpreadArgs\ndefaultConstraints: [{maxSkew: 1}]\n") ==
          "f:2:21: defaultConstraints: given with the type System (expected defaultingType: "
          "List)\n");
    CHECK(
        finding("kind: PodTopologySpreadArgs\ndefaultingType: List\ndefaultConstraints: [{maxSkew: "
                "1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway, labelSelector: {}}]\n") ==
        "f:3:101: defaultConstraints[0].labelSelector: default constraints select by the pod's own "
        "owners (expected none)\n");
}

} // namespace codec_default_spread_test
