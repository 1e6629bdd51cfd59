// SPDX-License-Identifier: Apache-2.0
#include <muster/input/gang_reader.hpp>

#include <string>

#include <doctest/doctest.h>

#include "gang_texts.hpp"

namespace codec_gang_reader_test {
namespace {

using namespace codec_tests;

/// A pod in one line, with further fields of its metadata and spec.
std::string pod(const std::string& name, const std::string& metadata = "",
                const std::string& spec = "") {
    return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name +
           (metadata.empty() ? "" : ", ") + metadata + "}, spec: {" + spec +
           (spec.empty() ? "" : ", ") + "containers: [{name: c, image: i}]}}\n";
}

std::string labelled(const std::string& name, const std::string& labels) {
    return pod(name, "labels: {" + labels + "}");
}
std::string annotated(const std::string& name, const std::string& annotations) {
    return pod(name, "annotations: {" + annotations + "}");
}

const std::string t9k = "---\napiVersion: scheduler.tensorstack.dev/v1beta1\nkind: PodGroup\n";

TEST_CASE("a T9k PodGroup has its roles as leaves, and its pods by their role label") {
    const std::string group = "scheduler.tensorstack.dev/group-name: g";
    CHECK(gangs_of(t9k +
                   "metadata: {name: g}\nspec: {minMember: 3, queue: q, priority: 7, "
                   "roles: [{name: ps, minMember: 1}, {name: w, minMember: 2}]}\n" +
                   labelled("a", group + ", scheduler.tensorstack.dev/role: w") +
                   labelled("b", group + ", scheduler.tensorstack.dev/role: ps") +
                   labelled("c", group)) ==
          "PodGroup default/g :3(ps:1 w:2 :0) queue=q priority=7 psx1 wx1 x1 | w/a ps/b /c\n");
}

TEST_CASE("without minMember a T9k PodGroup asks for its roles' minima, but for one at least") {
    CHECK(gangs_of(t9k +
                   "metadata: {name: g}\nspec: {roles: [{name: a, minMember: 2}, "
                   "{name: b}]}\n" +
                   t9k + "metadata: {name: h}\nspec: {}\n") ==
          "PodGroup default/g :2(a:2 b:0)\nPodGroup default/h :1\n");
}

TEST_CASE("roles that only pods name are leaves without a minimum") {
    const std::string group = "scheduler.tensorstack.dev/group-name: g";
    const std::string object = t9k + "metadata: {name: g}\nspec: {minMember: 2}\n";
    CHECK(gangs_of(object + labelled("a", group + ", scheduler.tensorstack.dev/role: w") +
                   labelled("b", group + ", scheduler.tensorstack.dev/role: ps")) ==
          "PodGroup default/g :2(w:0 ps:0) wx1 psx1 | w/a ps/b\n");
    CHECK(gangs_of(object + labelled("a", group + ", scheduler.tensorstack.dev/role: w")) ==
          "PodGroup default/g w:2 wx1 | w/a\n");
}

TEST_CASE("a pod without a group is a gang of one, and its queue is the gang's") {
    CHECK(gangs_of(labelled("a", "scheduler.tensorstack.dev/queue: q") + pod("b")) ==
          "Pod default/a :1 queue=q x1 | /a\nPod default/b :1 x1 | /b\n");
}

TEST_CASE("a pod never joins a group of another namespace") {
    CHECK(gangs_of(t9k + "metadata: {name: g, namespace: other}\nspec: {minMember: 1}\n" +
                   labelled("a", "scheduler.tensorstack.dev/group-name: g")) ==
          "PodGroup other/g :1\n"
          "PodGroup default/g :1 x1 | /a\n"
          "in:7:1: warning: the input does not hold the group \"g\" that pods name: its 1 pod "
          "stands for its minimum (expected its object)\n");
}

TEST_CASE("a pod in groups of two gang APIs is an error") {
    CHECK(gangs_of(t9k + "metadata: {name: g}\nspec: {minMember: 1}\n" +
                   pod("a", "labels: {scheduler.tensorstack.dev/group-name: g}, annotations: "
                            "{pod-group-name: g}")) ==
          "PodGroup default/g :1\n"
          "in:7:1: pod a: scheduler.tensorstack.dev/group-name and pod-group-name both name its "
          "group (expected one gang API)\n");
}

TEST_CASE("marks of a gang API are taken off its pods and kept beside") {
    muster::codec::diagnostics found;
    const auto documents = muster::codec::read_documents(
        "in",
        t9k + "metadata: {name: g}\nspec: {minMember: 1}\n" +
            pod("a", "labels: {app: x, scheduler.tensorstack.dev/group-name: g}, uid: u",
                "schedulerName: t9k-scheduler"),
        found);
    const auto read = muster::codec::read_gangs(documents, {}, found);
    CHECK(boost::json::serialize(read.bundles.at(0).pods.at(0).document) ==
          R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"app":"x"}},)"
          R"("spec":{"containers":[{"name":"c","image":"i"}]}})");
    CHECK(boost::json::serialize(read.bundles.at(0).pods.at(0).marks) ==
          R"({"metadata":{"labels":{"scheduler.tensorstack.dev/group-name":"g"}},)"
          R"("spec":{"schedulerName":"t9k-scheduler"}})");
}

