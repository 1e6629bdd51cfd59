// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/devices/gpu_instance.hpp>
#include <muster/devices/share_allocator.hpp>
#include <muster/testing/random.hpp>
#include <support/settings.hpp>

#include "muster/devices/instance_worlds.hpp"

namespace gpu_instance_test {

namespace {

using muster::gpu_instance;
using muster::memory_amount;
using muster::share_outcome;
using muster::share_refusal;
using muster::share_request;
using muster::shared_device;
using muster::slices_at;
using indices = std::vector<std::size_t>;

gpu_instance instance(std::int64_t memory, std::int64_t start, std::int64_t size) {
    return {std::to_string(size) + "g", memory, size * 14, slices_at(start, size), {}, {}};
}

/// A device of 4 slices: two instances of one slice, and two of two slices.
shared_device partitioned() {
    shared_device device{"g", "NVIDIA-A100", 40, 100, 7};
    device.mode = "mig";
    device.is_partitioned = true;
    device.instances = {instance(10, 3, 1), instance(10, 2, 1), instance(20, 0, 2),
                        instance(20, 2, 2)};
    return device;
}

share_request share(std::int64_t memory, std::int64_t cores = 0, std::int64_t count = 1) {
    return {count, memory_amount{memory}, cores};
}

muster::share_allocation allocate(const std::vector<shared_device>& devices,
                                  const std::vector<share_request>& requests,
                                  const muster::share_rules& rules = muster::hami_rules) {
    return muster::allocate_shares(devices, requests, rules, 100'000);
}

} // namespace

TEST_CASE("an instance whose name others have is named by its first slice, too") {
    const std::vector<gpu_instance> all{instance(20, 0, 4), instance(20, 4, 4), instance(5, 6, 1)};
    CHECK(muster::instance_id(all, 0) == "4g@0");
    CHECK(muster::instance_id(all, 1) == "4g@4");
    CHECK(muster::instance_id(all, 2) == "1g");
}

TEST_CASE("slices are a run of bits, and none if the run is empty or too long") {
    CHECK(slices_at(0, 1) == 1);
    CHECK(slices_at(4, 4) == 0xf0);
    CHECK(slices_at(0, 64) == ~std::uint64_t{0});
    CHECK(slices_at(63, 1) == std::uint64_t{1} << 63U);
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    for (const auto& [start, size] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {0, 0}, {0, -1}, {-1, 1}, {64, 1}, {63, 2}, {0, 65}, {most, most}, {1, most}})
        CHECK(slices_at(start, size) == 0);
}

TEST_CASE("an instance is free if no slice of it is in use, and its neighbours are") {
    gpu_instance of = instance(10, 1, 2);
    CHECK(of.is_free(0));
    CHECK(of.is_free(0b1001));
    CHECK_FALSE(of.is_free(0b0010));
    CHECK_FALSE(of.is_free(0b0100));
    of.apart_from = 0b1000;
    CHECK_FALSE(of.is_free(0b1000));
    of.beside = 0b1'0110;
    CHECK(of.is_free(0));
    CHECK(of.is_free(0b1'0000));
    CHECK_FALSE(of.is_free(0b0001));
    of.slices = 0;
    CHECK_FALSE(of.is_free(0));
}

TEST_CASE("a share gets the first free instance with enough memory, and uses all of it") {
    const auto answer = allocate({partitioned()}, {share(5), share(5), share(11)});
    REQUIRE(answer.outcome == share_outcome::allocated);
    CHECK(answer.instances == std::vector<indices>{{0}, {1}, {2}});
    const std::vector<share_request> requests{share(5), share(5), share(11)};
    const auto used = muster::with_shares({partitioned()}, requests, answer);
    CHECK(used[0].used == muster::share_amounts{3, 40, 56, 0b1111});
    CHECK(allocate(used, {share(0)}).outcome == share_outcome::none);
    CHECK(muster::refusal_of(used[0], share(0), muster::hami_rules) == share_refusal::instances);
}

TEST_CASE("an instance with more memory is used if no smaller one is free") {
    auto device = partitioned();
    device.used = {1, 20, 28, slices_at(2, 2)};
    CHECK(allocate({device}, {share(5)}).instances == std::vector<indices>{{2}});
    CHECK(muster::refusal_of(device, share(21), muster::hami_rules) == share_refusal::memory);
    device.memory = 100;
    CHECK(muster::refusal_of(device, share(21), muster::hami_rules) == share_refusal::instances);
}

TEST_CASE("a partitioned device without known instances gets no shares") {
    auto device = partitioned();
    device.instances.clear();
    CHECK(muster::refusal_of(device, share(0), muster::hami_rules) == share_refusal::partitioned);
    CHECK(allocate({device}, {share(0)}).outcome == share_outcome::none);
}

TEST_CASE("another instance is tried for an earlier share if a later one finds none") {
    auto device = partitioned();
    // The first choice, slice 2, leaves no place for two slices.
    device.used = {1, 20, 28, slices_at(0, 2)};
    device.instances = {instance(10, 2, 1), instance(10, 3, 1), instance(20, 2, 2)};
    auto other = partitioned();
    other.instances = {instance(10, 0, 1)};
    const auto answer = allocate({device, other}, {share(10), share(20)});
    REQUIRE(answer.outcome == share_outcome::allocated);
    CHECK(answer.devices == std::vector<indices>{{1}, {0}});
    CHECK(answer.instances == std::vector<indices>{{0}, {2}});
}

TEST_CASE("a request gets several instances of one device in HAMi, and one in Volcano") {
    CHECK(allocate({partitioned()}, {share(5, 0, 3)}).instances == std::vector<indices>{{0, 1, 2}});
    CHECK(allocate({partitioned()}, {share(5, 0, 4)}).outcome == share_outcome::none);
    CHECK(allocate({partitioned()}, {share(5, 0, 2)}, muster::volcano_vgpu_rules).outcome ==
          share_outcome::none);
    const auto both =
        allocate({partitioned(), partitioned()}, {share(5, 0, 2)}, muster::volcano_vgpu_rules);
    CHECK(both.devices == std::vector<indices>{{0, 1}});
    CHECK(both.instances == std::vector<indices>{{0, 0}});
}

TEST_CASE("partitioned devices and others serve one request together") {
    auto plain = partitioned();
    plain.is_partitioned = false;
    plain.instances.clear();
    const auto answer = allocate({plain, partitioned()}, {share(5, 0, 4)});
    REQUIRE(answer.outcome == share_outcome::allocated);
    CHECK(answer.devices == std::vector<indices>{{0, 1, 1, 1}});
    CHECK(answer.instance_of(0, 0) >= partitioned().instances.size());
    CHECK(answer.instance_of(0, 3) == 2);
    CHECK(allocate({plain}, {share(5)}).instances.empty());
}

TEST_CASE("the most instances that are used together are counted") {
    const auto device = partitioned();
    CHECK(muster::most_instances(device.instances, 0, 0) == 3);
    CHECK(muster::most_instances(device.instances, 0, 11) == 2);
    CHECK(muster::most_instances(device.instances, 0, 21) == 0);
    CHECK(muster::most_instances(device.instances, slices_at(0, 1), 0) == 2);
    CHECK(muster::most_instances(device.instances, 0, 0, 3) == 1);
    for (const std::size_t most : {0U, 1U, 2U, 3U, 4U})
        CHECK(muster::most_instances(device.instances, 0, 0, 0, most) ==
              std::min<std::size_t>(most, 3));
    const std::vector<gpu_instance> whole{{"a", 1, {}, ~std::uint64_t{0}, {}, {}}};
    CHECK(muster::most_instances(whole, 0, 0) == 1);
    // A bound only: the slices of the first one are no run.
    const std::vector<gpu_instance> odd{{"a", 1, {}, 0b101, {}, {}}, {"b", 1, {}, 0b001, {}, {}}};
    CHECK(muster::most_instances(odd, 0, 0) == 2);
    CHECK(muster::most_instances(odd, 0, 0, 0, 1) == 1);
    const std::vector<gpu_instance> equal(100, odd[0]);
    CHECK(muster::most_instances(equal, 0, 0) == 64);
}

TEST_CASE("a request for more instances than there are is refused at once") {
    std::vector<shared_device> devices(8, partitioned());
    for (std::size_t at = 0; at < devices.size(); ++at)
        devices[at].id = std::to_string(at);
    const auto most = allocate(devices, {share(5, 0, 24)});
    CHECK(most.outcome == share_outcome::allocated);
    CHECK(most.steps <= 25);
    for (const std::int64_t count : {std::int64_t{25}, std::int64_t{1'000'000}}) {
        const auto none = allocate(devices, {share(5, 0, count)});
        CHECK(none.outcome == share_outcome::none);
        CHECK(none.steps <= 4);
    }
    // The first choice for the small instances leaves no room for the large ones.
    devices.resize(2);
    CHECK(allocate(devices, {share(5, 0, 4), share(15, 0, 2)}).outcome == share_outcome::allocated);
    CHECK(allocate(devices, {share(5, 0, 4), share(15, 0, 3)}).outcome == share_outcome::none);
}

TEST_CASE("one share more than there are instances is refused at once") {
    // Each device has two instances of 20.
    const std::vector<shared_device> devices(4, partitioned());
    const std::vector<share_request> fitting(8, share(15));
    std::vector<share_request> one_more = fitting;
    one_more.push_back(share(15));
    CHECK(allocate(devices, fitting).outcome == share_outcome::allocated);
    const auto refused = allocate(devices, one_more);
    CHECK(refused.outcome == share_outcome::none);
    CHECK(refused.steps <= 2);
}

TEST_CASE("the shares of one question are limited if a device gives several to a request") {
    // The depth of the search is the number of shares.
    shared_device device{"g", "NVIDIA", 64'000, 100, 100'000};
    device.mode = "mig";
    device.is_partitioned = true;
    for (std::int64_t at = 0; at < 64; ++at)
        device.instances.push_back({"1g", 1000, 0, slices_at(at, 1), {}, {}});
    std::vector<shared_device> devices;
    for (int at = 0; at < 40; ++at) {
        devices.push_back(device);
        devices.back().id = std::to_string(at);
    }
    CHECK(allocate(devices, {share(1, 0, 2048)}).outcome == share_outcome::allocated);
    const auto more = allocate(devices, {share(1, 0, 2049)});
    CHECK(more.outcome == share_outcome::undecided);
    CHECK(more.steps == 0);
    // A request for more than there can be fails without recursion.
    devices.resize(20);
    CHECK(allocate(devices, {share(1, 0, 1'000'000)}).outcome == share_outcome::none);
    devices.resize(40);
    // In Volcano, a device gives one share to a request.
    CHECK(allocate(devices, {share(1, 0, 3000)}, muster::volcano_vgpu_rules).outcome ==
          share_outcome::none);
}

TEST_CASE("on random nodes with instances the answer agrees with a search of all choices") {
    const auto count = muster::testing::case_count(20'000);
    const auto seed = muster::testing::random_seed();
    std::size_t allocated = 0;
    std::size_t searched = 0;
    for (std::uint64_t at = 0; at < count; ++at) {
        const auto made = instance_worlds::maker(seed * 1'000'003 + at).make();
        const auto answer = allocate(made.devices, made.requests, made.rules);
        INFO("seed ", seed, " case ", at);
        REQUIRE(answer.outcome != share_outcome::undecided);
        const bool found = answer.outcome == share_outcome::allocated;
        REQUIRE(found == instance_worlds::oracle(made).exists());
        if (found)
            REQUIRE(instance_worlds::oracle(made).allows(answer));
        allocated += found ? 1U : 0U;
        std::int64_t least = 0;
        for (const auto& request : made.requests)
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

} // namespace gpu_instance_test
