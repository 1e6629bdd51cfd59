// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/t9k/reader.hpp>

#include <cstdint>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include <muster/input/read_documents.hpp>

namespace codec_t9k_reader_test {

using namespace muster::codec;

namespace {

template<class Object>
struct read_result {
    Object object;
    std::string findings;
    std::optional<timestamp> newest;
};

template<class Object, class Read>
read_result<Object> read_object(const std::string& rest, const Read& read) {
    read_result<Object> made;
    diagnostics out;
    const auto documents = read_documents("f", "metadata: {name: a}\n" + rest, out);
    REQUIRE(documents.size() == 1);
    reading_context context;
    object_reader root(documents[0], out);
    made.object = read(root, context);
    made.newest = context.newest;
    for (const diagnostic& finding : out.findings())
        made.findings += to_text(finding) + '\n';
    return made;
}

auto group(const std::string& rest) {
    return read_object<pod_group_object>(rest, read_pod_group);
}

auto queue(const std::string& rest) {
    return read_object<queue_object>(rest, read_queue);
}

} // namespace

TEST_CASE("a pod group has minima, a queue and a priority") {
    const auto [object, findings, newest] = group(R"(spec:
  roles:
  - {name: master, minMember: 1}
  - {name: worker}
  minMember: 3
  queue: research
  priority: 50
)");
    CHECK(findings.empty());
    CHECK(object.min_member == 3);
    REQUIRE(object.roles.size() == 2);
    CHECK(object.roles[0].name == "master");
    CHECK(object.roles[0].min_member == 1);
    CHECK(object.roles[1].min_member == 0);
    CHECK(object.queue == "research");
    CHECK(object.priority == 50);
    CHECK(object.metadata.key == object_key{"default", "a"});
}

TEST_CASE("what a pod group leaves out is the queue default, priority 0 and no minimum") {
    const auto [object, findings, newest] = group("spec: {}\n");
    CHECK(findings.empty());
    CHECK(object.min_member == 0);
    CHECK(object.queue == "default");
    CHECK(object.priority == 0);
    CHECK(object.roles.empty());
    CHECK(group("spec: {queue: ''}\n").object.queue == "default");
}

TEST_CASE("the priority of a pod group is from 0 to 100") {
    CHECK(group("spec: {priority: 0}\n").findings.empty());
    CHECK(group("spec: {priority: 100}\n").object.priority == 100);
    CHECK(group("spec:\n  priority: 101\n").findings ==
          "f:3:13: spec.priority: found 101, expected a whole number from 0 to 100\n");
    CHECK(group("spec:\n  priority: -1\n").findings ==
          "f:3:13: spec.priority: found -1, expected a whole number from 0 to 100\n");
}

TEST_CASE("minima are whole numbers that are not negative") {
    CHECK(group("spec: {minMember: -1}\n").findings ==
          "f:2:19: spec.minMember: found -1, expected a whole number from 0 to 2147483647\n");
    CHECK(group("spec: {roles: [{name: r, minMember: 0.5}]}\n").findings ==
          "f:2:37: spec.roles[0].minMember: found 0.5, expected a whole number from 0 to "
          "2147483647\n");
    CHECK(group("spec: {minMember: '2'}\n").findings ==
          "f:2:19: spec.minMember: found \"2\", expected a whole number from 0 to 2147483647\n");
}

TEST_CASE("a role has a name, and has it alone") {
    CHECK(group("spec: {roles: [{name: r}, {name: s}, {name: r}]}\n").findings ==
          "f:2:45: spec.roles[2].name: \"r\" is there twice (expected every role once)\n");
    CHECK(group("spec: {roles: [{minMember: 1}]}\n").findings ==
          "f:2:16: spec.roles[0].name: required, but missing\n");
    CHECK(group("spec: {roles: [{name: ''}]}\n").findings ==
          "f:2:23: spec.roles[0].name: is empty (expected the name of a role)\n");
}

TEST_CASE("a topology policy, which nobody defines, is remembered as not modelled") {
    CHECK(group("spec: {topologyPolicy: rack}\n").findings == "");
}

TEST_CASE("a pod group without a spec is an error, one with an unknown field a warning") {
    CHECK(group("").findings == "f:1:1: spec: required, but missing\n");
    CHECK(group("spec: {minMembers: 2}\n").findings ==
          "f:2:8: warning: spec.minMembers: unknown field, ignored (did you mean minMember?)\n");
}

TEST_CASE("the conditions of a pod group are read, and date the input") {
    const auto [object, findings, newest] = group(R"(spec: {}
status:
  allocated: {cpu: 1}
  running: 2
  conditions:
  - type: GroupScheduled
    status: "True"
    reason: PodGroupScheduled
    message: Resources have been allocated to PodGroup
    transitionID: x
    lastTransitionTime: 2023-12-17T13:48:16Z
  - {type: SufficientGroupMember, status: "False"}
)");
    CHECK(findings.empty());
    REQUIRE(object.conditions.size() == 2);
    CHECK(object.conditions[0].is_true);
    CHECK(object.conditions[0].reason == "PodGroupScheduled");
    CHECK(object.conditions[0].transition_id == "x");
    CHECK(object.conditions[0].changed == parse_timestamp("2023-12-17T13:48:16Z"));
    CHECK_FALSE(object.conditions[1].is_true);
    CHECK(newest == parse_timestamp("2023-12-17T13:48:16Z"));
}

TEST_CASE("a queue has a quota, a rank, its users and its nodes") {
    const auto [object, findings, newest] = queue(R"(spec:
  quota: {requests: {cpu: 40.0009, memory: 1Gi, nvidia.com/gpu: 8}}
  priority: 7
  closed: true
  preemptible: false
  maxDuration: 1d
  namespaceSelector: {matchLabels: {team: a}}
  nodeSelector: {matchExpressions: [{key: gpu, operator: Exists}]}
)");
    CHECK(findings.empty());
    CHECK(object.quota == std::map<std::string, std::int64_t>{
                              {"cpu", 40000}, {"memory", 1073741824}, {"nvidia.com/gpu", 8}});
    CHECK(object.priority == 7);
    CHECK(object.closed);
    CHECK(object.max_duration == 86'400'000'000'000);
    REQUIRE(object.namespaces);
    CHECK(object.namespaces->matches({{"team", "a"}}));
    CHECK_FALSE(object.namespaces->matches({}));
    CHECK(object.nodes.matches({{"gpu", ""}}));
    CHECK_FALSE(object.nodes.matches({}));
}

TEST_CASE("what a queue says and nobody looks at is told") {
    CHECK(queue("spec: {resourceShapeProfile: small}\n").findings ==
          "f:2:30: warning: spec.resourceShapeProfile: is not looked at: what its pods may ask for "
          "at most is not checked\n");
}

TEST_CASE("a queue without a spec is open to no namespace, unlimited, and takes every node") {
    const auto [object, findings, newest] = queue("");
    CHECK(findings.empty());
    CHECK(object.quota.empty());
    CHECK(object.priority == 0);
    CHECK_FALSE(object.closed);
    CHECK_FALSE(object.namespaces);
    CHECK(object.nodes.matches({}));
}

TEST_CASE("a queue that does not say whether it is preemptible is") {
    CHECK(queue("spec: {}\n").object.preemptible);
    CHECK(queue("spec: {preemptible: null}\n").object.preemptible);
    CHECK(queue("spec: {preemptible: true}\n").object.preemptible);
    CHECK_FALSE(queue("spec: {preemptible: false}\n").object.preemptible);
}

TEST_CASE("a maxDuration of nothing or of 0 lets pods live for ever") {
    for (const char* text : {"''", "'0'", "0s", "0y0w0d0h0m0s0ms", "null"}) {
        CAPTURE(text);
        const auto read = queue("spec: {maxDuration: " + std::string(text) + "}\n");
        CHECK(read.findings.empty());
        CHECK_FALSE(read.object.max_duration);
    }
}

TEST_CASE("an empty namespace selector is told from an absent one") {
    CHECK(queue("spec: {namespaceSelector: {}}\n").object.namespaces->requirements.empty());
    CHECK_FALSE(queue("spec: {namespaceSelector: null}\n").object.namespaces);
}

TEST_CASE("a quota beyond int64 stands at its end, a negative one is an error") {
    CHECK(queue("spec: {quota: {requests: {memory: 1e30}}}\n").object.quota.at("memory") ==
          std::numeric_limits<std::int64_t>::max());
    CHECK(queue("spec: {quota: {requests: {cpu: -1}}}\n").findings ==
          "f:2:32: spec.quota.requests.cpu: \"-1\" is negative (expected a quantity of at least "
          "0)\n");
}

TEST_CASE("malformed fields of a queue are errors, and a quota of limits does not exist") {
    CHECK(queue("spec: {priority: 101}\n").findings ==
          "f:2:18: spec.priority: found 101, expected a whole number from 0 to 100\n");
    CHECK(queue("spec: {maxDuration: 2 hours}\n").findings ==
          "f:2:21: spec.maxDuration: \"2 hours\" is not a duration (expected e.g. 90m or 1d12h)\n");
    CHECK_FALSE(queue("spec: {maxDuration: \"0\"}\n").object.max_duration);
    CHECK(queue("spec: {preemptible: maybe}\n").findings ==
          "f:2:21: spec.preemptible: found \"maybe\", expected true or false\n");
    CHECK(queue("spec: {namespaceSelector: {matchExpressions: [{key: a, operator: Gt}]}}\n")
              .findings == "f:2:66: spec.namespaceSelector.matchExpressions[0].operator: \"Gt\" is "
                           "not an operator (expected In, NotIn, Exists or DoesNotExist)\n");
    CHECK(queue("spec: {quota: {limits: {cpu: 1}}}\n").findings ==
          "f:2:16: warning: spec.quota.limits: unknown field, ignored\n");
}

} // namespace codec_t9k_reader_test
