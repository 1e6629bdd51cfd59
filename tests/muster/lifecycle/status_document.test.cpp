// SPDX-License-Identifier: Apache-2.0
#include <muster/lifecycle/status_document.hpp>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <doctest/doctest.h>

#include <muster/base/timestamp.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/input/read_documents.hpp>

#include "job_bench.hpp"

namespace lifecycle_status_document_test {

using namespace lifecycle_test;
namespace json = boost::json;

/// The status in a fragment of T9k's documents, whose "..." stands for the rest of the job.
json::value sample(const std::string& name) {
    std::ifstream file(std::string(MUSTER_TEST_DATA) + "/t9k/" + name);
    std::string text;
    for (std::string line; std::getline(file, line);)
        if (line != "...")
            text += line + '\n';
    muster::codec::diagnostics out;
    const auto documents = muster::codec::read_documents(name, text, out);
    REQUIRE(documents.size() == 1);
    return documents[0].root().at("status");
}

timestamp at(std::string_view clock) {
    return *muster::parse_timestamp("2021-01-18T" + std::string(clock) + "Z");
}

job_bench failed_example(bool keeps) {
    job_plan plan = plan_with({task("worker", 4)});
    plan.tasks[0].pods = {"generic-example-worker-0", "generic-example-worker-1",
                          "generic-example-worker-2", "generic-example-worker-3"};
    plan.success = {{{0, {0}}}};
    plan.failure = {{{0, {0}}}, {{0, {1}}}};
    plan.keeps_conditions_at_end = keeps;
    job_bench bench(plan);
    bench.pass();
    bench.run_all();
    bench.now = at("02:36:09");
    bench.pass();
    bench.fail("generic-example-worker-0", 127);
    bench.now = at("02:36:31");
    bench.pass();
    return bench;
}

TEST_CASE("the sample of a failed job's conditions comes out as it is printed") {
    const job_bench bench = failed_example(true);
    status_form form;
    form.sample = true;
    const json::object made = status_document(bench.status, form);
    const json::value expected = sample("genericjob-conditions.yaml");
    CHECK(made.at("conditions") == expected.at("conditions"));
    CHECK(made.at("phase") == expected.at("phase"));
}

TEST_CASE("by default a failed job says that it runs no more, and who failed") {
    const json::object made = status_document(failed_example(false).status);
    const std::string message =
        R"("message":"The job is failed with rule: { \"worker\": [0] }","reason":"Failed",)";
    const std::string end = R"({"lastTransitionTime":"2021-01-18T02:36:31Z",)";
    json::array conditions = made.at("conditions").as_array();
    for (json::value& each : conditions) {
        CHECK(each.at("transitionID").as_string().size() == 36);
        each.as_object().erase("transitionID");
    }
    REQUIRE(conditions.size() == 5);
    CHECK(json::serialize(conditions[0]) ==
          R"({"lastTransitionTime":"2021-01-18T02:36:09Z",)"
          R"("message":"The job has been initialized successfully.","reason":"-",)"
          R"("status":"True","type":"Initialized"})");
    CHECK(json::serialize(conditions[1]) ==
          end + message + R"("status":"False","type":"Running"})");
    CHECK(json::serialize(conditions[2]) ==
          end + R"("message":"Pod[generic-example-worker-0] exited with error code 127",)"
                R"("reason":"ErrorInPod","status":"True","type":"ReplicaFailure"})");
    CHECK(json::serialize(conditions[3]) ==
          end + message + R"("status":"False","type":"Completed"})");
    CHECK(json::serialize(conditions[4]) == end + message + R"("status":"True","type":"Failed"})");
}

TEST_CASE("the sample of tasks comes out as it is printed") {
    job_plan plan = plan_with({task("worker", 2, {restart_policy::on_failure, 3})});
    plan.tasks[0].pods = {"generic-example-worker-0", "generic-example-worker-1"};
    job_bench bench(plan);
    bench.start();
    for (const char* each :
         {"generic-example-worker-0", "generic-example-worker-1", "generic-example-worker-1"}) {
        bench.fail(each);
        bench.start();
    }
    bench.pod("generic-example-worker-0").uid = "e3ec2ee3-6645-4e21-993f-1e472b94e0ae";
    bench.pod("generic-example-worker-1").uid = "908a93f0-7b8b-491e-85d5-3da0abcb4ca4";
    bench.settle();
    json::array made = tasks_document(bench.status);
    // How often each was restarted is ours to add; it is left out where it is 0.
    int counted = 0;
    for (json::value& each : made.at(0).at("status").as_array())
        counted += each.as_object().erase("restartCount") > 0 ? 1 : 0;
    CHECK(counted == 2);
    CHECK(json::value(made) == sample("genericjob-tasks.yaml").at("tasks"));
}

TEST_CASE("the sample of the aggregate comes out as it is printed") {
    job_bench bench(plan_with({task("worker", 3)}));
    bench.settle();
    bench.pod("j-worker-0").phase = observed_phase::running;
    bench.pod("j-worker-1").phase = observed_phase::running;
    bench.settle();
    CHECK(json::value(aggregate_document(bench.status)) ==
          sample("genericjob-aggregate.yaml").at("aggregate"));
}

TEST_CASE("what has ended in a replica is listed, and only that") {
    job_bench bench(plan_with({task("worker", 2, {restart_policy::never, 0})}));
    bench.start();
    bench.fail("j-worker-1", 3);
    bench.settle();
    const json::array made = tasks_document(bench.status);
    CHECK(json::serialize(made.at(0).at("status").at(0).at("containers")) == "[]");
    CHECK(json::serialize(made.at(0).at("status").at(1).at("containers")) ==
          R"([{"name":"main","state":"Terminated","exitCode":3}])");
}

TEST_CASE("each kind lists its replicas under its own name") {
    using muster::translate::t9k_kind;
    for (const t9k_kind kind :
         {t9k_kind::generic, t9k_kind::mpi, t9k_kind::colossal_ai, t9k_kind::deepspeed})
        CHECK(status_form_of(kind).replicas == "status");
    for (const t9k_kind kind :
         {t9k_kind::tensorflow, t9k_kind::pytorch, t9k_kind::xgboost, t9k_kind::beam})
        CHECK(status_form_of(kind).replicas == "replicas");
    job_bench bench(plan_with({task("worker", 1)}));
    bench.pass();
    CHECK(status_document(bench.status, status_form_of(t9k_kind::beam)).at("phase") ==
          "Initializing");
    CHECK(status_document(bench.status, status_form_of(t9k_kind::pytorch)).at("backoffCount") == 0);
}

} // namespace lifecycle_status_document_test
