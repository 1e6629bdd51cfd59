// SPDX-License-Identifier: Apache-2.0
#include <muster/devices/text_pattern.hpp>

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace text_pattern_test {

using muster::cel::text_pattern;

namespace {

bool matches(std::string_view text, std::string_view pattern) {
    const auto compiled = text_pattern::compile(pattern);
    REQUIRE(compiled);
    return compiled->matches(text);
}

} // namespace

TEST_CASE("a pattern matches any part of a text unless it is anchored") {
    CHECK(matches("xabcx", "abc"));
    CHECK(matches("", ""));
    CHECK_FALSE(matches("xabc", "^abc"));
    CHECK_FALSE(matches("abcx", "abc$"));
    CHECK_FALSE(matches("a\nb", "^b"));
    CHECK(matches("a b", "\\bb\\b"));
    CHECK_FALSE(matches("ab", "\\bb"));
}

TEST_CASE("repetitions, groups and alternatives") {
    CHECK(matches("aab", "^(a|b){3}$"));
    CHECK_FALSE(matches("aab", "^(a|b){4,}$"));
    CHECK(matches("", "^(?:ab)*$"));
    CHECK_FALSE(matches("aba", "^(ab)+$"));
    CHECK_FALSE(matches("a", "^a{0}$"));
    CHECK(matches("b", "(a*)*b"));
    CHECK(matches("a{1", "^a{1$"));
}

TEST_CASE("classes and code points beyond ASCII") {
    CHECK(matches("\xC3\xA9", "^.$"));
    CHECK(matches("\xC3\xA9", "^[\xC3\xA0-\xC3\xBC]$"));
    CHECK_FALSE(matches("\n", "."));
    CHECK(matches("\n", "[^a]"));
    CHECK(matches("]", "[]]"));
    CHECK(matches("-", "[a-]"));
    CHECK_FALSE(matches("1", "\\D"));
    CHECK(matches("\xFF", "\xEF\xBF\xBD"));
}

TEST_CASE("what is not in the subset is refused with the piece") {
    for (const char* pattern :
         {"(", ")", "[", "[a", "*", "a**", "a|{2}", "a{2,1}", "a{1001}", "[b-a]", "\\", "\\q",
          "\\p{L}", "\\x41", "(?i)a", "(?P<n>a)", "[[:alpha:]]", "(a{1000}){1000}"}) {
        CAPTURE(pattern);
        const auto compiled = text_pattern::compile(pattern);
        REQUIRE_FALSE(compiled);
        CHECK(compiled.error().starts_with("not supported in a pattern: "));
    }
}

TEST_CASE("deep groups and long patterns end") {
    CHECK_FALSE(text_pattern::compile(std::string(5000, '(')));
    CHECK_FALSE(text_pattern::compile(std::string(text_pattern::max_size + 1, 'a')));
    // Each group copies its inner group again.
    std::string nested = "a";
    for (int depth = 0; depth < 40; ++depth)
        nested = "(" + nested + "){9}";
    CHECK_FALSE(text_pattern::compile(nested));
}

} // namespace text_pattern_test
