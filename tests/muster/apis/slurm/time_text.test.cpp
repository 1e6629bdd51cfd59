// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/slurm/time_text.hpp>

#include <doctest/doctest.h>

namespace codec_slurm_time_text_test {

using namespace muster::codec::slurm;

TEST_CASE("a limit has the six forms of sbatch") {
    CHECK(parse_time_limit("90") == time_limit{5400});
    CHECK(parse_time_limit("90:30") == time_limit{91 * 60});
    CHECK(parse_time_limit("01:30:00") == time_limit{5400});
    CHECK(parse_time_limit("2-12") == time_limit{60 * 3600});
    CHECK(parse_time_limit("2-12:30") == time_limit{60 * 3600 + 1800});
    CHECK(parse_time_limit("0-00:00:01") == time_limit{60});
}

TEST_CASE("zero and the words for it are no limit") {
    for (const char* const text : {"0", "00:00:00", "0-0", "UNLIMITED", "infinite", "-1"})
        CHECK(parse_time_limit(text) == time_limit{});
}

TEST_CASE("any other text is no limit of time") {
    for (const char* const text : {"", "x", "1:2:3:4", "1:", ":1", "1-", "-2", "1-2-3", "1.5", "1h",
                                   "2147483647:00:00", "99999999999"})
        CHECK_FALSE(parse_time_limit(text).has_value());
}

} // namespace codec_slurm_time_text_test
