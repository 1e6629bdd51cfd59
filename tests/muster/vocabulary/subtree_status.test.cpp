// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <muster/vocabulary/subtree_status.hpp>

namespace vocabulary_tree_standing_test {

namespace {

using namespace muster;

using counts = std::vector<std::int64_t>;

/// Two roles of at least 2 and 1.
gang_tree two_roles(std::int64_t whole = 0) {
    gang_tree tree(whole);
    static_cast<void>(tree.add({}, 2));
    static_cast<void>(tree.add({}, 1));
    return tree;
}

/// Two subgroups of two roles each, of at least one member; one of the subgroups is enough.
gang_tree subgroups() {
    gang_tree tree;
    for (int at = 0; at < 2; ++at) {
        const vertex_index group = tree.add({}, 3);
        static_cast<void>(tree.add(group, 1));
        static_cast<void>(tree.add(group, 1));
    }
    tree.require_subgroups({}, 1);
    return tree;
}

TEST_CASE("a gang without roles stands when its own minimum is met") {
    CHECK_FALSE(reaches_minima(single_role(2), counts{1}));
    CHECK(reaches_minima(single_role(2), counts{2}));
    CHECK(reaches_minima(single_role(0), counts{0}));
}

TEST_CASE("a gang of roles stands when each reaches its minimum, and the gang its own") {
    CHECK(reaches_minima(two_roles(), counts{0, 2, 1}));
    CHECK_FALSE(reaches_minima(two_roles(), counts{0, 9, 0}));
    CHECK_FALSE(reaches_minima(two_roles(), counts{0, 1, 9}));
    CHECK_FALSE(reaches_minima(two_roles(5), counts{0, 2, 2}));
    CHECK(reaches_minima(two_roles(5), counts{0, 3, 2}));
}

TEST_CASE("a subgroup counts with all its members when it is met, and with none when it is not") {
    // root, group 1 with roles 2 and 3, group 4 with roles 5 and 6.
    const subtree_status now = evaluate(subgroups(), counts{0, 0, 2, 1, 0, 9, 0});
    CHECK(now.met[1]);
    CHECK_FALSE(now.met[4]);
    CHECK(now.met[5]);
    CHECK_FALSE(now.met[6]);
    CHECK(now.met[0]);
    CHECK(now.counts[1] == 3);
    CHECK(now.counts[0] == 3);
    CHECK_FALSE(reaches_minima(subgroups(), counts{0, 0, 1, 1, 0, 9, 0}));
    CHECK(reaches_minima(subgroups(), counts{0, 0, 0, 0, 0, 2, 1}));
}

TEST_CASE("a tree is flat when it has nothing below its roles and needs all of them") {
    CHECK(is_flat(single_role(3)));
    CHECK(is_flat(two_roles()));
    CHECK_FALSE(is_flat(subgroups()));
    gang_tree tree = two_roles();
    tree.require_subgroups({}, 2);
    CHECK(is_flat(tree));
    tree.require_subgroups({}, 1);
    CHECK_FALSE(is_flat(tree));
}

TEST_CASE("for flat trees the short way says what the long one does") {
    for (std::int64_t whole = 0; whole <= 6; ++whole)
        for (std::int64_t first = 0; first <= 4; ++first)
            for (std::int64_t second = 0; second <= 3; ++second) {
                const counts held{0, first, second};
                const bool met = evaluate(two_roles(whole), held).met[0] != 0;
                CHECK(reaches_minima(two_roles(whole), held) == met);
                CHECK(met == (first >= 2 && second >= 1 && first + second >= whole));
            }
}

} // namespace

} // namespace vocabulary_tree_standing_test
