// SPDX-License-Identifier: Apache-2.0
#include <muster/codec/device_selector.hpp>

#include <optional>
#include <string>

#include <doctest/doctest.h>

namespace device_selector_test {

using namespace muster::codec;

namespace {

std::optional<bool> select(const std::string& text) {
    device_object gpu;
    gpu.attributes["gpu.nvidia.com/type"] = std::string("gpu");
    gpu.attributes["gpu.nvidia.com/index"] = std::int64_t{3};
    gpu.attributes["gpu.nvidia.com/mig"] = false;
    const auto selector = parse_device_selector(text);
    REQUIRE(selector);
    return selector->matches("gpu.nvidia.com", gpu);
}

} // namespace

TEST_CASE("a selector is a conjunction of equalities of the driver and of attributes") {
    CHECK(select("device.driver == 'gpu.nvidia.com'") == true);
    CHECK(select("device.driver == \"other\"") == false);
    CHECK(select("device.driver == 'gpu.nvidia.com' && "
                 "device.attributes['gpu.nvidia.com'].type == 'gpu'") == true);
    CHECK(select(" device.attributes[ \"gpu.nvidia.com\" ].index==3\n&& "
                 "device.attributes['gpu.nvidia.com'].mig == false ") == true);
    CHECK(select("device.attributes['gpu.nvidia.com'].index == -3") == false);
    CHECK(select("device.attributes['gpu.nvidia.com'].mig == true") == false);
    CHECK(select("device.driver == 'a && b'") == false);
}

TEST_CASE("a missing attribute or one of another type leaves a selector undecided unless another "
          "term is false") {
    const std::string missing = "device.attributes['gpu.nvidia.com'].profile == '1g.5gb'";
    CHECK(select(missing) == std::nullopt);
    CHECK(select("device.attributes['gpu.nvidia.com'].index == '3'") == std::nullopt);
    CHECK(select(missing + " && device.driver == 'other'") == false);
}

TEST_CASE("any other expression is not parsed") {
    for (const char* text : {"",
                             "true",
                             "device.driver",
                             "device.driver != 'x'",
                             "device.driver == x",
                             "device.driver == 3",
                             "device.driver == 'x' || true",
                             "(device.driver == 'x')",
                             "device.driver == 'x' &&",
                             "device.driver == 'x' & device.driver == 'x'",
                             "!(device.driver == 'x')",
                             "device.driver == 'a\\'b'",
                             "device.driver == '''x'''",
                             "device.driver == 'x",
                             "device.attributes['d'].n == 1.5",
                             "device.attributes['d'].n == 1u",
                             "device.attributes['d'].n == 0x10",
                             "device.attributes['d'].n >= 1",
                             "device.attributes['d'].n == nullx",
                             "device.attributes['d']['n'] == 1",
                             "device.attributes['d'].n.size() == 1",
                             "device.capacity['d'].memory == quantity('1Gi')",
                             "'x' == device.driver",
                             "device.driver == r'x'",
                             "device.drivers == 'x'",
                             "devicedriver == 'x'"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_device_selector(text));
    }
}

} // namespace device_selector_test
