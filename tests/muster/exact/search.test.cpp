// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/exact/search.hpp>

#include "../builders.hpp"

namespace exact_search_test {

namespace {

using namespace builders;
using namespace muster;

constexpr std::int64_t plenty = 1 << 20;

struct fixture {
    gang_tree tree;
    fit_problem<traits::width> problem;

    /// Roles are children of the root; 0 is the root itself.
    void add_class(const amounts& request, std::int64_t waiting, std::size_t role = 0) {
        fit_problem<traits::width>::member& made = problem.members.emplace_back();
        made.role = role;
        made.request = request;
        made.charge = request;
        made.waiting = waiting;
    }
    void add_node(const amounts& free) {
        problem.rows.push_back({node_index{problem.rows.size()}, free});
    }
    void pose() {
        problem.tree = &tree;
        problem.holding.resize(tree.size(), 0);
        const std::size_t classes = problem.members.size();
        problem.apart.assign(classes * classes, 0);
        problem.most.clear();
        for (const auto& row : problem.rows)
            for (const auto& member : problem.members)
                problem.most.push_back(fit_count(member.request, row.free, member.waiting));
    }
    fit_outcome decide(std::int64_t steps = plenty) {
        pose();
        return fit_search<traits::width>(problem, steps).run();
    }
};

TEST_CASE_FIXTURE(fixture, "what was found fits every node and meets every minimum") {
    tree = gang_tree(4);
    tree.add({}, 2);
    tree.add({}, 1);
    add_class(units(3), 3, 1);
    add_class(units(2), 3, 2);
    add_node(units(7));
    add_node(units(5));
    pose();
    fit_search<traits::width> search(problem, plenty);
    CHECK(search.run() == fit_outcome::fits);
    const auto& counts = search.counts();
    CHECK(counts.size() == 4);
    if (counts.size() != 4)
        return;
    CHECK(3 * counts[0] + 2 * counts[1] <= 7);
    CHECK(3 * counts[2] + 2 * counts[3] <= 5);
    CHECK(counts[0] + counts[2] >= 2);
    CHECK(counts[1] + counts[3] >= 1);
    CHECK(counts[0] + counts[1] + counts[2] + counts[3] >= 4);
}

// Best fit puts the small ones where the large one had to go.
TEST_CASE_FIXTURE(fixture, "the one arrangement that fits is found") {
    tree = gang_tree(4);
    add_class(units(6), 1);
    add_class(units(5), 1);
    add_class(units(4), 2);
    add_node(units(10));
    add_node(units(9));
    CHECK(decide() == fit_outcome::fits);
}

TEST_CASE_FIXTURE(fixture,
                  "impossible comes with a proof, in which every vertex has its branches") {
    tree = gang_tree(3);
    add_class(units(3), 3);
    add_node(units(5));
    add_node(units(5));
    pose();
    fit_search<traits::width> search(problem, plenty);
    CHECK(search.run() == fit_outcome::impossible);
    CHECK_FALSE(search.proof().empty());
    std::ptrdiff_t open = 1;
    for (const certificate::vertex& vertex : search.proof())
        open += vertex.leaf ? -1 : 1;
    CHECK(open == 0);
}

TEST_CASE_FIXTURE(fixture, "two roles that fit alone and not together are told apart") {
    tree.add({}, 2);
    tree.add({}, 1);
    add_class(units(2), 2, 1);
    add_class(units(3), 1, 2);
    add_node(units(4));
    add_node(units(2));
    CHECK(decide() == fit_outcome::impossible);
    add_node(units(2));
    problem.rows.back().free = units(3);
    CHECK(decide() == fit_outcome::fits);
}

TEST_CASE_FIXTURE(fixture, "without steps there is neither an answer nor a proof") {
    tree.add({}, 2);
    tree.add({}, 1);
    add_class(units(2), 2, 1);
    add_class(units(3), 1, 2);
    add_node(units(4));
    add_node(units(2));
    CHECK(decide(0) == fit_outcome::undecided);
    CHECK(decide(1) == fit_outcome::undecided);
}

TEST_CASE_FIXTURE(fixture, "counts alone decide where every member lacks a node") {
    tree = gang_tree(1);
    add_class(units(2), 1);
    CHECK(decide(0) == fit_outcome::impossible);
}

TEST_CASE_FIXTURE(fixture,
                  "a quota stops what the nodes would take, unless smaller members exist") {
    tree = gang_tree(2);
    add_class(units(3), 2);
    add_node(units(99));
    problem.quotas.push_back({cpu, 5});
    CHECK(decide() == fit_outcome::impossible);
    add_class(units(2), 1);
    CHECK(decide() == fit_outcome::fits);
}

TEST_CASE("one search decides many problems as a search of each") {
    fit_search<traits::width> again;
    for (std::int64_t number = 0; number < 40; ++number) {
        fixture one;
        one.tree.add({}, 2 + number % 5);
        one.tree.add({}, 3 + number % 3);
        one.add_class(units(3, 1), 6, 1);
        one.add_class(units(2, number % 3), 5, 2);
        for (std::int64_t node = 0; node < 1 + number % 4; ++node)
            one.add_node(units(5 + (node * number) % 4, 3 + node % 2));
        one.pose();
        fit_search<traits::width> fresh(one.problem, plenty);
        const fit_outcome outcome = fresh.run();
        CHECK(again.run(one.problem, plenty) == outcome);
        CHECK(again.counts() == fresh.counts());
        CHECK(again.proof().size() == fresh.proof().size());
        CHECK(again.steps_left() == fresh.steps_left());
    }
}

TEST_CASE_FIXTURE(fixture,
                  "roles that fill most nodes to the brim are placed or refused by one leaf") {
    // Every node takes 4 of the one or 3 of the other, or two of each.
    tree.add({}, 61);
    tree.add({}, 52);
    add_class(units(3, 4), 100, 1);
    add_class(units(4, 3), 100, 2);
    for (int node = 0; node < 30; ++node)
        add_node(units(14 + node % 2, 14));
    CHECK(decide() == fit_outcome::fits);
    tree = gang_tree();
    tree.add({}, 61);
    tree.add({}, 60);
    pose();
    fit_search<traits::width> search(problem, plenty);
    CHECK(search.run() == fit_outcome::impossible);
    CHECK(search.proof().size() == 1);
}

TEST_CASE_FIXTURE(fixture, "a quota decides among members that could stand in for one another") {
    tree = gang_tree(6);
    add_class(units(3), 6);
    add_class(units(1, 2), 6);
    for (int node = 0; node < 4; ++node)
        add_node(units(5, 3));
    problem.quotas.push_back({cpu, 12});
    CHECK(decide() == fit_outcome::fits);
    problem.quotas.push_back({gpu, 4});
    CHECK(decide() == fit_outcome::impossible);
}

TEST_CASE_FIXTURE(fixture, "the same problem takes the same steps to the same answer") {
    tree.add({}, 3);
    tree.add({}, 3);
    add_class(units(3, 1), 5, 1);
    add_class(units(2, 2), 5, 2);
    for (const std::int64_t free : {7, 6, 5, 4, 3})
        add_node(units(free, 3));
    pose();
    fit_search<traits::width> one(problem, plenty);
    fit_search<traits::width> other(problem, plenty);
    CHECK(one.run() == other.run());
    CHECK(one.steps_left() == other.steps_left());
    CHECK(one.counts() == other.counts());
}

} // namespace

} // namespace exact_search_test
