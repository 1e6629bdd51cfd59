// SPDX-License-Identifier: Apache-2.0
#include <muster/input/membership.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/input/manifests.hpp>
#include <muster/input/read_documents.hpp>

namespace codec_membership_test {

using namespace muster::codec;
using muster::gang_fault;

namespace {

struct read_result {
    std::vector<document> documents;
    manifests objects;
    diagnostics out;
};

read_result read(const std::string& text) {
    read_result made;
    made.documents = read_documents("f", text, made.out);
    made.objects = read_manifests(made.documents, {}, made.out);
    REQUIRE(made.out.findings().empty());
    return made;
}

struct found_groups {
    read_result input;
    group_map groups;
    std::vector<const group_map::value_type*> group_of;
    std::string findings;

    /// Names of the members of a group, in order.
    [[nodiscard]] std::string members(const group_key& key) const {
        std::string all;
        for (const std::size_t at : groups.at(key).members)
            all += input.objects.pods[at].metadata.key.name + ' ';
        return all;
    }
    /// The group of a pod in namespace default.
    [[nodiscard]] const group_map::value_type& of(const std::string& pod) const {
        for (std::size_t at = 0; at < group_of.size(); ++at)
            if (input.objects.pods[at].metadata.key == object_key{"default", pod})
                return *group_of[at];
        FAIL("no such pod");
        return *groups.begin();
    }
};

found_groups find(const std::string& text) {
    found_groups made;
    made.input = read(text);
    const object_lookup lookup(made.input.objects);
    made.groups = find_groups(made.input.objects, lookup, made.group_of, made.input.out);
    for (const diagnostic& finding : made.input.out.findings())
        made.findings += to_text(finding) + '\n';
    return made;
}

/// A pod; `metadata` and `spec` are written inside of braces.
std::string pod(const std::string& name, const std::string& metadata,
                const std::string& spec = {}) {
    return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", " + metadata +
           "}, spec: {" + spec + "containers: [{}]}}\n";
}

std::string group(const std::string& name, const std::string& spec,
                  const std::string& metadata = {}) {
    return "---\n{apiVersion: scheduler.tensorstack.dev/v1beta1, kind: PodGroup, metadata: "
           "{name: " +
           name + metadata + "}, spec: {" + spec + "}}\n";
}

std::string in_group(const std::string& name) {
    return "labels: {scheduler.tensorstack.dev/group-name: " + name + "}";
}

std::string ack(const std::string& name, const std::string& minimum, const std::string& more = {}) {
    return "labels: {pod-group.scheduling.sigs.k8s.io/name: " + name +
           ", pod-group.scheduling.sigs.k8s.io/min-available: \"" + minimum + "\"" + more + "}";
}

const group_key g{"default", "g", group_origin::pod_group};
const group_key labelled{"default", "g", group_origin::labels};

} // namespace

TEST_CASE("a pod belongs to the PodGroup that its label names, in its own namespace") {
    const auto found =
        find(group("g", "minMember: 2, queue: q, priority: 9") + pod("b", in_group("g")) +
             pod("a", in_group("g")) + pod("c", "namespace: other, " + in_group("g")));
    CHECK(found.members(g) == "a b ");
    CHECK(found.groups.at(g).fault == gang_fault::none);
    CHECK(found.groups.at(g).queue == "q");
    CHECK(found.groups.at(g).priority == 9);
    const group_key elsewhere{"other", "g", group_origin::pod_group};
    CHECK(found.members(elsewhere) == "c ");
    CHECK(found.groups.at(elsewhere).fault == gang_fault::missing);
    CHECK(found.findings.empty());
}

TEST_CASE("pods that name no PodGroup that exists wait together for it") {
    const auto found = find(pod("b", "labels: {scheduler.tensorstack.dev/group-name: g, "
                                     "scheduler.tensorstack.dev/queue: second}") +
                            pod("a", "labels: {scheduler.tensorstack.dev/group-name: g, "
                                     "scheduler.tensorstack.dev/queue: first}"));
    const group_facts& facts = found.groups.at(g);
    CHECK(found.members(g) == "a b ");
    CHECK(facts.fault == gang_fault::missing);
    CHECK(facts.object == nullptr);
    // What they hold is charged to one queue, whichever document comes first.
    CHECK(facts.queue == "first");
}

TEST_CASE("an empty minMember of a PodGroup is the sum of its role minima, at least 1") {
    const auto minimum = [](const std::string& spec) {
        return find(group("g", spec)).groups.at(g).tree[0].min_member;
    };
    CHECK(minimum("minMember: 3, roles: [{name: a, minMember: 5}]") == 3);
    CHECK(minimum("roles: [{name: a, minMember: 2}, {name: b, minMember: 3}]") == 5);
    CHECK(minimum("minMember: 0, roles: [{name: a, minMember: 2}]") == 2);
    CHECK(minimum("roles: [{name: a}]") == 1);
    CHECK(minimum("") == 1);
}

TEST_CASE("a pod has the role that its label names, and one of no listed role counts too") {
    const auto role = [](const found_groups& found, const std::string& name) {
        for (const pod_object& pod : found.input.objects.pods)
            if (pod.metadata.key.name == name)
                return found.groups.at(g).role_of(pod).value();
        return std::size_t{99};
    };
    const std::string pods = pod("a", "labels: {scheduler.tensorstack.dev/group-name: g, "
                                      "scheduler.tensorstack.dev/role: worker}") +
                             pod("b", "labels: {scheduler.tensorstack.dev/group-name: g, "
                                      "scheduler.tensorstack.dev/role: ps}") +
                             pod("c", in_group("g"));
    const auto with = find(group("g", "roles: [{name: master}, {name: worker}]") + pods);
    CHECK(with.groups.at(g).tree[role(with, "a")].name == "worker");
    CHECK(role(with, "b") == 3);
    CHECK(role(with, "c") == 3);
    CHECK(with.groups.at(g).tree[3].min_member == 0);
    const auto without = find(group("g", "minMember: 2") + pods);
    CHECK(role(without, "a") == 0);
    CHECK(role(without, "c") == 0);
}

TEST_CASE("a re-created PodGroup counts no pod that was scheduled before, and any that was not") {
    const std::string scheduled = "}, status: {phase: Running, conditions: [{type: PodScheduled, "
                                  "status: \"True\", lastTransitionTime: \"";
    const auto standing = [&](const std::string& name, const std::string& since) {
        return "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", " + in_group("g") +
               ", creationTimestamp: \"2023-01-01T00:00:00Z\"}, spec: {nodeName: x, containers: "
               "[{}]" +
               scheduled + since + "\"}]}}\n";
    };
    const auto found =
        find(group("g", "minMember: 2, queue: q", ", creationTimestamp: \"2024-01-01T00:00:10Z\"") +
             standing("before", "2024-01-01T00:00:09Z") + standing("at", "2024-01-01T00:00:10Z") +
             standing("after", "2024-01-01T00:00:11Z") +
             pod("waiting", in_group("g") + ", creationTimestamp: \"2023-01-01T00:00:00Z\""));
    CHECK(found.members(g) == "after at waiting ");
    const auto& [key, facts] = found.of("before");
    CHECK(key == group_key{"default", "before", group_origin::single_pod});
    // It still holds what it holds in the group's queue.
    CHECK(facts.queue == "q");
    CHECK(facts.fault == gang_fault::none);
}

TEST_CASE("a PodGroup that was never created counts every pod") {
    CHECK(find(group("g", "minMember: 2") + pod("a", in_group("g"))).members(g) == "a ");
}

TEST_CASE("a pod without a group is in the queue that it names in the way of any gang API") {
    for (const std::string mark :
         {"labels: {kai.scheduler/queue: q}", "labels: {quota.scheduling.koordinator.sh/name: q}",
          "annotations: {scheduling.volcano.sh/queue-name: q}"})
        CHECK(find(pod("a", mark)).of("a").second.queue == "q");
}

TEST_CASE("a pod that names no group is a gang of one, in the queue that it names") {
    const auto found =
        find(pod("a", "labels: {scheduler.tensorstack.dev/queue: q}", "priority: 7, ") +
             pod("b", "creationTimestamp: \"2024-01-01T00:00:00Z\""));
    const auto& [key, facts] = found.of("a");
    CHECK(key == group_key{"default", "a", group_origin::single_pod});
    CHECK(facts.tree.size() == 1);
    CHECK(facts.tree[0].min_member == 1);
    CHECK(facts.queue == "q");
    CHECK(facts.priority == 7);
    CHECK(found.of("b").second.queue.empty());
    CHECK(found.of("b").second.created == parse_timestamp("2024-01-01T00:00:00Z"));
}

TEST_CASE("pods with equal ACK labels are a gang, as old as its oldest pod") {
    const auto found =
        find(pod("b", ack("g", "2") + ", creationTimestamp: \"2024-01-01T00:00:05Z\"") +
             pod("a", ack("g", "2") + ", creationTimestamp: \"2024-01-01T00:00:07Z\"") +
             pod("c", ack("g", "2")) + pod("d", "namespace: other, " + ack("g", "4")));
    CHECK(found.members(labelled) == "a b c ");
    CHECK(found.groups.at(labelled).tree[0].min_member == 2);
    CHECK(found.groups.at(labelled).fault == gang_fault::none);
    CHECK(found.groups.at(labelled).created == parse_timestamp("2024-01-01T00:00:05Z"));
    CHECK(found.members({"other", "g", group_origin::labels}) == "d ");
}

TEST_CASE("an ACK gang and a PodGroup of one name are two groups") {
    const auto found =
        find(group("g", "") + pod("a", ack("g", "1")) + pod("b", in_group("g")) + pod("g", ""));
    CHECK(found.members(labelled) == "a ");
    CHECK(found.members(g) == "b ");
    CHECK(found.of("g").first.origin == group_origin::single_pod);
}

TEST_CASE("a pod with malformed ACK labels is a malformed group of its own, with its reason") {
    const auto found = find(pod("a", ack("g", "none")) + pod("b", ack("g", "1")));
    const auto& [key, facts] = found.of("a");
    CHECK(key == group_key{"default", "a", group_origin::single_pod});
    CHECK(facts.fault == gang_fault::malformed);
    CHECK(facts.fault_detail ==
          "label pod-group.scheduling.sigs.k8s.io/min-available: \"none\" is not a minimum "
          "(expected a whole number from 1 to 2147483647)");
    CHECK(found.members(labelled) == "b ");
    CHECK(found.findings ==
          "f:2:57: warning: metadata.labels: pod a: " + facts.fault_detail + "\n");
}

TEST_CASE("a pod that two gang APIs claim belongs to neither") {
    const auto found = find(group("g", "") + pod("a", ack("g", "1",
                                                          ", scheduler.tensorstack.dev/group-name: "
                                                          "g")));
    CHECK(found.of("a").second.fault == gang_fault::malformed);
    CHECK(found.of("a").second.fault_detail ==
          "the labels of two gang APIs name a group (expected one)");
    CHECK(found.members(g).empty());
}

TEST_CASE("the pods of an ACK gang must agree on the minimum, the priority and the queue") {
    const auto detail = [](const std::string& text) {
        const auto found = find(text);
        const group_facts& facts = found.groups.at(labelled);
        CHECK((facts.fault == gang_fault::disagreement) == !facts.fault_detail.empty());
        return facts.fault_detail;
    };
    CHECK(detail(pod("c", ack("g", "3")) + pod("b", ack("g", "3")) + pod("a", ack("g", "2"))) ==
          "pods a and b disagree on min-available");
    CHECK(detail(pod("a", ack("g", "2"), "priority: 1, ") + pod("b", ack("g", "2"))) ==
          "pods a and b disagree on priority");
    CHECK(detail(pod("a", ack("g", "2")) +
                 pod("b", ack("g", "2", ", scheduler.tensorstack.dev/queue: q"))) ==
          "pods a and b disagree on queue");
    CHECK(detail(pod("a", ack("g", "2"), "priority: 0, ") + pod("b", ack("g", "2"))) == "");
}

TEST_CASE("priorities come from the pod, its class, the default class, or are 0") {
    const std::string classes =
        "---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, "
        "value: "
        "100}\n---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: "
        "normal},"
        " value: 5, globalDefault: true}\n---\n{apiVersion: scheduling.k8s.io/v1, kind: "
        "PriorityClass, metadata: {name: low}, value: 3, globalDefault: true}\n";
    const auto priority = [&](const std::string& spec, const std::string& before) {
        return find(before + pod("a", "", spec)).of("a").second.priority;
    };
    CHECK(priority("priority: 7, priorityClassName: high, ", classes) == 7);
    CHECK(priority("priorityClassName: high, ", classes) == 100);
    // Of several default classes the lowest counts, wherever it stands.
    CHECK(priority("", classes) == 3);
    CHECK(priority("", "") == 0);
    CHECK(priority("priorityClassName: system-cluster-critical, ", "") == 2000000000);
    CHECK(priority("priorityClassName: system-node-critical, ", "") == 2000001000);
}

TEST_CASE("a class that does not exist counts as 0, with a warning where it matters") {
    const auto found = find(group("g", "") + pod("a", "", "priorityClassName: high, ") +
                            pod("b", in_group("g"), "priorityClassName: high, "));
    CHECK(found.of("a").second.priority == 0);
    CHECK(found.findings ==
          "f:4:78: warning: spec.priorityClassName: there is no PriorityClass \"high\", its "
          "priority counts as 0 (expected a PriorityClass of the input)\n");
}

TEST_CASE("a namespace has its labels and its own name, known or not") {
    const auto input =
        read("{apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {b: c}}}");
    const object_lookup lookup(input.objects);
    CHECK(lookup.namespace_labels("a") ==
          muster::label_set{{"b", "c"}, {"kubernetes.io/metadata.name", "a"}});
    CHECK(lookup.namespace_labels("z") == muster::label_set{{"kubernetes.io/metadata.name", "z"}});
}

} // namespace codec_membership_test
