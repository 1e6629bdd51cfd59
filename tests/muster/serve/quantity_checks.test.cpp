// SPDX-License-Identifier: Apache-2.0
#include <muster/serve/quantity_checks.hpp>

#include <string>

#include <doctest/doctest.h>

#include "asking.hpp"

namespace api_server_test {

namespace {

/// Creates a pod whose container has these `resources`.
answer make_pod(asking& server, const std::string& name, const std::string& resources) {
    return server.post(pods, R"({"metadata":{"name":")" + name +
                                 R"("},"spec":{"containers":[{"name":"c","image":"i",)"
                                 R"("resources":)" +
                                 resources + "}]}}");
}

} // namespace

TEST_CASE("an amount that is no quantity cannot be decoded") {
    asking server;
    const std::string text = "cannot be handled as a Pod: quantities must match the regular "
                             "expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    for (const char* amount : {R"("abc")", R"("")", R"("1 Gi")", R"("1KB")", "true", "[]", "{}"}) {
        CAPTURE(amount);
        for (const char* field : {"requests", "limits"}) {
            const answer made =
                make_pod(server, "p", "{\"" + std::string(field) + "\":{\"cpu\":" + amount + "}}");
            CHECK(verdict(made) == "400 BadRequest");
            CHECK(text_at(made.body, {"message"}).ends_with(text));
        }
    }
    CHECK(make_pod(server, "a", R"({"requests":{"cpu":1,"memory":"1e3"}})").code == 201);
    CHECK(make_pod(server, "b", R"({"requests":{"cpu":0.5,"memory":null}})").code == 201);
}

TEST_CASE("amounts of nodes, volumes, claims and pod templates are quantities too") {
    asking server;
    const auto make = [&](const std::string& collection, const std::string& rest) {
        return verdict(server.post(collection, R"({"metadata":{"name":"a"},)" + rest + "}"));
    };
    CHECK(make("/api/v1/nodes", R"("status":{"allocatable":{"cpu":"two"}})") == "400 BadRequest");
    CHECK(make("/api/v1/nodes", R"("status":{"capacity":{"cpu":"two"}})") == "400 BadRequest");
    CHECK(make("/api/v1/persistentvolumes", R"("spec":{"capacity":{"storage":"big"}})") ==
          "400 BadRequest");
    CHECK(make("/api/v1/namespaces/default/persistentvolumeclaims",
               R"("spec":{"accessModes":["ReadWriteOnce"],)"
               R"("resources":{"requests":{"storage":"big"}}})") == "400 BadRequest");
    CHECK(make("/apis/apps/v1/namespaces/default/deployments",
               R"("spec":{"template":{"spec":{"containers":[{"name":"c","image":"i",)"
               R"("resources":{"limits":{"cpu":"abc"}}}]}}})") == "400 BadRequest");
    // Other objects have other resources.
    CHECK(server
              .post("/apis/rbac.authorization.k8s.io/v1/clusterroles",
                    R"({"metadata":{"name":"r"},"rules":[{"apiGroups":[""],)"
                    R"("resources":["pods"],"verbs":["get"]}]})")
              .code == 201);
}

TEST_CASE("a container's requests are positive, and at most its limits") {
    asking server;
    const auto refused = [&](const std::string& resources) {
        return causes(make_pod(server, "p", resources));
    };
    const std::string at = "spec.containers[0].resources.";
    CHECK(refused(R"({"requests":{"cpu":"-1"}})") ==
          at + "requests[cpu]: Invalid value: \"-1\": must be greater than or equal to 0\n");
    CHECK(refused(R"({"requests":{"cpu":-1}})") ==
          at + "requests[cpu]: Invalid value: \"-1\": must be greater than or equal to 0\n");
    CHECK(refused(R"({"requests":{"cpu":"2"},"limits":{"cpu":"1500m"}})") ==
          at + "requests: Invalid value: \"2\": must be less than or equal to cpu limit of "
               "1500m\n");
    CHECK(refused(R"({"requests":{"a.b/gpu":"1"}})") ==
          at + "limits: Required value: Limit must be set for non overcommitable resources\n");
    CHECK(refused(R"({"requests":{"a.b/gpu":"1"},"limits":{"a.b/gpu":"2"}})") ==
          at + "requests: Invalid value: \"1\": must be equal to a.b/gpu limit of 2\n");
    CHECK(refused(R"({"limits":{"a.b/gpu":"500m"}})")
              .starts_with(at + "limits[a.b/gpu]: Invalid value: \"500m\": must be an integer\n"));
    CHECK(make_pod(server, "a", R"({"requests":{"cpu":"1"},"limits":{"cpu":"1000m"}})").code ==
          201);
    CHECK(make_pod(server, "b", R"({"requests":{"a.b/gpu":"1"},"limits":{"a.b/gpu":1}})").code ==
          201);
}

TEST_CASE("a resource without a domain is one of Kubernetes'") {
    asking server;
    const auto refused = [&](const std::string& name) {
        return causes(make_pod(server, "p", R"({"limits":{")" + name + R"(":"1"}})"));
    };
    const std::string at = "spec.containers[0].resources.limits[";
    CHECK(refused("gpu") == at +
                                "gpu]: Invalid value: \"gpu\": must be a standard resource type "
                                "or fully qualified\n" +
                                at +
                                "gpu]: Invalid value: \"gpu\": must be a standard resource "
                                "for containers\n");
    CHECK(refused("requests.a/b") ==
          at + "requests.a/b]: Invalid value: \"requests.a/b\": doesn't follow extended resource "
               "name standard\n");
    CHECK(refused("a!") != "");
    CHECK(make_pod(server, "a",
                   R"({"limits":{"cpu":"1","memory":"1","ephemeral-storage":"1",)"
                   R"("hugepages-2Mi":"2Mi","nvidia.com/gpu":"1"}})")
              .code == 201);
}

} // namespace api_server_test
