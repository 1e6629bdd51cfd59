// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/base/checked.hpp>

#include <cstdint>
#include <limits>

namespace base_checked_test {

namespace {

constexpr auto top = std::numeric_limits<std::int64_t>::max();
constexpr auto bottom = std::numeric_limits<std::int64_t>::min();

} // namespace

TEST_CASE("a sum that fits is given, up to both ends of the range") {
    std::int64_t sum = 0;
    CHECK(muster::checked_add(2, 3, sum));
    CHECK(sum == 5);
    CHECK(muster::checked_add(top - 1, 1, sum));
    CHECK(sum == top);
    CHECK(muster::checked_add(bottom + 1, -1, sum));
    CHECK(sum == bottom);
}

TEST_CASE("a sum that does not fit is refused") {
    std::int64_t sum = 0;
    CHECK_FALSE(muster::checked_add(top, 1, sum));
    CHECK_FALSE(muster::checked_add(bottom, -1, sum));
}

TEST_CASE("a product that fits is given, one that does not is refused") {
    std::int64_t product = 0;
    CHECK(muster::checked_multiply(-4, 5, product));
    CHECK(product == -20);
    CHECK(muster::checked_multiply(top, -1, product));
    CHECK(product == -top);
    CHECK_FALSE(muster::checked_multiply(bottom, -1, product));
    CHECK_FALSE(muster::checked_multiply(top, 2, product));
}

TEST_CASE("a wide value becomes the nearest narrow one") {
    const auto wide_top = static_cast<muster::int128>(top);
    const auto wide_bottom = static_cast<muster::int128>(bottom);
    CHECK(muster::saturate(42) == 42);
    CHECK(muster::saturate(wide_top) == top);
    CHECK(muster::saturate(wide_top + 1) == top);
    CHECK(muster::saturate(wide_bottom) == bottom);
    CHECK(muster::saturate(wide_bottom - 1) == bottom);
}

TEST_CASE("saturating arithmetic stays at the end that it would leave") {
    CHECK(muster::saturating_add(2, 3) == 5);
    CHECK(muster::saturating_add(top, 1) == top);
    CHECK(muster::saturating_add(bottom, -1) == bottom);
    CHECK(muster::saturating_multiply(6, 7) == 42);
    CHECK(muster::saturating_multiply(top, top) == top);
    CHECK(muster::saturating_multiply(top, -2) == bottom);
    CHECK(muster::saturating_multiply(bottom, bottom) == top);
}

TEST_CASE("all of it can be used at compile time") {
    static_assert(muster::saturating_add(top, top) == top);
    static_assert(muster::saturating_multiply(bottom, 2) == bottom);
    static_assert([] {
        std::int64_t sum = 0;
        return muster::checked_add(1, 1, sum) && sum == 2;
    }());
}

} // namespace base_checked_test
