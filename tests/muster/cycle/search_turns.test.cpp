// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/cycle/search_turns.hpp>

namespace cycle_search_turns_test {

using namespace muster;

namespace {

/// Gangs that are asked in every cycle, use up what they get, and stay undecided.
struct backlog {
    detail::search_turns turns;
    budget limit;
    std::vector<std::uint64_t> since;
    std::vector<int> searched;
    std::uint64_t cycles = 1;

    backlog(std::size_t gangs, std::int64_t per_gang, std::int64_t per_cycle)
        : since(gangs), searched(gangs) {
        limit.per_gang = per_gang;
        limit.per_cycle = per_cycle;
    }

    void cycle() {
        turns.begin(limit);
        for (const std::uint64_t each : since)
            turns.add(each);
        turns.share_out();
        std::int64_t spent = 0;
        for (std::size_t at = 0; at < since.size(); ++at) {
            const std::int64_t steps = turns.share(since[at]);
            turns.asked(since[at], steps);
            spent += steps;
            const bool whole = turns.whole(steps);
            searched[at] += whole ? 1 : 0;
            since[at] = whole ? 0 : since[at] > 0 ? since[at] : cycles;
        }
        CHECK(spent <= limit.per_cycle);
        ++cycles;
    }

    [[nodiscard]] int least() const { return *std::ranges::min_element(searched); }
};

} // namespace

TEST_CASE("every gang is searched after as many cycles as the budget has room for, though all are "
          "asked anew in every cycle") {
    for (const std::size_t gangs : {1U, 2U, 7U, 10U, 64U}) {
        for (const std::int64_t shares : {1, 2, 3, 10}) {
            CAPTURE(gangs);
            CAPTURE(shares);
            backlog in(gangs, 100, 200 * shares);
            const auto enough =
                static_cast<int>((static_cast<std::int64_t>(gangs) + shares - 1) / shares);
            for (int round = 1; round <= 5; ++round) {
                for (int cycle = 0; cycle < enough; ++cycle)
                    in.cycle();
                CHECK(in.least() >= round);
            }
        }
    }
}

TEST_CASE("a cycle's budget smaller than a gang's is one gang's") {
    backlog in(3, 100, 60);
    for (int cycle = 0; cycle < 3; ++cycle)
        in.cycle();
    CHECK(in.searched == std::vector<int>{1, 1, 1});
}

TEST_CASE("without a budget nobody is searched, and nobody counts as searched") {
    backlog in(3, 100, 0);
    for (int cycle = 0; cycle < 3; ++cycle)
        in.cycle();
    CHECK(in.searched == std::vector<int>{0, 0, 0});
}

TEST_CASE("what those with a share leave is for the others in their turns") {
    detail::search_turns turns;
    budget limit;
    limit.per_gang = 100;
    limit.per_cycle = 500;
    turns.begin(limit);
    turns.add(3);
    turns.add(5);
    turns.share_out();
    // With both shares kept, each twice as large, 100 are left for who was reached last time.
    CHECK(turns.share(0) == 100);
    turns.asked(0, 100);
    CHECK(turns.share(0) == 0);
    CHECK(turns.share(5) == 100);
    turns.asked(5, 10);
    CHECK(turns.share(0) == 100);
    CHECK(turns.share(3) == 100);
    turns.asked(3, 0);
    CHECK(turns.share(0) == 100);
}

} // namespace cycle_search_turns_test