const std::string name = "pod-group.scheduling.sigs.k8s.io/name: ";
const std::string least = "pod-group.scheduling.sigs.k8s.io/min-available: ";

TEST_CASE("ACK's labels make a gang of the pods that carry them") {
    CHECK(gangs_of(labelled("a", name + "g, " + least + "'2'") +
                   labelled("b", name + "h, " + least + "'1'") +
                   labelled("c", name + "g, " + least + "'2'")) ==
          "PodGroup default/g :2 x2 | /a /c\nPodGroup default/h :1 x1 | /b\n");
}

TEST_CASE("ACK's labels that are incomplete, wrong or at odds are errors on the pod") {
    CHECK(gangs_of(labelled("a", least + "'2'")) ==
          "in:2:1: pod a: pod-group.scheduling.sigs.k8s.io/min-available is there, but "
          "pod-group.scheduling.sigs.k8s.io/name is not (expected both)\n");
    CHECK(gangs_of(labelled("a", name + "g")).find("does not hold") != std::string::npos);
    CHECK(gangs_of(labelled("a", name + "g, " + least + "two")).find("is not a minimum") !=
          std::string::npos);
    CHECK(gangs_of(labelled("a", name + "G_g, " + least + "'2'")).find("is not a name") !=
          std::string::npos);
    CHECK(gangs_of(labelled("a", name + "g, " + least + "'2'") +
                   labelled("b", name + "g, " + least + "'3'"))
              .find("the minimum \"3\" is not that of its group \"g\", 2") != std::string::npos);
    CHECK(
        gangs_of(pod("a", "labels: {" + name + "g, " + least + "'2'}", "priorityClassName: high") +
                 pod("b", "labels: {" + name + "g, " + least + "'2'}"))
            .find("disagree") != std::string::npos);
}

TEST_CASE("the priority class of pods is their gang's, with its number where that is known") {
    CHECK(
        gangs_of(pod("a", "labels: {" + name + "g, " + least + "'1'}", "priorityClassName: high") +
                 pod("b", "", "priorityClassName: system-node-critical") +
                 "---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: "
                 "high}, value: 50}\n") ==
        "PodGroup default/g :1 priority=50 class=high x1 | /a\n"
        "Pod default/b :1 priority=2000001000 class=system-node-critical x1 | /b\n");
}

const std::string plugins = "---\napiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\n";
const std::string sigs = "---\napiVersion: scheduling.sigs.k8s.io/v1alpha1\nkind: PodGroup\n";

