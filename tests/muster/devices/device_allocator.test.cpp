// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/devices/device_allocator.hpp>
#include <muster/testing/random.hpp>
#include <support/settings.hpp>

#include "muster/devices/device_oracle.hpp"
#include "muster/devices/device_worlds.hpp"

namespace {

using device_worlds::device_world;
using device_worlds::units;
using muster::device_outcome;

muster::device_allocation allocate(const device_world& world, std::int64_t max_steps = 100'000) {
    const muster::device_features features;
    const auto views = world.views();
    return muster::allocate_devices(muster::gather_pools(views, features), world.usage,
                                    world.classes, world.claims, features, max_steps);
}

std::vector<std::vector<muster::device_id>> devices_of(const muster::device_allocation& of) {
    std::vector<std::vector<muster::device_id>> all;
    for (const auto& claim : of.claims) {
        all.emplace_back();
        for (const auto& device : claim.devices)
            all.back().push_back(device.id);
    }
    return all;
}

std::string text_of(const std::vector<std::vector<muster::device_id>>& claims) {
    std::string text;
    for (const auto& claim : claims) {
        for (const auto& id : claim)
            text += id.pool + '/' + id.device + ' ';
        text += "; ";
    }
    return text;
}

} // namespace

namespace {

/// A node with one pool, for a claim or several.
struct node_with_pool {
    device_world world;

    node_with_pool() {
        world.slices.push_back({"slice", "d", "pool", 1, 1, {}, {}});
        world.classes["any"] = {};
    }

    muster::device& add(const std::string& name) {
        auto& devices = world.slices.front().devices;
        devices.emplace_back();
        devices.back().name = name;
        devices.back().attributes.driver = "d";
        return devices.back();
    }

    muster::device_alternative& ask(std::int64_t count = 1) {
        if (world.claims.empty())
            claim();
        auto& requests = world.claims.back().requests;
        requests.push_back({"r" + std::to_string(requests.size()), {}, false});
        requests.back().alternatives.emplace_back();
        auto& made = requests.back().alternatives.back();
        made.class_name = "any";
        made.count = count;
        return made;
    }

    muster::device_claim& claim() {
        world.claims.emplace_back();
        world.claims.back().name = "c" + std::to_string(world.claims.size() - 1);
        return world.claims.back();
    }

    [[nodiscard]] std::string devices() const {
        const auto got = allocate(world);
        if (got.outcome == device_outcome::failed)
            return std::string(message(got.error));
        return got.outcome == device_outcome::allocated ? text_of(devices_of(got)) : "none";
    }
};

/// GPUs whose slices are partitions: `count` of them, with seven slices of one memory unit each.
device_world partitioned_gpus(std::size_t count) {
    node_with_pool node;
    muster::device_slice counters{"counters", "d", "pool", 1, 2, {}, {}};
    for (std::size_t gpu = 0; gpu < count; ++gpu) {
        const auto set = "gpu" + std::to_string(gpu);
        counters.counter_sets.push_back({set, {{"memory", units(8)}, {"engines", units(7)}}});
        for (std::int64_t size : {1, 2, 3, 4, 7})
            for (std::int64_t place = 0; place < 7 / size; ++place) {
                auto& device =
                    node.add(set + '-' + std::to_string(size) + '-' + std::to_string(place));
                device.attributes.attributes["d/profile"] = size;
                device.attributes.attributes["d/gpu"] = static_cast<std::int64_t>(gpu);
                device.consumes.push_back(
                    {set, {{"memory", units(size)}, {"engines", units(size)}}, {}});
            }
    }
    node.world.slices.front().slice_count = 2;
    node.world.slices.push_back(std::move(counters));
    return std::move(node.world);
}

/// A claim for each size: one partition.
void ask_partitions(device_world& of, std::size_t count, std::int64_t size) {
    for (std::size_t index = 0; index < count; ++index) {
        of.claims.emplace_back();
        of.claims.back().requests.push_back({"r", {}, false});
        auto& alternatives = of.claims.back().requests.back().alternatives;
        alternatives.emplace_back();
        alternatives.back().class_name = "any";
        alternatives.back().selectors.push_back(muster::read_request_selector(
            "device.attributes['d'].profile == " + std::to_string(size)));
    }
}

} // namespace

TEST_CASE("a claim that is limited to some devices gets no others") {
    node_with_pool node;
    for (const char* const each : {"a", "b", "c"})
        node.add(each);
    node.ask();
    node.claim();
    node.ask();
    CHECK(node.devices() == "pool/a ; pool/b ; ");
    const auto id = [](const char* name) { return muster::device_id{"d", "pool", name}; };
    node.world.claims[0].among = {id("b"), id("c")};
    CHECK(node.devices() == "pool/b ; pool/a ; ");
    // The first claim leaves the only device of the second one.
    node.world.claims[1].among = {id("b")};
    CHECK(node.devices() == "pool/c ; pool/b ; ");
    node.world.claims[0].among = {id("b")};
    CHECK(node.devices() == "none");
    node.world.claims[0].among.emplace();
    CHECK(node.devices() == "none");
}

