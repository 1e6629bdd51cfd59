// SPDX-License-Identifier: Apache-2.0
#include <muster/serve/decode_checks.hpp>

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "asking.hpp"

namespace api_server_test {

namespace {

const std::string strictly = "?fieldValidation=Strict";

/// Returns the message of a 400 after the name of the kind; empty for any other answer.
std::string fault(const answer& of) {
    constexpr std::string_view before = " cannot be handled as a ";
    const std::string_view text = text_at(of.body, {"message"});
    const auto at = text.find(before);
    if (of.code != 400 || at == std::string_view::npos)
        return {};
    const std::string_view rest = text.substr(at + before.size());
    return std::string(rest.substr(rest.find(": ") + 2));
}

std::string pod_text(const std::string& more, const std::string& container = {}) {
    return R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i")" + container +
           "}]" + more + "}}";
}

} // namespace

TEST_CASE("a field that the kind does not have is an error if the client is strict") {
    asking server;
    const std::string body =
        pod_text(R"(,"nodeSelecter":{},"affinity":{"nodeAffinities":{}})", R"(,"cmd":[])");
    CHECK(fault(server.post(pods + strictly, body)) ==
          "strict decoding error: unknown field \"spec.containers[0].cmd\", unknown field "
          "\"spec.nodeSelecter\", unknown field \"spec.affinity.nodeAffinities\"");
    CHECK(server.post(pods + "?fieldValidation=Warn", body).code == 201);
    CHECK(fault(server.post("/api/v1/nodes" + strictly,
                            R"({"metadata":{"name":"n","label":{}},"sepc":{}})")) ==
          "strict decoding error: unknown field \"metadata.label\", unknown field \"sepc\"");
    // Fields of an embedded message stand beside those of its field.
    CHECK(server
              .post(pods + strictly + "&dryRun=All",
                    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"q","labels":{"a":"b"}},)"
                    R"("spec":{"containers":[{"name":"c","image":"i","env":[{"name":"A",)"
                    R"("valueFrom":{"configMapKeyRef":{"name":"m","key":"k"}}}]}],)"
                    R"("volumes":[{"name":"v","emptyDir":{"medium":"Memory"}}]}})")
              .code == 201);
}

TEST_CASE("unknown metadata of any kind are an error if the client is strict") {
    asking server;
    const std::string storage_classes = "/apis/storage.k8s.io/v1/storageclasses";
    CHECK(fault(server.post(storage_classes + strictly,
                            R"({"metadata":{"name":"s","label":{}},"provisioner":"p"})")) ==
          "strict decoding error: unknown field \"metadata.label\"");
    CHECK(server.post(storage_classes + strictly, R"({"metadata":{"name":"s"},"provisioner":"p"})")
              .code == 201);
}

TEST_CASE("a strict change is not refused for fields that the object had before") {
    asking server;
    REQUIRE(server.post(pods, pod_text(R"(,"old":1)")).code == 201);
    const auto change = [&](const std::string& patch) {
        return server.strategic(pods + "/p" + strictly, patch);
    };
    CHECK(change(R"({"metadata":{"labels":{"a":"b"}}})").code == 200);
    CHECK(fault(change(R"({"metadata":{"label":{"a":"b"}}})")) ==
          "strict decoding error: unknown field \"metadata.label\"");
}

TEST_CASE("a value of another type than its field cannot be decoded") {
    asking server;
    const auto refused = [&](const std::string& more, const std::string& container = {}) {
        return fault(server.post(pods, pod_text(more, container)));
    };
    const std::string to = " into Go struct field ";
    CHECK(refused(R"(,"tolerations":{})") == "json: cannot unmarshal object" + to +
                                                 "PodSpec.spec.tolerations of type "
                                                 "[]v1.Toleration");
    CHECK(refused(R"(,"tolerations":["x"])") ==
          "json: cannot unmarshal string" + to + "PodSpec.spec.tolerations of type v1.Toleration");
    CHECK(refused(R"(,"nodeSelector":{"a":true})") ==
          "json: cannot unmarshal bool" + to + "PodSpec.spec.nodeSelector of type string");
    CHECK(refused(R"(,"priority":1.5)") ==
          "json: cannot unmarshal number" + to + "PodSpec.spec.priority of type int");
    CHECK(refused(R"(,"hostNetwork":"yes")") ==
          "json: cannot unmarshal string" + to + "PodSpec.spec.hostNetwork of type bool");
    CHECK(refused("", R"(,"command":[1])") == "json: cannot unmarshal number" + to +
                                                  "Container.spec.containers.command of type "
                                                  "string");
    CHECK(refused("", R"(,"livenessProbe":{"httpGet":{"port":true}})") ==
          "json: cannot unmarshal bool" + to +
              "HTTPGetAction.spec.containers.livenessProbe."
              "httpGet.port of type string");
    CHECK(server
              .post(pods, pod_text(R"(,"tolerations":null,"nodeSelector":null,"priority":null)",
                                   R"(,"command":null,"livenessProbe":{"httpGet":{"port":1}})"))
              .code == 201);
}

TEST_CASE("kinds whose name is that of a part of other objects are left alone") {
    asking server;
    CHECK(server
              .post("/apis/resource.k8s.io/v1/namespaces/default/resourceclaims" + strictly,
                    R"({"metadata":{"name":"c"},"spec":{"devices":{"requests":[{"name":"r"}]}}})")
              .code == 201);
}

TEST_CASE("an unchecked server stores any object") {
    asking server;
    server.store.store_unchecked();
    CHECK(server.post(pods + strictly, R"({"metadata":{"name":"p"},"spec":{"tolerations":1}})")
              .code == 201);
}

} // namespace api_server_test
