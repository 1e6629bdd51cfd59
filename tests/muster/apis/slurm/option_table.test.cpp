// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/slurm/option_table.hpp>

#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace codec_slurm_option_table_test {

using namespace muster::codec::slurm;

TEST_CASE("a long name stands for one option or for all that begin with it") {
    REQUIRE(options_named("mem").size() == 1);
    CHECK(options_named("mem").front()->name == "mem");
    REQUIRE(options_named("part").size() == 1);
    CHECK(options_named("part").front()->name == "partition");
    CHECK(options_named("cpus").size() == 2);
    CHECK(options_named("nope").empty());
}

TEST_CASE("every short option is that of sbatch(1), and each letter stands for one") {
    std::set<char> seen;
    std::string all;
    for (const option_spec& each : detail::option_table)
        if (each.letter != '\0') {
            CHECK(seen.insert(each.letter).second);
            CHECK(option_of_letter(each.letter) == &each);
        }
    for (const char each : seen)
        all += each;
    CHECK(all == "ABCDFGHJLMNOQSVWabcdehikmnopqstvwx");
    CHECK(option_of_letter('z') == nullptr);
    CHECK(option_of_letter('\0') == nullptr);
}

TEST_CASE("options that bear on placement are not irrelevant") {
    for (const std::string_view name :
         {"nodes", "ntasks", "gres", "constraint", "nodelist", "exclusive", "dependency", "begin",
          "deadline", "reservation", "licenses", "contiguous", "hint", "ntasks-per-core", "hold",
          "nodefile", "segment", "mcs-label", "clusters"}) {
        CAPTURE(name);
        REQUIRE(options_named(name).size() == 1);
        CHECK(options_named(name).front()->use != option_use::irrelevant);
    }
}

} // namespace codec_slurm_option_table_test
