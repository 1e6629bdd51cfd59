// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/owners/workload_reader.hpp>

#include <string>
#include <utility>

#include <doctest/doctest.h>

#include <muster/apis/job_kinds.hpp>
#include <muster/job_fixture.hpp>

namespace codec_workload_reader_test {

using namespace muster_job_fixture;

namespace {

const std::string pod = "template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c}]}}";

read_result read(const std::string& version, const std::string& kind, const std::string& spec,
                 const std::string& metadata = {}) {
    const job_kind* known = find_job_kind(version, kind);
    REQUIRE(known);
    return read_job(known->read, "apiVersion: " + version + "\nkind: " + kind +
                                     "\nmetadata: {name: w, namespace: ns" + metadata +
                                     "}\nspec: {" + spec + "}\n");
}

std::string tree(const read_result& made) {
    CAPTURE(made.findings);
    REQUIRE(made.gangs.size() == 1);
    return tree_text(made.gangs[0].gang.tree);
}

} // namespace

TEST_CASE("each pod of a Deployment is a gang of its own") {
    const auto made = read("apps/v1", "Deployment", "replicas: 2, " + pod);
    CHECK(made.findings.empty());
    REQUIRE(made.gangs.size() == 2);
    for (const gang_bundle& each : made.gangs) {
        CHECK(tree_text(each.gang.tree) == "1");
        REQUIRE(each.pods.size() == 1);
        CHECK(pod_names(each.pods) == each.gang.name);
        CHECK(each.gang.owners.at(0).kind == "Pod");
        CHECK(each.gang.owners.at(0).name == each.gang.name);
    }
    CHECK(made.gangs[0].gang.name != made.gangs[1].gang.name);
    const auto& first = made.gangs[0].pods[0].document;
    const std::string set = at(first, "metadata|ownerReferences|0|name");
    CHECK(set.starts_with("w-"));
    CHECK(at(first, "metadata|name").starts_with(set + "-"));
    CHECK(at(first, "metadata|labels|pod-template-hash") == set.substr(2));
}

TEST_CASE("a ReplicaSet's and a StatefulSet's pods are one gang of which one is enough") {
    const auto replicas = read("apps/v1", "ReplicaSet", "replicas: 3, " + pod);
    CHECK(tree(replicas) == "1");
    CHECK(replicas.gangs[0].gang.name == "w");
    CHECK(replicas.gangs[0].pods.size() == 3);
    CHECK(replicas.gangs[0].gang.sizes.at(0).replicas == 3);
    const auto stateful =
        read("apps/v1", "StatefulSet",
             "serviceName: s, replicas: 2, ordinals: {start: 5}, volumeClaimTemplates: [{metadata: "
             "{name: data}}], " +
                 pod);
    CHECK(tree(stateful) == "1");
    CHECK(pod_names(stateful.gangs[0].pods) == "w-5 w-6");
    const auto& last = stateful.gangs[0].pods.at(1).document;
    CHECK(at(last, "metadata|labels|apps.kubernetes.io/pod-index") == "6");
    CHECK(at(last, "spec|hostname") == "w-6");
    CHECK(at(last, "spec|subdomain") == "s");
    CHECK(at(last, "spec|volumes") ==
          R"([{"name":"data","persistentVolumeClaim":{"claimName":"data-w-6"}}])");
}

TEST_CASE("a Notebook is a gang of its one pod") {
    const auto made = read("kubeflow.org/v1", "Notebook", pod);
    CHECK(tree(made) == "1");
    CHECK(pod_names(made.gangs[0].pods) == "w-0");
    CHECK(at(made.gangs[0].pods[0].document, "metadata|labels|notebook-name") == "w");
}

TEST_CASE("a Knative Service wants min-scale pods of its revision, without it one") {
    const auto scaled = read(
        "serving.knative.dev/v1", "Service",
        "template: {metadata: {annotations: {autoscaling.knative.dev/min-scale: \"3\"}}, spec: "
        "{containerConcurrency: 5, containers: [{image: i}]}}");
    CHECK(tree(scaled) == "3");
    CHECK(scaled.gangs[0].gang.name == "w-00001");
    CHECK(scaled.gangs[0].pods.size() == 3);
    const auto& first = scaled.gangs[0].pods[0].document;
    CHECK(at(first, "metadata|labels|serving.knative.dev/revision") == "w-00001");
    CHECK(at(first, "spec|containerConcurrency").empty());
    CHECK(at(first, "spec|containers|0|name") == "user-container");
    const auto plain = read("serving.knative.dev/v1", "Service", pod);
    CHECK(tree(plain) == "1");
    CHECK(plain.gangs[0].pods.size() == 1);
}

TEST_CASE("an AmlJob wants its nodes, and says that its pods are not known") {
    const auto made = read("amlarc.azureml.com/v1alpha1", "AmlJob",
                           "job: {options: {envs: {AZUREML_NODE_COUNT: 4}}}");
    CHECK(tree(made) == "4");
    CHECK(made.gangs[0].pods.empty());
    CHECK(made.findings.find("warning: its pods are made by its own controller") !=
          std::string::npos);
    CHECK(read("amlarc.azureml.com/v1alpha1", "AmlJob", "job: {}")
              .findings.find("AZUREML_NODE_COUNT is missing") != std::string::npos);
}

TEST_CASE("kinds whose controllers alone know their pods are a gang of one, with a warning") {
    for (const auto& each : {std::pair{"egx.nvidia.io/v1", "SPOTRequest"},
                             {"machinelearning.seldon.io/v1", "SeldonDeployment"},
                             {"kubevirt.io/v1", "VirtualMachineInstance"},
                             {"workspace.devfile.io/v1alpha2", "DevWorkspace"},
                             {"kubeflow.org/v1beta1", "ScheduledWorkflow"},
                             {"tekton.dev/v1", "PipelineRun"},
                             {"tekton.dev/v1", "TaskRun"},
                             {"argoproj.io/v1alpha1", "Workflow"},
                             {"run.ai/v2alpha1", "TrainingWorkload"},
                             {"nvidia.com/v1alpha1", "DynamoGraphDeployment"}}) {
        const std::string kind = each.second;
        CAPTURE(kind);
        const auto made =
            read(each.first, kind, "anything: [1]", ", labels: {kai.scheduler/queue: q}");
        CHECK(tree(made) == "1");
        CHECK(made.gangs[0].gang.name == "w");
        CHECK(made.gangs[0].gang.kind == kind);
        CHECK(made.gangs[0].gang.queue == "q");
        CHECK(made.gangs[0].pods.empty());
        CHECK(made.findings.find("warning: its pods are ") != std::string::npos);
    }
}

TEST_CASE("an unknown kind with a template is a gang of one, with pods of that template") {
    const auto made = read_job(read_any_workload, "apiVersion: x/v1\nkind: Thing\nmetadata: {name: "
                                                  "t}\nspec: {replicas: 2, other: 1, " +
                                                      pod + "}\n");
    CHECK(tree(made) == "1");
    CHECK(made.gangs[0].pods.size() == 2);
    CHECK(at(made.gangs[0].pods[0].document, "metadata|ownerReferences|0|kind") == "Thing");
    CHECK(made.findings.find("warning: this kind is not known") != std::string::npos);
}

TEST_CASE("a workload whose template names a gang elsewhere has loose pods") {
    const std::string marked =
        "template: {metadata: {labels: {scheduling.x-k8s.io/pod-group: nginx}}, spec: {containers: "
        "[{name: c}]}}";
    for (const std::string kind : {"Deployment", "ReplicaSet"}) {
        const auto made = read("apps/v1", kind, "replicas: 2, " + marked);
        CHECK(made.gangs.empty());
        CHECK(made.loose_pods.size() == 2);
    }
}

TEST_CASE("a workload without replicas says that it has no pods") {
    const auto made = read("apps/v1", "Deployment", "replicas: 0, " + pod);
    CHECK(made.gangs.empty());
    CHECK(made.findings.find("warning: it has no replicas, and so no pods") != std::string::npos);
}

TEST_CASE("bad workloads are refused at the field that is wrong") {
    const auto refused = [](const read_result& made, const std::string& finding) {
        CAPTURE(made.findings);
        CHECK(made.findings.find(finding) != std::string::npos);
    };
    refused(read("apps/v1", "Deployment", "replicas: -2, " + pod), "spec.replicas: found -2");
    refused(read("apps/v1", "Deployment", "replicas: 2000000000, " + pod),
            "the job has more than 1000000 pods");
    refused(read("apps/v1", "StatefulSet", "replicas: 1"), "spec.template: required, but missing");
    refused(
        read("serving.knative.dev/v1", "Service",
             "template: {metadata: {annotations: {autoscaling.knative.dev/min-scale: x}}, spec: "
             "{containers: [{name: c}]}}"),
        "\"x\" is not a scale");
}

} // namespace codec_workload_reader_test
