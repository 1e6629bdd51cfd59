// SPDX-License-Identifier: Apache-2.0
#include <muster/gangs/gang_minima.hpp>

#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

#include "gangs.hpp"

namespace translate_gang_minima_test {

using namespace muster::translate;
using namespace translate_tests;

TEST_CASE("a gang of one role needs as many as its root says, and at least one") {
    CHECK(minima_of(gang("g", 4)).total == 4);
    CHECK(minima_of(gang("g", 0)).total == 1);
    CHECK(minima_of(gang("g", 4)).roles.size() == 1);
    CHECK(minima_of(gang("g", 4)).roles[0].minimum == 4);
    CHECK(minima_of(gang("g", 4)).roles_follow);
}

TEST_CASE("the total is no less than the sum of the minima of roles") {
    gang_bundle made = master_and_workers();
    CHECK(minima_of(made).total == 4);
    CHECK(minima_of(made).below_root == 4);
    made.gang.tree.require_members(muster::vertex_index{0}, 5);
    CHECK(minima_of(made).total == 5);
    CHECK(minima_of(made).below_root == 4);
}

TEST_CASE("minima of roles follow from a total that leaves no other choice") {
    gang_bundle made = gang("g", 0);
    add(made, "master", 1, 1);
    add(made, "worker", 4, 4);
    CHECK(minima_of(made).roles_follow);
    CHECK_FALSE(minima_of(master_and_workers()).roles_follow); // four workers are four, too
    gang_bundle of_five = master_and_workers();
    of_five.gang.tree.require_members(muster::vertex_index{0}, 5);
    CHECK(minima_of(of_five).roles_follow);
}

TEST_CASE("nothing follows for roles of unknown size") {
    gang_bundle made = gang("g", 0);
    add(made, "master", 1);
    add(made, "worker", 4);
    CHECK_FALSE(minima_of(made).roles_follow);
    gang_bundle single = gang("g", 0);
    add(single, "worker", 4);
    CHECK(minima_of(single).roles_follow);
    // Who else joins is not known.
    gang_bundle with_others = gang("g", 5);
    add(with_others, "worker", 4);
    add(with_others, "", 0);
    CHECK(minima_of(with_others).roles.size() == 1);
    CHECK_FALSE(minima_of(with_others).roles_follow);
}

TEST_CASE("pods that are not all there yet say nothing of how large their roles are") {
    for (const std::vector<std::size_t>& there :
         {std::vector<std::size_t>{}, {1}, {2}, {1, 2}, {1, 2, 2}, {2, 2, 2, 2, 2}}) {
        gang_bundle made = gang("g", 4);
        add(made, "master", 1);
        add(made, "worker", 3);
        for (const std::size_t leaf : there) {
            made.pods.emplace_back();
            made.pods.back().leaf = muster::vertex_index{leaf};
        }
        const gang_minima found = minima_of(made);
        REQUIRE(found.roles.size() == 2);
        CHECK(found.roles[0].needed == 1);
        CHECK(found.roles[1].needed == 3);
    }
}

TEST_CASE("k of n subgroups need the k smallest, and no role for certain") {
    gang_bundle made = gang("g", 0);
    add(made, "a", 3, 3);
    add(made, "b", 2, 2);
    add(made, "c", 1, 1);
    made.gang.tree.require_subgroups(muster::vertex_index{0}, 2);
    const gang_minima minima = minima_of(made);
    CHECK(minima.total == 3);
    CHECK(minima.some_optional);
    for (const gang_role& role : minima.roles)
        CHECK(role.minimum == 0);
}

TEST_CASE("all of n written as a number is no choice") {
    gang_bundle made = master_and_workers();
    made.gang.tree.require_subgroups(muster::vertex_index{0}, 2);
    CHECK_FALSE(minima_of(made).some_optional);
    CHECK(minima_of(made).roles[1].minimum == 3);
}

TEST_CASE("a subgroup's own minimum counts above it") {
    gang_bundle made = gang("g", 0);
    const auto half = add(made, "half", 5);
    add(made, "a", 1, 4, half);
    add(made, "b", 1, 4, half);
    const gang_minima minima = minima_of(made);
    CHECK(minima.total == 5);
    CHECK(minima.nested);
    CHECK(minima.inner_total);
}

} // namespace translate_gang_minima_test
