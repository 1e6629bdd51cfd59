// SPDX-License-Identifier: Apache-2.0
#include <muster/devices/instance_bound.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include <muster/testing/random.hpp>
#include <support/settings.hpp>

#include "muster/devices/instance_worlds.hpp"

namespace instance_bound_test {

namespace {

using muster::gpu_instance;
using muster::instance_need;
using muster::instance_supply;
using muster::may_fit_instances;
using muster::slices_at;

/// Places of one, two and four slices of seven, as of HAMi.
std::vector<gpu_instance> places() {
    std::vector<gpu_instance> made;
    for (std::int64_t start = 6; start >= 0; --start)
        made.push_back({"1g", 5, 14, slices_at(start, 1), {}, {}});
    for (const std::int64_t start : {0, 2, 4})
        made.push_back({"2g", 10, 28, slices_at(start, 2), {}, {}});
    for (const std::int64_t start : {4, 0})
        made.push_back({"3g", 20, 42, slices_at(start, 4), {}, {}});
    return made;
}

/// Two geometries, as of Volcano: seven instances, or three large ones and a small one.
std::vector<gpu_instance> groups() {
    std::vector<gpu_instance> made;
    for (std::int64_t at = 0; at < 7; ++at)
        made.push_back({"g1", 5, {}, slices_at(at, 1), slices_at(7, 4), slices_at(0, 7)});
    made.push_back({"g2", 5, {}, slices_at(10, 1), slices_at(0, 7), slices_at(10, 1)});
    for (std::int64_t at = 7; at < 10; ++at)
        made.push_back({"g2", 10, {}, slices_at(at, 1), slices_at(0, 7), slices_at(7, 3)});
    return made;
}

bool fit(const std::vector<instance_supply>& devices, const std::vector<instance_need>& needs) {
    return may_fit_instances(devices, needs);
}

} // namespace

TEST_CASE("shares fit if each amount of memory has as many instances that can be used together") {
    const auto of = places();
    const std::vector<instance_supply> two{{of, 0}, {of, 0}};
    CHECK(fit(two, std::vector<instance_need>(14, {4, 1})));
    CHECK_FALSE(fit(two, std::vector<instance_need>(15, {4, 1})));
    CHECK(fit(two, {{4, 14}}));
    CHECK_FALSE(fit(two, {{4, 15}}));
    CHECK(fit(two, {{6, 6}}));
    CHECK_FALSE(fit(two, {{6, 7}}));
    // Shares for more memory count among those for less.
    CHECK_FALSE(fit(two, {{4, 8}, {20, 1}, {6, 6}}));
    CHECK_FALSE(fit(two, {{20, 5}, {1, 1}}));
    CHECK_FALSE(fit(two, {{21, 1}}));
    CHECK(fit({{of, slices_at(0, 4)}, {of, slices_at(0, 7)}}, {{6, 1}, {4, 2}}));
    CHECK_FALSE(fit({{of, slices_at(0, 4)}, {of, slices_at(0, 7)}}, {{6, 2}}));
}

TEST_CASE("on an unused device of Volcano the largest kind decides, else the one in use") {
    const auto of = groups();
    CHECK(fit({{of, 0}}, {{5, 7}}));
    CHECK_FALSE(fit({{of, 0}}, {{5, 8}}));
    CHECK(fit({{of, 0}}, {{6, 3}}));
    CHECK_FALSE(fit({{of, 0}}, {{6, 4}}));
    CHECK(fit({{of, slices_at(7, 1)}}, {{5, 2}}));
    CHECK_FALSE(fit({{of, slices_at(7, 1)}}, {{5, 3}}));
    CHECK_FALSE(fit({{of, slices_at(0, 1)}}, {{6, 1}}));
    // Pods hold instances of both kinds of a geometry.
    CHECK(fit({{of, slices_at(7, 1) | slices_at(10, 1)}}, {{5, 2}}));
    CHECK(fit({{of, 0}, {of, slices_at(0, 6)}}, {{5, 8}}));
    CHECK_FALSE(fit({{of, 0}, {of, slices_at(0, 6)}}, {{5, 9}}));
}

TEST_CASE("an instance that becomes free by the use of another one counts") {
    // The first one is beside the second one only, and the second one beside slice 2.
    const std::vector<gpu_instance> chain{{"a", 5, {}, 0b001, {}, 0b010},
                                          {"b", 5, {}, 0b010, {}, 0b100}};
    CHECK(fit({{chain, 0b100}}, {{5, 2}}));
    CHECK_FALSE(fit({{chain, 0b100}}, {{5, 3}}));
}

TEST_CASE("no shares fit always, and shares that other devices can serve do not count") {
    CHECK(fit({}, {}));
    CHECK(fit({}, {{5, 0}, {5, -1}}));
    CHECK_FALSE(fit({}, {{5, 1}}));
    CHECK_FALSE(fit({{{}, 0}}, {{0, 1}}));
    CHECK(fit({}, {{5, 9, false}}));
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    const auto of = places();
    CHECK_FALSE(fit({{of, 0}}, {{0, most}, {most, most}}));
}

TEST_CASE("shares that fit by a search of all choices never exceed the bound") {
    const auto count = muster::testing::case_count(20'000);
    const auto seed = muster::testing::random_seed();
    std::size_t fitting = 0;
    std::size_t refused = 0;
    std::size_t others = 0;
    for (std::uint64_t at = 0; at < count; ++at) {
        auto made = instance_worlds::maker(seed * 1'000'003 + at).make();
        std::vector<instance_supply> devices;
        for (auto& device : made.devices)
            if (device.is_partitioned)
                devices.push_back({device.instances, device.used.slices});
        std::vector<instance_need> needs;
        for (auto& request : made.requests) {
            instance_need& need = needs.emplace_back();
            need.count = request.count;
            const auto* const units = std::get_if<muster::memory_amount>(&request.memory);
            need.memory = units ? units->units : 40;
            for (const auto& device : made.devices)
                need.only_partitioned = need.only_partitioned &&
                                        (device.is_partitioned || !request.filter.accepts(device));
        }
        INFO("seed ", seed, " case ", at);
        const bool exists = instance_worlds::oracle(made).exists();
        const bool may_fit = may_fit_instances(devices, needs);
        CHECK((may_fit || !exists));
        fitting += exists ? 1U : 0U;
        refused += may_fit ? 0U : 1U;
        others += !exists && may_fit ? 1U : 0U;
    }
    MESSAGE(count, " nodes: ", fitting, " fit, ", refused, " beyond the bound, ", others,
            " refused for other reasons");
    if (muster::testing::all_cases(20'000)) {
        CHECK(fitting > count / 5);
        CHECK(refused > count / 5);
    }
}

} // namespace instance_bound_test
