// SPDX-License-Identifier: Apache-2.0
#include <muster/kube/gpu_groups.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace gpu_groups_test {

using namespace muster::kube;
using muster::codec::share_demand;
using muster::codec::share_stock;
using muster::codec::share_system;

namespace {

share_stock devices(std::size_t count) {
    share_stock made{share_system::kai, {}};
    made.devices.resize(count);
    for (auto& each : made.devices)
        each.memory = 1000;
    return made;
}
muster::share_request half() {
    muster::share_request made;
    made.memory = muster::memory_part{1, 2};
    return made;
}
chosen_gpus of_group(const std::string& group) {
    return {{{group}, "0.50"}, muster::memory_part{1, 2}, 0};
}
std::vector<std::size_t> held(const share_demand& by) {
    std::vector<std::size_t> made;
    for (const auto& each : by.held)
        made.push_back(each.at);
    return made;
}

const std::vector<std::string> ids{"g", "idle/0", "idle/1"};
using places = std::vector<std::size_t>;

} // namespace

TEST_CASE("a group holds its device, or one idle device until its reservation is observed") {
    gpu_groups on(devices(3), ids, {});
    CHECK(held(on.hold(of_group("g"))) == places{0});
    CHECK(held(on.hold(of_group("new"))) == places{1});
    CHECK(held(on.hold(of_group("new"))) == places{1});
    const share_demand& whole = on.hold({{}, muster::whole_memory{}, 1});
    CHECK(held(whole) == places{2});
    CHECK(whole.held.front().amounts.memory == 1000);
    CHECK(on.hold(of_group("g")).held.front().amounts.memory == 500);
}

TEST_CASE("a node with fewer devices than were chosen serves no further pods") {
    gpu_groups on(devices(3), ids, {});
    for (const char* const each : {"a", "b", "c"})
        static_cast<void>(on.hold(of_group(each)));
    for (const auto& each : on.stock().devices)
        CHECK_FALSE(each.healthy);
}

TEST_CASE("an idle device gets one new group, and a device with a group keeps it") {
    gpu_groups on(devices(3), ids, {});
    static_cast<void>(on.hold(of_group("new")));
    CHECK(on.name(half(), {0, 1}, "u", "n", "1").fraction.groups ==
          std::vector<std::string>{"g", "new"});
    const auto first = on.name(half(), {2}, "u", "n", "1").fraction;
    CHECK(first.portion == "0.50");
    CHECK(on.name(half(), {2}, "other", "n", "2").fraction.groups == first.groups);
    gpu_groups again(devices(3), ids, {});
    CHECK(again.name(half(), {2}, "u", "n", "2").fraction.groups != first.groups);
    CHECK(again.name(half(), {1}, "u", "n", "1").fraction.groups != first.groups);
    muster::share_request whole;
    whole.needs_idle = true;
    CHECK(on.name(whole, {1, 2}, "u", "n", "1").fraction.groups.empty());
    CHECK(on.name(whole, {1, 2}, "u", "n", "1").whole == 2);
}

TEST_CASE("devices of groups that leave get no pods") {
    const gpu_groups on(devices(3), ids, {"g"});
    CHECK_FALSE(on.stock().devices[0].healthy);
    CHECK(on.stock().devices[1].healthy);
}

} // namespace gpu_groups_test
