// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/hami/mig_profiles.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/apis/hami/node_register.hpp>
#include <muster/apis/hami/pod_shares.hpp>
#include <muster/apis/shares/share_systems.hpp>
#include <muster/devices/share_allocator.hpp>

#include "muster/apis/shares/share_texts.hpp"

namespace hami_mig_profiles_test {

using namespace share_texts;
using muster::gpu_instance;
using muster::slices_at;

namespace {

/// An A100 of 40 GB with three of its profiles.
const std::string profiles =
    R"([{"name":"3g.20gb","memoryMB":20480,"core":42,"sliceCount":3,"placements":)"
    R"([{"start":0,"size":4},{"start":4,"size":4}]},)"
    R"({"name":"1g.5gb","memoryMB":5120,"core":14,"sliceCount":1,"placements":[{"size":1},)"
    R"({"start":1,"size":1},{"start":2,"size":1},{"start":3,"size":1},{"start":4,"size":1},)"
    R"({"start":5,"size":1},{"start":6,"size":1}]},)"
    R"({"name":"2g.10gb","memoryMB":10240,"core":28,"sliceCount":2,"placements":)"
    R"([{"start":0,"size":2},{"start":2,"size":2},{"start":4,"size":2}]}])";

std::string register_of(const std::string& list, const std::string& id = "GPU-a") {
    return R"([{"id":")" + id +
           R"(","count":7,"devmem":40960,"devcore":100,"type":"NVIDIA-A100","mode":"mig",)"
           R"("health":true,"migProfiles":)" +
           list + "}]";
}

node_shares node_of(const std::string& text, std::string* findings = nullptr) {
    diagnostics out;
    auto node = read_hami_node(annotated(hami::register_key, text), out);
    REQUIRE(node.has_value());
    check_sound(*node);
    for (const diagnostic& each : out.findings())
        if (findings)
            *findings += to_text(each) + "\n";
        else
            FAIL_CHECK(to_text(each));
    return std::move(*node);
}

/// The profiles and first slices of all instances, as `1g.5gb@6 1g.5gb@5 ...`.
std::string text_of(const std::vector<gpu_instance>& list) {
    std::string text;
    for (const gpu_instance& each : list)
        text += (text.empty() ? "" : " ") + each.name + "@" +
                std::to_string(std::countr_zero(each.slices));
    return text;
}

pod_share_requests asking(const std::vector<std::int64_t>& memories) {
    pod_share_requests asked;
    asked.containers = memories.size();
    for (std::size_t at = 0; at < memories.size(); ++at) {
        container_share each{at, {}};
        each.request.memory = muster::memory_amount{memories[at]};
        asked.requests.push_back(each);
    }
    return asked;
}

/// Chooses instances for a pod, and returns the pod with the annotations of its Binding.
object_metadata bound(const node_shares& node, const pod_share_requests& asked) {
    std::vector<muster::share_request> requests;
    for (const container_share& each : asked.requests)
        requests.push_back(each.request);
    const auto answer = muster::allocate_shares(node.devices, requests, muster::hami_rules, 10'000);
    REQUIRE(answer.outcome == muster::share_outcome::allocated);
    const auto marks = handover_marks(share_system::hami, asked, "n", node.devices, answer.devices,
                                      0, nullptr, answer.instances);
    object_metadata pod;
    pod.key = {"ns", "p"};
    for (const auto& [key, value] : marks.annotations)
        pod.annotations.set(key, value);
    return pod;
}

} // namespace

TEST_CASE(
    "HAMi tries the profiles by memory, 1g and 3g from the last place, others from the first") {
    const node_shares node = node_of(register_of(profiles));
    REQUIRE(node.devices.size() == 1);
    CHECK(node.devices[0].is_partitioned);
    CHECK(text_of(node.devices[0].instances) ==
          "1g.5gb@6 1g.5gb@5 1g.5gb@4 1g.5gb@3 1g.5gb@2 1g.5gb@1 1g.5gb@0 "
          "2g.10gb@0 2g.10gb@2 2g.10gb@4 3g.20gb@4 3g.20gb@0");
    const gpu_instance& last = node.devices[0].instances.back();
    CHECK(last.memory == 20480);
    CHECK(last.cores == 42);
    CHECK(last.slices == slices_at(0, 4));
}

