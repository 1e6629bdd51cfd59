// SPDX-License-Identifier: Apache-2.0
// What the controllers of jobs put into pods: what can be said of it stands there, and the rest is
// lost by name.
#include <string>

#include <doctest/doctest.h>

#include <muster/apis/job_kinds.hpp>
#include <muster/job_fixture.hpp>

namespace codec_pod_contents_test {

using namespace muster_job_fixture;

namespace {

read_result read(const std::string& version, const std::string& kind, const std::string& spec) {
    const auto* const known = muster::codec::find_job_kind(version, kind);
    REQUIRE(known);
    read_result made =
        read_job(known->read, "apiVersion: " + version + "\nkind: " + kind +
                                  "\nmetadata: {name: s, namespace: ns}\nspec: {" + spec + "}\n");
    CHECK(made.findings == "");
    return made;
}

const boost::json::object& pod(const read_result& from, const std::string& name) {
    for (const auto& gang : from.gangs)
        for (const auto& each : gang.pods)
            if (each.document.at("metadata").at("name").as_string().starts_with(name))
                return each.document;
    FAIL("there is no pod " << name);
    return from.gangs[0].pods[0].document;
}

std::string containers(const std::string& fields) {
    return "{containers: [{name: c, image: i" + (fields.empty() ? "" : ", " + fields) + "}]}";
}

std::string replicated(const std::string& name, const std::string& rest,
                       const std::string& fields) {
    return "{name: " + name + ", " + rest +
           "template: {spec: {template: {spec: " + containers(fields) + "}}}}";
}

const std::string job_set = "jobset.x-k8s.io/v1alpha2";
const std::string leader_worker_set = "leaderworkerset.x-k8s.io/v1";

} // namespace

TEST_CASE("pods of a JobSet mount the claims of its policies that their containers name") {
    const auto made = read(
        job_set, "JobSet",
        "volumeClaimPolicies: [{templates: [{metadata: {name: data}, spec: {accessModes: [a]}}]}, "
        "{templates: "
        "[{metadata: {name: out}, spec: {}}], retentionPolicy: {whenDeleted: Retain}}], "
        "replicatedJobs: [" +
            replicated("load", "", "volumeMounts: [{name: data, mountPath: /d}]") + ", " +
            replicated("train", "",
                       "volumeMounts: [{name: data, mountPath: /d}, {name: out, mountPath: /o}]") +
            ", " + replicated("rest", "", "") + "]");
    CHECK(at(pod(made, "s-load-"), "spec|volumes") ==
          R"([{"name":"data","persistentVolumeClaim":{"claimName":"data-s"}}])");
    CHECK(at(pod(made, "s-train-"), "spec|volumes|1|persistentVolumeClaim|claimName") == "out-s");
    CHECK(pod(made, "s-rest-").at("spec").as_object().contains("volumes") == false);
    CHECK(loss_text(made.losses) ==
          "lifecycle: JobSet ns/s: retentionPolicy: the job's own controller sees to it\n");
    // Beside the Service.
    REQUIRE(made.companions.size() == 3);
    CHECK(boost::json::serialize(made.companions[1]) ==
          R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data-s",)"
          R"("namespace":"ns","labels":{"jobset.sigs.k8s.io/jobset-name":"s"},"ownerReferences":)"
          R"([{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","name":"s",)"
          R"("controller":true,"blockOwnerDeletion":true}]},"spec":{"accessModes":["a"]}})");
    CHECK(at(made.companions[2], "metadata|name") == "out-s");
}

