// SPDX-License-Identifier: Apache-2.0
#include <muster/serve/placement_checks.hpp>

#include <string>

#include <doctest/doctest.h>

#include "asking.hpp"

namespace api_server_test {

namespace {

/// Returns what is wrong with a pod whose spec has these fields beside a container.
std::string refused(const std::string& more) {
    asking server;
    const answer made = server.pod("p", "1", "," + more);
    return made.code == 201 ? "created" : causes(made);
}

std::string node_affinity(const std::string& requirement) {
    return R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
           R"({"nodeSelectorTerms":[{"matchExpressions":[)" +
           requirement + "]}]}}}";
}

std::string pod_affinity(const std::string& terms) {
    return R"("affinity":{"podAntiAffinity":{)"
           R"("requiredDuringSchedulingIgnoredDuringExecution":[)" +
           terms + "]}}";
}

} // namespace

TEST_CASE("the labels of a node selector and the name of a node are checked") {
    CHECK(refused(R"("nodeSelector":{"a b":"c"})")
              .starts_with("spec.nodeSelector: Invalid value: \"a b\": name part must consist"));
    CHECK(refused(R"("nodeName":"No Node")")
              .starts_with("spec.nodeName: Invalid value: \"No Node\": a lowercase RFC 1123"));
    CHECK(refused(R"("nodeSelector":{"example.com/a":"b"})") == "created");
}

TEST_CASE("requirements of node affinity have the values that their operators need") {
    const std::string at = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuring"
                           "Execution.nodeSelectorTerms[0].matchExpressions[0].";
    CHECK(refused(node_affinity(R"({"key":"a","operator":"In"})")) ==
          at + "values: Required value: must be specified when `operator` is 'In' or 'NotIn'\n");
    CHECK(refused(node_affinity(R"({"key":"a","operator":"Exists","values":["b"]})")) ==
          at + "values: Forbidden: may not be specified when `operator` is 'Exists' or "
               "'DoesNotExist'\n");
    CHECK(refused(node_affinity(R"({"key":"a","operator":"Gt"})")) ==
          at + "values: Required value: must be specified single value when `operator` is 'Lt' or "
               "'Gt'\n");
    CHECK(refused(node_affinity(R"({"key":"a","operator":"is"})")) ==
          at + "operator: Invalid value: \"is\": not a valid selector operator\n");
    CHECK(refused(node_affinity(R"({"key":"a b","operator":"Exists"})"))
              .starts_with(at + "key: Invalid value: \"a b\": name part must consist"));
    CHECK(refused(node_affinity(R"({"key":"a","operator":"In","values":["b c"]})"))
              .starts_with(at + "values[0]: Invalid value: \"b c\": a valid label must be"));
    CHECK(refused(node_affinity(R"({"key":"a","operator":"Gt","values":["3"]})")) == "created");
    CHECK(refused(R"("affinity":{"nodeAffinity":{)"
                  R"("requiredDuringSchedulingIgnoredDuringExecution":{}}})") ==
          "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
          "nodeSelectorTerms: Required value: must have at least one node selector term\n");
    CHECK(refused(R"("affinity":{"nodeAffinity":{)"
                  R"("preferredDuringSchedulingIgnoredDuringExecution":[{"weight":101,)"
                  R"("preference":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}]}})") ==
          "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: "
          "Invalid value: 101: must be in the range 1-100\n");
}

TEST_CASE("terms of pod affinity name a topology") {
    const std::string at = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuring"
                           "Execution[0].";
    CHECK(refused(pod_affinity("{}"))
              .starts_with(at + "topologyKey: Required value: can not be empty\n"));
    CHECK(refused(pod_affinity(R"({"topologyKey":"a","labelSelector":{"matchExpressions":[)"
                               R"({"key":"a","operator":"Gt","values":["1"]}]}})")) ==
          at + "labelSelector.matchExpressions[0].operator: Invalid value: \"Gt\": not a valid "
               "selector operator\n");
    CHECK(refused(pod_affinity(
              R"({"topologyKey":"a","labelSelector":{"matchLabels":{"a":"b"}}})")) == "created");
    CHECK(refused(R"("affinity":{"podAffinity":{)"
                  R"("preferredDuringSchedulingIgnoredDuringExecution":[{"weight":0,)"
                  R"("podAffinityTerm":{"topologyKey":"a"}}]}})") ==
          "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: "
          "Invalid value: 0: must be in the range 1-100\n");
}

TEST_CASE("tolerations have keys, operators and effects that exist") {
    const auto toleration = [](const std::string& one) {
        return refused(R"("tolerations":[)" + one + "]");
    };
    const std::string at = "spec.tolerations[0].";
    CHECK(toleration("{}") == at + "operator: Invalid value: \"\": operator must be Exists when "
                                   "`key` is empty, which means \"match all values and all "
                                   "keys\"\n");
    CHECK(toleration(R"({"key":"a","operator":"Like"})") ==
          at + "operator: Unsupported value: \"Like\": supported values: \"Equal\", "
               "\"Exists\"\n");
    CHECK(toleration(R"({"key":"a","operator":"Exists","value":"b"})") ==
          at + "operator: Invalid value: \"b\": value must be empty when `operator` is "
               "'Exists'\n");
    CHECK(toleration(R"({"key":"a","effect":"NoRun"})") ==
          at + "effect: Unsupported value: \"NoRun\": supported values: \"NoSchedule\", "
               "\"PreferNoSchedule\", \"NoExecute\"\n");
    CHECK(toleration(R"({"key":"a","effect":"NoSchedule","tolerationSeconds":3})") ==
          at + "effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when "
               "`tolerationSeconds` is set\n");
    CHECK(toleration(R"({"operator":"Exists"})") == "created");
    CHECK(toleration(R"({"key":"a","value":"b","effect":"NoSchedule"})") == "created");
}

TEST_CASE("spread constraints have a skew, a topology and an action") {
    const auto spread = [](const std::string& one) {
        return refused(R"("topologySpreadConstraints":[)" + one + "]");
    };
    const std::string at = "spec.topologySpreadConstraints[0].";
    CHECK(spread("{}") == at + "maxSkew: Invalid value: 0: must be greater than zero\n" + at +
                              "topologyKey: Required value: can not be empty\n" + at +
                              "whenUnsatisfiable: Unsupported value: \"\": supported values: "
                              "\"DoNotSchedule\", \"ScheduleAnyway\"\n");
    CHECK(spread(R"({"maxSkew":1,"minDomains":0,"topologyKey":"a",)"
                 R"("whenUnsatisfiable":"DoNotSchedule"})") ==
          at + "minDomains: Invalid value: 0: must be greater than zero\n");
    CHECK(spread(R"({"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"ScheduleAnyway"})") ==
          "created");
}

} // namespace api_server_test
