// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <type_traits>

#include <muster/resource/limits.hpp>
#include <muster/resource/resources.hpp>

namespace resource_resources_test {

namespace {

using namespace muster;
using amounts = resources<3>;

constexpr auto top = std::numeric_limits<std::int64_t>::max();
constexpr auto bottom = std::numeric_limits<std::int64_t>::min();

constexpr amounts of(std::int64_t first, std::int64_t second = 0, std::int64_t third = 0) {
    amounts made;
    made[std::size_t{0}] = first;
    made[std::size_t{1}] = second;
    made[std::size_t{2}] = third;
    return made;
}

// Absent means 0 in the one and unlimited in the other: neither may turn into the other.
static_assert(!std::is_convertible_v<amounts, limits<3>>);
static_assert(!std::is_constructible_v<limits<3>, amounts>);
static_assert(!std::is_constructible_v<amounts, limits<3>>);

TEST_CASE("an amount that was not named is 0") {
    CHECK(amounts{} == of(0, 0, 0));
}

TEST_CASE("a request fits when no kind is short") {
    CHECK(fits(of(1, 2, 3), of(1, 2, 3)));
    CHECK(fits(of(1, 2, 3), of(9, 9, 9)));
    CHECK_FALSE(fits(of(1, 2, 4), of(9, 9, 3)));
    CHECK_FALSE(fits(of(4, 1, 1), of(3, 9, 9)));
}

TEST_CASE("what is not asked for is never short, not even where free is negative") {
    CHECK(fits(of(0, 1), of(-5, 1)));
    CHECK(fits(of(0, 0), of(bottom, bottom, bottom)));
    CHECK_FALSE(fits(of(1, 1), of(-5, 1)));
}

TEST_CASE("vectors are ordered only partially") {
    CHECK(dominates(of(2, 2), of(2, 1)));
    CHECK(dominates(of(2, 2), of(2, 2)));
    CHECK_FALSE(dominates(of(3, 1), of(1, 3)));
    CHECK_FALSE(dominates(of(1, 3), of(3, 1)));
}

TEST_CASE("a sum that leaves int64 in any column is refused") {
    amounts out;
    CHECK(checked_add(of(1, 2, top - 1), of(1, 2, 1), out));
    CHECK(out == of(2, 4, top));
    CHECK_FALSE(checked_add(of(1, 2, top), of(0, 0, 1), out));
    CHECK_FALSE(checked_add(of(top, 0, 0), of(1, 0, 0), out));
}

TEST_CASE("a difference that leaves int64 in any column is refused") {
    amounts out;
    CHECK(checked_subtract(of(0, bottom + 1), of(1, 1), out));
    CHECK(out == of(-1, bottom));
    CHECK_FALSE(checked_subtract(of(0, bottom), of(0, 1), out));
    CHECK_FALSE(checked_subtract(of(0), of(bottom), out));
}

TEST_CASE("sums, differences and multiples are of each amount") {
    amounts some = of(1, -2, 3);
    some += of(4, 5, 6);
    CHECK(some == of(5, 3, 9));
    some -= of(1, 1, 1);
    CHECK(some == of(4, 2, 8));
    some *= -2;
    CHECK(some == of(-8, -4, -16));
    CHECK(of(1, 2) + of(3, 4) == of(4, 6));
    CHECK(of(1, 2) - of(3, 4) == of(-2, -2));
    CHECK(of(1, 2) * 3 == of(3, 6));
    CHECK(-of(1, -2) == of(-1, 2));
}

TEST_CASE("a multiple that leaves int64 in any column is refused") {
    amounts out;
    CHECK(checked_multiply(of(2, -3), 4, out));
    CHECK(out == of(8, -12));
    CHECK_FALSE(checked_multiply(of(1, top), 2, out));
}

TEST_CASE("a saturating sum ends at the bounds of int64") {
    CHECK(saturating_add(of(top, bottom, 1), of(1, -1, 2)) == of(top, bottom, 3));
}

TEST_CASE("the lesser, the greater and the excess are of each amount") {
    CHECK(lesser(of(1, 5, -3), of(2, 4, -4)) == of(1, 4, -4));
    CHECK(greater(of(1, 5, -3), of(2, 4, -4)) == of(2, 5, -3));
    CHECK(excess(of(5, 1, 3), of(2, 4, 3)) == of(3, 0, 0));
}

TEST_CASE("as many fit as the scarcest kind allows") {
    CHECK(fit_count(of(2, 3), of(9, 9), 100) == 3);
    CHECK(fit_count(of(2, 3), of(5, 9), 100) == 2);
    CHECK(fit_count(of(2, 3), of(9, 9), 1) == 1);
    CHECK(fit_count(of(2, 3), of(1, 9), 100) == 0);
}

TEST_CASE("none fit where what is asked for is negative, all where nothing is asked") {
    CHECK(fit_count(of(2), of(-9), 100) == 0);
    CHECK(fit_count(of(0, 2), of(-9, 4), 100) == 2);
    CHECK(fit_count(of(0), of(-9), 100) == 100);
    CHECK(fit_count(of(top), of(top), 100) == 1);
}

} // namespace

} // namespace resource_resources_test
