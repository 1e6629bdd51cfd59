// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/job_kinds.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/input/gang_reader.hpp>
#include <muster/job_fixture.hpp>

namespace codec_job_kinds_test {

using namespace muster_job_fixture;

namespace {

struct input {
    gangs made;
    std::string findings;
};

input read(const std::string& text) {
    input all;
    diagnostics out;
    const auto documents = read_documents("f", text, out);
    all.made = read_gangs(documents, {}, out);
    for (const diagnostic& finding : out.findings())
        all.findings += to_text(finding) + '\n';
    return all;
}

const std::string containers = "spec: {containers: [{name: c}]}";

std::string train_job(const std::string& home) {
    return "---\n{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, metadata: {name: t, "
           "namespace: " +
           home + "}, spec: {runtimeRef: {name: r}, trainer: {numNodes: 2}}}\n";
}

const std::string runtime =
    "---\n{apiVersion: trainer.kubeflow.org/v1alpha1, kind: ClusterTrainingRuntime, metadata: "
    "{name: r}, spec: {template: {spec: {replicatedJobs: [{name: node, template: {metadata: "
    "{labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}, spec: {template: {" +
    containers + "}}}}]}}}}\n";

} // namespace

TEST_CASE("every kind has one reader") {
    for (const job_kind& each : job_kinds) {
        CAPTURE(each.api_version);
        CAPTURE(each.kind);
        CHECK(find_job_kind(each.api_version, each.kind) == &each);
    }
    CHECK(find_job_kind("v1", "Service") == nullptr);
}

TEST_CASE("a TrainJob finds its runtime before or behind it, in lists too") {
    for (const std::string& text : {runtime + train_job("a"), train_job("a") + runtime,
                                    "apiVersion: v1\nkind: List\nitems:\n- " +
                                        train_job("a").substr(4) + "- " + runtime.substr(4)}) {
        const input all = read(text);
        CHECK(all.findings.empty());
        REQUIRE(all.made.bundles.size() == 1);
        CHECK(all.made.bundles[0].pods.size() == 2);
    }
}

TEST_CASE("gangs stand in the order of the input, TrainJobs too") {
    const auto pod = [](const std::string& name) {
        return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name + "}, " + containers +
               "}\n";
    };
    const input all = read(pod("x") + train_job("a") + pod("b") + runtime);
    REQUIRE(all.made.bundles.size() == 3);
    CHECK(all.made.bundles[1].gang.name == "t");
    CHECK(all.made.bundles[2].gang.name == "b");
}

TEST_CASE("pods of one Spark application are one gang of at least one") {
    const auto pod = [](const std::string& name, const std::string& application) {
        return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name +
               ", labels: {spark-app-name: pi, spark-app-selector: " + application + "}}, " +
               containers + "}\n";
    };
    const input all = read(pod("driver", "one") + pod("other", "two") + pod("exec-1", "one"));
    REQUIRE(all.made.bundles.size() == 2);
    CHECK(all.made.bundles[0].gang.name == "one");
    CHECK(tree_text(all.made.bundles[0].gang.tree) == "1");
    CHECK(pod_names(all.made.bundles[0].pods) == "driver exec-1");
    CHECK(pod_names(all.made.bundles[1].pods) == "other");
}

TEST_CASE("an unknown kind with a template is read by it, one without is left out with a warning") {
    const input all =
        read("{apiVersion: x/v1, kind: Thing, metadata: {name: a}, spec: {template: {" +
             containers + "}}}\n---\n{apiVersion: x/v1, kind: Other, metadata: {name: b}}\n");
    REQUIRE(all.made.bundles.size() == 1);
    CHECK(all.made.bundles[0].gang.kind == "Thing");
    CHECK(all.findings.find("kind Other of \"x/v1\" is not understood") != std::string::npos);
}

TEST_CASE("pods of a template that names a PodGroup of the input join it") {
    const input all = read(
        "{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: {name: g}, spec: "
        "{minMember: 2}}\n---\n{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r}, spec: "
        "{replicas: 3, template: {metadata: {labels: {scheduling.x-k8s.io/pod-group: g}}, " +
        containers + "}}}\n");
    CHECK(all.findings.empty());
    REQUIRE(all.made.bundles.size() == 1);
    CHECK(all.made.bundles[0].gang.name == "g");
    CHECK(all.made.bundles[0].pods.size() == 3);
}

TEST_CASE("a version whose pods are unknown is an error that names the versions that are read") {
    const input all = read("apiVersion: kubeflow.org/v1alpha1\nkind: MPIJob\nmetadata: {name: m}\n"
                           "spec: {gpus: 32, template: {" +
                           containers + "}}\n");
    CHECK(all.made.bundles.empty());
    CHECK(all.findings ==
          "f:1:13: apiVersion: \"kubeflow.org/v1alpha1\" of MPIJob is not read: the pods of this "
          "version are unknown (expected kubeflow.org/v1, kubeflow.org/v1alpha2, "
          "kubeflow.org/v2beta1)\n");
}

} // namespace codec_job_kinds_test
