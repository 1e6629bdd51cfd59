// SPDX-License-Identifier: Apache-2.0
#include <muster/serve/cluster_checks.hpp>

#include <string>

#include <doctest/doctest.h>

#include "asking.hpp"

namespace api_server_test {

namespace {

const std::string all_nodes = "/api/v1/nodes";
const std::string all_volumes = "/api/v1/persistentvolumes";
const std::string classes = "/apis/storage.k8s.io/v1/storageclasses";
const std::string priorities = "/apis/scheduling.k8s.io/v1/priorityclasses";

/// Creates an object named `a` with these fields.
answer make_a(asking& server, const std::string& collection, const std::string& fields) {
    return server.post(collection, R"({"metadata":{"name":"a"},)" + fields + "}");
}

} // namespace

TEST_CASE("taints of nodes have keys and effects") {
    asking server;
    CHECK(
        causes(make_a(server, all_nodes, R"("spec":{"taints":[{"key":"a","effect":"NoRun"}]})")) ==
        "spec.taints[0].effect: Unsupported value: \"NoRun\": supported values: "
        "\"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\"\n");
    CHECK(causes(make_a(server, all_nodes, R"("spec":{"taints":[{"key":"a"}]})")) ==
          "spec.taints[0].effect: Required value\n");
    CHECK(causes(make_a(server, all_nodes,
                        R"("spec":{"taints":[{"key":"a b","effect":"NoExecute"}]})"))
              .starts_with("spec.taints[0].key: Invalid value: \"a b\": name part must"));
    CHECK(
        make_a(server, all_nodes, R"("spec":{"taints":[{"key":"a","effect":"NoExecute"}]})").code ==
        201);
}

TEST_CASE("a volume has access modes, a size and a source, which is fixed") {
    asking server;
    CHECK(causes(make_a(server, all_volumes, R"("spec":{})")) ==
          "spec.accessModes: Required value\nspec.capacity: Required value\n"
          "spec.capacity: Unsupported value: null: supported values: \"storage\"\n"
          "spec: Required value: must specify a volume type\n");
    const auto spec = [](const std::string& size) {
        return R"("spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":")" + size +
               R"("},"hostPath":{"path":"/v"}})";
    };
    CHECK(causes(make_a(server, all_volumes, spec("-1Gi"))) ==
          "spec.capacity[storage]: Invalid value: \"-1Gi\": must be greater than zero\n");
    REQUIRE(make_a(server, all_volumes, spec("1Gi")).code == 201);
    CHECK(causes(server.merge(all_volumes + "/a", R"({"spec":{"hostPath":{"path":"/w"}}})")) ==
          "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after "
          "creation\n");
    CHECK(causes(server.merge(all_volumes + "/a", R"({"spec":{"volumeMode":"Block"}})")) ==
          "volumeMode: Invalid value: \"Block\": field is immutable\n");
    CHECK(server
              .merge(all_volumes + "/a", R"({"spec":{"persistentVolumeReclaimPolicy":"Delete",)"
                                         R"("capacity":{"storage":"2Gi"}}})")
              .code == 200);
}

TEST_CASE("a storage class has a provisioner, and most of its fields are fixed") {
    asking server;
    CHECK(causes(make_a(server, classes, R"("reclaimPolicy":"Delete")")) ==
          "provisioner: Required value\n");
    REQUIRE(make_a(server, classes, R"("provisioner":"p")").code == 201);
    for (const std::string field : {"provisioner", "reclaimPolicy", "volumeBindingMode"})
        CHECK(causes(server.merge(classes + "/a", "{\"" + field + "\":\"x\"}")) ==
              field + ": Invalid value: \"x\": field is immutable\n");
    CHECK(causes(server.merge(classes + "/a", R"({"parameters":{"a":"b"}})")) ==
          "parameters: Invalid value: {\"a\":\"b\"}: field is immutable\n");
    CHECK(server.merge(classes + "/a", R"({"allowVolumeExpansion":true})").code == 200);
}

TEST_CASE("a priority is at most 1000000000, and fixed") {
    asking server;
    CHECK(causes(make_a(server, priorities, R"("value":1000000001)")) ==
          "value: Forbidden: maximum allowed value of a user defined priority is 1000000000\n");
    CHECK(server
              .post(priorities, R"({"metadata":{"name":"system-node-critical"},)"
                                R"("value":2000001000})")
              .code == 201);
    REQUIRE(make_a(server, priorities, R"("value":1000000000)").code == 201);
    CHECK(causes(server.merge(priorities + "/a", R"({"value":1})")) ==
          "value: Forbidden: may not be changed in an update.\n");
    CHECK(causes(server.merge(priorities + "/a", R"({"preemptionPolicy":"Never"})")) ==
          "preemptionPolicy: Invalid value: \"Never\": field is immutable\n");
    CHECK(server.merge(priorities + "/a", R"({"description":"x"})").code == 200);
}

TEST_CASE("a definition is named for its kind and group") {
    asking server;
    CHECK(causes(make_a(server, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                        R"("spec":{"group":"b.c","names":{"plural":"as","kind":"A"}})")) ==
          "metadata.name: Invalid value: \"a\": must be spec.names.plural+\".\"+spec.group\n");
}

} // namespace api_server_test
