// SPDX-License-Identifier: Apache-2.0
#include <muster/serve/restore.hpp>

#include <optional>
#include <string>

#include <doctest/doctest.h>

#include <muster/serve/kubelets.hpp>
#include <muster/serve/volume_controller.hpp>

#include "asking.hpp"

namespace api_server_test {

namespace {

std::optional<std::string> load(asking& server, const std::string& text) {
    const auto object = parse_json(text);
    REQUIRE(object);
    return restore(server.store, object->get_object());
}

/// A node of another cluster.
const std::string node = R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n","uid":"u-n",
    "resourceVersion":"77","creationTimestamp":"2023-01-02T03:04:05Z","managedFields":[{}]},
    "status":{"allocatable":{"cpu":"2","pods":"10"},
    "conditions":[{"type":"Ready","status":"True"}]}})";

/// A pod of another cluster. `more` goes into its metadata.
std::string pod_of(const std::string& name, const std::string& place, const std::string& phase,
                   const std::string& more = {}) {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
           R"(","namespace":"team","uid":"u-)" + name + "\",\"resourceVersion\":\"78\"" + more +
           R"(},"spec":{)" + (place.empty() ? "" : R"("nodeName":")" + place + "\",") +
           R"("priorityClassName":"high","priority":7,"containers":[{"name":"c","image":"i",)"
           R"("resources":{"requests":{"cpu":"1"}}}]},"status":{"phase":")" +
           phase +
           R"(","podIP":"10.9.8.7","startTime":"2023-01-02T03:04:06Z",)"
           R"("conditions":[{"type":"PodScheduled","status":"False"}]}})";
}

const std::string team = "/api/v1/namespaces/team/pods";

} // namespace

TEST_CASE("an object of another server keeps its uid and creation time, but no resourceVersion") {
    asking server;
    CHECK(load(server, node) == std::nullopt);
    const json::object found = server.get("/api/v1/nodes/n").body;
    CHECK(text_at(found, {"metadata", "uid"}) == "u-n");
    CHECK(text_at(found, {"metadata", "creationTimestamp"}) == "2023-01-02T03:04:05Z");
    CHECK(text_at(found, {"metadata", "resourceVersion"}) != "77");
    CHECK_FALSE(value_at(found, {"metadata", "managedFields"}));
    CHECK(text_at(found, {"status", "allocatable", "cpu"}) == "2");
    // Clients cannot choose a uid.
    REQUIRE(server.post("/api/v1/nodes", R"({"metadata":{"name":"m","uid":"u-m"}})").code == 201);
    CHECK(server.field("/api/v1/nodes/m", {"metadata", "uid"}) != "u-m");
}

TEST_CASE("an object that exists is changed, and keeps its uid") {
    asking server;
    const std::string uid = server.field("/api/v1/namespaces/default", {"metadata", "uid"});
    CHECK(load(server, R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default",
        "uid":"u-d","resourceVersion":"9","labels":{"team":"a"}},"status":{"phase":"Active"}})") ==
          std::nullopt);
    const json::object found = server.get("/api/v1/namespaces/default").body;
    CHECK(text_at(found, {"metadata", "uid"}) == uid);
    CHECK(text_at(found, {"metadata", "labels", "team"}) == "a");
    CHECK(text_at(found, {"metadata", "labels", "kubernetes.io/metadata.name"}) == "default");
    CHECK(load(server, node) == std::nullopt);
    CHECK(load(server, R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},
        "status":{"allocatable":{"cpu":"4"}}})") == std::nullopt);
    CHECK(server.field("/api/v1/nodes/n", {"status", "allocatable", "cpu"}) == "4");
    CHECK(server.field("/api/v1/nodes/n", {"status", "allocatable", "pods"}) == "10");
    // The same manifest again changes nothing.
    CHECK(load(server, pod_of("p", "", "Pending")) == std::nullopt);
    const std::string version = server.field(team + "/p", {"metadata", "resourceVersion"});
    CHECK(load(server, pod_of("p", "", "Pending")) == std::nullopt);
    CHECK(server.field(team + "/p", {"metadata", "resourceVersion"}) == version);
}

