// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include <muster/document/selector_text.hpp>

namespace codec_selector_text_test {

using namespace muster;

namespace {

const label_set labels{{"app", "web"}, {"a.io/step", "3"}, {"empty", ""}};

bool takes(const char* text) {
    const codec::read_selector read = codec::parse_label_selector(text);
    CHECK(read.fault == "");
    return read.selector.matches(labels);
}

std::string fault(const char* text) {
    return codec::parse_label_selector(text).fault;
}

} // namespace

TEST_CASE("requirements are read as kubectl reads them, and all must hold") {
    CHECK(takes("app=web"));
    CHECK(takes("app==web, a.io/step = 3"));
    CHECK_FALSE(takes("app=web,a.io/step=4"));
    CHECK(takes("empty="));
    CHECK_FALSE(takes("app="));
    CHECK(takes("app,!gone"));
    CHECK_FALSE(takes("!app"));
    CHECK(takes("a.io/step>2,a.io/step<4"));
    CHECK_FALSE(takes("a.io/step>3"));
    CHECK(takes("app in (api, web)"));
    CHECK_FALSE(takes("app notin (api,web)"));
    CHECK(takes("empty in (,x)"));
}

TEST_CASE("what a label that is not there says: other than any value, and none of them") {
    CHECK(takes("gone!=x"));
    CHECK(takes("gone notin (x)"));
    CHECK_FALSE(takes("gone=x"));
    CHECK_FALSE(takes("gone in (x)"));
    CHECK_FALSE(takes("gone>0"));
}

TEST_CASE("what is wrong is said") {
    CHECK(fault("") == "a label is missing at the end");
    CHECK(fault("app=web,") == "a label is missing at the end");
    CHECK(fault("=web") == "a label is missing before \"=web\"");
    CHECK(fault("app of (x)") == "\"of\" is no operator (expected =, !=, in or notin)");
    CHECK(fault("app in x") == "the values of in and notin stand in ( )");
    CHECK(fault("app in (x") == "a ) is missing");
    CHECK(fault("step>x") == "\"x\" is no number");
    CHECK(fault("app=web;x") == "ends before \";x\" (expected a comma)");
}

} // namespace codec_selector_text_test
