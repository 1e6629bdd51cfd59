// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/volcano/vgpu/node_register.hpp>

#include <cstdint>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "muster/apis/shares/share_texts.hpp"

namespace volcano_vgpu_node_register_test {

using namespace share_texts;

namespace {

const std::map<std::string, std::int64_t> reported{{"volcano.sh/vgpu-number", 10},
                                                   {"volcano.sh/vgpu-memory", 32000},
                                                   {"volcano.sh/vgpu-cores", 100}};

const std::string two =
    "GPU-0,10,16384,NVIDIA-A100,true,hami-core:GPU-1,5,8192,NVIDIA-T4,false,mps:";

struct reading {
    node_shares node;
    std::string findings;
};

reading read(const std::string& value) {
    diagnostics out;
    auto node = read_volcano_vgpu_node(annotated(volcano_vgpu::register_key, value), reported, out);
    REQUIRE(node.has_value());
    reading made{std::move(*node), {}};
    for (const diagnostic& finding : out.findings())
        made.findings += to_text(finding) + '\n';
    check_sound(made.node);
    return made;
}

} // namespace

TEST_CASE("Volcano's register lists devices, each with 100 % of cores") {
    const auto [node, findings] = read(two);
    CHECK(findings.empty());
    REQUIRE(node.devices.size() == 2);
    CHECK(node.devices[0].id == "GPU-0");
    CHECK(node.devices[0].slots == 10);
    CHECK(node.devices[0].memory == 16384);
    CHECK(node.devices[0].cores == 100);
    CHECK(node.devices[0].model == "NVIDIA-A100");
    CHECK(node.devices[0].healthy);
    CHECK_FALSE(node.devices[1].healthy);
    CHECK(node.devices[1].mode == "hami-core");
}

TEST_CASE("the mode of Volcano's last device applies to the whole node") {
    const auto node = read("a,1,1,NVIDIA,true,hami-core:b,1,1,NVIDIA,true,mig:").node;
    for (const auto& device : node.devices) {
        CHECK(device.mode == "mig");
        CHECK(device.is_partitioned);
    }
    CHECK_FALSE(read("a,1,1,NVIDIA,true,mig:b,1,1,NVIDIA,true,:").node.devices[0].is_partitioned);
}

TEST_CASE("a node has Volcano's devices only while its plugin reports resources") {
    diagnostics out;
    const auto metadata = annotated(volcano_vgpu::register_key, two);
    CHECK_FALSE(read_volcano_vgpu_node({}, reported, out).has_value());
    for (const auto& [name, amount] : reported) {
        auto less = reported;
        less[name] = 0;
        CHECK_FALSE(read_volcano_vgpu_node(metadata, less, out).has_value());
        less.erase(name);
        CHECK_FALSE(read_volcano_vgpu_node(metadata, less, out).has_value());
    }
    CHECK(out.findings().empty());
}

TEST_CASE(
    "a malformed entry of Volcano's register is skipped, with a warning that names the node") {
    const auto check = [](const std::string& value, std::size_t devices, const char* part) {
        const reading made = read(value);
        INFO(made.findings);
        CHECK(made.node.devices.size() == devices);
        CHECK(made.findings.find("node x: volcano.sh/node-vgpu-register: ") != std::string::npos);
        CHECK(made.findings.find(part) != std::string::npos);
    };
    check("a,1,2,T,true:b,1,2,T,true,m:", 1, "it has 5 parts between commas");
    check("a,-1,2,T,true,m:", 0, "from 0 to 2147483647");
    check("a,1,4294967296,T,true,m:", 0, "from 0 to 2147483647");
    check("a,1,2,T,yes,m:", 0, "\"yes\" is not a health");
    check(",1,2,T,true,m:", 0, "is not an id");
    check("a[0],1,2,T,true,m:", 0, "is not an id");
    check("a,1,2,T,true,m", 0, "found no entry");
    check(":::", 0, "found no entry");
    check(" : ", 0, "found no entry");
    CHECK(read(":::").node.unread.find("found no entry") != std::string::npos);
    check("a,1,2,T,true,m:a,1,3,T,true,m:", 1, "listed twice");
    CHECK_FALSE(read("a,1,2,T,true,m:a,1,3,T,true,m:").node.devices[0].healthy);
}

TEST_CASE("the reader of Volcano's register accepts any text") {
    muster::testing::random chance(muster::testing::random_seed());
    std::size_t with_devices = 0;
    for (std::uint64_t at = 0; at < muster::testing::case_count(4000); ++at) {
        const std::string text = mutated(two, chance);
        INFO(text);
        with_devices += read(text).node.devices.empty() ? 0U : 1U;
    }
    CHECK(with_devices > 0);
}

} // namespace volcano_vgpu_node_register_test
