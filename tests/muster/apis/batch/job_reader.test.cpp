// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/batch/job_reader.hpp>

#include <string>
#include <vector>

#include <boost/json/object.hpp>
#include <doctest/doctest.h>

#include <muster/job_fixture.hpp>

namespace codec_batch_job_reader_test {

namespace fixture = muster_job_fixture;
using namespace muster::translate;
using fixture::at;
using fixture::pod_names;
using fixture::read_result;
using fixture::tree_text;

namespace {

const std::string pods = "template: {spec: {containers: [{name: c}]}}";

std::string job(const std::string& spec, const std::string& annotations = {}) {
    return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: ns, uid: u, "
           "annotations: {" +
           annotations + "}}\nspec: {" + spec + ", " + pods + "}\n";
}

read_result read(const std::string& text) {
    return fixture::read_job(muster::codec::read_job, text);
}

read_result cron(const std::string& text) {
    return fixture::read_job(muster::codec::read_cron_job, text);
}

std::string tree(const read_result& made) {
    REQUIRE(made.gangs.size() == 1);
    return tree_text(made.gangs[0].gang.tree);
}

} // namespace

TEST_CASE("a Job is a gang of one at least, and the rest of its parallelism is surplus") {
    const auto made = read(job("parallelism: 3"));
    CHECK(made.findings.empty());
    CHECK(made.losses.empty());
    CHECK(tree(made) == "1");
    CHECK(made.gangs[0].gang.name == "j");
    CHECK(made.gangs[0].gang.sizes.at(0).replicas == 3);
    CHECK(made.gangs[0].pods.size() == 3);
}

TEST_CASE("an annotation of KAI or Volcano says how many of a Job start together") {
    CHECK(tree(read(job("parallelism: 3", "kai.scheduler/batch-min-member: \"2\""))) == "2");
    CHECK(tree(read(job("parallelism: 3", "scheduling.volcano.sh/group-min-member: \"3\""))) ==
          "3");
    CHECK(read(job("parallelism: 3", "kai.scheduler/batch-min-member: two"))
              .findings.find("metadata.annotations[kai.scheduler/batch-min-member]: \"two\" is not "
                             "a minimum") != std::string::npos);
    CHECK(read(job("parallelism: 3", "kai.scheduler/batch-min-member: \"0\""))
              .findings.find("is not a minimum") != std::string::npos);
}

TEST_CASE("a Job that asks to be scheduled as a gang wants its parallelism, or minCount of it") {
    CHECK(tree(read(job("parallelism: 3, scheduling: {gang: {}}"))) == "3");
    CHECK(tree(read(job(
              "parallelism: 3, scheduling: {schedulingPolicy: {gang: {minCount: 2}}}"))) == "2");
    CHECK(tree(read(job("parallelism: 3, scheduling: {policy: {gang: {minCount: 2}}}"))) == "2");
    CHECK(tree(read(job("parallelism: 3, scheduling: {schedulingPolicy: {basic: {}}}"))) == "1");
}

TEST_CASE("what a Job's scheduling says of topology, disruption and claims is its gang's") {
    for (const char* const key : {"schedulingConstraints", "constraints"}) {
        const auto made =
            read(job("scheduling: {" + std::string(key) +
                     ": {topology: [{key: rack}]}, disruptionMode: {all: {}}, resourceClaims: "
                     "[{name: r, resourceClaimName: c}]}"));
        CHECK(made.findings.empty());
        const auto& gang = made.gangs.at(0).gang;
        CHECK(gang.origin == target::workload_1_37);
        REQUIRE(gang.tree[0].together);
        CHECK(gang.tree[0].together->within.levels == std::vector<std::string>{"rack"});
        CHECK(gang.tree[0].together->required == 0);
        REQUIRE(gang.own_words.size() == 2);
        CHECK(gang.own_words[0] == own_word{gang_api::workload,
                                            loss_kind::lifecycle,
                                            "disruptionMode",
                                            {{"all", boost::json::object{}}}});
        CHECK(gang.own_words[1].field == "resourceClaims");
    }
    CHECK(read(job("scheduling: {minCount: 2}")).findings.find("scheduling.minCount: unknown") !=
          std::string::npos);
}

TEST_CASE("a Job never has more pods at a time than it has completions left") {
    CHECK(read(job("parallelism: 5, completions: 2")).gangs.at(0).pods.size() == 2);
    const auto more = read(job("parallelism: 2, completions: 5"));
    CHECK(more.gangs.at(0).pods.size() == 2);
    CHECK(fixture::loss_text(more.losses) ==
          "lifecycle: Job ns/j: completions: the job's own controller sees to it\n");
}

TEST_CASE("the pods of an indexed Job know their index") {
    const auto made = read(job("parallelism: 2, completions: 2, completionMode: Indexed"));
    const auto& pod = made.gangs.at(0).pods.at(1).document;
    CHECK(at(pod, "metadata|name").starts_with("j-1-"));
    CHECK(at(pod, "metadata|labels|batch.kubernetes.io/job-completion-index") == "1");
    CHECK(at(pod, "metadata|annotations|batch.kubernetes.io/job-completion-index") == "1");
    CHECK(
        fixture::env_of(pod, "JOB_COMPLETION_INDEX") ==
        R"({"fieldRef":{"fieldPath":"metadata.labels['batch.kubernetes.io/job-completion-index']"}})");
    CHECK(at(pod, "spec|hostname") == "j-1");
}

TEST_CASE("a Job's pods have generated names, its labels and it as owner") {
    const auto made = read(job("parallelism: 2"));
    const auto& all = made.gangs.at(0).pods;
    const std::string first = at(all[0].document, "metadata|name");
    CHECK(first.size() == std::string("j-").size() + 5);
    CHECK(first != at(all[1].document, "metadata|name"));
    CHECK(read(job("parallelism: 2")).findings.empty());
    CHECK(pod_names(read(job("parallelism: 2")).gangs.at(0).pods) == pod_names(all));
    CHECK(at(all[0].document, "metadata|labels") ==
          R"({"batch.kubernetes.io/job-name":"j","job-name":"j",)"
          R"("batch.kubernetes.io/controller-uid":"u","controller-uid":"u"})");
    CHECK(at(all[0].document, "metadata|ownerReferences|0|kind") == "Job");
}

TEST_CASE("a generated name is cut to what the API server allows") {
    const std::string longest(63, 'x');
    const auto made = read("apiVersion: batch/v1\nkind: Job\nmetadata: {name: " + longest +
                           "}\nspec: {" + pods + "}\n");
    CHECK(at(made.gangs.at(0).pods.at(0).document, "metadata|name").size() == 63);
}

TEST_CASE("a CronJob stands for one of its Jobs") {
    const auto made = cron("apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c, namespace: "
                           "ns}\nspec:\n  schedule: \"* * * * *\"\n  jobTemplate: {metadata: "
                           "{annotations: {kai.scheduler/batch-min-member: \"2\"}}, spec: "
                           "{parallelism: 2, " +
                           pods + "}}\n");
    CHECK(tree(made) == "2");
    CHECK(made.gangs[0].gang.name == "c-0");
    CHECK(made.gangs[0].gang.owners.at(0).kind == "Job");
    CHECK(at(made.gangs[0].pods.at(0).document, "metadata|labels|job-name") == "c-0");
    CHECK(made.findings == "f:1:1: warning: a CronJob makes a Job at each of its times; \"c-0\" "
                           "stands for one of them\n");
}

TEST_CASE("bad Jobs are refused at the field that is wrong") {
    const auto refused = [](const std::string& text, const std::string& finding) {
        const auto made = read(text);
        CAPTURE(made.findings);
        CHECK(made.findings.find(finding) != std::string::npos);
    };
    refused(job("parallelism: -1"), "spec.parallelism: found -1");
    refused(job("parallelism: 2000000"), "the job has more than 1000000 pods");
    refused(job("completionMode: Some"), "spec.completionMode: \"Some\" is no mode");
    refused("apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {parallelism: 1}\n",
            "spec.template: required, but missing");
    refused("apiVersion: batch/v1\nkind: Job\nmetadata: {}\nspec: {" + pods + "}\n",
            "metadata: name is missing");
    refused("apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, labels: {a: 1}}\nspec: {" + pods +
                "}\n",
            "metadata.labels.a: found 1, expected a string (quote it)");
    const auto refused_pod = [&](const std::string& fields, const std::string& finding) {
        refused("apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {template: {spec: "
                "{containers: [{name: c, image: i}], " +
                    fields + "}}}\n",
                "spec.template.spec." + finding);
    };
    refused_pod("nodeSelector: {disk: on}",
                "nodeSelector.disk: found on, which YAML takes for true");
    refused_pod("serviceAccountName: 7", "serviceAccountName: found 7, expected a string");
    refused_pod("hostNetwork: 'no'", "hostNetwork: found \"no\", expected true or false");
    refused_pod("tolerations: [{key: a, value: true}]",
                "tolerations[0].value: found true, expected a string");
    const auto refused_container = [&](const std::string& fields, const std::string& finding) {
        refused("apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {template: {spec: "
                "{containers: [{name: c, image: i, " +
                    fields + "}]}}}\n",
                "spec.template.spec.containers[0]." + finding);
    };
    refused_container("ports: [{containerPort: '80'}]",
                      "ports[0].containerPort: found \"80\", expected a whole number");
    refused_container("ports: [{containerPort: 80, name: 80}]",
                      "ports[0].name: found 80, expected a string");
    refused_container("volumeMounts: [{name: v, mountPath: /m, readOnly: 'no'}]",
                      "volumeMounts[0].readOnly: found \"no\", expected true or false");
    refused_pod("tolerations: {}", "tolerations: found an object, expected a list");
}

} // namespace codec_batch_job_reader_test
