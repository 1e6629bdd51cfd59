// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/kai/fractions/config_maps.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/core/objects.hpp>

namespace kai_config_maps_test {

using namespace muster::codec;
using muster::memory_amount;
using muster::memory_part;

namespace {

kai_config_maps maps_of(const std::string& container = {}, const std::string& prefix = "job") {
    object_metadata pod;
    if (!prefix.empty())
        pod.annotations.set("runai/shared-gpu-configmap", prefix);
    if (!container.empty())
        pod.annotations.set("gpu-fraction-container-name", container);
    const std::vector<container_resources> containers{
        {"setup", {}, true, false}, {"proxy", {}, false, true}, {"main", {}}, {"side", {}}};
    return kai_config_maps_of(pod, containers);
}

std::string portion(std::int64_t parts, std::int64_t of) {
    return kai_portion(memory_part{parts, of}, 10000);
}

} // namespace

TEST_CASE("the ConfigMaps of a fraction have the annotation's prefix and the container's place") {
    CHECK(maps_of().by_key == "job-0");
    CHECK(maps_of().imported == "job-0-evar");
    CHECK(maps_of("main").by_key == "job-0");
    CHECK(maps_of("side").by_key == "job-1");
    CHECK(maps_of("setup").by_key == "job-i0");
    CHECK(maps_of("proxy").imported == "job-i1-evar");
    CHECK(maps_of("side").missing.empty());
}

TEST_CASE("a fraction without a prefix, or with an unknown container, has no ConfigMaps") {
    CHECK(maps_of("", "").missing ==
          "annotation runai/shared-gpu-configmap is missing (expected the names of its ConfigMaps, "
          "as KAI's admission webhook writes them)");
    CHECK(maps_of("other").missing ==
          "annotation gpu-fraction-container-name: \"other\" is no container of the pod");
    CHECK(maps_of("other").by_key.empty());
}

TEST_CASE("a part of a GPU has two decimals") {
    CHECK(portion(1, 2) == "0.50");
    CHECK(portion(1, 3) == "0.33");
    CHECK(portion(2, 3) == "0.67");
    CHECK(portion(5, 100) == "0.05");
    CHECK(portion(125, 1000) == "0.12");
    CHECK(portion(4, 1000) == "0.01");
    CHECK(portion(1, 1'000'000'000) == "0.01");
    CHECK(portion(375, 1000) == "0.38");
    CHECK(portion(999'999'999, 1'000'000'000) == "1.00");
    CHECK(kai_portion(memory_amount{5000}, 10000) == "0.50");
    CHECK(kai_portion(memory_amount{5001}, 10000) == "0.51");
    CHECK(kai_portion(memory_amount{50000}, 10000) == "1.00");
    CHECK(kai_portion(memory_amount{1}, 0) == "1.00");
}

} // namespace kai_config_maps_test
