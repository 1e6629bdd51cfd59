// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/spark/job_reader.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/job_fixture.hpp>

namespace codec_spark_reader_test {

using namespace muster_job_fixture;

namespace {

read_result read(const std::string& spec) {
    return read_job(read_spark_application,
                    "apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\nmetadata: "
                    "{name: pi, namespace: ns}\nspec: {type: Scala, image: i, " +
                        spec + "}\n");
}

} // namespace

TEST_CASE("a SparkApplication is a gang of at least its driver, and executors beside it") {
    const auto made =
        read("driver: {cores: 1, coreLimit: 1200m, memory: 512m, schedulerName: x}, "
             "executor: {instances: 2, memory: 8g, coreRequest: 500m, labels: {a: b}}, "
             "batchSchedulerOptions: {queue: q}");
    CHECK(made.findings.empty());
    REQUIRE(made.gangs.size() == 1);
    CHECK(made.gangs[0].gang.name == "pi");
    CHECK(made.gangs[0].gang.queue == "q");
    CHECK(tree_text(made.gangs[0].gang.tree) == "1");
    CHECK(pod_names(made.gangs[0].pods) == "pi-driver pi-exec-1 pi-exec-2");
    const auto& driver = made.gangs[0].pods[0].document;
    const auto& executor = made.gangs[0].pods[1].document;
    CHECK(at(driver, "spec|containers|0|resources") ==
          R"({"requests":{"cpu":"1","memory":"896Mi"},"limits":{"memory":"896Mi","cpu":"1200m"}})");
    // A tenth of 8 GiB is more than 384 MiB.
    CHECK(at(executor, "spec|containers|0|resources|requests|memory") == "9011Mi");
    CHECK(at(executor, "spec|containers|0|resources|requests|cpu") == "500m");
    CHECK(at(executor, "metadata|labels|a") == "b");
    CHECK(at(executor, "metadata|labels|spark-role") == "executor");
    CHECK(at(executor, "metadata|labels|spark-app-selector") ==
          at(driver, "metadata|labels|spark-app-selector"));
    CHECK(at(executor, "metadata|ownerReferences|0|name") == "pi-driver");
    CHECK(loss_text(made.losses).find("startup-order: SparkApplication ns/pi") == 0);
}

TEST_CASE("bad SparkApplications are refused at the field that is wrong") {
    CHECK(read("driver: {memory: much}, executor: {}")
              .findings.find("spec.driver.memory: \"much\" is no amount of memory") !=
          std::string::npos);
    CHECK(read("driver: {}, executor: {instances: -1}")
              .findings.find("spec.executor.instances: found -1") != std::string::npos);
    CHECK(read("executor: {}").findings.find("spec.driver: required, but missing") !=
          std::string::npos);
}

} // namespace codec_spark_reader_test
