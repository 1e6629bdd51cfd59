// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/t9k/jobs/job_reader.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "muster/t9k_jobs.hpp"

namespace codec_t9k_job_reader_test {

using namespace muster::codec;
using namespace muster::translate;
using muster_test::read_t9k;
using muster_test::t9k_input;
using muster_test::t9k_of;

namespace {

/// What is said about a GenericJob with these fields beside the replicas `w` (2) and `x` (1).
std::string about(std::string_view fields) {
    return t9k_of("GenericJob",
                  "{" + std::string(fields) + "replicaSpecs: [{type: w, replicas: 2}, {type: x}]}")
        .findings;
}

/// What is said about a replica spec with these fields.
std::string about_replica(std::string_view fields) {
    return t9k_of("GenericJob", "\n  replicaSpecs:\n  - {type: w, " + std::string(fields) + "}")
        .findings;
}

std::string about_pod(std::string_view spec) {
    return about_replica("template: {spec: " + std::string(spec) + "}");
}

/// The findings without their places.
std::string without_places(const std::string& findings) {
    std::string out;
    std::size_t at = 0;
    while (at < findings.size()) {
        const std::size_t end = findings.find('\n', at);
        const std::string line = findings.substr(at, end - at);
        out += line.substr(line.find(": ") + 2) + '\n';
        at = end + 1;
    }
    return out;
}

} // namespace

TEST_CASE("a finding names file, line, column and field") {
    CHECK(
        about_replica("replicas: -1") ==
        "job.yaml:6:25: spec.replicaSpecs[0].replicas: found -1, expected a whole number from 0 to "
        "150000\n");
}

TEST_CASE("wrong types are errors that say what was expected") {
    CHECK(without_places(about_replica("replicas: many")) ==
          "spec.replicaSpecs[0].replicas: found \"many\", expected a whole number from 0 to "
          "150000\n");
    CHECK(without_places(about_replica("template: []")) ==
          "spec.replicaSpecs[0].template: found a list, expected an object\n");
    CHECK(without_places(about_pod("{containers: {}}")) ==
          "spec.replicaSpecs[0].template.spec.containers: found an object, expected a list\n");
    CHECK(without_places(about_pod("{containers: [{command: run}]}")) ==
          "spec.replicaSpecs[0].template.spec.containers[0].command: found \"run\", expected a "
          "list\n");
    CHECK(without_places(about_pod("{containers: [{args: [1]}]}")) ==
          "spec.replicaSpecs[0].template.spec.containers[0].args[0]: found 1, expected a string "
          "(quote it)\n");
    CHECK(without_places(about_pod("{containers: [{env: [{name: A, value: 1}]}]}")) ==
          "spec.replicaSpecs[0].template.spec.containers[0].env[0].value: found 1, expected a "
          "string (quote it)\n");
    CHECK(without_places(about("service: 3, ")) == "spec.service: found 3, expected an object\n");
    CHECK(without_places(about("runMode: {debug: yes}, ")) ==
          "spec.runMode.debug: found yes, which YAML takes for true, expected an object\n");
    CHECK(without_places(t9k_of("GenericJob", "[]").findings) ==
          "spec: found a list, expected an object\n");
}

TEST_CASE("a job needs a name, a spec and replicas") {
    CHECK(without_places(
              read_t9k("{apiVersion: batch.tensorstack.dev/v1beta1, kind: GenericJob}").findings) ==
          "metadata: required, but missing\nspec: required, but missing\n");
    CHECK(without_places(t9k_of("GenericJob", "{}").findings) ==
          "spec.replicaSpecs: required, but missing\n");
    CHECK(without_places(t9k_of("GenericJob", "{replicaSpecs: []}").findings) ==
          "spec.replicaSpecs: there is none (expected at least one)\n");
    CHECK(
        without_places(t9k_of("GenericJob", "{replicaSpecs: [{type: w, replicas: 0}]}").findings) ==
        "spec: there are no replicas at all (expected at least one)\n");
    CHECK(without_places(t9k_of("GenericJob", "{replicaSpecs: [{}]}").findings) ==
          "spec.replicaSpecs[0].type: required, but missing\n");
}

TEST_CASE("types are there once and can be parts of names, which are host names") {
    CHECK(without_places(t9k_of("GenericJob", "{replicaSpecs: [{type: w}, {type: w}]}").findings) ==
          "spec.replicaSpecs[1].type: \"w\" is there twice (expected every type once)\n");
    CHECK(
        without_places(t9k_of("GenericJob", "{replicaSpecs: [{type: Big}]}").findings) ==
        "spec.replicaSpecs[0].type: \"Big\" cannot be part of a pod's name (expected a-z, 0-9 and "
        "'-')\n");
    CHECK(without_places(
              t9k_of("GenericJob", "{replicaSpecs: [{type: " + std::string(60, 'w') + "}]}")
                  .findings) == "spec: the pod \"j-" + std::string(60, 'w') +
                                    "-0\" has a name of 64 characters (expected at most 63)\n");
}

TEST_CASE("restartPolicy: absent is OnFailure without restarts, written without limit unlimited") {
    const auto restart = [](std::string_view fields) {
        return t9k_of("GenericJob", "{replicaSpecs: [{type: w, " + std::string(fields) + "}]}")
            .job.replica_specs[0]
            .restart;
    };
    using limit = std::optional<std::int64_t>;
    CHECK(restart("") == t9k_restart{restart_policy::on_failure, 0});
    CHECK(restart("restartPolicy: {policy: OnFailure}") ==
          t9k_restart{restart_policy::on_failure, limit()});
    CHECK(restart("restartPolicy: {policy: Always}") ==
          t9k_restart{restart_policy::always, limit()});
    CHECK(restart("restartPolicy: {policy: OnFailure, limit: 0}") ==
          t9k_restart{restart_policy::on_failure, 0});
    CHECK(restart("restartPolicy: {limit: 3}") == t9k_restart{restart_policy::on_failure, 3});
    CHECK(restart("restartPolicy: {}") == t9k_restart{restart_policy::on_failure, 0});
    CHECK(restart("restartPolicy: OnFailure") == t9k_restart{restart_policy::on_failure, limit()});
    CHECK(restart("restartPolicy: {policy: Never}").policy == restart_policy::never);
    CHECK(without_places(about_replica("restartPolicy: {limit: -1}")) ==
          "spec.replicaSpecs[0].restartPolicy.limit: found -1, expected a whole number from 0 to "
          "2147483647\n");
    CHECK(without_places(about_replica("restartPolicy: ExitCode")) ==
          "spec.replicaSpecs[0].restartPolicy: found \"ExitCode\", expected Always, OnFailure or "
          "Never\n");
}

TEST_CASE("training jobs restart within backoffLimit, PyTorch's is 3 unless said") {
    const auto torch = t9k_of("PyTorchTrainingJob", "{replicaSpecs: [{type: w}]}");
    CHECK(torch.job.run_policy.backoff_limit == 3);
    CHECK(torch.job.replica_specs[0].restart ==
          t9k_restart{restart_policy::on_failure, std::nullopt});
    const auto flow =
        t9k_of("TensorFlowTrainingJob", "{runPolicy: {backoffLimit: 2, activeDeadlineSeconds: 60, "
                                        "cleanUpPolicy: Unfinished}, replicaSpecs: [{type: worker, "
                                        "restartPolicy: ExitCode}]}");
    CHECK(flow.findings == "");
    CHECK(flow.job.run_policy.backoff_limit == 2);
    CHECK(flow.job.run_policy.active_deadline_seconds == 60);
    CHECK(flow.job.run_policy.clean_up == clean_up_policy::unfinished);
    CHECK(flow.job.replica_specs[0].restart.policy == restart_policy::exit_code);
    const auto plain = t9k_of("XGBoostTrainingJob", "{replicaSpecs: [{type: master}]}");
    CHECK(plain.job.replica_specs[0].restart == t9k_restart{restart_policy::on_failure, 0});
}

TEST_CASE("rules name replicas that exist, ranks may be written as strings") {
    const auto input = t9k_of("GenericJob", "{successRules: [{x: [0], w: ['1', 0, 1]}], "
                                            "replicaSpecs: [{type: w, replicas: 2}, {type: x}]}");
    CHECK(input.findings == "");
    REQUIRE(input.job.success_rules.size() == 1);
    const t9k_rule& rule = input.job.success_rules[0];
    REQUIRE(rule.size() == 2);
    CHECK(rule[0].spec == 0);
    CHECK(rule[0].ranks == std::vector<std::int64_t>{1, 0});
    CHECK(rule[1].spec == 1);
    CHECK(without_places(about("successRules: [{ps: [0]}], ")) ==
          "spec.successRules[0].ps: there is no replica type \"ps\" (expected a type of "
          "replicaSpecs)\n");
    CHECK(without_places(about("failureRules: [{w: [2]}], ")) ==
          "spec.failureRules[0].w[0]: found 2, expected a rank from 0 to 1\n");
    CHECK(without_places(about("failureRules: [{w: [-1, one, 0.5, {}]}], ")) ==
          "spec.failureRules[0].w[0]: found -1, expected a rank from 0 to 1\n"
          "spec.failureRules[0].w[1]: found \"one\", expected a rank from 0 to 1\n"
          "spec.failureRules[0].w[2]: found 0.5, expected a rank from 0 to 1\n"
          "spec.failureRules[0].w[3]: found an object, expected a rank from 0 to 1\n");
    CHECK(without_places(about("failureRules: [{}], ")) ==
          "spec.failureRules[0]: the rule names no replica (expected at least one)\n");
    CHECK(without_places(about("failureRules: [{w: []}], ")) ==
          "spec.failureRules[0].w: there is no rank (expected at least one)\n");
    CHECK(without_places(about("failureRules: [{w: 0}], ")) ==
          "spec.failureRules[0].w: found 0, expected a list\n");
}

TEST_CASE("minReplicas, expectedReplicas and maxReplicas stand in that order") {
    const auto elastic = [](std::string_view fields) {
        return without_places(t9k_of("DeepSpeedJob", "{worker: {}, elastic: {enabled: true, " +
                                                         std::string(fields) + "}}")
                                  .findings);
    };
    CHECK(elastic("minReplicas: 1, maxReplicas: 3, expectedReplicas: 3") == "");
    CHECK(elastic("minReplicas: 4, maxReplicas: 3, expectedReplicas: 3") ==
          "spec.elastic.minReplicas: minReplicas is greater than maxReplicas (expected at most "
          "3)\n");
    CHECK(elastic("minReplicas: 1, maxReplicas: 3, expectedReplicas: 4") ==
          "spec.elastic.expectedReplicas: found 4, expected a number from minReplicas to "
          "maxReplicas, 1 to 3\n");
    CHECK(elastic("minReplicas: 0, maxReplicas: 3, expectedReplicas: 1") ==
          "spec.elastic.minReplicas: found 0, expected at least 1\n");
    CHECK(elastic("maxReplicas: 3, expectedReplicas: 1") ==
          "spec.elastic.minReplicas: required, but missing\n");
    CHECK(elastic("minReplicas: 2, maxReplicas: 3") ==
          "warning: spec.elastic: expectedReplicas is missing, and minReplicas are created\n");
    CHECK(t9k_of("DeepSpeedJob", "{worker: {}, elastic: {minReplicas: 9, maxReplicas: 3}}")
              .findings == "");
}

TEST_CASE("an elastic PyTorchTrainingJob without torchrun is only a warning") {
    const auto input =
        t9k_of("PyTorchTrainingJob",
               "{replicaSpecs: [{type: w}], elastic: {enabled: true, minReplicas: 3, "
               "maxReplicas: 10, expectedReplicas: 7}}");
    CHECK(without_places(input.findings) ==
          "warning: spec.elastic: the job is elastic, but torchrunConfig.enabled is not true\n");
    CHECK(is_elastic(input.job));
    CHECK(without_places(t9k_of("PyTorchTrainingJob",
                                "{replicaSpecs: [{type: w, scalingWeight: 0}], torchrunConfig: "
                                "{enabled: true}, elastic: {enabled: true, minReplicas: 1, "
                                "maxReplicas: 1, expectedReplicas: 1}}")
                             .findings) ==
          "spec.elastic: the scalingWeight of every type is 0 (expected one above 0)\n"
          "spec: there are no replicas at all (expected at least one)\n");
}

TEST_CASE("limits below requests are errors that name the container and the resource") {
    CHECK(without_places(about_pod("{containers: [{name: c, resources: {requests: {cpu: 2, memory: "
                                   "2Gi}, limits: {cpu: 1500m, memory: 2Gi}}}]}")) ==
          "spec.replicaSpecs[0].template.spec.containers[0].resources.limits.cpu: the limit of cpu "
          "of container \"c\" is below its request (expected at least the request)\n");
    CHECK(without_places(about_pod("{initContainers: [{name: i, resources: {requests: {cpu: 2}, "
                                   "limits: {cpu: 1}}}], containers: [{name: c}]}")) ==
          "spec.replicaSpecs[0].template.spec.initContainers[0].resources.limits.cpu: the limit of "
          "cpu of container \"i\" is below its request (expected at least the request)\n");
    CHECK(
        without_places(about_pod("{containers: [{name: c, resources: {requests: {cpu: -2, memory: "
                                 "2Gigs}}}]}")) ==
        "spec.replicaSpecs[0].template.spec.containers[0].resources.requests.cpu: \"-2\" is "
        "negative (expected a quantity of at least 0)\n"
        "spec.replicaSpecs[0].template.spec.containers[0].resources.requests.memory: \"2Gigs\" is "
        "not a quantity (expected e.g. 500m, 4, 2Gi)\n");
}

TEST_CASE("a volume in memory is at most as large as the memory limit of those who mount it") {
    const auto pod = [](std::string_view limit, std::string_view size) {
        return "{containers: [{name: c, resources: {limits: {" + std::string(limit) +
               "}}, volumeMounts: [{name: shm, mountPath: /dev/shm}]}, {name: other, resources: "
               "{limits: {memory: 1Mi}}}], volumes: [{name: shm, emptyDir: {medium: Memory, "
               "sizeLimit: " +
               std::string(size) + "}}]}";
    };
    CHECK(about_pod(pod("memory: 1Gi", "1Gi")) == "");
    CHECK(
        without_places(about_pod(pod("memory: 1Gi", "1025Mi"))) ==
        "spec.replicaSpecs[0].template.spec.volumes[0].emptyDir.sizeLimit: volume \"shm\" in "
        "memory is larger than the memory limit of its containers (expected at most the limit)\n");
    CHECK(about_pod(pod("cpu: 1", "8Ti")) == "");
    reading_context context;
    context.largest_node_memory = std::int64_t{1} << 40;
    CHECK(
        without_places(
            read_t9k("{apiVersion: batch.tensorstack.dev/v1beta1, kind: GenericJob, metadata: "
                     "{name: j}, spec: {replicaSpecs: [{type: w, template: {spec: " +
                         pod("cpu: 1", "8Ti") + "}}]}}",
                     context)
                .findings) ==
        "warning: spec.replicaSpecs[0].template.spec.volumes[0].emptyDir.sizeLimit: volume \"shm\" "
        "in memory is larger than the memory of the largest node\n");
    CHECK(
        about_pod("{containers: [{name: c, resources: {limits: {memory: 1Mi}}}], volumes: [{name: "
                  "d, emptyDir: {sizeLimit: 1Gi}}]}") == "");
}

TEST_CASE("unknown fields are warnings") {
    CHECK(without_places(about("sucessRules: [], ")) ==
          "warning: spec.sucessRules: unknown field, ignored (did you mean successRules?)\n");
    CHECK(
        without_places(about_replica("replica: 3")) ==
        "warning: spec.replicaSpecs[0].replica: unknown field, ignored (did you mean replicas?)\n");
    CHECK(without_places(about_pod("{containers: [{nmae: c}]}")) ==
          "warning: spec.replicaSpecs[0].template.spec.containers[0].nmae: unknown field, "
          "ignored (did you mean name?)\n");
    CHECK(without_places(t9k_of("BeamJob", "{flinkClusterTemplate: {}, jobTemplate: {}, runMode: "
                                           "{pause: {enabled: true}}}")
                             .findings) == "warning: spec.runMode.pause: unknown field, ignored\n");
}

TEST_CASE("a priority is a number from 0 to 100") {
    CHECK(without_places(about("scheduler: {t9kScheduler: {priority: 101}}, ")) ==
          "spec.scheduler.t9kScheduler.priority: found 101, expected a whole number from 0 to "
          "100\n");
}

TEST_CASE("ports of the service have numbers, and names if there are several") {
    CHECK(without_places(about("service: {ports: [{name: a}]}, ")) ==
          "spec.service.ports[0].port: required, but missing\n");
    CHECK(without_places(about("service: {ports: [{port: 70000}]}, ")) ==
          "spec.service.ports[0].port: found 70000, expected a whole number from 1 to 65535\n");
    CHECK(without_places(about("service: {ports: [{name: a, port: 1}, {name: a, port: 2}]}, ")) ==
          "spec.service.ports[1].name: \"a\" is there twice (expected every port once)\n");
}

TEST_CASE("debug and resume specs name types of the job") {
    CHECK(
        without_places(about("runMode: {debug: {replicaSpecs: [{type: ps}]}}, ")) ==
        "spec.runMode.debug.replicaSpecs[0].type: there is no replica type \"ps\" (expected a type "
        "of the job)\n");
    CHECK(without_places(about("runMode: {pause: {resumeSpecs: [{type: w}, {type: w}]}}, ")) ==
          "spec.runMode.pause.resumeSpecs[1].type: \"w\" is there twice (expected every type "
          "once)\n");
    // Some pages write `enable`.
    CHECK(t9k_of("GenericJob", "{runMode: {debug: {enable: true}}, replicaSpecs: [{type: w}]}")
              .job.run_mode.debug);
    CHECK(t9k_of("MPIJob", "{runMode: {debug: {enabled: true, replicaSpecs: [{type: launcher}]}}, "
                           "worker: {}}")
              .findings == "");
}

TEST_CASE("each kind has its own types") {
    const auto said = [](std::string_view kind, std::string_view spec) {
        return without_places(t9k_of(kind, spec).findings);
    };
    CHECK(said("TensorFlowTrainingJob", "{replicaSpecs: [{type: worker}, {type: master}]}") ==
          "spec.replicaSpecs[1].type: found \"master\", expected one of chief, worker, ps, "
          "evaluator\n");
    CHECK(said("TensorFlowTrainingJob", "{replicaSpecs: [{type: ps}]}") ==
          "spec.replicaSpecs: there is neither chief nor worker (expected one of them)\n");
    CHECK(said("XGBoostTrainingJob", "{replicaSpecs: [{type: worker}]}") ==
          "spec.replicaSpecs: there is not exactly one master (expected type \"master\" once)\n");
    CHECK(said("MPIJob", "{replicaSpecs: [{type: launcher}]}") ==
          "spec.replicaSpecs: there are no workers (expected type \"worker\")\n");
    CHECK(said("MPIJob", "{replicaSpecs: [{type: worker}, {type: launcher, replicas: 2}]}") ==
          "spec.replicaSpecs: there is not exactly one launcher (expected replicas: 1)\n");
    CHECK(said("MPIJob", "{replicaSpecs: [{type: worker}], worker: {}}") ==
          "spec.replicaSpecs: there are replicaSpecs beside worker (expected one of the two)\n");
    CHECK(said("DeepSpeedJob", "{config: {run: {python: [a], exec: [b]}}, worker: {}}") ==
          "spec.config.run: there is more than one of python, module and exec (expected one of "
          "them)\n");
    CHECK(said("BeamJob", "{}") == "spec.flinkClusterTemplate: required, but missing\n"
                                   "spec.jobTemplate: required, but missing\n");
    CHECK(said("TensorFlowTrainingJob",
               "{replicaSpecs: [{type: worker, template: {spec: {containers: [{name: c}]}}}]}") ==
          "warning: spec.replicaSpecs[0].template: no container is named \"tensorflow\", and the "
          "first one is taken for it\n");
}

TEST_CASE("variables about services that do not exist stay, with a warning") {
    const std::string_view pod =
        "replicaSpecs: [{type: w, template: {spec: {containers: [{name: c, args: "
        "['$$(service.w[0].host)', '$(service.w[0].host)', '$(service.w[1].host)', "
        "'$(service.port[p])']}]}}}]";
    CHECK(without_places(t9k_of("GenericJob", "{" + std::string(pod) + "}").findings) ==
          "warning: spec.replicaSpecs[0].template.spec.containers[0].args[1]: "
          "\"$(service.w[0].host)\" stays as it is (expected a replica or a port of a job with "
          "spec.service)\n"
          "warning: spec.replicaSpecs[0].template.spec.containers[0].args[2]: "
          "\"$(service.w[1].host)\" stays as it is (expected a replica or a port of a job with "
          "spec.service)\n"
          "warning: spec.replicaSpecs[0].template.spec.containers[0].args[3]: "
          "\"$(service.port[p])\" stays as it is (expected a replica or a port of a job with "
          "spec.service)\n");
    CHECK(without_places(t9k_of("GenericJob", "{service: {ports: [{name: p, port: 1}]}, " +
                                                  std::string(pod) + "}")
                             .findings) ==
          "warning: spec.replicaSpecs[0].template.spec.containers[0].args[2]: "
          "\"$(service.w[1].host)\" stays as it is (expected a replica or a port of a job with "
          "spec.service)\n");
}

TEST_CASE("replicas without containers are a warning, unless a launcher is implied") {
    CHECK(t9k_of("GenericJob", "{replicaSpecs: [{type: w, template: {spec: {containers: []}}}]}")
              .bare ==
          "job.yaml:4:43: warning: spec.replicaSpecs[0].template: there are no containers, and "
          "nothing can run (expected a template with some)\n");
    CHECK(t9k_of("MPIJob",
                 "{replicaSpecs: [{type: launcher, template: {}}, {type: worker, template: "
                 "{spec: {containers: [{name: worker}]}}}]}")
              .bare == "");
    CHECK(without_places(t9k_of("DeepSpeedJob", "{worker: {}}").bare) ==
          "warning: spec.worker.template: there are no containers, and nothing can run (expected a "
          "template with some)\n");
}

TEST_CASE("hostile input ends in a finding") {
    const std::string deep = std::string(10000, '[') + std::string(10000, ']');
    CHECK(read_t9k("{\"apiVersion\": " + deep + "}", {}).findings.find("nested too deeply") !=
          std::string::npos);
    CHECK(t9k_of("GenericJob", "{replicaSpecs: [{type: w, template: {spec: " + deep + "}}]}")
              .findings.find("nested too deeply") != std::string::npos);
    const std::string large(1'000'000, 'x');
    const std::string much = "{note: " + large + "}";
    CHECK(without_places(read_t9k("{apiVersion: batch.tensorstack.dev/v1beta1, kind: GenericJob, "
                                  "metadata: {name: j, annotations: " +
                                  much + "}, spec: {replicaSpecs: [{type: w}]}}")
                             .findings) ==
          "metadata.annotations: the annotations have 1000004 bytes (expected at most 262144)\n");
    CHECK(without_places(about_replica("template: {metadata: {annotations: " + much + "}}")) ==
          "spec.replicaSpecs[0].template.metadata.annotations: the annotations have 1000004 bytes "
          "(expected at most 262144)\n");
    CHECK(without_places(about_replica("replicas: 99999999999999999999")) != "");
    CHECK(without_places(t9k_of("GenericJob", "{replicaSpecs: [{type: w, replicas: 150000}, {type: "
                                              "x, replicas: 1}]}")
                             .findings) ==
          "spec: there are 150001 replicas in all (expected at most 150000)\n");
}

TEST_CASE("a TensorFlowTrainingJob lists at most 5000 replicas in each of its pods") {
    CHECK(without_places(
              t9k_of("TensorFlowTrainingJob", "{replicaSpecs: [{type: worker, replicas: 5001}]}")
                  .findings) == "spec: there are 5001 replicas in all (expected at most 5000)\n");
}

TEST_CASE("kinds are known by their group and name") {
    CHECK(t9k_job_kind("batch.tensorstack.dev/v1beta1", "MPIJob") == t9k_kind::mpi);
    CHECK(t9k_job_kind("batch.tensorstack.dev/v1beta1", "DeepspeedJob") == t9k_kind::deepspeed);
    CHECK_FALSE(t9k_job_kind("kubeflow.org/v1", "MPIJob"));
    CHECK_FALSE(t9k_job_kind("batch.tensorstack.dev/v1beta1", "Job"));
}

} // namespace codec_t9k_job_reader_test
