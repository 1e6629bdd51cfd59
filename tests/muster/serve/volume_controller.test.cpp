// SPDX-License-Identifier: Apache-2.0
#include <muster/serve/volume_controller.hpp>

#include <string>

#include <doctest/doctest.h>

#include "asking.hpp"

namespace api_server_test {

namespace {

const std::string claims = "/api/v1/namespaces/default/persistentvolumeclaims";
const std::string volumes = "/api/v1/persistentvolumes";

/// A server with the controllers of volumes.
struct storing : asking {
    volume_controller controller{store};

    void node(const std::string& name, const std::string& zone) {
        REQUIRE(post("/api/v1/nodes", R"({"metadata":{"name":")" + name +
                                          R"(","labels":{"zone":")" + zone + R"("}}})")
                    .code == 201);
    }
    /// `more` goes into the class.
    void storage_class(const std::string& name, const std::string& provisioner,
                       const std::string& more = {}, const std::string& metadata = {}) {
        REQUIRE(post("/apis/storage.k8s.io/v1/storageclasses",
                     R"({"metadata":{"name":")" + name + "\"" + metadata + R"(},"provisioner":")" +
                         provisioner + "\"" + more + "}")
                    .code == 201);
    }
    /// `more` goes into the spec.
    void claim(const std::string& name, const std::string& more = {},
               const std::string& size = "1Gi") {
        REQUIRE(post(claims, R"({"metadata":{"name":")" + name +
                                 R"("},"spec":{"accessModes":["ReadWriteOnce"],)"
                                 R"("resources":{"requests":{"storage":")" +
                                 size + R"("}})" + more + "}}")
                    .code == 201);
    }
    void volume(const std::string& name, const std::string& size, const std::string& more = {},
                const std::string& modes = "ReadWriteOnce") {
        REQUIRE(post(volumes, R"({"metadata":{"name":")" + name +
                                  R"("},"spec":{"hostPath":{"path":"/v"},"accessModes":[")" +
                                  modes + R"("],"capacity":{"storage":")" + size + "\"}" + more +
                                  "}}")
                    .code == 201);
    }
    void settle() {
        controller.step();
        CHECK_FALSE(controller.step());
    }
    std::string phase(const std::string& name) {
        return field(claims + "/" + name, {"status", "phase"});
    }
    std::string volume_of(const std::string& name) {
        return field(claims + "/" + name, {"spec", "volumeName"});
    }
    /// The reasons of all events about an object: `FailedBinding`.
    std::string reasons(const std::string& name) {
        std::string made;
        const answer found = get("/api/v1/namespaces/default/events");
        for (const json::value& each : *array_at(found.body, {"items"}))
            if (text_at(each.get_object(), {"involvedObject", "name"}) == name)
                made +=
                    (made.empty() ? "" : " ") + std::string(text_at(each.get_object(), {"reason"}));
        return made;
    }
    void select(const std::string& name, const std::string& node) {
        REQUIRE(merge(claims + "/" + name,
                      R"({"metadata":{"annotations":{"volume.kubernetes.io/selected-node":")" +
                          node + R"("}}})")
                    .code == 200);
    }
};

const std::string delayed = R"(,"volumeBindingMode":"WaitForFirstConsumer")";
const std::string fast = R"(,"storageClassName":"fast")";

std::string cells(const answer& table) {
    std::string made;
    for (const json::value& row : *array_at(table.body, {"rows"}))
        for (const json::value& each : *array_at(row.get_object(), {"cells"}))
            made +=
                (each.is_string() ? std::string(view(each.get_string())) : json::serialize(each)) +
                "|";
    return made;
}

} // namespace

TEST_CASE("a new claim is pending before any controller acts on it") {
    storing server;
    server.claim("c");
    CHECK(server.phase("c") == "Pending");
    server.volume("v", "1Gi");
    CHECK(server.field(volumes + "/v", {"status", "phase"}) == "Pending");
    server.settle();
    CHECK(server.field(volumes + "/v", {"status", "phase"}) != "Pending");
}

TEST_CASE("a claim with no class and no volume stays pending, and an event says why") {
    storing server;
    server.claim("c");
    server.settle();
    CHECK(server.phase("c") == "Pending");
    CHECK(server.reasons("c") == "FailedBinding");
    server.claim("lost", R"(,"storageClassName":"none")");
    server.settle();
    CHECK(server.reasons("lost") == "ProvisioningFailed");
    CHECK(server.reasons("c") == "FailedBinding");
    // The class may come later.
    server.storage_class("none", "example.com/disk");
    server.settle();
    CHECK(server.phase("lost") == "Bound");
    server.volume("v", "1Gi");
    server.settle();
    CHECK(server.volume_of("c") == "v");
}

