// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <muster/testing/brute_force.hpp>
#include <muster/testing/cases.hpp>
#include <muster/testing/check_placements.hpp>
#include <muster/testing/random.hpp>

#include "budget_rules.hpp"

namespace cycle_consolidation_properties_test {

namespace {

using namespace muster;
using namespace muster::testing;

constexpr kind_id cpu{0};

/// Up to `most_nodes` nodes and a few more running pods of gangs than `most_pods`, and a gang "new"
/// that waits.
world scattered(std::uint64_t seed, std::int64_t most_nodes, std::size_t most_pods) {
    testing::random draw(seed);
    const bool many = most_pods > 5;
    world made;
    made.seed = seed;
    made.kinds = 2;
    std::vector<std::int64_t> left;
    for (int at = 0; at < draw.between(2, most_nodes); ++at) {
        node<world_width> spec;
        spec.allocatable[cpu] = draw.between(many ? 6 : 3, 8);
        spec.allocatable[made.pods_kind()] = 10;
        spec.labels = {{"is", "n" + std::to_string(at)}};
        left.push_back(spec.allocatable[cpu]);
        made.nodes.push_back({"n" + std::to_string(at), spec});
    }
    for (int at = 0; at < 2; ++at) {
        queue<world_width> spec;
        if (draw.percent(20))
            spec.preemptible = false;
        if (draw.percent(30))
            spec.quota.set(cpu, draw.between(3, 12));
        made.queues.push_back({"q" + std::to_string(at), spec, {}});
    }
    const auto add_gang = [&](const std::string& key, bool stands, std::size_t most) {
        gang<std::string> spec;
        spec.queue = "q" + std::to_string(draw.below(2));
        spec.priority = draw.between(0, 2);
        spec.created = draw.between(0, 3);
        if (stands && draw.percent(15))
            spec.preemptible = false;
        if (stands && draw.percent(25))
            spec.max_disrupted = draw.between(0, 2);
        const std::size_t pods = 1 + draw.below(most);
        std::vector<vertex_index> roles{vertex_index{0}};
        if (!stands && draw.percent(30)) {
            gang_tree tree(1);
            roles = {tree.add(vertex_index{0}, draw.between(0, 1)), tree.add(vertex_index{0}, 1)};
            spec.tree = tree;
        } else {
            spec.tree = gang_tree(draw.between(1, static_cast<std::int64_t>(pods)));
        }
        for (std::size_t at = 0; at < pods; ++at) {
            pod<world_width> one;
            one.role = roles[at % roles.size()];
            one.created = draw.between(0, 3);
            one.request[cpu] = stands ? draw.between(1, 3)
                               : many ? draw.between(4, 7)
                                      : draw.between(1, 6);
            one.request[made.pods_kind()] = 1;
            if (draw.percent(10))
                one.where.ports.push_back({"TCP", "", 80});
            std::optional<std::string> on;
            if (stands) {
                one.phase = pod_phase::running;
                const std::size_t node = draw.below(left.size());
                if (left[node] < one.request[cpu])
                    continue;
                if (draw.percent(15))
                    one.where.selector.requirements.push_back(
                        {"is", label_operator::in, {"n" + std::to_string(node), "n0"}});
                left[node] -= one.request[cpu];
                on = "n" + std::to_string(node);
                const bool taken =
                    std::any_of(made.pods.begin(), made.pods.end(), [&](const auto& other) {
                        return other.on == on && !other.spec.where.ports.empty();
                    });
                if (taken)
                    one.where.ports.clear();
            } else if (draw.percent(10)) {
                one.where.selector.requirements.push_back({"is", label_operator::in, {"n0"}});
            }
            made.pods.push_back({key + "-" + std::to_string(at), key, one, on});
        }
        made.gangs.push_back({key, spec});
    };
    for (std::size_t at = 0; at < most_pods && made.pods.size() < most_pods; ++at)
        add_gang("g" + std::to_string(at), true, 2);
    add_gang("new", false, many ? 5 : 3);
    return made;
}
world few_pods(std::uint64_t seed) {
    return scattered(seed, 3, 5);
}
world many_pods(std::uint64_t seed) {
    return scattered(seed, 10, 20);
}
world few_pods_with_budgets(std::uint64_t seed) {
    world made = few_pods(seed);
    testing::random draw(seed ^ 0x5bd1e995U);
    budget_rules::add(made, draw);
    return made;
}

/// Whoever came for a pod of that queue would be kept out.
bool over_quota(const world_state& known, std::optional<queue_index> queue) {
    const auto top = queue ? known[*queue].spec.quota[cpu] : std::nullopt;
    return top && known.accounts().used(*queue)[cpu] > *top;
}

/// The fewest moves by which the gang fits, by trying all sets on all nodes.
std::optional<std::size_t> fewest(const world_state& known, gang_index by) {
    std::vector<pod_index> movable;
    for (const auto& [key, pod] : known.pod_keys()) {
        // Who comes for a member of a gang below its minima could not start.
        const auto& group = known[known[pod].gang];
        const auto standing =
            std::count_if(group.members.begin(), group.members.end(),
                          [&](pod_index member) { return known[member].charged(); });
        if (known[pod].gang != by && known[pod].charged() && group.present &&
            group.spec.preemptible && (!group.queue || known[*group.queue].spec.preemptible) &&
            standing >= group.spec.tree[0].min_member && !over_quota(known, group.queue))
            movable.push_back(pod);
    }
    for (std::size_t count = 1; count <= movable.size(); ++count)
        for (std::size_t set = 1; set < std::size_t{1} << movable.size(); ++set) {
            std::vector<pod_index> gone;
            std::map<gang_index, std::int64_t> taken;
            for (std::size_t at = 0; at < movable.size(); ++at)
                if ((set >> at & 1U) != 0) {
                    gone.push_back(movable[at]);
                    ++taken[known[movable[at]].gang];
                }
            if (gone.size() != count ||
                std::any_of(taken.begin(), taken.end(), [&](const auto& of) {
                    const auto& most = known[of.first].spec.max_disrupted;
                    return most && of.second > *most;
                }))
                continue;
            if (!budget_rules::kept(known, gone))
                continue;
            world_state without = known;
            for (const pod_index pod : gone)
                expect_applied(without.remove_pod(known[pod].key));
            // Quotas are no matter of theirs.
            if (!brute_force<world_traits>(without, by).fits())
                continue;
            std::size_t ways = 1;
            for (std::size_t at = 0; at < gone.size(); ++at)
                ways *= known.node_order().size();
            for (std::size_t way = 0; way < ways; ++way) {
                world_state moved = without;
                bool right = true;
                std::size_t rest = way;
                for (const pod_index pod : gone) {
                    const node_index to = known.node_order()[rest % known.node_order().size()];
                    rest /= known.node_order().size();
                    const auto found = moved.find_node(known[to].key)->index;
                    const auto query =
                        detail::query_for<world_traits>(known, known[pod].shape, std::nullopt);
                    right = right && detail::room_on(moved.accounts(), query, found, 1) == 1;
                    if (!right)
                        break;
                    auto spec = known.spec_of(pod);
                    expect_applied(moved.upsert_pod(known[pod].key, known[known[pod].gang].key,
                                                    spec, known[to].key));
                }
                if (right && brute_force<world_traits>(moved, by).fits())
                    return count;
            }
        }
    return std::nullopt;
}

const policy how{best_fit{},        priority_then_age{}, priority_then_share{}, no_reservations{},
                 surplus_at_once{}, most_packed{},       no_eviction{},         move_preemptible{}};

/// Worlds in which somebody moved, by how many did.
std::map<std::size_t, std::size_t> moving_worlds;

std::string check_moves(const world& from) {
    world_state known = to_state(from);
    const auto found = known.find_gang("new");
    if (!found || !known[found->index].queue || known[found->index].members.empty())
        return {};
    const gang_index which = found->index;
    const world_state before = known;
    const cycle_result result = cycle(known, 0, how);
    if (const std::string fault = check_placements(before, result); !fault.empty())
        return "placements: " + fault;
    std::vector<placement> moves;
    for (const decision& made : result.decisions) {
        moves.insert(moves.end(), made.moves.begin(), made.moves.end());
        if (made.evictions.size() != made.moves.size())
            return "evicted: somebody goes who is promised no place";
        if (!made.moves.empty() && (made.gang != which || !made.nominated))
            return "order: somebody else has others moved";
    }
    const bool starts = known[which].last.kind == answer::admitted;
    if (starts && moves.empty())
        return {};
    const bool asked = known[which].last.at == gate::space || known[which].last.at == gate::quota;
    if (!starts && !asked)
        return {};
    if (before.pod_keys().size() < 12) {
        const auto expected = fewest(before, which);
        if (!expected)
            return moves.empty() ? "" : "needless: pods move though that helps nobody";
        if (moves.empty())
            return "missed: " + std::to_string(*expected) + " moves would do";
        if (moves.size() != *expected)
            return "not fewest: " + std::to_string(moves.size()) + " moves instead of " +
                   std::to_string(*expected);
    } else if (moves.empty()) {
        return {};
    }
    ++moving_worlds[moves.size()];
    const auto accounts = known.accounts();
    for (std::int64_t now = 1; now < 4; ++now)
        if (cycle(known, now, how).counters.pods_moved > 0 || known.accounts() != accounts)
            return "again: a cycle on an unchanged cluster changes something";
    for (const auto& [pod, node] : moves) {
        const std::string key = before[pod].key;
        auto spec = before.spec_of(pod);
        spec.phase = pod_phase::pending;
        expect_applied(known.remove_pod(key));
        expect_applied(known.upsert_pod(key + "-again", before[before[pod].gang].key, spec));
    }
    for (std::int64_t now = 4; now < 7; ++now)
        if (cycle(known, now, how).counters.pods_moved > 0)
            return "again: others move before those who move have settled";
    if (known[which].nominated > 0 || known.promises() > 0)
        return "bound: somebody who was nominated did not come";
    std::multimap<std::string, std::string> told;
    std::multimap<std::string, std::string> came;
    for (const auto& [pod, node] : moves) {
        const std::string gang = before[before[pod].gang].key;
        told.emplace(gang, before[node].key);
        const auto again = known.find_pod(before[pod].key + "-again");
        if (!known[again->index].assumed)
            return "bound: a pod that moves did not come";
        came.emplace(gang, known[*known[again->index].node].key);
    }
    const auto sorted = [](const std::multimap<std::string, std::string>& of) {
        std::vector<std::pair<std::string, std::string>> all(of.begin(), of.end());
        std::sort(all.begin(), all.end());
        return all;
    };
    if (sorted(told) != sorted(came))
        return "promised: a pod came to another node than it was promised";
    for (const node_index node : known.node_order())
        if (known.accounts().free(node)[cpu] < 0)
            return "over-committed: " + known[node].key;
    return {};
}

TEST_CASE("on small clusters exactly the fewest pods move, and the gang and all of them stand") {
    moving_worlds.clear();
    CHECK(count_faults("consolidation", 2000, few_pods, check_moves) == 0);
    std::size_t worlds = 0;
    for (const auto& [moves, count] : moving_worlds) {
        std::printf("consolidation: %zu moves in %zu worlds\n", moves, count);
        worlds += count;
    }
    if (all_cases(2000))
        CHECK((worlds > 20 && moving_worlds.size() > 1));
}

TEST_CASE("with budgets exactly the fewest pods move that keep to all of them") {
    moving_worlds.clear();
    CHECK(count_faults("consolidation with budgets", 1000, few_pods_with_budgets, check_moves) ==
          0);
    if (all_cases(1000))
        CHECK(moving_worlds.size() > 1);
}

TEST_CASE("on clusters of many pods, too, whoever moves and the gang all stand in the end") {
    moving_worlds.clear();
    CHECK(count_faults("consolidation of many", 1000, many_pods, check_moves) == 0);
    std::size_t worlds = 0;
    for (const auto& [moves, count] : moving_worlds) {
        std::printf("consolidation of many: %zu moves in %zu worlds\n", moves, count);
        worlds += count;
    }
    if (all_cases(1000))
        CHECK(worlds > 20);
}

} // namespace

} // namespace cycle_consolidation_properties_test
