// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/hami/node_register.hpp>

#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include "muster/apis/shares/share_texts.hpp"

namespace hami_node_register_test {

using namespace share_texts;

namespace {

const std::string json =
    R"([{"id":"GPU-0","index":0,"count":10,"devmem":40960,"devcore":100,"type":"NVIDIA-A100",)"
    R"("numa":1,"mode":"hami-core","health":true},{"id":"GPU-1","index":1,"count":5,)"
    R"("devmem":20480,"devcore":100,"type":"NVIDIA-T4","health":true}])";

struct reading {
    node_shares node;
    std::string findings;
};

reading read(const std::string& value) {
    diagnostics out;
    auto node = read_hami_node(annotated(hami::register_key, value), out);
    REQUIRE(node.has_value());
    reading made{std::move(*node), {}};
    for (const diagnostic& finding : out.findings())
        made.findings += to_text(finding) + '\n';
    check_sound(made.node);
    return made;
}

} // namespace

TEST_CASE("HAMi's JSON register lists devices, and absent fields are 0") {
    const auto [node, findings] = read(json);
    CHECK(findings.empty());
    CHECK(node.node == "x");
    REQUIRE(node.devices.size() == 2);
    const auto& first = node.devices[0];
    CHECK(first.id == "GPU-0");
    CHECK(first.model == "NVIDIA-A100");
    CHECK(first.memory == 40960);
    CHECK(first.cores == 100);
    CHECK(first.slots == 10);
    CHECK(first.numa == 1);
    CHECK(first.mode == "hami-core");
    CHECK(first.healthy);
    CHECK(node.devices[1].numa == 0);
    CHECK(node.devices[1].mode.empty());
}

TEST_CASE("a device without health in HAMi's register is unhealthy, as Go omits false") {
    CHECK_FALSE(read(R"([{"id":"a","count":1,"devmem":1}])").node.devices[0].healthy);
}

TEST_CASE("HAMi's old register has 7 or 9 parts for each device") {
    const auto [node, findings] =
        read("GPU-0,10,7680,100,NVIDIA-T4,0,true:GPU-1,5,8000,200,NVIDIA-T4,1,false,1,mig:");
    CHECK(findings.find("GPU-1\" has mode mig and gets no pods") != std::string::npos);
    REQUIRE(node.devices.size() == 2);
    CHECK(node.devices[0].mode == "hami-core");
    CHECK(node.devices[0].healthy);
    CHECK(node.devices[1].cores == 200);
    CHECK_FALSE(node.devices[1].healthy);
    CHECK(node.devices[1].is_partitioned);
    CHECK(node.devices[1].mode == "mig");
}

TEST_CASE("a register of HAMi that cannot be read says so, and null is a warning") {
    for (const std::string wrong : {"[{", "GPU-0,10,7680,100,NVIDIA-T4,0,true",
                                    "GPU-0,10:", R"([{"id":"a","count":-1}])", R"([{"id":""}])"}) {
        const auto [node, findings] = read(wrong);
        CHECK(node.unread.starts_with("node x: hami.io/node-nvidia-register: "));
        CHECK(findings.find(node.unread) != std::string::npos);
    }
    CHECK(read(json).node.unread.empty());
    const auto [node, findings] = read("null");
    CHECK(node.unread.empty());
    CHECK(findings.find("node x: hami.io/node-nvidia-register: it is null") != std::string::npos);
}

TEST_CASE("a cordoned device of HAMi gets no pods, with a warning") {
    auto metadata = annotated(hami::register_key, json);
    metadata.annotations.set(std::string(hami::cordon_key), " GPU-1 , other,");
    diagnostics out;
    const auto node = read_hami_node(metadata, out);
    CHECK(node->devices[0].healthy);
    CHECK_FALSE(node->devices[1].healthy);
    CHECK(node->unread.empty());
    REQUIRE(out.findings().size() == 2);
    CHECK(out.findings()[0].message ==
          "node x: hami.io/device-cordon: device \"GPU-1\" is cordoned, and gets no pods");
    CHECK(out.findings()[1].message ==
          "node x: hami.io/device-cordon: \"other\" is not a device of "
          "the node (expected the id of a registered device)");
}

TEST_CASE("HAMi's scores of links are read by id, and malformed ones are ignored with a warning") {
    const auto with = [](const std::string& scores, std::size_t warnings) {
        auto node = annotated(hami::register_key, json);
        node.annotations.set("hami.io/node-nvidia-score", scores);
        diagnostics out;
        const auto made = read_hami_node(node, out);
        CHECK(out.warnings() == warnings);
        return std::vector{made->devices[0].links, made->devices[1].links};
    };
    using rows = std::vector<std::vector<std::int64_t>>;
    CHECK(with(R"([{"uuid":"GPU-1","score":{"GPU-0":-7,"GPU-9":1}},{"uuid":"GPU-9"},)"
               R"({"uuid":"GPU-1","score":{"GPU-0":3}},{"uuid":"GPU-0","score":{"GPU-1":4}}])",
               0) == rows{{0, 4}, {-7, 0}});
    CHECK(with("[]", 0) == rows{{}, {}});
    CHECK(with(R"([{"uuid":"GPU-0","score":null}])", 0) == rows{{}, {}});
    for (const char* const wrong : {"", "{", "{}", "[1]", R"([{"uuid":"GPU-0","score":1}])",
                                    R"([{"uuid":"GPU-0","score":{"GPU-1":"x"}}])",
                                    R"([{"uuid":"GPU-0","score":{"GPU-1":0.5}}])"})
        CHECK(with(wrong, 1) == rows{{}, {}});
}

TEST_CASE("a node without HAMi's register has no devices of HAMi") {
    diagnostics out;
    CHECK_FALSE(read_hami_node({}, out).has_value());
}

TEST_CASE("a malformed entry of HAMi's register is skipped, with a warning that names the node") {
    const auto check = [](const std::string& value, std::size_t devices, const char* part) {
        const reading made = read(value);
        const std::string& findings = made.findings;
        INFO(findings);
        CHECK(made.node.devices.size() == devices);
        CHECK(findings.find("node x: hami.io/node-nvidia-register: ") != std::string::npos);
        CHECK(findings.find(part) != std::string::npos);
    };
    check("a,1,2,3,T,0:b,1,2,3,T,0,true:", 1, "6 parts between commas (expected 7 or 9)");
    check("a,1,2,3,T,0,maybe:", 0, "expected true or false");
    check("a,-1,2,3,T,0,true:", 0, "whole numbers from 0 to 2147483647");
    check("a,1,2147483648,3,T,0,true:", 0, "whole numbers from 0 to 2147483647");
    check("a,1,2,3,T,0,true", 0, "found no entry");
    check(",1,2,3,T,0,true:", 0, "\"\" is not an id");
    check("[{\"id\":\"a\"", 0, "not JSON");
    check("[1,{\"id\":\"a\"}]", 1, "entry 0 is skipped: it is not an object");
    check(R"([{"id":"a","count":"3"}])", 0, "count is not a whole number");
    check(R"([{"id":"a","devmem":-3}])", 0, "devmem is not a whole number");
    check(R"([{"id":"a","devmem":1e30}])", 0, "devmem is not a whole number");
    check(R"([{"id":"a,b"}])", 0, "expected a text without");
    check(R"([{"id":7}])", 0, "id is not a string");
    check(R"([{"id":"a","health":"yes"}])", 0, "health is neither true nor false");
}

TEST_CASE("a register of HAMi that has separators only has a warning") {
    for (const char* const text : {":", ":::"}) {
        const auto [node, findings] = read(text);
        CHECK(node.devices.empty());
        CHECK(findings.find("found no entry") != std::string::npos);
        CHECK_FALSE(node.unread.empty());
    }
}

TEST_CASE("a device that HAMi's register lists twice gets no pods") {
    const auto [node, findings] = read("a,1,2,3,T,0,true:a,5,5,5,T,0,true:");
    REQUIRE(node.devices.size() == 1);
    CHECK_FALSE(node.devices[0].healthy);
    CHECK(node.devices[0].slots == 0);
    CHECK(findings.find("listed twice") != std::string::npos);
    CHECK(node.unread.find("device \"a\" is listed twice") != std::string::npos);
}

TEST_CASE("a finding about HAMi's register is at the place of the annotation") {
    read_object node("kind: Node\nmetadata:\n  name: n1\n  annotations:\n"
                     "    hami.io/node-nvidia-register: 'a:'\n");
    static_cast<void>(read_hami_node(node.metadata, node.out));
    CHECK(node.findings().find("f:5:35: warning: metadata.annotations[") == 0);
}

TEST_CASE("the reader of HAMi's register accepts any text") {
    muster::testing::random chance(muster::testing::random_seed());
    const std::string old =
        "GPU-0,10,7680,100,NVIDIA-T4,0,true:GPU-1,5,80,9,NVIDIA-T4,1,false,1,m:";
    std::size_t with_devices = 0;
    for (std::uint64_t at = 0; at < muster::testing::case_count(4000); ++at) {
        const std::string text = mutated(at % 2 == 0 ? json : old, chance);
        INFO(text);
        with_devices += read(text).node.devices.empty() ? 0U : 1U;
    }
    CHECK(with_devices > 0);
}

} // namespace hami_node_register_test
