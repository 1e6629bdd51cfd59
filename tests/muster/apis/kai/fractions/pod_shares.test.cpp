// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/kai/fractions/pod_shares.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "muster/apis/shares/share_texts.hpp"

namespace kai_pod_shares_test {

using namespace share_texts;
using muster::memory_amount;
using muster::memory_part;
using muster::share_memory;
using muster::whole_memory;

namespace {

/// A pod with annotations and labels in YAML's flow style, and limits of one container.
std::string pod(const std::string& annotations, const std::string& labels = "{}",
                const std::string& limits = "{}", const std::string& name_space = "ns") {
    return "kind: Pod\nmetadata: {name: p, namespace: " + name_space +
           ", annotations: " + annotations + ", labels: " + labels +
           "}\nspec: {containers: [{name: c, resources: {limits: " + limits + "}}]}\n";
}

kai_pod standing(const std::string& text) {
    read_object object(text);
    kai_pod read = read_kai_pod(object.metadata, object.containers, object.out);
    CHECK(read.unread.empty() == object.findings().empty());
    return read;
}

pod_share_requests requests(const std::string& text, kai_order order = kai_order::pack) {
    read_object object(text);
    return read_kai_requests(object.metadata, object.containers, order, object.out);
}

muster::share_request one(const std::string& text) {
    const auto made = requests(text);
    REQUIRE(made.unsupported.empty());
    REQUIRE(made.requests.size() == 1);
    return made.requests[0].request;
}

} // namespace

TEST_CASE("a fraction or an amount of memory is a share of one of KAI's GPUs, or of several") {
    CHECK(one(pod("{gpu-fraction: '0.5'}")).memory ==
          share_memory(memory_part{500'000'000, 1'000'000'000}));
    CHECK(one(pod("{gpu-fraction: '5e-1'}")).memory ==
          share_memory(memory_part{500'000'000, 1'000'000'000}));
    CHECK(one(pod("{gpu-memory: '2000'}")).memory == share_memory(memory_amount{2000}));
    CHECK(one(pod("{gpu-memory: '2000'}")).count == 1);
    CHECK(one(pod("{gpu-memory: '2000', gpu-fraction-num-devices: '3'}")).count == 3);
    CHECK_FALSE(one(pod("{gpu-memory: '2000'}")).needs_idle);
}

TEST_CASE("a whole GPU of KAI must be idle") {
    const auto request = one(pod("{}", "{}", "{nvidia.com/gpu: 2}"));
    CHECK(request.count == 2);
    CHECK(request.needs_idle);
    CHECK(request.memory == share_memory(whole_memory{}));
    CHECK(requests(pod("{}")).empty());
}

TEST_CASE("KAI packs GPUs or spreads over them") {
    CHECK(one(pod("{gpu-memory: '1'}")).order[0] == muster::device_key::memory_down);
    CHECK(requests(pod("{gpu-memory: '1'}"), kai_order::spread).requests[0].request.order[0] ==
          muster::device_key::memory_up);
}

TEST_CASE(
    "a pod with malformed annotations of KAI waits, and the reason names the pod and the field") {
    for (const char* const wrong :
         {"{gpu-fraction: '0'}", "{gpu-fraction: '1'}", "{gpu-fraction: '1.5'}",
          "{gpu-fraction: '-0.5'}", "{gpu-fraction: '500m'}", "{gpu-fraction: half}",
          "{gpu-fraction: ''}", "{gpu-fraction: '.'}", "{gpu-memory: '0'}", "{gpu-memory: '-1'}",
          "{gpu-memory: '1.5'}", "{gpu-memory: '99999999999999999999'}",
          "{gpu-fraction-num-devices: '2'}", "{gpu-fraction: '0.5', gpu-fraction-num-devices: '0'}",
          "{gpu-fraction: '0.5', gpu-memory: '100'}"}) {
        const auto made = requests(pod(wrong));
        INFO(wrong);
        CHECK(made.requests.empty());
        REQUIRE(made.unsupported.size() == 1);
        CHECK(made.unsupported[0].find("pod ns/p: gpu-") == 0);
        CHECK(made.unsupported[0].find("(expected ") != std::string::npos);
    }
    CHECK(requests(pod("{gpu-fraction: '0.5'}", "{}", "{nvidia.com/gpu: 1}")).unsupported.size() ==
          1);
}

TEST_CASE("a standing pod of KAI holds the GPUs of its groups") {
    const auto single = standing(pod("{gpu-fraction: '0.5'}", "{runai-gpu-group: g}"));
    CHECK(single.groups == std::vector<std::string>{"g"});
    CHECK(single.share.has_value());
    const auto several = standing(pod("{gpu-memory: '100', gpu-fraction-num-devices: '2'}",
                                      "{runai-gpu-group/a: a, runai-gpu-group/b: b}"));
    CHECK(several.groups == std::vector<std::string>{"a", "b"});
    CHECK(standing(pod("{}", "{}", "{nvidia.com/gpu: 2}")).whole == 2);
    CHECK(standing(pod("{}", "{runai-gpu-group: g}")).groups.empty());
}

TEST_CASE("a standing pod of KAI whose groups do not match its shares blocks its node") {
    const auto pods = std::vector<kai_pod>{standing(pod("{gpu-fraction: '0.5'}"))};
    CHECK(pods[0].unread ==
          "pod ns/p: runai-gpu-group: 0 groups for 1 GPUs (expected one for each)");
    diagnostics out;
    CHECK(kai_devices({}, 4, pods, out).blocked == pods[0].unread);
    CHECK_FALSE(standing(pod("{gpu-fraction: 'x'}", "{runai-gpu-group: g}")).unread.empty());
}

TEST_CASE("the marks of KAI are the groups of the pod's GPUs") {
    CHECK(kai_marks({"a"}).labels == std::map<std::string, std::string>{{"runai-gpu-group", "a"}});
    CHECK(
        kai_marks({"a", "b"}).labels ==
        std::map<std::string, std::string>{{"runai-gpu-group/a", "a"}, {"runai-gpu-group/b", "b"}});
    CHECK(kai_marks({"a"}).annotations.at("received-resource-type") == "Fraction");
    CHECK(kai_marks({}).labels.empty());
    CHECK(kai_marks({}).annotations.at("received-resource-type") == "Regular");
}

TEST_CASE("KAI's readers accept any annotation, and no device gets more than it has") {
    muster::testing::random chance(muster::testing::random_seed());
    const std::vector<std::string> keys{"gpu-fraction", "gpu-memory", "gpu-fraction-num-devices"};
    const std::vector<std::string> values{"0.5", "2000", "1"};
    for (std::uint64_t at = 0; at < muster::testing::case_count(4000); ++at) {
        object_metadata metadata;
        metadata.key = {"ns", "p"};
        for (std::size_t key = 0; key < keys.size(); ++key)
            if (chance.percent(50))
                metadata.annotations.set(
                    keys[key], chance.percent(50) ? mutated(values[key], chance) : values[key]);
        for (const char* const label : {"runai-gpu-group", "runai-gpu-group/b"})
            if (chance.percent(60))
                metadata.labels.set(label, mutated("g", chance));
        object_metadata node;
        node.labels.set("nvidia.com/gpu.memory",
                        chance.percent(50) ? mutated("16160", chance) : "16160");
        diagnostics out;
        const std::vector<kai_pod> pods{read_kai_pod(metadata, {}, out)};
        auto devices = kai_devices(node, chance.between(-1, 4), pods, out);
        check_sound(devices);
        check_capacities(devices, read_kai_requests(metadata, {}, kai_order::pack, out),
                         muster::kai_rules);
    }
}

} // namespace kai_pod_shares_test
