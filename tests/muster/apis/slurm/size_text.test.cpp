// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/slurm/size_text.hpp>

#include <cstdint>
#include <optional>
#include <string>

#include <doctest/doctest.h>

namespace codec_slurm_size_text_test {

using namespace muster::codec::slurm;

TEST_CASE("a number is decimal digits within bounds") {
    CHECK(parse_number("0") == 0);
    CHECK(parse_number("2147483647") == 2147483647);
    CHECK(parse_number("007") == 7);
    for (const char* const text :
         {"", "-1", "+1", " 1", "1 ", "0x1", "1.5", "2147483648", "99999999999999999999"})
        CHECK_FALSE(parse_number(text));
    CHECK_FALSE(parse_number("0", 1));
}

TEST_CASE("a size is in mebibytes unless a unit says otherwise") {
    CHECK(parse_mebibytes("100") == 100);
    CHECK(parse_mebibytes("4G") == 4096);
    CHECK(parse_mebibytes("4gb") == 4096);
    CHECK(parse_mebibytes("2T") == 2 * 1024 * 1024);
    CHECK(parse_mebibytes("7MB") == 7);
    CHECK(parse_mebibytes("1024K") == 1);
    CHECK(parse_mebibytes("1025k") == 2);
    CHECK(parse_mebibytes("0") == 0);
    CHECK(parse_mebibytes("8388608T") == largest_mebibytes);
}

TEST_CASE("a size with another unit, a sign or a fraction is none") {
    for (const char* const text : {"", "G", "4Q", "-4G", "1.5G", "4Gi", "4GG", "4 G", "8388609T",
                                   "99999999999999999999G", "9223372036854775807M"})
        CHECK_FALSE(parse_mebibytes(text));
}

TEST_CASE("a count of resources may have a power of 1024") {
    CHECK(parse_scaled_count("4") == 4);
    CHECK(parse_scaled_count("2k") == 2048);
    CHECK(parse_scaled_count("1G") == std::int64_t{1} << 30U);
    for (const char* const text : {"", "k", "2x", "2G", "1P", "-1", "9999999999"})
        CHECK_FALSE(parse_scaled_count(text));
}

} // namespace codec_slurm_size_text_test