TEST_CASE(
    "pods of a JobSet know their coordinator, and their place among the Jobs of their group") {
    const auto made = read(job_set, "JobSet",
                           "coordinator: {replicatedJob: b, jobIndex: 1, podIndex: 2}, network: "
                           "{subdomain: net}, replicatedJobs: [" +
                               replicated("a", "replicas: 2, groupName: g, ", "") + ", " +
                               replicated("b", "replicas: 3, ", "") + ", " +
                               replicated("c", "replicas: 2, groupName: g, ", "") + "]");
    const std::string prefix = "jobset.sigs.k8s.io/";
    for (const char* map : {"labels", "annotations"}) {
        const std::string below = "metadata|" + std::string(map) + "|" + prefix;
        CHECK(at(pod(made, "s-a-0-"), below + "coordinator") == "s-b-1-2.net");
        CHECK(at(pod(made, "s-b-2-"), below + "group-name") == "default");
        CHECK(at(pod(made, "s-b-2-"), below + "group-replicas") == "3");
        CHECK(at(pod(made, "s-c-1-"), below + "group-name") == "g");
        CHECK(at(pod(made, "s-c-1-"), below + "group-replicas") == "4");
        CHECK(at(pod(made, "s-c-1-"), below + "job-group-index") == "3");
    }
    CHECK(read_job(muster::codec::read_job_set,
                   "apiVersion: " + job_set +
                       "\nkind: JobSet\nmetadata: {name: s}\nspec: {coordinator: {replicatedJob: "
                       "z}, replicatedJobs: [" +
                       replicated("a", "", "") + "]}\n")
              .findings.find("spec.coordinator.replicatedJob: \"z\" is no replicated job") !=
          std::string::npos);
}

TEST_CASE("every pod of a LeaderWorkerSet or StatefulSet mounts claims of its own") {
    const std::string claims = "volumeClaimTemplates: [{metadata: {name: disk, labels: {a: b}, "
                               "annotations: {c: d}}, spec: {accessModes: [ReadWriteOnce]}}]";
    const auto claim = [](const std::string& name) {
        return R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":")" + name +
               R"(","namespace":"ns","labels":{"a":"b"},"annotations":{"c":"d"}},"spec":)"
               R"({"accessModes":["ReadWriteOnce"]}})";
    };
    const auto made = read(leader_worker_set, "LeaderWorkerSet",
                           "leaderWorkerTemplate: {size: 2, resizePolicy: InPlace, " + claims +
                               ", workerTemplate: {spec: " + containers("") + "}}");
    CHECK(at(pod(made, "s-0-1"), "spec|volumes") ==
          R"([{"name":"disk","persistentVolumeClaim":{"claimName":"disk-s-0-1"}}])");
    CHECK(at(pod(made, "s-0"), "spec|volumes|0|persistentVolumeClaim|claimName") == "disk-s-0");
    CHECK(loss_text(made.losses) ==
          "lifecycle: LeaderWorkerSet ns/s: resizePolicy: the job's own controller sees to it\n");
    REQUIRE(made.companions.size() == 3);
    CHECK(boost::json::serialize(made.companions[1]) == claim("disk-s-0"));
    CHECK(boost::json::serialize(made.companions[2]) == claim("disk-s-0-1"));
    const auto set = read("apps/v1", "StatefulSet",
                          claims + ", selector: {}, minReadySeconds: 3, template: {spec: "
                                   "{volumes: [{name: disk, emptyDir: {}}], containers: [{name: "
                                   "c, image: i}]}}");
    CHECK(at(pod(set, "s-0"), "spec|volumes") ==
          R"([{"name":"disk","persistentVolumeClaim":{"claimName":"disk-s-0"}}])");
    CHECK(loss_text(set.losses) ==
          "lifecycle: StatefulSet ns/s: minReadySeconds: the job's own controller sees to it\n");
    REQUIRE(set.companions.size() == 1);
    CHECK(boost::json::serialize(set.companions[0]) == claim("disk-s-0"));
}

