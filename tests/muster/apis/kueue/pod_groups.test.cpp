// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>

#include <muster/gangs/pod_marks.hpp>
#include <muster/input/cluster.hpp>
#include <muster/input/cluster_input.hpp>
#include <muster/input/membership.hpp>

#include "muster/input/gang_texts.hpp"

namespace codec_kueue_pod_groups_test {
namespace {

using namespace muster::codec;

/// The groups of a cluster, a line each with queue, fault and pods; then the findings.
std::string read(std::string text) {
    diagnostics out;
    const auto documents = read_documents("in", std::move(text), out);
    const manifests objects = read_cluster(documents, {}, out);
    std::vector<const group_map::value_type*> group_of;
    const object_lookup lookup(objects);
    std::string lines;
    for (const auto& [key, facts] : find_groups(objects, lookup, group_of, out)) {
        lines +=
            key.name +
            (key.origin == muster::codec::group_origin::declared(muster::translate::gang_api::kueue)
                 ? " kueue "
                 : " ") +
            codec_tests::tree_text(facts.tree);
        lines += facts.queue.empty() ? "" : " queue=" + facts.queue;
        lines += facts.priority == 0 ? "" : " priority=" + std::to_string(facts.priority);
        lines += facts.fault == muster::gang_fault::none ? "" : " wrong: " + facts.fault_detail;
        for (const std::size_t at : facts.members) {
            const pod_object& pod = objects.pods[at];
            lines += " /" + pod.metadata.key.name;
            lines += pod.phase == muster::pod_phase::gated ? " gated" : "";
            for (const std::string& each : pod.unsupported)
                lines += " " + each;
        }
        lines += "\n";
    }
    for (const diagnostic& finding : out.findings())
        lines += to_text(finding) + "\n";
    return lines;
}

std::string pod(const std::string& name, const std::string& labels, const std::string& annotations,
                const std::string& spec = "") {
    return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", labels: {" + labels +
           "}, annotations: {" + annotations + "}}, spec: {" + spec +
           "containers: [{name: c, image: i}]}}\n";
}
const std::string group = "kueue.x-k8s.io/pod-group-name: g";
std::string total(const std::string& count) {
    return "kueue.x-k8s.io/pod-group-total-count: '" + count + "'";
}
std::string in_queue(const std::string& name) {
    return ", kueue.x-k8s.io/queue-name: " + name;
}
const std::string queues =
    "---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: cq}, spec: {}}"
    "\n---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq, namespace: "
    "default}, spec: {clusterQueue: cq}}\n";

TEST_CASE("a plain pod group of Kueue is a gang of its total count, in the queue of its label") {
    const std::string pods = pod("a", group + in_queue("lq"), total("3")) +
                             pod("b", group + in_queue("lq"), total("3")) +
                             pod("c", group + in_queue("lq"), total("3"));
    CHECK(read(queues + pods).starts_with("g kueue :3 queue=cq /a /b /c\n"));
    CHECK(read(pods) == "g kueue :3 /a /b /c\n");
    CHECK(codec_tests::gangs_of(pods) == "PodGroup default/g :3 x3 | /a /b /c\n");
}

TEST_CASE("the name of a pod group of Kueue may be an annotation") {
    CHECK(read(pod("a", "", group + ", " + total("2"))) == "g kueue :2 /a\n");
    CHECK(read(pod("a", group, "kueue.x-k8s.io/pod-group-name: h, " + total("2")))
              .starts_with(
                  "a :1 wrong: kueue.x-k8s.io/pod-group-name is 'g' as a label and 'h' as an "
                  "annotation (expected them to be equal) /a\n"));
}

TEST_CASE("a WorkloadPriorityClass ranks a pod group of Kueue") {
    CHECK(read("---\n{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: "
               "{name: high}, value: 70}\n" +
               pod("a", group + ", kueue.x-k8s.io/priority-class: high", total("1"))) ==
          "g kueue :1 priority=70 /a\n");
}

TEST_CASE("a pod of a group waits while Kueue's gate is on it") {
    CHECK(
        read(pod("a", group, total("2"), "schedulingGates: [{name: kueue.x-k8s.io/admission}], ") +
             pod("b", group, total("2"))) == "g kueue :2 /a gated /b\n");
}

TEST_CASE("pods of a group with fast admission start one by one") {
    CHECK(read(pod("a", group, total("3") + ", kueue.x-k8s.io/pod-group-fast-admission: 'true'")) ==
          "g kueue :1 /a\n");
    CHECK(read(pod("a", group,
                   total("3") + ", kueue.x-k8s.io/pod-group-fast-admission: 'false', "
                                "kueue.x-k8s.io/pod-group-serving: 'true', "
                                "kueue.x-k8s.io/retriable-in-group: 'false'")) ==
          "g kueue :3 /a\n");
}

TEST_CASE("pods of a group of Kueue that disagree on its count make it wait") {
    const std::string text = pod("a", group, total("2")) + pod("b", group, total("3"));
    const std::string wrong =
        "pod b has the minimum 3, other pods of its group \"g\" have 2 (expected all to agree)";
    CHECK(read(text + pod("other", "", "")) ==
          "g kueue :2 wrong: " + wrong +
              " /a /b\nother :1 /other\nin:4:106: warning: metadata.annotations: " + wrong + "\n");
    CHECK(codec_tests::gangs_of(text).find("pod b: the minimum \"3\" is not that of its group") !=
          std::string::npos);
}

TEST_CASE("pods of a group of Kueue that disagree on its queue make it wait") {
    CHECK(
        read(queues + pod("a", group + in_queue("lq"), total("2")) +
             pod("b", group + in_queue("other"), total("2")))
            .starts_with("g kueue :2 queue=cq wrong: pods a and b disagree on queue (expected one "
                         "queue) /a /b\n"));
}

TEST_CASE("a pod whose marks of Kueue are wrong waits alone, and that is said") {
    const auto alone = [](const std::string& labels, const std::string& annotations,
                          const std::string& wrong) {
        const std::string lines = read(pod("a", labels, annotations));
        CAPTURE(lines);
        CHECK(lines.starts_with("a :1 wrong: " + wrong + " /a"));
        CHECK(lines.ends_with("warning: metadata: pod a: " + wrong + "\n"));
        CHECK(codec_tests::gangs_of(pod("a", labels, annotations)).find("pod a: " + wrong) !=
              std::string::npos);
    };
    const std::string name = "kueue.x-k8s.io/pod-group-name";
    const std::string count = "kueue.x-k8s.io/pod-group-total-count";
    alone(group, "", name + " is there, but " + count + " is not (expected both)");
    alone("", total("2"), count + " is there, but " + name + " is not (expected both)");
    for (const std::string each : {"0", "-1", "two", "2.5", ""})
        alone(group, total(each),
              count + " says '" + each + "' (expected a whole number from 1 to 2147483647)");
    alone(group, total("2") + ", pod-group-name: k",
          "pod-group-name and " + name + " both name its group (expected one gang API)");
}

TEST_CASE("pods of a template with Kueue's marks join the group that the marks name") {
    CHECK(codec_tests::gangs_of(
              "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {completions: 2, "
              "parallelism: 2, template: {metadata: {labels: {" +
              group + "}, annotations: {" + total("2") +
              "}}, spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}\n") ==
          "PodGroup default/g :2 x2 | /j-r8qvj /j-jzgp6\n");
}

TEST_CASE("the gate and the queue of Kueue stay on pods whose group is written for another API") {
    diagnostics found;
    const auto documents = read_documents(
        "in",
        pod("a", group + in_queue("lq"), total("1"),
            "schedulingGates: [{name: kueue.x-k8s.io/admission}], schedulerName: mine, "),
        found);
    const auto read = read_gangs(documents, {}, found);
    REQUIRE(read.bundles.size() == 1);
    CHECK(read.bundles[0].pods[0].document ==
          boost::json::parse(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a",
              "labels": {"kueue.x-k8s.io/queue-name": "lq"}}, "spec": {"schedulingGates": [{"name":
              "kueue.x-k8s.io/admission"}], "schedulerName": "mine", "containers": [{"name": "c",
              "image": "i"}]}})")
              .as_object());
}

} // namespace
} // namespace codec_kueue_pod_groups_test
