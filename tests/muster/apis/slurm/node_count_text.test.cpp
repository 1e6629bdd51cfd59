// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/slurm/node_count_text.hpp>

#include <doctest/doctest.h>

namespace codec_slurm_node_count_text_test {

using namespace muster::codec::slurm;

TEST_CASE("a number of nodes is one number or a range") {
    CHECK(parse_node_count("4") == node_count{4, 4, false});
    CHECK(parse_node_count("2-4") == node_count{2, 4, false});
    CHECK(parse_node_count("2k") == node_count{2048, 2048, false});
    CHECK(parse_node_count("1-1m") == node_count{1, 1024 * 1024, false});
}

TEST_CASE("a list of numbers has gaps") {
    CHECK(parse_node_count("1,5,9") == node_count{1, 9, true});
    CHECK(parse_node_count("9,1-5") == node_count{1, 9, true});
    CHECK(parse_node_count("1-15:4") == node_count{1, 13, true});
    CHECK(parse_node_count("3-3:4") == node_count{3, 3, false});
}

TEST_CASE("any other text is no number of nodes") {
    for (const char* const text : {"", "0", "-1", "4-2", "2-", "x", "1,,2", "1-9:0", "1-9:", "2kk",
                                   "4m4", "3000000000", "4000m", "1-2-3"})
        CHECK_FALSE(parse_node_count(text).has_value());
}

} // namespace codec_slurm_node_count_text_test
