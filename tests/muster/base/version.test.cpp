// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/base/version.hpp>

#include <type_traits>

namespace base_version_test {

TEST_CASE("the version object says what the macros say") {
    CHECK(muster::library_version.major == MUSTER_VERSION_MAJOR);
    CHECK(muster::library_version.minor == MUSTER_VERSION_MINOR);
    CHECK(muster::library_version.patch == MUSTER_VERSION_PATCH);
}

TEST_CASE("the inline namespace carries the version") {
    CHECK(MUSTER_VERSION_MAJOR == 0);
    CHECK(MUSTER_VERSION_MINOR == 1);
    CHECK(std::is_same_v<muster::version, muster::v0_1::version>);
}

} // namespace base_version_test
