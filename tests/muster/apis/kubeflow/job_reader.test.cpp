// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/kubeflow/job_reader.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/job_fixture.hpp>

namespace codec_kubeflow_reader_test {

using namespace muster_job_fixture;

namespace {

const job_options grouped{job_rules::podgrouper, true};

std::string role(const std::string& name, const std::string& replicas,
                 const std::string& labels = {}, const std::string& extra = {},
                 const std::string& container = "c") {
    return "    " + name + ": {" + (replicas.empty() ? "" : "replicas: " + replicas + ", ") +
           extra + "template: {metadata: {labels: {" + labels +
           "}}, spec: {containers: [{name: " + container + ", image: i}]}}}\n";
}

std::string job(const std::string& kind, const std::string& specs, const std::string& roles,
                const std::string& rest = {}) {
    return "apiVersion: kubeflow.org/v1\nkind: " + kind +
           "\nmetadata: {name: j, namespace: ns, uid: u}\nspec:\n" + rest + "  " + specs + ":\n" +
           roles;
}

std::string scheduling(const std::string& policy) {
    return "  runPolicy: {schedulingPolicy: {" + policy + "}}\n";
}

const std::string ack = "pod-group.scheduling.sigs.k8s.io/name: g, "
                        "pod-group.scheduling.sigs.k8s.io/min-available: \"2\"";

const auto tf = read_kubeflow<kubeflow_kind::tensorflow>;
const auto torch = read_kubeflow<kubeflow_kind::pytorch>;
const auto mpi = read_kubeflow<kubeflow_kind::mpi>;
const auto mpi2 = read_kubeflow<kubeflow_kind::mpi_v2>;
const auto xgb = read_kubeflow<kubeflow_kind::xgboost>;
const auto paddle = read_kubeflow<kubeflow_kind::paddle>;
const auto jax = read_kubeflow<kubeflow_kind::jax>;

} // namespace

TEST_CASE("a Kubeflow job wants all its replicas when its schedulingPolicy names no minimum") {
    const auto read =
        read_job(tf, job("TFJob", "tfReplicaSpecs", role("PS", "2") + role("Worker", "3")));
    CHECK(read.findings.empty());
    CHECK(read.losses.empty());
    REQUIRE(read.gangs.size() == 1);
    const gang_bundle& bundle = read.gangs[0];
    CHECK(bundle.gang.name == "j");
    CHECK(bundle.gang.name_space == "ns");
    CHECK(tree_text(bundle.gang.tree) == "5 (ps 0, worker 0)");
    REQUIRE(bundle.gang.sizes.size() == 2);
    CHECK(bundle.gang.sizes[1].replicas == 3);
    CHECK(pod_names(bundle.pods) == "j-ps-0 j-ps-1 j-worker-0 j-worker-1 j-worker-2");
    CHECK(!bundle.gang.queue);
    REQUIRE(bundle.gang.owners.size() == 1);
    CHECK(bundle.gang.owners[0] == object_reference{"kubeflow.org/v1", "TFJob", "j", "u"});
}

TEST_CASE(
    "minAvailable, queue, priorityClass, timeout and minResources of a schedulingPolicy go to "
    "the gang") {
    const auto read =
        read_job(tf, job("TFJob", "tfReplicaSpecs", role("Worker", "4"),
                         scheduling("minAvailable: 3, queue: q, priorityClass: high, "
                                    "scheduleTimeoutSeconds: 60, minResources: {cpu: 3}")));
    CHECK(read.findings.empty());
    const gang_object& gang = read.gangs.at(0).gang;
    CHECK(tree_text(gang.tree) == "3");
    CHECK(gang.queue == "q");
    CHECK(gang.priority.class_name == "high");
    CHECK(gang.wait_seconds == 60);
    REQUIRE(gang.min_resources);
    CHECK(boost::json::serialize(*gang.min_resources) == R"({"cpu":3})");
}

TEST_CASE("replicas that are not written count as one") {
    const auto read = read_job(torch, job("PyTorchJob", "pytorchReplicaSpecs", role("Master", "")));
    CHECK(tree_text(read.gangs.at(0).gang.tree) == "1");
    CHECK(pod_names(read.gangs.at(0).pods) == "j-master-0");
}

TEST_CASE("without pods a gang still says how many there are to be") {
    const auto read = read_job(tf, job("TFJob", "tfReplicaSpecs", role("Worker", "3")),
                               {job_rules::controller, false});
    CHECK(read.gangs.at(0).pods.empty());
    CHECK(read.gangs.at(0).gang.sizes.at(0).replicas == 3);
}

TEST_CASE("a PyTorchJob's podgrouper wants all masters and the rest of the minimum as workers") {
    const std::string roles = role("Master", "1") + role("Worker", "4");
    const std::string specs = "pytorchReplicaSpecs";
    CHECK(tree_text(
              read_job(torch, job("PyTorchJob", specs, roles), grouped).gangs.at(0).gang.tree) ==
          "5 (master 1, worker 4)");
    CHECK(tree_text(read_job(torch, job("PyTorchJob", specs, roles, scheduling("minAvailable: 3")),
                             grouped)
                        .gangs.at(0)
                        .gang.tree) == "3 (master 1, worker 2)");
    CHECK(tree_text(read_job(torch, job("PyTorchJob", specs, roles)).gangs.at(0).gang.tree) ==
          "5 (master 0, worker 0)");
}

TEST_CASE("segments of a PyTorchJob's workers are subgroups for the podgrouper") {
    const auto with = [](const std::string& size, const job_options& options) {
        return read_job(
            torch,
            job("PyTorchJob", "pytorchReplicaSpecs",
                role("Master", "1") +
                    "    Worker: {replicas: 5, template: {metadata: {annotations: "
                    "{kai.scheduler/segment-size: \"" +
                    size +
                    "\", kai.scheduler/segment-topology-required-placement: rack}}, spec: "
                    "{containers: [{name: c}]}}}\n"),
            options);
    };
    const auto read = with("2", grouped);
    const auto& tree = read.gangs.at(0).gang.tree;
    CHECK(tree_text(tree) == "6 (master 1, worker 5 (worker-0 2, worker-1 2, worker-2 1))");
    REQUIRE(tree[3].together);
    CHECK(tree[3].together->within.levels.at(0) == "rack");
    CHECK(pod_names(read.gangs[0].pods) ==
          "j-master-0 j-worker-0 j-worker-1 j-worker-2 j-worker-3 j-worker-4");
    CHECK(tree[read.gangs[0].pods.at(4).leaf].name == "worker-1");
    CHECK(tree_text(with("2", {}).gangs.at(0).gang.tree) == "6 (master 0, worker 0)");
    CHECK(with("no", grouped).findings.find("segment-size of the template is not a size") !=
          std::string::npos);
}

TEST_CASE("an elastic PyTorchJob wants minReplicas, and schedulingPolicy beats both") {
    const std::string elastic = "  elasticPolicy: {minReplicas: 2, maxReplicas: 6}\n";
    const std::string roles = role("Worker", "4");
    const std::string specs = "pytorchReplicaSpecs";
    const auto read = read_job(torch, job("PyTorchJob", specs, roles, elastic));
    CHECK(tree_text(read.gangs.at(0).gang.tree) == "2");
    CHECK(read.gangs.at(0).pods.size() == 4);
    CHECK(env_of(read.gangs.at(0).pods[0].document, "PET_NNODES") == "2:6");
    CHECK(env_of(read.gangs.at(0).pods[0].document, "PET_RDZV_ENDPOINT") == "j-worker-0:23456");
    CHECK(tree_text(read_job(torch, job("PyTorchJob", specs, roles,
                                        elastic + scheduling("minAvailable: 3")))
                        .gangs.at(0)
                        .gang.tree) == "3");
}

TEST_CASE("the podgrouper wants replicas written and above zero, and the roles that a kind needs") {
    CHECK(read_job(torch, job("PyTorchJob", "pytorchReplicaSpecs", role("Worker", "")), grouped)
              .findings.find("spec.pytorchReplicaSpecs.Worker: replicas is missing") !=
          std::string::npos);
    CHECK(read_job(torch, job("PyTorchJob", "pytorchReplicaSpecs", role("Worker", "0")), grouped)
              .findings.find("Worker.replicas: found 0, expected") != std::string::npos);
    CHECK(read_job(xgb, job("XGBoostJob", "xgbReplicaSpecs", role("Master", "1")), grouped)
              .findings.find("no replicas of type \"Worker\"") != std::string::npos);
    CHECK(
        read_job(xgb, job("XGBoostJob", "xgbReplicaSpecs", role("Master", "1"))).findings.empty());
    CHECK(read_job(mpi, job("MPIJob", "mpiReplicaSpecs", role("Worker", "1")), grouped)
              .findings.find("no replicas of type \"Launcher\"") != std::string::npos);
    CHECK(read_job(jax, job("JAXJob", "jaxReplicaSpecs", "    {}\n"), grouped)
              .findings.find("no replicas of type \"Worker\"") != std::string::npos);
}

TEST_CASE("an MPIJob has a launcher in its minimum, but for the podgrouper when it starts late") {
    const std::string roles = role("Launcher", "1") + role("Worker", "2");
    const auto both = read_job(mpi2, job("MPIJob", "mpiReplicaSpecs", roles));
    CHECK(tree_text(both.gangs.at(0).gang.tree) == "3 (launcher 0, worker 0)");
    CHECK(pod_names(both.gangs.at(0).pods) == "j-launcher j-worker-0 j-worker-1");
    const std::string late = "  launcherCreationPolicy: WaitForWorkersReady\n";
    const auto grouping = read_job(mpi2, job("MPIJob", "mpiReplicaSpecs", roles, late), grouped);
    CHECK(tree_text(grouping.gangs.at(0).gang.tree) == "2 (launcher 0, worker 0)");
    CHECK(loss_text(grouping.losses).find("startup-order: MPIJob ns/j: launcherCreationPolicy") ==
          0);
    CHECK(
        tree_text(
            read_job(mpi2, job("MPIJob", "mpiReplicaSpecs", roles, late)).gangs.at(0).gang.tree) ==
        "3 (launcher 0, worker 0)");
}

TEST_CASE("the priority of an MPIJob is the policy's, else the launcher's, else the workers'") {
    const auto with = [](const std::string& launcher, const std::string& worker,
                         const std::string& policy) {
        const auto one = [](const std::string& name, const std::string& priority) {
            return "    " + name + ": {template: {spec: {" +
                   (priority.empty() ? "" : "priorityClassName: " + priority + ", ") +
                   "containers: [{name: c}]}}}\n";
        };
        return read_job(mpi2, job("MPIJob", "mpiReplicaSpecs",
                                  one("Worker", worker) + one("Launcher", launcher), policy))
            .gangs.at(0)
            .gang.priority.class_name;
    };
    CHECK(with("l", "w", scheduling("priorityClass: p")) == "p");
    CHECK(with("l", "w", "") == "l");
    CHECK(with("", "w", "") == "w");
}

TEST_CASE("a TFJob's pods know their cluster by TF_CONFIG, without evaluators") {
    const auto read = read_job(tf, job("TFJob", "tfReplicaSpecs",
                                       role("Worker", "2", {}, {}, "tensorflow") + role("PS", "1") +
                                           role("Evaluator", "1")));
    CHECK(
        env_of(read.gangs.at(0).pods[1].document, "TF_CONFIG") ==
        R"({"cluster":{"ps":["j-ps-0.ns.svc:2222"],"worker":["j-worker-0.ns.svc:2222",)"
        R"("j-worker-1.ns.svc:2222"]},"task":{"type":"worker","index":1},"environment":"cloud"})");
    const auto alone = read_job(tf, job("TFJob", "tfReplicaSpecs", role("Worker", "1")));
    CHECK(env_of(alone.gangs.at(0).pods[0].document, "TF_CONFIG") == "(none)");
}

TEST_CASE("with dynamic workers TF_CONFIG tells a worker of itself and the parameter servers") {
    const auto read =
        read_job(tf, job("TFJob", "tfReplicaSpecs", role("PS", "1") + role("Worker", "2"),
                         "  enableDynamicWorker: true\n"));
    CHECK(env_of(read.gangs.at(0).pods[2].document, "TF_CONFIG") ==
          R"({"sparseCluster":{"worker":{"1":"j-worker-1.ns.svc:2222"},)"
          R"("ps":["j-ps-0.ns.svc:2222"]},"task":{"type":"worker","index":1}})");
}

TEST_CASE("a PyTorchJob's pods know master, world and rank") {
    const auto read =
        read_job(torch, job("PyTorchJob", "pytorchReplicaSpecs",
                            role("Master", "1") + role("Worker", "2"), "  nprocPerNode: \"4\"\n"));
    const auto& last = read.gangs.at(0).pods.at(2).document;
    CHECK(env_of(last, "MASTER_ADDR") == "j-master-0");
    CHECK(env_of(last, "MASTER_PORT") == "23456");
    CHECK(env_of(last, "WORLD_SIZE") == "12");
    CHECK(env_of(last, "RANK") == "2");
    CHECK(env_of(last, "PET_NODE_RANK") == "2");
    CHECK(env_of(last, "PET_NNODES") == "3");
    CHECK(env_of(last, "PET_NPROC_PER_NODE") == "4");
}

TEST_CASE("the pods of the other kinds know each other by the variables of their frameworks") {
    const std::string roles = role("Master", "1") + role("Worker", "2");
    const auto boosted = read_job(xgb, job("XGBoostJob", "xgbReplicaSpecs", roles));
    CHECK(env_of(boosted.gangs.at(0).pods.at(2).document, "RANK") == "2");
    CHECK(env_of(boosted.gangs.at(0).pods.at(2).document, "WORKER_ADDRS") ==
          "j-worker-0,j-worker-1");
    const auto paddled = read_job(paddle, job("PaddleJob", "paddleReplicaSpecs", roles));
    CHECK(env_of(paddled.gangs.at(0).pods.at(0).document, "PADDLE_MASTER") ==
          "$(POD_IP_DUMMY):36543");
    CHECK(env_of(paddled.gangs.at(0).pods.at(1).document, "PADDLE_MASTER") == "j-master-0:36543");
    CHECK(env_of(paddled.gangs.at(0).pods.at(1).document, "PADDLE_TRAINER_NUM") == "1");
    const auto jaxed = read_job(jax, job("JAXJob", "jaxReplicaSpecs", role("Worker", "2")));
    CHECK(env_of(jaxed.gangs.at(0).pods.at(1).document, "COORDINATOR_ADDRESS") == "j-worker-0");
    CHECK(env_of(jaxed.gangs.at(0).pods.at(1).document, "PROCESS_ID") == "1");
    CHECK(env_of(jaxed.gangs.at(0).pods.at(1).document, "NUM_PROCESSES") == "2");
}

TEST_CASE("an MPIJob's launcher finds its hosts, and workers without a command serve it") {
    const std::string roles = role("Launcher", "1") + role("Worker", "1");
    const auto second =
        read_job(mpi2, job("MPIJob", "mpiReplicaSpecs", roles, "  slotsPerWorker: 4\n"));
    const auto& pods = second.gangs.at(0).pods;
    CHECK(env_of(pods[0].document, "OMPI_MCA_orte_set_default_slots") == "4");
    CHECK(env_of(pods[0].document, "NVIDIA_VISIBLE_DEVICES").empty());
    CHECK(env_of(pods[1].document, "K_MPI_JOB_ROLE") == "worker");
    CHECK(at(pods[1].document, "spec|containers|0|command") == R"(["/usr/sbin/sshd","-De"])");
    CHECK(at(pods[1].document, "spec|hostname") == "j-worker-0");
    CHECK(at(pods[1].document, "spec|subdomain") == "j");
    const auto first = read_job(mpi, job("MPIJob", "mpiReplicaSpecs", roles));
    CHECK(env_of(first.gangs.at(0).pods[0].document, "OMPI_MCA_orte_default_hostfile") ==
          "/etc/mpi/hostfile");
    CHECK(at(first.gangs.at(0).pods[1].document, "spec|containers|0|command") == R"(["sleep"])");
}

TEST_CASE("a Kubeflow pod carries the labels of its controller, its owner and its restart policy") {
    const auto read = read_job(tf, job("TFJob", "tfReplicaSpecs",
                                       role("Worker", "2", "app: x", "restartPolicy: ExitCode, ")));
    const auto& pod = read.gangs.at(0).pods.at(0).document;
    CHECK(at(pod, "metadata|labels") ==
          R"({"app":"x","training.kubeflow.org/job-name":"j",)"
          R"("training.kubeflow.org/operator-name":"tfjob-controller",)"
          R"("training.kubeflow.org/replica-type":"worker",)"
          R"("training.kubeflow.org/replica-index":"0",)"
          R"("training.kubeflow.org/job-role":"master"})");
    CHECK(at(read.gangs.at(0).pods.at(1).document, "metadata|labels|training.kubeflow.org/job-role")
              .empty());
    CHECK(at(pod, "metadata|namespace") == "ns");
    CHECK(at(pod, "metadata|ownerReferences") ==
          R"([{"apiVersion":"kubeflow.org/v1","kind":"TFJob","name":"j","uid":"u",)"
          R"("controller":true,"blockOwnerDeletion":true}])");
    CHECK(at(pod, "spec|restartPolicy") == "Never");
    CHECK(loss_text(read.losses) ==
          "lifecycle: TFJob ns/j: restartPolicy ExitCode: the job's own controller sees to it\n");
    CHECK(at(read_job(torch, job("PyTorchJob", "pytorchReplicaSpecs", role("Worker", "1")))
                 .gangs.at(0)
                 .pods.at(0)
                 .document,
             "spec|restartPolicy") == "OnFailure");
}

TEST_CASE("what happens after the start of a Kubeflow job is a loss that names the fields") {
    const auto read = read_job(tf, job("TFJob", "tfReplicaSpecs", role("Worker", "1"),
                                       "  runPolicy: {cleanPodPolicy: Running, backoffLimit: 3, "
                                       "suspend: false}\n"));
    CHECK(loss_text(read.losses) ==
          "lifecycle: TFJob ns/j: cleanPodPolicy, backoffLimit: the job's "
          "own controller sees to it\n");
}

TEST_CASE("ACK labels on all templates name the gang and its minimum, and leave the pods") {
    const auto read = read_job(
        tf, job("TFJob", "tfReplicaSpecs", role("PS", "1", ack) + role("Worker", "2", ack)));
    CHECK(read.findings.empty());
    CHECK(read.loose_pods.empty());
    CHECK(read.gangs.at(0).gang.name == "g");
    CHECK(tree_text(read.gangs.at(0).gang.tree) == "2 (ps 0, worker 0)");
    CHECK(at(read.gangs.at(0).pods.at(0).document,
             "metadata|labels|pod-group.scheduling.sigs.k8s.io/name")
              .empty());
}

TEST_CASE("a schedulingPolicy that disagrees with ACK labels on a template is an error") {
    const auto with = [](const std::string& least) {
        return read_job(tf, job("TFJob", "tfReplicaSpecs", role("Worker", "3", ack),
                                scheduling("queue: q, minAvailable: " + least)));
    };
    CHECK(with("3").findings ==
          "f:5:58: spec.runPolicy.schedulingPolicy.minAvailable: 3 disagrees with the label "
          "pod-group.scheduling.sigs.k8s.io/min-available: 2 on the template of \"Worker\" "
          "(expected the same number)\n");
    CHECK(with("2").findings.empty());
    CHECK(with("2").gangs.at(0).gang.queue == "q");
}

TEST_CASE("with ACK labels on the workers only, as Arena writes them, the launcher stands alone") {
    const auto read = read_job(
        mpi, job("MPIJob", "mpiReplicaSpecs", role("Launcher", "1") + role("Worker", "2", ack)));
    CHECK(read.gangs.at(0).gang.name == "g");
    CHECK(tree_text(read.gangs.at(0).gang.tree) == "2");
    CHECK(pod_names(read.gangs.at(0).pods) == "j-worker-0 j-worker-1");
    REQUIRE(read.loose_pods.size() == 1);
    CHECK(at(read.loose_pods[0], "metadata|name") == "j-launcher");
}

TEST_CASE("templates that name a group of another API make pods of that group") {
    const auto read =
        read_job(tf, job("TFJob", "tfReplicaSpecs",
                         role("Worker", "2", "scheduling.x-k8s.io/pod-group: other")));
    CHECK(read.gangs.empty());
    REQUIRE(read.loose_pods.size() == 2);
    CHECK(at(read.loose_pods[1], "metadata|labels|scheduling.x-k8s.io/pod-group") == "other");
}

TEST_CASE("labels and annotations of any job ask for queue, priority, preemption and closeness") {
    const auto read = read_job(
        tf,
        "apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata:\n  name: j\n  labels: "
        "{kai.scheduler/queue: q, priorityClassName: p, kai.scheduler/preemptibility: "
        "non-preemptible, team: t}\n  annotations: {kai.scheduler/topology: top, "
        "kai.scheduler/topology-required-placement: rack, "
        "kai.scheduler/topology-preferred-placement: host, note: x}\nspec:\n  tfReplicaSpecs:\n" +
            role("Worker", "1"));
    const gang_object& gang = read.gangs.at(0).gang;
    CHECK(gang.name_space == "default");
    CHECK(gang.queue == "q");
    CHECK(gang.priority.class_name == "p");
    CHECK(gang.preemptible == false);
    CHECK(gang.topology_name == "top");
    REQUIRE(gang.tree[0].together);
    CHECK(gang.tree[0].together->within.levels.size() == 2);
    CHECK(gang.tree[0].together->required == 0);
    CHECK(gang.tree[0].together->preferred == 1);
    CHECK(boost::json::serialize(gang.labels) == R"({"team":"t"})");
    CHECK(boost::json::serialize(gang.annotations) == R"({"note":"x"})");
}

TEST_CASE("what only KAI has words for stays with the gang as KAI's") {
    const auto read =
        read_job(tf, "apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: j, labels: "
                     "{kai.scheduler/preemptibility: semi-preemptible}, annotations: "
                     "{kai.scheduler/preemption-delay: 5m}}\nspec:\n  tfReplicaSpecs:\n" +
                         role("Worker", "1"));
    const auto& words = read.gangs.at(0).gang.own_words;
    REQUIRE(words.size() == 2);
    CHECK(words[0].api == gang_api::kai);
    CHECK(words[0].what == loss_kind::preemptibility);
    CHECK(words[0].field == "preemptibility");
    CHECK(words[1].field == "preemptionDelay");
    CHECK(words[1].value.as_string() == "5m");
    CHECK(read.gangs[0].gang.annotations.empty());
}

TEST_CASE("a job whose name is yet to be generated goes by the fixed part of it") {
    const auto read = read_job(jax, "apiVersion: kubeflow.org/v1\nkind: JAXJob\nmetadata: "
                                    "{generateName: train-}\nspec:\n  jaxReplicaSpecs:\n" +
                                        role("worker", "1"));
    CHECK(pod_names(read.gangs.at(0).pods) == "train-worker-0");
    CHECK(read.findings ==
          "f:3:26: warning: metadata.generateName: the name is made when the object is created; "
          "\"train\" stands for it\n");
}

TEST_CASE("bad Kubeflow jobs are refused at the field that is wrong") {
    const auto refused = [](job_reader reader, const std::string& text,
                            const std::string& finding) {
        const auto read = read_job(reader, text);
        CAPTURE(read.findings);
        CHECK(read.findings.find(finding) != std::string::npos);
    };
    const std::string specs = "pytorchReplicaSpecs";
    refused(torch, job("PyTorchJob", specs, role("Worker", "-1")),
            "spec.pytorchReplicaSpecs.Worker.replicas: found -1, expected a whole number from 0");
    refused(torch, job("PyTorchJob", specs, role("Worker", "two")),
            "Worker.replicas: found \"two\"");
    refused(torch, job("PyTorchJob", specs, role("Chief", "1")),
            "spec.pytorchReplicaSpecs.Chief: \"Chief\" is no replica type of this kind (expected "
            "Master, Worker)");
    refused(torch, job("PyTorchJob", specs, role("Master", "2")),
            "Master.replicas: 2 replicas of \"Master\" are there (expected 1)");
    refused(torch, job("PyTorchJob", specs, role("Worker", "1") + role("worker", "1")),
            "\"Worker\" is there twice");
    refused(torch,
            job("PyTorchJob", specs, role("Worker", "1"),
                "  elasticPolicy: {minReplicas: 3, maxReplicas: 2}\n"),
            "spec.elasticPolicy.minReplicas: 3 is more than maxReplicas (expected at most 2)");
    refused(torch, job("PyTorchJob", specs, "    Worker: {replicas: 1}\n"),
            "Worker.template: required, but missing");
    refused(torch, job("PyTorchJob", specs, "    Worker: {template: {spec: {containers: []}}}\n"),
            "containers: no container is there (expected at least one)");
    refused(torch,
            job("PyTorchJob", specs,
                "    Worker: {template: {spec: {containers: [{name: c, resources: {requests: {cpu: "
                "2}, limits: {cpu: 1}}}]}}}\n"),
            "limits.cpu: the limit of cpu of container \"c\" is below its request");
    refused(torch, job("PyTorchJob", specs, role("Worker", "2147483647")),
            "the job has more than 1000000 pods");
    refused(torch, "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: j}\n",
            "spec: required, but missing");
    refused(torch, job("PyTorchJob", specs, "    Worker: 3\n"),
            "Worker: found 3, expected an object");
    refused(mpi, job("MPIJob", "mpiReplicaSpecs", role("Worker", "1")),
            "no replicas of type \"Launcher\"");
    refused(tf, job("TFJob", "tfReplicaSpecs", role("Worker", "1"), scheduling("minAvailable: 2")),
            "spec.runPolicy.schedulingPolicy.minAvailable: 2 members of 1 can never start "
            "together (expected at most all replicas)");
    read_job(torch, job("PyTorchJob", specs, role("Worker", "1"),
                        scheduling("minAvailable: 2") + "  elasticPolicy: {maxReplicas: 2}\n"));
}

} // namespace codec_kubeflow_reader_test
