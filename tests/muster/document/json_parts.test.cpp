// SPDX-License-Identifier: Apache-2.0
#include <muster/document/json_parts.hpp>

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace json_parts_test {

using muster::codec::detail::each_json_part;

namespace {

std::string parts(std::string_view text) {
    std::string made;
    const bool whole = each_json_part(text, [&](std::string_view key, std::string_view value) {
        made += std::string(key) + "=" + std::string(value) + ";";
    });
    return made + (whole ? "" : "broken");
}

} // namespace

TEST_CASE("an object is split into its members, and a list into its elements") {
    CHECK(parts(R"( {"a": 1, "b" :{"c":[2]},"d":"x,}\"]"} )") ==
          R"("a"=1;"b"={"c":[2]};"d"="x,}\"]";)");
    CHECK(parts("[1,[2,3] , {\"a\":4}]") == "=1;=[2,3];={\"a\":4};");
    CHECK(parts("{}").empty());
    CHECK(parts("[ ]").empty());
}

TEST_CASE("splitting ignores the depth of a value and errors in it") {
    const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
    CHECK(parts("[" + deep + ",2]") == "=" + deep + ";=2;");
    CHECK(parts(R"({"a":nope,"b":"\ud800","c":1e999})") == R"("a"=nope;"b"="\ud800";"c"=1e999;)");
}

TEST_CASE("splitting fails for a text that ends early or is neither object nor list") {
    for (const std::string text :
         {"", "7", "\"a\"", "{\"a\"", "{\"a\":", "{\"a\":}", "[1", "[1,", "[1,,2]", "{a:1}", "[\"a",
          "[[1]", "{\"a\":1]", "[}", "[1 2]", "[\"\\"}) {
        CAPTURE(text);
        CHECK(parts(text).ends_with("broken"));
    }
    CHECK(parts("[1,{\"a\":") == "=1;broken");
}

} // namespace json_parts_test
