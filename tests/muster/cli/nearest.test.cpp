// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "../../../examples/muster/nearest.hpp"

namespace cli_nearest_test {

TEST_CASE("letters inserted, removed, replaced and exchanged count once each") {
    CHECK(cli::typing_distance("plan", "plan") == 0);
    CHECK(cli::typing_distance("", "plan") == 4);
    CHECK(cli::typing_distance("pln", "plan") == 1);
    CHECK(cli::typing_distance("plaan", "plan") == 1);
    CHECK(cli::typing_distance("plam", "plan") == 1);
    CHECK(cli::typing_distance("paln", "plan") == 1);
    CHECK(cli::typing_distance("shedulre", "schedule") == 2);
}

TEST_CASE("the nearest word is suggested, and none when too many letters are wrong") {
    const std::vector<std::string> known{"plan", "explain", "schedule", "snapshot", "up"};
    CHECK(cli::nearest_word("explian", known) == "explain");
    CHECK(cli::nearest_word("shedule", known) == "schedule");
    CHECK(cli::nearest_word("pu", known) == "up");
    CHECK(cli::nearest_word("fly", known).empty());
    CHECK(cli::nearest_word("", known).empty());
    CHECK(cli::nearest_word("x", known).empty());
    CHECK(cli::nearest_word("plan", {}).empty());
    // The first one wins a tie.
    CHECK(cli::nearest_word("train-x", {"train-1", "train-2"}) == "train-1");
    CHECK(cli::suggestion("plna", known) == " (did you mean plan?)");
    CHECK(cli::suggestion("fly", known).empty());
}

} // namespace cli_nearest_test
