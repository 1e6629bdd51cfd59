// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>

#include <muster/document/duration.hpp>

namespace codec_duration_test {

using muster::codec::parse_duration;

TEST_CASE("durations are sums of units in order") {
    constexpr std::int64_t second = 1'000'000'000;
    CHECK(parse_duration("") == 0);
    CHECK(parse_duration("0") == 0);
    CHECK(parse_duration("2h") == 7'200 * second);
    CHECK(parse_duration("1d12h") == 129'600 * second);
    CHECK(parse_duration("1y1w1d1h1m1s1ms") ==
          ((365 + 7 + 1) * 86'400LL + 3'661) * second + second / 1'000);
    CHECK(parse_duration("90m") == 5'400 * second);
    CHECK(parse_duration("5ms") == second / 200);
}

TEST_CASE("what is not exactly a duration is none") {
    for (const char* text : {"h", "2", "00", "2h1d", "1h1h", "-1h", "1.5h", "2 h", "2H", "1us",
                             "h2", "300y", "99999999999999999999s"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_duration(text));
    }
}

} // namespace codec_duration_test
