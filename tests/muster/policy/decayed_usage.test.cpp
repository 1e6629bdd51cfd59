// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include <muster/policy/decayed_usage.hpp>
#include <muster/testing/random.hpp>

namespace policy_decayed_usage_test {

namespace {

using namespace muster;

constexpr kind_id cpu{0};

resources<1> of(std::int64_t amount) {
    resources<1> made;
    made[cpu] = amount;
    return made;
}

TEST_CASE("use adds up over time, and half of it is forgotten at each half-life") {
    decayed_usage<1> used(10, 0);
    used.update(4, of(3));
    CHECK(used[cpu] == 12);
    used.update(10, of(0));
    CHECK(used[cpu] == 6);
    used.update(29, of(0));
    CHECK(used[cpu] == 3);
    used.update(30, of(0));
    CHECK(used[cpu] == 1);
    used.update(1'000'000'000, of(0));
    CHECK(used[cpu] == 0);
}

TEST_CASE("constant use comes to rest between once and twice its amount") {
    decayed_usage<1> used(10, 3);
    used.update(1000, of(8));
    CHECK(used.mean(cpu) == 7);
    used.update(1009, of(8));
    CHECK(used.mean(cpu) == 15);
    used.update(std::numeric_limits<std::int64_t>::max(), of(8));
    CHECK(used.mean(cpu) >= 7);
    CHECK(used.mean(cpu) < 16);
}

TEST_CASE("a time before the last one changes nothing") {
    decayed_usage<1> used(10, 5);
    used.update(8, of(2));
    const auto before = used;
    used.update(8, of(100));
    used.update(2, of(100));
    CHECK(used == before);
}

TEST_CASE("it does not matter how often one looks") {
    testing::random chance(5);
    for (int world = 0; world < 2000; ++world) {
        const std::int64_t half_life = chance.between(1, 40);
        const std::int64_t start = chance.between(-100, 100);
        decayed_usage<1> often(half_life, start);
        decayed_usage<1> seldom(half_life, start);
        decayed_usage<1> always(half_life, start);
        std::int64_t now = start;
        for (int change = 0; change < 5; ++change) {
            const auto amount = of(chance.between(0, 9));
            const std::int64_t until = now + chance.between(1, change == 4 ? 8000 : 100);
            for (std::int64_t at = now; at < until; at += chance.between(1, 30))
                often.update(at, amount);
            for (std::int64_t at = now; at <= until; ++at)
                always.update(at, amount);
            often.update(until, amount);
            seldom.update(until, amount);
            now = until;
        }
        CHECK(often == seldom);
        CHECK(always == seldom);
    }
}

TEST_CASE("the largest amounts over the longest half-lives do not overflow") {
    constexpr auto top = std::numeric_limits<std::int64_t>::max();
    decayed_usage<1> used(decayed_usage<1>::longest, std::numeric_limits<std::int64_t>::min());
    for (std::int64_t at = -top; at < 0; at += decayed_usage<1>::longest / 2)
        used.update(at, of(top));
    used.update(top, of(top));
    CHECK(used[cpu] > 0);
    CHECK(used[cpu] < (int128{1} << 124));
    CHECK(used.mean(cpu) >= top - 1);
}

} // namespace

} // namespace policy_decayed_usage_test
