// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/devices/share_allocator.hpp>
#include <muster/testing/random.hpp>
#include <support/settings.hpp>

#include "muster/devices/share_worlds.hpp"

namespace share_allocator_test {

namespace {

using muster::device_key;
using muster::memory_amount;
using muster::memory_part;
using muster::share_allocation;
using muster::share_nearness;
using muster::share_outcome;
using muster::share_refusal;
using muster::share_request;
using muster::shared_device;
using share_worlds::share_world;
using indices = std::vector<std::size_t>;

shared_device gpu(const std::string& id, std::int64_t memory = 16'000) {
    return {id, "NVIDIA-A100", memory, 100, 10};
}

std::vector<shared_device> gpus(std::size_t count) {
    std::vector<shared_device> all;
    for (std::size_t index = 0; index < count; ++index)
        all.push_back(gpu("gpu-" + std::to_string(index)));
    return all;
}

share_request share(std::int64_t memory, std::int64_t cores = 0, std::int64_t count = 1) {
    return {count, memory_amount{memory}, cores};
}

share_allocation allocate(const std::vector<shared_device>& devices,
                          const std::vector<share_request>& requests,
                          const muster::share_rules& rules = muster::hami_rules,
                          std::int64_t max_steps = 100'000) {
    return muster::allocate_shares(devices, requests, rules, max_steps);
}

} // namespace

TEST_CASE("a share fits if memory, cores and slots are free") {
    auto device = gpu("g");
    device.used = {9, 10'000, 60};
    CHECK(muster::refusal_of(device, share(6'000, 40), {}) == share_refusal::none);
    CHECK(muster::refusal_of(device, share(6'001, 40), {}) == share_refusal::memory);
    CHECK(muster::refusal_of(device, share(6'000, 41), {}) == share_refusal::cores);
    device.used.slots = 10;
    CHECK(muster::refusal_of(device, share(0), {}) == share_refusal::slots);
    device.slots.reset();
    CHECK(muster::refusal_of(device, share(0), {}) == share_refusal::none);
    device.cores.reset();
    CHECK(muster::refusal_of(device, share(0, 1000), {}) == share_refusal::none);
}

TEST_CASE("absent memory means all memory of the device, unlike 0") {
    auto device = gpu("g");
    CHECK(muster::refusal_of(device, share_request{}, {}) == share_refusal::none);
    device.used = {1, 1, 0};
    CHECK(muster::refusal_of(device, share_request{}, {}) == share_refusal::memory);
    CHECK(muster::refusal_of(device, share(0), {}) == share_refusal::none);
    device.used = {1, 16'001, 0};
    CHECK(muster::refusal_of(device, share(0), {}) == share_refusal::memory);
}

TEST_CASE("a percentage of the memory is rounded down") {
    CHECK(muster::units_of(memory_part{33, 100}, 1'001) == 330);
    CHECK(muster::units_of(memory_part{1, 3}, 100) == 33);
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    CHECK(muster::units_of(memory_part{most, 1}, most) == most);
    CHECK(muster::units_of(muster::whole_memory{}, 7) == 7);
}

TEST_CASE("100 cores need an idle device, in HAMi and Volcano") {
    auto device = gpu("g");
    device.used = {1, 0, 0};
    for (const auto& rules : {muster::hami_rules, muster::volcano_vgpu_rules})
        CHECK(muster::refusal_of(device, share(1, 100), rules) == share_refusal::not_idle);
    for (const auto& rules : {muster::koordinator_rules, muster::kai_rules})
        CHECK(muster::refusal_of(device, share(1, 100), rules) == share_refusal::none);
    device.cores = 200;
    CHECK(muster::refusal_of(device, share(1, 100), muster::hami_rules) == share_refusal::none);
}

TEST_CASE("a device without free cores refuses a request for 0 cores, in HAMi and Volcano") {
    auto device = gpu("g");
    device.used = {2, 0, 100};
    for (const auto& rules : {muster::hami_rules, muster::volcano_vgpu_rules})
        CHECK(muster::refusal_of(device, share(1), rules) == share_refusal::cores_exhausted);
    for (const auto& rules : {muster::koordinator_rules, muster::kai_rules})
        CHECK(muster::refusal_of(device, share(1), rules) == share_refusal::none);
    device.cores = 0;
    device.used.cores = 0;
    CHECK(muster::refusal_of(device, share(1), muster::hami_rules) == share_refusal::none);
}

TEST_CASE("an unhealthy device gets no share") {
    auto device = gpu("g");
    device.healthy = false;
    CHECK(muster::refusal_of(device, share(0), {}) == share_refusal::unhealthy);
}

TEST_CASE("a filter matches substrings of the model in any case, and whole ids") {
    const auto device = gpu("GPU-1");
    const auto accepts = [&](auto set) {
        muster::share_filter filter;
        set(filter);
        return filter.accepts(device);
    };
    CHECK(accepts([](auto&) {}));
    CHECK(accepts([](auto& of) { of.models = {"h100", "a100"}; }));
    CHECK_FALSE(accepts([](auto& of) { of.models = {"h100"}; }));
    CHECK_FALSE(accepts([](auto& of) { of.models.emplace(); }));
    CHECK(accepts([](auto& of) { of.models = {""}; }));
    CHECK_FALSE(accepts([](auto& of) { of.models_not = {"nvidia"}; }));
    CHECK(accepts([](auto& of) { of.kind = "NVIDIA"; }));
    CHECK_FALSE(accepts([](auto& of) { of.kind = "nvidia"; }));
    CHECK(accepts([](auto& of) { of.ids = {"GPU-1"}; }));
    CHECK_FALSE(accepts([](auto& of) { of.ids = {"GPU-10", "gpu-1", "GPU"}; }));
    CHECK_FALSE(accepts([](auto& of) { of.ids_not = {"GPU-1"}; }));
    CHECK(accepts([](auto& of) { of.modes = {"mig"}; }));
}

TEST_CASE("a device with a mode serves requests that accept this mode") {
    auto device = gpu("g");
    device.mode = "hami-core";
    muster::share_filter filter;
    CHECK(filter.accepts(device));
    filter.modes = {"mig", "hami-core"};
    CHECK(filter.accepts(device));
    filter.modes = {"mig"};
    CHECK_FALSE(filter.accepts(device));
}

TEST_CASE("a pod that keeps apart from its group gets no device of another pod of the group") {
    auto request = share(1);
    request.group = "a";
    request.apart_from_group = true;
    std::vector<share_request> requests(2, request);
    requests[1].pod = 1;
    CHECK(allocate(gpus(2), requests).devices == std::vector<indices>{{0}, {1}});
    CHECK(allocate(gpus(1), requests).outcome == share_outcome::none);
    requests[1].pod = 0;
    CHECK(allocate(gpus(1), requests).outcome == share_outcome::allocated);
    requests[1] = share(1);
    CHECK(allocate(gpus(1), requests).outcome == share_outcome::allocated);
}

TEST_CASE("a request that needs an idle device gets one, and later requests can share it") {
    auto devices = gpus(2);
    devices[0].used = {1, 100, 0};
    auto idle = share(100);
    idle.needs_idle = true;
    CHECK(allocate(devices, {idle}).devices == std::vector<indices>{{1}});
    CHECK(allocate(devices, {idle, idle}).outcome == share_outcome::none);
    auto full = share(16'000);
    CHECK(allocate({devices[1]}, {idle, share(100)}).devices == std::vector<indices>{{0}, {0}});
    CHECK(allocate(devices, {idle, full}).outcome == share_outcome::none);
}

TEST_CASE("one request gets different devices, two requests may get the same one") {
    CHECK(allocate(gpus(1), {share(1, 0, 2)}).outcome == share_outcome::none);
    CHECK(allocate(gpus(1), {share(1), share(1)}).devices == std::vector<indices>{{0}, {0}});
    CHECK(allocate(gpus(3), {share(1, 0, 2)}).devices == std::vector<indices>{{0, 1}});
}

TEST_CASE("all devices of a request can be required at one NUMA node or PCIe root") {
    auto devices = gpus(4);
    for (std::size_t index = 0; index < devices.size(); ++index) {
        devices[index].numa = static_cast<std::int64_t>(index / 2);
        devices[index].pcie = index % 2 == 0 ? "a" : "b";
    }
    devices[0].used = {10, 0, 0};
    auto request = share(1, 0, 2);
    CHECK(allocate(devices, {request}).devices == std::vector<indices>{{1, 2}});
    request.within = share_nearness::same_numa;
    CHECK(allocate(devices, {request}).devices == std::vector<indices>{{2, 3}});
    request.within = share_nearness::same_pcie;
    CHECK(allocate(devices, {request}).outcome == share_outcome::none);
    devices[3].pcie = "a";
    CHECK(allocate(devices, {request}).devices == std::vector<indices>{{2, 3}});
    devices[3].numa.reset();
    CHECK(allocate(devices, {request}).outcome == share_outcome::none);
    request.within = share_nearness::same_node;
    CHECK(allocate(devices, {request}).devices == std::vector<indices>{{1, 2}});
    CHECK(muster::refusal_of(devices[3], request, {}) == share_refusal::unknown_place);
}

TEST_CASE("near devices are preferred at places that are in use, but not required") {
    auto devices = gpus(4);
    for (std::size_t index = 0; index < devices.size(); ++index) {
        devices[index].numa = static_cast<std::int64_t>(index / 2);
        devices[index].pcie = "a";
    }
    auto request = share(16'000, 0, 1);
    request.prefers_near = true;
    devices[3].used = {1, 16'000, 0};
    CHECK(allocate(devices, {request}).devices == std::vector<indices>{{2}});
    request.count = 2;
    CHECK(allocate(devices, {request}).devices == std::vector<indices>{{0, 1}});
    request.count = 3;
    CHECK(allocate(devices, {request}).devices == std::vector<indices>{{0, 1, 2}});
}

TEST_CASE("each key sorts the devices") {
    auto devices = gpus(3);
    devices[0].used = {2, 8'000, 10};
    devices[1].used = {3, 4'000, 10};
    devices[1].numa = 1;
    devices[2].numa = 2;
    const auto first = [&](device_key key, device_key then = device_key::index_up) {
        auto request = share(1);
        request.order = {key, then, device_key::index_up};
        return allocate(devices, {request}).devices[0][0];
    };
    CHECK(first(device_key::index_up) == 0);
    CHECK(first(device_key::index_down) == 2);
    CHECK(first(device_key::numa_up) == 0);
    CHECK(first(device_key::numa_down) == 2);
    CHECK(first(device_key::in_use_up) == 2);
    CHECK(first(device_key::in_use_down) == 0);
    CHECK(first(device_key::memory_up) == 2);
    CHECK(first(device_key::memory_down) == 0);
    CHECK(first(device_key::percent_up) == 2);
    CHECK(first(device_key::percent_down) == 0);
    CHECK(first(device_key::slots_up) == 2);
    CHECK(first(device_key::slots_down) == 1);
    CHECK(first(device_key::load_up) == 2);
    CHECK(first(device_key::load_down) == 0);
    devices[1].used = devices[0].used;
    CHECK(first(device_key::memory_down, device_key::index_down) == 1);
}

TEST_CASE("the load of a device is weighted by the request") {
    auto devices = gpus(2);
    devices[0].used = {1, 1'600, 90};
    devices[1].used = {7, 3'200, 10};
    auto request = share(1);
    request.order = {device_key::load_up, device_key::index_up, device_key::index_up};
    CHECK(allocate(devices, {request}).devices == std::vector<indices>{{1}});
    request.weights.memory = 3;
    CHECK(allocate(devices, {request}).devices == std::vector<indices>{{0}});
    request.order[0] = device_key::load_down;
    CHECK(allocate(devices, {request}).devices == std::vector<indices>{{1}});
}

TEST_CASE("the devices are sorted again for each request") {
    auto request = share(4'000);
    request.order = {device_key::memory_down, device_key::index_up, device_key::index_up};
    CHECK(allocate(gpus(2), {share(1), request, request}).devices ==
          std::vector<indices>{{0}, {0}, {0}});
    request.order = {device_key::slots_up, device_key::index_up, device_key::index_up};
    CHECK(allocate(gpus(2), {request, request, request}).devices ==
          std::vector<indices>{{0}, {1}, {0}});
}

TEST_CASE("another choice is tried for an earlier pod if a later one finds no devices") {
    auto devices = gpus(2);
    devices[1].memory = 8'000;
    CHECK(allocate(devices, {share(8'000), share(16'000)}).devices ==
          std::vector<indices>{{1}, {0}});
    const auto answer = allocate(devices, {share(8'000), share(8'000), share(16'000)});
    CHECK(answer.outcome == share_outcome::none);
    CHECK(answer.failed_request == 0);
    const auto later = allocate(devices, {share(8'000), share(8'000), share(8'000), share(8'000)});
    CHECK(later.outcome == share_outcome::none);
}

TEST_CASE("the first request that finds no devices is returned") {
    const std::vector<share_request> requests{share(9'000), share(1'000), share(9'000),
                                              share(8'000)};
    CHECK(allocate(gpus(2), requests).failed_request == 3);
    // Together they need more than there is, which is seen at once.
    CHECK(allocate(gpus(2), {share(9'000), share(12'000), share(12'000)}).failed_request == 0);
}

TEST_CASE("of equal devices only one is tried") {
    // 8 devices hold two shares of 7,000 each; by volume, 17 shares would fit.
    const std::vector<share_request> requests(17, share(7'000));
    const auto answer = allocate(gpus(8), requests, muster::hami_rules, 2'000);
    CHECK(answer.outcome == share_outcome::none);
    CHECK(answer.steps < 1'000);
}

TEST_CASE("nearly full nodes are decided, as large requests are served first after a dead end") {
    std::size_t allocated = 0;
    std::size_t not_at_once = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        muster::testing::random chance(seed);
        std::vector<share_request> requests;
        for (int device = 0; device < 8; ++device)
            for (std::int64_t left = 15'700; left > 0;) {
                const std::int64_t size = std::min(left, 1'000 * chance.between(2, 9));
                requests.push_back(share(size));
                left -= size;
            }
        chance.shuffle(requests);
        auto devices = gpus(8);
        for (auto& device : devices)
            device.slots.reset();
        const auto answer = allocate(devices, requests, muster::hami_rules, 20'000);
        allocated += answer.outcome == share_outcome::allocated ? 1U : 0U;
        not_at_once += answer.steps > 2 * static_cast<std::int64_t>(requests.size()) ? 1U : 0U;
    }
    CHECK(allocated >= 95);
    CHECK(not_at_once >= 40);
}

TEST_CASE("without remaining steps the answer is undecided") {
    const auto answer = allocate(gpus(2), {share(1), share(1)}, muster::hami_rules, 3);
    CHECK(answer.outcome == share_outcome::undecided);
    CHECK(answer.devices.empty());
    CHECK(answer.steps == 3);
    CHECK(allocate(gpus(2), {share(1), share(1)}, {}, 4).outcome == share_outcome::allocated);
    CHECK(allocate(gpus(1), {share(1)}, {}, -1).outcome == share_outcome::undecided);
}

TEST_CASE("a question with too many requests or shares is undecided") {
    auto device = gpu("g");
    device.slots.reset();
    const std::vector<share_request> most(muster::most_share_requests, share(0));
    CHECK(allocate({device}, most).outcome == share_outcome::allocated);
    auto more = most;
    more.push_back(share(0));
    CHECK(allocate({device}, more).outcome == share_outcome::undecided);
    auto devices = std::vector<shared_device>(64, device);
    CHECK(allocate(devices, std::vector<share_request>(32, share(0, 0, 64))).outcome ==
          share_outcome::allocated);
    CHECK(allocate(devices, std::vector<share_request>(33, share(0, 0, 64))).outcome ==
          share_outcome::undecided);
}

TEST_CASE("without requests or devices the answer is known at once") {
    CHECK(allocate({}, {}).outcome == share_outcome::allocated);
    CHECK(allocate({}, {share(0, 0, 0)}).devices == std::vector<indices>{{}});
    CHECK(allocate({}, {share(0)}).outcome == share_outcome::none);
}

TEST_CASE("extreme amounts neither overflow nor fit") {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    auto device = gpu("g", most);
    device.used = {most, most, most};
    device.slots.reset();
    device.cores.reset();
    CHECK(allocate({device}, {share(0, most), share(0, most)}).outcome == share_outcome::allocated);
    CHECK(allocate({device}, {share(most, most, most), share(most, most, most)}).outcome ==
          share_outcome::none);
    // The sort by size sees all three: requests for more devices than there are, and extreme cores.
    CHECK(allocate(gpus(2), {share(1), share(1, most), share(1, most, most)}).outcome ==
          share_outcome::none);
    CHECK(allocate(gpus(2), {share(-1)}).outcome == share_outcome::none);
    CHECK(allocate(gpus(2), {share(1, -1)}).outcome == share_outcome::none);
    CHECK(allocate(gpus(2), {share(1, 1, -1)}).outcome == share_outcome::none);
    share_request part;
    part.memory = memory_part{1, 0};
    CHECK(muster::refusal_of(device, part, {}) == share_refusal::malformed);
    CHECK(allocate(gpus(2), {part}).outcome == share_outcome::none);
}

TEST_CASE("the shares of an allocation are added to the use of the devices") {
    auto request = share(5, 20);
    request.group = "g";
    const auto devices = gpus(2);
    const std::vector<share_request> requests{request, request};
    const auto used = muster::with_shares(devices, requests, allocate(devices, requests));
    CHECK(used[0].used == muster::share_amounts{2, 10, 40});
    CHECK(used[0].sharers.size() == 2);
    CHECK(used[1] == devices[1]);
}

TEST_CASE("on random nodes the answer agrees with a search of all assignments") {
    const auto count = muster::testing::case_count(20'000);
    const auto seed = muster::testing::random_seed();
    std::size_t allocated = 0;
    std::size_t searched = 0;
    for (std::uint64_t at = 0; at < count; ++at) {
        const share_world world = share_worlds::maker(seed * 1'000'003 + at).make();
        const auto answer = allocate(world.devices, world.requests, world.rules);
        INFO("seed ", seed, " case ", at);
        REQUIRE(answer.outcome != share_outcome::undecided);
        const bool found = answer.outcome == share_outcome::allocated;
        REQUIRE(found == share_worlds::oracle(world).exists());
        if (found)
            REQUIRE(share_worlds::oracle(world).allows(answer.devices));
        allocated += found ? 1U : 0U;
        std::int64_t least = 0;
        for (const auto& request : world.requests)
            least += 1 + (found ? request.count : 0);
        searched += found && answer.steps > least ? 1U : 0U;
    }
    MESSAGE(count, " nodes: ", allocated, " allocated, ", searched, " not by the first choice");
    if (muster::testing::all_cases(20'000)) {
        CHECK(allocated > count / 5);
        CHECK(allocated < count * 4 / 5);
        CHECK(searched > count / 200);
    }
}

} // namespace share_allocator_test
