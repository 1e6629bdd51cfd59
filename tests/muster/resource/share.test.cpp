// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include <muster/resource/share.hpp>

namespace resource_share_test {

namespace {

using namespace muster;

constexpr auto top = std::numeric_limits<std::int64_t>::max();

resources<2> of(std::int64_t first, std::int64_t second) {
    resources<2> made;
    made[kind_id{0}] = first;
    made[kind_id{1}] = second;
    return made;
}

limits<2> quota_of(std::int64_t first, std::int64_t second) {
    limits<2> made;
    made.set(kind_id{0}, first);
    made.set(kind_id{1}, second);
    return made;
}

TEST_CASE("fractions of totals beyond int64 are compared exactly") {
    const int128 large = int128{1} << 125;
    CHECK(share{top, large} < share{top, large - 1});
    CHECK(share{top - 1, large} < share{top, large});
    CHECK(share{top, large} == share{top, large});
    CHECK(share{top - 1, large - large / top} < share{top, large});
    CHECK(share{2, large} == share{1, large / 2});
    CHECK(share{1, large} > share{0, 1});
    CHECK(share{1, 0} > share{top, large});
}

TEST_CASE("shares compare as fractions, not as numbers") {
    CHECK(share{3, 6} == share{4, 8});
    CHECK(share{1, 3} < share{1, 2});
    CHECK(share{2, 3} > share{1, 2});
    CHECK(share{0, 5} == share{0, 9});
}

TEST_CASE("shares that a double cannot tell apart are told apart") {
    CHECK(share{top - 2, top - 1} < share{top - 1, top});
    CHECK(share{top - 1, top} > share{top - 2, top - 1});
    CHECK(share{top, top} == share{1, 1});
}

TEST_CASE("using a quota of 0 is above every share, not using it is 0") {
    CHECK(share{0, 0} == share{0, 1});
    CHECK(share{0, 0} < share{1, top});
    CHECK(share{1, 0} > share{top, 1});
    CHECK(share{1, 0} == share{5, 0});
    CHECK(share{top, 1} < share{1, 0});
}

// The example of the T9k queue documentation.
TEST_CASE("the dominant share is the largest fraction: 5/8 of (3/6, 5/8), 1/2 of (3/8, 1/2)") {
    const share a = dominant_share(of(3, 5), quota_of(6, 8));
    const share b = dominant_share(of(3, 1), quota_of(8, 2));
    CHECK(a == share{5, 8});
    CHECK(b == share{1, 2});
    CHECK(b < a);
}

TEST_CASE("T9k's vector: 5 of 10 cpus and 3Gi of 20Gi are a dominant share of 0.5") {
    constexpr std::int64_t gib = std::int64_t{1} << 30U;
    CHECK(dominant_share(of(5'000, 3 * gib), quota_of(10'000, 20 * gib)) == share{1, 2});
}

TEST_CASE("only kinds that the quota names have a share") {
    limits<2> quota;
    quota.set(kind_id{0}, 10);
    CHECK(dominant_share(of(1, top), quota) == share{1, 10});
    CHECK(dominant_share(of(7, top), limits<2>{}) == share{0, 1});
}

TEST_CASE("a queue over its quota has a share above 1") {
    CHECK(dominant_share(of(12, 0), quota_of(10, 10)) > share{1, 1});
}

} // namespace

} // namespace resource_share_test
