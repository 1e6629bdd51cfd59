// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/shares/share_demand.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/testing/random.hpp>
#include <support/settings.hpp>

namespace codec_share_demand_test {

using namespace muster::codec;
using muster::share_outcome;
using muster::share_request;
using muster::slices_at;

namespace {

/// A GPU of HAMi with the places of an A100 of 40 GB; `core` for each seventh.
share_stock a100(std::int64_t core) {
    share_stock stock{share_system::hami, {{"GPU-0", "NVIDIA-A100", 40'960, 100, 7}}};
    muster::shared_device& device = stock.devices[0];
    device.mode = "mig";
    device.is_partitioned = true;
    for (std::int64_t start = 6; start >= 0; --start)
        device.instances.push_back({"1g.5gb", 4864, core, slices_at(start, 1), {}, {}});
    for (const std::int64_t start : {0, 2, 4})
        device.instances.push_back({"2g.10gb", 9856, 2 * core, slices_at(start, 2), {}, {}});
    for (const std::int64_t start : {4, 0})
        device.instances.push_back({"3g.20gb", 19'968, 3 * core, slices_at(start, 4), {}, {}});
    return stock;
}

share_demand pod(std::int64_t memory, std::int64_t cores) {
    share_demand made;
    made.asks[share_system::hami] = {{1, muster::memory_amount{memory}, cores}};
    return made;
}

muster::share_allocation allocate(const share_stock& on, const std::vector<share_demand>& pods,
                                  std::int64_t max_steps = 100'000) {
    std::vector<const share_demand*> list;
    for (const share_demand& each : pods)
        list.push_back(&each);
    return allocate_on(on, list, max_steps);
}

/// Returns whether some order of the pods fits, one after the other.
bool fits_in_some_order(const share_stock& on, const std::vector<share_demand>& pods) {
    std::vector<share_request> requests;
    for (const share_demand& each : pods)
        requests.push_back(each.asks.at(share_system::hami)[0]);
    std::vector<std::size_t> order(requests.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    do {
        std::vector<share_request> sorted;
        for (const std::size_t at : order)
            sorted.push_back(requests[at]);
        if (muster::allocate_shares(on.devices, sorted, muster::hami_rules, 100'000).outcome ==
            share_outcome::allocated)
            return true;
    } while (std::next_permutation(order.begin(), order.end()));
    return false;
}

} // namespace

TEST_CASE("on instances with cores, the pod that needs the most free cores is served first") {
    const share_demand a = pod(4500, 60);
    const share_demand b = pod(4000, 0);
    CHECK(allocate(a100(14), {a, b, b, b, b}).outcome == share_outcome::allocated);
    CHECK(allocate(a100(14), {b, b, b, b, a}).outcome == share_outcome::allocated);
    // The one that requests more memory is served last.
    const auto both = allocate(a100(14), {pod(9000, 10), pod(4000, 90)});
    REQUIRE(both.outcome == share_outcome::allocated);
    CHECK(both.instances[0][0] > 6);
    CHECK(both.instances[1][0] <= 6);
}

TEST_CASE("cores that the own instance uses leave less to others than they need themselves") {
    // Standing pods use 42. The first pod leaves 58 - 42 to the second one, which leaves 58 - 14.
    share_stock stock = a100(14);
    stock.devices[0].used = {3, 3 * 4864, 42, slices_at(4, 3)};
    stock.devices[0].instances.push_back({"1g.5gb+", 4864, 14, slices_at(7, 1), {}, {}});
    CHECK(allocate(stock, {pod(19'000, 30), pod(4000, 20)}).outcome == share_outcome::allocated);
}

TEST_CASE("a pod without cores is served before the cores are used up, if that is the only way") {
    share_stock stock = a100(25);
    stock.devices[0].used = {1, 4864, 50, slices_at(0, 1)};
    // The first small instance has so many cores that the pod without cores seems the last one.
    for (std::size_t at = 0; at < 7; ++at)
        stock.devices[0].instances[at].cores = at == 0 ? 50 : 0;
    CHECK(allocate(stock, {pod(9000, 30), pod(4000, 0)}).outcome == share_outcome::allocated);
    CHECK(fits_in_some_order(stock, {pod(9000, 30), pod(4000, 0)}));
}

TEST_CASE("the steps of an allocation are those of all orders together") {
    const std::vector<share_demand> pods(8, pod(4000, 10));
    for (const std::int64_t steps : {std::int64_t{0}, std::int64_t{5}, std::int64_t{1000}}) {
        const auto made = allocate(a100(14), pods, steps);
        CHECK(made.outcome != share_outcome::allocated);
        CHECK(made.steps <= steps);
    }
}

TEST_CASE("on a GPU with instances the orders that are tried agree with all orders of the pods") {
    const auto count = muster::testing::case_count(1000);
    const auto seed = muster::testing::random_seed();
    std::size_t fitting = 0;
    std::size_t missed = 0;
    for (std::uint64_t at = 0; at < count; ++at) {
        muster::testing::random chance(seed * 1'000'003 + at);
        const share_stock stock = a100(chance.between(13, 15));
        std::vector<share_demand> pods;
        for (auto number = chance.between(2, 4); number > 0; --number)
            pods.push_back(
                pod(chance.percent(60) ? chance.between(1, 4864) : chance.between(4865, 19'968),
                    chance.percent(30) ? 0 : 10 * chance.between(1, 10)));
        INFO("seed ", seed, " case ", at);
        const bool fits = fits_in_some_order(stock, pods);
        const bool found = allocate(stock, pods).outcome == share_outcome::allocated;
        CHECK((fits || !found));
        fitting += fits ? 1U : 0U;
        missed += fits && !found ? 1U : 0U;
    }
    MESSAGE(count, " GPUs: the pods fit on ", fitting, ", missed ", missed);
    CHECK(missed == 0);
    if (muster::testing::all_cases(1000)) {
        CHECK(fitting > count / 5);
        CHECK(fitting < count * 4 / 5);
    }
}

} // namespace codec_share_demand_test
