// SPDX-License-Identifier: Apache-2.0
#include <muster/base/timestamp.hpp>

#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

namespace base_timestamp_test {

using muster::parse_timestamp;

TEST_CASE("RFC 3339 times become nanoseconds since 1970") {
    constexpr std::int64_t second = 1'000'000'000;
    static_assert(parse_timestamp("1970-01-01T00:00:00Z") == 0);
    CHECK(parse_timestamp("1970-01-01T00:00:01.5Z") == second * 3 / 2);
    CHECK(parse_timestamp("1969-12-31T23:59:59Z") == -second);
    CHECK(parse_timestamp("1969-12-31T23:59:59.25Z") == -second * 3 / 4);
    CHECK(parse_timestamp("2023-12-17T13:48:16Z") == 1'702'820'896 * second);
    CHECK(parse_timestamp("2023-12-17T21:48:16+08:00") == 1'702'820'896 * second);
    CHECK(parse_timestamp("2023-12-17T05:18:16-08:30") == 1'702'820'896 * second);
    CHECK(parse_timestamp("2023-12-17T13:48:16.123456789Z") ==
          1'702'820'896 * second + 123'456'789);
    CHECK(parse_timestamp("2023-12-17T13:48:16.1234567899999Z") ==
          1'702'820'896 * second + 123'456'789);
    CHECK(parse_timestamp("2000-02-29T00:00:00Z") == 951'782'400 * second);
    CHECK(parse_timestamp("2024-02-29T00:00:00Z") == 1'709'164'800 * second);
    CHECK(parse_timestamp("2261-12-31T23:59:59Z").has_value());
    CHECK(parse_timestamp("1678-01-01T00:00:00Z").has_value());
}

TEST_CASE("anything else is not a time") {
    for (const char* text : {"",
                             "2023",
                             "2023-12-17",
                             "2023-12-17T13:48:16",
                             "2023-12-17 13:48:16Z",
                             "2023-12-17t13:48:16Z",
                             "2023-12-17T13:48:16z",
                             "2023-12-17T13:48Z",
                             "2023--17T13:54:02Z",
                             "2023-13-01T00:00:00Z",
                             "2023-00-01T00:00:00Z",
                             "2023-02-29T00:00:00Z",
                             "1900-02-29T00:00:00Z",
                             "2023-04-31T00:00:00Z",
                             "2023-01-00T00:00:00Z",
                             "2023-01-01T24:00:00Z",
                             "2023-01-01T00:60:00Z",
                             "2016-12-31T23:59:60Z",
                             "2023-01-01T00:00:00.Z",
                             "2023-01-01T00:00:00,5Z",
                             "2023-01-01T00:00:00+0800",
                             "2023-01-01T00:00:00+24:00",
                             "2023-01-01T00:00:00+08:60",
                             "2023-01-01T00:00:00ZZ",
                             " 2023-01-01T00:00:00Z",
                             "2023-1-1T00:00:00Z",
                             "+023-01-01T00:00:00Z",
                             "0001-01-01T00:00:00Z",
                             "2262-01-01T00:00:00Z",
                             "9999-12-31T23:59:59Z"})
        CHECK_MESSAGE(!parse_timestamp(text), text);
}

TEST_CASE("a time is printed as it is parsed, with no more decimals than it has") {
    using muster::time_text;
    CHECK(time_text(0) == "1970-01-01T00:00:00Z");
    CHECK(time_text(-1) == "1969-12-31T23:59:59.999999999Z");
    for (const char* text : {"2023-12-17T13:48:16Z", "2024-02-29T23:59:59.25Z",
                             "1678-01-01T00:00:00Z", "2261-12-31T23:59:59.000000001Z"})
        CHECK(time_text(parse_timestamp(text).value()) == text);
}

} // namespace base_timestamp_test