TEST_CASE("scheduler-plugins' PodGroups, old and new, have the pods whose label names them") {
    CHECK(gangs_of(plugins +
                   "metadata: {name: g}\nspec: {minMember: 3, scheduleTimeoutSeconds: 10, "
                   "minResources: {cpu: 3}}\n" +
                   sigs + "metadata: {name: h}\nspec: {minMember: 2}\n" +
                   labelled("a", "scheduling.x-k8s.io/pod-group: g") +
                   labelled("b", "pod-group.scheduling.sigs.k8s.io: h")) ==
          "PodGroup default/g :3 wait=10 resources x1 | /a\nPodGroup default/h :2 x1 | /b\n");
    CHECK(gangs_of(plugins + "metadata: {name: g}\nspec: {minMember: 0}\n")
              .find("spec.minMember: found 0, expected a whole number from 1") !=
          std::string::npos);
}

TEST_CASE("Koordinator's gangs of a gang group are one gang, across namespaces too") {
    const auto member = [](const std::string& own, const std::string& space) {
        return sigs + "metadata: {name: " + own + ", namespace: " + space +
               ", annotations: {gang.scheduling.koordinator.sh/groups: "
               "'[\"one/a\", \"two/b\"]', gang.scheduling.koordinator.sh/match-policy: "
               "only-waiting}}\nspec: {minMember: 2}\n";
    };
    CHECK(gangs_of(member("a", "one") + member("b", "two") +
                   pod("p", "namespace: two, labels: {pod-group.scheduling.sigs.k8s.io: b}")) ==
          "PodGroup one/a :4(a:2 b:2) gang.scheduling.koordinator.sh/match-policy ax0</a> "
          "bx1<two/b> | b/p\n");
    CHECK(gangs_of(member("a", "one")).find("\"two/b\", which the input does not hold") !=
          std::string::npos);
}

TEST_CASE("Koordinator's annotations on pods alone make a gang") {
    const auto own = [](const std::string& pod_name) {
        return annotated(pod_name, "gang.scheduling.koordinator.sh/name: g, "
                                   "gang.scheduling.koordinator.sh/min-available: '2', "
                                   "gang.scheduling.koordinator.sh/waiting-time: 30s, "
                                   "gang.scheduling.koordinator.sh/total-number: '5', "
                                   "gang.scheduling.koordinator.sh/mode: NonStrict");
    };
    CHECK(gangs_of(own("a") + own("b")) ==
          "PodGroup default/g :2 wait=30 gang.scheduling.koordinator.sh/mode x5 | /a /b\n");
}

const std::string volcano = "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n";

TEST_CASE("Volcano counts minTaskMember only where minMember is no less than its sum") {
    const auto pods = annotated("a", "scheduling.k8s.io/group-name: g, volcano.sh/task-spec: w");
    CHECK(gangs_of(volcano +
                   "metadata: {name: g}\nspec: {minMember: 3, minTaskMember: {ps: 1, w: "
                   "2}, queue: q, priorityClassName: high}\n" +
                   pods) == "PodGroup default/g :3(ps:1 w:2) queue=q class=high wx1 | w/a\n");
    CHECK(gangs_of(volcano +
                   "metadata: {name: g}\nspec: {minMember: 2, minTaskMember: {ps: 1, w: "
                   "2}}\n" +
                   pods) ==
          "PodGroup default/g :2(ps:0 w:0) wx1 | w/a\n"
          "in:5:37: warning: spec.minTaskMember: Volcano does not look at it, as minMember, 2, is "
          "less than its sum, 3\n");
}

TEST_CASE("Volcano's subgroup policies cut pods by the values of labels") {
    const std::string group = "annotations: {scheduling.k8s.io/group-name: g}, labels: {job: x, ";
    const std::string object =
        volcano +
        "metadata: {name: g}\nspec: {minMember: 4, networkTopology: {mode: hard, "
        "highestTierAllowed: 2}, subGroupPolicy: [{name: s, subGroupSize: 2, "
        "minSubGroups: 1, labelSelector: {matchLabels: {job: x}}, matchLabelKeys: [i]}]}\n";
    CHECK(gangs_of(object + pod("a", group + "i: '0'}") + pod("b", group + "i: '1'}") +
                   pod("c", group + "i: '0'}")) ==
          "PodGroup default/g :4(s:0{1 of 2}(s-0:2 s-1:2)) networkTopology s-0x2 s-1x1 | s-0/a "
          "s-1/b s-0/c\n");
    CHECK(gangs_of(object + pod("a", group + "i: '0'}")) ==
          "PodGroup default/g :4(s:2) networkTopology sx1 | s/a\n");
}

