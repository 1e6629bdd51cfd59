// SPDX-License-Identifier: Apache-2.0
#include <muster/serve/apply_patch.hpp>

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "asking.hpp"

namespace api_server_apply_test {

using namespace api_server_test;

namespace {

const std::string maps = "/api/v1/namespaces/default/configmaps";

answer apply(asking& server, const std::string& path, const std::string& manager, std::string body,
             const std::string& more = {}) {
    return server.ask("PATCH", path + "?fieldManager=" + manager + more, std::move(body),
                      "application/apply-patch+yaml");
}

std::string map(const std::string& data) {
    return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":)" + data + "}";
}

json::value parsed(std::string_view text) {
    const auto made = parse_json(text);
    REQUIRE(made);
    return *made;
}

} // namespace

TEST_CASE("an apply patch creates a missing object") {
    asking server;
    const answer made = apply(server, maps + "/m", "a", map(R"({"x":"1"})"));
    CHECK(made.code == 201);
    CHECK(text_at(made.body, {"data", "x"}) == "1");
    CHECK(!text_at(made.body, {"metadata", "uid"}).empty());
    CHECK(verdict(apply(server, maps + "/other", "a", map("{}"))) == "400 BadRequest");
    CHECK(verdict(apply(server, maps + "/m", "", map("{}"))) == "422 Invalid");
    CHECK(verdict(apply(server, maps + "/m", "a", "x: 1")) == "400 BadRequest");
    CHECK(verdict(apply(server, pods + "/p/status", "a",
                        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}})")) ==
          "404 NotFound");
    CHECK(verdict(apply(server, maps + "/n", "a", R"({"metadata":{"name":"n"},"data":{}})",
                        "&dryRun=All")) == "201 ");
    CHECK(verdict(server.get(maps + "/n")) == "404 NotFound");
}

TEST_CASE("an apply patch removes fields that its manager applied before and now omits") {
    asking server;
    REQUIRE(apply(server, maps + "/m", "a", map(R"({"x":"1","y":"2"})")).code == 201);
    REQUIRE(apply(server, maps + "/m", "b", map(R"({"y":"2","z":"3"})")).code == 200);
    REQUIRE(server.merge(maps + "/m", R"({"data":{"w":"0"}})").code == 200);
    CHECK(apply(server, maps + "/m", "a", map(R"({"v":"4"})")).code == 200);
    CHECK(server.get(maps + "/m").body.at("data") ==
          parsed(R"({"w":"0","y":"2","z":"3","v":"4"})"));
}

TEST_CASE("an apply patch that changes nothing leaves the object as it is") {
    asking server;
    REQUIRE(apply(server, maps + "/m", "a", map(R"({"x":"1"})")).code == 201);
    REQUIRE(apply(server, maps + "/m", "b", map(R"({"y":"2"})")).code == 200);
    const answer before = server.get(maps + "/m");
    server.pass(60);
    CHECK(apply(server, maps + "/m", "a", map(R"({"x":"1"})")).body == before.body);
    CHECK(server.get(maps + "/m").body == before.body);
}

TEST_CASE("two managers that apply different values are in conflict, unless one forces its own") {
    asking server;
    REQUIRE(apply(server, maps + "/m", "a", map(R"({"x":"1","y":"1"})")).code == 201);
    const answer refusal = apply(server, maps + "/m", "b", map(R"({"x":"2"})"));
    CHECK(verdict(refusal) == "409 Conflict");
    CHECK(text_at(refusal.body, {"message"}) ==
          "Apply failed with 1 conflict: conflict with \"a\": .data.x");
    CHECK(server.field(maps + "/m", {"data", "x"}) == "1");
    CHECK(text_at(apply(server, maps + "/m", "b", map(R"({"x":"2","y":"2"})")).body, {"message"}) ==
          "Apply failed with 2 conflicts: conflicts with \"a\":\n- .data.x\n- .data.y");
    // The same value has two owners.
    CHECK(apply(server, maps + "/m", "b", map(R"({"y":"1"})")).code == 200);
    CHECK(apply(server, maps + "/m", "b", map(R"({"x":"2","y":"1"})"), "&force=true").code == 200);
    CHECK(server.field(maps + "/m", {"data", "x"}) == "2");
    CHECK(verdict(apply(server, maps + "/m", "a", map(R"({"x":"1","y":"1"})"))) == "409 Conflict");
    CHECK(apply(server, maps + "/m", "a", map(R"({"y":"1"})")).code == 200);
    CHECK(server.field(maps + "/m", {"data", "x"}) == "2");
    // A manager that has lost its last field is no longer listed.
    CHECK(apply(server, maps + "/m", "c", map(R"({"x":"3","y":"3"})"), "&force=true").code == 200);
    CHECK(array_at(server.get(maps + "/m").body, {"metadata", "managedFields"})->size() == 1);
}

TEST_CASE("applied lists of named elements have an owner for each element") {
    asking server;
    const auto deployment = [](const std::string& containers, const std::string& more = {}) {
        return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{)" +
               more + R"("template":{"spec":{"containers":)" + containers + "}}}}";
    };
    const std::string path = "/apis/apps/v1/namespaces/default/deployments/d";
    REQUIRE(apply(server, path, "a",
                  deployment(R"([{"name":"c","image":"1"},{"name":"d","image":"1"}])",
                             R"("replicas":2,)"))
                .code == 201);
    REQUIRE(apply(server, path, "b", deployment(R"([{"name":"e","image":"2"}])")).code == 200);
    const answer refusal = apply(server, path, "b", deployment(R"([{"name":"c","image":"2"}])"));
    CHECK(text_at(refusal.body, {"message"}) ==
          R"(Apply failed with 1 conflict: conflict with "a": )"
          R"(.spec.template.spec.containers[name="c"].image)");
    CHECK(apply(server, path, "a", deployment(R"([{"name":"c","image":"3"}])")).code == 200);
    // The element `d` was removed with its only owner, and so was `replicas`.
    CHECK(*value_at(server.get(path).body, {"spec"}) ==
          parsed(R"({"template":{"spec":{"containers":[{"name":"e","image":"2"},
              {"name":"c","image":"3"}]}}})"));
}

TEST_CASE("only apply patches write managedFields") {
    asking server;
    REQUIRE(apply(server, maps + "/m", "a", map(R"({"x":"1"})")).code == 201);
    json::object found = server.get(maps + "/m").body;
    const json::value owners = *value_at(found, {"metadata", "managedFields"});
    CHECK(owners == parsed(R"([{"manager":"a","operation":"Apply","apiVersion":"v1",
        "time":"2023-11-14T22:13:20Z","fieldsType":"FieldsV1",
        "fieldsV1":{"f:data":{"f:x":{}}}}])"));
    make_object(found, "metadata").erase("managedFields");
    CHECK(server.ask("PUT", maps + "/m", json::serialize(found)).code == 200);
    CHECK(*value_at(server.get(maps + "/m").body, {"metadata", "managedFields"}) == owners);
    CHECK(verdict(apply(server, maps + "/m", "a",
                        R"({"metadata":{"name":"m","managedFields":[{}]}})")) == "400 BadRequest");
    CHECK(server.post(maps, R"({"metadata":{"name":"n","managedFields":[{}]}})").code == 201);
    CHECK(value_at(server.get(maps + "/n").body, {"metadata", "managedFields"}) == nullptr);
}

} // namespace api_server_apply_test
