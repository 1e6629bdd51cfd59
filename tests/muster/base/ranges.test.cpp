// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <muster/base/ranges.hpp>
#include <muster/base/sequence.hpp>

namespace base_ranges_test {

using namespace muster;

namespace {

struct item {
    int key = 0;
    int place = 0;
    [[nodiscard]] bool is_first() const { return place == 0; }
    [[nodiscard]] friend bool operator==(const item&, const item&) = default;
};

/// All lists of up to five items with keys from 0 to 2.
std::vector<std::vector<item>> lists() {
    std::vector<std::vector<item>> all{{}};
    for (std::size_t from = 0; from < all.size(); ++from) {
        if (all[from].size() == 5)
            break;
        for (int key = 0; key < 3; ++key) {
            all.push_back(all[from]);
            all.back().push_back({key, static_cast<int>(all[from].size())});
        }
    }
    return all;
}

} // namespace

TEST_CASE("searches and counts give what those of the standard library give") {
    const auto is_one = [](int key) { return key == 1; };
    for (const auto& list : lists()) {
        CHECK(detail::any_of(list, is_one, &item::key) ==
              std::ranges::any_of(list, is_one, &item::key));
        CHECK(detail::all_of(list, is_one, &item::key) ==
              std::ranges::all_of(list, is_one, &item::key));
        CHECK(detail::none_of(list, is_one, &item::key) ==
              std::ranges::none_of(list, is_one, &item::key));
        CHECK(detail::count_if(list, is_one, &item::key) ==
              std::ranges::count_if(list, is_one, &item::key));
        CHECK(detail::count(list, 1, &item::key) == std::ranges::count(list, 1, &item::key));
        CHECK(detail::find_if(list, is_one, &item::key) ==
              std::ranges::find_if(list, is_one, &item::key));
        CHECK(detail::find(list, 1, &item::key) == std::ranges::find(list, 1, &item::key));
        // A pointer to a member may be the condition.
        CHECK(detail::any_of(list, &item::key) == std::ranges::any_of(list, &item::key));
        CHECK(detail::count_if(list, &item::is_first) ==
              std::ranges::count_if(list, &item::is_first));
    }
}

TEST_CASE("sorts and bounds give what those of the standard library give") {
    for (const auto& list : lists()) {
        auto mine = list;
        auto theirs = list;
        detail::stable_sort(mine, {}, &item::key);
        std::ranges::stable_sort(theirs, {}, &item::key);
        CHECK(mine == theirs);
        for (int key = -1; key < 4; ++key) {
            CHECK(detail::lower_bound(mine, key, {}, &item::key) - mine.begin() ==
                  std::ranges::lower_bound(theirs, key, {}, &item::key) - theirs.begin());
        }
        detail::sort(mine, std::greater<>{}, &item::place);
        std::ranges::sort(theirs, std::greater<>{}, &item::place);
        CHECK(mine == theirs);
        detail::sequence<int> keys;
        for (const item& each : list)
            keys.push_back(each.key);
        detail::sort(keys);
        CHECK(std::ranges::is_sorted(keys));
    }
}

TEST_CASE("short lists and long ones are sorted in place alike") {
    std::uint32_t drawn = 1;
    for (const std::size_t size : {0U, 1U, 2U, 3U, 9U, 10U, 11U, 57U, 400U, 3000U}) {
        std::vector<std::pair<std::uint32_t, std::size_t>> list;
        for (std::size_t at = 0; at < size; ++at) {
            drawn = drawn * 1664525U + 1013904223U;
            list.emplace_back(drawn >> 24, at);
        }
        auto ascending = list;
        auto falling = list;
        detail::sort_short(ascending);
        detail::sort_short(falling, std::greater<>{},
                           &std::pair<std::uint32_t, std::size_t>::second);
        std::ranges::sort(list);
        CHECK(ascending == list);
        std::ranges::sort(list, std::greater<>{}, &std::pair<std::uint32_t, std::size_t>::second);
        CHECK(falling == list);
    }
}

} // namespace base_ranges_test
