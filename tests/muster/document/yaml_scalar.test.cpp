// SPDX-License-Identifier: Apache-2.0
#include <muster/document/yaml_scalar.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace codec_yaml_scalar_test {

using namespace muster::codec;

namespace {

/// The kind and the value of a plain scalar, written out.
std::string plain(std::string_view text, yaml_tag tag = yaml_tag::none) {
    const auto resolved = resolve_scalar(text, tag);
    if (!resolved)
        return "error";
    const yaml_scalar& value = *resolved;
    if (const auto* words = std::get_if<std::string_view>(&value))
        return "string " + std::string(*words);
    if (const auto* truth = std::get_if<bool>(&value))
        return *truth ? "true" : "false";
    if (const auto* number = std::get_if<std::int64_t>(&value))
        return "int " + std::to_string(*number);
    if (const auto* large = std::get_if<std::uint64_t>(&value))
        return "uint " + std::to_string(*large);
    if (const auto* real = std::get_if<double>(&value))
        return "double " + std::to_string(*real);
    return "null";
}

} // namespace

TEST_CASE("plain scalars resolve as kubectl resolves them") {
    for (const char* text : {"", "~", "null", "Null", "NULL"})
        CHECK(plain(text) == "null");
    for (const char* text :
         {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"})
        CHECK(plain(text) == "true");
    for (const char* text :
         {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n", "N"})
        CHECK(plain(text) == "false");
    for (const char* text : {"nULL",       "tRUE",
                             "yES",        "nothing",
                             "yeah",       "4Gi",
                             "500m",       "1.2.3",
                             "-",          "+",
                             ".",          "..",
                             "0x",         "0xg",
                             "1e",         "e1",
                             "_1",         "--1",
                             "+-1",        "1:30",
                             "2023-12-17", "2023-12-17T13:48:16Z",
                             "<<",         "a b",
                             "0o9",        "._5"})
        CHECK(plain(text) == "string " + std::string(text));

    CHECK(plain("0") == "int 0");
    CHECK(plain("-0") == "int 0");
    CHECK(plain("42") == "int 42");
    CHECK(plain("+42") == "int 42");
    CHECK(plain("-42") == "int -42");
    CHECK(plain("1_000") == "int 1000");
    CHECK(plain("010") == "int 8");
    CHECK(plain("0o17") == "int 15");
    CHECK(plain("0x1F") == "int 31");
    CHECK(plain("-0xff") == "int -255");
    CHECK(plain("0b101") == "int 5");
    CHECK(plain("9223372036854775807") == "int 9223372036854775807");
    CHECK(plain("-9223372036854775808") == "int -9223372036854775808");
    CHECK(plain("9223372036854775808") == "uint 9223372036854775808");
    CHECK(plain("18446744073709551615") == "uint 18446744073709551615");

    CHECK(plain("08") == "double 8.000000");
    CHECK(plain("1.50") == "double 1.500000");
    CHECK(plain("-.5") == "double -0.500000");
    CHECK(plain("5.") == "double 5.000000");
    CHECK(plain("1e3") == "double 1000.000000");
    CHECK(plain("1E-2") == "double 0.010000");
    CHECK(plain("18446744073709551616") == "double 18446744073709551616.000000");
    CHECK(plain("-9223372036854775809") == "double -9223372036854775808.000000");
    CHECK(plain("1e-999") == "double 0.000000");

    // Beyond a double it is no number.
    CHECK(plain("1e999") == "string 1e999");

    for (const char* text : {".inf", "-.Inf", "+.INF", ".nan", ".NaN"})
        CHECK(plain(text) == "error");
}

TEST_CASE("a tag decides, and a text that does not suit it is an error") {
    CHECK(plain("4", yaml_tag::text) == "string 4");
    CHECK(plain("", yaml_tag::text) == "string ");
    CHECK(plain("4", yaml_tag::integer) == "int 4");
    CHECK(plain("4.5", yaml_tag::integer) == "error");
    CHECK(plain("4", yaml_tag::real) == "double 4.000000");
    CHECK(plain("four", yaml_tag::real) == "error");
    CHECK(plain("yes", yaml_tag::boolean) == "true");
    CHECK(plain("1", yaml_tag::boolean) == "error");
    CHECK(plain("", yaml_tag::null) == "null");
    CHECK(plain("x", yaml_tag::null) == "error");
    CHECK(plain("2023-12-17", yaml_tag::time) == "string 2023-12-17");
}

TEST_CASE("keys become strings as kubectl makes them") {
    const auto key = [](std::string_view text, yaml_tag tag = yaml_tag::none) {
        const auto made = key_text(text, tag);
        return made ? *made : "error: " + made.error();
    };
    CHECK(key("name") == "name");
    CHECK(key("1") == "1");
    CHECK(key("010") == "8");
    CHECK(key("yes") == "true");
    CHECK(key("1.50") == "1.5");
    CHECK(key("1e6") == "1e+06");
    CHECK(key("010", yaml_tag::text) == "010");
    CHECK(key("~") == "error: \"~\" cannot be a key (expected a string; quote it)");
}

} // namespace codec_yaml_scalar_test
