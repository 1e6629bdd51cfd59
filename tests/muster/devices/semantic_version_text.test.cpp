// SPDX-License-Identifier: Apache-2.0
#include <muster/devices/semantic_version_text.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace semantic_version_text_test {

using namespace muster;

TEST_CASE("a version has three numbers without leading zeros, a prerelease and build metadata") {
    const auto version = parse_semantic_version("1.20.300-rc.1-x.0a+build.01-y");
    REQUIRE(version);
    CHECK(version->major == 1);
    CHECK(version->minor == 20);
    CHECK(version->patch == 300);
    CHECK(version->prerelease == std::vector<std::string>{"rc", "1-x", "0a"});
    CHECK(version->build == "build.01-y");
    CHECK(parse_semantic_version("18446744073709551615.0.0"));
    for (const char* text : {"",
                             "1",
                             "1.2",
                             "1.2.3.4",
                             "01.2.3",
                             "1.02.3",
                             "1.2.03",
                             "v1.2.3",
                             " 1.2.3",
                             "1.2.3 ",
                             "1.2.3-",
                             "1.2.3-a..b",
                             "1.2.3-01",
                             "1.2.3-a_b",
                             "1.2.3+",
                             "1.2.3+a..b",
                             "1.2.3+a+b",
                             "-1.2.3",
                             "1..3",
                             "18446744073709551616.0.0",
                             "1.0.0-18446744073709551616"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_semantic_version(text));
    }
}

TEST_CASE("versions are ordered by precedence, and build metadata does not count") {
    // From semver.org, section 11.
    const std::vector<std::string> ascending = {"1.0.0-1",     "1.0.0-2",       "1.0.0-10",
                                                "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta",
                                                "1.0.0-beta",  "1.0.0-beta.2",  "1.0.0-beta.11",
                                                "1.0.0-rc.1",  "1.0.0",         "1.0.1",
                                                "1.1.0",       "2.0.0",         "10.0.0"};
    for (std::size_t left = 0; left < ascending.size(); ++left)
        for (std::size_t right = 0; right < ascending.size(); ++right) {
            CAPTURE(ascending[left]);
            CAPTURE(ascending[right]);
            const auto order = compare_versions(*parse_semantic_version(ascending[left] + "+b"),
                                                *parse_semantic_version(ascending[right]));
            CHECK((order < 0) == (left < right));
            CHECK((order == 0) == (left == right));
        }
}

TEST_CASE("the loose form accepts a leading v, leading zeros and missing numbers") {
    const auto parses_as = [](const char* loose, const char* strict) {
        const auto version = parse_loose_semantic_version(loose);
        return version && compare_versions(*version, *parse_semantic_version(strict)) == 0;
    };
    CHECK(parses_as("v1.2.3", "1.2.3"));
    CHECK(parses_as("1", "1.0.0"));
    CHECK(parses_as("v1.2", "1.2.0"));
    CHECK(parses_as("01.002.0003-rc.1+b", "1.2.3-rc.1"));
    CHECK(parses_as("000", "0.0.0"));
    CHECK(parses_as("1.2.00-a", "1.2.0-a"));
    for (const char* text :
         {"", "v", "vv1", "1.", "1.2.", "1-a", "1.2-a", "1+b", "1.2.3.4", "a", "1.2.3-01"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_loose_semantic_version(text));
    }
}

} // namespace semantic_version_text_test