TEST_CASE("of profiles with equal memory HAMi tries the one with fewer slices first") {
    const node_shares node = node_of(
        register_of(R"([{"name":"2g.1gb","memoryMB":5,"sliceCount":2,"placements":[{"size":2}]},)"
                    R"({"name":"1g.1gb","memoryMB":5,"sliceCount":1,"placements":[{"size":1}]}])"));
    CHECK(text_of(node.devices[0].instances) == "1g.1gb@0 2g.1gb@0");
}

TEST_CASE("profiles of a device in another mode are ignored") {
    std::string text = register_of(profiles);
    text.replace(text.find("\"mig\""), 5, "\"mps\"");
    const node_shares node = node_of(text);
    CHECK_FALSE(node.devices[0].is_partitioned);
    CHECK(node.devices[0].instances.empty());
}

TEST_CASE("a malformed profile is left out, with a warning that names its field") {
    const auto finding = [](const std::string& list) {
        std::string findings;
        const auto node = node_of(register_of(list), &findings);
        CHECK(node.devices.size() == 1);
        CHECK(node.devices[0].instances.empty());
        return findings;
    };
    const auto has = [](const std::string& text, const char* part) {
        INFO(text);
        CHECK(text.find(part) != std::string::npos);
        CHECK(text.find("has mode mig and gets no pods") != std::string::npos);
    };
    has(finding("7"), "migProfiles is not a list");
    has(finding("[7]"), "migProfiles[0] is not an object");
    has(finding(R"([{"placements":[{"size":1}]}])"), "migProfiles[0].name is \"\"");
    has(finding(R"([{"name":"a","memoryMB":-1}])"), "migProfiles[0] has memoryMB");
    has(finding(R"([{"name":"a","core":"x"}])"), "migProfiles[0] has memoryMB");
    has(finding(R"([{"name":"a","placements":3}])"), "migProfiles[0].placements is not a list");
    for (const char* const place :
         {"{}", "7", R"({"start":0,"size":0})", R"({"start":-1,"size":1})",
          R"({"start":60,"size":5})", R"({"start":1.5,"size":1})"})
        has(finding(R"([{"name":"a","memoryMB":1,"placements":[)" + std::string(place) + "]}]"),
            "migProfiles[0].placements[0] is malformed");
    has(finding("[]"), "");
    has(finding("null"), "");
}

TEST_CASE("a placement that is listed twice counts once, and other profiles can have it") {
    const auto node = node_of(register_of(
        R"([{"name":"2g","memoryMB":5,"placements":[{"start":2,"size":1},{"size":1},{"size":2},)"
        R"({"start":0,"size":1},{"start":2,"size":1}]},)"
        R"({"name":"b","memoryMB":6,"placements":[{"size":1}]}])"));
    CHECK(text_of(node.devices[0].instances) == "2g@0 2g@0 2g@2 b@0");
}

TEST_CASE("a device with too many instances gets no pods, with a warning") {
    // 64 places of 1 slice, 63 of 2, and so on.
    const auto many = [](int count) {
        std::string list;
        for (int size = 1; count > 0; ++size)
            for (int start = 0; start + size <= 64 && count > 0; ++start, --count)
                list += std::string(list.empty() ? "" : ",") +
                        "{\"start\":" + std::to_string(start) +
                        ",\"size\":" + std::to_string(size) + "}";
        return register_of(R"([{"name":"a","memoryMB":5,"placements":[)" + list + "]}]");
    };
    CHECK(node_of(many(256)).devices[0].instances.size() == 256);
    std::string findings;
    const auto node = node_of(many(257), &findings);
    CHECK(node.devices[0].is_partitioned);
    CHECK(node.devices[0].instances.empty());
    CHECK(findings.find("migProfiles has 257 placements (expected at most 256)") !=
          std::string::npos);
    const muster::share_request one{1, muster::memory_amount{1}};
    CHECK(
        muster::allocate_shares(node.devices, std::vector{one}, muster::hami_rules, 100).outcome ==
        muster::share_outcome::none);
}

