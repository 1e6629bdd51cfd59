// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/device_judge.hpp>

namespace codec_device_judge_test {

namespace {

using namespace muster;
using namespace muster::codec;

device_claim some_of(std::int64_t count) {
    device_alternative asked;
    asked.class_name = "gpu";
    asked.count = count;
    device_request request;
    request.name = "r";
    request.alternatives.push_back(std::move(asked));
    device_claim made;
    made.requests.push_back(std::move(request));
    return made;
}

device_judge::node_view node_with(int devices, std::vector<std::size_t> used = {}) {
    device_judge::node_view made;
    device_slice slice{"s", "x.com", "n", 1, 1, {}, {}};
    for (int at = 0; at < devices; ++at) {
        device each;
        each.name = "d" + std::to_string(at);
        slice.devices.push_back(std::move(each));
        made.devices.push_back({"x.com", "n", "d" + std::to_string(at)});
    }
    made.slices.push_back(std::move(slice));
    slice_view view;
    view.reaches_node = true;
    made.views.push_back(std::move(view));
    made.used = std::move(used);
    return made;
}

device_classes one_class() {
    return {{"gpu", device_class{}}};
}

} // namespace

TEST_CASE("a node has room for as many pods as its devices satisfy together") {
    device_judge judge(one_class());
    const device_demand one = judge.asking("one", {some_of(1)});
    const device_demand two = judge.asking("two", {some_of(2)});
    const device_stock five = judge.stock("five", [] { return node_with(5); });
    CHECK(judge.room(five, {}, one, 9) == 5);
    CHECK(judge.room(five, {}, one, 3) == 3);
    CHECK(judge.room(five, {}, two, 9) == 2);
    CHECK(judge.room(five, std::vector{one, two}, two, 9) == 1);
    CHECK(judge.room(five, std::vector{one, two, two}, one, 9) == 0);
    CHECK(judge.room(device_stock::none, {}, one, 9) == 0);
}

TEST_CASE("a claim that demands share is allocated once") {
    device_judge judge(one_class());
    const device_demand own = judge.asking("own", {some_of(1)});
    const device_demand shares = judge.asking("shares", {}, {{"c", some_of(2)}});
    const device_demand both = judge.asking("both", {some_of(1)}, {{"c", some_of(2)}});
    const device_demand other = judge.asking("other", {}, {{"d", some_of(2)}});
    const device_stock four = judge.stock("four", [] { return node_with(4); });
    CHECK(judge.room(four, {}, shares, 300) == 300);
    CHECK(judge.room(four, {}, both, 9) == 2);
    CHECK(judge.room(four, std::vector{shares}, shares, 9) == 9);
    CHECK(judge.room(four, std::vector{shares, shares}, other, 9) == 9);
    CHECK(judge.room(four, std::vector{shares, other}, own, 9) == 0);
    CHECK(judge.room(four, std::vector{own, shares}, other, 9) == 0);
    const device_stock one = judge.stock("one", [] { return node_with(1); });
    CHECK(judge.room(one, {}, shares, 9) == 0);
}

TEST_CASE("an answer does not depend on the questions before it") {
    for (const std::int64_t first : {1, 2, 4, 5, 6, 9})
        for (const std::int64_t second : {1, 2, 4, 5, 6, 9}) {
            device_judge judge(one_class());
            const device_demand one = judge.asking("one", {some_of(1)});
            const device_stock five = judge.stock("five", [] { return node_with(5); });
            CHECK(judge.room(five, {}, one, first) == std::min<std::int64_t>(first, 5));
            CHECK(judge.room(five, {}, one, second) == std::min<std::int64_t>(second, 5));
        }
}

TEST_CASE("devices that others use or hold serve no claim") {
    device_judge judge(one_class());
    const device_demand one = judge.asking("one", {some_of(1)});
    const device_demand first = judge.holding({0});
    const device_demand both = judge.holding({1, 2});
    const device_stock three = judge.stock("three, one used", [] { return node_with(3, {2}); });
    CHECK(judge.room(three, {}, one, 9) == 2);
    CHECK(judge.room(three, std::vector{first}, one, 9) == 1);
    // A device in use by others cannot be held.
    CHECK(judge.room(three, {}, both, 1) == 0);
    CHECK(judge.room(three, {}, first, 9) == 1);
}

TEST_CASE("equal claims, devices that are held, and kinds of nodes have one number each") {
    device_judge judge(one_class());
    CHECK(judge.asking("one", {some_of(1)}) == judge.asking("one", {some_of(1)}));
    CHECK(judge.asking("one", {some_of(1)}) != judge.asking("two", {some_of(2)}));
    CHECK(judge.holding({1, 2}) == judge.holding({1, 2}));
    CHECK(judge.holding({1, 2}) != judge.holding({1}));
    const device_stock three = judge.stock("a", [] { return node_with(3); });
    CHECK(judge.stock("a", [] { return node_with(4); }) == three);
    CHECK(judge.stock("b", [] { return node_with(3); }) != three);
}

TEST_CASE("beside claims that do not fit no claim does, and beside such shares no share") {
    device_judge judge(one_class());
    const device_demand two = judge.asking("two", {some_of(2)});
    share_demand half;
    half.asks[share_system::volcano].push_back({});
    half.asks[share_system::volcano].back().memory = memory_amount{5};
    const device_demand part = judge.with_shares(device_demand::none, "half", half);
    shared_device gpu;
    gpu.id = "g";
    gpu.memory = 10;
    const device_stock three =
        judge.with_shares(judge.stock("three", [] { return node_with(3); }), "one GPU",
                          share_stock{share_system::volcano, {gpu}});
    CHECK(judge.room(three, {}, part, 9) == 2);
    CHECK(judge.room(three, std::vector{two}, part, 9) == 2);
    CHECK(judge.room(three, std::vector{two, two}, two, 9) == 0);
    CHECK(judge.room(three, std::vector{part, part, part}, part, 9) == 0);
    // What is lacking is nothing that the other demand needs.
    CHECK(judge.room(three, std::vector{two, two}, part, 9) == 2);
    CHECK(judge.room(three, std::vector{part, part, part}, two, 9) == 1);
}

TEST_CASE("whether shares fit together does not depend on their order") {
    device_judge judge(one_class());
    const auto cores = [&](std::int64_t percent) {
        share_demand made;
        made.asks[share_system::hami].push_back({});
        made.asks[share_system::hami].back().memory = memory_amount{1};
        made.asks[share_system::hami].back().cores = percent;
        return judge.with_shares(device_demand::none, std::to_string(percent), made);
    };
    shared_device gpu;
    gpu.id = "g";
    gpu.memory = 10;
    gpu.cores = 100;
    const device_stock one =
        judge.with_shares(device_stock::none, "one GPU", share_stock{share_system::hami, {gpu}});
    const device_demand none = cores(0);
    const device_demand half = cores(50);
    const device_demand all = cores(100);
    // HAMi refuses a share without cores once all cores are used.
    CHECK(judge.room(one, std::vector{none}, half, 9) == 2);
    CHECK(judge.room(one, std::vector{half, half}, none, 1) == 1);
    CHECK(judge.room(one, std::vector{all}, none, 1) == 0);
    CHECK(judge.room(one, std::vector{none}, all, 1) == 0);
}

TEST_CASE("a node serves pods that its NUMA zones, its devices and its shares all have room for") {
    device_judge judge(one_class());
    numa_demand cpus;
    cpus.containers = {{{"cpu", 4000}}};
    cpus.together = {{"cpu", 4000}};
    numa_zones zones;
    zones.zones = {{0, {{"cpu", {8000, 8000, 8000}}}}, {1, {{"cpu", {8000, 8000, 4000}}}}};
    const device_demand aligned = judge.with_zones(device_demand::none, "4", cpus);
    const device_demand both = judge.with_zones(judge.asking("one", {some_of(1)}), "4", cpus);
    const device_stock plain = judge.with_zones(device_stock::none, "8 4", zones);
    const device_stock gpus =
        judge.with_zones(judge.stock("two", [] { return node_with(2); }), "8 4", zones);
    CHECK(judge.room(plain, {}, aligned, 9) == 3);
    CHECK(judge.room(plain, std::vector{aligned, aligned}, aligned, 9) == 1);
    CHECK(judge.room(plain, {}, both, 9) == 0);
    CHECK(judge.room(gpus, {}, both, 9) == 2);
    CHECK(judge.room(gpus, std::vector{both, both}, aligned, 9) == 1);
    CHECK(judge.room(gpus, std::vector{aligned, aligned}, both, 9) == 1);
    // Without zones a node aligns nothing.
    CHECK(judge.room(device_stock::none, {}, aligned, 9) == 9);
    CHECK(judge.room(device_stock::none, {}, both, 9) == 0);
    CHECK(judge.only_aligns(aligned));
    CHECK_FALSE(judge.only_aligns(both));
    CHECK(judge.aligned_of(both) != nullptr);
    CHECK(judge.aligned_of(judge.asking("one", {some_of(1)})) == nullptr);
    CHECK(judge.zones_of(gpus) != nullptr);
    CHECK(judge.zones_of(judge.stock("two", [] { return node_with(2); })) == nullptr);
    CHECK(judge.with_zones(device_demand::none, "4", cpus) == aligned);
    CHECK(judge.with_zones(device_stock::none, "8 4", zones) == plain);
}

TEST_CASE("a pod that aligns nothing is served beside pods that the zones have no room for") {
    device_judge judge(one_class());
    const auto aligning = [](const char* resource) {
        numa_demand made;
        made.containers = {{{resource, 4}}};
        made.together = {{resource, 4}};
        return made;
    };
    numa_zones zones;
    zones.zones = {{0, {{"cpu", {8, 8, 2}}}}};
    const device_demand cpus = judge.with_zones(device_demand::none, "cpu", aligning("cpu"));
    const device_demand gpu = judge.asking("one", {some_of(1)});
    const device_demand both = judge.with_zones(gpu, "cpu", aligning("cpu"));
    // No zone lists the resource.
    const device_demand other = judge.with_zones(gpu, "other", aligning("other"));
    const device_stock two =
        judge.with_zones(judge.stock("two", [] { return node_with(2); }), "2", zones);
    CHECK(judge.room(two, std::vector{cpus}, gpu, 9) == 2);
    CHECK(judge.room(two, std::vector{cpus}, other, 9) == 2);
    CHECK(judge.room(two, std::vector{cpus}, both, 9) == 0);
    CHECK(judge.room(two, std::vector{gpu}, cpus, 9) == 0);
    // It is unknown what the kubelet aligns.
    zones.closed = true;
    const device_stock closed =
        judge.with_zones(judge.stock("two", [] { return node_with(2); }), "closed", zones);
    CHECK(judge.room(closed, std::vector{cpus}, gpu, 9) == 2);
    CHECK(judge.room(closed, std::vector{cpus}, other, 9) == 0);
}

} // namespace codec_device_judge_test
