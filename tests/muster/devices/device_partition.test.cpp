// SPDX-License-Identifier: Apache-2.0
#include <muster/devices/device_partition.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/devices/share_allocator.hpp>

namespace device_partition_test {

namespace {

using muster::partition_table;
using muster::partition_wish;
using muster::share_outcome;
using indices = std::vector<std::size_t>;

std::vector<muster::shared_device> gpus(std::size_t count) {
    std::vector<muster::shared_device> all;
    for (std::size_t index = 0; index < count; ++index) {
        auto& device = all.emplace_back();
        device.id = std::to_string(index);
        device.memory = 100;
    }
    return all;
}

muster::share_request whole(std::int64_t count, const partition_wish& wish = {}) {
    muster::share_request made;
    made.count = count;
    made.partition = wish;
    return made;
}

std::vector<indices> chosen(const std::vector<muster::shared_device>& devices,
                            const std::vector<muster::share_request>& requests,
                            const partition_table& table) {
    return muster::allocate_shares(devices, requests, muster::koordinator_rules, 10'000, table)
        .devices;
}

/// Pairs {0, 3} and {1, 2} of score 1, and {0, 1} of score 2.
partition_table pairs() {
    partition_table made;
    made.partitions = {{{0, 1}, 2, {}}, {{3, 0}, 1, 100}, {{1, 2}, 1, 300}};
    return made;
}

} // namespace

TEST_CASE("partitions come first, in the order of their scores and with their own order") {
    CHECK(chosen(gpus(4), {whole(2)}, pairs()) == std::vector<indices>{{3, 0}});
    CHECK(chosen(gpus(4), {whole(2)}, {}) == std::vector<indices>{{0, 1}});
    CHECK(chosen(gpus(4), {whole(1)}, pairs()) == std::vector<indices>{{0}});
}

TEST_CASE("a partition of which a device is in use, unhealthy or missing is not given") {
    auto devices = gpus(4);
    devices[3].used = {1, 10, 0};
    CHECK(chosen(devices, {whole(2)}, pairs()) == std::vector<indices>{{1, 2}});
    devices[2].healthy = false;
    CHECK(chosen(devices, {whole(2)}, pairs()) == std::vector<indices>{{0, 1}});
    CHECK(chosen(gpus(3), {whole(2)}, pairs()) == std::vector<indices>{{1, 2}});
}

TEST_CASE("if partitions are required, only their sets are given") {
    const partition_wish required{true, false, {}};
    CHECK(chosen(gpus(4), {whole(2, required), whole(2, required)}, pairs()) ==
          std::vector<indices>{{3, 0}, {1, 2}});
    CHECK(chosen(gpus(4), {whole(1, required)}, pairs()).empty());
    CHECK(chosen(gpus(4), {whole(2, required)}, {}).empty());
    auto table = pairs();
    table.is_required = true;
    CHECK(chosen(gpus(4), {whole(1)}, table).empty());
    auto shared = whole(1);
    shared.partition.reset();
    CHECK(chosen(gpus(4), {shared}, table) == std::vector<indices>{{0}});
}

TEST_CASE("a restricted request gets partitions of the least score only") {
    auto devices = gpus(4);
    devices[2].healthy = devices[3].healthy = false;
    CHECK(chosen(devices, {whole(2, {true, false, {}})}, pairs()) == std::vector<indices>{{0, 1}});
    CHECK(chosen(devices, {whole(2, {true, true, {}})}, pairs()).empty());
}

TEST_CASE("a partition without the bandwidth, or of unknown bandwidth, is not given") {
    CHECK(chosen(gpus(4), {whole(2, {true, false, 200})}, pairs()) == std::vector<indices>{{1, 2}});
    CHECK(chosen(gpus(4), {whole(2, {true, false, 301})}, pairs()).empty());
}

TEST_CASE("of equal partitions, the one that leaves the most others whole is given") {
    partition_table table;
    for (std::size_t index = 0; index < 4; ++index)
        table.partitions.push_back({{index}, 1, {}});
    table.partitions.push_back({{0, 1}, 1, {}});
    table.partitions.push_back({{2, 3}, 1, {}});
    auto devices = gpus(4);
    CHECK(chosen(devices, {whole(1)}, table) == std::vector<indices>{{0}});
    devices[3].used = {1, 100, 0};
    CHECK(chosen(devices, {whole(1)}, table) == std::vector<indices>{{2}});
}

TEST_CASE("a partition for another number of devices than it has is never given") {
    partition_table table;
    table.partitions = {{{0, 1}, 1, {}, 1}, {{2, 3}, 2, {}}, {{2}, 2, {}}};
    CHECK(chosen(gpus(4), {whole(1, {true, false, {}})}, table) == std::vector<indices>{{2}});
    CHECK(chosen(gpus(4), {whole(2, {true, false, {}})}, table) == std::vector<indices>{{2, 3}});
    CHECK(chosen(gpus(4), {whole(1, {true, true, {}})}, table).empty());
}

TEST_CASE("a scan of many partitions costs more steps") {
    partition_table table;
    const auto steps = [&] {
        const std::vector<muster::share_request> requests{whole(2)};
        return muster::allocate_shares(gpus(2), requests, muster::koordinator_rules, 1000, table)
            .steps;
    };
    const std::int64_t without = steps();
    table.partitions.assign(31, {{0, 1}, 1, {}});
    CHECK(steps() == without);
    table.partitions.assign(320, {{0, 1}, 1, {}});
    CHECK(steps() == without + 100);
    table.partitions.assign(3200, {{0, 1}, 1, {}});
    CHECK(muster::allocate_shares(gpus(2), std::vector{whole(2)}, muster::koordinator_rules, 1000,
                                  table)
              .outcome == share_outcome::undecided);
}

TEST_CASE("a partition may have devices of unknown places, other choices may not") {
    auto request = whole(2);
    request.within = muster::share_nearness::same_numa;
    CHECK(chosen(gpus(4), {request}, pairs()) == std::vector<indices>{{3, 0}});
    CHECK(chosen(gpus(4), {request}, {}).empty());
}

} // namespace device_partition_test
