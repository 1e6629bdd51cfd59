// SPDX-License-Identifier: Apache-2.0
#include <muster/serve/patches.hpp>
#include <muster/serve/strategic_patch.hpp>

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace api_server_patches_test {

using namespace muster::testing::api_server;

json::value parsed(std::string_view text) {
    const auto made = parse_json(text);
    REQUIRE(made);
    return *made;
}

TEST_CASE("a merge patch sets, replaces lists and removes by null") {
    json::value onto = parsed(R"({"a":{"b":1,"c":2},"l":[1,2]})");
    merge_patch(onto, parsed(R"({"a":{"b":null,"d":{"e":null,"f":3}},"l":[3]})"));
    CHECK(onto == parsed(R"({"a":{"c":2,"d":{"f":3}},"l":[3]})"));
}

TEST_CASE("a JSON patch makes its steps in order, or none can be taken") {
    json::value onto = parsed(R"({"a":[1,2],"x/y":0})");
    CHECK_FALSE(json_patch(onto, parsed(R"([{"op":"test","path":"/a/0","value":1},
        {"op":"add","path":"/a/-","value":3},{"op":"remove","path":"/a/0"},
        {"op":"replace","path":"/x~1y","value":5},{"op":"copy","from":"/a/0","path":"/b"},
        {"op":"move","from":"/b","path":"/c"}])")));
    CHECK(onto == parsed(R"({"a":[2,3],"x/y":5,"c":2})"));
    CHECK(json_patch(onto, parsed(R"([{"op":"remove","path":"/nowhere"}])")));
    CHECK(json_patch(onto, parsed(R"([{"op":"test","path":"/c","value":9}])")));
    CHECK(json_patch(onto, parsed(R"({"op":"add"})")));
}

TEST_CASE("a strategic merge patch tells the elements of lists apart by their keys") {
    json::value pod = parsed(R"({"spec":{"containers":[{"name":"a","image":"1",
        "env":[{"name":"x","value":"1"}],"ports":[{"containerPort":80}]},{"name":"b"}],
        "tolerations":[{"key":"k"}]},"metadata":{"finalizers":["f"]}})");
    strategic_merge_patch(pod, parsed(R"({"spec":{"containers":[{"name":"a","image":"2",
        "env":[{"name":"y","value":"2"}],"ports":[{"containerPort":81}]},
        {"name":"b","$patch":"delete"},{"name":"c"}],
        "$setElementOrder/containers":[{"name":"c"},{"name":"a"}],
        "tolerations":[{"key":"l"}]},"metadata":{"finalizers":["g"]}})"));
    CHECK(pod == parsed(R"({"spec":{"containers":[{"name":"c"},{"name":"a","image":"2",
        "env":[{"name":"y","value":"2"},{"name":"x","value":"1"}],
        "ports":[{"containerPort":81},{"containerPort":80}]}],
        "tolerations":[{"key":"l"}]},"metadata":{"finalizers":["f","g"]}})"));
}

TEST_CASE("elements that a patch does not name keep their place beside those that it names") {
    json::value onto = parsed(R"({"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]})");
    strategic_merge_patch(onto, parsed(R"({"containers":[{"name":"c","x":1},{"name":"d"}]})"));
    CHECK(onto == parsed(R"({"containers":[{"name":"a"},{"name":"b"},{"name":"c","x":1},
        {"name":"d"}]})"));
    strategic_merge_patch(onto, parsed(R"({"$setElementOrder/containers":[{"name":"d"},
        {"name":"b"}]})"));
    CHECK(onto == parsed(R"({"containers":[{"name":"a"},{"name":"c","x":1},{"name":"d"},
        {"name":"b"}]})"));
}

TEST_CASE("directives replace, keep and drop") {
    json::value onto = parsed(R"({"a":{"x":1,"y":2},"strategy":{"type":"R","rolling":{"n":1}},
        "metadata":{"finalizers":["f","g"]},"volumes":[{"name":"v","emptyDir":{}}]})");
    strategic_merge_patch(onto, parsed(R"({"a":{"$patch":"replace","z":3},
        "strategy":{"$retainKeys":["type"],"type":"S"},
        "metadata":{"$deleteFromPrimitiveList/finalizers":["f"]},
        "volumes":[{"name":"w"},{"$patch":"replace"}]})"));
    CHECK(onto == parsed(R"({"a":{"z":3},"strategy":{"type":"S"},
        "metadata":{"finalizers":["g"]},"volumes":[{"name":"w"}]})"));
}

} // namespace api_server_patches_test
