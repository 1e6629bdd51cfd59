// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/t9k/jobs/pods.hpp>

#include <string>
#include <string_view>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include "muster/t9k_jobs.hpp"

namespace translate_t9k_pods_test {

using namespace muster;
using namespace muster::translate;
using muster_test::read_t9k;
using muster_test::t9k_input;
using muster_test::t9k_of;

namespace json = boost::json;

namespace {

json::value at(const json::object& pod, std::string_view pointer) {
    const json::value whole(pod);
    boost::system::error_code error;
    const json::value* const found = whole.find_pointer(pointer, error);
    return found ? *found : json::value();
}

std::string text_at(const json::object& pod, std::string_view pointer) {
    return json::serialize(at(pod, pointer));
}

/// The value of a variable of the first container, or of another; "(none)" if it is not there.
std::string variable(const json::object& pod, std::string_view name, std::size_t container = 0) {
    const json::value env = at(pod, "/spec/containers/" + std::to_string(container) + "/env");
    if (env.is_array())
        for (const json::value& each : env.get_array())
            if (each.at("name").as_string() == name)
                return std::string(each.at("value").as_string());
    return "(none)";
}

std::string first_command(const json::object& pod) {
    std::string text;
    for (const std::string_view key : {"command", "args"}) {
        const json::value list = at(pod, "/spec/containers/0/" + std::string(key));
        text.append(key == "command" ? "" : " |");
        if (list.is_array())
            for (const json::value& each : list.get_array())
                text.append(text.empty() ? "" : " ").append(each.as_string());
    }
    return text;
}

json::object parsed(std::string_view text) {
    return json::parse(text).as_object();
}

} // namespace

TEST_CASE("a GenericJob's pod has the labels, owner, scheduler and name of its replica") {
    const t9k_input input = t9k_of(
        "GenericJob",
        "{scheduler: {t9kScheduler: {queue: default, priority: 10}}, replicaSpecs: [{type: worker, "
        "replicas: 4, template: {metadata: {labels: {mine: x}, annotations: {a: b}}, spec: "
        "{volumes: [{name: v}], containers: [{name: c, image: i}]}}}]}");
    CHECK(make_pod(input.job, {0, 2}) == parsed(R"({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "j-worker-2", "namespace": "lab", "annotations": {"a": "b"},
            "labels": {
                "mine": "x",
                "genericjob": "j",
                "genericjob-replica": "j-worker-2",
                "tensorstack.dev/component": "genericjob",
                "tensorstack.dev/component-type": "user",
                "scheduler.tensorstack.dev/group-name": "j",
                "scheduler.tensorstack.dev/queue": "default",
                "scheduler.tensorstack.dev/role": "worker"
            },
            "ownerReferences": [{
                "apiVersion": "batch.tensorstack.dev/v1beta1", "kind": "GenericJob", "name": "j",
                "uid": "u-1", "controller": true, "blockOwnerDeletion": true}]
        },
        "spec": {
            "volumes": [{"name": "v"}],
            "containers": [{"name": "c", "image": "i"}],
            "restartPolicy": "Never",
            "schedulerName": "t9k-scheduler"
        }})"));
}

TEST_CASE("a job of the default scheduler has pods without marks") {
    const t9k_input input = t9k_of("GenericJob", "{replicaSpecs: [{type: worker, template: {spec: "
                                                 "{containers: [{name: c}]}}}]}");
    const json::object pod = make_pod(input.job, {0, 0});
    CHECK(at(pod, "/spec/schedulerName").is_null());
    CHECK(at(pod, "/metadata/labels").as_object().size() == 4);
}

TEST_CASE("pods for a gang name their leaf and carry no marks") {
    const t9k_input input = t9k_of(
        "GenericJob", "{scheduler: {t9kScheduler: {}}, replicaSpecs: [{type: a, replicas: 2}, "
                      "{type: b}]}");
    const auto pods = pods_of(input.job);
    REQUIRE(pods.size() == 3);
    CHECK(pods[0].leaf == vertex_index{1});
    CHECK(pods[1].leaf == vertex_index{1});
    CHECK(pods[2].leaf == vertex_index{2});
    CHECK(text_at(pods[2].document, "/metadata/name") == R"("j-b-0")");
    CHECK(at(pods[2].document, "/metadata/labels").as_object().size() == 4);
    CHECK(pods[2].marks.empty());
}

