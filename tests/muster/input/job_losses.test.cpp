// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include <doctest/doctest.h>

#include <muster/input/gang_reader.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_job_losses_test {
namespace {

using namespace muster::codec;

struct reading {
    std::string losses;
    std::string findings;
    std::map<std::string, std::size_t> apart;
};

reading read(const std::string& text) {
    reading made;
    diagnostics found;
    const auto documents = read_documents("in", text, found);
    const gangs all = read_gangs(documents, {}, found);
    for (const auto& each : all.losses)
        made.losses +=
            std::string(to_text(each.what)) + ": " + each.object + ": " + each.detail + "\n";
    for (const auto& each : found.findings())
        made.findings += to_text(each) + "\n";
    made.apart = all.apart;
    return made;
}

std::string t9k(const std::string& kind, const std::string& spec) {
    return "apiVersion: batch.tensorstack.dev/v1beta1\nkind: " + kind +
           "\nmetadata: {name: j, namespace: ns}\nspec: " + spec + "\n";
}

const std::string pod = "template: {spec: {containers: [{name: python, image: i, args: [a]}]}}";
const std::string worker = "replicaSpecs: [{type: worker, " + pod + "}]";

std::string torchrun(const std::string& container) {
    return t9k("PyTorchTrainingJob",
               "{torchrunConfig: {enabled: true}, replicaSpecs: [{type: worker, template: {spec: "
               "{containers: [" +
                   container + "]}}}]}");
}

} // namespace

TEST_CASE("what a T9k job says of its life after the start is lost") {
    CHECK(read(t9k("GenericJob", "{" + worker + "}")).losses == "");
    CHECK(read(t9k("GenericJob",
                   "{successRules: [{worker: [0]}], failureRules: [{worker: [0]}], cleanUpPolicy: "
                   "All, runMode: {debug: {enabled: true}}, replicaSpecs: [{type: worker, "
                   "restartPolicy: {policy: Never}, " +
                       pod + "}]}"))
              .losses ==
          "lifecycle: GenericJob ns/j: restartPolicy, successRules, failureRules, cleanUpPolicy, "
          "runMode: the job's own controller sees to it\n");
    CHECK(read(t9k("PyTorchTrainingJob", "{runPolicy: {backoffLimit: 1, activeDeadlineSeconds: 9},"
                                         " torchrunConfig: {enabled: true}, elastic: {enabled: "
                                         "true, minReplicas: 1, maxReplicas: 3, expectedReplicas: "
                                         "2}, " +
                                             worker + "}"))
              .losses == "lifecycle: PyTorchTrainingJob ns/j: activeDeadlineSeconds, backoffLimit, "
                         "elastic: the job's own controller sees to it\n");
    CHECK(
        read(t9k("MPIJob", "{runPolicy: {cleanUpWorkers: true}, worker: {" + pod + "}}")).losses ==
        "lifecycle: MPIJob ns/j: cleanUpWorkers: the job's own controller sees to it\n");
}

TEST_CASE("what a PodCliqueSet says of its life and of the order of starts is lost") {
    const auto set = [](const std::string& rest, const std::string& of_worker) {
        return "apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata: {name: s, namespace: "
               "ns}\nspec: {replicas: 1, template: {" +
               rest +
               "cliques: [{name: l, spec: {roleName: l, replicas: 1, podSpec: {containers: "
               "[{name: c, image: i}]}}}, {name: w, spec: {roleName: w, replicas: 2, " +
               of_worker + "podSpec: {containers: [{name: c, image: i}]}}}]}}\n";
    };
    CHECK(read(set("", "")).losses == "");
    CHECK(read(set("terminationDelay: 1h, cliqueStartupType: CliqueStartupTypeInOrder, ",
                   "autoScalingConfig: {maxReplicas: 3}, "))
              .losses ==
          "lifecycle: PodCliqueSet ns/s: terminationDelay, autoScalingConfig: the job's own "
          "controller sees to it\n"
          "startup-order: PodCliqueSet ns/s: which of its parts start first: Grove's own "
          "controller sees to it\n");
    // What a scaling group has beyond its minimum waits for the base gang.
    CHECK(read(set("podCliqueScalingGroups: [{name: g, cliqueNames: [w], replicas: 2}], ", ""))
              .losses.starts_with("startup-order: PodCliqueSet ns/s: "));
}

TEST_CASE("torchrun runs what args say, and what else a container runs is told of") {
    CHECK(read(torchrun("{name: python, image: i, args: [train.py]}")).findings == "");
    CHECK(read(torchrun("{name: python, image: i, command: [python], args: [train.py]}"))
              .findings.find("spec.replicaSpecs[0].template.spec.containers[0].command: is left "
                             "out: torchrun runs what args say") != std::string::npos);
    CHECK(read(torchrun("{name: side, image: i, command: [x]}, "
                        "{name: python, image: i, command: [python, train.py]}"))
              .findings.find("containers[1].command: is left out, and torchrun has nothing to run "
                             "(expected the script and its arguments in args)") !=
          std::string::npos);
    CHECK(read(t9k("PyTorchTrainingJob",
                   "{torchrunConfig: {enabled: true, procPerNode: 2}, " + worker + "}"))
              .findings.find("spec.torchrunConfig.procPerNode: found 2, expected a string such as "
                             "\"4\" or auto, in quotes if it is a number") != std::string::npos);
}

TEST_CASE("a runtime that a TrainJob uses is not told of as an object without gangs") {
    const std::string runtime =
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\nmetadata: {name: "
        "r}\nspec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: "
        "{spec: {containers: [{name: node, image: i}]}}}}}]}}}\n";
    CHECK(read(runtime).apart.size() == 1);
    const reading both =
        read(runtime + "---\napiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"
                       "metadata: {name: t}\nspec: {runtimeRef: {name: r}}\n");
    CHECK(both.findings == "");
    CHECK(both.apart.empty());
}

} // namespace codec_job_losses_test
