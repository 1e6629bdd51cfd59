// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <doctest/doctest.h>

#include "asking.hpp"

namespace api_server_test {

const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const std::string groups = "/apis/example.dev/v1/namespaces/default/groups";

void define_groups(asking& server) {
    REQUIRE(server
                .post(definitions, R"({"metadata":{"name":"groups.example.dev"},"spec":{
        "group":"example.dev","scope":"Namespaced",
        "names":{"kind":"Group","plural":"groups","shortNames":["gr"]},
        "versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
          "additionalPrinterColumns":[
            {"name":"Min","type":"integer","jsonPath":".spec.minMember"},
            {"name":"Ready","type":"string","jsonPath":".status.conditions[?(@.type==\"Ready\")].status"}],
          "schema":{"openAPIV3Schema":{"type":"object","required":["spec"],"properties":{
            "spec":{"type":"object","required":["queue"],"properties":{
              "minMember":{"type":"integer","minimum":0,"default":1},
              "queue":{"type":"string"},
              "mode":{"type":"string","enum":["A","B"]},
              "roles":{"type":"array","items":{"type":"object","properties":{
                "name":{"type":"string"},"count":{"type":"integer","default":2}}}}}},
            "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}})")
                .code == 201);
}

TEST_CASE("a custom kind is served once it is defined, with defaults, types and pruning") {
    asking server;
    define_groups(server);
    const answer made = server.post(
        groups, R"({"metadata":{"name":"a"},"spec":{"queue":"q","roles":[{"name":"r"}],"odd":1},
                    "status":{"x":1}})");
    REQUIRE(made.code == 201);
    CHECK(integer_at(made.body, {"spec", "minMember"}) == 1);
    CHECK(integer_at(array_at(made.body, {"spec", "roles"})->at(0).as_object(), {"count"}) == 2);
    CHECK_FALSE(value_at(made.body, {"spec", "odd"}));
    CHECK_FALSE(value_at(made.body, {"status"}));
    const auto tried = [&](const std::string& spec, const std::string& query = "") {
        return verdict(
            server.post(groups + query, R"({"metadata":{"name":"b"},"spec":)" + spec + "}"));
    };
    CHECK(tried(R"({"queue":7})") == "422 Invalid");
    CHECK(tried(R"({"queue":"q","minMember":-1})") == "422 Invalid");
    CHECK(tried(R"({"queue":"q","minMember":"1"})") == "422 Invalid");
    CHECK(tried(R"({"queue":"q","mode":"C"})") == "422 Invalid");
    CHECK(tried("{}") == "422 Invalid");
    CHECK(tried(R"({"queue":"q","odd":1})", "?fieldValidation=Strict") == "400 BadRequest");
}

TEST_CASE("the generation of a custom object counts changes of its spec") {
    asking server;
    define_groups(server);
    REQUIRE(server.post(groups, R"({"metadata":{"name":"a"},"spec":{"queue":"q"}})").code == 201);
    const auto generation = [](const answer& of) {
        return integer_at(of.body, {"metadata", "generation"});
    };
    CHECK(generation(server.merge(groups + "/a", R"({"metadata":{"labels":{"x":"y"}}})")) == 1);
    CHECK(generation(server.merge(groups + "/a", R"({"spec":{"minMember":3}})")) == 2);
    CHECK(generation(server.merge(groups + "/a/status", R"({"status":{"x":1}})")) == 2);
    CHECK(verdict(server.strategic(groups + "/a", "{}")) == "415 UnsupportedMediaType");
}

TEST_CASE("a custom kind has the columns that it declares") {
    asking server;
    define_groups(server);
    REQUIRE(server.post(groups, R"({"metadata":{"name":"a"},"spec":{"queue":"q"}})").code == 201);
    REQUIRE(server
                .merge(groups + "/a/status",
                       R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})")
                .code == 200);
    const answer made =
        server.ask("GET", groups, "", "", "application/json;as=Table;v=v1;g=meta.k8s.io");
    const json::array expected{"a", 1, "False"};
    CHECK(*array_at(array_at(made.body, {"rows"})->at(0).as_object(), {"cells"}) == expected);
}

TEST_CASE("discovery names what is served, and no more once its definition is gone") {
    asking server;
    define_groups(server);
    CHECK(server.get("/apis/example.dev").code == 200);
    const answer list = server.get("/apis/example.dev/v1");
    const json::array& resources = *array_at(list.body, {"resources"});
    REQUIRE(resources.size() == 2);
    CHECK(text_at(resources[1].as_object(), {"name"}) == "groups/status");
    CHECK(json::serialize(server.get("/openapi/v3/apis/example.dev/v1").body)
              .find("fieldValidation") != std::string::npos);
    REQUIRE(server.remove(definitions + "/groups.example.dev").code == 200);
    CHECK(server.get(groups).code == 404);
    CHECK(server.get("/apis/example.dev/v1").code == 404);
}

TEST_CASE("kubectl explain says that the fields of Kubernetes' own kinds are not documented") {
    asking server;
    const answer made = server.get("/openapi/v3/api/v1");
    CHECK(text_at(made.body, {"components", "schemas", "core.v1.Pod", "description"}) ==
          "This server does not document the fields of Pod.");
    // Properties without merge keys would change what kubectl apply does.
    CHECK_FALSE(value_at(made.body, {"components", "schemas", "core.v1.Pod", "properties"}));
}

TEST_CASE(
    "the OpenAPI v2 document names no kind, so that kubectl leaves the items of a List to the "
    "server") {
    asking server;
    const answer made = server.get("/openapi/v2");
    CHECK(made.code == 200);
    CHECK(made.text == "\n\x03"
                       "2.0");
    CHECK(made.type_of_text.find("openapi.spec.v2.v1.0+protobuf") != std::string_view::npos);
}

} // namespace api_server_test