TEST_CASE("plugins of Volcano that do more than set variables are lost by name") {
    const auto with = [](const std::string& plugins) {
        return loss_text(read("batch.volcano.sh/v1alpha1", "Job",
                              "plugins: {" + plugins +
                                  "}, tasks: [{name: t, replicas: 1, "
                                  "template: {spec: " +
                                  containers("") + "}}]")
                             .losses);
    };
    CHECK(with("env: []") == "");
    CHECK(with("ssh: [], env: [], svc: []") ==
          "pod-contents: Job ns/s: plugins ssh: the files, keys and ports that the job's own "
          "controller makes for them\n");
    CHECK(with("mpi: []").find("plugins mpi, ssh: ") != std::string::npos);
}

TEST_CASE("what the operators of MPIJobs and SparkApplications mount and run is lost by name") {
    const auto mpi = [](const std::string& version) {
        return loss_text(
            read(version, "MPIJob",
                 "mpiReplicaSpecs: {Launcher: {replicas: 1, template: {spec: " + containers("") +
                     "}}, Worker: {replicas: 1, template: {spec: " + containers("") + "}}}")
                .losses);
    };
    CHECK(mpi("kubeflow.org/v1") == "pod-contents: MPIJob ns/s: the list of hosts and the script "
                                    "that reaches them, which its controller mounts\n");
    CHECK(mpi("kubeflow.org/v2beta1") == "pod-contents: MPIJob ns/s: the ssh keys in the Secret "
                                         "s-ssh, which its controller makes and its pods mount\n");
    const auto job =
        read("kubeflow.org/v2beta1", "MPIJob",
             "sshAuthMountPath: /home/m/.ssh, mpiReplicaSpecs: {Launcher: {template: "
             "{spec: " +
                 containers("") + "}}, Worker: {template: {spec: {hostNetwork: true, " +
                 containers("").substr(1) + "}}}");
    const auto& launcher = pod(job, "s-launcher");
    CHECK(at(launcher, "spec|volumes|0|secret|secretName") == "s-ssh");
    CHECK(at(launcher, "spec|volumes|0|secret|items|2|path") == "authorized_keys");
    CHECK(at(launcher, "spec|volumes|1|configMap|name") == "s-config");
    CHECK(at(launcher, "spec|containers|0|volumeMounts") ==
          R"([{"name":"ssh-auth","mountPath":"/home/m/.ssh"},)"
          R"({"name":"mpi-job-config","mountPath":"/etc/mpi"}])");
    const auto& worker = pod(job, "s-worker-0");
    CHECK(at(worker, "spec|volumes|1") == "");
    CHECK(at(worker, "spec|dnsConfig|searches|0") == "s.ns.svc.cluster.local");
    CHECK(at(worker, "spec|dnsPolicy") == "ClusterFirstWithHostNet");
    const auto spark =
        read("sparkoperator.k8s.io/v1beta2", "SparkApplication",
             "type: Scala, image: i, imagePullPolicy: Always, imagePullSecrets: [key], "
             "mainApplicationFile: 'local:///a.jar', volumes: [{name: v, emptyDir: {}}, {name: w, "
             "emptyDir: {}}], driver: {volumeMounts: [{name: w, mountPath: /w}], "
             "podSecurityContext: {runAsUser: 7}, sidecars: [{name: log, image: l}]}, executor: "
             "{instances: 1}");
    const auto& driver = pod(spark, "s-driver");
    CHECK(at(driver, "spec|volumes") == R"([{"name":"w","emptyDir":{}}])");
    CHECK(at(driver, "spec|containers|0|imagePullPolicy") == "Always");
    CHECK(at(driver, "spec|containers|1|name") == "log");
    CHECK(at(driver, "spec|securityContext|runAsUser") == "7");
    CHECK(at(driver, "spec|imagePullSecrets|0|name") == "key");
    CHECK(pod(spark, "s-exec-1").at("spec").as_object().contains("volumes") == false);
    CHECK(loss_text(spark.losses)
              .find("pod-contents: SparkApplication ns/s: what the containers "
                    "run") != std::string::npos);
}

} // namespace codec_pod_contents_test
