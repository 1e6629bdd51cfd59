// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/runtime_classes.hpp>

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include <muster/cycle/cycle.hpp>
#include <muster/input/cluster.hpp>
#include <muster/input/cluster_input.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_runtime_classes_test {

using namespace muster::codec;

namespace {

struct outcome {
    /// "node " of each pod that starts, in the order of pods.
    std::string placed;
    /// What is not modelled of all pods.
    std::string unsupported;
    std::string findings;
};

outcome decide(const std::string& text) {
    outcome made;
    diagnostics out;
    const auto documents = read_documents("in", text, out);
    const manifests objects = read_cluster(documents, {}, out);
    for (const diagnostic& each : out.findings())
        made.findings += to_text(each) + '\n';
    REQUIRE(out.ok());
    for (const pod_object& pod : objects.pods)
        for (const std::string& each : pod.unsupported)
            made.unsupported += each + ' ';
    auto cluster = make_cluster<muster::max_kinds>(objects, {}, out);
    static_cast<void>(muster::cycle(cluster.state, cluster.now));
    for (const auto& [key, pod] : cluster.state.pod_keys())
        if (cluster.state[pod].node)
            made.placed += cluster.state.key(*cluster.state[pod].node) + " ";
    return made;
}

const std::string nodes =
    "{apiVersion: v1, kind: Node, metadata: {name: plain}, status: {allocatable: {cpu: 8, pods: "
    "9}}}\n---\n"
    "{apiVersion: v1, kind: Node, metadata: {name: vm, labels: {kata: \"true\"}}, spec: {taints: "
    "[{key: vm, effect: NoSchedule}]}, status: {allocatable: {cpu: 4, pods: 9}}}\n---\n";

std::string runtime_class(const std::string& rest, const std::string& name = "kata") {
    return "{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: " + name +
           "}, handler: h" + rest + "}\n---\n";
}
std::string overhead(const std::string& cpu) {
    return ", overhead: {podFixed: {cpu: " + cpu + "}}";
}
std::string scheduling(const std::string& rest) {
    return ", scheduling: {" + rest + "}";
}
const std::string on_vm =
    "nodeSelector: {kata: \"true\"}, tolerations: [{key: vm, operator: Exists}]";

std::string spec(const std::string& more) {
    return "{runtimeClassName: kata" + more +
           ", containers: [{name: c, resources: {requests: {cpu: 1}}}]}";
}
std::string pod(const std::string& more = "", const std::string& meta = "name: p") {
    return "{apiVersion: v1, kind: Pod, metadata: {" + meta + "}, spec: " + spec(more) + "}\n---\n";
}
std::string job(const std::string& name) {
    return "{apiVersion: batch/v1, kind: Job, metadata: {name: " + name +
           "}, spec: {template: {spec: " + spec(", restartPolicy: Never") + "}}}\n---\n";
}

} // namespace

TEST_CASE("a pod that is not created yet gets overhead, selector and tolerations of its class") {
    for (const std::string& user : {pod(), job("j")}) {
        CAPTURE(user);
        // All orders of objects.
        for (const auto& decided :
             {decide(nodes + runtime_class(overhead("3") + scheduling(on_vm)) + user),
              decide(user + runtime_class(overhead("3") + scheduling(on_vm)) + nodes)}) {
            CHECK(decided.placed == "vm ");
            CHECK(decided.findings.empty());
        }
        CHECK(decide(nodes + runtime_class(overhead("3500m") + scheduling(on_vm)) + user)
                  .placed.empty());
        CHECK(decide(nodes + runtime_class(overhead("7")) + user).placed == "plain ");
        CHECK(decide(nodes + runtime_class(overhead("7500m")) + user).placed.empty());
        CHECK(decide(nodes + runtime_class(scheduling("nodeSelector: {kata: \"true\"}")) + user)
                  .placed.empty());
        CHECK(decide(nodes + runtime_class("") + user).placed == "plain ");
    }
    CHECK(decide(nodes + runtime_class(scheduling(on_vm)) + pod(", nodeSelector: {kata: \"true\"}"))
              .placed == "vm ");
    CHECK(decide(nodes + runtime_class(scheduling(on_vm)) + pod(", nodeSelector: {kata: \"no\"}"))
              .placed.empty());
}

TEST_CASE("a pod with a uid has what the API server wrote into it") {
    const auto decided = decide(nodes + runtime_class(overhead("9") + scheduling(on_vm)) +
                                pod("", "name: p, uid: u"));
    CHECK(decided.placed == "plain ");
    CHECK(decide(nodes + pod("", "name: p, uid: u")).findings.empty());
}

TEST_CASE("the overhead of a pod counts in place of that of its class") {
    const std::string own = ", overhead: {cpu: 3}";
    CHECK(decide(nodes + runtime_class(overhead("9") + scheduling(on_vm)) + pod(own)).placed ==
          "vm ");
    CHECK(decide(nodes + pod(own)).findings.empty());
}

TEST_CASE("a missing class is one warning, at the template of a job") {
    const std::string text = "there is no RuntimeClass \"kata\", so pods count without its "
                             "overhead, node selector and tolerations (expected a RuntimeClass of "
                             "the input)";
    const auto once = [&](const std::string& findings) {
        return findings.find(text) != std::string::npos &&
               std::count(findings.begin(), findings.end(), '\n') == 1;
    };
    const auto pods = decide(nodes + runtime_class("", "other") + pod() + pod("", "name: q"));
    CHECK(pods.placed == "plain plain ");
    CHECK(pods.findings.starts_with("in:7:75: warning: spec.runtimeClassName: "));
    CHECK(once(pods.findings));
    const auto jobs = decide(nodes + job("i") + job("j"));
    CHECK(jobs.placed == "plain plain ");
    CHECK(jobs.findings.find("warning: spec.template.spec.runtimeClassName: ") !=
          std::string::npos);
    CHECK(once(jobs.findings));
}

TEST_CASE("what is not understood of a class makes its pods wait") {
    const auto decided =
        decide(nodes + runtime_class(scheduling("x: 1, tolerations: [{operator: Exists, z: 1}]")) +
               pod() + pod("", "name: q, uid: u"));
    CHECK(decided.placed == "plain ");
    CHECK(decided.unsupported == "RuntimeClass kata: scheduling.tolerations[0].z RuntimeClass "
                                 "kata: scheduling.x ");
}

} // namespace codec_runtime_classes_test
