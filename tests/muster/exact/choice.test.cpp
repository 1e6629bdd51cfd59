// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/exact/choice.hpp>

namespace exact_choice_test {

namespace {

using namespace muster;
using counts = detail::sequence<std::int64_t>;
using costs = detail::sequence<int128>;

counts none(std::size_t size) {
    return counts(size, 0);
}

TEST_CASE("the cheapest members that meet the minimum are chosen") {
    const gang_tree tree(3);
    const choice_finder finder(tree, none(1), {0, 0});
    const auto found = finder.cheapest(costs{5, 2}, none(2), {9, 2});
    CHECK(found.has_value());
    if (!found)
        return;
    CHECK(found->counts == counts{1, 2});
    CHECK(found->cost == 9);
}

TEST_CASE("equal costs go to the first class") {
    const gang_tree tree(2);
    const choice_finder finder(tree, none(1), {0, 0});
    CHECK(finder.cheapest(costs{1, 1}, none(2), {9, 9})->counts == counts{2, 0});
}

TEST_CASE("there is no choice where too few members exist") {
    const gang_tree tree(3);
    const choice_finder finder(tree, none(1), {0});
    CHECK_FALSE(finder.cheapest(costs{1}, none(1), {2}).has_value());
    CHECK(finder.cheapest(costs{1}, none(1), {3}).has_value());
}

TEST_CASE("members that hold already count towards the minima and cost nothing") {
    const gang_tree tree(3);
    const choice_finder finder(tree, {2}, {0});
    const auto found = finder.cheapest(costs{7}, none(1), {9});
    CHECK(found.has_value());
    if (found)
        CHECK(found->counts == counts{1});
    const choice_finder enough(tree, {5}, {0});
    CHECK(enough.cheapest(costs{7}, none(1), {9})->cost == 0);
}

TEST_CASE("a role's minimum is met by its own members, the gang's by anybody's") {
    gang_tree tree(4);
    tree.add({}, 2);
    tree.add({}, 0);
    const choice_finder finder(tree, none(3), {1, 2});
    const auto found = finder.cheapest(costs{10, 1}, none(2), {9, 9});
    CHECK(found.has_value());
    if (found)
        CHECK(found->counts == counts{2, 2});
}

TEST_CASE("the lower bounds are paid for, whether they are needed or not") {
    const gang_tree tree(2);
    const choice_finder finder(tree, none(1), {0, 0});
    const auto found = finder.cheapest(costs{9, 1}, {1, 0}, {9, 9});
    CHECK(found.has_value());
    if (found)
        CHECK(found->counts == counts{1, 1});
    CHECK_FALSE(finder.cheapest(costs{9, 1}, {3, 0}, {2, 9}).has_value());
}

TEST_CASE("the cheapest subgroups are chosen where not all are required") {
    gang_tree tree;
    tree.add({}, 2);
    tree.add({}, 3);
    tree.add({}, 1);
    tree.require_subgroups({}, 2);
    const choice_finder finder(tree, none(4), {1, 2, 3});
    const auto found = finder.cheapest(costs{4, 2, 9}, none(3), {9, 9, 9});
    CHECK(found.has_value());
    if (found)
        CHECK(found->counts == counts{2, 3, 0});
}

TEST_CASE("a subgroup that was not chosen gets nobody") {
    gang_tree tree(3);
    tree.add({}, 2);
    tree.add({}, 2);
    tree.require_subgroups({}, 1);
    const choice_finder finder(tree, none(3), {1, 2});
    // One group alone must bring all three: one of the other would count for nothing.
    CHECK(finder.cheapest(costs{5, 1}, none(2), {3, 1})->counts == counts{3, 0});
    CHECK_FALSE(finder.cheapest(costs{5, 1}, none(2), {2, 1}).has_value());
}

TEST_CASE("where there are too many ways to choose subgroups nothing is concluded") {
    gang_tree few;
    gang_tree many;
    for (int child = 0; child < 12; ++child)
        few.add({}, 1);
    for (int child = 0; child < 14; ++child)
        many.add({}, 1);
    few.require_subgroups({}, 6);
    many.require_subgroups({}, 7);
    CHECK(choice_finder(few, none(13), {1}).complete());
    CHECK_FALSE(choice_finder(many, none(15), {1}).complete());
}

TEST_CASE("a choice says when every other one takes as many of each class") {
    gang_tree tree(4);
    tree.add({}, 3);
    tree.add({}, 1);
    const choice_finder one_each(tree, none(3), {1, 2});
    CHECK(one_each.cheapest(costs{1, 1}, none(2), {9, 9})->least);
    const choice_finder two_of_one(tree, none(3), {1, 1, 2});
    CHECK_FALSE(two_of_one.cheapest(costs{1, 1, 1}, none(3), {9, 9, 9})->least);
    CHECK(two_of_one.cheapest(costs{1, 1, 1}, none(3), {1, 2, 9})->least);
    tree.require_subgroups({}, 1);
    CHECK_FALSE(choice_finder(tree, none(3), {1, 2}).cheapest(costs{1, 1}, none(2), {9, 9})->least);
}

TEST_CASE("one finder serves many gangs") {
    gang_tree wide;
    for (int child = 0; child < 5; ++child)
        wide.add({}, 1);
    wide.require_subgroups({}, 2);
    const gang_tree plain(3);
    choice_finder finder;
    choice found;
    finder.reset(wide, none(6), 5, [](std::size_t at) { return at + 1; });
    CHECK(finder.find({5, 4, 3, 2, 1}, none(5), {1, 1, 1, 1, 1}, found));
    CHECK(found.counts == counts{0, 0, 0, 1, 1});
    finder.reset(plain, none(1), 2, [](std::size_t) { return std::size_t{0}; });
    CHECK(finder.find({5, 4}, none(2), {2, 2}, found));
    CHECK(found.counts == counts{1, 2});
    CHECK(found.cost == 13);
    CHECK_FALSE(finder.find({5, 4}, none(2), {1, 1}, found));
    finder.reset(wide, none(6), 5, [](std::size_t at) { return at + 1; });
    CHECK(finder.find({5, 4, 3, 2, 1}, none(5), {1, 1, 1, 0, 1}, found));
    CHECK(found.counts == counts{0, 0, 1, 0, 1});
}

TEST_CASE("costs beyond int64 are exact") {
    const gang_tree tree(4);
    const choice_finder finder(tree, none(1), {0});
    const int128 dear = static_cast<int128>(1) << 70;
    const auto found = finder.cheapest(costs{dear}, none(1), {9});
    CHECK(found.has_value());
    if (found)
        CHECK((found->cost == 4 * dear));
}

} // namespace

} // namespace exact_choice_test
