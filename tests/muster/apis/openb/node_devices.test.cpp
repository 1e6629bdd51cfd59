// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/openb/node_devices.hpp>

#include <doctest/doctest.h>

#include "muster/apis/shares/share_texts.hpp"

namespace openb_node_devices_test {

using namespace share_texts;

TEST_CASE("a node of openb has its number of GPUs, each of its model and of 1000 thousandths") {
    object_metadata node;
    node.labels.set("alibabacloud.com/gpu-card-model", "T4");
    for (const char* const resource : {"alibabacloud.com/gpu-count", "nvidia.com/gpu"}) {
        CAPTURE(resource);
        const auto made = read_openb_node(node, {{resource, 2}, {"cpu", 4000}});
        REQUIRE(made);
        REQUIRE(made->devices.size() == 2);
        CHECK(made->devices[1].id == "1");
        CHECK(made->devices[1].model == "T4");
        CHECK(made->devices[1].memory == 1000);
        CHECK_FALSE(made->devices[1].cores);
    }
    CHECK(read_openb_node(node, {{"alibabacloud.com/gpu-count", 1}, {"nvidia.com/gpu", 8}})
              ->devices.size() == 1);
}

TEST_CASE("a node without a model and without gpu-count is no node of openb") {
    CHECK_FALSE(read_openb_node({}, {{"nvidia.com/gpu", 2}}));
    CHECK(read_openb_node({}, {{"alibabacloud.com/gpu-count", 2}}));
    CHECK_FALSE(read_openb_node({}, {{"alibabacloud.com/gpu-count", 0}}));
}

} // namespace openb_node_devices_test
