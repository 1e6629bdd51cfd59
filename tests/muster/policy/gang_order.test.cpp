// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

#include <muster/policy/gang_order.hpp>

namespace policy_gang_order_test {

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

TEST_CASE("who waits longer catches up with priority, and keeps the place once taken") {
    const aging before{10};
    CHECK(before({1, 100}, {0, 91}, 0));       // a point is worth ten units
    CHECK(before({0, 89}, {1, 100}, 0));       // eleven units older is worth more
    CHECK(before({1, 100}, {0, 90}, 0));       // worth the same: the higher priority
    CHECK(before({0, 89}, {1, 100}, 1 << 30)); // whenever one looks
    constexpr auto top = std::numeric_limits<std::int64_t>::max();
    CHECK(aging{top}({top, 0}, {top - 1, 0}, 0)); // beyond 64 bits
    CHECK_FALSE(aging{top}({0, top}, {0, -top}, 0));
}

TEST_CASE("the earliest deadline goes first, and whoever has none goes last") {
    const earliest_deadline<> before;
    CHECK(before({0, 0, 5}, {9, 0, 6}, 0));
    CHECK(before({0, 0, 5}, {9, 0}, 0));
    CHECK(before({9, 0, 5}, {0, 0, 5}, 0));
    CHECK(before({9, 0}, {0, 0}, 0));
}

TEST_CASE("a gang that should have started goes first, and no earlier than that") {
    const overdue_first<> before;
    const gang_rank late{0, 0, 5};
    const gang_rank important{9, 0};
    CHECK(before(important, late, 5));
    CHECK(before(late, important, 6));
    CHECK(before(late, {9, 0, 6}, 7));
}

TEST_CASE("the shortest goes first, and whoever declares nothing goes last") {
    const shortest_first<> before;
    CHECK(before({0, 0, gang_rank::none, 5}, {9, 0, gang_rank::none, 6}, 0));
    CHECK(before({0, 0, gang_rank::none, 5}, {9, 0}, 0));
    CHECK(before({9, 0}, {0, 0}, 0));
}

TEST_CASE("shortest first means what is left: what ran already is subtracted") {
    const shortest_first<> before;
    const gang_rank stands{0, 0, gang_rank::none, 100, 10};
    const gang_rank waits{0, 0, gang_rank::none, 50};
    CHECK(before(waits, stands, 59));
    CHECK_FALSE(before(stands, waits, 60));
    CHECK_FALSE(before(waits, stands, 60));
    CHECK(before(stands, waits, 61));
    // It never runs for less than no time, and a start that lies ahead subtracts nothing.
    CHECK(stands.remaining(1000) == 0);
    CHECK(stands.remaining(5) == 100);
    constexpr auto top = std::numeric_limits<std::int64_t>::max();
    CHECK(gang_rank{0, 0, 0, top - 1, -top}.remaining(top) == 0);
    CHECK(gang_rank{0, 0, 0, gang_rank::none, 0}.remaining(top) == gang_rank::none);
}

} // namespace

} // namespace policy_gang_order_test
