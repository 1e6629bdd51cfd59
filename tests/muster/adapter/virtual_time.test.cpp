// SPDX-License-Identifier: Apache-2.0
#include <muster/adapter/virtual_time.hpp>

#include <string>

#include <doctest/doctest.h>

namespace adapter_virtual_time_test {

using muster::adapter::virtual_time;

TEST_CASE("events come by time, and at one time in the order in which they were planned") {
    virtual_time<std::string> planned;
    CHECK_FALSE(planned.next());
    planned.plan(20, "c");
    planned.plan(10, "a");
    planned.plan(20, "d");
    planned.plan(10, "b");
    CHECK(planned.next() == 10);
    CHECK_FALSE(planned.take(9));
    std::string all;
    while (const auto due = planned.take(20))
        all += *due;
    CHECK(all == "abcd");
    CHECK_FALSE(planned.next());
}

} // namespace adapter_virtual_time_test
