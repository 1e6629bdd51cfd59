// SPDX-License-Identifier: Apache-2.0
#include <muster/policy/binpack.hpp>

#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

#include "../builders.hpp"

namespace policy_binpack_test {

namespace {

using namespace builders;
using namespace muster;

binpack packing(std::uint8_t cpus, std::uint8_t gpus,
                binpack::strategy which = binpack::strategy::most_allocated) {
    binpack made;
    made.which = which;
    made.weight_of[cpu.value()] = cpus;
    made.weight_of[gpu.value()] = gpus;
    return made;
}

std::int64_t score(const binpack& how, amounts capacity, amounts free, amounts request) {
    return how(placement_weights<traits::width>{}, capacity, free, request);
}

constexpr std::int64_t whole = std::int64_t{1} << 40U;

TEST_CASE("binpack: the weighted mean of the parts that are taken once the pod stands there") {
    // 6 of 8 cpus and 1 of 4 gpus.
    const auto of = [&](const binpack& how) {
        return score(how, units(8, 4), units(4, 4), units(2, 1));
    };
    CHECK(of(packing(1, 1)) == whole / 2);
    CHECK(of(packing(1, 0)) == whole * 3 / 4);
    CHECK(of(packing(0, 10)) == whole / 4);
    // (3/4 * 10 + 1/4 * 5) / 15
    CHECK(of(packing(10, 5)) == whole * 7 / 12);
    CHECK(of(packing(1, 1, binpack::strategy::least_allocated)) == whole / 2);
    CHECK(of(packing(1, 0, binpack::strategy::least_allocated)) == whole / 4);
}

TEST_CASE("binpack: kinds without a weight and kinds that the node has none of do not count") {
    CHECK(score(packing(1, 5), units(8), units(4), units(0)) == whole / 2);
    CHECK(score(packing(0, 0), units(8, 4), units(1, 1), units(1, 1)) == 0);
    CHECK(score(packing(0, 0, binpack::strategy::least_allocated), units(8), units(8), units(1)) ==
          whole);
}

TEST_CASE("binpack: amounts at the end of their range are no overflow") {
    constexpr std::int64_t most = std::int64_t{1} << 57U;
    CHECK(score(packing(10, 10), units(most, most), units(most, 0), units(most, 0)) == whole);
    CHECK(score(packing(10, 0), units(1), units(std::numeric_limits<std::int64_t>::min()),
                units(0)) == std::numeric_limits<std::int64_t>::max());
}

cluster two_nodes() {
    cluster known;
    ok(known.upsert_node("large", machine(16)));
    ok(known.upsert_node("small", machine(8)));
    add_running(known, "x", 6, "large");
    add_running(known, "y", 4, "small");
    add_gang(known, "g", 1, 2);
    return known;
}

TEST_CASE("binpack: a node is as full as its own capacity says, and ties go by name") {
    // Once there: 8 of 16, or 6 of 8.
    cluster packed = two_nodes();
    static_cast<void>(cycle(packed, 0, policy<binpack>{packing(1, 0)}));
    CHECK(node_of(packed, "g-0") == "small");
    cluster spread = two_nodes();
    static_cast<void>(
        cycle(spread, 0, policy<binpack>{packing(1, 0, binpack::strategy::least_allocated)}));
    CHECK(node_of(spread, "g-0") == "large");
    cluster even = two_nodes();
    static_cast<void>(cycle(even, 0, policy<binpack>{packing(0, 1)}));
    CHECK(node_of(even, "g-0") == "large");
}

} // namespace

} // namespace policy_binpack_test
