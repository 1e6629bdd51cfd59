// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/index/weights.hpp>

#include "../builders.hpp"

namespace index_weights_test {

namespace {

using namespace builders;
using namespace muster;

TEST_CASE("the largest node weighs at most 2^57 in every kind, and more than half of it") {
    cluster known;
    ok(known.upsert_node("small", machine(3, 1)));
    ok(known.upsert_node("large", machine(100, 8)));
    const auto weights = weigh(known.accounts(), std::nullopt);
    CHECK(weights.per_unit[0] == std::int64_t{1} << 50);
    CHECK(weights.per_unit[1] == std::int64_t{1} << 54);
    CHECK(100 * weights.per_unit[0] <= largest_allocatable);
    CHECK(100 * weights.per_unit[0] > largest_allocatable / 2);
}

TEST_CASE("a kind that no node has weighs nothing, nor does the kind that counts pods") {
    cluster known;
    ok(known.upsert_node("n", machine(4, 4)));
    const auto weights = weigh(known.accounts(), gpu);
    CHECK(weights.per_unit[0] > 0);
    CHECK(weights.per_unit[1] == 0);
    CHECK(weights.per_unit[2] == 0);
}

TEST_CASE("one unit at most and the most there may be both have a weight") {
    cluster known;
    ok(known.upsert_node("n", machine(1, largest_allocatable)));
    const auto weights = weigh(known.accounts(), std::nullopt);
    CHECK(weights.per_unit[0] == largest_allocatable);
    CHECK(weights.per_unit[1] == 1);
}

TEST_CASE("weights follow the nodes that are present") {
    cluster known;
    ok(known.upsert_node("small", machine(4)));
    const auto before = weigh(known.accounts(), std::nullopt);
    ok(known.upsert_node("large", machine(64)));
    CHECK_FALSE(weigh(known.accounts(), std::nullopt) == before);
    ok(known.remove_node("large"));
    CHECK(weigh(known.accounts(), std::nullopt) == before);
    CHECK(weigh(cluster{}.accounts(), std::nullopt).per_unit[0] == 0);
}

TEST_CASE("a request lowers the key of every node by the same, and less than free ranks below 0") {
    cluster known;
    ok(known.upsert_node("n", machine(8, 2)));
    const auto weights = weigh(known.accounts(), std::nullopt);
    CHECK(weights.key(units(8, 2)) - weights.key(units(5, 1)) ==
          weights.key(units(4, 2)) - weights.key(units(1, 1)));
    CHECK(weights.key(units(-1, 0)) < weights.key(units(0, 0)));
    CHECK(weights.key(units(0, 0)) == 0);
}

} // namespace

} // namespace index_weights_test
