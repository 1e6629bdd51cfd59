// SPDX-License-Identifier: Apache-2.0
#include <muster/document/json_reader.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

namespace codec_json_reader_test {

using namespace muster::codec;

namespace {

std::vector<document> read(std::string text, diagnostics& out) {
    return read_json(std::make_shared<const source_text>("f.json", std::move(text)), out);
}

/// What is said about a text that holds no sound document at its end.
std::string refusal(std::string text) {
    diagnostics out;
    static_cast<void>(read(std::move(text), out));
    return out.findings().empty() ? "" : to_text(out.findings().back());
}

} // namespace

TEST_CASE("one value, several values and lines of values are documents") {
    diagnostics out;
    CHECK(read("{\"a\": 1}", out).size() == 1);
    CHECK(read("{\"a\":1}\n{\"a\":2}\n\n{\"a\":3}\n", out).size() == 3);
    CHECK(read("{}{}[1] 2 3", out).size() == 5);
    CHECK(read("", out).empty());
    CHECK(read(" \n\t", out).empty());
    CHECK(read("\xEF\xBB\xBF{\"a\":1}", out).size() == 1);
    CHECK(out.ok());
    const auto documents = read("{\"a\":[1,-2.5,\"x\",null,true,18446744073709551615]}", out);
    CHECK(boost::json::serialize(documents.at(0).root()) ==
          "{\"a\":[1,-2.5E0,\"x\",null,true,18446744073709551615]}");
}

TEST_CASE("a duplicate key is an error at its second place") {
    CHECK(refusal("{\"a\": {\"b\": 1,\n  \"c\": 2,\n  \"b\": 3}}") ==
          "f.json:3:3: a.b: duplicate key (expected each key once)");
    CHECK(refusal("[{\"a\":1,\"\\u0061\":2}]") ==
          "f.json:1:9: [0].a: duplicate key (expected each key once)");
    CHECK(refusal("{\"x\":{\"a\":1},\"y\":{\"a\":1}}").empty());
}

TEST_CASE("a duplicate key among many is found too") {
    std::string text = "{";
    for (int i = 0; i < 1000; ++i)
        text += "\"key" + std::to_string(i) + "\":0,";
    CHECK(refusal(text + "\"other\":0}").empty());
    CHECK(refusal(text + "\"key500\":0}").find("key500: duplicate key") != std::string::npos);
}

TEST_CASE("a document with a duplicate key is left out, the others are read") {
    diagnostics out;
    const auto documents = read("{\"a\":1}\n{\"b\":1,\"b\":2}\n{\"c\":1}", out);
    REQUIRE(documents.size() == 2);
    CHECK(documents[1].root().get_object().contains("c"));
    CHECK(out.errors() == 1);
}

TEST_CASE("a syntax error says where it is and what was expected") {
    CHECK(refusal("{\"a\": 1,\n \"b\" 2}") == "f.json:2:6: b: \"2\", expected ':'");
    CHECK(refusal("{\"a\": [1 2]}") == "f.json:1:10: a: \"2\", expected ',' or ']'");
    CHECK(refusal("{\"a\": }") == "f.json:1:7: a: \"}\", expected a value");
    CHECK(refusal("{\"a\": 1,}") == "f.json:1:9: \"}\", expected a key in double quotes");
    CHECK(refusal("{\"a\": 1") == "f.json:1:8: a: the text ends, expected ',' or '}'");
    CHECK(refusal("{\"a\": \"x") == "f.json:1:7: a: the string has no end, expected a closing \"");
    CHECK(refusal("{\"a\": 1} x") == "f.json:1:10: \"x\", expected a value");
    CHECK(refusal("{'a': 1}") == "f.json:1:2: \"'\", expected a key in double quotes");
    CHECK(refusal("{\"a\": NaN}") == "f.json:1:7: a: \"N\", expected a value");
}

TEST_CASE("an item of a list that is nested too deeply is an error that names the item") {
    CHECK(refusal("{\"kind\": \"List\", \"items\": [{}, {\"spec\": {\"more\": " +
                  std::string(70, '[') + std::string(70, ']') + "}}]}")
              .find(": items[1].spec.more[0]") != std::string::npos);
}

TEST_CASE("hostile JSON is answered by an error") {
    CHECK(refusal(std::string(1'000'000, '[')) == "f.json:1:65: " + [] {
        std::string path;
        for (int i = 0; i < 64; ++i)
            path += "[0]";
        return path;
    }() + ": nested too deeply (expected at most 64 levels)");
    CHECK(refusal(std::string(64, '[') + std::string(64, ']')).empty());
    CHECK_FALSE(refusal("\"a\xFF\"").empty());
    CHECK_FALSE(refusal(std::string("{\"a\":\0 1}", 9)).empty());
    CHECK_FALSE(refusal("\"\\ud800\"").empty());
    CHECK_FALSE(refusal("01x").empty());
    CHECK(refusal("[1e999]").find("out of range") != std::string::npos);
    CHECK(refusal('"' + std::string((4U << 20U) + 1, 'x') + '"').find("too long") !=
          std::string::npos);
    CHECK(refusal("{\"" + std::string((4U << 20U) + 1, 'x') + "\":1}").find("too long") !=
          std::string::npos);
}

TEST_CASE("each proper prefix of an object is an error, never a crash") {
    const std::string text = R"({"a":[1,-2.5e3,"x\u00e9\n",null,true],"b":{"c":false}})";
    for (std::size_t length = 1; length < text.size(); ++length) {
        diagnostics out;
        CHECK(read(text.substr(0, length), out).empty());
        CHECK(out.errors() == 1);
    }
}

TEST_CASE("values and keys are located in the text") {
    diagnostics out;
    const auto documents =
        read("{\"x\":0}\n{\n  \"a\": [10, {\"b\": \"c\"}],\n  \"d\" : 1e30\n}", out);
    REQUIRE(documents.size() == 2);
    const document& second = documents[1];
    const path_step b[] = {"a", std::size_t{1}, "b"};
    const path_step d[] = {"d"};
    const path_step missing[] = {"a", std::size_t{7}, "x"};
    CHECK(second.locate() == location{"f.json", 2, 1});
    CHECK(second.locate(b) == location{"f.json", 3, 19});
    CHECK(second.locate(b, place::key) == location{"f.json", 3, 14});
    CHECK(second.locate(d) == location{"f.json", 4, 9});
    CHECK(second.locate(missing) == location{"f.json", 3, 8});
    CHECK(second.locate(missing, place::key) == location{"f.json", 3, 8});
}

TEST_CASE("the text of a scalar stays available exactly") {
    diagnostics out;
    const auto documents =
        read("[1e30, 1.50,12345678901234567890123 ,\"a\\n\\u0041\",true,{}]", out);
    REQUIRE(documents.size() == 1);
    const auto raw = [&](std::size_t index) {
        const path_step path[] = {index};
        return documents[0].raw_scalar(path);
    };
    CHECK(raw(0) == "1e30");
    CHECK(raw(1) == "1.50");
    CHECK(raw(2) == "12345678901234567890123");
    CHECK(raw(3) == "a\nA");
    CHECK(raw(4) == "true");
    CHECK(raw(5).empty());
    CHECK(raw(6).empty());
}

TEST_CASE("a document outlives its siblings and may be moved") {
    diagnostics out;
    auto documents = read("{\"a\":{\"b\":1}}\n{\"c\":2}", out);
    document kept = std::move(documents.at(0));
    documents.clear();
    const path_step b[] = {"a", "b"};
    CHECK(kept.raw_scalar(b) == "1");
    CHECK(kept.text() == "{\"a\":{\"b\":1}}\n");
}

} // namespace codec_json_reader_test
