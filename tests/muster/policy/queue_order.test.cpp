// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include <muster/policy/queue_order.hpp>
#include <muster/vocabulary/queue.hpp>

namespace policy_queue_order_test {

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

queue_rank of_cluster(share what, std::int64_t weight) {
    queue_rank made;
    made.of_cluster = what;
    made.weight = weight;
    return made;
}

TEST_CASE("of two queues the one with less of the cluster for its weight goes first") {
    const weighted_share before;
    CHECK(before(of_cluster({1, 10}, 1), of_cluster({2, 10}, 1)));
    CHECK(before(of_cluster({5, 10}, 3), of_cluster({2, 10}, 1)));
    CHECK_FALSE(before(of_cluster({6, 10}, 3), of_cluster({2, 10}, 1)));
    CHECK_FALSE(before(of_cluster({2, 10}, 1), of_cluster({6, 10}, 3)));
}

TEST_CASE("a queue of weight 0 that uses something goes last, one that uses nothing does not") {
    const weighted_share before;
    CHECK(before(of_cluster({9, 10}, 1), of_cluster({1, 10}, 0)));
    CHECK(before(of_cluster({0, 10}, 0), of_cluster({1, 10}, 1)));
    CHECK_FALSE(before(of_cluster({0, 10}, 1), of_cluster({0, 10}, 0)));
}

TEST_CASE("shares with weights are compared exactly at the ends of their ranges") {
    constexpr auto top = std::numeric_limits<std::int64_t>::max();
    // A hundred million nodes of the largest size.
    const int128 total = (int128{1} << 57) * 100'000'000;
    const weighted_share before;
    const auto more = of_cluster({top, total}, largest_weight - 1);
    const auto less = of_cluster({top, total}, largest_weight);
    CHECK(before(less, more));
    CHECK_FALSE(before(more, less));
    CHECK(before(of_cluster({top - 1, total}, largest_weight), less));
    CHECK(before(of_cluster({top, total + 1}, largest_weight), less));
    CHECK_FALSE(before(less, of_cluster({top, total}, largest_weight)));
}

TEST_CASE("a queue within what it deserves goes before one that borrows, whatever their shares") {
    const auto deserving = [](share of, bool borrowing) {
        queue_rank made;
        made.of_deserved = of;
        made.borrowing = borrowing;
        return made;
    };
    const deserved_first before;
    CHECK(before(deserving({9, 10}, false), deserving({11, 10}, true)));
    CHECK(before(deserving({1, 10}, false), deserving({9, 10}, false)));
    CHECK(before(deserving({11, 10}, true), deserving({12, 10}, true)));
    CHECK_FALSE(before(deserving({1, 2}, false), deserving({2, 4}, false)));
    // It deserves nothing of a kind, and uses it.
    CHECK(before(deserving({100, 1}, true), deserving({1, 0}, true)));
}

TEST_CASE("who used less lately for its weight goes first, and of equals who uses less now") {
    const auto past = [](share lately, share now, std::int64_t weight) {
        queue_rank made = of_cluster(now, weight);
        made.of_past = lately;
        return made;
    };
    const least_past_use before;
    CHECK(before(past({1, 10}, {9, 10}, 1), past({2, 10}, {0, 10}, 1)));
    CHECK(before(past({3, 10}, {0, 10}, 2), past({2, 10}, {0, 10}, 1)));
    CHECK(before(past({1, 2}, {1, 10}, 1), past({2, 4}, {2, 10}, 1)));
    CHECK_FALSE(before(past({1, 2}, {2, 10}, 1), past({2, 4}, {1, 10}, 1)));
    CHECK_FALSE(before(past({1, 2}, {2, 10}, 1), past({2, 4}, {2, 10}, 1)));
}

TEST_CASE("the queue goes first whose next gang would, whatever the queues use") {
    const auto next = [](std::int64_t priority, std::int64_t created, share used) {
        queue_rank made = of_cluster(used, 1);
        made.next_priority = priority;
        made.next_created = created;
        return made;
    };
    const next_gang_first before;
    CHECK(before(next(2, 9, {9, 10}), next(1, 1, {0, 10})));
    CHECK(before(next(1, 1, {9, 10}), next(1, 2, {0, 10})));
    CHECK_FALSE(before(next(1, 1, {0, 10}), next(1, 1, {9, 10})));
}

} // namespace

} // namespace policy_queue_order_test
