// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/volcano/job_reader.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/job_fixture.hpp>

namespace codec_volcano_job_reader_test {

using namespace muster_job_fixture;

namespace {

std::string task(const std::string& fields) {
    return "  - {" + fields + ", template: {spec: {containers: [{name: c, image: i}]}}}\n";
}

std::string job(const std::string& tasks, const std::string& fields = {}) {
    return "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: j, namespace: ns, "
           "uid: u}\nspec:\n" +
           fields + "  tasks:\n" + tasks;
}

read_result read(const std::string& text, const job_options& options = {}) {
    return read_job(read_volcano, text, options);
}

std::string tree(const std::string& text) {
    const read_result made = read(text);
    CAPTURE(made.findings);
    REQUIRE(made.gangs.size() == 1);
    return tree_text(made.gangs[0].gang.tree);
}

} // namespace

TEST_CASE("a Volcano Job without minAvailable wants what its tasks want together") {
    CHECK(tree(job(task("name: a, replicas: 2") + task("name: b, replicas: 4, minAvailable: 1"))) ==
          "3 (a 2, b 1)");
    CHECK(tree(job(task("name: a, replicas: 2"))) == "2");
    CHECK(tree(job(task("name: a, replicas: 2"), "  minAvailable: 0\n")) == "2");
}

TEST_CASE("the minima of tasks are heeded only when the job's own is not below their sum") {
    const std::string tasks = task("name: a, replicas: 2, minAvailable: 1") +
                              task("name: b, replicas: 4, minAvailable: 2");
    CHECK(tree(job(tasks, "  minAvailable: 3\n")) == "3 (a 1, b 2)");
    CHECK(tree(job(tasks, "  minAvailable: 5\n")) == "5 (a 1, b 2)");
    CHECK(tree(job(tasks, "  minAvailable: 2\n")) == "2 (a 0, b 0)");
    // A task that names no minimum wants all its replicas.
    CHECK(tree(job(task("name: a, replicas: 6") + task("name: b, replicas: 1"),
                   "  minAvailable: 3\n")) == "3 (a 0, b 0)");
}

TEST_CASE("a task in partitions is a subgroup of which enough parts must be whole") {
    CHECK(tree(job(task("name: a, replicas: 6, partitionPolicy: {totalPartitions: 3, "
                        "partitionSize: 2, minPartitions: 2, networkTopology: {mode: hard, "
                        "highestTierAllowed: 1}}"))) == "4 (a 4/2 (a-0 2, a-1 2, a-2 2))");
    const auto made = read(job(task("name: a, replicas: 4, partitionPolicy: {totalPartitions: 2, "
                                    "partitionSize: 2, networkTopology: {mode: soft, "
                                    "highestTierName: rack}}")));
    const auto& gang = made.gangs.at(0).gang;
    CHECK(tree_text(gang.tree) == "4 (a 4/0 (a-0 2, a-1 2))");
    REQUIRE(gang.own_words.size() == 1);
    CHECK(gang.own_words[0].field == "subGroupPolicy");
    CHECK(gang.own_words[0].what == loss_kind::topology_preferred);
    CHECK(boost::json::serialize(gang.own_words[0].value) ==
          R"([{"name":"a","subGroupSize":2,"minSubGroups":0,"labelSelector":{"matchLabels":)"
          R"({"volcano.sh/task-spec":"a"}},"matchLabelKeys":["volcano.sh/partition-id"],)"
          R"("networkTopology":{"mode":"soft","highestTierName":"rack"}}])");
    CHECK(made.gangs.at(0).pods.at(2).leaf.value() == 3);
    CHECK(at(made.gangs.at(0).pods.at(2).document, "metadata|labels|volcano.sh/partition-id") ==
          "1");
}

TEST_CASE("a Volcano Job's network topology holds for the whole gang") {
    const auto made = read(job(task("name: a, replicas: 2"),
                               "  networkTopology: {mode: hard, highestTierAllowed: 2}\n"));
    const auto& words = made.gangs.at(0).gang.own_words;
    REQUIRE(words.size() == 1);
    CHECK(words[0].api == gang_api::volcano);
    CHECK(words[0].what == loss_kind::topology_required);
    CHECK(words[0].field == "networkTopology");
    CHECK(boost::json::serialize(words[0].value) == R"({"mode":"hard","highestTierAllowed":2})");
}

TEST_CASE("a Volcano Job's gang is named after the job and its uid, and asks for queue and class") {
    const auto made =
        read(job(task("name: a, replicas: 1"), "  queue: q\n  priorityClassName: high\n"));
    CHECK(made.findings.empty());
    CHECK(made.gangs.at(0).gang.name == "j-u");
    CHECK(made.gangs.at(0).gang.queue == "q");
    CHECK(made.gangs.at(0).gang.priority.class_name == "high");
    CHECK(at(made.gangs.at(0).pods.at(0).document, "spec|priorityClassName") == "high");
    CHECK(!read(job(task("name: a, replicas: 1"))).gangs.at(0).gang.queue);
}

TEST_CASE("a Volcano Job's pods are named and marked as its controller does it") {
    const auto made = read(job(task("replicas: 1") + task("name: w, replicas: 2")));
    CHECK(pod_names(made.gangs.at(0).pods) == "j-default0-0 j-w-0 j-w-1");
    const auto& pod = made.gangs.at(0).pods.at(2).document;
    CHECK(at(pod, "metadata|labels|volcano.sh/task-spec") == "w");
    CHECK(at(pod, "metadata|labels|volcano.sh/task-index") == "1");
    CHECK(at(pod, "metadata|labels|volcano.sh/job-name") == "j");
    CHECK(at(pod, "metadata|labels|volcano.sh/queue-name") == "default");
    CHECK(at(pod, "metadata|labels|volcano.sh/job-namespace") == "ns");
    CHECK(made.gangs.at(0).gang.origin == target::volcano);
    CHECK(made.gangs.at(0).gang.kind == "Job");
}

TEST_CASE("the marks of Volcano stand beside the pods, which another API may mark") {
    const auto made = read(job(task("replicas: 1")));
    const auto& pod = made.gangs.at(0).pods.at(0).document;
    CHECK(boost::json::serialize(made.gangs.at(0).pods.at(0).marks) ==
          R"({"metadata":{"annotations":{"scheduling.k8s.io/group-name":"j-u"}},)"
          R"("spec":{"schedulerName":"volcano"}})");
    CHECK(at(pod, "metadata|annotations|scheduling.k8s.io/group-name").empty());
    CHECK(at(pod, "spec|schedulerName").empty());
}

TEST_CASE("the plugins env, svc and pytorch tell pods their index, host name and peers") {
    const auto made =
        read(job(task("name: master, replicas: 1") + task("name: worker, replicas: 2"),
                 "  plugins: {env: [], svc: [], pytorch: [\"--port=99\"], mpi: []}\n"));
    const auto& pods = made.gangs.at(0).pods;
    CHECK(env_of(pods.at(2).document, "VC_TASK_INDEX") == "1");
    CHECK(env_of(pods.at(2).document, "VC_WORKER_NUM") ==
          R"({"configMapKeyRef":{"name":"j-svc","key":"VC_WORKER_NUM"}})");
    CHECK(at(pods.at(2).document, "spec|hostname") == "j-worker-1");
    CHECK(at(pods.at(2).document, "spec|subdomain") == "j");
    CHECK(env_of(pods.at(2).document, "MASTER_ADDR") == "j-master-0.j");
    CHECK(env_of(pods.at(2).document, "MASTER_PORT") == "99");
    CHECK(env_of(pods.at(2).document, "WORLD_SIZE") == "3");
    CHECK(env_of(pods.at(2).document, "RANK") == "2");
    CHECK(env_of(pods.at(0).document, "MPI_HOST") == "j-worker-0.j,j-worker-1.j");
}

TEST_CASE("a Volcano Job's volumes are claims that all its pods mount") {
    const auto made =
        read(job(task("replicas: 1"), "  volumes: [{mountPath: /d, volumeClaimName: data}]\n"));
    const auto& pod = made.gangs.at(0).pods.at(0).document;
    CHECK(at(pod, "spec|volumes") ==
          R"([{"name":"j-volume-0","persistentVolumeClaim":{"claimName":"data"}}])");
    CHECK(at(pod, "spec|containers|0|volumeMounts") ==
          R"([{"name":"j-volume-0","mountPath":"/d"}])");
}

TEST_CASE("claims that a Volcano Job describes for its volumes are made, each once") {
    const auto made = read(job(task("replicas: 2"),
                               "  volumes: [{mountPath: /d, volumeClaimName: data}, {mountPath: "
                               "/e, volumeClaim: {accessModes: [a]}}, {mountPath: /f, "
                               "volumeClaimName: own, volumeClaim: {accessModes: [b]}}]\n"));
    CHECK(made.findings == "");
    REQUIRE(made.companions.size() == 2);
    CHECK(at(made.companions[0], "kind") == "PersistentVolumeClaim");
    CHECK(at(made.companions[0], "metadata|name") == "j-volume-1");
    CHECK(at(made.companions[0], "spec") == R"({"accessModes":["a"]})");
    CHECK(at(made.companions[0], "metadata|ownerReferences|0|kind") == "Job");
    CHECK(at(made.companions[1], "metadata|name") == "own");
    CHECK(at(made.gangs.at(0).pods.at(1).document, "spec|volumes|1|persistentVolumeClaim") ==
          R"({"claimName":"j-volume-1"})");
}

TEST_CASE("a volume of a Volcano Job without a claim is warned of, and what it says is checked") {
    const auto findings = [](const std::string& volume) {
        return read(job(task("replicas: 1"), "  volumes: [{" + volume + "}]\n")).findings;
    };
    CHECK(findings("mountPath: /d, volumeClaimName: data") == "");
    CHECK(
        findings("mountPath: /d")
            .find(
                "warning: spec.volumes[0]: no controller creates the claim that its pods mount") !=
        std::string::npos);
    CHECK(findings("mountPath: 3, volumeClaimName: data").find("spec.volumes[0].mountPath") !=
          std::string::npos);
    CHECK(findings("volumeClaim: x, mountPath: /d").find("spec.volumes[0].volumeClaim") !=
          std::string::npos);
}

TEST_CASE("a Volcano Job's gang has the job's own priority class, never that of a task") {
    const std::string tasks =
        "  - {name: a, replicas: 1, template: {spec: {priorityClassName: task, containers: "
        "[{name: c}]}}}\n";
    const auto class_of = [&](const std::string& rest) {
        return read(job(tasks, rest)).gangs.at(0).gang.priority.class_name;
    };
    CHECK(class_of("") == "");
    CHECK(class_of("  priorityClassName: own\n") == "own");
    CHECK(at(read(job(tasks, "")).gangs.at(0).pods.at(0).document, "spec|priorityClassName") ==
          "task");
}

TEST_CASE("order, policies and clean up of a Volcano Job are losses") {
    const auto made = read(job(task("name: a, replicas: 1, policies: [{event: TaskCompleted, "
                                    "action: CompleteJob}]") +
                                   task("name: b, replicas: 1, dependsOn: {name: [a]}"),
                               "  maxRetry: 5\n  ttlSecondsAfterFinished: 9\n"));
    CHECK(loss_text(made.losses) ==
          "startup-order: Job ns/j: dependsOn of task b: its pods wait for other tasks; here they "
          "start together\n"
          "lifecycle: Job ns/j: maxRetry, policies, ttlSecondsAfterFinished: the job's own "
          "controller sees to it\n");
}

TEST_CASE("a CronJob of Volcano stands for one of its Jobs") {
    const auto made = read_job(
        read_volcano_cron_job,
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: CronJob\nmetadata: {name: c, uid: "
        "u}\nspec:\n  "
        "schedule: \"* * * * *\"\n  concurrencyPolicy: Forbid\n  jobTemplate: {spec: "
        "{minAvailable: "
        "1, tasks: [{name: t, replicas: 2, template: {spec: {containers: [{name: c}]}}}]}}\n");
    REQUIRE(made.gangs.size() == 1);
    CHECK(made.gangs[0].gang.name == "c-0");
    CHECK(made.gangs[0].gang.kind == "Job");
    CHECK(tree_text(made.gangs[0].gang.tree) == "1");
    CHECK(pod_names(made.gangs[0].pods) == "c-0-t-0 c-0-t-1");
    CHECK(made.findings.find("\"c-0\" stands for one of them") != std::string::npos);
    CHECK(loss_text(made.losses).find("concurrencyPolicy") != std::string::npos);
}

TEST_CASE("a JobTemplate is read as the Job of its name, a JobFlow has no gang of its own") {
    const auto made = read_job(read_volcano_template, job(task("name: a, replicas: 2")));
    CHECK(made.gangs.at(0).pods.size() == 2);
    CHECK(made.findings.find("a JobTemplate runs when a JobFlow names it") != std::string::npos);
    const auto flow = read_job(read_volcano_flow,
                               "apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: "
                               "{name: f}\nspec: {flows: [{name: a}]}\n");
    CHECK(flow.gangs.empty());
    CHECK(flow.findings.find("warning: its Jobs are made of the JobTemplates") !=
          std::string::npos);
    CHECK(loss_text(flow.losses).find("startup-order: JobFlow default/f") == 0);
}

TEST_CASE("bad Volcano Jobs are refused at the field that is wrong") {
    const auto refused = [](const std::string& text, const std::string& finding) {
        const auto made = read(text);
        CAPTURE(made.findings);
        CHECK(made.findings.find(finding) != std::string::npos);
    };
    refused(job(task("name: a, replicas: 1"), "  minAvailable: 2\n"),
            "f:5:17: spec.minAvailable: 2 is more than all replicas (expected at most 1)");
    refused(job(task("name: a, replicas: 1, minAvailable: 2")),
            "spec.tasks[0].minAvailable: 2 is more than replicas (expected at most 1)");
    refused(job(task("name: a, replicas: 1") + task("name: a, replicas: 1")),
            "spec.tasks[1].name: \"a\" is there twice");
    refused(job(task("name: a, replicas: -1")), "spec.tasks[0].replicas: found -1");
    refused(job("    []\n"), "spec.tasks: no task is there");
    refused(job(task("name: a, replicas: 5, partitionPolicy: {totalPartitions: 2, partitionSize: "
                     "2}")),
            "totalPartitions: 2 partitions of 2 are not the task's replicas (expected 5 in all)");
    refused(job(task("name: a, replicas: 4, partitionPolicy: {totalPartitions: 2, partitionSize: "
                     "2, minPartitions: 3}")),
            "minPartitions: 3 is more than totalPartitions (expected at most 2)");
    refused(job(task("name: a, replicas: 1"), "  networkTopology: {mode: medium}\n"),
            "spec.networkTopology.mode: \"medium\" is no mode");
    refused(job(task("name: a, replicas: 2000000000, partitionPolicy: {totalPartitions: "
                     "2000000000, partitionSize: 1}")),
            "the job has more than 1000000 pods");
}

} // namespace codec_volcano_job_reader_test