TEST_CASE("a pod keeps its status if it has a node, and its priority without its class") {
    asking server;
    kubelets nodes(server.store);
    REQUIRE(load(server, node) == std::nullopt);
    CHECK(load(server, pod_of("runs", "n", "Running")) == std::nullopt);
    CHECK(load(server, pod_of("ended", "n", "Succeeded")) == std::nullopt);
    CHECK(load(server, pod_of("waits", "", "Pending")) == std::nullopt);
    nodes.step();
    CHECK(server.field(team + "/runs", {"status", "phase"}) == "Running");
    CHECK(server.field(team + "/runs", {"status", "podIP"}) == "10.9.8.7");
    CHECK(server.field(team + "/runs", {"status", "startTime"}) == "2023-01-02T03:04:06Z");
    CHECK(integer_at(server.get(team + "/runs").body, {"spec", "priority"}) == 7);
    CHECK(server.field(team + "/ended", {"status", "phase"}) == "Succeeded");
    CHECK(nodes.running() == 1);
    CHECK(server.field(team + "/waits", {"status", "phase"}) == "Pending");
    CHECK_FALSE(value_at(server.get(team + "/waits").body, {"status", "conditions"}));
    // The pod counts against the node's resources.
    REQUIRE(server.pod("more", "2").code == 201);
    REQUIRE(server.bind("more", "n").code == 201);
    nodes.step();
    CHECK(server.field(pods + "/more", {"status", "reason"}) == "OutOfcpu");
}

TEST_CASE("a pod that was being deleted is deleted") {
    asking server;
    kubelets nodes(server.store);
    REQUIRE(load(server, node) == std::nullopt);
    CHECK(load(server, pod_of("leaves", "n", "Running",
                              R"(,"deletionTimestamp":"2023-01-02T03:05:00Z",)"
                              R"("deletionGracePeriodSeconds":30)")) == std::nullopt);
    CHECK_FALSE(server.field(team + "/leaves", {"metadata", "deletionTimestamp"}).empty());
    nodes.step();
    CHECK(server.get(team + "/leaves").code == 404);
}

TEST_CASE("objects are not deleted for owners that a backup leaves out") {
    asking server;
    const auto owned = [](const std::string& owner) {
        return R"(,"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r",)"
               R"("uid":")" +
               owner + "\"}]";
    };
    REQUIRE(load(server, pod_of("a", "", "Pending", owned("u-r"))) == std::nullopt);
    REQUIRE(load(server, pod_of("b", "", "Pending", owned("u-owner"))) == std::nullopt);
    REQUIRE(load(server, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"owner",
        "namespace":"team","uid":"u-owner"}})") == std::nullopt);
    REQUIRE(server.pod("other").code == 201);
    REQUIRE(server.remove(pods + "/other").code == 200);
    server.store.settle();
    CHECK(server.get(team + "/a").code == 200);
    CHECK(server.get(team + "/b").code == 200);
    REQUIRE(server.remove("/api/v1/namespaces/team/configmaps/owner").code == 200);
    server.store.settle();
    CHECK(server.get(team + "/a").code == 200);
    CHECK(server.get(team + "/b").code == 404);
}

TEST_CASE("a claim and its volume stay bound") {
    asking server;
    volume_controller controller(server.store);
    REQUIRE(load(server, R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"v",
        "uid":"u-v"},"spec":{"hostPath":{"path":"/v"},"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],
        "claimRef":{"namespace":"team","name":"c","uid":"u-c"}},"status":{"phase":"Bound"}})") ==
            std::nullopt);
    const auto bound = [&] {
        return server.field("/api/v1/persistentvolumes/v", {"status", "phase"}) + " " +
               server.field("/api/v1/namespaces/team/persistentvolumeclaims/c",
                            {"status", "phase"});
    };
    REQUIRE(load(server, R"({"apiVersion":"v1","kind":"PersistentVolumeClaim",
        "metadata":{"name":"c","namespace":"team","uid":"u-c",
        "annotations":{"pv.kubernetes.io/bind-completed":"yes"}},
        "spec":{"volumeName":"v","accessModes":["ReadWriteOnce"],
        "resources":{"requests":{"storage":"1Gi"}}},"status":{"phase":"Bound",
        "accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"}}})") == std::nullopt);
    CHECK(bound() == "Bound Bound");
    CHECK_FALSE(controller.step());
    CHECK(bound() == "Bound Bound");
}

TEST_CASE("the message names an object that cannot be restored") {
    asking server;
    CHECK(load(server, R"({"apiVersion":"example.dev/v1","kind":"Flower",
        "metadata":{"name":"f"}})") ==
          "Flower f: no such kind is served (is its definition in one of the files?)");
    REQUIRE(load(server, pod_of("p", "", "Pending")) == std::nullopt);
    const auto wrong = load(server, pod_of("p", "n", "Running"));
    REQUIRE(wrong);
    CHECK(wrong->find("pod updates may not change fields") != std::string::npos);
}

} // namespace api_server_test
