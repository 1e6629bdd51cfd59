// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/exact/column_generation.hpp>
#include <muster/testing/random.hpp>

namespace exact_search_ray_test {

namespace {

using namespace muster;
using amounts = detail::sequence<std::int64_t>;

std::int64_t product(const amounts& lhs, const amounts& rhs) {
    std::int64_t sum = 0;
    for (std::size_t at = 0; at < lhs.size(); ++at)
        sum += lhs[at] * rhs[at];
    return sum;
}

const amounts& heaviest(const std::vector<amounts>& points, const amounts& weights) {
    const amounts* best = &points.front();
    for (const amounts& each : points)
        if (product(weights, each) > product(weights, *best))
            best = &each;
    return *best;
}

/// The best weights for these points, found as a search finds them.
amounts follow(const std::vector<amounts>& points, const amounts& direction) {
    detail::column_generation ray;
    ray.start(direction, heaviest(points, direction));
    amounts weights;
    while (ray.weights(weights))
        if (ray.add(heaviest(points, weights)) == detail::column_generation::nothing)
            return weights;
    return {};
}

TEST_CASE("two points that none outweighs settle the weights") {
    // Between (2, -1) and (-3, 2) the hull passes below the origin's right and above its left.
    const std::vector<amounts> points{{2, -1}, {-3, 2}, {-1, -1}};
    CHECK(follow(points, {1, 1}) == amounts{3, 5});
}

TEST_CASE("a class of which there is always too little gets all the weight") {
    const std::vector<amounts> points{{5, -2}, {-1, -2}};
    CHECK(follow(points, {3, 1}) == amounts{0, 1});
}

TEST_CASE("the shares mix the points into the ray's end") {
    const std::vector<amounts> points{{3, -3}, {-1, 1}};
    detail::column_generation ray;
    ray.start({1, 1}, points[0]);
    amounts weights;
    CHECK(ray.weights(weights));
    CHECK(weights == amounts{0, 1});
    const std::size_t place = ray.add(points[1]);
    CHECK(ray.weights(weights));
    CHECK(weights == amounts{1, 1});
    CHECK(ray.share(place) == detail::column_generation::whole * 3 / 4);
}

TEST_CASE("amounts that are too large stop it") {
    const std::int64_t large = std::int64_t{1} << 50U;
    detail::column_generation ray;
    ray.start({1, 1}, {large, -large});
    amounts weights;
    CHECK_FALSE(ray.weights(weights));
    CHECK(ray.add({1, 1}) == detail::column_generation::nothing);
    CHECK(ray.share(2) == 0);
}

TEST_CASE("no other weights bound the points' distance along the direction more tightly") {
    muster::testing::random chance(11);
    for (int number = 0; number < 200; ++number) {
        const auto classes = static_cast<std::size_t>(chance.between(2, 4));
        amounts direction;
        for (std::size_t at = 0; at < classes; ++at)
            direction.push_back(chance.between(1, 9));
        std::vector<amounts> points(12);
        for (amounts& each : points)
            for (std::size_t at = 0; at < classes; ++at)
                each.push_back(chance.between(-20, 20));
        const amounts best = follow(points, direction);
        CHECK(best.size() == classes);
        if (best.size() != classes)
            return;
        const std::int64_t bound = product(best, heaviest(points, best));
        const std::int64_t length = product(best, direction);
        for (int other = 0; other < 50; ++other) {
            amounts weights;
            for (std::size_t at = 0; at < classes; ++at)
                weights.push_back(chance.between(0, 30));
            if (product(weights, direction) > 0)
                CHECK(product(weights, heaviest(points, weights)) * length >=
                      bound * product(weights, direction));
        }
    }
}

} // namespace

} // namespace exact_search_ray_test
