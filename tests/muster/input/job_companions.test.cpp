// SPDX-License-Identifier: Apache-2.0
// What the controllers of jobs make beside pods and groups, so that pods find each other.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <boost/json/serialize.hpp>

#include <muster/gangs/job_companions.hpp>
#include <muster/input/gang_reader.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_job_companions_test {
namespace {

using namespace muster::codec;

/// The companions of an input, a line each.
std::string companions(const std::string& text) {
    diagnostics found;
    const auto documents = read_documents("in", text, found);
    const gangs all = read_gangs(documents, {}, found);
    std::string made;
    for (const auto& each : all.companions)
        made += boost::json::serialize(each) + "\n";
    for (const auto& finding : found.findings())
        made += to_text(finding) + "\n";
    return made;
}

std::size_t lines_of(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

const std::string pods = "{spec: {containers: [{name: c, image: i}]}}";

std::string job(const std::string& version, const std::string& kind, const std::string& spec,
                const std::string& more = "") {
    return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: j, namespace: ns" +
           more + "}\nspec: {" + spec + "}\n";
}

const std::string replicated =
    "replicatedJobs: [{name: r, replicas: 2, template: {spec: {template: " + pods + "}}}]";

} // namespace

TEST_CASE("every replica of a training job is known by a Service that is called as its pod") {
    const std::string made = companions(
        job("kubeflow.org/v1", "PyTorchJob",
            "pytorchReplicaSpecs: {Master: {template: {spec: {containers: [{name: pytorch, image: "
            "i, ports: [{name: pytorchjob-port, containerPort: 7}, {name: web, containerPort: "
            "80}]}]}}}, Worker: {replicas: 2, template: " +
                pods + "}}",
            ", uid: u"));
    CHECK(made.starts_with(
        R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"j-master-0","namespace":"ns",)"
        R"("labels":{"training.kubeflow.org/job-name":"j","training.kubeflow.org/operator-name":)"
        R"("pytorchjob-controller","training.kubeflow.org/replica-type":"master",)"
        R"("training.kubeflow.org/replica-index":"0"},"ownerReferences":[{"apiVersion":)"
        R"("kubeflow.org/v1","kind":"PyTorchJob","name":"j","uid":"u","controller":true,)"
        R"("blockOwnerDeletion":true}]},"spec":{"clusterIP":"None","selector":{)"
        R"("training.kubeflow.org/job-name":"j","training.kubeflow.org/operator-name":)"
        R"("pytorchjob-controller","training.kubeflow.org/replica-type":"master",)"
        R"("training.kubeflow.org/replica-index":"0"},"ports":[{"name":"pytorchjob-port",)"
        R"("port":7},{"name":"web","port":80}]}})"));
    CHECK(lines_of(made) == 3);
    CHECK(made.find(R"("name":"j-worker-1")") != std::string::npos);
    // A worker names no port: the kind's own is looked up.
    CHECK(made.find(R"("ports":[{"name":"pytorchjob-port","port":23456}])") != std::string::npos);
}

TEST_CASE("an MPIJob has one Service and a list of its hosts, and none of v1 has either") {
    const std::string roles = "slotsPerWorker: 3, mpiReplicaSpecs: {Launcher: {template: " + pods +
                              "}, Worker: {replicas: 2, template: " + pods + "}}";
    CHECK(companions(job("kubeflow.org/v1", "MPIJob", roles)) == "");
    const std::string made = companions(job("kubeflow.org/v2beta1", "MPIJob", roles));
    CHECK(made ==
          R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"j-config","namespace":"ns",)"
          R"("labels":{"app":"j"}},"data":{"hostfile":"j-worker-0.j.ns.svc slots=3\n)"
          R"(j-worker-1.j.ns.svc slots=3\n","discover_hosts.sh":"#!/bin/sh\necho )"
          R"(j-worker-0.j.ns.svc\necho j-worker-1.j.ns.svc\n"}})"
          "\n"
          R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"j","namespace":"ns",)"
          R"("labels":{"app":"j"}},"spec":{"clusterIP":"None","selector":{)"
          R"("training.kubeflow.org/job-name":"j","training.kubeflow.org/operator-name":)"
          R"("mpi-operator"}}})"
          "\n");
    // Other implementations write slots otherwise, and a launcher that works is a host too.
    CHECK(companions(job("kubeflow.org/v2beta1", "MPIJob",
                         "mpiImplementation: Intel, runLauncherAsWorker: true, " + roles))
              .find(R"("hostfile":"j-launcher.j.ns.svc:3\nj-worker-0.j.ns.svc:3\n)") !=
          std::string::npos);
}

TEST_CASE("a JobSet's pods share a Service that is called as their subdomain") {
    const auto with = [](const std::string& network) {
        return companions(job("jobset.x-k8s.io/v1alpha2", "JobSet", network + replicated));
    };
    CHECK(with("") == R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"j","namespace":)"
                      R"("ns"},"spec":{"clusterIP":"None","selector":{)"
                      R"("jobset.sigs.k8s.io/jobset-name":"j"},"publishNotReadyAddresses":true}})"
                      "\n");
    CHECK(with("network: {enableDNSHostnames: false}, ") == "");
    const std::string named = with("network: {subdomain: net, publishNotReadyAddresses: false}, ");
    CHECK(named.find(R"("name":"net")") != std::string::npos);
    CHECK(named.find("publishNotReadyAddresses") == std::string::npos);
}

