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

namespace {

/// Devices in two halves, with links within each; those of the second half are better.
std::vector<shared_device> halves(std::size_t size) {
    std::vector<std::vector<std::int64_t>> links(size, std::vector<std::int64_t>(size));
    for (std::size_t lhs = 0; lhs < size; ++lhs)
        for (std::size_t rhs = 0; rhs < size; ++rhs)
            if (lhs != rhs && lhs % 2 == rhs % 2)
                links[lhs][rhs] = lhs % 2 == 0 ? 10 : 20;
    return linked(links);
}

} // namespace

TEST_CASE("half of 16 devices are chosen by all their links") {
    CHECK(muster::detail::has_few_combinations(16, 8));
    CHECK(chosen(halves(16), 8) == indices{1, 3, 5, 7, 9, 11, 13, 15});
    CHECK(chosen(halves(16), 7) == indices{1, 3, 5, 7, 9, 11, 13});
    // The best link is not part of the best combination.
    auto devices = halves(16);
    devices[0].links[2] = 21;
    CHECK(chosen(devices, 8) == indices{1, 3, 5, 7, 9, 11, 13, 15});
}

TEST_CASE("with too many combinations, devices with good links are chosen one after the other") {
    CHECK_FALSE(muster::detail::has_few_combinations(32, 16));
    indices odd;
    for (std::size_t at = 1; at < 32; at += 2)
        odd.push_back(at);
    CHECK(chosen(halves(32), 16) == odd);
    std::vector<shared_device> devices = linked(std::vector<std::vector<std::int64_t>>(30));
    devices[7].links = std::vector<std::int64_t>(30, 5);
    const auto some = chosen(devices, 15);
    CHECK(std::find(some.begin(), some.end(), 7) != some.end());
    CHECK(std::is_sorted(some.begin(), some.end()));
    CHECK(chosen(devices, 30).size() == 30);
}

TEST_CASE("the number of links that are read for one choice is limited") {
    using muster::detail::has_few_combinations;
    using muster::detail::has_few_links;
    CHECK(has_few_combinations(16, 5));
    CHECK(has_few_combinations(1000, 1));
    // Few combinations, but of many links each.
    CHECK_FALSE(has_few_combinations(1000, 999));
    CHECK_FALSE(has_few_combinations(1000, 1000));
    CHECK_FALSE(has_few_combinations(1'000'000'000, 2));
    CHECK(has_few_links(0));
    CHECK(has_few_links(632));
    CHECK_FALSE(has_few_links(633));
    auto many = linked(std::vector<std::vector<std::int64_t>>(640));
    many[8].links = std::vector<std::int64_t>(640, 5);
    CHECK(chosen(many, 2) == indices{0, 1});
    many.resize(600);
    CHECK(chosen(many, 300).back() != 299);
}

TEST_CASE("with partitioned devices, the order decides") {
    auto some = linked({{0, 0, 9}, {0, 0, 0}, {9, 0, 0}});
    CHECK(chosen(some, 2) == indices{0, 2});
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