TEST_CASE("a profile that is listed twice counts once") {
    std::string findings;
    const auto node =
        node_of(register_of(R"([{"name":"a","memoryMB":5,"placements":[{"size":1}]},)"
                            R"({"name":"a","memoryMB":9,"placements":[{"start":3,"size":1}]}])"),
                &findings);
    CHECK(text_of(node.devices[0].instances) == "a@0");
    CHECK(findings.find("migProfiles[1].name \"a\" is listed before") != std::string::npos);
}

TEST_CASE(
    "a pod gets the smallest profile with enough memory, and its annotation names the place") {
    const auto pod = bound(node_of(register_of(profiles)), asking({20'000, 9000, 100}));
    CHECK(*pod.annotations.find("hami.io/vgpu-devices-to-allocate") ==
          "GPU-a,NVIDIA,20480,42:;GPU-a,NVIDIA,10240,28:;GPU-a,NVIDIA,5120,14:;");
    CHECK(*pod.annotations.find("hami.io/vgpu-mig-allocations") ==
          R"([{"containerIndex":0,"deviceIndex":0,"gpuUUID":"GPU-a","profile":"3g.20gb",)"
          R"("placement":{"start":4,"size":4}},)"
          R"({"containerIndex":1,"deviceIndex":0,"gpuUUID":"GPU-a","profile":"2g.10gb",)"
          R"("placement":{"start":0,"size":2}},)"
          R"({"containerIndex":2,"deviceIndex":0,"gpuUUID":"GPU-a","profile":"1g.5gb",)"
          R"("placement":{"start":3,"size":1}}])");
}

TEST_CASE("several instances of one container have their positions in its list") {
    auto asked = asking({5000});
    asked.requests[0].request.count = 2;
    const auto pod = bound(node_of(register_of(profiles)), asked);
    CHECK(pod.annotations.find("hami.io/vgpu-mig-allocations")->find("\"deviceIndex\":1") !=
          std::string::npos);
    CHECK(*pod.annotations.find("hami.io/vgpu-devices-to-allocate") ==
          "GPU-a,NVIDIA,5120,14:GPU-a,NVIDIA,5120,14:;");
}

TEST_CASE("what HAMi's annotations hand over is read back as held, until the device is full") {
    node_shares node = node_of(register_of(profiles));
    diagnostics out;
    std::uint64_t all = 0;
    for (const std::int64_t memory : {20'000, 5000, 10'000, 5000}) {
        const auto pod = read_hami_pod(bound(node, asking({memory})), out);
        REQUIRE(pod.has_value());
        REQUIRE(pod->instances.size() == 1);
        CHECK((all & pod->instances[0].slices) == 0);
        all |= pod->instances[0].slices;
        CHECK(add_pod_shares(node, *pod).empty());
        CHECK(node.devices[0].healthy);
        CHECK(node.devices[0].used.slices == all);
    }
    CHECK(out.findings().empty());
    CHECK(node.devices[0].used == muster::share_amounts{4, 40'960, 98, 0xff});
}

TEST_CASE("a device gives no shares if a pod holds an instance of it that is unknown") {
    const auto closed = [](const std::string& list, const std::string& allocations) {
        auto pod = annotated(hami::allocated_key, list);
        pod.annotations.set(std::string(hami::mig_allocations_key), allocations);
        diagnostics out;
        const auto read = read_hami_pod(pod, out);
        node_shares node = node_of(register_of(profiles));
        node.devices.push_back({"GPU-b", "NVIDIA-A100", 40'960, 100, 10});
        static_cast<void>(add_pod_shares(node, *read));
        return std::string(node.devices[0].healthy ? "" : "a") +
               (node.devices[1].healthy ? "" : "b") + " " +
               std::to_string(node.devices[0].used.slices) + " " +
               std::to_string(out.findings().size());
    };
    const auto allocation = [](const std::string& gpu, int device = 0) {
        return R"({"containerIndex":0,"deviceIndex":)" + std::to_string(device) +
               R"(,"gpuUUID":")" + gpu + R"(","profile":"x","placement":{"start":6,"size":1}})";
    };
    CHECK(closed("GPU-a,NVIDIA,5120,14:;", "[" + allocation("GPU-a") + "]") == " 64 0");
    CHECK(closed("GPU-a,NVIDIA,5120,14:;", "") == "a 0 0");
    CHECK(closed("GPU-b,NVIDIA,5120,14:;", "") == " 0 0");
    CHECK(closed("GPU-b,NVIDIA,5120,14:;", "[" + allocation("GPU-b") + "]") == "b 0 0");
    // Reserved but not in the list of devices.
    CHECK(closed(";", "[" + allocation("GPU-a") + "]") == " 64 0");
    CHECK(closed(";", "[" + allocation("GPU-c") + "]") == "a 0 0");
    CHECK(closed(";", "[" + allocation("GPU-b") + "]") == "b 0 0");
    for (const std::string& wrong :
         {std::string("{"), std::string("{}"), std::string("[1]"), std::string("[{}]"),
          "[" + allocation("") + "]", "[" + allocation("GPU-a") + "," + allocation("GPU-b") + "]"})
        CHECK(closed("GPU-a,NVIDIA,5120,14:;", wrong) == "a 0 1");
}

TEST_CASE("an instance whose runtime fields HAMi's plugin has filled in is held") {
    std::vector<held_instance> held;
    CHECK(read_mig_allocations(
              R"([{"containerIndex":0,"deviceIndex":0,"gpuUUID":"GPU-a","profile":"1g.5gb",)"
              R"("placement":{"start":6,"size":1},"migUUID":"MIG-a","gpuInstanceID":7,)"
              R"("computeInstanceID":0}])",
              held)
              .empty());
    REQUIRE(held.size() == 1);
    CHECK(held[0].device == "GPU-a");
    CHECK(held[0].slices == slices_at(6, 1));
}

TEST_CASE("the reader of HAMi's profiles accepts any text, and no slice is given twice") {
    muster::testing::random chance(muster::testing::random_seed());
    std::size_t with_instances = 0;
    for (std::uint64_t at = 0; at < muster::testing::case_count(4000); ++at) {
        const std::string text = mutated(register_of(profiles), chance);
        INFO(text);
        std::string aside;
        const node_shares node = node_of(text, &aside);
        std::vector<muster::share_request> requests(
            3, {chance.between(1, 3), muster::memory_amount{chance.between(0, 21'000)}});
        const auto answer =
            muster::allocate_shares(node.devices, requests, muster::hami_rules, 500);
        std::vector<std::uint64_t> used(node.devices.size());
        for (std::size_t each = 0; each < answer.instances.size(); ++each)
            for (std::size_t share = 0; share < answer.instances[each].size(); ++share) {
                const std::size_t device = answer.devices[each][share];
                const std::size_t instance = answer.instances[each][share];
                if (!node.devices[device].is_partitioned)
                    continue;
                const auto slices = node.devices[device].instances.at(instance).slices;
                CHECK((used[device] & slices) == 0);
                used[device] |= slices;
                ++with_instances;
            }
        auto pod = annotated(hami::allocated_key, "GPU-a,NVIDIA,5120,14:;");
        pod.annotations.set(
            std::string(hami::mig_allocations_key),
            mutated(R"([{"containerIndex":0,"deviceIndex":0,"gpuUUID":"GPU-a","profile":"1g.5gb",)"
                    R"("placement":{"start":6,"size":1}}])",
                    chance));
        diagnostics out;
        node_shares held = node_of(register_of(profiles));
        static_cast<void>(add_pod_shares(held, *read_hami_pod(pod, out)));
        check_sound(held);
        CHECK((!held.devices[0].healthy || held.devices[0].used.slices != 0));
    }
    CHECK(with_instances > 0);
}

} // namespace hami_mig_profiles_test
