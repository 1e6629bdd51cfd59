// SPDX-License-Identifier: Apache-2.0
#include <muster/serve/claim_checks.hpp>

#include <string>

#include <doctest/doctest.h>

#include "asking.hpp"

namespace api_server_test {

namespace {

const std::string all_claims = "/api/v1/namespaces/default/persistentvolumeclaims";

/// Creates a claim with this spec.
answer make_claim(asking& server, const std::string& spec, const std::string& name = "c") {
    return server.post(all_claims,
                       R"({"metadata":{"name":")" + name + R"("},"spec":)" + spec + "}");
}

const std::string good =
    R"({"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}})";

/// A server with a claim of class `c` that is bound to a volume of 1Gi.
struct with_bound_claim : asking {
    explicit with_bound_claim(const std::string& class_fields = {}) {
        REQUIRE(post("/apis/storage.k8s.io/v1/storageclasses",
                     R"({"metadata":{"name":"c"},"provisioner":"p")" + class_fields + "}")
                    .code == 201);
        REQUIRE(make_claim(*this, good + R"(,"storageClassName":"c","volumeName":"v"})").code ==
                201);
        REQUIRE(merge(all_claims + "/c/status",
                      R"({"status":{"phase":"Bound","capacity":{"storage":"1Gi"}}})")
                    .code == 200);
    }
    answer change(const std::string& spec) {
        return merge(all_claims + "/c", R"({"spec":)" + spec + "}");
    }
    answer resize(const std::string& size) {
        return change(R"({"resources":{"requests":{"storage":")" + size + R"("}}})");
    }
};

const std::string fixed =
    "spec: Forbidden: spec is immutable after creation except resources.requests and "
    "volumeAttributesClassName for bound claims\n";

} // namespace

TEST_CASE("a claim has access modes and a size") {
    asking server;
    CHECK(causes(make_claim(server, "{}")) ==
          "spec.accessModes: Required value: at least 1 access mode is required\n"
          "spec.resources[storage]: Required value\n");
    const auto refused = [&](const std::string& modes, const std::string& size,
                             const std::string& more = {}) {
        return causes(make_claim(server, R"({"accessModes":[)" + modes +
                                             R"(],"resources":{"requests":{"storage":")" + size +
                                             R"("}})" + more + "}"));
    };
    CHECK(refused(R"("Sometimes")", "1Gi") ==
          "spec.accessModes: Unsupported value: \"Sometimes\": supported values: "
          "\"ReadOnlyMany\", \"ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\"\n");
    CHECK(refused(R"("ReadWriteOncePod","ReadWriteOnce")", "1Gi") ==
          "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes\n");
    CHECK(refused(R"("ReadWriteOnce")", "0") ==
          "spec.resources[storage]: Invalid value: \"0\": must be greater than zero\n");
    CHECK(refused(R"("ReadWriteOnce")", "1Gi", R"(,"volumeMode":"Tape")") ==
          "spec.volumeMode: Unsupported value: \"Tape\": supported values: \"Block\", "
          "\"Filesystem\"\n");
    CHECK(refused(R"("ReadWriteOnce")", "1Gi", R"(,"storageClassName":"A b")")
              .starts_with("spec.storageClassName: Invalid value: \"A b\": a lowercase RFC 1123"));
    CHECK(make_claim(server, good + "}").code == 201);
}

TEST_CASE("a claim that is not bound may only get a class and a volume") {
    asking server;
    REQUIRE(make_claim(server, good + "}").code == 201);
    const auto change = [&](const std::string& spec) {
        return server.merge(all_claims + "/c", R"({"spec":)" + spec + "}");
    };
    CHECK(causes(change(R"({"resources":{"requests":{"storage":"2Gi"}}})")) == fixed);
    CHECK(causes(change(R"({"accessModes":["ReadWriteMany"]})")) == fixed);
    CHECK(causes(change(R"({"volumeMode":"Block"})")) ==
          fixed + "volumeMode: Invalid value: \"Block\": field is immutable\n");
    CHECK(change(R"({"resources":{"requests":{"storage":"1024Mi"}}})").code == 200);
    CHECK(change(R"({"storageClassName":"fast"})").code == 200);
    CHECK(causes(change(R"({"storageClassName":"slow"})")) == fixed);
    CHECK(change(R"({"volumeName":"v"})").code == 200);
    CHECK(causes(change(R"({"volumeName":"w"})")) == fixed);
    CHECK(server.merge(all_claims + "/c", R"({"metadata":{"labels":{"a":"b"}}})").code == 200);
}

TEST_CASE("a bound claim may grow if its class allows it") {
    with_bound_claim non_preemptible;
    const answer refused = non_preemptible.resize("2Gi");
    CHECK(verdict(refused) == "403 Forbidden");
    CHECK(text_at(refused.body, {"message"}) ==
          "persistentvolumeclaims \"c\" is forbidden: only dynamically provisioned pvc can be "
          "resized and the storageclass that provisions the pvc must support resize");
    with_bound_claim growing(R"(,"allowVolumeExpansion":true)");
    CHECK(causes(growing.resize("1Mi")) == "spec.resources.requests.storage: Forbidden: field "
                                           "can not be less than status.capacity\n");
    CHECK(growing.resize("2Gi").code == 200);
    CHECK(causes(growing.change(R"({"selector":{"matchLabels":{"a":"b"}}})")) == fixed);
}

TEST_CASE("claims and volumes are kept by finalizers until nothing uses them") {
    asking server;
    REQUIRE(make_claim(server, good + "}").code == 201);
    REQUIRE(server
                .post("/api/v1/persistentvolumes",
                      R"({"metadata":{"name":"v","finalizers":["example.com/mine"]},)"
                      R"("spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],)"
                      R"("hostPath":{"path":"/v"}}})")
                .code == 201);
    CHECK(json::serialize(
              *value_at(server.get(all_claims + "/c").body, {"metadata", "finalizers"})) ==
          R"(["kubernetes.io/pvc-protection"])");
    CHECK(json::serialize(*value_at(server.get("/api/v1/persistentvolumes/v").body,
                                    {"metadata", "finalizers"})) ==
          R"(["example.com/mine","kubernetes.io/pv-protection"])");
    REQUIRE(server.remove(all_claims + "/c").code == 200);
    CHECK_FALSE(server.field(all_claims + "/c", {"metadata", "deletionTimestamp"}).empty());
}

} // namespace api_server_test
