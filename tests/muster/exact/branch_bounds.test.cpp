// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/exact/branch_bounds.hpp>

#include "../builders.hpp"

namespace exact_search_box_test {

namespace {

using namespace builders;
using namespace muster;
using counts = detail::sequence<std::int64_t>;
using box = detail::branch_bounds<traits::width>;

struct fixture {
    fit_problem<traits::width> problem;
    box nodes;
    std::int64_t steps = 1 << 20;
    muster::detail::sequence<box::pattern> selected;
    counts carried;
    int128 bound = 0;

    void add_class(const amounts& request, std::int64_t waiting = 9) {
        fit_problem<traits::width>::member& made = problem.members.emplace_back();
        made.request = request;
        made.waiting = waiting;
        problem.apart.assign(problem.members.size() * problem.members.size(), 0);
    }
    void add_node(const amounts& free) {
        problem.rows.push_back({node_index{problem.rows.size()}, free});
        for (const auto& member : problem.members)
            problem.most.push_back(fit_count(member.request, free, member.waiting));
    }
    bool price_nodes(const counts& weights) {
        return nodes.price_nodes(weights, steps, selected, carried, bound);
    }
};

TEST_CASE_FIXTURE(fixture, "nodes that are alike share a part, nodes without a rivalry need none") {
    add_class(units(3), 2);
    add_class(units(2), 2);
    add_node(units(6));
    add_node(units(99));
    add_node(units(6));
    add_node(units(7));
    nodes.reset(problem, steps);
    CHECK(nodes.parts().size() == 2);
    CHECK(nodes.parts()[0].times == 2);
    CHECK(nodes.settled(1));
    CHECK(nodes.settled_sum() == counts{2, 2});
    CHECK(nodes.upper() == counts{8, 8});
    CHECK(price_nodes({3, 1}));
    CHECK(carried == counts{8, 2});
    CHECK((bound == 26));
}

TEST_CASE_FIXTURE(fixture, "a split holds one node and leaves those alike as they were") {
    add_class(units(3), 2);
    add_class(units(2), 3);
    add_node(units(6));
    add_node(units(6));
    nodes.reset(problem, steps);
    const auto sum_on = [&](bool high) {
        return nodes.within(0, 0, 1, high, [&] {
            CHECK(nodes.lower() == (high ? counts{2, 0} : counts{0, 0}));
            CHECK(nodes.upper() == (high ? counts{4, 6} : counts{3, 6}));
            CHECK(price_nodes({1, 0}));
            return carried[0];
        });
    };
    CHECK(sum_on(false) == 3);
    CHECK(sum_on(true) == 4);
    CHECK(nodes.lower() == counts{0, 0});
    CHECK(nodes.upper() == counts{4, 6});
    CHECK(nodes.parts().size() == 1);
    CHECK(nodes.parts()[0].times == 2);
}

TEST_CASE_FIXTURE(fixture, "splits on one node add up until no pattern is left") {
    add_class(units(3), 2);
    add_class(units(2), 3);
    add_node(units(7));
    nodes.reset(problem, steps);
    nodes.within(0, 0, 0, true, [&] {
        CHECK(price_nodes({0, 1}));
        CHECK(carried == counts{1, 2});
        nodes.within(0, 1, 2, true, [&] {
            CHECK_FALSE(price_nodes({1, 1}));
            return 0;
        });
        return 0;
    });
    CHECK(price_nodes({0, 1}));
    CHECK(carried == counts{0, 3});
}

TEST_CASE_FIXTURE(fixture, "a node without a rivalry can be split all the same") {
    add_class(units(1), 4);
    add_class(units(1), 4);
    add_node(units(99));
    nodes.reset(problem, steps);
    CHECK(nodes.parts().empty());
    const auto cell = nodes.widest();
    CHECK(cell.has_value());
    nodes.within(0, 0, 1, false, [&] {
        CHECK(price_nodes({1, 1}));
        CHECK(carried == counts{1, 4});
        return 0;
    });
    CHECK(price_nodes({1, 1}));
    CHECK(carried == counts{4, 4});
}

TEST_CASE_FIXTURE(fixture, "nodes with too many patterns to list are enumerated, to the same end") {
    add_class(units(3), 90);
    add_class(units(2), 90);
    add_class(units(1, 1), 90);
    add_node(units(100, 9));
    add_node(units(101, 9));
    nodes.reset(problem, steps);
    CHECK(nodes.parts()[0].listed);
    CHECK(price_nodes({317, 203, 111}));
    const counts listed = carried;
    const int128 weight = bound;
    steps = 2000;
    nodes.reset(problem, steps);
    CHECK_FALSE(nodes.parts()[0].listed);
    steps = 1 << 20;
    CHECK(price_nodes({317, 203, 111}));
    CHECK(carried == listed);
    CHECK((bound == weight));
    nodes.within(0, 0, 3, false, [&] {
        CHECK(price_nodes({317, 203, 111}));
        CHECK(bound < weight);
        return 0;
    });
}

} // namespace

} // namespace exact_search_box_test
