// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/exact/search_patterns.hpp>
#include <muster/testing/random.hpp>

#include "../builders.hpp"

namespace exact_search_patterns_test {

namespace {

using namespace builders;
using namespace muster;
using counts = detail::sequence<std::int64_t>;

struct fixture {
    fit_problem<traits::width> problem;
    detail::pattern_lister<traits::width> lister;
    std::int64_t steps = 1 << 16;

    void add_class(const amounts& request, std::int64_t waiting = 9) {
        fit_problem<traits::width>::member& made = problem.members.emplace_back();
        made.request = request;
        made.waiting = waiting;
        problem.apart.assign(problem.members.size() * problem.members.size(), 0);
    }
    void keep_apart(std::size_t one, std::size_t other) {
        problem.apart[one * problem.members.size() + other] = 1;
        problem.apart[other * problem.members.size() + one] = 1;
    }
    bool list(const amounts& free, counts& into) {
        problem.rows.assign(1, {node_index{0}, free});
        problem.most.clear();
        for (const auto& member : problem.members)
            problem.most.push_back(fit_count(member.request, free, member.waiting));
        lister.reset(problem);
        return lister.list(0, steps, into);
    }
    bool takes(const counts& pattern) const {
        for (std::size_t at = 0; at < pattern.size(); ++at)
            for (std::size_t other = 0; other < at; ++other)
                if (problem.apart[at * pattern.size() + other] && pattern[at] && pattern[other])
                    return false;
        for (std::size_t at = 0; at < pattern.size(); ++at)
            if (pattern[at] > problem.most[at])
                return false;
        for (std::size_t column = 0; column < 3; ++column) {
            std::int64_t sum = 0;
            for (std::size_t at = 0; at < pattern.size(); ++at)
                sum += pattern[at] * problem.members[at].request[column];
            if (sum > 0 && sum > problem.rows[0].free[column])
                return false;
        }
        return true;
    }
    /// Every pattern that the row takes and to which nobody can be added.
    void maximal(counts& current, std::size_t at, counts& into) const {
        if (at < current.size()) {
            for (current[at] = 0; current[at] <= problem.most[at]; ++current[at])
                maximal(current, at + 1, into);
            current[at] = 0;
            return;
        }
        if (!takes(current))
            return;
        for (std::size_t more = 0; more < current.size(); ++more) {
            counts larger = current;
            ++larger[more];
            if (takes(larger))
                return;
        }
        into.insert(into.end(), current.begin(), current.end());
    }
};

std::vector<std::vector<std::int64_t>> sorted(const counts& flat, std::size_t classes) {
    std::vector<std::vector<std::int64_t>> patterns;
    for (std::size_t at = 0; at + classes <= flat.size(); at += classes)
        patterns.emplace_back(flat.begin() + static_cast<std::ptrdiff_t>(at),
                              flat.begin() + static_cast<std::ptrdiff_t>(at + classes));
    std::ranges::sort(patterns);
    return patterns;
}

TEST_CASE_FIXTURE(fixture, "two classes make a staircase") {
    add_class(units(3));
    add_class(units(2));
    counts found;
    CHECK(list(units(8), found));
    CHECK(found == counts{2, 1, 1, 2, 0, 4});
}

TEST_CASE_FIXTURE(fixture, "a class that never shares has a pattern of its own") {
    add_class(units(3));
    add_class(units(2));
    keep_apart(0, 1);
    counts found;
    CHECK(list(units(8), found));
    CHECK(found == counts{2, 0, 0, 4});
}

TEST_CASE_FIXTURE(fixture, "the list ends with the steps") {
    add_class(units(1));
    add_class(units(1));
    steps = 3;
    counts found;
    CHECK_FALSE(list(units(8), found));
}

TEST_CASE("exactly the patterns are listed to which nobody can be added") {
    muster::testing::random chance(7);
    for (int number = 0; number < 400; ++number) {
        fixture one;
        const std::int64_t classes = chance.between(1, 4);
        for (std::int64_t at = 0; at < classes; ++at) {
            amounts request = units(chance.between(0, 4), chance.between(0, 3));
            request[std::size_t{2}] = chance.between(0, 1);
            one.add_class(request, chance.between(0, 5));
        }
        for (std::size_t at = 1; at < static_cast<std::size_t>(classes); ++at)
            if (chance.percent(15))
                one.keep_apart(0, at);
        amounts free = units(chance.between(-1, 9), chance.between(-1, 9));
        free[std::size_t{2}] = chance.between(0, 6);
        counts found;
        CHECK(one.list(free, found));
        counts by_trying;
        counts current(one.problem.members.size(), 0);
        one.maximal(current, 0, by_trying);
        CHECK(sorted(found, current.size()) == sorted(by_trying, current.size()));
    }
}

} // namespace

} // namespace exact_search_patterns_test