TEST_CASE("TF_CONFIG names the cluster without evaluators, and the task") {
    const t9k_input input = t9k_of(
        "TensorFlowTrainingJob",
        "{replicaSpecs: [{type: chief, template: &t {spec: {containers: [{name: side}, {name: "
        "tensorflow}]}}}, {type: worker, replicas: 2, template: *t}, {type: evaluator, template: "
        "*t}]}");
    CHECK(input.findings == "");
    const std::string cluster =
        R"({"cluster":{"chief":["j-chief-0:2222"],"worker":["j-worker-0:2222","j-worker-1:2222"]},)";
    CHECK(variable(make_pod(input.job, {0, 0}), "TF_CONFIG", 1) ==
          cluster + R"("task":{"type":"chief","index":0}})");
    CHECK(variable(make_pod(input.job, {1, 1}), "TF_CONFIG", 1) ==
          cluster + R"("task":{"type":"worker","index":1}})");
    CHECK(variable(make_pod(input.job, {2, 0}), "TF_CONFIG", 1) ==
          cluster + R"("task":{"type":"evaluator","index":0}})");
    CHECK(variable(make_pod(input.job, {1, 1}), "TF_CONFIG", 0) == "(none)");
    CHECK(text_at(make_pod(input.job, {0, 0}), "/metadata/labels/job-role") == R"("master")");
    CHECK(at(make_pod(input.job, {1, 0}), "/metadata/labels/job-role").is_null());
    CHECK(text_at(make_pod(input.job, {1, 1}), "/metadata/labels/replica-index") == R"("1")");
    CHECK(text_at(make_pod(input.job, {1, 1}), "/metadata/labels/replica-type") == R"("worker")");
}

TEST_CASE("PyTorch's ranks count the types in their order, XGBoost's master is rank 0") {
    const std::string_view pod = "template: {spec: {containers: [{name: c}]}}";
    const t9k_input torch = t9k_of(
        "PyTorchTrainingJob", "{replicaSpecs: [{type: ps, " + std::string(pod) +
                                  "}, {type: worker, replicas: 2, " + std::string(pod) + "}]}");
    const json::object last = make_pod(torch.job, {1, 1});
    CHECK(variable(last, "MASTER_ADDR") == "j-ps-0");
    CHECK(variable(last, "MASTER_PORT") == "2222");
    CHECK(variable(last, "RANK") == "2");
    CHECK(variable(last, "WORLD_SIZE") == "3");
    CHECK(variable(make_pod(torch.job, {0, 0}), "RANK") == "0");

    const t9k_input boost = t9k_of(
        "XGBoostTrainingJob", "{replicaSpecs: [{type: worker, replicas: 2, " + std::string(pod) +
                                  "}, {type: master, " + std::string(pod) + "}]}");
    CHECK(variable(make_pod(boost.job, {1, 0}), "RANK") == "0");
    CHECK(variable(make_pod(boost.job, {0, 0}), "RANK") == "1");
    CHECK(variable(make_pod(boost.job, {0, 1}), "RANK") == "2");
    CHECK(variable(make_pod(boost.job, {0, 1}), "MASTER_ADDR") == "j-master-0");
}

TEST_CASE("a variable that the template sets stays as it is") {
    const t9k_input input = t9k_of(
        "PyTorchTrainingJob", "{replicaSpecs: [{type: w, template: {spec: {containers: [{name: c, "
                              "env: [{name: MASTER_PORT, value: '7'}]}]}}}]}");
    const json::object pod = make_pod(input.job, {0, 0});
    CHECK(variable(pod, "MASTER_PORT") == "7");
    CHECK(at(pod, "/spec/containers/0/env").as_array().size() == 4);
}

