// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/volumes/supply_reach.hpp>

#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

namespace codec_supply_reach_test {

using muster::codec::supply_reach;
using list = std::vector<std::size_t>;

TEST_CASE("nodes that reach the same supplies are one group") {
    // Two zones of two nodes, and a node that reaches nothing.
    const supply_reach reach({{1, 1, 0, 0, 0}, {0, 0, 1, 1, 0}, {1, 1, 1, 1, 0}}, 5);
    REQUIRE(reach.groups() == 3);
    CHECK(reach.nodes_of(0) == list{0, 1});
    CHECK(reach.nodes_of(1) == list{2, 3});
    CHECK(reach.nodes_of(2) == list{4});
    CHECK(reach.reaches(0, 0));
    CHECK_FALSE(reach.reaches(0, 1));
}

TEST_CASE("of some supplies, a group reaches those in their order") {
    const supply_reach reach({{1}, {0}, {1}, {1}}, 1);
    CHECK(reach.reached_from(0, {0, 1, 2, 3}) == list{0, 2, 3});
    CHECK(reach.reached_from(0, {1, 3}) == list{3});
    CHECK(reach.reached_from(0, {1}).empty());
    CHECK(reach.reached_from(0, {}).empty());
}

TEST_CASE("without supplies, all nodes are one group that reaches nothing") {
    const supply_reach reach({}, 2);
    REQUIRE(reach.groups() == 1);
    CHECK(reach.reached_from(0, {0}).empty());
}

} // namespace codec_supply_reach_test
