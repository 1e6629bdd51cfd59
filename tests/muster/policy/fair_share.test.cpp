// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <muster/policy/fair_share.hpp>

namespace policy_fair_share_test {

namespace {

using claims = std::vector<muster::share_claim>;

std::int64_t divide(std::int64_t total, claims& among) {
    std::vector<muster::share_claim*> scratch(among.size());
    return muster::divide_fairly(total, among, scratch);
}

std::vector<std::int64_t> shares(std::int64_t total, claims among) {
    divide(total, among);
    std::vector<std::int64_t> found;
    for (const muster::share_claim& one : among)
        found.push_back(one.share);
    return found;
}

using amounts = std::vector<std::int64_t>;

/// The level of water, by trying every set of claims that could be the satisfied ones: those get
/// what they lack, the others share the rest by weight and lack more than their part. True when
/// each got its part but for a rounding. For claims of one priority without anything deserved.
bool is_level(std::int64_t total, const claims& got) {
    for (std::size_t set = 0; set < (std::size_t{1} << got.size()); ++set) {
        std::int64_t rest = total;
        std::int64_t weights = 0;
        for (std::size_t at = 0; at < got.size(); ++at)
            if (((set >> at) & 1U) != 0)
                rest -= got[at].wanted;
            else
                weights += got[at].weight;
        bool fits = rest >= 0;
        bool as_got = true;
        for (std::size_t at = 0; at < got.size(); ++at) {
            const muster::share_claim& one = got[at];
            const bool satisfied = ((set >> at) & 1U) != 0;
            if (satisfied) {
                fits = fits && (weights == 0 || one.wanted * weights <= rest * one.weight) &&
                       (one.weight > 0 || one.wanted == 0);
                as_got = as_got && one.share == one.wanted;
            } else {
                fits = fits && (weights == 0 || one.wanted * weights > rest * one.weight ||
                                one.weight == 0);
                const std::int64_t part = weights == 0 ? 0 : rest * one.weight / weights;
                as_got = as_got && one.share >= part && one.share <= part + 1;
            }
        }
        if (fits && as_got)
            return true;
    }
    return false;
}

} // namespace

TEST_CASE("what is deserved comes first, then weights divide the rest") {
    CHECK(shares(10, {{2, 100, 1}, {2, 100, 2}}) == amounts{4, 6});
    CHECK(shares(6, {{1, 6, 1}, {1, 6, 1}, {2, 2, 0}}) == amounts{2, 2, 2});
    CHECK(shares(5, {{0, 9, 0}, {1, 9, 3}}) == amounts{0, 5});
}

TEST_CASE("nobody gets more than it wants, and what it leaves is divided again") {
    CHECK(shares(10, {{0, 1, 1}, {0, 100, 1}}) == amounts{1, 9});
    CHECK(shares(12, {{0, 2, 2}, {0, 4, 1}, {0, 100, 1}}) == amounts{2, 4, 6});
    claims modest{{5, 3, 1}, {0, 2, 1}};
    CHECK(divide(10, modest) == 5);
    CHECK(modest[0].share == 3);
    CHECK(modest[1].share == 2);
}

TEST_CASE("what is deserved is given even where there is less") {
    CHECK(shares(3, {{2, 9, 1}, {2, 9, 1}, {0, 9, 1}}) == amounts{2, 2, 0});
}

TEST_CASE("the higher priority takes all that it wants of the rest") {
    CHECK(shares(10, {{1, 9, 1, 0}, {1, 5, 1, 7}}) == amounts{5, 5});
    CHECK(shares(10, {{1, 9, 1, 0}, {1, 50, 1, 7}}) == amounts{1, 9});
}

TEST_CASE("roundings go to the largest remainders, ties to who stands first") {
    CHECK(shares(10, {{0, 100, 1}, {0, 100, 1}, {0, 100, 1}}) == amounts{4, 3, 3});
    CHECK(shares(11, {{0, 100, 1}, {0, 100, 1}, {0, 100, 1}}) == amounts{4, 4, 3});
    CHECK(shares(1, {{0, 9, 1}, {0, 9, 2}}) == amounts{0, 1});
    CHECK(shares(5, {{0, 9, 1}, {0, 9, 3}}) == amounts{1, 4});
}

TEST_CASE("amounts near the end of their type are divided exactly") {
    constexpr std::int64_t much = std::int64_t{1} << 61;
    CHECK(shares(much, {{0, much, 3}, {0, much, 1}}) == amounts{much / 4 * 3, much / 4});
    CHECK(shares(much, {{much, much, 1}, {much, much, 1}}) == amounts{much, much});
}

TEST_CASE("any division is complete, modest and fair") {
    std::mt19937_64 dice(7);
    const auto roll = [&](std::int64_t most) {
        return static_cast<std::int64_t>(dice() % static_cast<std::uint64_t>(most + 1));
    };
    for (int round = 0; round < 20'000; ++round) {
        claims among(static_cast<std::size_t>(1 + roll(5)));
        for (muster::share_claim& one : among)
            one = {roll(6), roll(20), roll(4), roll(1)};
        const std::int64_t total = roll(50);
        claims got = among;
        const std::int64_t left = divide(total, got);
        std::int64_t given = 0;
        std::int64_t deserved = 0;
        bool somebody_wants = false;
        for (const muster::share_claim& one : got) {
            given += one.share;
            deserved += std::min(one.deserved, one.wanted);
            somebody_wants = somebody_wants || (one.share < one.wanted && one.weight > 0);
            REQUIRE(one.share <= one.wanted);
            REQUIRE(one.share >= std::min(one.deserved, one.wanted));
            for (const muster::share_claim& other : got)
                if (other.priority < one.priority && one.share < one.wanted && one.weight > 0)
                    REQUIRE(other.share == std::min(other.deserved, other.wanted));
        }
        REQUIRE(given + left == std::max(total, deserved));
        REQUIRE((left == 0 || !somebody_wants));
    }
}

TEST_CASE("weights divide as water finds its level, among all sets that could be satisfied") {
    std::mt19937_64 dice(11);
    const auto roll = [&](std::int64_t most) {
        return static_cast<std::int64_t>(dice() % static_cast<std::uint64_t>(most + 1));
    };
    for (int round = 0; round < 20'000; ++round) {
        claims among(static_cast<std::size_t>(1 + roll(5)));
        for (muster::share_claim& one : among)
            one = {0, roll(20), roll(4)};
        const std::int64_t total = roll(60);
        divide(total, among);
        REQUIRE(is_level(total, among));
    }
}

} // namespace policy_fair_share_test
