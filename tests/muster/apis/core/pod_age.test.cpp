// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/pod_age.hpp>

#include <cstdint>
#include <limits>
#include <optional>

#include <doctest/doctest.h>

TEST_SUITE_BEGIN("codec");

namespace codec_pod_age_test {

using muster::codec::end_of_pod;

TEST_CASE("a pod ends when it is as old as its queue lets pods get, the system's own never") {
    CHECK(end_of_pod(5, 10, 0) == 15);
    CHECK(end_of_pod(5, 10, 1'999'999'999) == 15);
    CHECK_FALSE(end_of_pod(5, 10, 2'000'000'000));
    constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
    CHECK(end_of_pod(last - 10, 10, 0) == last);
    CHECK_FALSE(end_of_pod(last - 9, 10, 0));
}

} // namespace codec_pod_age_test

TEST_SUITE_END();
