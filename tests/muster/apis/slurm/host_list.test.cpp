// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/slurm/host_list.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace codec_slurm_host_list_test {

using namespace muster::codec::slurm;

namespace {
using names = std::vector<std::string>;
} // namespace

TEST_CASE("a list of hosts is names, with ranges in brackets") {
    CHECK(parse_host_list("b,a,b") == names{"a", "b"});
    CHECK(parse_host_list("n[1-3,7]") == names{"n1", "n2", "n3", "n7"});
    CHECK(parse_host_list("n[08-10]") == names{"n08", "n09", "n10"});
    CHECK(parse_host_list("r[1-2]-n[1,3].x,g") ==
          names{"g", "r1-n1.x", "r1-n3.x", "r2-n1.x", "r2-n3.x"});
}

TEST_CASE("what is no list of hosts, or stands for too many, is refused") {
    for (const char* const text : {"",
                                   ",",
                                   "a,",
                                   ",a",
                                   "a,,b",
                                   "n[",
                                   "n]",
                                   "n[1",
                                   "n[]",
                                   "n[1-]",
                                   "n[-1]",
                                   "n[3-1]",
                                   "n[1-x]",
                                   "n[a]",
                                   "a b",
                                   "a/b",
                                   "-a",
                                   "n[[1]]",
                                   "n[1-10001]",
                                   "n[1-200][1-200]",
                                   "n[1-99999999999]",
                                   "n[00000000000000001]"})
        CHECK_FALSE(parse_host_list(text).has_value());
    CHECK(parse_host_list("n[1-10000]")->size() == 10'000);
    CHECK_FALSE(parse_host_list("n[1-10000],a").has_value());
    CHECK_FALSE(parse_host_list(std::string(300, 'a')).has_value());
}

} // namespace codec_slurm_host_list_test