const std::string kai = "---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\n";

TEST_CASE("KAI's subgroups are a tree, and the root's minMember does not count beside them") {
    CHECK(gangs_of(kai + R"(metadata: {name: g}
spec:
  queue: q
  priorityClassName: train
  preemptibility: non-preemptible
  topologyConstraint: {topology: dc, requiredTopologyLevel: zone}
  minMember: 9
  schedulingBackoff: -1
  subGroups:
  - {name: inner, parent: outer, minMember: 2}
  - {name: outer, topologyConstraint: {topology: dc, preferredTopologyLevel: rack}}
  - {name: alone, minMember: 1}
---
{apiVersion: kai.scheduler/v1alpha1, kind: Topology, metadata: {name: dc}, spec: {levels: [{nodeLabel: zone}, {nodeLabel: rack}]}}
)" + pod("a", "annotations: {pod-group-name: g}, labels: {kai.scheduler/subgroup-name: inner}")) ==
          "PodGroup default/g :3@zone(outer:0~rack(inner:2) alone:1) queue=q class=train firm "
          "topology=dc schedulingBackoff innerx1 | inner/a\n"
          "in:10:14: warning: spec.minMember: KAI does not look at it beside subGroups\n");
}

TEST_CASE("KAI's minSubGroup asks for some of the subgroups") {
    CHECK(gangs_of(kai + "metadata: {name: g}\nspec: {minSubGroup: 1, subGroups: [{name: a, "
                         "minMember: 2}, {name: b, minMember: 3}]}\n") ==
          "PodGroup default/g :0{1 of 2}(a:2 b:3)\n");
}

TEST_CASE("KAI's subgroups that its webhook refuses are errors") {
    const auto with = [](const std::string& subgroups) {
        return gangs_of(kai + "metadata: {name: g}\nspec: {subGroups: [" + subgroups + "]}\n");
    };
    CHECK(with("{name: a.b, minMember: 1}").find("no dots") != std::string::npos);
    CHECK(with("{name: a, minMember: 1}, {name: a, minMember: 1}").find("there twice") !=
          std::string::npos);
    CHECK(with("{name: a, parent: x, minMember: 1}").find("not listed") != std::string::npos);
    CHECK(with("{name: a, parent: b}, {name: b, parent: a}").find("below itself") !=
          std::string::npos);
    CHECK(with("{name: a}").find("minMember is missing") != std::string::npos);
    CHECK(with("{name: a, minMember: 1}, {name: b, parent: a, minMember: 1}")
              .find("minMember is there") != std::string::npos);
}

