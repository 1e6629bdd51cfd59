// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/policy/gang_order.hpp>

namespace {

using namespace muster;

TEST_CASE("the higher priority goes first, however old") {
    const priority_then_age before;
    CHECK(before({10, 500}, {9, 1}, 0));
    CHECK_FALSE(before({9, 1}, {10, 500}, 0));
    CHECK(before({0, 0}, {-1, 0}, 0));
}

TEST_CASE("the older goes first among equals, and equals stand in no order") {
    const priority_then_age before;
    CHECK(before({5, 1}, {5, 2}, 0));
    CHECK_FALSE(before({5, 2}, {5, 1}, 0));
    CHECK_FALSE(before({5, 1}, {5, 1}, 0));
}

TEST_CASE("the order of gangs does not change with time") {
    const priority_then_age before;
    CHECK(before({5, 1}, {5, 2}, -1));
    CHECK(before({5, 1}, {5, 2}, std::int64_t{1} << 60));
}

} // namespace
