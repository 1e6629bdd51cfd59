// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/exact/rounding_heuristic.hpp>

#include "../builders.hpp"

namespace exact_search_repair_test {

namespace {

using namespace builders;
using namespace muster;
using counts = detail::sequence<std::int64_t>;
using box = detail::branch_bounds<traits::width>;
using repair = detail::rounding_heuristic<traits::width>;

/// Nodes of 6 units, each for two of the first class or three of the second.
struct fixture {
    fit_problem<traits::width> problem;
    box nodes;
    repair mender;
    std::int64_t steps = 1 << 20;
    muster::detail::sequence<box::pattern> selected;
    counts carried;
    counts excess;
    const counts weights{3, 2};

    explicit fixture() {
        for (const std::int64_t asks : {3, 2}) {
            problem.members.emplace_back().request = units(asks);
            problem.members.back().waiting = 90;
        }
        problem.apart.assign(4, 0);
    }
    void add_nodes(int number, std::int64_t free) {
        for (; number > 0; --number) {
            problem.rows.push_back({node_index{problem.rows.size()}, units(free)});
            problem.most.push_back(free / 3);
            problem.most.push_back(free / 2);
        }
    }
    bool run(const counts& needed, const muster::detail::sequence<repair::ingredient>& mix = {}) {
        nodes.reset(problem, steps);
        int128 bound = 0;
        CHECK(nodes.price_nodes(weights, steps, selected, carried, bound));
        excess = {carried[0] - needed[0], carried[1] - needed[1]};
        return mender.run(nodes, selected, mix, weights, excess, steps);
    }
    /// What the shares carry; every part's nodes must be shared out.
    counts shared() {
        counts sum(2, 0);
        detail::sequence<std::int64_t> times(nodes.parts().size(), 0);
        for (const repair::share& each : mender.shares(nodes, selected)) {
            times[each.part] += each.times;
            for (std::size_t at = 0; at < 2; ++at)
                sum[at] += each.times * nodes.count(each.takes, at);
        }
        for (std::size_t which = 0; which < times.size(); ++which)
            CHECK(times[which] == nodes.parts()[which].times);
        return sum;
    }
};

TEST_CASE_FIXTURE(fixture, "nodes that are alike are shared out") {
    add_nodes(8, 6);
    CHECK(run({6, 15}));
    CHECK(shared() == counts{6, 15});
    CHECK(run({16, 0}));
    CHECK(run({0, 24}));
    CHECK(shared() == counts{0, 24});
}

TEST_CASE_FIXTURE(fixture, "an exchange that costs weight is made where weight is to spare") {
    add_nodes(3, 6);
    // Each of 6 units, but 5 of the first class need a third node, and a member's room is lost.
    CHECK(run({5, 1}));
    const counts sum = shared();
    CHECK(sum[0] >= 5);
    CHECK(sum[1] >= 1);
}

TEST_CASE_FIXTURE(fixture, "what cannot be mended is not") {
    add_nodes(3, 6);
    CHECK_FALSE(run({5, 2}));
    CHECK_FALSE(run({7, 0}));
}

TEST_CASE_FIXTURE(fixture, "a mix is rounded node by node") {
    for (std::int64_t free = 12; free < 24; ++free)
        add_nodes(1, free);
    nodes.reset(problem, steps);
    muster::detail::sequence<box::pattern> first;
    muster::detail::sequence<box::pattern> second;
    counts of_first;
    counts of_second;
    int128 bound = 0;
    CHECK(nodes.price_nodes({30, 19}, steps, first, of_first, bound));
    CHECK(nodes.price_nodes({30, 21}, steps, second, of_second, bound));
    const counts needed{(of_first[0] + of_second[0]) / 2 - 1, (of_first[1] + of_second[1]) / 2 - 1};
    CHECK(run(needed, {{&first, repair::whole / 2}, {&second, repair::whole / 2}}));
    const counts sum = shared();
    CHECK(sum[0] >= needed[0]);
    CHECK(sum[1] >= needed[1]);
}

} // namespace

} // namespace exact_search_repair_test
