// SPDX-License-Identifier: Apache-2.0
// What manifests of other projects do beside what the pages of their APIs show.
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include <boost/json/serialize.hpp>

#include <muster/input/gang_reader.hpp>
#include <muster/input/read_documents.hpp>

#include "gang_texts.hpp"

namespace codec_unseen_manifests_test {
namespace {

using codec_tests::gangs_of;

const std::string containers = "containers: [{name: c, image: i}]";

std::string pod(const std::string& metadata, const std::string& spec = "") {
    return "---\napiVersion: v1\nkind: Pod\nmetadata: {" + metadata + "}\nspec: {" + spec +
           (spec.empty() ? "" : ", ") + containers + "}\n";
}

std::string job(const std::string& name, const std::string& pod_metadata, int size) {
    return "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name +
           "}\nspec: {parallelism: " + std::to_string(size) + ", template: {metadata: {" +
           pod_metadata + "}, spec: {restartPolicy: Never, " + containers + "}}}\n";
}

/// Without what follows from hashes: five letters at the end of names.
std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

} // namespace

TEST_CASE("the pods of a group that the input does not hold stand for its minimum") {
    const std::string made = gangs_of(pod("name: a, annotations: {pod-group-name: g}") +
                                      pod("name: b, annotations: {pod-group-name: g}"));
    CHECK(made == "PodGroup default/g :2 x2 | /a /b\n"
                  "in:2:1: warning: the input does not hold the group \"g\" that pods name: its 2 "
                  "pods stand for its minimum (expected its object)\n");
    for (const char* mark :
         {"labels: {scheduler.tensorstack.dev/group-name: g}",
          "labels: {scheduling.x-k8s.io/pod-group: g}",
          "annotations: {scheduling.k8s.io/group-name: g}", "labels: {grove.io/podgang: g}"})
        CHECK(gangs_of(pod("name: a, " + std::string(mark))).find("default/g :1 x1 | /a\n") !=
              std::string::npos);
}

TEST_CASE("the pods of a role of such a group stand for the role's minimum") {
    const std::string role = "labels: {kai.scheduler/subgroup-name: ";
    const std::string name = "}, annotations: {pod-group-name: g}";
    CHECK(first_line(gangs_of(pod("name: a, " + role + "eval" + name) +
                              pod("name: b, " + role + "ray" + name) +
                              pod("name: c, " + role + "eval" + name))) ==
          "PodGroup default/g :3(eval:2 ray:1) evalx2 rayx1 | eval/a ray/b eval/c");
    CHECK(first_line(gangs_of(pod("name: a, " + role + "eval" + name))) ==
          "PodGroup default/g :1(eval:1) evalx1 | eval/a");
}

TEST_CASE("Kubernetes' groups that the input does not hold are named as the pods name them") {
    CHECK(first_line(gangs_of(pod("name: a", "schedulingGroup: {podGroupName: g}"))) ==
          "PodGroup default/g :1 x1 | /a");
    CHECK(first_line(gangs_of(pod("name: a", "workloadRef: {name: w, podGroup: p}"))) ==
          "PodGroup default/w-p :1 x1 | /a");
    CHECK(first_line(gangs_of(
              pod("name: a", "workloadRef: {name: w, podGroup: p, podGroupReplicaKey: '7'}"))) ==
          "PodGroup default/w-p-7 :1 x1 | /a");
}

TEST_CASE("Grove's pods without their PodGang and without its PodGroup are one gang") {
    const std::string both =
        "labels: {grove.io/podgang: g, grove.io/podclique: q}, annotations: {pod-group-name: g}";
    CHECK(first_line(gangs_of(pod("name: a, " + both))) == "PodGang default/g :1(q:1) qx1 | q/a");
}

TEST_CASE("what leaves its name to the API server gets one, each its own") {
    const std::string made = gangs_of(pod("generateName: p-") + pod("generateName: p-"));
    const auto name_at = [&](std::string_view mark) {
        const std::size_t at = made.find(mark) + mark.size();
        return made.substr(at, 7);
    };
    CHECK(name_at("Pod default/").starts_with("p-"));
    const std::string second = made.substr(made.find('\n') + 1);
    CHECK(second.substr(12, 7).starts_with("p-"));
    CHECK(second.substr(12, 7) != name_at("Pod default/"));
    CHECK(made.find("in:4:26: warning: metadata.generateName: the name is made when the object is "
                    "created; \"") != std::string::npos);
    CHECK(gangs_of("---\napiVersion: v1\nkind: Pod\nmetadata: {labels: {}}\nspec: {" + containers +
                   "}\n")
              .find("metadata.name: required, but missing") != std::string::npos);
}

TEST_CASE("kube-batch's PodGroups are those of Volcano, which come from them") {
    for (const char* version :
         {"scheduling.incubator.k8s.io/v1alpha1", "scheduling.volcano.sh/v1alpha2"})
        CHECK(gangs_of(job("q", "annotations: {scheduling.k8s.io/group-name: q}", 2) +
                       "---\napiVersion: " + std::string(version) +
                       "\nkind: PodGroup\nmetadata: {name: q}\nspec: {minMember: 2}\n")
                  .starts_with("PodGroup default/q :2 x2 | /q-"));
}

TEST_CASE("subgroups of one group may ask for levels of several Topologies, by their aliases too") {
    const std::string topology = "---\napiVersion: kai.scheduler/v1alpha1\nkind: Topology\n";
    const std::string made = gangs_of(
        topology + "metadata: {name: t}\nspec: {levels: [{nodeLabel: a/rack, alias: rack}]}\n" +
        topology + "metadata: {name: u}\nspec: {levels: [{nodeLabel: a/zone}]}\n" +
        "---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: g}\n"
        "spec:\n  subGroups:\n"
        "  - {name: x, minMember: 1, topologyConstraint: {topology: t, requiredTopologyLevel: "
        "rack}}\n"
        "  - {name: w, minMember: 1, topologyConstraint: {topology: u, requiredTopologyLevel: "
        "a/zone}}\n");
    CHECK(made == "PodGroup default/g :2(x:1@a/rack w:1@a/zone) topology=t\n");
    CHECK(gangs_of(topology + "metadata: {name: t}\nspec: {levels: [{nodeLabel: a, alias: x}, "
                              "{nodeLabel: b, alias: x}]}\n")
              .find("\"x\" is there twice") != std::string::npos);
}

TEST_CASE("KAI's words about evictions are kept, of groups, jobs and pods") {
    CHECK(gangs_of("---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: "
                   "g}\nspec: {minMember: 2, preemptibility: semi-preemptible, "
                   "minNonPreemptible: 3}\n") ==
          "PodGroup default/g :2 preemptibility minNonPreemptible\n");
    CHECK(first_line(gangs_of(
              pod("name: a, labels: {kai.scheduler/preemptibility: non-preemptible}, annotations: "
                  "{kai.scheduler/preemption-delay: 2m, kai.scheduler/staleness-grace-period: "
                  "5s}"))) == "Pod default/a :1 firm preemptionDelay stalenessGracePeriod x1 | /a");
}

TEST_CASE("PodGangSets, as Grove called its sets first, are read as PodCliqueSets") {
    const auto set = [](const std::string& kind) {
        return gangs_of("apiVersion: grove.io/v1alpha1\nkind: " + kind +
                        "\nmetadata: {name: s}\nspec: {replicas: 1, template: {cliques: [{name: "
                        "a, spec: {roleName: a, replicas: 2, podSpec: {" +
                        containers + "}}}]}}\n");
    };
    CHECK(set("PodGangSet") == set("PodCliqueSet"));
    CHECK(first_line(set("PodGangSet")).find("s-0") != std::string::npos);
}

TEST_CASE("JobSets of all versions are read alike") {
    for (const char* version : {"v1", "v1alpha1", "v1alpha2"})
        CHECK(gangs_of("---\napiVersion: jobset.x-k8s.io/" + std::string(version) +
                       "\nkind: JobSet\nmetadata: {name: s}\nspec: {replicatedJobs: [{name: r, "
                       "template: {spec: {parallelism: 2, template: {spec: {" +
                       containers + "}}}}}]}\n")
                  .starts_with("JobSet default/s :2(r:0(r-replica-0:2))"));
}

TEST_CASE("Jobs of a JobSet that are grouped by a template of its Workload are gangs of that") {
    const std::string set = "---\napiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: "
                            "{name: s}\nspec: {replicatedJobs: [{name: r, replicas: 2, template: "
                            "{metadata: {annotations: {scheduling.k8s.io/group-template-name: "
                            "t}}, spec: {parallelism: 3, template: {spec: {" +
                            containers + "}}}}}]}\n";
    const std::string made =
        gangs_of("---\napiVersion: scheduling.k8s.io/v1beta1\nkind: Workload\nmetadata: {name: "
                 "w}\nspec: {controllerRef: {apiGroup: jobset.x-k8s.io, kind: JobSet, name: s}, "
                 "podGroupTemplates: [{name: t, schedulingPolicy: {gang: {minCount: 2}}}]}\n" +
                 set);
    CHECK(made.starts_with("Workload default/w-s-r-0 :2 controllerRef x3 | /s-r-0-0-"));
    CHECK(made.find("\nWorkload default/w-s-r-1 :2 controllerRef x3 | /s-r-1-0-") !=
          std::string::npos);
    CHECK(made.find("JobSet") == std::string::npos);
    // Without the Workload all pods of a Job stand for its minimum.
    CHECK(gangs_of(set).find("PodGroup default/s-t-s-r-1 :3 x3") != std::string::npos);
}

TEST_CASE("executors of Spark whose annotation names a group are members of that") {
    const std::string made = gangs_of(
        "---\napiVersion: sparkoperator.k8s.io/v1beta1\nkind: SparkApplication\nmetadata: {name: "
        "pi}\nspec: {image: i, driver: {cores: 0.1, memory: 512m}, executor: {cores: 1, "
        "instances: 2, memory: 512m, annotations: {scheduling.k8s.io/group-name: g}}}\n"
        "---\napiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {name: g}\n"
        "spec: {minMember: 2}\n");
    CHECK(made.find("SparkApplication default/pi :1 x1 | /pi-driver\n") != std::string::npos);
    CHECK(made.find("PodGroup default/g :2 x2 | /pi-exec-1 /pi-exec-2\n") != std::string::npos);
}

TEST_CASE("jobs that are to have no replicas have no gangs, and are told of") {
    const auto idle = [](const std::string& text) {
        muster::codec::diagnostics found;
        const auto documents = muster::codec::read_documents("in", text, found);
        const auto read = muster::codec::read_gangs(documents, {}, found);
        CHECK(read.bundles.empty());
        REQUIRE(found.findings().size() == 1);
        CHECK(to_text(found.findings()[0]).find("it has no replicas, and so no gangs") !=
              std::string::npos);
        return read.idle;
    };
    CHECK(idle("---\napiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata: {name: s}\nspec: "
               "{replicas: 0, template: {cliques: [{name: a, spec: {roleName: a, replicas: 1, "
               "podSpec: {" +
               containers + "}}}]}}\n") == 1);
    CHECK(idle("---\napiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: "
               "{name: s}\nspec: {replicas: 0, leaderWorkerTemplate: {workerTemplate: {spec: {" +
               containers + "}}}}\n") == 1);
}

TEST_CASE("volumes in memory are held against the largest node, where the input has nodes") {
    const std::string generic =
        "---\napiVersion: batch.tensorstack.dev/v1beta1\nkind: GenericJob\nmetadata: {name: j}\n"
        "spec: {replicaSpecs: [{type: w, replicas: 1, template: {spec: {" +
        containers + ", volumes: [{name: v, emptyDir: {medium: Memory, sizeLimit: 2Gi}}]}}}]}\n";
    const auto with_node = [&](const std::string& memory) {
        return gangs_of(generic +
                        "---\napiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: "
                        "{allocatable: {memory: " +
                        memory + "}}\n");
    };
    CHECK(gangs_of(generic).find("warning") == std::string::npos);
    CHECK(with_node("4Gi").find("warning") == std::string::npos);
    CHECK(with_node("1Gi").find("sizeLimit: ") != std::string::npos);
}

} // namespace codec_unseen_manifests_test
