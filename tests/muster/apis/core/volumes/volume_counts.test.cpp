// SPDX-License-Identifier: Apache-2.0
#include <muster/apis/core/volumes/volume_counts.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <muster/testing/random.hpp>

namespace codec_volume_counts_test {

using muster::codec::volume_counts;

namespace {

/// Tries every assignment of claims (given by shape) to volumes (given by the shapes they suit).
bool can_match(const std::vector<std::size_t>& claims,
               const std::vector<volume_counts::shape_set>& volumes) {
    std::vector<bool> used(volumes.size(), false);
    const std::function<bool(std::size_t)> give = [&](std::size_t at) {
        if (at == claims.size())
            return true;
        for (std::size_t volume = 0; volume < volumes.size(); ++volume) {
            if (used[volume] || (volumes[volume] >> claims[at] & 1U) == 0)
                continue;
            used[volume] = true;
            if (give(at + 1))
                return true;
            used[volume] = false;
        }
        return false;
    };
    return give(0);
}

} // namespace

TEST_CASE("claims get a volume each if and only if they are within all amounts") {
    muster::testing::random chance(7);
    std::size_t feasible = 0;
    for (int world = 0; world < 4000; ++world) {
        const std::size_t shapes = 1 + chance.below(4);
        std::vector<volume_counts::shape_set> volumes(chance.below(6));
        for (auto& each : volumes)
            each = static_cast<volume_counts::shape_set>(
                1 + chance.below((std::size_t{1} << shapes) - 1));
        std::vector<std::size_t> claims(chance.below(6));
        for (auto& each : claims)
            each = chance.below(shapes);
        const std::set<volume_counts::shape_set> suits(volumes.begin(), volumes.end());
        const auto counts = volume_counts::make(shapes, {suits.begin(), suits.end()});
        if (!counts)
            continue;
        bool within = true;
        for (const auto set : counts->sets()) {
            std::size_t asked = 0;
            std::size_t there = 0;
            for (const std::size_t shape : claims)
                asked += set >> shape & 1U;
            for (const auto volume : volumes)
                there += (volume & set) != 0 ? 1U : 0U;
            within = within && asked <= there;
        }
        REQUIRE(within == can_match(claims, volumes));
        feasible += within ? 1U : 0U;
    }
    CHECK(feasible > 400);
}

TEST_CASE("shapes need one amount each if larger shapes can use fewer volumes") {
    // Volumes of three sizes: the largest suits all three shapes.
    const auto counts = volume_counts::make(3, {0b001, 0b011, 0b111});
    REQUIRE(counts);
    CHECK(counts->sets() == std::vector<volume_counts::shape_set>{0b100, 0b110, 0b111});
}

TEST_CASE("shapes with no volume in common need one amount each") {
    const auto counts = volume_counts::make(2, {0b01, 0b10});
    REQUIRE(counts);
    CHECK(counts->sets() == std::vector<volume_counts::shape_set>{0b01, 0b10});
}

} // namespace codec_volume_counts_test
