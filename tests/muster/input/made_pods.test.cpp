// SPDX-License-Identifier: Apache-2.0
// What the controllers and webhooks of workloads add to pods decides where pods that do not exist
// yet may stand.
#include <muster/input/cluster_input.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/cycle/cycle.hpp>
#include <muster/document/sha1_text.hpp>
#include <muster/input/cluster.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_made_pods_test {
namespace {

using namespace muster::codec;

/// The nodes on which pods of the input start, once each, in order; then what waits or is wrong.
std::string plan(const std::string& text) {
    diagnostics out;
    const auto documents = read_documents("in", text, out);
    const manifests objects = read_cluster(documents, {}, out);
    for (const diagnostic& each : out.findings())
        if (each.level == severity::error)
            return to_text(each);
    auto made = make_cluster<8>(objects, {}, out);
    const auto result = muster::cycle(made.state, 0);
    std::multiset<std::string> nodes;
    std::string waits;
    for (const muster::decision& each : result.decisions) {
        for (const muster::placement& one : each.placements)
            nodes.insert(made.state.key(one.node));
        if (each.outcome.kind != muster::answer::admitted)
            waits += each.outcome.kind == muster::answer::never ? "never " : "waits ";
    }
    std::string lines;
    for (const std::string& node : nodes)
        lines += node + " ";
    return lines + waits;
}

std::string nodes(const std::string& names, const std::string& label) {
    std::string made;
    for (const char name : names)
        made += "---\n{apiVersion: v1, kind: Node, metadata: {name: " + std::string(1, name) +
                ", labels: {kubernetes.io/hostname: " + name + ", " + label + ": of-" + name +
                "}}, status: {allocatable: {cpu: 4, pods: 110}}}\n";
    return made;
}

std::string apart_by(const std::string& key, const std::string& value) {
    return "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
           "[{labelSelector: {matchLabels: {" +
           key + ": " + value + "}}, topologyKey: kubernetes.io/hostname}]}}, ";
}

std::string grove_set(const std::string& apart) {
    return "---\n{apiVersion: grove.io/v1alpha1, kind: PodCliqueSet, metadata: {name: s}, spec: "
           "{replicas: 1, template: {cliques: [{name: w, spec: {roleName: w, replicas: 2, podSpec: "
           "{" +
           apart + "containers: [{name: c, image: x}]}}}]}}}\n";
}

std::string job_set(const std::string& metadata, const std::string& name = "js") {
    return "---\n{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: " + name +
           metadata +
           "}, spec: {replicatedJobs: [{name: w, replicas: 2, template: {spec: {parallelism: 2, "
           "completions: 2, template: {spec: {containers: [{name: c, image: x}]}}}}}]}}\n";
}
const std::string exclusive_jobs =
    ", annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: pool";

std::string worker_set(const std::string& metadata, const std::string& size = "2",
                       const std::string& more = {}) {
    return "---\n{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name: "
           "lws, annotations: {" +
           metadata + "}}, spec: {replicas: 2, leaderWorkerTemplate: {size: " + size + ", " + more +
           "workerTemplate: {spec: {containers: [{name: c, image: x}]}}}}}\n";
}

} // namespace

TEST_CASE("labels that name the gang of a pod which is still to be made count for affinity") {
    for (const std::string key : {"grove.io/podclique", "grove.io/podgang"}) {
        const std::string set = grove_set(apart_by(key, key.ends_with("gang") ? "s-0" : "s-0-w"));
        CHECK(plan(nodes("ab", "pool") + set) == "a b ");
        CHECK(plan(nodes("a", "pool") + set) == "never ");
    }
    CHECK(plan(nodes("a", "pool") + grove_set("")) == "a a ");
    const std::string mark = "scheduling.x-k8s.io/pod-group";
    const std::string job =
        "---\n{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: g}, "
        "spec: "
        "{minMember: 2}}\n"
        "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {parallelism: 2, "
        "completions: 2, template: {metadata: {labels: {" +
        mark + ": g}}, spec: {" + apart_by(mark, "g") + "containers: [{name: c, image: x}]}}}}\n";
    CHECK(plan(nodes("ab", "pool") + job) == "a b ");
    CHECK(plan(nodes("a", "pool") + job) == "never ");
}

TEST_CASE("a pod whose name is generated joins the group that its label names") {
    const std::string pod = "---\n{apiVersion: v1, kind: Pod, metadata: {generateName: p-, labels: "
                            "{scheduling.x-k8s.io/pod-group: g}}, spec: {containers: [{name: c, "
                            "image: x}]}}\n";
    CHECK(plan(nodes("a", "pool") + pod) == "waits ");
    CHECK(plan(nodes("a", "pool") + pod + pod +
               "---\n{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: "
               "g}, spec: {minMember: 2}}\n") == "a a ");
}

TEST_CASE("the Jobs of an exclusive JobSet are alone in their domains") {
    CHECK(plan(nodes("ab", "pool") + job_set(exclusive_jobs + "}")) == "a a b b ");
    CHECK(plan(nodes("a", "pool") + job_set(exclusive_jobs + "}")) == "never ");
    CHECK(plan(nodes("a", "pool") + job_set("")) == "a a a a ");
    // A pod of another JobSet stands in the domain, whatever its namespace.
    const std::string other =
        "---\n{apiVersion: v1, kind: Pod, metadata: {name: x, namespace: else, uid: u, labels: "
        "{jobset.sigs.k8s.io/job-key: k}}, spec: {nodeName: a, containers: [{name: c, image: x}]}, "
        "status: {phase: Running}}\n";
    CHECK(plan(nodes("ab", "pool") + other + job_set(exclusive_jobs + "}")) == "waits ");
    CHECK(plan(nodes("abc", "pool") + other + job_set(exclusive_jobs + "}")) == "b b c c ");
}