TEST_CASE("torchrun starts the args of the container named python, else of the first") {
    const std::string torchrun =
        "elastic: {enabled: true, minReplicas: 3, maxReplicas: 10, expectedReplicas: 7}, "
        "torchrunConfig: {enabled: true, procPerNode: '2', maxRestarts: 1, extraOptions: "
        "[--tee=3]}, ";
    const t9k_input input =
        t9k_of("PyTorchTrainingJob",
               "{" + torchrun +
                   "replicaSpecs: [{type: w, template: {spec: {containers: [{name: c, "
                   "command: [gone], args: [train.py, -x]}]}}}]}");
    CHECK(input.findings.find("command: is left out: torchrun runs what args say") !=
          std::string::npos);
    const json::object pod = make_pod(input.job, {0, 6});
    CHECK(first_command(pod) ==
          "torchrun --nnodes=3:10 --nproc_per_node=2 --rdzv_backend=c10d --rdzv_id=j "
          "--rdzv_endpoint=j-w-0:2222 --max_restarts=1 --tee=3 train.py -x |");
    CHECK(variable(pod, "RANK") == "(none)");
    CHECK(variable(pod, "MASTER_ADDR") == "j-w-0");
    const t9k_input named = t9k_of(
        "PyTorchTrainingJob",
        "{torchrunConfig: {enabled: true}, replicaSpecs: [{type: w, template: {spec: {containers: "
        "[{name: c, command: [stays]}, {name: python}]}}}]}");
    CHECK(first_command(make_pod(named.job, {0, 0})) == "stays |");
    CHECK(text_at(make_pod(named.job, {0, 0}), "/spec/containers/1/command/0") == R"("torchrun")");
}

TEST_CASE("pods never restart on their own, only those of Flink as they are told") {
    const t9k_input input =
        t9k_of("GenericJob", "{replicaSpecs: [{type: w, template: {spec: {restartPolicy: Always, "
                             "containers: [{name: c}]}}}]}");
    CHECK(text_at(make_pod(input.job, {0, 0}), "/spec/restartPolicy") == R"("Never")");
}

TEST_CASE("MPI's launcher gets mpirun and a host file, its workers sshd") {
    const t9k_input input = t9k_of(
        "MPIJob", "{mpiHome: /usr/local, mca: {btl: ^openib}, ssh: {sshdPath: /usr/bin/sshd}, "
                  "worker: {replicas: 2, extraMPIArgs: [-N, '3'], cmd: [./walk, '20'], template: "
                  "{spec: {nodeSelector: {a: b}, containers: [{name: mpi-worker, image: img, "
                  "command: [gone], args: [gone], resources: {limits: {cpu: 4}}}]}}}}");
    CHECK(input.findings == "");
    const json::object launcher = make_pod(input.job, {0, 0});
    CHECK(text_at(launcher, "/metadata/name") == R"("j-launcher")");
    CHECK(first_command(launcher) == "/usr/local/bin/mpirun --prefix /usr/local --hostfile "
                                     "/t9k/hostfile -mca btl ^openib -N 3 ./walk 20 |");
    CHECK(text_at(launcher, "/spec/containers/0/name") == R"("launcher")");
    CHECK(text_at(launcher, "/spec/containers/0/image") == R"("img")");
    CHECK(text_at(launcher, "/spec/containers/0/resources/requests/cpu") == R"("100m")");
    CHECK(text_at(launcher, "/spec/nodeSelector/a") == R"("b")");
    CHECK(text_at(launcher, "/spec/containers/0/volumeMounts/0/mountPath") == R"("/t9k/hostfile")");
    CHECK(first_command(make_pod(input.job, {1, 1})) == "/usr/bin/sshd -D |");
    CHECK(hostfile_of(input.job) == "j-worker-0 slots=3\nj-worker-1 slots=3\n");
}

TEST_CASE("both generations of an MPIJob make the same pods") {
    const std::string_view pod = "template: {spec: {containers: [{name: NAME, image: i}]}}";
    const auto with = [&](std::string_view name) {
        std::string text(pod);
        return text.replace(text.find("NAME"), 4, name);
    };
    const t9k_input first = t9k_of(
        "MPIJob", "{mca: {a: b}, mpiHome: /m, worker: {replicas: 2, extraMPIArgs: [-x], cmd: "
                  "[z], " +
                      with("mpi-worker") + "}}");
    const t9k_input second =
        t9k_of("MPIJob", "{mpiConfig: {mca: {a: b}, home: /m, extraArgs: [-x], script: [z]}, "
                         "replicaSpecs: [{type: worker, replicas: 2, " +
                             with("worker") + "}]}");
    CHECK(first.findings == "");
    CHECK(second.findings == "");
    CHECK(make_pod(first.job, {0, 0}) == make_pod(second.job, {0, 0}));
    json::object worker = make_pod(first.job, {1, 1});
    worker["spec"].at("containers").at(0).as_object()["name"] = "worker";
    CHECK(worker == make_pod(second.job, {1, 1}));
}