TEST_CASE("a claim gets the smallest free volume of its class that has its size and modes") {
    storing server;
    server.volume("large", "4Gi", fast);
    server.volume("small", "2Gi", fast);
    server.volume("tiny", "1Mi", fast);
    server.volume("other", "1Gi", R"(,"storageClassName":"slow")");
    server.volume("read-only", "1Gi", fast, "ReadOnlyMany");
    server.volume("block", "1Gi", fast + R"(,"volumeMode":"Block")");
    server.volume("taken", "1Gi", fast + R"(,"claimRef":{"namespace":"default","name":"x"})");
    server.storage_class("fast", "kubernetes.io/no-provisioner");
    server.claim("c", fast);
    server.settle();
    CHECK(server.phase("c") == "Bound");
    CHECK(server.volume_of("c") == "small");
    CHECK(server.field(claims + "/c", {"status", "capacity", "storage"}) == "2Gi");
    const json::object bound = server.get(volumes + "/small").body;
    CHECK(text_at(bound, {"status", "phase"}) == "Bound");
    CHECK(text_at(bound, {"spec", "claimRef", "name"}) == "c");
    CHECK(text_at(bound, {"spec", "claimRef", "uid"}) ==
          server.field(claims + "/c", {"metadata", "uid"}));
    // Two claims never get one volume.
    for (const char* name : {"d", "e"})
        server.claim(name, fast);
    server.settle();
    CHECK(server.volume_of("d") == "large");
    CHECK(server.phase("e") == "Pending");
    CHECK(server.reasons("e") == "ProvisioningFailed");
}

TEST_CASE("a claim's selector and its volume's name choose the volume") {
    storing server;
    server.volume("a", "1Gi");
    server.volume("b", "1Gi");
    REQUIRE(server.merge(volumes + "/b", R"({"metadata":{"labels":{"disk":"fast"}}})").code == 200);
    server.claim("c", R"(,"selector":{"matchLabels":{"disk":"fast"}})");
    server.claim("named", R"(,"volumeName":"b")");
    server.settle();
    CHECK(server.volume_of("c") == "b");
    CHECK(server.phase("named") == "Pending");
    CHECK(server.reasons("named") == "FailedBinding");
    server.claim("own", R"(,"volumeName":"a")");
    server.settle();
    CHECK(server.phase("own") == "Bound");
}

TEST_CASE("an immediate claim is provisioned at once") {
    storing server;
    server.storage_class("fast", "example.com/disk");
    server.claim("c", fast);
    server.settle();
    CHECK(server.phase("c") == "Bound");
    const json::object made = server.get(volumes + "/" + server.volume_of("c")).body;
    CHECK(text_at(made, {"spec", "csi", "driver"}) == "example.com/disk");
    CHECK(text_at(made, {"spec", "persistentVolumeReclaimPolicy"}) == "Delete");
    CHECK(text_at(made, {"spec", "capacity", "storage"}) == "1Gi");
    CHECK_FALSE(value_at(made, {"spec", "nodeAffinity"}));
    CHECK(server.reasons("c") == "ProvisioningSucceeded");
    // Its volume goes with it.
    REQUIRE(server.remove(claims + "/c").code == 200);
    server.settle();
    CHECK(array_at(server.get(volumes).body, {"items"})->empty());
}

TEST_CASE(
    "a claim that waits for its consumer has an event and is provisioned on the chosen node") {
    storing server;
    server.node("a", "east");
    server.node("b", "west");
    server.storage_class("fast", "example.com/disk", delayed);
    server.volume("free", "1Gi", fast);
    server.claim("c", fast);
    server.settle();
    CHECK(server.phase("c") == "Pending");
    CHECK(server.volume_of("c").empty());
    CHECK(server.reasons("c") == "WaitForFirstConsumer");
    REQUIRE(
        server
            .pod("p", "1", R"(,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}])")
            .code == 201);
    server.settle();
    CHECK(server.reasons("c") == "WaitForFirstConsumer WaitForPodScheduled");
    REQUIRE(
        server
            .pod("q", "1", R"(,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}])")
            .code == 201);
    server.settle();
    CHECK(server.reasons("c") == "WaitForFirstConsumer WaitForPodScheduled");
    server.select("c", "b");
    server.settle();
    CHECK(server.phase("c") == "Bound");
    const json::object made = server.get(volumes + "/" + server.volume_of("c")).body;
    CHECK(text_at(made, {"metadata", "name"}).starts_with("pvc-"));
    CHECK_FALSE(value_at(made, {"spec", "nodeAffinity"}));
}