TEST_CASE("claims get the first devices in order of pools, slices and devices") {
    node_with_pool node;
    node.world.slices.front().name = "b";
    node.world.slices.front().slice_count = 2;
    node.add("second");
    node.world.slices.push_back({"a", "d", "pool", 1, 2, {}, {}});
    node.world.slices.back().devices.emplace_back().name = "first";
    node.world.slices.push_back({"z", "d", "earlier", 1, 1, {}, {}});
    node.world.slices.back().devices.emplace_back().name = "only";
    node.ask(2);
    CHECK(node.devices() == "earlier/only pool/first ; ");
    // Pools with binding conditions come last.
    node.world.slices.back().devices.front().binding_conditions = {"Attached"};
    CHECK(node.devices() == "pool/first pool/second ; ");
}

TEST_CASE("devices in use are for admin access only") {
    node_with_pool node;
    node.add("used");
    node.add("free");
    node.world.usage.whole.insert({"d", "pool", "used"});
    CHECK((node.ask(), node.devices()) == "pool/free ; ");
    node.ask().admin_access = true;
    CHECK(node.devices() == "pool/free pool/used ; ");
    node.ask();
    CHECK(node.devices() == "none");
}

TEST_CASE("an alternative counts only where those before it have no devices") {
    node_with_pool node;
    node.add("a");
    node.ask(2).name = "two";
    auto& request = node.world.claims.back().requests.back();
    request.is_prioritized = true;
    request.alternatives.push_back(request.alternatives.front());
    request.alternatives.back().name = "one";
    request.alternatives.back().count = 1;
    const auto got = allocate(node.world);
    REQUIRE(got.outcome == device_outcome::allocated);
    CHECK(got.claims.front().chosen == std::vector<std::size_t>{1});
    CHECK(got.claims.front().devices.front().request == "r0/one");
    node.add("b");
    CHECK(allocate(node.world).claims.front().devices.front().request == "r0/two");
}

TEST_CASE("a request for all devices needs complete pools, all devices, and at least one") {
    node_with_pool node;
    node.add("a");
    node.add("b");
    node.ask().mode = muster::device_count_mode::all;
    CHECK(node.devices() == "pool/a pool/b ; ");
    node.world.usage.whole.insert({"d", "pool", "b"});
    CHECK(node.devices() == "none");
    node.world.slices.front().slice_count = 2;
    CHECK(node.devices() == message(muster::device_errc::unusable_pool));
    node.world.slices.clear();
    CHECK(node.devices() == "none");
}

TEST_CASE("shares of a device consume its capacities until nothing is left") {
    node_with_pool node;
    auto& gpu = node.add("gpu");
    gpu.attributes.allows_multiple_allocations = true;
    gpu.capacities.push_back({"memory", units(10), muster::capacity_policy{units(4), {}, {}}});
    node.world.usage.shared[{"d", "pool", "gpu"}] = {{"memory", units(1)}};
    node.ask().capacities["memory"] = units(5);
    auto got = allocate(node.world);
    REQUIRE(got.outcome == device_outcome::allocated);
    CHECK(got.claims.front().devices.front().is_share);
    CHECK(got.claims.front().devices.front().consumed.at("memory") == units(5));
    node.ask();
    got = allocate(node.world);
    REQUIRE(got.outcome == device_outcome::allocated);
    CHECK(got.claims.front().devices.back().consumed.at("memory") == units(4));
    node.ask();
    CHECK(node.devices() == "none");
}

TEST_CASE("an allocation that cannot be says at which request") {
    node_with_pool node;
    node.add("a");
    node.ask();
    node.claim();
    node.ask();
    node.ask();
    const auto got = allocate(node.world);
    CHECK(got.outcome == device_outcome::none);
    CHECK(got.claim == 1);
    CHECK(got.request == 0);
}

TEST_CASE("a selector that fails counts only where the search gets to its device") {
    node_with_pool node;
    node.add("a").attributes.attributes["d/fast"] = true;
    node.add("b");
    node.ask().selectors.push_back(muster::read_request_selector("device.attributes['d'].fast"));
    CHECK(node.devices() == "pool/a ; ");
    node.world.usage.whole.insert({"d", "pool", "a"});
    CHECK(node.devices() == message(muster::device_errc::selector_failed));
    node.world.claims.front().requests.front().alternatives.front().selectors = {
        muster::read_request_selector("1.5 < 2.0")};
    CHECK(node.devices() == message(muster::device_errc::selector_not_supported));
}

