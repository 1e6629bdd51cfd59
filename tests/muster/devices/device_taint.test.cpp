// SPDX-License-Identifier: Apache-2.0

#include <doctest/doctest.h>

#include <muster/devices/device_taint.hpp>

namespace {

using muster::device_taint_effect;

constexpr auto no_schedule = device_taint_effect::no_schedule;
const muster::device_taint taint{"key", "value", no_schedule};

} // namespace

TEST_CASE("a toleration covers a taint of its key, value and effect") {
    CHECK(muster::tolerates({"key", "value", false, no_schedule}, taint));
    CHECK(muster::tolerates({"key", "value", false, {}}, taint));
    CHECK_FALSE(muster::tolerates({"key", "other", false, {}}, taint));
    CHECK_FALSE(muster::tolerates({"other", "value", false, {}}, taint));
    CHECK_FALSE(muster::tolerates({"key", "value", false, device_taint_effect::no_execute}, taint));
    CHECK(muster::tolerates({"key", "", true, {}}, taint));
    CHECK(muster::tolerates({"", "", true, {}}, taint));
}

TEST_CASE("every taint with an effect must be tolerated") {
    CHECK(muster::taints_prevent_allocation({taint}, {}));
    CHECK_FALSE(muster::taints_prevent_allocation({taint}, {{"key", "", true, {}}}));
    CHECK_FALSE(muster::taints_prevent_allocation({{"key", "", device_taint_effect::none}}, {}));
    CHECK(muster::taints_prevent_allocation({taint, {"more", "", device_taint_effect::no_execute}},
                                            {{"key", "", true, {}}}));
}
