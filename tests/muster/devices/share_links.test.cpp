// SPDX-License-Identifier: Apache-2.0
#include <muster/devices/share_links.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <muster/devices/share_allocator.hpp>
#include <muster/testing/random.hpp>
#include <support/settings.hpp>

namespace share_links_test {

namespace {

using muster::share_request;
using muster::shared_device;
using indices = std::vector<std::size_t>;

std::vector<shared_device> linked(const std::vector<std::vector<std::int64_t>>& links) {
    std::vector<shared_device> devices;
    for (std::size_t at = 0; at < links.size(); ++at) {
        devices.push_back({"g" + std::to_string(at), "NVIDIA", 100, 100, 10});
        devices.back().links = links[at];
    }
    return devices;
}

indices chosen(const std::vector<shared_device>& devices, std::int64_t count) {
    share_request request{count, muster::memory_amount{1}, 0};
    request.prefers_links = true;
    const auto answer = muster::allocate_shares(devices, std::vector{request}, {}, 1000);
    return answer.devices.empty() ? indices{} : answer.devices[0];
}

} // namespace

TEST_CASE("several devices are the ones with the best links, in their order") {
    const auto devices = linked({{0, 10, 50, 0}, {10, 0, 20, 60}, {50, 20, 0, 0}, {0, 60, 0, 0}});
    CHECK(chosen(devices, 2) == indices{1, 3});
    CHECK(chosen(devices, 3) == indices{0, 1, 2});
    CHECK(chosen(devices, 4) == indices{0, 1, 2, 3});
    CHECK(chosen(devices, 5).empty());
}

TEST_CASE("one device is the one with the worst links, and the first if several have them") {
    CHECK(chosen(linked({{0, 9, 9}, {9, 0, 1}, {9, 1, 0}}), 1) == indices{1});
    CHECK(chosen(linked({{0, -5}, {7, 0}}), 1) == indices{0});
    CHECK(chosen(linked({{}, {}}), 1) == indices{0});
}

TEST_CASE("links do not decide whether a request fits") {
    auto devices = linked({{0, 90, 1}, {90, 0, 1}, {1, 1, 0}});
    devices[0].memory = 0;
    CHECK(chosen(devices, 2) == indices{1, 2});
    // The well linked devices are taken first, but the second request needs one of them.
    devices = linked({{0, 90, 1}, {90, 0, 1}, {1, 1, 0}});
    share_request pair{2, muster::memory_amount{100}, 0};
    pair.prefers_links = true;
    share_request first{1, muster::memory_amount{100}, 0};
    first.filter.ids = {"g0"};
    const auto answer = muster::allocate_shares(devices, std::vector{pair, first}, {}, 1000);
    REQUIRE(answer.outcome == muster::share_outcome::allocated);
    CHECK(answer.devices[0] == indices{1, 2});
}

TEST_CASE("with too many combinations, or partitioned devices, the order decides") {
    std::vector<shared_device> devices = linked(std::vector<std::vector<std::int64_t>>(30));
    devices[7].links = std::vector<std::int64_t>(30, 5);
    CHECK(chosen(devices, 15).front() == 0);
    CHECK(muster::detail::has_few_combinations(16, 5));
    CHECK_FALSE(muster::detail::has_few_combinations(30, 15));
    CHECK(muster::detail::has_few_combinations(1000, 1));
    CHECK(muster::detail::has_few_combinations(1000, 999));
    auto some = linked({{0, 0, 9}, {0, 0, 0}, {9, 0, 0}});
    some[1].is_partitioned = true;
    some[1].instances = {{"i", 50, {}, 1, {}, {}}};
    CHECK(chosen(some, 2) == indices{0, 1});
}

TEST_CASE("the devices with the best links are those of a search of all sets") {
    for (std::uint64_t at = 0; at < muster::testing::case_count(2000); ++at) {
        muster::testing::random chance(muster::testing::random_seed() * 1'000'003 + at);
        const auto size = static_cast<std::size_t>(chance.between(2, 7));
        std::vector<std::vector<std::int64_t>> links(size);
        for (auto& row : links)
            for (std::size_t each = 0; each < size; ++each)
                row.push_back(chance.between(-3, 9));
        const auto count = chance.between(2, static_cast<std::int64_t>(size));
        const auto got = chosen(linked(links), count);
        const auto sum_of = [&](const indices& set) {
            std::int64_t sum = 0;
            for (std::size_t lhs = 0; lhs < set.size(); ++lhs)
                for (std::size_t rhs = lhs + 1; rhs < set.size(); ++rhs)
                    sum += links[set[lhs]][set[rhs]];
            return sum;
        };
        REQUIRE(static_cast<std::int64_t>(got.size()) == count);
        CHECK(std::is_sorted(got.begin(), got.end()));
        for (std::uint32_t bits = 0; bits < 1U << size; ++bits) {
            indices set;
            for (std::size_t each = 0; each < size; ++each)
                if ((bits >> each & 1U) != 0)
                    set.push_back(each);
            if (static_cast<std::int64_t>(set.size()) == count)
                CHECK(sum_of(set) <= sum_of(got));
        }
    }
}

} // namespace share_links_test
