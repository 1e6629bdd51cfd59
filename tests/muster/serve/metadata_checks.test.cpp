// SPDX-License-Identifier: Apache-2.0
#include <muster/serve/metadata_checks.hpp>

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "asking.hpp"

namespace api_server_test {

namespace {

/// Creates a ConfigMap with this name and more metadata.
answer make_map(asking& server, const std::string& name, const std::string& more = {}) {
    return server.post("/api/v1/namespaces/default/configmaps",
                       R"({"metadata":{"name":")" + name + "\"" + more + "}}");
}

} // namespace

TEST_CASE("a name that is no DNS subdomain is refused") {
    asking server;
    for (const char* name : {"a", "a.b", "a-1.b-2"})
        CHECK(make_map(server, name).code == 201);
    for (const char* name : {"A", "a_b", "a..b", "a.-b", "a:b", "-a", "a.", "a b"}) {
        CAPTURE(name);
        CHECK(verdict(make_map(server, name)) == "422 Invalid");
    }
    const answer made = make_map(server, "a_b");
    CHECK(text_at(made.body, {"message"})
              .starts_with("ConfigMap \"a_b\" is invalid: metadata.name: "
                           "Invalid value: \"a_b\": a lowercase RFC "
                           "1123 subdomain must consist of"));
    CHECK(causes(make_map(server, std::string(254, 'a'))) ==
          "metadata.name: Invalid value: \"" + std::string(254, 'a') +
              "\": must be no more than 253 bytes\n");
    CHECK(causes(make_map(server, "")) ==
          "metadata.name: Required value: name or generateName is required\n");
}

TEST_CASE("the name of a namespace is a DNS label, and that of a role a segment of a path") {
    asking server;
    const auto make = [&](const std::string& collection, const std::string& name) {
        return server.post(collection, R"({"metadata":{"name":")" + name + "\"}}");
    };
    CHECK(make("/api/v1/namespaces", "team").code == 201);
    CHECK(causes(make("/api/v1/namespaces", "team.a")) ==
          "metadata.name: Invalid value: \"team.a\": must not contain dots\n");
    const std::string roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    CHECK(make(roles, "system:Node").code == 201);
    CHECK(causes(make(roles, "a/b")) ==
          "metadata.name: Invalid value: \"a/b\": may not contain '/'\n");
}

TEST_CASE("generateName is checked like a name that goes on") {
    asking server;
    const auto make = [&](const std::string& prefix) {
        return server.post("/api/v1/namespaces/default/configmaps",
                           R"({"metadata":{"generateName":")" + prefix + "\"}}");
    };
    CHECK(make("a-").code == 201);
    CHECK(causes(make("Ab-")).starts_with("metadata.generateName: Invalid value: \"Ab-\": a "));
}

TEST_CASE("keys and values of labels, and keys of annotations, follow Kubernetes' syntax") {
    asking server;
    CHECK(make_map(server, "a",
                   R"(,"labels":{"example.com/A_b.c":"V-1_x.y","b":"","c":null},)"
                   R"("annotations":{"Example.com/x":"any text"})")
              .code == 201);
    const auto refused_label = [&](const std::string& key, const std::string& value) {
        return causes(make_map(server, "b", R"(,"labels":{")" + key + R"(":")" + value + R"("})"));
    };
    CHECK(refused_label("b!", "") ==
          "metadata.labels: Invalid value: \"b!\": name part must consist of alphanumeric "
          "characters, '-', '_' or '.', and must start and end with an alphanumeric character "
          "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
          "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')\n");
    CHECK(refused_label("a", "b c") ==
          "metadata.labels: Invalid value: \"b c\": a valid label must be an empty string or "
          "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
          "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
          "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')\n");
    CHECK(refused_label("a", std::string(64, 'x')) == "metadata.labels: Invalid value: \"" +
                                                          std::string(64, 'x') +
                                                          "\": must be no more than 63 bytes\n");
    for (const char* key : {"", "/a", "a/", "a/b/c", "A.com/b", "-a"}) {
        CAPTURE(key);
        CHECK(refused_label(key, "x").starts_with("metadata.labels: Invalid value: "));
        CHECK(causes(make_map(server, "b", R"(,"annotations":{")" + std::string(key) + R"(":"x"})"))
                  .starts_with("metadata.annotations: Invalid value: ") ==
              (std::string_view(key) != "A.com/b"));
    }
    CHECK(causes(make_map(server, "c",
                          R"(,"annotations":{"a":")" + std::string(256 * 1024, 'x') + R"("})")) ==
          "metadata.annotations: Too long: may not be more than 262144 bytes\n");
}

TEST_CASE("changes are checked too") {
    asking server;
    REQUIRE(make_map(server, "a").code == 201);
    const std::string map = "/api/v1/namespaces/default/configmaps/a";
    CHECK(verdict(server.merge(map, R"({"metadata":{"labels":{"a b":"c"}}})")) == "422 Invalid");
    CHECK(server.merge(map, R"({"metadata":{"labels":{"a":"c"}}})").code == 200);
}

TEST_CASE("labels that are no map of texts cannot be decoded") {
    asking server;
    const answer made = make_map(server, "a", R"(,"labels":{"a":1})");
    CHECK(verdict(made) == "400 BadRequest");
    CHECK(text_at(made.body, {"message"}) ==
          "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal "
          "number into Go struct field ObjectMeta.metadata.labels of type string");
    CHECK(verdict(make_map(server, "a", R"(,"annotations":[])")) == "400 BadRequest");
    CHECK(make_map(server, "a", R"(,"labels":null)").code == 201);
}

} // namespace api_server_test