TEST_CASE("ColossalAI's launcher has its own image, and runs colossalai on the workers") {
    const t9k_input input =
        t9k_of("ColossalAIJob",
               "{launcher: {image: hpc, workingDir: /w, env: [{name: A, value: b}], "
               "resources: {requests: {cpu: 1}}}, worker: {replicas: 2, procPerWorker: 4, "
               "command: [train.py, arg1], torchArgs: [--x], template: {spec: "
               "{containers: [{name: worker, image: i}]}}}}");
    CHECK(input.findings == "");
    const json::object launcher = make_pod(input.job, {0, 0});
    CHECK(first_command(launcher) == "colossalai run --hostfile /t9k/hostfile --nproc_per_node 4 "
                                     "--master_addr j-worker-0 --x train.py arg1 |");
    CHECK(text_at(launcher, "/spec/containers/0/image") == R"("hpc")");
    CHECK(variable(launcher, "A") == "b");
    CHECK(hostfile_of(input.job) == "j-worker-0\nj-worker-1\n");
    CHECK(first_command(make_pod(input.job, {1, 0})) == "/usr/sbin/sshd -D |");
}

TEST_CASE("a launcher with a template of its own is started by the script, else by its command") {
    const auto launcher = [](std::string_view config) {
        return t9k_of("MPIJob",
                      "{" + std::string(config) +
                          "replicaSpecs: [{type: worker, template: &t {spec: {containers: [{name: "
                          "worker, image: i}]}}}, {type: launcher, template: {spec: {containers: "
                          "[{name: launcher, image: own, command: [run]}]}}}]}");
    };
    const t9k_input own = launcher("");
    CHECK(first_command(make_pod(own.job, {1, 0})) == "run |");
    const t9k_input script = launcher("mpiConfig: {script: [go]}, ");
    CHECK(first_command(make_pod(script.job, {1, 0})) == "mpirun --hostfile /t9k/hostfile go |");
    CHECK(text_at(make_pod(script.job, {1, 0}), "/spec/containers/0/image") == R"("own")");
    CHECK(text_at(make_pod(script.job, {1, 0}), "/metadata/name") == R"("j-launcher")");
}

TEST_CASE("ColossalAI's second generation has replicaSpecs and torchConfig") {
    const t9k_input input = t9k_of(
        "ColossalAIJob", "{torchConfig: {procPerWorker: 2, script: [t.py], extraArgs: [--z]}, "
                         "replicaSpecs: [{type: worker, replicas: 2, template: {spec: {containers: "
                         "[{name: worker, image: i}]}}}]}");
    CHECK(input.findings == "");
    const json::object launcher = make_pod(input.job, {0, 0});
    CHECK(first_command(launcher) == "colossalai run --hostfile /t9k/hostfile --nproc_per_node 2 "
                                     "--master_addr j-worker-0 --z t.py |");
    CHECK(text_at(launcher, "/spec/containers/0/image") == R"("i")");
    CHECK(pods_of(input.job).size() == 3);
}

TEST_CASE("DeepSpeed's worker 0 runs deepspeed beside sshd, the others sshd alone") {
    const t9k_input input = t9k_of(
        "DeepSpeedJob", "{config: {slotsPerWorker: 8, run: {python: [/t9k/mnt/train.py, -a]}, "
                        "otherArgs: [-q]}, worker: {replicas: 2, template: {spec: "
                        "{containers: [{name: worker}]}}}}");
    CHECK(input.findings == "");
    CHECK(first_command(make_pod(input.job, {0, 0})) ==
          "/bin/sh -c /usr/sbin/sshd && exec \"$0\" \"$@\" deepspeed --hostfile /t9k/hostfile "
          "--no_local_rank -q /t9k/mnt/train.py -a |");
    CHECK(first_command(make_pod(input.job, {0, 1})) == "/usr/sbin/sshd -D |");
    CHECK(hostfile_of(input.job) == "j-worker-0 slots=8\nj-worker-1 slots=8\n");
}

