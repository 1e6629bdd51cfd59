// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/devices/device_pools.hpp>

namespace {

muster::device_slice slice(const std::string& name, const std::string& pool,
                           std::int64_t generation, std::int64_t count,
                           const std::string& device = {}) {
    muster::device_slice made{name, "d", pool, generation, count, {}, {}};
    if (!device.empty())
        made.devices.emplace_back().name = device;
    return made;
}

muster::device_slice with_counters(const std::string& name, const std::string& pool) {
    auto made = slice(name, pool, 1, 2);
    made.counter_sets.push_back({"set", {{"memory", {}}}});
    return made;
}

muster::slice_view here(const muster::device_slice& slice) {
    return {&slice, true, {}, true};
}
muster::slice_view elsewhere(const muster::device_slice& slice) {
    return {&slice, false, {}, true};
}

std::string text_of(const std::vector<muster::slice_view>& views,
                    const muster::device_features& features = {}) {
    std::string text;
    for (const auto& pool : muster::gather_pools(views, features)) {
        text += pool.name + (pool.state == muster::pool_state::incomplete ? " incomplete" : "");
        text += pool.defect.empty() ? "" : " invalid";
        for (const auto* view : pool.on_node)
            text += ' ' + view->slice->name;
        text += "; ";
    }
    return text;
}

} // namespace

TEST_CASE("pools are listed by driver and name, and their slices by name") {
    const auto b = slice("b", "one", 1, 2);
    const auto a = slice("a", "one", 1, 2);
    const auto c = slice("c", "another", 1, 1);
    CHECK(text_of({here(b), here(a), here(c)}) == "another c; one a b; ");
    auto conditional = slice("d", "a", 1, 1, "device");
    conditional.devices.front().binding_conditions = {"Attached"};
    CHECK(text_of({here(conditional), here(c)}) == "another c; a d; ");
}

TEST_CASE("only the newest generation counts") {
    const auto first = slice("first", "pool", 1, 1);
    const auto second = slice("second", "pool", 2, 1);
    CHECK(text_of({here(first), here(second)}) == "pool second; ");
    CHECK(text_of({here(second), here(first)}) == "pool second; ");
}

TEST_CASE("a generation that is replaced elsewhere is used while all of it is here") {
    const auto whole = slice("whole", "pool", 1, 1);
    const auto part = slice("part", "pool", 1, 2);
    const auto newer = slice("newer", "pool", 2, 1);
    CHECK(text_of({here(whole), elsewhere(newer)}) == "pool whole; ");
    CHECK(text_of({here(part), elsewhere(newer)}) == "");
}

TEST_CASE("a pool of which slices are missing is incomplete") {
    const auto a = slice("a", "pool", 1, 2);
    const auto b = slice("b", "pool", 1, 2);
    CHECK(text_of({here(a)}) == "pool incomplete; ");
    CHECK(text_of({here(a), elsewhere(b)}) == "pool a; ");
    CHECK(text_of({elsewhere(b)}) == "");
}

TEST_CASE("a pool is invalid if two devices or counter sets have one name") {
    const auto a = slice("a", "pool", 1, 2, "device");
    const auto b = slice("b", "pool", 1, 2, "device");
    CHECK(text_of({here(a), here(b)}) == "pool invalid; ");
    // Kubernetes compares the names on one node only.
    CHECK(text_of({here(a), elsewhere(b)}) == "pool a; ");
    CHECK(text_of({here(with_counters("a", "pool")), here(with_counters("b", "pool"))}) ==
          "pool invalid; ");
}

TEST_CASE("a pool is invalid if a device consumes a counter that does not exist") {
    const auto counters = with_counters("counters", "pool");
    auto devices = slice("devices", "pool", 1, 2, "device");
    auto& consumes = devices.devices.front().consumes;
    consumes.push_back({"set", {{"memory", {}}}, {}});
    CHECK(text_of({here(devices), here(counters)}) == "pool devices; ");
    CHECK(text_of({here(devices), elsewhere(counters)}) == "pool devices; ");
    consumes.front().counters.emplace("engines", muster::quantity{});
    CHECK(text_of({here(devices), here(counters)}) == "pool invalid; ");
    consumes.front() = {"other", {}, {}};
    CHECK(text_of({here(devices), here(counters)}) == "pool invalid; ");
}

TEST_CASE("without their features, counters and compatibility groups make pools incomplete") {
    const auto counters = with_counters("counters", "pool");
    auto devices = slice("devices", "pool", 1, 2, "device");
    devices.devices.front().consumes.push_back({"set", {}, {"group"}});
    muster::device_features features;
    CHECK(text_of({here(devices), here(counters)}, features) == "pool devices; ");
    features.compatibility_groups = false;
    CHECK(text_of({here(devices), here(counters)}, features) == "pool incomplete; ");
    features.compatibility_groups = true;
    features.partitionable_devices = false;
    CHECK(text_of({here(devices), here(counters)}, features) == "pool devices; ");
    CHECK(text_of({here(counters)}, features) == "");
}
