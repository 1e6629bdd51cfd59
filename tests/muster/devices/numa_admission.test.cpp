// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <muster/devices/numa_admission.hpp>
#include <muster/testing/random.hpp>
#include <support/settings.hpp>

#include "muster/devices/numa_kubelet.hpp"

namespace numa_admission_test {

namespace {

using muster::numa_amounts;
using muster::numa_demand;
using muster::numa_outcome;
using muster::numa_policy;
using muster::numa_scope;
using muster::numa_zones;

numa_zones zones_with(std::vector<numa_amounts> available,
                      numa_policy policy = numa_policy::single_numa_node,
                      numa_scope scope = numa_scope::container) {
    numa_zones made{policy, scope, {}, false};
    for (const numa_amounts& amounts : available) {
        auto& zone = made.zones.emplace_back();
        zone.id = static_cast<std::int64_t>(made.zones.size()) - 1;
        for (const auto& [name, amount] : amounts)
            zone.supplies[name] = {amount, amount, amount};
    }
    return made;
}

numa_demand pod(std::vector<numa_amounts> containers) {
    numa_demand made;
    for (const numa_amounts& each : containers)
        for (const auto& [name, amount] : each)
            made.together[name] += amount;
    made.containers = std::move(containers);
    return made;
}

muster::numa_verdict admit(const numa_zones& zones, const std::vector<numa_demand>& pods,
                           std::int64_t max_steps = 100'000) {
    // Equal demands are one.
    std::vector<const numa_demand*> all;
    for (const numa_demand& each : pods) {
        const numa_demand* same = &each;
        for (const numa_demand& other : pods)
            if (other.containers == each.containers && other.together == each.together &&
                other.has_init == each.has_init) {
                same = &other;
                break;
            }
        all.push_back(same);
    }
    return muster::admit_to_zones(zones, all, max_steps);
}
bool admits(const numa_zones& zones, const std::vector<numa_demand>& pods) {
    const auto verdict = admit(zones, pods);
    REQUIRE(verdict.outcome != numa_outcome::undecided);
    return verdict.outcome == numa_outcome::admitted;
}

} // namespace

TEST_CASE("single-numa-node takes all amounts of a container from one zone") {
    const numa_zones two = zones_with({{{"cpu", 4000}, {"gpu", 1}}, {{"cpu", 8000}, {"gpu", 1}}});
    CHECK(admits(two, {pod({{{"cpu", 8000}, {"gpu", 1}}})}));
    CHECK_FALSE(admits(two, {pod({{{"cpu", 9000}}})}));
    CHECK_FALSE(admits(two, {pod({{{"gpu", 2}}})}));
    CHECK_FALSE(
        admits(zones_with({{{"cpu", 8000}}, {{"gpu", 1}}}), {pod({{{"cpu", 1000}, {"gpu", 1}}})}));
}

TEST_CASE("the scope decides whether containers may use different zones") {
    const std::vector<numa_demand> two = {pod({{{"cpu", 3000}}, {{"cpu", 3000}}})};
    const std::vector<numa_amounts> has = {{{"cpu", 4000}}, {{"cpu", 4000}}};
    CHECK(admits(zones_with(has), two));
    CHECK_FALSE(admits(zones_with(has, numa_policy::single_numa_node, numa_scope::pod), two));
}

TEST_CASE("a container gets the first zone with room, which can leave none for a later one") {
    const std::vector<numa_amounts> has = {{{"cpu", 8000}}, {{"cpu", 4000}}};
    CHECK(admits(zones_with(has), {pod({{{"cpu", 8000}}, {{"cpu", 4000}}})}));
    CHECK_FALSE(admits(zones_with(has), {pod({{{"cpu", 4000}}, {{"cpu", 8000}}})}));
    // Pods arrive in any order.
    CHECK_FALSE(admits(zones_with(has), {pod({{{"cpu", 8000}}}), pod({{{"cpu", 4000}}})}));
    CHECK(admits(zones_with(has), {pod({{{"cpu", 4000}}}), pod({{{"cpu", 4000}}})}));
}

TEST_CASE("restricted allows as many zones as the machine needs at least") {
    const std::vector<numa_amounts> has = {{{"cpu", 4000}}, {{"cpu", 4000}}, {{"cpu", 4000}}};
    const auto restricted = zones_with(has, numa_policy::restricted);
    CHECK(admits(restricted, {pod({{{"cpu", 6000}}})}));
    CHECK_FALSE(admits(zones_with(has), {pod({{{"cpu", 6000}}})}));
    // With 2 and 3 CPUs in use, 3 CPUs would need two zones, and one is the fewest.
    auto used = zones_with({{{"cpu", 4000}}, {{"cpu", 4000}}}, numa_policy::restricted);
    used.zones[0].supplies["cpu"].available = 2000;
    used.zones[1].supplies["cpu"].available = 1000;
    CHECK_FALSE(admits(used, {pod({{{"cpu", 3000}}})}));
    CHECK(admits(used, {pod({{{"cpu", 2000}}})}));
}

TEST_CASE("restricted rejects resources that need different numbers of zones") {
    const auto two = zones_with({{{"cpu", 4000}, {"gpu", 1}}, {{"cpu", 4000}, {"gpu", 1}}},
                                numa_policy::restricted);
    CHECK_FALSE(admits(two, {pod({{{"cpu", 4000}, {"gpu", 2}}})}));
    CHECK(admits(two, {pod({{{"cpu", 5000}, {"gpu", 2}}})}));
}

TEST_CASE("memory across zones takes the memory of these zones for itself") {
    const auto two = zones_with({{{"memory", 10}}, {{"memory", 10}}}, numa_policy::restricted);
    CHECK(admits(two, {pod({{{"memory", 12}}})}));
    CHECK_FALSE(admits(two, {pod({{{"memory", 12}}}), pod({{{"memory", 1}}})}));
    auto used = two;
    used.zones[1].supplies["memory"].available = 9;
    CHECK_FALSE(admits(used, {pod({{{"memory", 12}}})}));
}

TEST_CASE("a resource that no zone lists is not aligned") {
    const auto one = zones_with({{{"cpu", 1000}}});
    CHECK(admits(one, {pod({{{"cpu", 1000}, {"example.com/nic", 9}}})}));
    CHECK(admits(one, {pod({{{"memory", 9}}}), pod({{{"memory", 9}}})}));
}

TEST_CASE("closed zones admit only pods without aligned amounts") {
    auto closed = zones_with({{{"cpu", 1000}}});
    closed.closed = true;
    CHECK_FALSE(admits(closed, {pod({{{"cpu", 1000}}})}));
    CHECK(admits(closed, {pod({})}));
}

TEST_CASE("after an ordinary init container all containers must choose its zone") {
    numa_demand with_init = pod({{{"cpu", 4000}}, {{"cpu", 4000}}});
    with_init.has_init = true;
    with_init.together = {{"cpu", 4000}};
    CHECK(admits(zones_with({{{"cpu", 4000}}, {{"cpu", 4000}}}), {with_init}));
    CHECK(admits(zones_with({{{"cpu", 4000}}, {{"cpu", 4000}}}), {with_init, with_init}));
    with_init.containers[1] = {{"cpu", 2000}};
    CHECK_FALSE(admits(zones_with({{{"cpu", 2000}}, {{"cpu", 4000}}}), {with_init}));
    // The whole pod must fit there. A container without aligned amounts chooses no zone.
    with_init.containers[0] = {{"memory", 5}};
    CHECK_FALSE(admits(zones_with({{{"cpu", 2000}}, {{"cpu", 4000}}}), {with_init}));
    with_init.together = {{"cpu", 2000}, {"memory", 5}};
    CHECK(admits(zones_with({{{"cpu", 2000}}, {{"cpu", 4000}}}), {with_init}));
}

TEST_CASE("the steps end in undecided") {
    const auto two = zones_with({{{"cpu", 4000}}, {{"cpu", 4000}}});
    const std::vector<numa_demand> pods(2, pod({{{"cpu", 3000}}}));
    CHECK(admit(two, pods, 2).outcome == numa_outcome::undecided);
    CHECK(admit(two, pods, 3).outcome == numa_outcome::admitted);
}

TEST_CASE("zones with plenty for all pods admit them without a search") {
    const auto two = zones_with(
        {{{"cpu", 64'000}, {"memory", 1 << 20}}, {{"cpu", 64'000}, {"memory", 1 << 20}}});
    std::vector<numa_demand> pods;
    for (std::int64_t kind = 1; kind <= 5; ++kind)
        pods.insert(pods.end(), 6, pod({{{"cpu", kind * 1000}, {"memory", kind}}}));
    CHECK(admit(two, pods, 0).outcome == numa_outcome::admitted);
    // 126 of 128 CPUs are not plenty: the last pod could find 4 CPUs in each zone.
    pods.insert(pods.end(), 6, pod({{{"cpu", 6000}, {"memory", 1}}}));
    CHECK(admit(two, pods, 0).outcome == numa_outcome::undecided);
    // Nor are zones that different resources fill.
    const auto unlike = zones_with({{{"cpu", 2000}, {"gpu", 9}}, {{"cpu", 9000}, {"gpu", 2}}});
    CHECK_FALSE(admits(unlike, {pod({{{"cpu", 2000}}}), pod({{{"gpu", 2}}}), pod({{{"gpu", 7}}}),
                                pod({{{"gpu", 2}, {"cpu", 2000}}})}));
}

TEST_CASE("a second zone with plenty does not help a pod with an ordinary init container") {
    numa_demand with_init = pod({{{"cpu", 6000}}, {{"cpu", 3000}}});
    with_init.has_init = true;
    with_init.together = {{"cpu", 6000}};
    CHECK_FALSE(admits(zones_with({{{"cpu", 4000}}, {{"cpu", 99'000}}}), {with_init}));
    const auto large = zones_with({{{"cpu", 99'000}}, {{"cpu", 4000}}});
    CHECK(admit(large, {with_init}, 0).outcome == numa_outcome::admitted);
}

TEST_CASE("pods that differ in resources that no zone lists are of one kind") {
    const auto two = zones_with({{{"cpu", 20'000}}, {{"cpu", 20'000}}});
    std::vector<numa_demand> pods;
    for (std::int64_t at = 1; at <= 40; ++at)
        pods.push_back(pod({{{"cpu", 1000}, {"example.com/nic", at}}}));
    CHECK(admits(two, pods));
}

TEST_CASE("resources that no pod requests need no steps") {
    auto two = zones_with({{{"cpu", 4000}}, {{"cpu", 4000}}});
    const std::vector<numa_demand> pods(2, pod({{{"cpu", 3000}}}));
    const auto steps = admit(two, pods).steps;
    for (int at = 0; at < 100; ++at)
        two.zones[0].supplies["example.com/" + std::to_string(at)] = {1, 1, 1};
    CHECK(admit(two, pods).steps == steps);
    // States with many zones cost more.
    two.zones.resize(64);
    CHECK(admit(two, pods).steps > steps);
}

namespace {

constexpr const char* resources[] = {"cpu", "example.com/gpu", "hugepages-2Mi", "memory"};

numa_zones random_zones(muster::testing::random& chance) {
    numa_zones made;
    made.policy = chance.percent(50) ? numa_policy::restricted : numa_policy::single_numa_node;
    made.scope = chance.percent(50) ? numa_scope::pod : numa_scope::container;
    made.zones.resize(1 + chance.below(3));
    const bool alike = chance.percent(40);
    for (auto& zone : made.zones)
        for (const char* const name : resources)
            if (alike || chance.percent(70)) {
                auto& supply = zone.supplies[name];
                supply.capacity = alike ? 5 : chance.between(0, 5);
                supply.allocatable = alike || chance.percent(70)
                                         ? supply.capacity
                                         : chance.between(0, supply.capacity);
                supply.available = chance.percent(alike ? 90 : 60)
                                       ? supply.allocatable
                                       : chance.between(0, supply.allocatable);
            }
    return made;
}

numa_demand random_pod(muster::testing::random& chance) {
    std::vector<numa_amounts> containers;
    const bool large = chance.percent(30);
    for (std::size_t left = large ? 1 : 1 + chance.below(2); left > 0; --left) {
        numa_amounts amounts;
        for (const char* const name : resources)
            if (chance.percent(35))
                amounts.emplace(name, chance.between(1, large ? 9 : 3));
        if (!amounts.empty())
            containers.push_back(std::move(amounts));
    }
    return pod(std::move(containers));
}

} // namespace

TEST_CASE("on random nodes the answer agrees with a kubelet that is asked in every order") {
    const auto count = muster::testing::case_count(20'000);
    const auto seed = muster::testing::random_seed();
    std::size_t admitted = 0;
    std::size_t of_several = 0;
    std::size_t across = 0;
    std::size_t searched = 0;
    for (std::uint64_t at = 0; at < count; ++at) {
        muster::testing::random chance(seed * 1'000'003 + at);
        const numa_zones zones = random_zones(chance);
        std::vector<numa_demand> pods;
        for (std::size_t left = 1 + chance.below(4); left > 0; --left)
            pods.push_back(!pods.empty() && chance.percent(30) ? pods.back() : random_pod(chance));
        INFO("seed ", seed, " case ", at);
        const bool found = admits(zones, pods);
        REQUIRE(found == numa_kubelet::admits_in_every_order(zones, pods));
        admitted += found ? 1U : 0U;
        of_several += found && pods.size() > 2 ? 1U : 0U;
        auto single = zones;
        single.policy = numa_policy::single_numa_node;
        across += found && !admits(single, pods) ? 1U : 0U;
        if (!found)
            continue;
        // Every part of an admitted set is admitted, and needs no more steps.
        const auto steps = admit(zones, pods).steps;
        searched += steps > 0 ? 1U : 0U;
        pods.erase(pods.begin() + static_cast<std::ptrdiff_t>(chance.below(pods.size())));
        REQUIRE(admit(zones, pods, steps).outcome == numa_outcome::admitted);
    }
    CHECK(admitted > count / 20);
    CHECK(of_several > count / 100);
    CHECK(across > count / 200);
    CHECK(searched > count / 100);
    CHECK(searched < admitted);
}

TEST_CASE("a kubelet aligns a pod of whose requests some zone lists one") {
    muster::numa_demand pod;
    pod.containers = {{{"nic", 1}}};
    pod.together = {{"nic", 1}, {"cpu", 1000}};
    muster::numa_zones zones;
    zones.zones = {{0, {}}, {1, {{"cpu", {8000, 8000, 0}}}}};
    CHECK_FALSE(aligns(zones, pod));
    zones.scope = muster::numa_scope::pod;
    CHECK(aligns(zones, pod));
    zones.zones.front().supplies["nic"] = {};
    zones.scope = muster::numa_scope::container;
    CHECK(aligns(zones, pod));
    CHECK_FALSE(aligns(zones, {}));
    zones = {};
    zones.closed = true;
    CHECK(aligns(zones, pod));
    CHECK_FALSE(aligns(zones, {}));
}

} // namespace numa_admission_test
