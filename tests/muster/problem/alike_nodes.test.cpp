// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <muster/exact/search.hpp>
#include <muster/problem/alike_nodes.hpp>
#include <support/cases.hpp>

#include "../builders.hpp"

namespace problem_alike_nodes_test {

namespace {

using namespace muster;
using namespace muster::testing;

using grouped = muster::detail::grouped_problem<world_width>;

/// Sets of constraints that questions of explain() ask about.
std::vector<constraints_in_force> some_forces() {
    std::vector<constraints_in_force> made{{}};
    for (const std::uint64_t kind : {1U, 2U, 4U}) {
        made.push_back(constraints_in_force::none());
        made.back().resources = kind;
        made.push_back({});
        made.back().resources &= ~kind;
    }
    for (const auto member : {&constraints_in_force::selector, &constraints_in_force::taints,
                              &constraints_in_force::cordon, &constraints_in_force::ports,
                              &constraints_in_force::volumes, &constraints_in_force::devices}) {
        made.push_back(constraints_in_force::none());
        made.back().*member = true;
        made.push_back({});
        made.back().*member = false;
    }
    return made;
}

/// The rows of the grouped problem, each as often as it counts, are those of the problem; whoever
/// fits greedily is not refused by the search.
std::string check_groups(const world& from, std::size_t& rows, std::size_t& groups,
                         std::size_t& fitting) {
    const world_state known = to_state(from);
    for (const auto& [key, which] : known.gang_keys())
        for (const auto scope : {certificate_scope::free_now, certificate_scope::empty_cluster}) {
            const auto members = members_of(known, which);
            const muster::detail::alike_nodes alike(known, members, scope);
            for (const constraints_in_force& force : some_forces()) {
                const auto whole = pose(known, members, scope, force);
                grouped made;
                made.pose(known, members, scope, force, {}, &alike);
                rows += whole.rows.size();
                groups += made.of.rows.size();
                std::vector<std::vector<std::int64_t>> all;
                for (std::size_t row = 0; row < whole.rows.size(); ++row)
                    all.emplace_back(whole.most_of(row), whole.most_of(row) + whole.members.size());
                std::vector<std::vector<std::int64_t>> expanded;
                for (std::size_t row = 0; row < made.of.rows.size(); ++row)
                    for (std::int64_t time = 0; time < made.times[row]; ++time)
                        expanded.emplace_back(made.of.most_of(row),
                                              made.of.most_of(row) + made.of.members.size());
                std::ranges::sort(all);
                std::ranges::sort(expanded);
                if (all != expanded)
                    return "other rows: " + key;
                const bool apart =
                    std::ranges::any_of(whole.apart, [](char each) { return each != 0; });
                if (apart || whole.devices.any() || !fits_greedily(made))
                    continue;
                ++fitting;
                std::int64_t steps = 1 << 18;
                if (fit_search<world_width>().run(whole, steps) == fit_outcome::impossible)
                    return "fits greedily, and not at all: " + key;
            }
        }
    return {};
}

TEST_CASE("groups of nodes pose the same problem as the nodes, whatever constraints are in force") {
    std::size_t rows = 0;
    std::size_t groups = 0;
    std::size_t fitting = 0;
    CHECK(count_faults(
              "groups of nodes", 500,
              [](std::uint64_t seed) { return world_generator(seed).make(); },
              [&](const world& from) { return check_groups(from, rows, groups, fitting); }) == 0);
    CHECK(count_faults("groups of nodes with devices", 500, carded_world, [&](const world& from) {
              return check_groups(from, rows, groups, fitting);
          }) == 0);
    CHECK(groups < rows);
    CHECK(fitting > 0);
}

TEST_CASE("nodes that differ in what a gang does not request are alike, others are not") {
    using namespace builders;
    cluster known;
    ok(known.upsert_node("a", machine(4)));
    ok(known.upsert_node("b", machine(4)));
    ok(known.upsert_node("c", machine(40)));
    ok(known.upsert_node("d", machine(50)));
    ok(known.upsert_node("e", machine(1)));
    ok(known.upsert_node("f", machine(0)));
    auto cordoned = machine(4);
    cordoned.unschedulable = true;
    ok(known.upsert_node("g", cordoned));
    add_gang(known, "gang", 3, 2); // asks for 6 in all
    const auto members = members_of(known, gang_at(known, "gang"));
    const muster::detail::alike_nodes alike(known, members, certificate_scope::free_now);
    CHECK(alike.sizes() == detail::sequence<std::int64_t>{2, 2, 2, 1});
    std::string first;
    for (const node_index node : alike.first())
        first += known.key(node);
    CHECK(first == "aceg");
}

TEST_CASE("a gang fits greedily where its scarce members come first, within its quota") {
    using namespace builders;
    cluster known;
    ok(known.upsert_node("a", machine(4)));
    ok(known.upsert_node("b", machine(2)));
    gang_tree tree;
    const auto small = tree.add(vertex_index{0}, 1, "small");
    const auto large = tree.add(vertex_index{0}, 1, "large");
    ok(known.upsert_gang("g", gang_of(tree)));
    ok(known.upsert_pod("g-0", "g", in_role(small, asking(2))));
    ok(known.upsert_pod("g-1", "g", in_role(large, asking(4))));
    const auto fits = [&] {
        const auto members = members_of(known, gang_at(known, "g"));
        muster::detail::grouped_problem<traits::width> made;
        const muster::detail::alike_nodes alike(known, members, certificate_scope::free_now);
        made.pose(known, members, certificate_scope::free_now, {}, {}, &alike);
        return fits_greedily(made);
    };
    CHECK(fits());
    ok(known.upsert_node("a", machine(3)));
    CHECK_FALSE(fits());
}

} // namespace

} // namespace problem_alike_nodes_test