TEST_CASE("a derived attribute counts only where a constraint reads it") {
    node_with_pool node;
    node.add("a").attributes.attributes["d/numa"] = std::int64_t{1};
    node.add("b").attributes.attributes["d/numa"] = std::int64_t{0};
    node.add("c").attributes.attributes["d/numa"] = std::int64_t{3};
    node.ask(2).derived = {
        muster::read_derived_attribute("y/half", "device.attributes['d'].numa / 2"),
        muster::read_derived_attribute("y/none", "device.attributes['d'].none")};
    CHECK(node.devices() == "pool/a pool/b ; ");
    auto& constraints = node.world.claims.front().constraints;
    constraints.push_back({muster::device_constraint_kind::distinct, "y/half", {"r0"}});
    CHECK(node.devices() == "pool/a pool/c ; ");
    constraints.push_back({muster::device_constraint_kind::match, "y/none", {"other"}});
    CHECK(node.devices() == "pool/a pool/c ; ");
    constraints.back().requests.clear();
    CHECK(node.devices() == message(muster::device_errc::selector_failed));
}

TEST_CASE("a claim has at most 32 devices") {
    node_with_pool node;
    for (int device = 0; device < 40; ++device)
        node.add(std::to_string(device));
    node.ask(32);
    CHECK(allocate(node.world).outcome == device_outcome::allocated);
    node.ask();
    CHECK(node.devices() == message(muster::device_errc::too_many_devices));
    node.world.claims.front().requests.pop_back();
    node.claim();
    node.ask(8);
    CHECK(allocate(node.world).outcome == device_outcome::allocated);
}

TEST_CASE("the search ends undecided when its steps are used up") {
    node_with_pool node;
    node.add("a");
    node.add("b");
    node.ask(2);
    CHECK(allocate(node.world, 1).outcome == device_outcome::undecided);
    CHECK(allocate(node.world, 2).outcome == device_outcome::allocated);
    CHECK(allocate(node.world, 2).steps == 2);
}

TEST_CASE("which request has a device matters where a constraint applies to some requests") {
    node_with_pool node;
    node.add("a").attributes.attributes["d/numa"] = std::int64_t{1};
    node.add("b").attributes.attributes["d/numa"] = std::int64_t{0};
    node.add("c").attributes.attributes["d/numa"] = std::int64_t{0};
    node.ask();
    node.ask();
    node.ask();
    node.world.claims.front().constraints.push_back(
        {muster::device_constraint_kind::match, "d/numa", {"r0", "r2"}});
    // With a and b held by r0 and r1 there is nothing for r2; with b and a there is.
    CHECK(node.devices() == "pool/b pool/a pool/c ; ");
}

TEST_CASE("devices that are alike are not tried one after the other") {
    node_with_pool node;
    for (int device = 0; device < 30; ++device)
        node.add(std::to_string(device));
    node.ask(20);
    node.claim();
    node.ask(11);
    const auto got = allocate(node.world);
    CHECK(got.outcome == device_outcome::none);
    CHECK(got.steps < 100);
}

TEST_CASE("partitions of GPUs that are alike are not tried one after the other") {
    // Eight GPUs hold 16 partitions of three slices; a 17th, with two of one slice.
    auto world = partitioned_gpus(8);
    ask_partitions(world, 16, 3);
    CHECK(allocate(world).outcome == device_outcome::allocated);
    ask_partitions(world, 8, 1);
    const auto full = allocate(world);
    CHECK(full.outcome == device_outcome::allocated);
    ask_partitions(world, 1, 1);
    const auto none = allocate(world);
    CHECK(none.outcome == device_outcome::none);
    CHECK(none.steps < 5000);
    // Small ones first: first fit must be undone. Seven small ones and a big one need two GPUs.
    auto mixed = partitioned_gpus(8);
    ask_partitions(mixed, 14, 1);
    ask_partitions(mixed, 6, 7);
    CHECK(allocate(mixed).outcome == device_outcome::allocated);
    ask_partitions(mixed, 1, 7);
    const auto over = allocate(mixed);
    CHECK(over.outcome == device_outcome::none);
    CHECK(over.steps < 5000);
}

TEST_CASE("the allocator finds the first allocation that a search of all choices finds") {
    const auto seed = muster::testing::random_seed();
    CAPTURE(seed);
    const std::uint64_t usually = 4000;
    std::size_t found = 0;
    std::size_t none = 0;
    for (std::uint64_t index = 0; index < muster::testing::case_count(usually); ++index) {
        CAPTURE(index);
        const auto world = device_worlds::maker(seed * 1'000'003 + index).make();
        device_oracle::oracle oracle(world);
        const auto expected = oracle.search();
        const auto got = allocate(world);
        REQUIRE(got.outcome == (expected ? device_outcome::allocated : device_outcome::none));
        if (!expected) {
            ++none;
            continue;
        }
        ++found;
        CHECK(oracle.fault(got) == "");
        CHECK(text_of(devices_of(got)) == text_of(oracle.devices_of(*expected)));
    }
    if (muster::testing::all_cases(usually)) {
        CHECK(found > usually / 5);
        CHECK(none > usually / 5);
    }
}
