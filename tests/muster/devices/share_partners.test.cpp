// SPDX-License-Identifier: Apache-2.0
#include <muster/devices/share_partners.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/devices/share_allocator.hpp>
#include <muster/testing/random.hpp>
#include <support/settings.hpp>

#include "muster/devices/partner_worlds.hpp"

namespace share_partners_test {

namespace {

using muster::share_allocation;
using muster::share_outcome;
using muster::share_request;
using muster::shared_device;
using indices = std::vector<std::size_t>;

/// Two GPUs at each of two PCIe roots of one NUMA node, and a NIC of 100 at each root.
std::vector<shared_device> node() {
    std::vector<shared_device> all;
    for (std::size_t index = 0; index < 6; ++index) {
        auto& device = all.emplace_back();
        device.id = std::to_string(index);
        device.memory = 100;
        device.cores = 0;
        device.numa = 0;
        device.pcie = index < 2 || index == 4 ? "a" : "b";
        device.type = index < 4 ? "" : "rdma";
    }
    return all;
}

share_request nics(std::int64_t memory, std::int64_t count = 1) {
    share_request made;
    made.count = count;
    made.memory = muster::memory_amount{memory};
    made.filter.type = "rdma";
    return made;
}

share_request gpus(std::int64_t count) {
    share_request made;
    made.count = count;
    made.prefers_near = true;
    return made;
}

/// GPUs, and a part of a NIC with them.
share_request joint(std::int64_t count, std::int64_t memory, bool at_same_roots = false) {
    share_request made = gpus(count);
    made.partners = {nics(memory)};
    made.partners_at_same_roots = at_same_roots;
    return made;
}

share_allocation allocate(const std::vector<shared_device>& devices,
                          const std::vector<share_request>& requests) {
    return muster::allocate_shares(devices, requests, muster::koordinator_rules, 100'000);
}

} // namespace

TEST_CASE("a request gets devices of its type only") {
    CHECK(allocate(node(), {nics(50, 2)}).devices == std::vector<indices>{{4, 5}});
    CHECK(allocate(node(), {nics(50, 3)}).outcome == share_outcome::none);
    CHECK(allocate(node(), {gpus(4)}).devices == std::vector<indices>{{0, 1, 2, 3}});
    CHECK(allocate(node(), {gpus(5)}).outcome == share_outcome::none);
}

TEST_CASE("a partner gets a device at each PCIe root of the devices beside it, if they are free") {
    auto devices = node();
    devices[0].used = {1, 100, 0};
    devices[1].used = {1, 100, 0};
    CHECK(allocate(devices, {joint(1, 50)}).devices == std::vector<indices>{{2, 5}});
    CHECK(allocate(node(), {joint(3, 50)}).devices == std::vector<indices>{{0, 1, 2, 4, 5}});
    devices = node();
    devices[5].used = {1, 60, 0};
    CHECK(allocate(devices, {joint(3, 50)}).devices == std::vector<indices>{{0, 1, 2, 4}});
}

TEST_CASE("a partner gets devices at other roots unless the roots must be the same") {
    auto devices = node();
    devices[4].healthy = false;
    devices[2].healthy = devices[3].healthy = false;
    CHECK(allocate(devices, {joint(1, 50)}).devices == std::vector<indices>{{0, 5}});
    CHECK(allocate(devices, {joint(1, 50, true)}).outcome == share_outcome::none);
}

TEST_CASE(
    "with the same roots required, other devices are tried if the first ones have no partner") {
    auto devices = node();
    devices[4].used = {1, 100, 0};
    CHECK(allocate(devices, {joint(1, 50, true)}).devices == std::vector<indices>{{2, 5}});
    CHECK(allocate(devices, {joint(3, 50, true)}).outcome == share_outcome::none);
    CHECK(allocate(node(), {joint(3, 50, true)}).devices == std::vector<indices>{{0, 1, 2, 4, 5}});
}

TEST_CASE("requests for joint devices are served together or not at all") {
    CHECK(allocate(node(), {joint(2, 100, true), joint(2, 100, true)}).devices ==
          std::vector<indices>{{0, 1, 4}, {2, 3, 5}});
    CHECK(
        allocate(node(), {joint(1, 100, true), joint(1, 100, true), joint(1, 100, true)}).outcome ==
        share_outcome::none);
    CHECK(allocate(node(), {joint(1, 50), joint(1, 50), joint(1, 50)}).outcome ==
          share_outcome::allocated);
}

TEST_CASE("a request for all devices needs each device that the filter accepts") {
    auto all = nics(50, 0);
    all.takes_all = true;
    CHECK(allocate(node(), {all}).devices == std::vector<indices>{{4, 5}});
    CHECK(allocate(node(), {all, all}).outcome == share_outcome::allocated);
    auto devices = node();
    devices[5].healthy = false;
    CHECK(allocate(devices, {all}).outcome == share_outcome::none);
    devices[4].labels["speed"] = "400";
    all.filter.labels = {{"speed", muster::device_label_operator::in, {"400", "200"}}};
    CHECK(allocate(devices, {all}).devices == std::vector<indices>{{4}});
    all.filter.labels = {{"speed", muster::device_label_operator::in, {"100"}}};
    CHECK(allocate(devices, {all}).outcome == share_outcome::none);
}

TEST_CASE("each device gives the first free virtual function that the request accepts, once") {
    auto devices = node();
    devices.erase(devices.begin() + 5);
    devices[4].functions = {{"01.0", 0, {{"kind", "a"}}, true},
                            {"01.1", 1, {{"kind", "b"}}, false},
                            {"01.2", 2, {{"kind", "a"}}, false}};
    auto any = nics(1);
    any.function.emplace();
    auto first_kind = nics(1);
    first_kind.function = {{"kind", muster::device_label_operator::in, {"a"}}};
    CHECK(allocate(devices, {any}).functions == std::vector<indices>{{1}});
    CHECK(allocate(devices, {first_kind}).functions == std::vector<indices>{{2}});
    CHECK(allocate(devices, {any, first_kind}).functions == std::vector<indices>{{1}, {2}});
    CHECK(allocate(devices, {first_kind, first_kind}).outcome == share_outcome::none);
    CHECK(allocate(devices, {nics(1)}).functions == std::vector<indices>{{muster::no_function}});
    CHECK(muster::refusal_of(devices[3], any, {}) == muster::share_refusal::filtered);
    devices[4].functions[1].in_use = devices[4].functions[2].in_use = true;
    CHECK(muster::refusal_of(devices[4], any, {}) == muster::share_refusal::functions);
}

TEST_CASE("another virtual function is tried if the first choice leaves none for a later request") {
    auto devices = node();
    devices.erase(devices.begin() + 5);
    devices[4].functions = {{"01.0", 0, {{"kind", "a"}}, false}, {"01.1", 1, {}, false}};
    auto any = nics(1);
    any.function.emplace();
    auto labeled = nics(1);
    labeled.function = {{"kind", muster::device_label_operator::exists, {}}};
    CHECK(allocate(devices, {any, labeled}).functions == std::vector<indices>{{1}, {0}});
}

namespace {

/// NICs at one root, each with a number of virtual functions.
std::vector<shared_device> nics_with_functions(std::size_t count, std::size_t functions) {
    std::vector<shared_device> all(count, node()[4]);
    for (std::size_t index = 0; index < count; ++index)
        for (std::size_t at = 0; at < functions; ++at)
            all[index].functions.push_back(
                {std::to_string(100 * index + at), static_cast<std::int64_t>(at)});
    return all;
}

} // namespace

TEST_CASE("devices whose virtual functions differ in bus ids only are alike") {
    const std::vector<share_request> parts(17, nics(40));
    const auto without = allocate(nics_with_functions(8, 0), parts);
    const auto with = allocate(nics_with_functions(8, 8), parts);
    CHECK(without.outcome == share_outcome::none);
    CHECK(with.outcome == share_outcome::none);
    CHECK(with.steps == without.steps);
    auto any = nics(40);
    any.function.emplace();
    CHECK(allocate(nics_with_functions(8, 8), std::vector<share_request>(17, any)).outcome ==
          share_outcome::none);
}

TEST_CASE("one request more than there are virtual functions is refused in few steps") {
    auto any = nics(1);
    any.function.emplace();
    const auto devices = nics_with_functions(8, 4);
    CHECK(allocate(devices, std::vector<share_request>(32, any)).outcome ==
          share_outcome::allocated);
    const auto made = allocate(devices, std::vector<share_request>(33, any));
    CHECK(made.outcome == share_outcome::none);
    CHECK(made.steps < 100);
}

TEST_CASE("a root without a device for the partner is refused in few steps") {
    auto devices = node();
    for (std::size_t each = 0; each < 30; ++each)
        devices.push_back(devices[4]);
    devices.erase(devices.begin() + 5);
    auto request = joint(4, 100, true);
    request.partners[0].count = 15;
    const auto made = allocate(devices, {request});
    CHECK(made.outcome == share_outcome::none);
    CHECK(made.steps < 100);
    devices.push_back(node()[5]);
    CHECK(allocate(devices, {request}).outcome == share_outcome::allocated);
}

TEST_CASE("virtual functions and partners of an allocation count as used") {
    auto devices = node();
    devices[4].functions = {{"01.0", 0, {}, false}};
    devices[5].functions = {{"02.0", 0, {}, false}};
    auto request = joint(2, 30);
    request.partners[0].function.emplace();
    const std::vector<share_request> requests{request};
    const auto used = muster::with_shares(devices, requests, allocate(devices, requests));
    CHECK(used[0].used.memory == 100);
    CHECK(used[4].used == muster::share_amounts{1, 30, 0});
    CHECK(used[4].functions[0].in_use);
    CHECK_FALSE(used[5].functions[0].in_use);
}

TEST_CASE("with partners and partitions the answer agrees with a search of all assignments") {
    const auto count = muster::testing::case_count(20'000);
    const auto seed = muster::testing::random_seed();
    std::size_t allocated = 0;
    std::size_t joined = 0;
    for (std::uint64_t at = 0; at < count; ++at) {
        const auto world = partner_worlds::maker(seed * 1'000'003 + at).make();
        const auto answer = muster::allocate_shares(
            world.devices, world.requests, muster::koordinator_rules, 200'000, world.table);
        INFO("seed ", seed, " case ", at);
        REQUIRE(answer.outcome != share_outcome::undecided);
        const bool found = answer.outcome == share_outcome::allocated;
        REQUIRE(found == partner_worlds::oracle(world).exists());
        if (found)
            REQUIRE(partner_worlds::oracle(world).allows(answer));
        allocated += found ? 1U : 0U;
        bool has_partner = false;
        for (const auto& request : world.requests)
            has_partner = has_partner || !request.partners.empty();
        joined += found && has_partner ? 1U : 0U;
    }
    MESSAGE(count, " nodes: ", allocated, " allocated, ", joined, " with partners");
    if (muster::testing::all_cases(20'000)) {
        CHECK(allocated > count / 8);
        CHECK(allocated < count * 7 / 8);
        CHECK(joined > count / 50);
    }
}

} // namespace share_partners_test
