// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "../../../examples/muster/live/query_value.hpp"

namespace cli_query_value_test {

TEST_CASE("a value is found by its key and decoded") {
    CHECK(cli::query_value("group=a/b", "group") == "a/b");
    CHECK(cli::query_value("x=1&group=a%2Fb&group=c", "group") == "a/b");
    CHECK(cli::query_value("group=", "group") == "");
    CHECK(cli::query_value("group", "group") == "");
    CHECK_FALSE(cli::query_value("groups=a", "group"));
    CHECK_FALSE(cli::query_value("", "group"));
}

TEST_CASE("an invalid escape stays as it is") {
    CHECK(cli::percent_decoded("a%2") == "a%2");
    CHECK(cli::percent_decoded("%zz%") == "%zz%");
    CHECK(cli::percent_decoded("%41%6a") == "Aj");
}

} // namespace cli_query_value_test
