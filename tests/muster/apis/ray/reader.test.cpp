// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/ray/reader.hpp>

#include <string>

#include <doctest/doctest.h>

#include <muster/job_fixture.hpp>

namespace codec_ray_reader_test {

using namespace muster_job_fixture;

namespace {

const std::string pod = "template: {spec: {containers: [{name: ray}]}}";

std::string group(const std::string& fields, const std::string& annotations = {}) {
    return "{" + fields + ", template: {metadata: {annotations: {" + annotations +
           "}}, spec: {containers: [{name: ray}]}}}";
}

std::string spec(const std::string& groups) {
    return "{headGroupSpec: {rayStartParams: {}, " + pod + "}, workerGroupSpecs: [" + groups + "]}";
}

std::string object(const std::string& kind, const std::string& fields,
                   const std::string& labels = {}) {
    return "apiVersion: ray.io/v1\nkind: " + kind +
           "\nmetadata: {name: r, namespace: ns, labels: {" + labels + "}}\nspec: " + fields + "\n";
}

read_result cluster(const std::string& groups, const job_options& options = {}) {
    return read_job(read_ray<ray_kind::cluster>, object("RayCluster", spec(groups)), options);
}

std::string tree(const read_result& made) {
    CAPTURE(made.findings);
    REQUIRE(made.gangs.size() == 1);
    return tree_text(made.gangs[0].gang.tree);
}

} // namespace

TEST_CASE("a RayCluster wants its head, and of each group the least or all replicas on all hosts") {
    const auto made = cluster(group("groupName: a, replicas: 3") + ", " +
                              group("groupName: b, replicas: 4, minReplicas: 2, numOfHosts: 2"));
    CHECK(made.findings.empty());
    CHECK(tree(made) == "8 (headgroup 1, a 3, b 4)");
    CHECK(made.gangs[0].pods.size() == 1 + 3 + 8);
    CHECK(made.gangs[0].gang.name == "r");
}

TEST_CASE("a group of workers without replicas, or suspended, is no part of the gang") {
    CHECK(tree(cluster(group("groupName: a, replicas: 0") + ", " +
                       group("groupName: b, replicas: 2, suspended: true"))) == "1 (headgroup 1)");
}

TEST_CASE("groups of workers without a name are numbered") {
    CHECK(tree(cluster(group("replicas: 1") + ", " + group("replicas: 1"))) ==
          "3 (headgroup 1, worker-group-0 1, worker-group-1 1)");
}

TEST_CASE("RayJobs and RayServices are the gang of the cluster that they have made") {
    const auto job = read_job(
        read_ray<ray_kind::job>,
        object("RayJob", "{entrypoint: x, rayClusterSpec: " + spec(group("replicas: 1")) + "}",
               "ray.io/priority-class-name: high"));
    CHECK(job.findings.empty());
    CHECK(tree(job) == "2 (headgroup 1, worker-group-0 1)");
    CHECK(job.gangs[0].gang.priority.class_name == "high");
    CHECK(job.gangs[0].gang.owners.at(0).kind == "RayJob");
    CHECK(at(job.gangs[0].pods.at(0).document, "metadata|ownerReferences|0|kind") == "RayCluster");
    CHECK(loss_text(job.losses).find("startup-order: RayJob ns/r: the pod that submits") == 0);
    const auto service =
        read_job(read_ray<ray_kind::service>,
                 object("RayService", "{rayClusterConfig: " + spec(group("replicas: 2")) + "}"));
    CHECK(tree(service) == "3 (headgroup 1, worker-group-0 2)");
    CHECK(loss_text(service.losses) == "");
}

TEST_CASE("what a RayService serves, and a RayJob without a submitter runs, is lost by name") {
    const auto lost = [](const read_result& made) { return loss_text(made.losses); };
    CHECK(lost(read_job(read_ray<ray_kind::service>,
                        object("RayService", "{serveConfigV2: apps, rayClusterConfig: " +
                                                 spec(group("replicas: 2")) + "}"))) ==
          "lifecycle: RayService ns/r: serveConfigV2: the job's own controller sees to it\n");
    CHECK(lost(read_job(read_ray<ray_kind::job>,
                        object("RayJob", "{entrypoint: x, submissionMode: HTTPMode, "
                                         "rayClusterSpec: " +
                                             spec(group("replicas: 1")) + "}"))) ==
          "lifecycle: RayJob ns/r: entrypoint: the job's own controller sees to it\n");
}

TEST_CASE("what secures and watches a RayCluster is lost by name and is no unknown field") {
    const auto made =
        read_job(read_ray<ray_kind::cluster>,
                 object("RayCluster",
                        "{networkPolicy: {mode: DenyAll}, tlsOptions: {enabled: true}, "
                        "historyServerOptions: {}, headGroupSpec: {ingressOptions: {host: h}, " +
                            pod + "}, workerGroupSpecs: [" +
                            group("groupName: a, replicas: 1, priority: 2") + "]}"));
    CHECK(loss_text(made.losses) ==
          "lifecycle: RayCluster ns/r: ingressOptions, priority, networkPolicy, tlsOptions: the "
          "job's own controller sees to it\n");
    CHECK(made.findings.find("unknown field") == std::string::npos);
    CHECK(made.findings.find("historyServerOptions: the requests of the collector") !=
          std::string::npos);
}

TEST_CASE("the Service of a RayCluster's head has the annotations that the cluster gives it") {
    const auto made = read_job(
        read_ray<ray_kind::cluster>,
        object("RayCluster", "{headServiceAnnotations: {a: b}, headGroupSpec: {" + pod + "}}"));
    CHECK(at(made.companions.at(0), "metadata|annotations") == R"({"a":"b"})");
}

TEST_CASE("the pods of a RayCluster start Ray with their group's parameters and KubeRay's own") {
    const auto made = read_job(
        read_ray<ray_kind::cluster>,
        object(
            "RayCluster",
            "{headGroupSpec: {rayStartParams: {port: \"7000\", dashboard-host: h, "
            "include-dashboard: \"False\", no-monitor: \"false\"}, template: {spec: {containers: "
            "[{name: ray, resources: {requests: {cpu: 1500m}, limits: {memory: 1Gi}}}]}}}, "
            "workerGroupSpecs: [{groupName: a, replicas: 1, rayStartParams: {num-cpus: \"0\"}, "
            "template: {spec: {containers: [{name: ray, command: [a, b], args: [c], resources: "
            "{limits: {cpu: 3, nvidia.com/gpu: 2}}}]}}}]}"));
    CHECK(made.findings.empty());
    const auto& head = made.gangs.at(0).pods.at(0).document;
    const auto& worker = made.gangs.at(0).pods.at(1).document;
    const std::string starts_head =
        "ray start --head --block --dashboard-agent-listen-port=52365 --dashboard-host=h "
        "--include-dashboard=False --memory=1073741824 --metrics-export-port=8080 --num-cpus=2 "
        "--port=7000";
    const std::string starts_worker =
        "ray start --address=r-head-svc.ns.svc.cluster.local:7000 --block "
        "--dashboard-agent-listen-port=52365 --metrics-export-port=8080 --num-cpus=0 --num-gpus=2";
    CHECK(at(head, "spec|containers|0|command") == R"(["/bin/bash","-c","--"])");
    CHECK(at(head, "spec|containers|0|args|0") == "ulimit -n 65536; " + starts_head);
    CHECK(env_of(head, "KUBERAY_GEN_RAY_START_CMD") == starts_head);
    // What a container is to run comes before, for Ray does not return.
    CHECK(at(worker, "spec|containers|0|args|0") == "a b c && ulimit -n 65536; " + starts_worker);
    CHECK(env_of(worker, "RAY_PORT") == "7000");
    CHECK(env_of(head, "RAY_ADDRESS") == "127.0.0.1:7000");
    CHECK(at(head, "spec|containers|0|ports") == R"([{"name":"metrics","containerPort":8080}])");
    CHECK(at(head, "spec|volumes") ==
          R"([{"name":"shared-mem","emptyDir":{"medium":"Memory","sizeLimit":"1Gi"}}])");
    CHECK(at(head, "spec|containers|0|volumeMounts|0|mountPath") == "/dev/shm");
}

TEST_CASE("a container that starts Ray itself keeps its command, and one that is to keep it") {
    const auto own = [](const std::string& command, const std::string& annotations) {
        const auto made =
            read_job(read_ray<ray_kind::cluster>,
                     object("RayCluster",
                            "{headGroupSpec: {template: {metadata: {annotations: {" + annotations +
                                "}}, spec: {containers: [{name: ray, command: [" + command +
                                "], volumeMounts: [{name: v, mountPath: /dev/shm}]}]}}}}"));
        const auto& made_pod = made.gangs.at(0).pods.at(0).document;
        CHECK(at(made_pod, "spec|volumes") == "");
        CHECK(
            env_of(made_pod, "KUBERAY_GEN_RAY_START_CMD").starts_with("ray start --head --block"));
        return at(made_pod, "spec|containers|0|command") + at(made_pod, "spec|containers|0|args");
    };
    CHECK(own("sh, -c, ray start --head", "") == R"(["sh","-c","ray start --head"])");
    CHECK(own("x", "ray.io/overwrite-container-cmd: \"true\"") == R"(["x"])");
}

TEST_CASE("what KubeRay does beside that is lost by name") {
    CHECK(loss_text(read_job(read_ray<ray_kind::cluster>,
                             object("RayCluster",
                                    "{enableInTreeAutoscaling: true, headGroupSpec: {serviceType: "
                                    "NodePort, resources: {CPU: \"1\"}, " +
                                        pod + "}}"))
                        .losses) ==
          "pod-contents: RayCluster ns/r: resources of its groups, which KubeRay tells Ray\n"
          "pod-contents: RayCluster ns/r: the autoscaler's container, which KubeRay adds to the "
          "head\n"
          "lifecycle: RayCluster ns/r: serviceType, enableInTreeAutoscaling: the job's own "
          "controller sees to it\n");
}

TEST_CASE("a RayJob for a cluster that is there has no gang and says so") {
    const auto made =
        read_job(read_ray<ray_kind::job>,
                 object("RayJob", "{entrypoint: x, clusterSelector: {ray.io/cluster: c}}"));
    CHECK(made.gangs.empty());
    CHECK(made.findings.find("warning: spec.clusterSelector: it runs in a cluster that is there") !=
          std::string::npos);
}

TEST_CASE("annotations of a group's template say how close its pods are to stand") {
    const auto made = cluster(group("groupName: a, replicas: 1",
                                    "kai.scheduler/topology: t, "
                                    "kai.scheduler/topology-preferred-placement: rack"));
    const auto& gang = made.gangs.at(0).gang;
    CHECK(!gang.tree[0].together);
    CHECK(!gang.tree[1].together);
    REQUIRE(gang.tree[2].together);
    CHECK(gang.tree[2].together->preferred == 0);
    CHECK(gang.topology_name == "t");
}

TEST_CASE("the pods of a RayCluster carry the labels and addresses of KubeRay") {
    const auto made = cluster(group("groupName: a, replicas: 1"));
    const auto& head = made.gangs.at(0).pods.at(0).document;
    const auto& worker = made.gangs.at(0).pods.at(1).document;
    CHECK(at(head, "metadata|name").starts_with("r-head-"));
    CHECK(at(worker, "metadata|name").starts_with("r-a-worker-"));
    CHECK(
        at(worker, "metadata|labels") ==
        R"({"ray.io/cluster":"r","ray.io/group":"a","ray.io/node-type":"worker",)"
        R"("ray.io/identifier":"r-worker","ray.io/is-ray-node":"yes",)"
        R"("app.kubernetes.io/name":"kuberay","app.kubernetes.io/created-by":"kuberay-operator"})");
    CHECK(env_of(head, "RAY_ADDRESS") == "127.0.0.1:6379");
    CHECK(env_of(worker, "RAY_ADDRESS") == "r-head-svc.ns.svc.cluster.local:6379");
}

TEST_CASE("fewer replicas than the least are raised, and are an error for the podgrouper") {
    const std::string bad = group("groupName: a, replicas: 1, minReplicas: 2");
    CHECK(tree(cluster(bad)) == "3 (headgroup 1, a 2)");
    CHECK(cluster(bad, {job_rules::podgrouper, true})
              .findings.find("spec.workerGroupSpecs[0].replicas: 1 is less than minReplicas "
                             "(expected at least 2)") != std::string::npos);
}

TEST_CASE("bad Ray objects are refused at the field that is wrong") {
    const auto refused = [](const read_result& made, const std::string& finding) {
        CAPTURE(made.findings);
        CHECK(made.findings.find(finding) != std::string::npos);
    };
    refused(cluster(group("groupName: a, replicas: 3, minReplicas: 3, maxReplicas: 2")),
            "minReplicas: 3 is more than maxReplicas (expected at most 2)");
    refused(cluster(group("groupName: a, replicas: 1") + ", " + group("groupName: a, replicas: 1")),
            "groupName: \"a\" is there twice");
    refused(cluster(group("groupName: a, replicas: 2000000000, numOfHosts: 2000000000")),
            "the job has more than 1000000 pods");
    refused(read_job(read_ray<ray_kind::cluster>, object("RayCluster", "{}")),
            "spec.headGroupSpec: required, but missing");
    refused(read_job(read_ray<ray_kind::job>, object("RayJob", "{entrypoint: x}")),
            "spec.rayClusterSpec: required, but missing");
}

} // namespace codec_ray_reader_test
