// SPDX-License-Identifier: Apache-2.0
#include <muster/policy/avoid_scarce.hpp>

#include <cstdint>

#include <doctest/doctest.h>

#include "../builders.hpp"

namespace policy_avoid_scarce_test {

namespace {

using namespace builders;
using namespace muster;

std::int64_t score(amounts capacity, amounts free, amounts request) {
    avoid_scarce how;
    how.scarce[gpu.value()] = true;
    how.weight_of[cpu.value()] = 1;
    return how(placement_weights<traits::width>{}, capacity, free, request);
}

TEST_CASE("a pod without GPUs avoids nodes with GPUs, however well it packs there") {
    CHECK(score(units(8), units(8), units(1)) > score(units(8, 4), units(1, 4), units(1)));
    // Also if all GPUs are in use.
    CHECK(score(units(8), units(8), units(1)) > score(units(8, 4), units(1, 0), units(1)));
}

TEST_CASE("a pod that requests GPUs packs, and so does a pod among nodes without") {
    CHECK(score(units(8, 4), units(2, 4), units(1, 1)) >
          score(units(8, 4), units(8, 4), units(1, 1)));
    CHECK(score(units(8), units(2), units(1)) > score(units(8), units(8), units(1)));
}

TEST_CASE("a pod without GPUs that only nodes with GPUs fit packs there") {
    CHECK(score(units(8, 4), units(2, 4), units(1)) > score(units(8, 4), units(8, 4), units(1)));
}

} // namespace

} // namespace policy_avoid_scarce_test
