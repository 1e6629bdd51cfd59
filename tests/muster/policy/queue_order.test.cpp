// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/policy/queue_order.hpp>

namespace {

using namespace muster;

TEST_CASE("the higher queue priority goes first, whatever the shares") {
    const priority_then_share before;
    CHECK(before({2, {9, 10}}, {1, {0, 10}}));
    CHECK_FALSE(before({1, {0, 10}}, {2, {9, 10}}));
}

// The example of the T9k queue documentation: A holds (3/6, 5/8), B holds (3/8, 1/2).
TEST_CASE("the smaller dominant share goes first: B with 1/2 before A with 5/8") {
    const queue_rank a{0, {5, 8}};
    const queue_rank b{0, {1, 2}};
    const priority_then_share before;
    CHECK(before(b, a));
    CHECK_FALSE(before(a, b));
}

TEST_CASE("queues of equal share stand in no order, also when the fractions are written apart") {
    const priority_then_share before;
    CHECK_FALSE(before({0, {1, 2}}, {0, {4, 8}}));
    CHECK_FALSE(before({0, {4, 8}}, {0, {1, 2}}));
}

TEST_CASE("a queue that uses a quota of 0 goes last of its priority") {
    const priority_then_share before;
    CHECK(before({0, {100, 1}}, {0, {1, 0}}));
    CHECK(before({1, {1, 0}}, {0, {0, 1}}));
}

} // namespace
