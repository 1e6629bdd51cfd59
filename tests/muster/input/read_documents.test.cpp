// SPDX-License-Identifier: Apache-2.0
#include <muster/input/read_documents.hpp>

#include <string>

#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

namespace codec_read_documents_test {

using namespace muster::codec;

namespace {

std::string outcome(std::string text, input_format format = input_format::automatic) {
    diagnostics out;
    const auto documents = read_documents("f", std::move(text), out, format);
    std::string lines;
    for (const diagnostic& finding : out.findings())
        lines += to_text(finding) + '\n';
    for (const document& one : documents)
        lines += boost::json::serialize(one.root()) + '\n';
    return lines;
}

} // namespace

TEST_CASE("the format is found by looking") {
    CHECK(outcome("\n {\"a\": 1}") == "{\"a\":1}\n");
    CHECK(outcome("a: 1\n") == "{\"a\":1}\n");
    CHECK(outcome("{a: 1, b: [yes]}\n") == "{\"a\":1,\"b\":[true]}\n");
    CHECK(outcome("{\"a\": 1}\n---\n{\"b\": 2}\n") == "{\"a\":1}\n{\"b\":2}\n");
    CHECK(outcome("") == "");
}

TEST_CASE("what is neither JSON nor YAML is reported as JSON") {
    CHECK(outcome("{\"a\": 1,\n \"b\" [}") == "f:2:6: b: \"[\", expected ':'\n");
}

TEST_CASE("a duplicate key is no reason to take JSON for YAML") {
    CHECK(outcome("{\"a\":1,\"a\":2}") == "f:1:8: a: duplicate key (expected each key once)\n");
}

TEST_CASE("a format that is named is not guessed") {
    CHECK(outcome("a: 1\n", input_format::json) == "f:1:1: \"a\", expected a value\n");
    CHECK(outcome("{\"a\": 010}", input_format::yaml) == "{\"a\":8}\n");
}

} // namespace codec_read_documents_test
