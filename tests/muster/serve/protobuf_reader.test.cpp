// SPDX-License-Identifier: Apache-2.0
#include <muster/serve/protobuf_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "asking.hpp"

namespace api_server_protobuf_test {

using namespace api_server_test;

namespace {

const std::string protobuf = "application/vnd.kubernetes.protobuf";

std::string varint(std::uint64_t value) {
    std::string made;
    for (; value >= 128; value >>= 7U)
        made += static_cast<char>(value % 128 + 128);
    return made + static_cast<char>(value);
}
/// A field that holds text or a message.
std::string field(unsigned number, const std::string& content) {
    return varint(number << 3U | 2U) + varint(content.size()) + content;
}
std::string number(unsigned number, std::uint64_t value) {
    return varint(number << 3U) + varint(value);
}
std::string entry(const std::string& key, const std::string& value) {
    return field(1, key) + field(2, value);
}
std::string envelope(const std::string& version, const std::string& kind, const std::string& raw) {
    return std::string("k8s\0", 4) + field(1, field(1, version) + field(2, kind)) + field(2, raw) +
           field(3, "") + field(4, "");
}

std::optional<json::object> read(const std::string& body) {
    const auto made = read_protobuf_body(body);
    REQUIRE(made);
    return read_protobuf(*made);
}
json::object parsed(std::string_view text) {
    const auto made = parse_json(text);
    REQUIRE(made);
    return made->get_object();
}

/// The body of `kubectl create deployment web --image=nginx`. Unset fields are present and empty.
std::string deployment() {
    const std::string container =
        field(1, "nginx") + field(2, "nginx") + field(5, "") + field(14, "") + number(16, 0);
    const std::string pod = field(2, container) + field(3, "") + number(11, 0);
    const std::string metadata =
        field(1, "web") + field(2, "") + field(8, "") + field(11, entry("app", "web"));
    const std::string selector = field(1, entry("app", "web"));
    const std::string spec = number(1, 1) + field(2, selector) +
                             field(3, field(1, field(11, entry("app", "web"))) + field(2, pod)) +
                             field(4, field(1, "")) + number(5, 0);
    return envelope("apps/v1", "Deployment", field(1, metadata) + field(2, spec) + field(3, ""));
}

} // namespace

TEST_CASE("protobuf becomes the JSON that the same object has") {
    CHECK(read(deployment()) == parsed(R"({"apiVersion":"apps/v1","kind":"Deployment",
        "metadata":{"name":"web","labels":{"app":"web"}},
        "spec":{"replicas":1,"selector":{"matchLabels":{"app":"web"}},
            "template":{"metadata":{"labels":{"app":"web"}},
                "spec":{"containers":[{"name":"nginx","image":"nginx"}]}}}})"));
}

TEST_CASE(
    "quantities, times, either numbers or names, bytes and embedded messages have their form") {
    const std::string time = number(1, 1'700'000'000) + number(2, 5'000);
    const std::string ports =
        field(1, "http") + number(3, 80) + field(4, number(1, 1) + field(3, "web"));
    const std::string other = number(3, 81) + field(4, number(1, 0) + number(2, 8081));
    CHECK(read(envelope("v1", "Service", field(2, field(1, ports) + field(1, other)))) ==
          parsed(R"({"apiVersion":"v1","kind":"Service","spec":{"ports":[
              {"name":"http","port":80,"targetPort":"web"},{"port":81,"targetPort":8081}]}})"));
    CHECK(read(envelope("v1", "Secret",
                        field(2, entry("a", "\x01\x02")) + field(2, entry("b", "")) +
                            field(2, entry("c", "abc")))) ==
          parsed(R"({"apiVersion":"v1","kind":"Secret","data":{"a":"AQI=","b":"","c":"YWJj"}})"));
    CHECK(read(envelope("coordination.k8s.io/v1", "Lease",
                        field(2, number(2, 15) + field(4, time)))) ==
          parsed(R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","spec":
              {"leaseDurationSeconds":15,"renewTime":"2023-11-14T22:13:20.000005Z"}})"));
    const std::string limits = field(1, entry("cpu", field(1, "500m")));
    const std::string env =
        field(1, "E") + field(3, field(3, field(1, field(1, "map")) + field(2, "k")));
    const std::string volume = field(1, "v") + field(2, field(2, ""));
    CHECK(
        read(envelope("v1", "Pod",
                      field(1, field(8, time)) +
                          field(2, field(1, volume) +
                                       field(2, field(1, "c") + field(7, env) + field(8, limits)) +
                                       number(4, 0)))) == parsed(R"({"apiVersion":"v1","kind":"Pod",
              "metadata":{"creationTimestamp":"2023-11-14T22:13:20Z"},
              "spec":{"volumes":[{"name":"v","emptyDir":{}}],"terminationGracePeriodSeconds":0,
                  "containers":[{"name":"c","resources":{"limits":{"cpu":"500m"}},
                  "env":[{"name":"E","valueFrom":{"configMapKeyRef":{"name":"map","key":"k"}}}]}]}})"));
}