TEST_CASE("KAI's subgroups may be nested as deep as anybody likes") {
    std::string subgroups;
    for (int depth = 20'000; depth > 0; --depth)
        subgroups += "{\"name\": \"s" + std::to_string(depth) + "\", \"parent\": \"s" +
                     std::to_string(depth - 1) + "\"" +
                     (depth == 20'000 ? ", \"minMember\": 1" : "") + "}, ";
    muster::codec::diagnostics found;
    const auto documents = muster::codec::read_documents(
        "in",
        "{\"apiVersion\": \"scheduling.run.ai/v2alpha2\", \"kind\": \"PodGroup\", \"metadata\": "
        "{\"name\": \"g\"}, \"spec\": {\"subGroups\": [" +
            subgroups + "{\"name\": \"s0\"}]}}",
        found);
    CHECK(muster::codec::read_gangs(documents, {}, found).bundles.at(0).gang.tree.size() == 20'002);
    CHECK(found.ok());
}

TEST_CASE("each pod group of a Workload of Kubernetes 1.35 is a gang, and each replica key too") {
    CHECK(gangs_of(R"(apiVersion: scheduling.k8s.io/v1alpha1
kind: Workload
metadata: {name: w}
spec:
  podGroups:
  - {name: a, policy: {gang: {minCount: 2}}}
  - {name: b, policy: {basic: {}}}
)" + pod("p", "", "workloadRef: {name: w, podGroup: a, podGroupReplicaKey: x}") +
                   pod("q", "", "workloadRef: {name: w, podGroup: a, podGroupReplicaKey: z}") +
                   pod("r", "", "workloadRef: {name: w, podGroup: b}")) ==
          "Workload default/w-b :1 x1 | /r\n"
          "Workload default/w-a-x :2 x1 | /p\n"
          "Workload default/w-a-z :2 x1 | /q\n");
}

TEST_CASE("the PodGroups of Kubernetes 1.36 and 1.37 are gangs, and so are templates without any") {
    CHECK(gangs_of(R"(apiVersion: scheduling.k8s.io/v1alpha2
kind: Workload
metadata: {name: w}
spec:
  podGroupTemplates:
  - {name: a, schedulingPolicy: {gang: {minCount: 2}}}
  - {name: b, schedulingPolicy: {gang: {minCount: 3}}}
---
apiVersion: scheduling.k8s.io/v1alpha2
kind: PodGroup
metadata: {name: w-a-0}
spec:
  podGroupTemplateRef: {workload: {workloadName: w, podGroupTemplateName: a}}
  schedulingPolicy: {gang: {minCount: 2}}
  schedulingConstraints: {topology: [{key: rack}]}
  disruptionMode: PodGroup
)" + pod("p", "", "schedulingGroup: {podGroupName: w-a-0}")) ==
          "Workload default/w-b :3\n"
          "PodGroup default/w-a-0 :2@rack disruptionMode x1 | /p\n");
}

TEST_CASE("a CompositePodGroup of Kubernetes 1.37 is a gang of its PodGroups") {
    const auto group = [](const std::string& kind, const std::string& own,
                          const std::string& spec) {
        return "---\napiVersion: scheduling.k8s.io/v1alpha3\nkind: " + kind +
               "\nmetadata: {name: " + own + "}\nspec: {" + spec + "}\n";
    };
    const std::string below = "parentCompositePodGroupName: top, workloadRef: {workloadName: w, "
                              "templateName: ";
    const std::string gang = ", schedulingPolicy: {gang: {minCount: ";
    CHECK(gangs_of(group("PodGroup", "g1", below + "a}" + gang + "1}}") +
                   group("PodGroup", "g2", below + "b}" + gang + "3}}") +
                   group("CompositePodGroup", "top",
                         "schedulingPolicy: {gang: {minGroupCount: 2}}, "
                         "priority: 5") +
                   pod("p", "", "schedulingGroup: {podGroupName: g2}")) ==
          "CompositePodGroup default/top :4(a:1 b:3) priority=5 ax0</g1> bx1</g2> | b/p\n");
    CHECK(gangs_of(group("PodGroup", "g1", below + "a}" + gang + "1}}"))
              .find("\"top\" is not in the input") != std::string::npos);
}

TEST_CASE("a PodGang's podgroups are leaves, below the groups that its topology names") {
    CHECK(gangs_of(R"(apiVersion: scheduler.grove.io/v1alpha1
kind: PodGang
metadata: {name: m-0, labels: {kai.scheduler/queue: q}, annotations: {grove.io/topology-name: dc}}
spec:
  priorityClassName: high
  topologyConstraint: {packConstraint: {required: zone}}
  topologyConstraintGroupConfigs:
  - {name: m-0-sg-0, podGroupNames: [m-0-b], topologyConstraint: {packConstraint: {preferred: rack}}}
  podgroups:
  - {name: m-0-a, minReplicas: 1, podReferences: [{namespace: default, name: p}]}
  - {name: m-0-b, minReplicas: 3, podReferences: [{namespace: default, name: q}, {namespace: default, name: r}]}
)" + pod("q", "labels: {grove.io/podgang: m-0}", "schedulingGates: [{name: grove.io/podgang}]") +
                   pod("p")) ==
          "PodGang default/m-0 :4@zone(m-0-sg-0:0~rack(m-0-b:3) m-0-a:1) queue=q class=high "
          "topology=dc m-0-ax1 m-0-bx2 | m-0-b/q m-0-a/p\n");
}

TEST_CASE("groups and pods that a job of the input made are left out with a warning") {
    const std::string text = gangs_of(R"(apiVersion: scheduler.grove.io/v1alpha1
kind: PodGang
metadata: {name: g, uid: u}
spec: {podgroups: [{name: a, minReplicas: 1, podReferences: []}]}
---
apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: g, ownerReferences: [{apiVersion: scheduler.grove.io/v1alpha1, kind: PodGang, name: g, uid: u}]}
spec: {minMember: 1}
)" + pod("p",
         "labels: {grove.io/podgang: g, grove.io/podclique: a}, annotations: {pod-group-name: g}"));
    CHECK(text == "PodGang default/g :1(a:1) ax1 | a/p\n"
                  "in:6:1: warning: made by PodGang g of this input, left out\n");
}

