// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <limits>

#include <muster/exact/pattern.hpp>

#include "../builders.hpp"

namespace exact_pattern_test {

namespace {

using namespace builders;
using namespace muster;
using counts = detail::sequence<std::int64_t>;

struct fixture {
    fit_problem<traits::width> problem;
    std::int64_t steps = 10'000;
    pattern_finder<traits::width> finder{problem, steps};

    void add_class(const amounts& request) {
        problem.members.emplace_back();
        problem.members.back().request = request;
        problem.members.back().waiting = 9;
        problem.apart.assign(problem.members.size() * problem.members.size(), 0);
    }
    void keep_apart(std::size_t one, std::size_t other) {
        problem.apart[one * problem.members.size() + other] = 1;
        problem.apart[other * problem.members.size() + one] = 1;
    }
    bool find(const amounts& free, const counts& at_least, const counts& at_most,
              const counts& weights) {
        return finder.find({}, free, at_least.data(), at_most.data(), weights);
    }
};

TEST_CASE_FIXTURE(fixture, "the heaviest members that fit together are found") {
    add_class(units(3));
    add_class(units(2));
    CHECK(find(units(8), {0, 0}, {9, 9}, {5, 3}));
    // 2 × 3 + 1 × 2 weighs 13, 4 × 2 only 12.
    CHECK(finder.counts() == counts{2, 1});
    CHECK(finder.weight() == 13);
    CHECK(find(units(8), {0, 0}, {9, 9}, {4, 3}));
    CHECK(finder.counts() == counts{0, 4});
}

TEST_CASE_FIXTURE(fixture, "among equal weights the most members are taken") {
    add_class(units(4));
    add_class(units(1));
    CHECK(find(units(4), {0, 0}, {9, 9}, {0, 0}));
    CHECK(finder.counts() == counts{0, 4});
}

TEST_CASE_FIXTURE(fixture,
                  "the bounds hold, and nothing is found where the lower ones do not fit") {
    add_class(units(1));
    add_class(units(1));
    CHECK(find(units(5), {1, 0}, {2, 2}, {1, 9}));
    CHECK(finder.counts() == counts{2, 2});
    CHECK_FALSE(find(units(5), {3, 3}, {9, 9}, {1, 1}));
    CHECK_FALSE(find(units(5), {0, 6}, {9, 9}, {1, 1}));
    CHECK(find(units(5), {3, 2}, {9, 9}, {1, 1}));
}

TEST_CASE_FIXTURE(fixture, "classes that never share a node are not found together") {
    add_class(units(1));
    add_class(units(1));
    keep_apart(0, 1);
    CHECK(find(units(8), {0, 0}, {2, 3}, {1, 1}));
    CHECK(finder.counts() == counts{0, 3});
    CHECK_FALSE(find(units(8), {1, 1}, {2, 3}, {1, 1}));
}

TEST_CASE_FIXTURE(fixture, "what is short but not asked for does not matter") {
    add_class(units(0, 1));
    CHECK(find(units(-4, 2), {0}, {9}, {1}));
    CHECK(finder.counts() == counts{2});
}

TEST_CASE_FIXTURE(fixture, "weights beyond int64 in sum are exact") {
    add_class(units(1));
    add_class(units(1));
    constexpr auto top = std::numeric_limits<std::int64_t>::max();
    CHECK(find(units(4), {0, 0}, {4, 4}, {top, top - 1}));
    CHECK(finder.counts() == counts{4, 0});
    CHECK((finder.weight() == static_cast<int128>(top) * 4));
}

TEST_CASE_FIXTURE(fixture, "one finder serves many problems") {
    add_class(units(3));
    CHECK(find(units(8), {0}, {9}, {1}));
    fixture other;
    other.add_class(units(2));
    other.add_class(units(1));
    finder.reset(other.problem, other.steps);
    const counts none{0, 0};
    const counts most{9, 9};
    CHECK(finder.find({}, units(5), none.data(), most.data(), {3, 1}));
    CHECK(finder.counts() == counts{2, 1});
    CHECK(other.steps < 10'000);
}

TEST_CASE_FIXTURE(fixture, "the enumeration ends with the steps") {
    add_class(units(1));
    add_class(units(1));
    steps = 1;
    static_cast<void>(find(units(8), {0, 0}, {8, 8}, {1, 2}));
    CHECK(steps < 0);
}

} // namespace

} // namespace exact_pattern_test
