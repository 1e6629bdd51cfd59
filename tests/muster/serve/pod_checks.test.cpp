// SPDX-License-Identifier: Apache-2.0
#include <muster/serve/pod_checks.hpp>

#include <string>

#include <doctest/doctest.h>

#include "asking.hpp"

namespace api_server_test {

namespace {

/// Returns what is wrong with a pod that has this spec.
std::string causes_of(asking& server, const std::string& spec) {
    const answer made = server.post(pods, R"({"metadata":{"name":"p"},"spec":)" + spec + "}");
    return made.code == 201 ? "created" : causes(made);
}

} // namespace

TEST_CASE("containers have names, each once, and images") {
    asking server;
    CHECK(causes(server.post(pods, R"({"metadata":{"name":"p"}})")) ==
          "spec.containers: Required value\n");
    CHECK(causes_of(server, R"({"containers":[]})") == "spec.containers: Required value\n");
    CHECK(causes_of(server, R"({"containers":[{}]})") ==
          "spec.containers[0].name: Required value\nspec.containers[0].image: Required value\n");
    CHECK(causes_of(server, R"({"containers":[{"name":"c","image":"i"}],"initContainers":[{}]})") ==
          "spec.initContainers[0].name: Required value\n"
          "spec.initContainers[0].image: Required value\n");
    CHECK(causes_of(server, R"({"containers":[{"name":"C","image":"i"}]})")
              .starts_with("spec.containers[0].name: Invalid value: \"C\": a lowercase RFC 1123 "
                           "label must consist of"));
    CHECK(causes_of(server, R"({"containers":[{"name":"c","image":"i"},)"
                            R"({"name":"c","image":"i"}]})") ==
          "spec.containers[1].name: Duplicate value: \"c\"\n");
    CHECK(causes_of(server, R"({"containers":[{"name":"c","image":"i"}],)"
                            R"("initContainers":[{"name":"c","image":"i"}]})") ==
          "spec.initContainers[0].name: Duplicate value: \"c\"\n");
}

TEST_CASE("volumes have names, each once, and name their claims") {
    asking server;
    const auto refused = [&](const std::string& volumes) {
        return causes_of(server, R"({"containers":[{"name":"c","image":"i"}],"volumes":[)" +
                                     volumes + "]}");
    };
    CHECK(refused(R"({"emptyDir":{}})") == "spec.volumes[0].name: Required value\n");
    CHECK(refused(R"({"name":"v","emptyDir":{}},{"name":"v","emptyDir":{}})") ==
          "spec.volumes[1].name: Duplicate value: \"v\"\n");
    CHECK(refused(R"({"name":"v","persistentVolumeClaim":{}})") ==
          "spec.volumes[0].persistentVolumeClaim.claimName: Required value\n");
    CHECK(refused(R"({"name":"v","persistentVolumeClaim":{"claimName":"c"}})") == "created");
}

TEST_CASE("containers mount the pod's volumes, each path once") {
    asking server;
    const auto refused = [&](const std::string& mounts) {
        return causes_of(server, R"({"containers":[{"name":"c","image":"i","volumeMounts":[)" +
                                     mounts + R"(]}],"volumes":[{"name":"v","emptyDir":{}}]})");
    };
    const std::string at = "spec.containers[0].volumeMounts[";
    CHECK(refused(R"({"name":"w","mountPath":"/w"})") == at + "0].name: Not found: \"w\"\n");
    CHECK(refused(R"({"name":"v"})") == at + "0].mountPath: Required value\n");
    CHECK(refused(R"({"name":"v","mountPath":"/v"},{"name":"v","mountPath":"/v"})") ==
          at + "1].mountPath: Invalid value: \"/v\": must be unique\n");
    CHECK(refused(R"({"name":"v","mountPath":"/v"},{"name":"v","mountPath":"/w"})") == "created");
}

TEST_CASE("ports are numbers from 1 to 65535, and each port of the node is used once") {
    asking server;
    const auto refused = [&](const std::string& ports, const std::string& more = {}) {
        return causes_of(server, R"({"containers":[{"name":"c","image":"i","ports":[)" + ports +
                                     "]}]" + more + "}");
    };
    const std::string at = "spec.containers[0].ports[";
    CHECK(refused("{}") == at + "0].containerPort: Required value\n");
    CHECK(refused(R"({"containerPort":70000})") ==
          at + "0].containerPort: Invalid value: 70000: must be between 1 and 65535, "
               "inclusive\n");
    CHECK(refused(R"({"containerPort":1,"protocol":"ICMP"})") ==
          at + "0].protocol: Unsupported value: \"ICMP\": supported values: \"SCTP\", \"TCP\", "
               "\"UDP\"\n");
    CHECK(refused(R"({"containerPort":1,"hostPort":8},{"containerPort":2,"hostPort":8})") ==
          at + "1].hostPort: Duplicate value: \"TCP//8\"\n");
    const std::string port = R"("ports":[{"containerPort":1,"hostPort":8}])";
    CHECK(refused(R"({"containerPort":1,"hostPort":8},)"
                  R"({"containerPort":2,"hostPort":8,"protocol":"UDP"})",
                  R"(,"initContainers":[{"name":"d","image":"i",)" + port +
                      R"(},{"name":"e","image":"i",)" + port + "}]") == "created");
}

TEST_CASE("policies and deadlines of pods are of those that Kubernetes has") {
    asking server;
    const auto refused = [&](const std::string& more) {
        return causes_of(server, R"({"containers":[{"name":"c","image":"i"}],)" + more + "}");
    };
    CHECK(refused(R"("restartPolicy":"Sometimes")") ==
          "spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", "
          "\"OnFailure\", \"Never\"\n");
    CHECK(refused(R"("activeDeadlineSeconds":0)") ==
          "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, "
          "inclusive\n");
    CHECK(refused(R"("restartPolicy":"Never","activeDeadlineSeconds":1)") == "created");
}

TEST_CASE("a change of a pod is checked like a new pod") {
    asking server;
    REQUIRE(server.pod("a").code == 201);
    CHECK(
        causes(server.strategic(pods + "/a",
                                R"({"spec":{"tolerations":[{"key":"a b","operator":"Exists"}]}})"))
            .starts_with("spec.tolerations[0].key: Invalid value: \"a b\": "));
    CHECK(causes(server.strategic(pods + "/a",
                                  R"({"spec":{"containers":[{"name":"c","image":""}]}})")) ==
          "spec.containers[0].image: Required value\n");
}

TEST_CASE("a change of the status alone does not check the spec") {
    asking server;
    REQUIRE(server.pod("a").code == 201);
    REQUIRE(server.bind("a", "No_Node").code == 201);
    CHECK(server.merge(pods + "/a/status", R"({"status":{"phase":"Running"}})").code == 200);
    CHECK(verdict(server.merge(pods + "/a", R"({"metadata":{"labels":{"a":"b"}}})")) ==
          "422 Invalid");
}

} // namespace api_server_test
