// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "second_unit.hpp"

TEST_CASE("two units that include the whole core link, and share its objects") {
    CHECK(odr::version_seen_by_second_unit() == &muster::library_version);
}
