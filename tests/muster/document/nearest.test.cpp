// SPDX-License-Identifier: Apache-2.0
#include <muster/document/nearest.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace codec_nearest_test {

using namespace muster::codec;

TEST_CASE("letters inserted, removed, replaced and exchanged count once each") {
    CHECK(typing_distance("plan", "plan") == 0);
    CHECK(typing_distance("", "plan") == 4);
    CHECK(typing_distance("pln", "plan") == 1);
    CHECK(typing_distance("plaan", "plan") == 1);
    CHECK(typing_distance("plam", "plan") == 1);
    CHECK(typing_distance("paln", "plan") == 1);
    CHECK(typing_distance("shedulre", "schedule") == 2);
}

TEST_CASE("the nearest word is suggested, and none when too many letters are wrong") {
    const std::vector<std::string> known{"plan", "explain", "schedule", "snapshot", "up"};
    CHECK(nearest_word("explian", known) == "explain");
    CHECK(nearest_word("shedule", known) == "schedule");
    CHECK(nearest_word("pu", known) == "up");
    CHECK(nearest_word("fly", known).empty());
    CHECK(nearest_word("", known).empty());
    CHECK(nearest_word("x", known).empty());
    CHECK(nearest_word("plan", {}).empty());
    // The first one wins a tie.
    CHECK(nearest_word("train-x", {"train-1", "train-2"}) == "train-1");
    CHECK(suggestion("plna", known) == " (did you mean plan?)");
    CHECK(suggestion("fly", known).empty());
}

} // namespace codec_nearest_test