TEST_CASE("a LeaderWorkerSet has one Service, or each group one") {
    const auto with = [](const std::string& network) {
        return companions(job("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet",
                              network +
                                  "replicas: 2, leaderWorkerTemplate: {size: 2, "
                                  "workerTemplate: " +
                                  pods + "}"));
    };
    CHECK(with("") ==
          R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"j","namespace":"ns"},"spec":)"
          R"({"clusterIP":"None","selector":{"leaderworkerset.sigs.k8s.io/name":"j"},)"
          R"("publishNotReadyAddresses":true}})"
          "\n");
    const std::string own = with("networkConfig: {subdomainPolicy: UniquePerReplica}, ");
    CHECK(lines_of(own) == 2);
    CHECK(own.find(R"("name":"j-1")") != std::string::npos);
    CHECK(own.find(R"("leaderworkerset.sigs.k8s.io/group-index":"1")") != std::string::npos);
}

TEST_CASE("a role of a DisaggregatedSet has a Service of its own, beside that of its pods") {
    const std::string made = companions(
        job("disaggregatedset.x-k8s.io/v1", "DisaggregatedSet",
            "roles: [{name: r, spec: {leaderWorkerTemplate: {size: 2, workerTemplate: " + pods +
                "}}}]"));
    CHECK(lines_of(made) == 2);
    CHECK(made.find(R"("name":"j-r","namespace")") != std::string::npos);
    CHECK(made.find(R"({"name":"j-r-prv","namespace":"ns","labels":{)"
                    R"("disaggregatedset.x-k8s.io/name":"j",)"
                    R"("disaggregatedset.x-k8s.io/role":"r",)"
                    R"("disaggregatedset.x-k8s.io/slice":"0"}})") != std::string::npos);
}

TEST_CASE("the head of a RayCluster has the Service that its workers are told of") {
    const std::string made = companions(
        job("ray.io/v1", "RayCluster",
            "headGroupSpec: {template: " + pods +
                "}, workerGroupSpecs: [{groupName: w, replicas: 1, template: " + pods + "}]"));
    CHECK(lines_of(made) == 1);
    CHECK(made.starts_with(
        R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"j-head-svc","namespace":"ns",)"
        R"("labels":{"ray.io/cluster":"j","ray.io/identifier":"j-head",)"
        R"("ray.io/node-type":"head",)"));
    CHECK(made.find(R"("clusterIP":"None","selector":{"ray.io/cluster":"j",)") !=
          std::string::npos);
    CHECK(made.find(R"({"name":"gcs-server","port":6379})") != std::string::npos);
}

TEST_CASE("Volcano's plugin svc makes a Service, a list of hosts and a policy for the network") {
    const auto with = [](const std::string& plugins) {
        return companions(job("batch.volcano.sh/v1alpha1", "Job",
                              "plugins: {" + plugins +
                                  "}, tasks: [{name: a-b, replicas: 2, template: " + pods +
                                  "}, {name: c, replicas: 2, template: {spec: {hostname: h, " +
                                  "subdomain: d, " + pods.substr(8) + "}]"));
    };
    CHECK(with("env: [], ssh: []") == "");
    const std::string made = with("svc: []");
    CHECK(made.starts_with(
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"j-svc","namespace":"ns"},)"
        R"("data":{"a_b.host":"j-a-b-0.j\nj-a-b-1.j","VC_A_B_HOSTS":"j-a-b-0.j,j-a-b-1.j",)"
        R"("VC_A_B_NUM":"2","c.host":"h.d","VC_C_HOSTS":"h.d","VC_C_NUM":"1"}})"
        "\n"
        R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"j","namespace":"ns"},"spec":)"
        R"({"clusterIP":"None","selector":{"volcano.sh/job-name":"j",)"
        R"("volcano.sh/job-namespace":"ns"}}})"
        "\n"
        R"({"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"j",)"));
    CHECK(lines_of(made) == 3);
    // Frameworks bring it along.
    CHECK(with("pytorch: []") == made);
    const std::string told =
        with("svc: ['--publish-not-ready-addresses=true', '--disable-network-policy']");
    CHECK(lines_of(told) == 2);
    CHECK(told.find("\"publishNotReadyAddresses\":true") != std::string::npos);
    CHECK(lines_of(with("svc: ['--disable-network-policy=false']")) == 3);
}

TEST_CASE("a Service that the input holds is not made again, nor one that two jobs share") {
    const std::string set =
        job("jobset.x-k8s.io/v1alpha2", "JobSet", "network: {subdomain: net}, " + replicated);
    CHECK(companions(set + "---\napiVersion: v1\nkind: Service\nmetadata: {name: net, namespace: "
                           "ns}\nspec: {}\n") == "");
    std::string other = set;
    other.replace(other.find("name: j"), 7, "name: k");
    CHECK(lines_of(companions(set + "---\n" + other)) == 1);
}

TEST_CASE("a Service whose name would be too long is refused") {
    std::vector<muster::translate::violation> found;
    muster::translate::check_companions(
        {{{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata", {{"name", std::string(64, 'a')}, {"namespace", "ns"}}}}},
        found);
    REQUIRE(found.size() == 1);
    CHECK(found[0].field == "metadata.name");
}

} // namespace codec_job_companions_test