TEST_CASE("a Job that is alone in its domain is apart from Jobs that need not be alone") {
    const std::string plain = job_set("", "other");
    // Two domains for the exclusive Jobs, one for all others.
    CHECK(plan(nodes("abc", "pool") + job_set(exclusive_jobs + "}") + plain).find("waits") ==
          std::string::npos);
    CHECK(plan(nodes("ab", "pool") + job_set(exclusive_jobs + "}") + plain).find("waits") !=
          std::string::npos);
}

TEST_CASE("exclusive Jobs whose topology annotations say something else are alone with all pods") {
    const std::string elsewhere = exclusive_jobs + "}, labels: {x: z}";
    std::string set = job_set(elsewhere);
    const std::string at = "template: {spec: {parallelism: 2";
    set.replace(set.find(at), at.size(),
                "template: {metadata: {annotations: {kai.scheduler/topology-preferred-placement: "
                "kubernetes.io/hostname}}, spec: {parallelism: 2");
    CHECK(plan(nodes("ab", "pool") + set) == "a a b b ");
    CHECK(plan(nodes("a", "pool") + set) == "never ");
}

TEST_CASE("a JobSet that selects nodes by the names of its Jobs goes where they are labelled") {
    const std::string by_label =
        exclusive_jobs + ", alpha.jobset.sigs.k8s.io/node-selector: \"true\"}";
    CHECK(plan(nodes("ab", "pool") + job_set(by_label)) == "never ");
    const auto labelled = [](const std::string& name, const std::string& job) {
        return "---\n{apiVersion: v1, kind: Node, metadata: {name: " + name +
               ", labels: {pool: " + name + ", alpha.jobset.sigs.k8s.io/namespaced-job: default_" +
               job +
               "}}, spec: {taints: [{key: alpha.jobset.sigs.k8s.io/no-schedule, value: \"true\", "
               "effect: NoSchedule}]}, status: {allocatable: {cpu: 4, pods: 110}}}\n";
    };
    CHECK(plan(labelled("a", "js-w-1") + labelled("b", "js-w-0") + job_set(by_label)) ==
          "a a b b ");
}

TEST_CASE("the groups, or segments, of an exclusive LeaderWorkerSet are alone in their domains") {
    const std::string whole = "leaderworkerset.sigs.k8s.io/exclusive-topology: pool";
    CHECK(plan(nodes("ab", "pool") + worker_set(whole)) == "a a b b ");
    CHECK(plan(nodes("a", "pool") + worker_set(whole)).find("waits") != std::string::npos);
    CHECK(plan(nodes("a", "pool") + worker_set("")) == "a a a a ");
    const std::string part = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology: pool";
    const std::string segments = "subGroupPolicy: {subGroupSize: 2}, ";
    CHECK(plan(nodes("abcd", "pool") + worker_set(part, "4", segments)) == "a a b b c c d d ");
    CHECK(plan(nodes("abc", "pool") + worker_set(part, "4", segments)).find("waits") !=
          std::string::npos);
}

TEST_CASE("claims that a workload creates in a class that binds at once hold no pod") {
    const std::string storage =
        "---\n{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, "
        "provisioner: csi.example.com, volumeBindingMode: Immediate}\n"
        "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: other, uid: u}, spec: "
        "{storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: "
        "1Gi}}}}\n";
    const std::string set =
        "---\n{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: ss}, spec: {replicas: 1, "
        "serviceName: ss, selector: {matchLabels: {a: b}}, volumeClaimTemplates: [{metadata: "
        "{name: data}, spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: "
        "{requests: {storage: 1Gi}}}}], template: {metadata: {labels: {a: b}}, spec: {containers: "
        "[{name: c, image: x}]}}}}\n";
    CHECK(plan(nodes("a", "pool") + storage + set) == "a ");
    // A claim of the input itself is there, and is not bound.
    CHECK(
        plan(nodes("a", "pool") + storage +
             "---\n{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, "
             "image: x}], volumes: [{name: v, persistentVolumeClaim: {claimName: other}}]}}\n") ==
        "waits ");
}

TEST_CASE("KAI's Topology for a Grove set follows from the binding, without which the set waits") {
    const std::string set =
        "---\n{apiVersion: grove.io/v1alpha1, kind: PodCliqueSet, metadata: {name: s}, spec: "
        "{replicas: 1, template: {topologyConstraint: {topologyName: t, pack: {required: rack}}, "
        "cliques: [{name: w, spec: {roleName: w, replicas: 2, podSpec: {containers: [{name: c, "
        "image: x, resources: {requests: {cpu: 3}}}]}}}]}}}\n";
    const std::string binding =
        "---\n{apiVersion: grove.io/v1alpha1, kind: ClusterTopologyBinding, metadata: {name: t}, "
        "spec: {levels: [{domain: rack, key: rack-label}, {domain: host, key: "
        "kubernetes.io/hostname}]}}\n";
    const std::string kai =
        "---\n{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: t}, spec: "
        "{levels: [{nodeLabel: rack-label}, {nodeLabel: kubernetes.io/hostname}]}}\n";
    std::string two = nodes("a", "rack-label") + nodes("b", "rack-label");
    CHECK(plan(two + binding + set) == "never ");
    two.replace(two.find("of-b"), 4, "of-a");
    CHECK(plan(two + binding + set) == "a b ");
    CHECK(plan(two + binding + kai + set) == "a b ");
    CHECK(plan(two + kai + set) == "waits ");
    CHECK(plan(two + set) == "waits ");
}

TEST_CASE("the SHA-1 of a text is written in hexadecimal digits") {
    CHECK(muster::translate::sha1_text("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    CHECK(muster::translate::sha1_text("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d");
}

} // namespace codec_made_pods_test
