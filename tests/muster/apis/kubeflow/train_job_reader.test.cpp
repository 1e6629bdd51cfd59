// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/kubeflow/train_job_reader.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/job_fixture.hpp>

namespace codec_train_job_reader_test {

using namespace muster_job_fixture;

namespace {

std::string part(const std::string& name, const std::string& step, const std::string& extra = {}) {
    return "{name: " + name + ", " + extra + "template: {metadata: {labels: {" +
           (step.empty() ? "" : "trainer.kubeflow.org/trainjob-ancestor-step: " + step) +
           "}}, spec: {template: {spec: {containers: [{name: " +
           (step.empty() || step == "trainer" ? "node" : step) + ", image: old}]}}}}}";
}

const std::string torch_node = part("node", "trainer");

std::string runtime(const std::string& policies, const std::string& jobs,
                    const std::string& kind = "ClusterTrainingRuntime") {
    return "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: " + kind +
           "\nmetadata: {name: r, namespace: ns}\nspec: {" + policies +
           " template: {spec: {replicatedJobs: [" + jobs + "]}}}\n";
}

std::string train(const std::string& fields, const std::string& reference = "name: r") {
    return "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: t, "
           "namespace: ns, uid: u}\nspec: {runtimeRef: {" +
           reference + "}" + fields + "}\n";
}

read_result read(const std::string& job, const std::string& with = {},
                 const job_options& options = {}) {
    read_result made;
    diagnostics out;
    const auto runtimes = read_documents("r", with, out);
    const auto jobs = read_documents("f", job, out);
    REQUIRE(jobs.size() == 1);
    reading_context context;
    training_runtimes known;
    for (const document& each : runtimes) {
        object_reader root(each, out);
        known.add(root, context);
    }
    {
        object_reader root(jobs[0], out);
        static_cast<job_gangs&>(made) = read_train_job(root, context, options, known);
    }
    for (const diagnostic& finding : out.findings())
        made.findings += to_text(finding) + '\n';
    return made;
}

std::string tree(const read_result& made) {
    CAPTURE(made.findings);
    REQUIRE(made.gangs.size() == 1);
    return tree_text(made.gangs[0].gang.tree);
}

const std::string torch = "mlPolicy: {numNodes: 2, torch: {numProcPerNode: auto}},";

} // namespace

TEST_CASE("a TrainJob is the gang of the JobSet that its runtime makes of it") {
    const auto made = read(train(""), runtime(torch, torch_node));
    CHECK(made.findings.empty());
    CHECK(made.losses.empty());
    CHECK(tree(made) == "2 (node 0 (node-replica-0 2))");
    CHECK(made.gangs[0].gang.name == "t");
    CHECK(made.gangs[0].gang.kind == "TrainJob");
    CHECK(made.gangs[0].gang.owners.at(0).kind == "JobSet");
    CHECK(!made.gangs[0].gang.origin);
    REQUIRE(made.gangs[0].pods.size() == 2);
    CHECK(at(made.gangs[0].pods[1].document, "metadata|name").starts_with("t-node-0-1-"));
    CHECK(at(made.gangs[0].pods[1].document, "metadata|ownerReferences|0|name") == "t-node-0");
}

TEST_CASE("with coscheduling all pods of a TrainJob are wanted, and wait for each other so long") {
    const std::string jobs =
        part("dataset-initializer", "dataset-initializer") + ", " +
        part("node", "trainer", "dependsOn: [{name: dataset-initializer, status: Complete}], ");
    const auto made = read(
        train(", trainer: {numNodes: 3}"),
        runtime(torch + " podGroupPolicy: {coscheduling: {scheduleTimeoutSeconds: 100}},", jobs));
    CHECK(made.findings.empty());
    CHECK(tree(made) == "4 (dataset-initializer 0, node 0)");
    CHECK(made.gangs[0].gang.wait_seconds == 100);
    CHECK(made.gangs[0].gang.origin == target::scheduler_plugins);
    CHECK(made.gangs[0].gang.owners.at(0).kind == "TrainJob");
    CHECK(made.gangs[0].gang.sizes.at(1).replicas == 3);
    CHECK(loss_text(made.losses).find("startup-order: TrainJob ns/t: dependsOn of node") == 0);
    const auto usual = read(train(""), runtime("podGroupPolicy: {coscheduling: {}},", torch_node));
    CHECK(usual.gangs.at(0).gang.wait_seconds == 60);
}

TEST_CASE("with Volcano a TrainJob's annotation names the queue, and the topology stays") {
    const auto made = read(
        train(", annotations: {scheduling.volcano.sh/queue-name: q}"),
        runtime(
            "podGroupPolicy: {volcano: {networkTopology: {mode: hard, highestTierAllowed: 1}}},",
            torch_node));
    CHECK(tree(made) == "1");
    CHECK(made.gangs[0].gang.origin == target::volcano);
    CHECK(made.gangs[0].gang.queue == "q");
    REQUIRE(made.gangs[0].gang.own_words.size() == 1);
    CHECK(made.gangs[0].gang.own_words[0].field == "networkTopology");
}

TEST_CASE("a TrainJob's trainer says what runs on the nodes, and torchrun finds its peers") {
    const auto made = read(
        train(
            ", trainer: {numNodes: 2, image: new, command: [a], args: [b], numProcPerNode: 4, env: "
            "[{name: X, value: z}], resourcesPerNode: {requests: {cpu: 1}}}"),
        runtime(torch, torch_node));
    CHECK(made.findings.empty());
    const auto& pod = made.gangs.at(0).pods.at(1).document;
    CHECK(at(pod, "spec|containers|0|image") == "new");
    CHECK(at(pod, "spec|containers|0|command") == R"(["a"])");
    CHECK(at(pod, "spec|containers|0|resources|requests|cpu") == "1");
    CHECK(env_of(pod, "X") == "z");
    CHECK(env_of(pod, "PET_NNODES") == "2");
    CHECK(env_of(pod, "PET_NPROC_PER_NODE") == "4");
    CHECK(env_of(pod, "PET_MASTER_ADDR") == "t-node-0-0.t");
    CHECK(env_of(pod, "PET_MASTER_PORT") == "29400");
}

TEST_CASE("of an MPI runtime the nodes grow, one less when the launcher is a node") {
    const std::string jobs = part("launcher", "trainer") + ", " + part("node", "");
    const std::string policy = "mlPolicy: {numNodes: 1, mpi: {numProcPerNode: 8";
    CHECK(tree(read(train(", trainer: {numNodes: 4}"), runtime(policy + "}},", jobs))) ==
          "5 (launcher 0 (launcher-replica-0 1), node 0 (node-replica-0 4))");
    const auto made = read(train(", trainer: {numNodes: 4}"),
                           runtime(policy + ", runLauncherAsNode: true}},", jobs));
    CHECK(tree(made) == "4 (launcher 0 (launcher-replica-0 1), node 0 (node-replica-0 3))");
    CHECK(env_of(made.gangs[0].pods[0].document, "OMPI_MCA_orte_set_default_slots") == "8");
}

TEST_CASE("initializers get what the TrainJob says of data and model") {
    const std::string jobs = part("dataset-initializer", "dataset-initializer") + ", " + torch_node;
    const auto made = read(train(", initializer: {dataset: {storageUri: 'hf://d', env: [{name: A, "
                                 "value: b}], secretRef: {name: s}}}"),
                           runtime(torch, jobs));
    const auto& pod = made.gangs.at(0).pods.at(0).document;
    CHECK(env_of(pod, "STORAGE_URI") == "hf://d");
    CHECK(env_of(pod, "A") == "b");
    CHECK(at(pod, "spec|containers|0|envFrom|0|secretRef|name") == "s");
}

TEST_CASE("overrides change the pods of the replicated jobs that they name") {
    const std::string change =
        "metadata: {labels: {team: x}}, spec: {serviceAccountName: sa, nodeSelector: {a: b}, "
        "tolerations: [{operator: Exists}], containers: [{name: node, env: [{name: E, value: "
        "f}]}]}";
    const auto check = [](const read_result& made) {
        CHECK(made.findings.empty());
        const auto& pod = made.gangs.at(0).pods.at(0).document;
        CHECK(at(pod, "metadata|labels|team") == "x");
        CHECK(at(pod, "spec|serviceAccountName") == "sa");
        CHECK(at(pod, "spec|nodeSelector|a") == "b");
        CHECK(at(pod, "spec|tolerations|0|operator") == "Exists");
        CHECK(env_of(pod, "E") == "f");
        CHECK(at(pod, "spec|containers|0|image") == "old");
    };
    check(read(train(", podTemplateOverrides: [{targetJobs: [{name: node}], " + change + "}]"),
               runtime(torch, torch_node)));
    check(read(train(", runtimePatches: [{manager: m, trainingRuntimeSpec: {template: {spec: "
                     "{replicatedJobs: [{name: node, template: {spec: {template: {" +
                     change + "}}}}]}}}}]"),
               runtime(torch, torch_node)));
}

TEST_CASE("a TrainJob of a runtime that is not there is a gang without pods, and says so") {
    const auto made = read(train(", trainer: {numNodes: 3}"));
    CHECK(tree(made) == "3");
    CHECK(made.gangs[0].pods.empty());
    CHECK(made.findings.find("warning: its runtime \"r\" is not in the input") !=
          std::string::npos);
    // A runtime of a namespace serves only those who ask for one.
    CHECK(read(train(""), runtime(torch, torch_node, "TrainingRuntime"))
              .findings.find("is not in the input") != std::string::npos);
    CHECK(read(train("", "name: r, kind: TrainingRuntime"),
               runtime(torch, torch_node, "TrainingRuntime"))
              .findings.empty());
}

TEST_CASE("bad TrainJobs and runtimes are refused at the field that is wrong") {
    const auto refused = [](const read_result& made, const std::string& finding) {
        CAPTURE(made.findings);
        CHECK(made.findings.find(finding) != std::string::npos);
    };
    refused(read(train(", trainer: {numNodes: 0}")), "spec.trainer.numNodes: found 0");
    refused(read(train(", trainer: {numNodes: 2000000}"), runtime(torch, torch_node)),
            "the job has more than 1000000 pods");
    refused(read(train("", "kind: x, name: r")), "spec.runtimeRef.kind: \"x\" is no runtime");
    refused(
        read(train(""), runtime("podGroupPolicy: {coscheduling: {}, volcano: {}},", torch_node)),
        "coscheduling is there too");
    refused(read(train(""), runtime(torch, torch_node) + "---\n" + runtime(torch, torch_node)),
            "the runtime \"r\" is there twice");
}

} // namespace codec_train_job_reader_test
