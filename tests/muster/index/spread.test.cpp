// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <muster/index/spread.hpp>
#include <muster/testing/random.hpp>

#include "../builders.hpp"

namespace index_spread_test {

namespace {

using namespace builders;
using namespace muster;

/// Nodes of so many, to which pods of one size go one by one where most is free.
struct fixture {
    placement_weights<traits::width> weights;
    amounts request = units(2);
    detail::spread<traits::width> spreading;
    detail::sequence<node_run> into;

    fixture() { weights.per_unit[0] = 1; }

    [[nodiscard]] std::int64_t rank(std::int64_t free) const { return ~weights.key(units(free)); }
    /// Hands over the nodes, which must come with the most free first; what is left of `count`.
    std::int64_t give(const detail::sequence<std::int64_t>& free, std::int64_t count) {
        into.clear();
        spreading.begin(request, weights);
        for (std::size_t at = 0; at < free.size() && count > 0; ++at) {
            const std::int64_t room = free[at] / request[cpu];
            count = spreading.up_to({rank(free[at]), at, node_index{at}, 0, {}}, count, into);
            if (count > 0 && room > 0)
                count = spreading.add({rank(free[at]), at, node_index{at}, room, {}},
                                      units(free[at]), count, into);
        }
        return spreading.drain(count, into);
    }
    [[nodiscard]] std::string given() const {
        std::string out;
        for (const node_run& run : into)
            for (std::int64_t at = 0; at < run.count; ++at)
                out += std::to_string(run.node.value()) + " ";
        return out;
    }
};

TEST_CASE_FIXTURE(fixture, "pods go where most is free, and a node that took one gives way") {
    CHECK(give({8, 7, 4}, 5) == 0);
    // 8 7 4 -> 6 7 4 -> 6 5 4 -> 4 5 4 -> 4 3 4 -> 2 3 4
    CHECK(given() == "0 1 0 1 0 ");
}

TEST_CASE_FIXTURE(fixture, "among equals the first goes first, whether it took a pod or not") {
    CHECK(give({4, 4, 2}, 4) == 0);
    CHECK(given() == "0 1 0 1 ");
}

TEST_CASE_FIXTURE(fixture, "nodes are filled to the end, and what finds no room is left") {
    CHECK(give({5, 2, 1}, 9) == 6);
    CHECK(given() == "0 0 1 ");
    CHECK(give({}, 3) == 3);
    CHECK(into.empty());
}

TEST_CASE_FIXTURE(fixture, "each begin starts anew") {
    CHECK(give({9, 8}, 1) == 0);
    CHECK(give({2}, 4) == 3);
    CHECK(given() == "0 ");
}

TEST_CASE_FIXTURE(fixture, "many pods go where each in its turn would") {
    testing::random chance(5);
    for (int turn = 0; turn < 200; ++turn) {
        detail::sequence<std::int64_t> free;
        for (std::int64_t count = chance.between(0, 12); count > 0; --count)
            free.push_back(chance.between(0, 20));
        std::ranges::sort(free, std::greater<>{});
        const std::int64_t count = chance.between(0, 30);
        const std::int64_t left = give(free, count);
        detail::sequence<std::int64_t> now = free;
        std::string expected;
        std::int64_t more = count;
        for (; more > 0; --more) {
            const auto best = std::ranges::max_element(now);
            if (best == now.end() || *best < request[cpu])
                break;
            *best -= request[cpu];
            expected += std::to_string(best - now.begin()) + " ";
        }
        CHECK(left == more);
        CHECK(given() == expected);
    }
}

} // namespace

} // namespace index_spread_test