TEST_CASE("a required number is present when it is 0") {
    CHECK(read(envelope("scheduling.k8s.io/v1", "PriorityClass", number(2, 0) + number(3, 0))) ==
          parsed(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","value":0})"));
    CHECK(read(envelope("scheduling.k8s.io/v1", "PriorityClass",
                        number(2, static_cast<std::uint64_t>(std::int64_t{-5})))) ==
          parsed(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","value":-5})"));
}

TEST_CASE("a server accepts objects and deletions in protobuf") {
    asking server;
    const std::string path = "/apis/apps/v1/namespaces/default/deployments";
    const answer made = server.ask("POST", path, deployment(), protobuf);
    REQUIRE(made.code == 201);
    CHECK(*value_at(made.body, {"spec", "replicas"}) == 1);
    const auto written = parse_json(server.store.journal().back().body);
    CHECK((written && *written == json::value(*read(deployment()))));
    CHECK(verdict(server.ask("POST", path, deployment(), protobuf)) == "409 AlreadyExists");
    // A kind that differs from the path, an unknown kind, and a body that is not protobuf.
    CHECK(verdict(server.ask("POST", pods, deployment(), protobuf)) == "400 BadRequest");
    CHECK(verdict(server.ask("POST", path, envelope("a/v1", "Flower", ""), protobuf)) ==
          "415 UnsupportedMediaType");
    CHECK(verdict(server.ask("POST", path, "{}", protobuf)) == "415 UnsupportedMediaType");
    const std::string wrong_uid = field(2, field(1, "none"));
    CHECK(verdict(server.ask("DELETE", path + "/web", envelope("v1", "DeleteOptions", wrong_uid),
                             protobuf)) == "409 Conflict");
    CHECK(server.ask("DELETE", path + "/web", envelope("v1", "DeleteOptions", ""), protobuf).code ==
          200);
    CHECK(verdict(server.get(path + "/web")) == "404 NotFound");
}

TEST_CASE("protobuf that is cut off, or garbled, is refused") {
    const std::string body = deployment();
    for (std::size_t length = 0; length < body.size(); ++length) {
        asking server;
        const answer made = server.ask("POST", "/apis/apps/v1/namespaces/default/deployments",
                                       body.substr(0, length), protobuf);
        CHECK(made.code >= (length + 4 < body.size() ? 400 : 200));
        std::string garbled = body;
        garbled[length] = '\xff';
        CHECK(server.ask("POST", "/apis/apps/v1/namespaces/default/deployments", garbled, protobuf)
                  .code >= 200);
    }
    CHECK_FALSE(is_protobuf_kind(""));
    CHECK_FALSE(is_protobuf_kind(" 1!name"));
    CHECK_FALSE(is_protobuf_kind("Po"));
    CHECK(is_protobuf_kind("Pod"));
}

} // namespace api_server_protobuf_test
