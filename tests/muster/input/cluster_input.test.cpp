// SPDX-License-Identifier: Apache-2.0
#include <muster/input/cluster_input.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "gang_texts.hpp"

namespace codec_cluster_input_test {
namespace {

using namespace muster::codec;

/// An input as a cluster: every declared gang in a line, with its pods at their leaves; pods that
/// are in none, with what is not modelled of them; kinds that were skipped; and the findings.
std::string read(std::string text) {
    diagnostics out;
    const auto documents = read_documents("in", std::move(text), out);
    const manifests objects = read_cluster(documents, {}, out);
    std::string lines;
    std::map<object_key, bool> joined;
    for (const declared_gang& gang : objects.gangs) {
        lines += std::string(to_text(gang.origin)) + " " + gang.kind + " " +
                 gang.metadata.key.name_space + "/" + gang.metadata.key.name + " " +
                 codec_tests::tree_text(gang.tree);
        lines += gang.queue.empty() ? "" : " queue=" + gang.queue;
        lines += gang.priority == 0 ? "" : " priority=" + std::to_string(gang.priority);
        lines += gang.preemptible ? "" : " firm";
        lines += gang.may_preempt ? "" : " patient";
        lines += gang.metadata.created ? " old" : "";
        lines += gang.unsupported.empty() ? "" : " unsupported: " + gang.unsupported;
        lines += gang.fault == muster::gang_fault::none      ? ""
                 : gang.fault == muster::gang_fault::missing ? " missing"
                                                             : " wrong: " + gang.fault_detail;
        for (const auto& [pod, leaf] : gang.members) {
            lines += " " + gang.tree[leaf].name + "/" + pod.name;
            joined[pod] = true;
        }
        lines += "\n";
    }
    for (const pod_group_object& group : objects.pod_groups)
        lines += "t9k " + group.metadata.key.name + " :" + std::to_string(group.min_member) + "\n";
    for (const pod_object& pod : objects.pods)
        if (!joined[pod.metadata.key] || !pod.unsupported.empty()) {
            lines += "pod " + pod.metadata.key.name;
            for (const std::string& each : pod.unsupported)
                lines += " " + each;
            lines += "\n";
        }
    for (const auto& [kind, count] : objects.skipped)
        lines += "skipped " + std::to_string(count) + " " + kind + "\n";
    for (const diagnostic& finding : out.findings())
        lines += to_text(finding) + "\n";
    return lines;
}

std::string pod(const std::string& name, const std::string& metadata = "",
                const std::string& spec = "") {
    return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name +
           (metadata.empty() ? "" : ", ") + metadata + "}, spec: {" + spec +
           (spec.empty() ? "" : ", ") + "containers: [{name: c, image: i}]}}\n";
}
std::string object(const std::string& version, const std::string& kind, const std::string& metadata,
                   const std::string& rest) {
    return "---\n{apiVersion: " + version + ", kind: " + kind + ", metadata: {" + metadata + "}, " +
           rest + "}\n";
}
std::string job(const std::string& name, const std::string& more = "",
                const std::string& metadata = "") {
    return object("batch/v1", "Job", "name: " + name + metadata,
                  "spec: {parallelism: 2, template: {spec: {restartPolicy: Never, containers: "
                  "[{name: c, image: i}]}}}" +
                      more);
}
const std::string group = "annotations: {pod-group-name: g}";

TEST_CASE("objects that are left out describe no pods, make none now, or are not understood") {
    CHECK(reason_to_skip("v1 Service") == skip_reason::describes_no_pods);
    CHECK(reason_to_skip("batch/v1 CronJob") == skip_reason::makes_none_now);
    CHECK(reason_to_skip("flow.volcano.sh/v1alpha1 JobTemplate") == skip_reason::makes_none_now);
    CHECK(reason_to_skip("batch/v1 Job") == skip_reason::makes_none_now);
    CHECK(reason_to_skip("example.com/v1 Thing") == skip_reason::not_understood);
    // Their pods are not known.
    CHECK(reason_to_skip("apps/v1 DaemonSet") == skip_reason::not_understood);
    CHECK(reason_to_skip("argoproj.io/v1alpha1 Workflow") == skip_reason::not_understood);
    CHECK(reason_to_skip("") == skip_reason::not_understood);
}

TEST_CASE("a gang of another API has its own minima, queue, priority and topology") {
    CHECK(read(object("scheduling.run.ai/v2alpha2", "PodGroup",
                      "name: g, creationTimestamp: '2024-05-01T08:00:00Z'",
                      "spec: {minMember: 2, queue: q, priorityClassName: high, preemptibility: "
                      "non-preemptible, topologyConstraint: {requiredTopologyLevel: rack}}") +
               object("scheduling.k8s.io/v1", "PriorityClass", "name: high", "value: 90") +
               pod("a", group) + pod("b", group) + pod("alone")) ==
          "kai PodGroup default/g :2@rack queue=q priority=90 firm old /a /b\npod alone\n");
}

TEST_CASE("T9k's groups and ACK's labels are left to those who read them") {
    const std::string t9k =
        object("scheduler.tensorstack.dev/v1beta1", "PodGroup", "name: t", "spec: {minMember: 1}") +
        pod("of-t9k", "labels: {scheduler.tensorstack.dev/group-name: t}") +
        pod("of-ack", "labels: {pod-group.scheduling.sigs.k8s.io/name: x, "
                      "pod-group.scheduling.sigs.k8s.io/min-available: '1'}") +
        pod("wrong", "labels: {pod-group.scheduling.sigs.k8s.io/name: x}");
    CHECK(read(t9k) == "t9k t :1\npod of-t9k\npod of-ack\npod wrong\n");
    CHECK(read(t9k + object("scheduling.volcano.sh/v1beta1", "PodGroup", "name: v",
                            "spec: {minMember: 1}")) ==
          "volcano PodGroup default/v :1 queue=default\n"
          "t9k t :1\npod of-t9k\npod of-ack\npod wrong\n");
}

TEST_CASE("ACK's name label names a PodGroup object where there is one") {
    const std::string labels = "labels: {pod-group.scheduling.sigs.k8s.io/name: g}";
    CHECK(read(object("scheduling.sigs.k8s.io/v1alpha1", "PodGroup", "name: g",
                      "spec: {minMember: 2}") +
               pod("a", labels) + pod("b", labels)) ==
          "coscheduling PodGroup default/g :2 /a /b\n");
}

TEST_CASE("pods that name a group that is not there wait for it together") {
    CHECK(read(pod("a", group) + pod("b", group) +
               pod("c", "annotations: {scheduling.k8s.io/group-name: v}")) ==
          "kai PodGroup default/g :1 missing /a /b\nvolcano PodGroup default/v :1 missing /c\n");
}

TEST_CASE("a pod that two other gang APIs claim belongs to neither, and says so") {
    CHECK(read(pod("a", "annotations: {pod-group-name: g, scheduling.k8s.io/group-name: v}")) ==
          "pod Pod default/a :1 wrong: scheduling.k8s.io/group-name and pod-group-name both name "
          "its group (expected one gang API) /a\n"
          "in:2:39: warning: metadata: pod a: scheduling.k8s.io/group-name and pod-group-name both "
          "name its group (expected one gang API)\n");
}

TEST_CASE("a group that was made of a PodGang of the input does not count beside it") {
    CHECK(read(object("scheduler.grove.io/v1alpha1", "PodGang", "name: s-0, uid: u",
                      "spec: {podgroups: [{name: a, minReplicas: 2, podReferences: [{namespace: "
                      "default, name: p}, {namespace: default, name: q}]}]}") +
               object("scheduling.run.ai/v2alpha2", "PodGroup",
                      "name: pg-s-0, ownerReferences: [{apiVersion: scheduler.grove.io/v1alpha1, "
                      "kind: PodGang, name: s-0, uid: u}]",
                      "spec: {minMember: 2}") +
               pod("p", "labels: {grove.io/podgang: s-0, grove.io/podclique: a}, "
                        "annotations: {pod-group-name: pg-s-0}") +
               pod("q", "labels: {grove.io/podgang: s-0, grove.io/podclique: a}, "
                        "annotations: {pod-group-name: pg-s-0}")) ==
          "grove PodGang default/s-0 :2(a:2) a/p a/q\n"
          "in:4:1: warning: made by PodGang s-0 of this input, left out\n");
}

TEST_CASE("what is asked of a group and not modelled keeps it waiting") {
    CHECK(read(object("scheduling.volcano.sh/v1beta1", "PodGroup", "name: v",
                      "spec: {minMember: 1, networkTopology: {mode: hard, highestTierAllowed: 1}}"))
              .find("unsupported: networkTopology of its PodGroup") != std::string::npos);
    CHECK(read(object("scheduling.run.ai/v2alpha2", "PodGroup", "name: g",
                      "spec: {minMember: 1, topologyConstraint: {topology: t, "
                      "requiredTopologyLevel: rack}}"))
              .find("unsupported: Topology t, which the input does not hold") != std::string::npos);
}

TEST_CASE("who is told to evict nobody does not") {
    CHECK(read(object("scheduling.k8s.io/v1alpha3", "PodGroup", "name: g",
                      "spec: {schedulingPolicy: {gang: {minCount: 2}}, preemptionPolicy: Never}") +
               pod("a", "", "schedulingGroup: {podGroupName: g}")) ==
          "workload PodGroup default/g :2 patient /a\n");
}

TEST_CASE("a pod in its gang waits for an unknown field of the reference to it") {
    const std::string wait = ": unknown field, and the pod waits because it may say where the pod "
                             "may run (expected a field of Kubernetes 1.37; did you mean ";
    CHECK(read(object("scheduling.k8s.io/v1alpha3", "PodGroup", "name: g",
                      "spec: {schedulingPolicy: {gang: {minCount: 1}}}") +
               pod("a", "", "schedulingGroup: {podGroupName: g, podGroupNames: [h]}")) ==
          "workload PodGroup default/g :1 /a\n"
          "pod a spec.schedulingGroup.podGroupNames\n"
          "in:4:92: warning: spec.schedulingGroup.podGroupNames" +
              wait + "podGroupName?)\n");
    CHECK(read(object("scheduling.k8s.io/v1alpha1", "Workload", "name: w",
                      "spec: {podGroups: [{name: g, policy: {gang: {minCount: 1}}}]}") +
               pod("a", "", "workloadRef: {name: w, podGroup: g, podGroups: [h]}")) ==
          "workload Workload default/w :1 /a\n"
          "pod a spec.workloadRef.podGroups\n"
          "in:4:93: warning: spec.workloadRef.podGroups" +
              wait + "podGroup?)\n");
}

TEST_CASE("a job without pods is planned as those that it would make") {
    const std::string made = read(job("j"));
    // What its controller makes up stands behind the dash.
    CHECK(made.starts_with("job Job default/j :1 /j-"));
    CHECK(std::count(made.begin(), made.end(), '/') == 3);
    CHECK(std::count(made.begin(), made.end(), '\n') == 1);
}

TEST_CASE("a job whose pods name a group that is not there makes pods that wait for it") {
    const std::string made =
        read(object("batch/v1", "Job", "name: j",
                    "spec: {parallelism: 1, template: {metadata: {" + group +
                        "}, spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}"));
    CHECK(made.starts_with("kai PodGroup default/g :1 missing /j-"));
    CHECK(std::count(made.begin(), made.end(), '\n') == 1);
}

TEST_CASE("a job whose pods are there is left to them") {
    const std::string owner =
        "ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j, uid: u, controller: true}]";
    CHECK(read(job("j", "", ", uid: u") + pod("j-x", owner)) == "pod j-x\n");
    // By way of what stands between them, too.
    CHECK(read(object("apps/v1", "Deployment", "name: d, uid: d",
                      "spec: {replicas: 2, template: {spec: {containers: [{name: c}]}}}") +
               object("apps/v1", "ReplicaSet",
                      "name: r, uid: r, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, "
                      "name: d, uid: d, controller: true}]",
                      "spec: {replicas: 2, template: {spec: {containers: [{name: c}]}}}") +
               pod("p", "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: "
                        "r, controller: true}]")) == "pod p\n");
}

TEST_CASE("a job whose pods stand elsewhere is not understood") {
    CHECK(read(job("j", ", status: {active: 1}")) == "skipped 1 batch/v1 Job\n");
    CHECK(read(object("batch/v1", "CronJob", "name: c", "spec: {}")) ==
          "skipped 1 batch/v1 CronJob\n");
}

TEST_CASE("a job that is over or suspended makes no pods") {
    CHECK(read(job("j", ", status: {conditions: [{type: Complete, status: 'True'}]}")) == "");
    CHECK(read(job("j", "", ", deletionTimestamp: '2024-05-01T08:00:00Z'")) == "");
    CHECK(read(object("batch/v1", "Job", "name: j",
                      "spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: "
                      "[{name: c}]}}}")) == "");
}

TEST_CASE("a T9k job makes a PodGroup, or pods for the one that is there already") {
    const std::string generic = object(
        "batch.tensorstack.dev/v1beta1", "GenericJob", "name: j",
        "spec: {scheduler: {t9kScheduler: {queue: q}}, replicaSpecs: [{type: w, replicas: 2, "
        "template: {spec: {containers: [{name: c, image: i}]}}}]}");
    CHECK(read(generic) == "t9k j :2\npod j-w-0\npod j-w-1\n");
    CHECK(read(generic + object("scheduler.tensorstack.dev/v1beta1", "PodGroup", "name: j",
                                "spec: {minMember: 1}")) == "t9k j :1\npod j-w-0\npod j-w-1\n");
}

TEST_CASE("what a T9k job makes is as old as the job, and the input's time is no older") {
    const std::string text = object(
        "batch.tensorstack.dev/v1beta1", "GenericJob",
        "name: j, creationTimestamp: '2024-06-01T00:00:00Z'",
        "spec: {scheduler: {t9kScheduler: {queue: q}}, replicaSpecs: [{type: w, replicas: 1, "
        "template: {spec: {containers: [{name: c, image: i}]}}}]}");
    diagnostics out;
    const auto documents = read_documents("in", text, out);
    const manifests objects = read_cluster(documents, {}, out);
    REQUIRE(objects.pod_groups.size() == 1);
    REQUIRE(objects.newest);
    CHECK(objects.pod_groups[0].metadata.created == objects.newest);
    CHECK(muster::time_text(*objects.newest) == "2024-06-01T00:00:00Z");
    REQUIRE(objects.pods.size() == 1);
    CHECK(objects.pods[0].metadata.created == objects.newest);
}

TEST_CASE("jobs of one name are told apart by their kinds") {
    const std::string set =
        object("jobset.x-k8s.io/v1alpha2", "JobSet", "name: j",
               "spec: {replicatedJobs: [{name: r, template: {spec: {template: {spec: "
               "{restartPolicy: Never, containers: [{name: c, image: i}]}}}}}]}");
    const std::string both = read(job("j") + set);
    CHECK(both.find("job Job default/j (Job) :1") != std::string::npos);
    CHECK(both.find("job JobSet default/j (JobSet) ") != std::string::npos);
}

} // namespace
TEST_CASE("claims that a StatefulSet makes count where the input holds or lists claims") {
    const auto claims = [](const std::string& text) {
        diagnostics out;
        const auto documents = read_documents("in", text, out);
        std::string names;
        for (const claim_object& each : read_cluster(documents, {}, out).storage.claims)
            names += each.metadata.key.name + " ";
        return names;
    };
    const std::string set =
        "---\n{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {replicas: 2, "
        "serviceName: x, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, "
        "spec: {containers: [{name: c, image: i, volumeMounts: [{name: data, mountPath: /}]}]}}, "
        "volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], "
        "resources: {requests: {storage: 1Gi}}}}]}}\n";
    const std::string one = "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: "
                            "data-s-0}, spec: {}}\n";
    CHECK(claims(set) == "");
    CHECK(claims(set + one) == "data-s-0 data-s-1 ");
    CHECK(claims(set + "---\n{apiVersion: v1, kind: PersistentVolumeClaimList, items: []}\n") ==
          "data-s-0 data-s-1 ");
}

TEST_CASE("invalid words of a gang's metadata make only that gang of a cluster wait") {
    std::string long_list = "[";
    for (int at = 0; at < 257; ++at)
        long_list += std::string(at == 0 ? "" : ",") + "\"ns/g" + std::to_string(at) + "\"";
    const std::string prefix = "gang.scheduling.koordinator.sh/";
    const std::string q = pod("q", "namespace: ns");
    for (const auto& [key, value, wrong] :
         {std::array<std::string, 3>{"groups", long_list + "]",
                                     "groups: lists too many gangs (expected at most 256)"},
          {"groups", R"(["ns/g1","ns/g2"])",
           "groups: the gang ns/g0 is not in its own list (expected it there)"},
          {"waiting-time", "long",
           R"(waiting-time: "long" (expected a duration such as 90s or 10m))"}}) {
        const std::string mark = prefix + key + ": '" + value + "'";
        for (const std::string& text :
             {object("scheduling.sigs.k8s.io/v1alpha1", "PodGroup",
                     "name: g0, namespace: ns, annotations: {" + mark + "}",
                     "spec: {minMember: 1}") +
                  pod("p", "namespace: ns, labels: {pod-group.scheduling.sigs.k8s.io: g0}"),
              pod("p", "namespace: ns, annotations: {" + mark + ", " + prefix + "name: g0, " +
                           prefix + "min-available: '1'}")}) {
            const std::string lines = read(text + q);
            CAPTURE(lines);
            CHECK(lines.starts_with("coscheduling PodGroup ns/g0 :1 wrong: " + prefix + wrong +
                                    " /p\npod q\nin:"));
            CHECK(lines.ends_with("warning: metadata: " + prefix + wrong + "\n"));
        }
    }
}

TEST_CASE("an unknown field of a job's template is one warning with its place, and the pods wait") {
    const std::string spec = "nodeselector: {a: b}, containers: [{name: c, comand: [x], resources: "
                             "{request: {cpu: 1}}}]";
    const std::string waits = ": unknown field, and the pod waits because it may say where the pod "
                              "may run (expected a field of Kubernetes 1.37; did you mean ";
    struct maker {
        std::string text;
        std::string path;
    };
    for (const maker& each :
         {maker{object("batch.tensorstack.dev/v1beta1", "GenericJob", "name: j",
                       "spec: {replicaSpecs: [{type: w, replicas: 2, template: {spec: {" + spec +
                           "}}}]}"),
                "spec.replicaSpecs[0].template.spec."},
          maker{object("batch/v1", "Job", "name: j",
                       "spec: {parallelism: 2, completions: 2, template: {spec: {restartPolicy: "
                       "Never, " +
                           spec + "}}}"),
                "spec.template.spec."}}) {
        const std::string lines = read(each.text);
        CAPTURE(lines);
        const auto count = [&](const std::string& of) {
            std::size_t found = 0;
            for (std::size_t at = lines.find(of); at != std::string::npos;
                 at = lines.find(of, at + 1))
                ++found;
            return found;
        };
        CHECK(count("unknown field") == 3);
        CHECK(count("warning: " + each.path + "nodeselector" + waits + "nodeSelector?)") == 1);
        CHECK(count("warning: " + each.path + "containers[0].resources.request" + waits +
                    "requests?)") == 1);
        CHECK(count("warning: " + each.path + "containers[0].comand: unknown field, ignored") == 1);
        // With the line and column of the field.
        const auto column = std::to_string(each.text.find("nodeselector") - 3);
        CHECK(count("in:2:" + column + ": warning: " + each.path + "nodeselector") == 1);
        CHECK(count(" spec.containers[0].resources.request spec.nodeselector\n") == 2);
    }
}

TEST_CASE("an unknown field of two templates is a warning for each") {
    const std::string spec = "template: {spec: {nodeselector: {a: b}, containers: [{name: c}]}}";
    const std::string lines =
        read(object("batch.tensorstack.dev/v1beta1", "GenericJob", "name: j",
                    "spec: {replicaSpecs: [{type: v, " + spec + "}, {type: w, " + spec + "}]}"));
    CHECK(
        lines.find("spec.replicaSpecs[0].template.spec.nodeselector: unknown field, and the pod") !=
        std::string::npos);
    CHECK(
        lines.find("spec.replicaSpecs[1].template.spec.nodeselector: unknown field, and the pod") !=
        std::string::npos);
}

} // namespace codec_cluster_input_test
