// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include <muster/resource/limits.hpp>

namespace resource_limits_test {

namespace {

using namespace muster;

constexpr kind_id cpu{0};
constexpr kind_id gpu{1};
constexpr auto top = std::numeric_limits<std::int64_t>::max();

constexpr resources<2> of(std::int64_t cpus, std::int64_t gpus) {
    resources<2> made;
    made[cpu] = cpus;
    made[gpu] = gpus;
    return made;
}

TEST_CASE("a kind that was not named is unlimited, one that was named with 0 admits nothing") {
    limits<2> quota;
    CHECK_FALSE(quota.any());
    CHECK(quota.admits(of(top - 1, 0), of(1, top)));
    quota.set(gpu, 0);
    CHECK(quota.any());
    CHECK(quota.limited(gpu));
    CHECK_FALSE(quota.limited(cpu));
    CHECK(quota[gpu] == 0);
    CHECK_FALSE(quota[cpu].has_value());
    CHECK(quota.admits(of(0, 0), of(5, 0)));
    CHECK_FALSE(quota.admits(of(0, 0), of(0, 1)));
}

TEST_CASE("use may reach the ceiling and not pass it") {
    limits<2> quota;
    quota.set(cpu, 10);
    CHECK(quota.admits(of(4, 0), of(6, 0)));
    CHECK_FALSE(quota.admits(of(4, 0), of(7, 0)));
}

TEST_CASE("who takes nothing of a kind cannot exceed it, however far over it the use is") {
    limits<2> quota;
    quota.set(cpu, 10);
    CHECK(quota.admits(of(99, 0), of(0, 1)));
    CHECK_FALSE(quota.admits(of(99, 0), of(1, 1)));
}

TEST_CASE("a use that would leave int64 exceeds every ceiling") {
    limits<2> quota;
    quota.set(cpu, top);
    CHECK(quota.admits(of(top - 1, 0), of(1, 0)));
    CHECK_FALSE(quota.admits(of(top, 0), of(1, 0)));
}

TEST_CASE("a ceiling that was cleared leaves no trace") {
    limits<2> quota;
    quota.set(cpu, 10);
    CHECK(quota != limits<2>{});
    quota.clear(cpu);
    CHECK(quota == limits<2>{});
    CHECK(quota.admits(of(99, 0), of(1, 0)));
    limits<2> zero;
    zero.set(cpu, 0);
    CHECK(zero != limits<2>{});
}

} // namespace

} // namespace resource_limits_test
