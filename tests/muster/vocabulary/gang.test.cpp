// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <muster/vocabulary/gang.hpp>

namespace vocabulary_gang_test {

namespace {

using namespace muster;

TEST_CASE("a gang without roles is one role") {
    const gang_tree tree = single_role(3);
    CHECK(tree.size() == 1);
    CHECK(tree.is_leaf(0));
    CHECK(tree[std::size_t{0}].min_member == 3);
    CHECK_FALSE(tree[std::size_t{0}].min_subgroups.has_value());
}

TEST_CASE("a vertex with children is no role any more") {
    gang_tree tree(4);
    const vertex_index rack = tree.add({}, 2, "rack");
    const vertex_index worker = tree.add(rack, 1, "worker");
    CHECK(tree.size() == 3);
    CHECK_FALSE(tree.is_leaf(0));
    CHECK_FALSE(tree.is_leaf(rack.value()));
    CHECK(tree.is_leaf(worker.value()));
    CHECK(tree[worker].parent == rack.value());
    CHECK(tree[rack].children == 1);
    CHECK(tree[rack].name == "rack");
    CHECK(tree[vertex_index{}].min_member == 4);
}

TEST_CASE("parents stand before their children") {
    gang_tree tree;
    const vertex_index a = tree.add({}, 0);
    tree.add({}, 0);
    tree.add(a, 0);
    for (std::size_t at = 1; at < tree.size(); ++at)
        CHECK(tree[at].parent < at);
}

TEST_CASE("requiring no subgroup is not the same as not saying how many") {
    gang_tree tree;
    tree.add({}, 1);
    CHECK_FALSE(tree[vertex_index{}].min_subgroups.has_value());
    tree.require_subgroups({}, 0);
    CHECK(tree[vertex_index{}].min_subgroups == 0);
}

} // namespace

} // namespace vocabulary_gang_test
