// SPDX-License-Identifier: Apache-2.0
#include <muster/lifecycle/t9k_plan.hpp>

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "job_bench.hpp"
#include "muster/t9k_jobs.hpp"

namespace lifecycle_t9k_plan_test {

using namespace lifecycle_test;
using muster_test::t9k_input;
using muster_test::t9k_of;

/// A job that runs, of a kind with this spec.
struct running_job {
    running_job(std::string_view kind, std::string_view spec)
        : input(t9k_of(kind, spec)), bench(plan_of(input.job)) {
        CAPTURE(input.findings);
        REQUIRE(!input.job.replica_specs.empty());
        bench.start();
        bench.start();
        REQUIRE(bench.status.phase == job_phase::running);
    }
    [[nodiscard]] std::string phase_after_settling() {
        bench.start();
        return std::string(to_text(*bench.status.phase));
    }
    t9k_input input;
    job_bench bench;
};

constexpr std::string_view pod = "template: {spec: {containers: [{name: c, image: i}]}}";

std::string replicas(std::string_view type, int count, std::string_view more = {}) {
    return "{type: " + std::string(type) + ", replicas: " + std::to_string(count) + ", " +
           std::string(pod) + std::string(more) + "}";
}

std::string container(std::string_view name) {
    return "template: {spec: {containers: [{name: " + std::string(name) + ", image: i}]}}";
}

TEST_CASE("a GenericJob lives by its rules, with a limit per replica") {
    running_job job("GenericJob",
                    "{successRules: [{worker: [0]}], failureRules: [{worker: [1]}], "
                    "cleanUpPolicy: Unfinished, service: {ports: [{name: http, port: 80}]}, "
                    "replicaSpecs: [" +
                        replicas("worker", 3, ", restartPolicy: {policy: OnFailure, limit: 1}") +
                        "]}");
    CHECK(job.bench.seen.services.size() == 3);
    CHECK_FALSE(job.bench.seen.group);
    job.bench.fail("j-worker-1");
    CHECK(job.phase_after_settling() == "Running");
    job.bench.fail("j-worker-1");
    CHECK(job.phase_after_settling() == "Failed");
    CHECK(job.bench.condition(condition_type::failed) ==
          R"(True Failed: The job is failed with rule: { "worker": [1] })");
    CHECK(job.bench.seen.pods.size() == 1);
}

TEST_CASE("a policy that is written without a limit is unlimited, and 0 is none") {
    const auto limit = [](std::string_view restart) {
        const t9k_input input =
            t9k_of("GenericJob", "{replicaSpecs: [" + replicas("worker", 1, restart) + "]}");
        return plan_of(input.job).tasks.at(0).restart.limit;
    };
    CHECK(limit("") == 0);
    CHECK(limit(", restartPolicy: {policy: OnFailure}") == unlimited);
    CHECK(limit(", restartPolicy: {policy: Always}") == unlimited);
    CHECK(limit(", restartPolicy: {policy: Always, limit: 0}") == 0);
}

TEST_CASE("a TensorFlowTrainingJob ends with its chief, or else with worker 0") {
    const std::string worker =
        "{type: worker, replicas: 2, restartPolicy: Never, " + container("tensorflow") + "}";
    SUBCASE("chief") {
        running_job job("TensorFlowTrainingJob",
                        "{replicaSpecs: [" + worker +
                            ", {type: chief, replicas: 1, restartPolicy: Never, " +
                            container("tensorflow") + "}]}");
        job.bench.succeed("j-worker-0");
        CHECK(job.phase_after_settling() == "Running");
        job.bench.fail("j-worker-1");
        CHECK(job.phase_after_settling() == "Running");
        job.bench.succeed("j-chief-0");
        CHECK(job.phase_after_settling() == "Succeeded");
    }
    SUBCASE("worker 0") {
        running_job job("TensorFlowTrainingJob", "{replicaSpecs: [" + worker + "]}");
        job.bench.fail("j-worker-0");
        CHECK(job.phase_after_settling() == "Failed");
        CHECK(job.bench.condition(condition_type::failed) ==
              "True Failed: The job is failed because Pod[j-worker-0] failed.");
    }
}

TEST_CASE("a PyTorchTrainingJob ends with its first replica, after three restarts in all") {
    running_job job("PyTorchTrainingJob",
                    "{replicaSpecs: [{type: ps, replicas: 1, restartPolicy: OnFailure, " +
                        container("pytorch") +
                        "}, {type: worker, replicas: 2, restartPolicy: OnFailure, " +
                        container("pytorch") + "}]}");
    job.bench.fail("j-worker-0");
    CHECK(job.phase_after_settling() == "Running");
    for (int i = 0; i < 2; ++i) {
        job.bench.fail("j-ps-0");
        CHECK(job.phase_after_settling() == "Running");
    }
    CHECK(job.bench.status.restarts == 3);
    job.bench.fail("j-ps-0");
    CHECK(job.phase_after_settling() == "Failed");
}

TEST_CASE("an elastic job runs from minReplicas on and follows expectedReplicas") {
    const std::string spec =
        "{elastic: {enabled: true, minReplicas: 3, maxReplicas: 10, "
        "expectedReplicas: 7}, torchrunConfig: {enabled: true}, "
        "scheduler: {t9kScheduler: {queue: q}}, replicaSpecs: [{type: worker, " +
        container("pytorch") + "}]}";
    running_job job("PyTorchTrainingJob", spec);
    CHECK(job.bench.seen.group);
    CHECK(job.bench.plan.running_from == 3);
    CHECK(job.bench.seen.pods.size() == 7);
    std::string smaller = spec;
    smaller.replace(smaller.find("expectedReplicas: 7"), 19, "expectedReplicas: 5");
    const t9k_input edited = t9k_of("PyTorchTrainingJob", smaller);
    job.bench.plan = plan_of(edited.job);
    CHECK(job.phase_after_settling() == "Running");
    CHECK(job.bench.seen.pods.size() == 5);
    CHECK(job.bench.has("j-worker-4"));
}

TEST_CASE("an XGBoostTrainingJob ends with its master, and by its deadline") {
    running_job job("XGBoostTrainingJob",
                    "{runPolicy: {activeDeadlineSeconds: 1000, cleanUpPolicy: All}, replicaSpecs: "
                    "[{type: master, replicas: 1, " +
                        container("xgboost") + "}, {type: worker, replicas: 2, " +
                        container("xgboost") + "}]}");
    SUBCASE("master") {
        job.bench.succeed("j-master-0");
        CHECK(job.phase_after_settling() == "Succeeded");
    }
    SUBCASE("deadline") {
        job.bench.now += 1000 * second;
        CHECK(job.phase_after_settling() == "Failed");
    }
    CHECK(job.bench.seen.pods.empty());
}

TEST_CASE("an MPIJob ends with its launcher, and fails with any worker") {
    running_job job("MPIJob",
                    "{replicaSpecs: [{type: launcher, replicas: 1, "
                    "restartPolicy: {policy: Never}, " +
                        container("launcher") +
                        "}, {type: worker, replicas: 2, restartPolicy: {policy: Never}, " +
                        container("worker") + "}], runPolicy: {cleanUpWorkers: true}}");
    CHECK(job.bench.seen.config_map == job.bench.plan.configured);
    SUBCASE("launcher") {
        job.bench.succeed("j-launcher");
        CHECK(job.phase_after_settling() == "Succeeded");
        CHECK(job.bench.has("j-launcher"));
        CHECK(job.bench.seen.pods.size() == 1);
    }
    SUBCASE("launcher fails") {
        job.bench.fail("j-launcher");
        CHECK(job.phase_after_settling() == "Failed");
    }
    SUBCASE("worker") {
        job.bench.fail("j-worker-1");
        CHECK(job.phase_after_settling() == "Failed");
        CHECK(job.bench.condition(condition_type::failed) ==
              "True Failed: The job is failed because Pod[j-worker-1] failed.");
    }
}

TEST_CASE("a ColossalAIJob ends with its launcher whatever its workers do") {
    running_job job("ColossalAIJob",
                    "{launcher: {image: i}, worker: {replicas: 2, command: [t.py], " +
                        container("worker") + "}}");
    job.bench.fail("j-worker-0");
    CHECK(job.phase_after_settling() == "Running");
    job.bench.succeed("j-launcher");
    CHECK(job.phase_after_settling() == "Succeeded");
}

TEST_CASE("a DeepSpeedJob ends with worker 0, and restarts killed processes under ExitCode") {
    running_job job("DeepSpeedJob", "{config: {slotsPerWorker: 1, run: {python: [t.py]}}, "
                                    "runPolicy: {backoffLimit: 2}, worker: {replicas: 2, "
                                    "restartPolicy: ExitCode, " +
                                        container("worker") + "}}");
    job.bench.fail("j-worker-0", 137);
    CHECK(job.phase_after_settling() == "Running");
    job.bench.fail("j-worker-0", 1);
    CHECK(job.phase_after_settling() == "Failed");
}

TEST_CASE("a BeamJob's submitter starts when its cluster runs, and decides") {
    t9k_input input = t9k_of(
        "BeamJob", "{flinkClusterTemplate: {spec: {image: {name: f}, jobManager: {}, taskManager: "
                   "{replicas: 2}}}, jobTemplate: {spec: {template: {spec: {containers: [{name: s, "
                   "image: i}]}}}}, runPolicy: {cleanUpCluster: true}}");
    CAPTURE(input.findings);
    REQUIRE(input.job.replica_specs.size() == 3);
    job_bench bench(plan_of(input.job));
    bench.settle();
    CHECK(bench.seen.pods.size() == 3);
    CHECK(bench.status.phase == job_phase::pending);
    bench.start();
    CHECK(bench.seen.pods.size() == 4);
    bench.start();
    CHECK(bench.status.phase == job_phase::running);
    CHECK(bench.conditions() == "ClusterRunning=True JobRunning=True");
    bench.succeed(bench.plan.tasks.at(2).pods.at(0));
    bench.settle();
    CHECK(bench.status.phase == job_phase::succeeded);
    CHECK(bench.seen.pods.size() == 1);
}

} // namespace lifecycle_t9k_plan_test