TEST_CASE("jobs are gangs of the pods that their controllers make") {
    const std::string text = gangs_of(R"(apiVersion: batch.tensorstack.dev/v1beta1
kind: GenericJob
metadata: {name: j}
spec:
  scheduler: {t9kScheduler: {queue: q, priority: 3}}
  replicaSpecs:
  - {type: w, replicas: 2, template: {spec: {containers: [{name: c, image: i}]}}}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: v}
spec:
  tasks:
  - {name: t, replicas: 1, template: {spec: {containers: [{name: c, image: i}]}}}
)");
    CHECK(text == "GenericJob default/j w:2 queue=q priority=3 wx2 | w/j-w-0 w/j-w-1\n"
                  "Job default/v :1 x1 | /v-t-0\n");
}

TEST_CASE("a TrainJob finds its runtime wherever it stands") {
    const std::string text = gangs_of(R"(apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: t}
spec: {runtimeRef: {name: r}, trainer: {numNodes: 2}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: r}
spec:
  mlPolicy: {numNodes: 1}
  podGroupPolicy: {coscheduling: {}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: node, image: i}]}}}
)");
    CHECK(text.starts_with("TrainJob default/t "));
    CHECK(text.find(":2") != std::string::npos);
}

TEST_CASE("an object of an unknown kind with a pod template is read by that") {
    const std::string text = gangs_of(R"(apiVersion: example.org/v1
kind: Thing
metadata: {name: t}
spec: {replicas: 2, template: {spec: {containers: [{name: c, image: i}]}}}
)");
    CHECK(text.starts_with("Thing default/t :1 x2 | "));
    CHECK(text.find("warning: this kind is not known") != std::string::npos);
}

TEST_CASE("pods of a job whose template names a group join that group") {
    const std::string text = gangs_of(R"(apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: g}
spec: {minMember: 1}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: v}
spec:
  tasks:
  - name: t
    replicas: 1
    template: {metadata: {annotations: {pod-group-name: g}}, spec: {containers: [{name: c, image: i}]}}
)");
    CHECK(text == "PodGroup default/g :1 x1 | /v-t-0\n");
}

TEST_CASE("an unknown kind is reported at its place, and lists are taken apart") {
    CHECK(gangs_of(R"(apiVersion: v1
kind: List
items:
- {apiVersion: example.org/v1, kind: Thing, metadata: {name: t}}
- {apiVersion: v1, kind: Service, metadata: {name: s}}
- {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c}]}}
)") == "Pod default/p :1 x1 | /p\n"
       "in:4:3: warning: items[0]: kind Thing of \"example.org/v1\" is not understood, left out\n");
}

TEST_CASE("an object that is there twice is an error") {
    CHECK(gangs_of(pod("p") + pod("p")).find("Pod \"p\" is there twice") != std::string::npos);
}

} // namespace
} // namespace codec_gang_reader_test