TEST_CASE("a provisioned volume is bound to the allowed topology of its node") {
    storing server;
    server.node("a", "east");
    server.node("b", "west");
    server.node("c", "north");
    server.storage_class("fast", "example.com/disk",
                         delayed + R"(,"allowedTopologies":[{"matchLabelExpressions":)"
                                   R"([{"key":"zone","values":["east","west"]}]}])");
    server.claim("c", fast);
    server.select("c", "b");
    server.settle();
    const std::string name = server.volume_of("c");
    REQUIRE_FALSE(name.empty());
    CHECK(json::serialize(
              *value_at(server.get(volumes + "/" + name).body, {"spec", "nodeAffinity"})) ==
          R"({"required":{"nodeSelectorTerms":[{"matchExpressions":)"
          R"([{"key":"zone","operator":"In","values":["west"]}]}]}})");
    // No volume can be made there: another node has to be selected.
    for (const std::string place : {"c", "ghost"}) {
        const std::string claim = "on-" + place;
        server.claim(claim, fast);
        server.select(claim, place);
        server.settle();
        CHECK(server.phase(claim) == "Pending");
        CHECK(server.reasons(claim).starts_with("ProvisioningFailed"));
        CHECK(server
                  .field(claims + "/" + claim,
                         {"metadata", "annotations", "volume.kubernetes.io/selected-node"})
                  .empty());
    }
}

TEST_CASE("a driver's topology keys bind a provisioned volume to its node") {
    storing server;
    server.node("a", "east");
    REQUIRE(server
                .post("/apis/storage.k8s.io/v1/csinodes",
                      R"({"metadata":{"name":"a"},"spec":{"drivers":[{"name":"example.com/disk",)"
                      R"("nodeID":"a","topologyKeys":["zone"]}]}})")
                .code == 201);
    server.storage_class("fast", "example.com/disk", delayed);
    server.claim("c", fast);
    server.select("c", "a");
    server.settle();
    const json::object made = server.get(volumes + "/" + server.volume_of("c")).body;
    const json::value* const affinity = value_at(made, {"spec", "nodeAffinity"});
    REQUIRE(affinity);
    CHECK(json::serialize(*affinity).find(R"("values":["east"])") != std::string::npos);
}

TEST_CASE("a volume that a scheduler reserved is bound to its claim") {
    storing server;
    server.storage_class("fast", "kubernetes.io/no-provisioner", delayed);
    server.volume("v", "1Gi", fast);
    server.claim("c", fast);
    server.settle();
    CHECK(server.volume_of("c").empty());
    REQUIRE(
        server.merge(volumes + "/v", R"({"spec":{"claimRef":{"namespace":"default","name":"c"}}})")
            .code == 200);
    server.settle();
    CHECK(server.phase("c") == "Bound");
    CHECK(server.volume_of("c") == "v");
    // Volumes that an administrator made are kept.
    REQUIRE(server.remove(claims + "/c").code == 200);
    server.settle();
    CHECK(server.field(volumes + "/v", {"status", "phase"}) == "Released");
}

TEST_CASE("a claim whose volume is gone is lost") {
    storing server;
    server.volume("v", "1Gi");
    server.claim("c");
    server.settle();
    REQUIRE(server.phase("c") == "Bound");
    // A volume is kept for its claim until an administrator removes the finalizer.
    REQUIRE(server.remove(volumes + "/v").code == 200);
    server.settle();
    CHECK(server.phase("c") == "Bound");
    REQUIRE(server.merge(volumes + "/v", R"({"metadata":{"finalizers":null}})").code == 200);
    server.settle();
    CHECK(server.phase("c") == "Lost");
    CHECK(server.reasons("c") == "ClaimLost");
}

TEST_CASE("a claim that names no class gets the newest default class") {
    storing server;
    const std::string marked =
        R"(,"annotations":{"storageclass.kubernetes.io/is-default-class":"true"})";
    server.storage_class("old", "example.com/old", {}, marked);
    server.pass(10);
    server.storage_class("fast", "example.com/disk", {}, marked);
    server.claim("c");
    server.claim("none", R"(,"storageClassName":"")");
    server.settle();
    CHECK(server.field(claims + "/c", {"spec", "storageClassName"}) == "fast");
    CHECK(server.phase("c") == "Bound");
    CHECK(server.phase("none") == "Pending");
}

