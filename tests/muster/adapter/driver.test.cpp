// SPDX-License-Identifier: Apache-2.0
#include <muster/adapter/driver.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "driver_bench.hpp"

namespace adapter_driver_test {

using namespace driver_bench;

TEST_CASE("a gang that fits is bound whole, and told of once") {
    bench on;
    on.nodes(2, 2);
    on.gang("g", 4);
    on.start();
    on.run(2 * second);
    CHECK(on.bound("g") == 4);
    CHECK(on.told(event_reason::bound) == 1);
    on.judge();
    CHECK(on.status("g").reached);
    CHECK(on.status("g").running == 4);
    CHECK(on.done(api_action::bound) == 4);
    CHECK(on.done(api_action::status) <= 2);
}

} // namespace adapter_driver_test
