// SPDX-License-Identifier: Apache-2.0
#include <muster/codec/reading_rules.hpp>

#include <doctest/doctest.h>

namespace codec_reading_rules_test {

using namespace muster::codec;

TEST_CASE("a version is named by its minor number, with or without v and patch") {
    for (const char* text : {"1.38", "v1.38", "1.38.0", "v1.38.12"}) {
        CAPTURE(text);
        CHECK(parse_kubernetes_version(text) == kubernetes_version{38});
    }
    CHECK(parse_kubernetes_version("1.35") == kubernetes_version{35});
    CHECK(kubernetes_version{} == kubernetes_version{37});
}

TEST_CASE("other texts and versions before 1.35 are not versions") {
    for (const char* text : {"", "1", "1.", "1.34", "2.38", "1.38.", "1.38.x", "1.38-alpha",
                             " 1.38", "1.-38", "-1.38", "1.99999999999", "latest"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_kubernetes_version(text));
    }
}

TEST_CASE("an empty spread selector selects all pods from 1.38 on") {
    CHECK_FALSE(kubernetes_version{37}.empty_spread_selects_all());
    CHECK(kubernetes_version{38}.empty_spread_selects_all());
}

} // namespace codec_reading_rules_test