TEST_CASE("the claim of an ephemeral volume is created for its pod") {
    storing server;
    server.storage_class("fast", "example.com/disk");
    REQUIRE(server
                .pod("p", "1",
                     R"(,"volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":)"
                     R"({"storageClassName":"fast","accessModes":["ReadWriteOnce"],)"
                     R"("resources":{"requests":{"storage":"1Gi"}}}}}}])")
                .code == 201);
    server.settle();
    CHECK(server.phase("p-v") == "Bound");
    REQUIRE(server.remove(pods + "/p").code == 200);
    server.store.settle();
    server.settle();
    CHECK(server.get(claims + "/p-v").code == 404);
}

TEST_CASE("claims are bound but no volumes are provisioned if provisioning is off") {
    storing server;
    server.controller.provisions = false;
    server.storage_class("fast", "example.com/disk");
    server.claim("c", fast);
    server.settle();
    CHECK(server.phase("c") == "Pending");
    CHECK(server.reasons("c") == "ExternalProvisioning");
    server.volume("v", "1Gi", fast);
    server.settle();
    CHECK(server.phase("c") == "Bound");
}

TEST_CASE("a claim is deleted once no pod with a node uses it") {
    storing server;
    for (const std::string name : {"used", "ended", "free"}) {
        server.claim(name);
        CHECK(server.get(claims + "/" + name).body.at("metadata").at("finalizers") ==
              json::array{"kubernetes.io/pvc-protection"});
        REQUIRE(server
                    .pod(name, "1",
                         R"(,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":")" +
                             name + R"("}}])")
                    .code == 201);
    }
    for (const char* name : {"used", "ended"})
        REQUIRE(server.bind(name, "n").code == 201);
    REQUIRE(server.merge(pods + "/ended/status", R"({"status":{"phase":"Succeeded"}})").code ==
            200);
    for (const char* name : {"used", "ended", "free"})
        REQUIRE(server.remove(claims + "/" + name).code == 200);
    server.settle();
    CHECK(server.get(claims + "/free").code == 404);
    for (const std::string name : {"used", "ended"}) {
        CHECK_FALSE(server.field(claims + "/" + name, {"metadata", "deletionTimestamp"}).empty());
        REQUIRE(server.remove(pods + "/" + name, R"({"gracePeriodSeconds":0})").code == 200);
        server.settle();
        CHECK(server.get(claims + "/" + name).code == 404);
    }
}

TEST_CASE("a claim whose pod waits for it to go is deleted") {
    storing server;
    server.storage_class("fast", "example.com/disk");
    REQUIRE(server
                .pod("p", "1",
                     R"(,"volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":)"
                     R"({"storageClassName":"fast","accessModes":["ReadWriteOnce"],)"
                     R"("resources":{"requests":{"storage":"1Gi"}}}}}}])")
                .code == 201);
    server.settle();
    REQUIRE(server.bind("p", "n").code == 201);
    REQUIRE(
        server.remove(pods + "/p", R"({"gracePeriodSeconds":0,"propagationPolicy":"Foreground"})")
            .code == 200);
    for (int turn = 0; turn < 3; ++turn) {
        server.store.settle();
        server.settle();
    }
    CHECK(server.get(claims + "/p-v").code == 404);
    CHECK(server.get(pods + "/p").code == 404);
}

TEST_CASE("claims, volumes and classes are shown in kubectl's columns") {
    storing server;
    const auto table = [&](const std::string& target) {
        return cells(server.ask("GET", target, {}, "application/json",
                                "application/json;as=Table;v=v1;g=meta.k8s.io"));
    };
    server.storage_class(
        "fast", "example.com/disk", delayed,
        R"(,"annotations":{"storageclass.kubernetes.io/is-default-class":"true"})");
    server.volume("v", "2Gi");
    server.claim("waits", fast);
    server.claim("c", R"(,"storageClassName":"")");
    server.settle();
    CHECK(table(claims) == "c|Bound|v|2Gi|RWO||<unset>|0s|Filesystem|"
                           "waits|Pending||||fast|<unset>|0s|Filesystem|");
    CHECK(table(volumes) == "v|2Gi|RWO|Retain|Bound|default/c||<unset>||0s|Filesystem|");
    CHECK(table("/apis/storage.k8s.io/v1/storageclasses") ==
          "fast (default)|example.com/disk|Delete|WaitForFirstConsumer|false|0s|");
}

} // namespace api_server_test
