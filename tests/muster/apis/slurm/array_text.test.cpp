// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/slurm/array_text.hpp>

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

namespace codec_slurm_array_text_test {

using namespace muster::codec::slurm;

namespace {
using indices = std::vector<std::int64_t>;
} // namespace

TEST_CASE("an array is indices and ranges, with steps and a limit") {
    CHECK(parse_array("0-3") == job_array{indices{0, 1, 2, 3}, {}});
    CHECK(parse_array("16,0-15:4,4%2") == job_array{indices{0, 4, 8, 12, 16}, 2});
    CHECK(parse_array("5") == job_array{indices{5}, {}});
    CHECK(parse_array("2147483647") == job_array{indices{2147483647}, {}});
}

TEST_CASE("what is no array, or has too many indices, is refused") {
    for (const char* const text : {"", "x", "-1", "3-1", "1-", "1:2", "1-3:0", "1,", "0-9%",
                                   "0-9%0", "0-9%x", "0-100000", "0-99999,100000", "1-2-3"})
        CHECK_FALSE(parse_array(text).has_value());
    CHECK(parse_array("0-99999")->indices.size() == 100'000);
    CHECK(parse_array("0-2147483647:1000000")->indices.size() == 2148);
}

} // namespace codec_slurm_array_text_test
