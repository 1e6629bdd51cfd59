// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/volumes/supply_assignment.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <muster/testing/random.hpp>

namespace codec_supply_assignment_test {

using muster::codec::storage_supply;
using muster::codec::supply_assignment;

namespace {

using claim_lists = std::vector<std::vector<std::size_t>>;

/// Tries every assignment. Supplies are volumes, except pools, which have `left` bytes.
bool can_serve(const claim_lists& candidates, const std::vector<std::int64_t>& sizes,
               std::vector<storage_supply> supplies) {
    std::vector<bool> used(supplies.size(), false);
    const std::function<bool(std::size_t)> give = [&](std::size_t at) {
        if (at == candidates.size())
            return true;
        for (const std::size_t supply : candidates[at]) {
            auto& left = supplies[supply].left;
            if (left ? *left < sizes[at] : used[supply])
                continue;
            if (left)
                *left -= sizes[at];
            else
                used[supply] = true;
            const bool served = give(at + 1);
            if (left)
                *left += sizes[at];
            else
                used[supply] = false;
            if (served)
                return true;
        }
        return false;
    };
    return give(0);
}

} // namespace

TEST_CASE("an assignment is found whenever there is one, with at most one pool for claims alike") {
    muster::testing::random chance(11);
    for (int world = 0; world < 3000; ++world) {
        std::vector<storage_supply> supplies(chance.below(6));
        if (!supplies.empty() && chance.percent(50))
            supplies.back().left = chance.between(0, 3);
        claim_lists candidates(chance.below(6));
        for (auto& each : candidates)
            for (std::size_t supply = 0; supply < supplies.size(); ++supply)
                if (chance.percent(40))
                    each.push_back(supply);
        const std::vector<std::int64_t> sizes(candidates.size(), 1);
        supply_assignment given(candidates, sizes, supplies);
        bool all = true;
        for (std::size_t at = 0; at < candidates.size(); ++at)
            all = given.assign(at) && all;
        REQUIRE(all == can_serve(candidates, sizes, supplies));
        std::set<std::size_t> used;
        for (std::size_t at = 0; at < candidates.size(); ++at)
            if (const auto supply = given.given_to(at))
                REQUIRE((supplies[*supply].left || used.insert(*supply).second));
    }
}

TEST_CASE("pools give no more than they have, and get back what claims release") {
    muster::testing::random chance(12);
    for (int world = 0; world < 2000; ++world) {
        std::vector<storage_supply> supplies(1 + chance.below(4));
        for (auto& each : supplies)
            if (chance.percent(60))
                each.left = chance.between(0, 9);
        claim_lists candidates(1 + chance.below(6));
        std::vector<std::int64_t> sizes;
        for (auto& each : candidates) {
            sizes.push_back(chance.between(1, 5));
            for (std::size_t supply = 0; supply < supplies.size(); ++supply)
                if (chance.percent(60))
                    each.push_back(supply);
        }
        supply_assignment given(candidates, sizes, supplies);
        for (int step = 0; step < 20; ++step) {
            const std::size_t claim = chance.below(candidates.size());
            if (given.given_to(claim))
                given.release(claim);
            else
                static_cast<void>(given.assign(claim));
            std::vector<std::int64_t> used(supplies.size(), 0);
            for (std::size_t at = 0; at < candidates.size(); ++at)
                if (const auto supply = given.given_to(at))
                    used[*supply] += supplies[*supply].left ? sizes[at] : 1;
            for (std::size_t at = 0; at < supplies.size(); ++at)
                REQUIRE(used[at] <= supplies[at].left.value_or(1));
        }
    }
}

TEST_CASE("a claim leaves its volume for a pool if another claim has no other supply") {
    supply_assignment given({{0, 1}, {0}}, {5, 5}, {{}, {5}});
    CHECK(given.assign(0));
    CHECK(given.given_to(0) == 0);
    CHECK(given.assign(1));
    CHECK(given.given_to(0) == 1);
    CHECK(given.given_to(1) == 0);
}

TEST_CASE("the volume of a released claim is free for another claim") {
    supply_assignment given({{0}, {0}}, {}, {{}});
    CHECK(given.assign(0));
    CHECK_FALSE(given.assign(1));
    given.release(0);
    CHECK(given.assign(1));
}

} // namespace codec_supply_assignment_test
