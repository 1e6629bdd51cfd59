// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/jobset/job_set_reader.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/apis/write_all.hpp>
#include <muster/job_fixture.hpp>

namespace codec_job_set_reader_test {

using namespace muster_job_fixture;

namespace {

std::string replicated(const std::string& name, int replicas, int parallelism,
                       const std::string& annotations = {}, const std::string& extra = {}) {
    return "  - {name: " + name + ", replicas: " + std::to_string(replicas) + ", " + extra +
           "template: {metadata: {annotations: {" + annotations +
           "}}, spec: {parallelism: " + std::to_string(parallelism) +
           ", template: {spec: {containers: [{name: c}]}}}}}\n";
}

std::string set(const std::string& jobs, const std::string& fields = {},
                const std::string& annotations = {}) {
    return "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: s, namespace: ns, "
           "annotations: {" +
           annotations + "}}\nspec:\n" + fields + "  replicatedJobs:\n" + jobs;
}

read_result read(const std::string& text) {
    return read_job(read_job_set, text);
}

std::string tree(const std::string& text) {
    const auto made = read(text);
    CAPTURE(made.findings);
    REQUIRE(made.gangs.size() == 1);
    return tree_text(made.gangs[0].gang.tree);
}

const std::string two = replicated("driver", 1, 1) + replicated("worker", 2, 3);

} // namespace

TEST_CASE("the first version of JobSet called its replicated jobs `jobs`") {
    std::string text = set(two);
    text.replace(text.find("v1alpha2"), 8, "v1alpha1");
    text.replace(text.find("replicatedJobs"), 14, "jobs");
    CHECK(tree(text) == tree(set(two)));
}

TEST_CASE("a JobSet is one gang with a subgroup per replicated job and a leaf per Job") {
    const auto made = read(set(two));
    CHECK(made.findings.empty());
    CHECK(made.gangs.at(0).gang.name == "s");
    CHECK(tree_text(made.gangs.at(0).gang.tree) ==
          "7 (driver 0 (driver-replica-0 1), worker 0 (worker-replica-0 3, worker-replica-1 3))");
    CHECK(made.gangs.at(0).pods.size() == 7);
    CHECK(made.gangs.at(0).pods.at(4).leaf.value() == 5);
    CHECK(made.gangs.at(0).gang.sizes.size() == 3);
}

TEST_CASE("replicated jobs that start in order are wanted one at a time") {
    const auto made = read(set(two, "  startupPolicy: {startupPolicyOrder: InOrder}\n"));
    CHECK(tree_text(made.gangs.at(0).gang.tree) ==
          "0/1 (driver 0 (driver-replica-0 1), worker 0 (worker-replica-0 3, worker-replica-1 3))");
    CHECK(loss_text(made.losses).find("startup-order: JobSet ns/s: startupPolicy InOrder") == 0);
}

TEST_CASE("an annotation of a JobSet says how many replicated jobs are wanted, at most all") {
    const std::string key = "kai.scheduler/batch-min-member: ";
    CHECK(tree(set(two, {}, key + "\"1\"")).starts_with("0/1 ("));
    CHECK(tree(set(two, {}, key + "\"9\"")).starts_with("7 ("));
}

TEST_CASE("an annotation of a Job's template says how many of its pods are wanted") {
    CHECK(tree(set(replicated("w", 1, 3, "kai.scheduler/batch-min-member: \"2\""))) ==
          "2 (w 0 (w-replica-0 2))");
}

TEST_CASE("annotations of a Job's template say how close its pods are to stand") {
    const auto made = read(set(replicated("w", 2, 1,
                                          "kai.scheduler/topology: t, "
                                          "kai.scheduler/topology-required-placement: rack")));
    const auto& gang = made.gangs.at(0).gang;
    CHECK(!gang.tree[0].together);
    REQUIRE(gang.tree[2].together);
    CHECK(gang.tree[2].together->within.levels.at(0) == "rack");
    CHECK(gang.topology_name == "t");
}

TEST_CASE("an exclusive topology puts each Job into one domain, from which its first pod keeps "
          "others") {
    const auto made = read(set(two, {}, "alpha.jobset.sigs.k8s.io/exclusive-topology: nodepool"));
    const auto& tree = made.gangs.at(0).gang.tree;
    REQUIRE(tree[2].together);
    CHECK(tree[2].together->within.levels.at(0) == "nodepool");
    CHECK(loss_text(made.losses).empty());
    for (const auto& pod : made.gangs[0].pods) {
        const std::string text = boost::json::serialize(pod.document);
        const bool is_first = text.find("job-completion-index\":\"0\"") != std::string::npos;
        CHECK((text.find("\"topologyKey\":\"nodepool\",\"namespaceSelector\":{}") !=
               std::string::npos) == is_first);
    }
}

TEST_CASE("the pods of a JobSet are those of its Jobs, with the labels of both") {
    const auto made = read(set(two));
    const auto& pod = made.gangs.at(0).pods.at(5).document;
    CHECK(at(pod, "metadata|name").starts_with("s-worker-1-1-"));
    CHECK(at(pod, "metadata|labels|jobset.sigs.k8s.io/jobset-name") == "s");
    CHECK(at(pod, "metadata|labels|jobset.sigs.k8s.io/replicatedjob-name") == "worker");
    CHECK(at(pod, "metadata|labels|jobset.sigs.k8s.io/job-index") == "1");
    CHECK(at(pod, "metadata|annotations|jobset.sigs.k8s.io/job-global-index") == "2");
    CHECK(at(pod, "metadata|labels|batch.kubernetes.io/job-completion-index") == "1");
    CHECK(at(pod, "metadata|labels|job-name") == "s-worker-1");
    CHECK(at(pod, "metadata|ownerReferences|0|name") == "s-worker-1");
    CHECK(at(pod, "spec|hostname") == "s-worker-1-1");
    CHECK(at(pod, "spec|subdomain") == "s");
    const auto plain = read(set(two, "  network: {enableDNSHostnames: false}\n"));
    CHECK(at(plain.gangs.at(0).pods.at(0).document, "spec|subdomain").empty());
    const auto other = read(set(two, "  network: {subdomain: net}\n"));
    CHECK(at(other.gangs.at(0).pods.at(0).document, "spec|subdomain") == "net");
}

TEST_CASE("what a JobSet says of order and end is a loss") {
    const auto made =
        read(set(replicated("a", 1, 1) +
                     replicated("b", 1, 1, {}, "dependsOn: [{name: a, status: Ready}], "),
                 "  failurePolicy: {maxRestarts: 3}\n  suspend: true\n"));
    CHECK(loss_text(made.losses) ==
          "startup-order: JobSet ns/s: dependsOn of b: its Jobs are made when others are ready or "
          "complete; here they start together\n"
          "lifecycle: JobSet ns/s: failurePolicy, suspend: the job's own controller sees to it\n");
}

TEST_CASE("a JobSet whose templates name a group elsewhere has loose pods only") {
    const auto made =
        read("apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: s}\nspec:\n  "
             "replicatedJobs:\n  - {name: w, replicas: 2, template: {spec: {template: {metadata: "
             "{annotations: {pod-group-name: g}}, spec: {containers: [{name: c}]}}}}}\n");
    CHECK(made.gangs.empty());
    CHECK(made.loose_pods.size() == 2);
}

TEST_CASE("a JobSet that asks to be scheduled as a gang is one gang of all its pods") {
    for (const std::string asked :
         {"  scheduling: {schedulingPolicy: {gang: {}}, disruptionMode: {all: {}}}\n",
          "  scheduling: {policy: {gang: {}}, disruptionMode: {all: {}}}\n"}) {
        const auto made = read(set(two, asked));
        CHECK(made.findings.empty());
        REQUIRE(made.gangs.size() == 1);
        CHECK(made.gangs[0].gang.name == "s");
        CHECK(tree_text(made.gangs[0].gang.tree) == "7 (driver 0, worker 0)");
        CHECK(made.gangs[0].gang.origin == target::workload_1_37);
        REQUIRE(made.gangs[0].gang.own_words.size() == 1);
        CHECK(made.gangs[0].gang.own_words[0].field == "disruptionMode");
        CHECK(made.gangs[0].pods.size() == 7);
    }
    CHECK(tree(set(two, "  scheduling: {schedulingPolicy: {gang: {minCount: 4}}}\n")) ==
          "4 (driver 0, worker 0)");
    CHECK(tree(set(two, "  gangPolicy: {policy: JobSetAsGang}\n")) == "7 (driver 0, worker 0)");
    // The podgrouper does not look at it.
    CHECK(tree_text(read_job(read_job_set, set(two, "  scheduling: {policy: {gang: {}}}\n"),
                             {job_rules::podgrouper, true})
                        .gangs.at(0)
                        .gang.tree)
              .starts_with("7 (driver 0 ("));
}

TEST_CASE("entries of a JobSet's scheduling are gangs of the replicated jobs that they name") {
    const auto made = read(set(
        two, "  scheduling: {replicatedJobs: [{targetReplicatedJobs: [driver], schedulingPolicy: "
             "{basic: {}}}, {targetReplicatedJobs: [worker], schedulingPolicy: {gang: {}}, "
             "schedulingConstraints: {topology: [{key: rack}]}}]}\n"));
    CHECK(made.findings.empty());
    REQUIRE(made.gangs.size() == 2);
    CHECK(made.gangs[0].gang.name == "s-driver");
    CHECK(tree_text(made.gangs[0].gang.tree) == "1");
    CHECK(made.gangs[1].gang.name == "s-worker");
    CHECK(tree_text(made.gangs[1].gang.tree) == "6");
    REQUIRE(made.gangs[1].gang.tree[0].together);
    CHECK(made.gangs[1].gang.tree[0].together->within.levels.at(0) == "rack");
    CHECK(made.gangs[1].pods.size() == 6);
    const auto together = read(
        set(two, "  scheduling: {replicatedJobPolicies: [{targetReplicatedJob: [driver, worker], "
                 "schedulingPolicy: {gang: {}}}]}\n"));
    REQUIRE(together.gangs.size() == 1);
    CHECK(together.gangs[0].gang.name == "s-driver-worker");
    CHECK(tree_text(together.gangs[0].gang.tree) == "7 (driver 0, worker 0)");
}

TEST_CASE("an entry for Jobs makes a gang of each, and what no entry names is a gang of its own") {
    const auto made =
        read(set(two, "  scheduling: {replicatedJobs: [{targetReplicatedJobs: [worker], job: "
                      "{schedulingPolicy: {gang: {}}}}]}\n"));
    REQUIRE(made.gangs.size() == 3);
    CHECK(made.gangs[0].gang.name == "s-worker-0");
    CHECK(tree_text(made.gangs[0].gang.tree) == "3");
    CHECK(pod_names(made.gangs[1].pods).starts_with("s-worker-1-0-"));
    CHECK(made.gangs[2].gang.name == "s-driver");
    CHECK(tree_text(made.gangs[2].gang.tree) == "1");
}

TEST_CASE("what an entry of a JobSet's scheduling leaves open it has as the set says it") {
    const auto made = read(set(
        two + replicated("rest", 2, 2),
        "  scheduling: {schedulingPolicy: {basic: {}}, schedulingConstraints: {topology: [{key: "
        "zone}]}, disruptionMode: {all: {}}, replicatedJobs: [{targetReplicatedJobs: [driver], "
        "schedulingPolicy: {gang: {}}, disruptionMode: {single: {}}}, {targetReplicatedJobs: "
        "[worker], schedulingConstraints: {topology: [{key: rack}]}}]}\n"));
    REQUIRE(made.gangs.size() == 3);
    const auto level = [&](std::size_t gang) {
        const auto& together = made.gangs[gang].gang.tree[0].together;
        return together ? together->within.levels.front() : std::string();
    };
    CHECK(level(0) == "zone");
    CHECK(level(1) == "rack");
    CHECK(level(2) == "zone");
    CHECK(made.gangs[0].gang.own_words[0].value.as_object().contains("single"));
    CHECK(made.gangs[1].gang.own_words[0].value.as_object().contains("all"));
    // The workers and the rest are basic, as the set is.
    CHECK(tree_text(made.gangs[1].gang.tree) == "1");
    CHECK(tree_text(made.gangs[2].gang.tree) == "1");
    // Where the set says nothing, they are gangs.
    const auto all =
        read(set(two + replicated("rest", 2, 2),
                 "  scheduling: {replicatedJobs: [{targetReplicatedJobs: [driver, worker]}]}\n"));
    REQUIRE(all.gangs.size() == 2);
    CHECK(tree_text(all.gangs[0].gang.tree) == "7 (driver 0, worker 0)");
    CHECK(tree_text(all.gangs[1].gang.tree) == "4");
}

TEST_CASE("a JobSet whose policy is basic has groups per replicated job in which nobody waits") {
    const auto made = read(set(two, "  scheduling: {schedulingPolicy: {basic: {}}}\n"));
    REQUIRE(made.gangs.size() == 2);
    CHECK(made.gangs[1].gang.name == "s-worker");
    CHECK(tree_text(made.gangs[1].gang.tree) == "1");
}

TEST_CASE("replicated jobs that wait for others are gangs of their own") {
    const auto made =
        read(set(replicated("a", 1, 1) +
                     replicated("b", 1, 2, {}, "dependsOn: [{name: a, status: Ready}], "),
                 "  scheduling: {}\n"));
    REQUIRE(made.gangs.size() == 2);
    CHECK(made.gangs[1].gang.name == "s-b");
    CHECK(tree_text(made.gangs[1].gang.tree) == "2");
}

TEST_CASE("the older gangPolicy names gangs per replicated job, or takes those of a Workload") {
    CHECK(read(set(two, "  gangPolicy: {policy: JobSetGangPerReplicatedJob}\n")).gangs.size() == 2);
    const auto made =
        read(set(two, "  gangPolicy: {policy: JobSetWorkloadTemplate, workload: {spec: {podGroups: "
                      "[{name: worker, policy: {gang: {minCount: 5}}}]}}}\n"));
    REQUIRE(made.gangs.size() == 2);
    CHECK(made.gangs[0].gang.name == "s-worker");
    CHECK(tree_text(made.gangs[0].gang.tree) == "5");
    CHECK(made.gangs[0].gang.origin == target::workload_1_35);
    CHECK(tree_text(made.gangs[1].gang.tree) == "1");
}

TEST_CASE(
    "gangs of the older gangPolicy are groups of one Workload, with what its template bears") {
    const auto workload_of = [](const std::string& policy) {
        const auto read = muster_job_fixture::read_job(
            read_job_set, set(two, "  gangPolicy: {policy: " + policy + "}\n"));
        const written all = write_all(target::workload_1_35, read.gangs);
        CHECK(all.violations.empty());
        std::string made;
        for (const auto& each : all.objects)
            if (each.at("kind") == "Workload")
                made += at(each, "metadata|name") + at(each, "metadata|labels") +
                        at(each, "metadata|annotations") + at(each, "spec|podGroups") + "\n";
        return made;
    };
    CHECK(
        workload_of("JobSetWorkloadTemplate, workload: {metadata: {labels: {app: x}, annotations: "
                    "{note: z}}, spec: {podGroups: [{name: worker, policy: {gang: {minCount: "
                    "5}}}, {name: driver, policy: {gang: {minCount: 1}}}]}}") ==
        R"(s{"app":"x","jobset.sigs.k8s.io/jobset-name":"s"}{"note":"z"})"
        R"([{"name":"worker","policy":{"gang":{"minCount":5}}},)"
        R"({"name":"driver","policy":{"gang":{"minCount":1}}}])"
        "\n");
    CHECK(workload_of("JobSetAsGang") == R"(s{"jobset.sigs.k8s.io/jobset-name":"s"})"
                                         R"([{"name":"s","policy":{"gang":{"minCount":7}}}])"
                                         "\n");
    CHECK(workload_of("JobSetGangPerReplicatedJob") ==
          R"(s{"jobset.sigs.k8s.io/jobset-name":"s"})"
          R"([{"name":"driver","policy":{"gang":{"minCount":1}}},)"
          R"({"name":"worker","policy":{"gang":{"minCount":6}}}])"
          "\n");
    // Other targets bear the template's labels too.
    const auto read =
        read_job(read_job_set,
                 set(two, "  gangPolicy: {policy: JobSetWorkloadTemplate, workload: {metadata: "
                          "{labels: {app: x}}, spec: {podGroups: [{name: worker, policy: "
                          "{gang: {minCount: 5}}}]}}}\n"));
    CHECK(at(write(target::volcano, read.gangs[0]).objects[0], "metadata|labels|app") == "x");
}

TEST_CASE("bad JobSets are refused at the field that is wrong") {
    const auto refused = [](const std::string& text, const std::string& finding) {
        const auto made = read(text);
        CAPTURE(made.findings);
        CHECK(made.findings.find(finding) != std::string::npos);
    };
    refused(set("    []\n"), "spec.replicatedJobs: no replicated job is there");
    refused(set(replicated("a", 1, 1) + replicated("a", 1, 1)),
            "spec.replicatedJobs[1].name: \"a\" is there twice");
    refused(set(replicated("a", -1, 1)), "spec.replicatedJobs[0].replicas: found -1");
    refused(set(replicated("a", 2000000000, 2000000000)), "the job has more than 1000000 pods");
    refused(set(two, "  startupPolicy: {startupPolicyOrder: Maybe}\n"),
            "startupPolicyOrder: \"Maybe\" is no order");
    refused(set(two, "  gangPolicy: {policy: x}\n"), "spec.gangPolicy.policy: \"x\" is no policy");
    refused(set(two, "  scheduling: {replicatedJobs: [{targetReplicatedJobs: [x]}]}\n"),
            "targetReplicatedJobs[0]: \"x\" is no replicated job");
    refused(set(two, "  scheduling: {replicatedJobs: [{schedulingPolicy: {gang: {}}}]}\n"),
            "spec.scheduling.replicatedJobs[0]: no replicated job is named");
    refused(set(two, {}, "kai.scheduler/batch-min-member: x"), "\"x\" is not a minimum");
}

} // namespace codec_job_set_reader_test
