// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <muster/explain/missing_members.hpp>
#include <muster/testing/random.hpp>

namespace explain_missing_members_test {

namespace {

using namespace muster;

/// Tries every number of waiting members, role by role.
std::int64_t by_trial(const gang_tree& tree, std::size_t vertex,
                      detail::sequence<std::int64_t> counts,
                      const detail::sequence<std::int64_t>& waiting, std::size_t from) {
    constexpr std::int64_t never = std::numeric_limits<std::int32_t>::max();
    if (from == tree.size())
        return evaluate(tree, counts).met[vertex] ? 0 : never;
    std::int64_t least = never;
    for (std::int64_t more = 0; more <= waiting[from]; ++more, ++counts[from])
        least = std::min(least, more + by_trial(tree, vertex, counts, waiting, from + 1));
    return least;
}

TEST_CASE("the number of missing members is the smallest that meets the minima, at any vertex") {
    testing::random draw(1);
    std::size_t compared = 0;
    for (int round = 0; round < 3000; ++round) {
        CAPTURE(round);
        gang_tree tree(draw.between(0, 4));
        std::vector<vertex_index> inner{vertex_index{0}};
        for (int at = 0; at < draw.between(1, 4); ++at) {
            const auto made =
                tree.add(inner[draw.below(inner.size())], draw.between(0, 2), std::to_string(at));
            if (draw.percent(30))
                inner.push_back(made);
        }
        for (std::size_t at = 0; at < tree.size(); ++at)
            if (!tree.is_leaf(at) && draw.percent(50))
                tree.require_subgroups(vertex_index{at}, draw.between(0, static_cast<std::int64_t>(
                                                                             tree[at].children)));
        gang_members<1> members;
        members.tree = &tree;
        members.holding.assign(tree.size(), 0);
        detail::sequence<std::int64_t> waiting(tree.size(), 0);
        for (std::size_t at = 0; at < tree.size(); ++at) {
            if (!tree.is_leaf(at))
                continue;
            members.holding[at] = draw.between(0, 2);
            waiting[at] = draw.between(0, 3);
            member_class<1> each{};
            each.role = vertex_index{at};
            each.count = static_cast<std::size_t>(waiting[at]);
            if (each.count > 0)
                members.classes.push_back(each);
        }
        for (std::size_t vertex = 0; vertex < tree.size(); ++vertex) {
            const auto expected = by_trial(tree, vertex, members.holding, waiting, 0);
            if (expected > 100)
                continue;
            ++compared;
            CHECK(detail::missing_members(members, vertex).count() == expected);
        }
    }
    CHECK(compared > 3000);
}

} // namespace

} // namespace explain_missing_members_test