TEST_CASE("BeamJob's managers come from the cluster's template, its submitter from the Job's") {
    const t9k_input input = t9k_of(
        "BeamJob", "{flinkClusterTemplate: {spec: {image: {name: flink:1}, jobManager: {resources: "
                   "{requests: {cpu: 1}}}, taskManager: {replicas: 2}}}, jobTemplate: {spec: "
                   "{template: {spec: {restartPolicy: OnFailure, containers: [{name: b}]}}}}}");
    CHECK(input.findings == "");
    const json::object manager = make_pod(input.job, {0, 0});
    CHECK(text_at(manager, "/spec/containers/0/image") == R"("flink:1")");
    CHECK(text_at(manager, "/spec/containers/0/resources/requests/cpu") == "1");
    CHECK(variable(make_pod(input.job, {1, 1}), "JOB_MANAGER_RPC_ADDRESS") ==
          "j-flinkcluster-jobmanager-0");
    CHECK(text_at(make_pod(input.job, {2, 0}), "/spec/restartPolicy") == R"("OnFailure")");
}

TEST_CASE("debug mode replaces the first container's command and drops its args") {
    const std::string pods =
        "replicaSpecs: [{type: a, template: &t {spec: {initContainers: [{name: i}], containers: "
        "[{name: c, command: [run], args: [x]}]}}}, {type: b, template: *t}]}";
    const t9k_input input =
        t9k_of("GenericJob", "{runMode: {debug: {enabled: true, replicaSpecs: [{type: a, "
                             "skipInitContainer: true, command: [/usr/bin/sshd, $(type)]}]}}, " +
                                 pods);
    CHECK(input.findings == "");
    CHECK(first_command(make_pod(input.job, {0, 0})) == "/usr/bin/sshd a |");
    CHECK(at(make_pod(input.job, {0, 0}), "/spec/initContainers").is_null());
    // Types that are not listed: the default.
    CHECK(first_command(make_pod(input.job, {1, 0})) == "sleep inf |");
    CHECK(at(make_pod(input.job, {1, 0}), "/spec/initContainers").is_array());
    const t9k_input off =
        t9k_of("GenericJob", "{runMode: {debug: {enabled: false, replicaSpecs: [{type: a, command: "
                             "[no]}]}}, " +
                                 pods);
    CHECK(first_command(make_pod(off.job, {0, 0})) == "run | x");
}

TEST_CASE("in debug mode MPI's workers, and all of DeepSpeed's, wait with sshd") {
    const t9k_input mpi = t9k_of("MPIJob", "{runMode: {debug: {enabled: true}}, worker: {template: "
                                           "{spec: {containers: [{name: mpi-worker}]}}}}");
    CHECK(first_command(make_pod(mpi.job, {0, 0})) == "sleep inf |");
    CHECK(first_command(make_pod(mpi.job, {1, 0})) == "/usr/bin/sshd -D |");
    const t9k_input deepspeed =
        t9k_of("DeepSpeedJob", "{runMode: {debug: {enabled: true}}, worker: {template: {spec: "
                               "{containers: [{name: worker}]}}}}");
    CHECK(first_command(make_pod(deepspeed.job, {0, 0})) == "/usr/sbin/sshd -D |");
}

TEST_CASE("a paused job has no pods; resumeSpecs change those that come after a pause") {
    const std::string_view rest =
        "replicaSpecs: [{type: a, template: &t {spec: {containers: [{name: c, command: [run], "
        "args: [x]}]}}}, {type: b, template: *t}, {type: c, template: *t}]}";
    const auto with = [&](std::string_view paused) {
        return t9k_of("GenericJob",
                      "{runMode: {pause: {enabled: " + std::string(paused) +
                          ", resumeSpecs: [{type: a, command: [again]}, {type: b, args: [z]}]}}, " +
                          std::string(rest));
    };
    CHECK(pods_of(with("true").job).empty());
    const t9k_input input = with("false");
    CHECK(pods_of(input.job).size() == 3);
    CHECK(first_command(make_pod(input.job, {0, 0})) == "run | x");
    const auto resumed = [&](std::size_t spec) {
        return first_command(make_pod(input.job, {spec, 0}, {}, t9k_start::resumed));
    };
    CHECK(resumed(0) == "again |");
    CHECK(resumed(1) == "run | z");
    CHECK(resumed(2) == "run | x");
}

TEST_CASE("on a resume debug mode beats resumeSpecs") {
    const t9k_input input = t9k_of(
        "GenericJob", "{runMode: {debug: {enabled: true}, pause: {resumeSpecs: [{type: a, command: "
                      "[again]}]}}, replicaSpecs: [{type: a, template: {spec: {containers: [{name: "
                      "c}]}}}]}");
    CHECK(first_command(make_pod(input.job, {0, 0}, {}, t9k_start::resumed)) == "sleep inf |");
}

} // namespace translate_t9k_pods_test
