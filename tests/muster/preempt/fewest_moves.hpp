// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/cycle/cycle.hpp>
#include <muster/testing/check_placements.hpp>
#include <support/pod_rules.hpp>
#include <support/world.hpp>

#include "budget_rules.hpp"

/// What consolidation must do for a gang "new" that waits: exactly the fewest moves that help, or
/// none, and in the end the gang and all who moved stand where they were promised.
namespace fewest_moves {

using namespace muster;
using namespace muster::testing;

inline constexpr kind_id moved_kind{0};

/// Whoever came for a pod of that queue would be kept out.
[[nodiscard]] inline bool over_quota(const world_state& known, std::optional<queue_index> queue) {
    const auto top = queue ? known[*queue].spec.quota[moved_kind] : std::nullopt;
    return top && known.accounts().used(*queue)[moved_kind] > *top;
}

/// Whom moves help, and by what.
template<class MayMove, class Fits>
struct rules {
    /// `may_move(known, pod)`: nothing but quotas, budgets and its gang keeps it.
    MayMove may_move;
    /// `fits(known, gang)`: the gang could start.
    Fits fits;
    /// Who moves does nothing for the gang where it comes to stand.
    bool only_take_room = true;
};

/// The fewest moves by which the gang fits, by trying all sets on all nodes.
template<class MayMove, class Fits>
[[nodiscard]] std::optional<std::size_t> fewest(const world_state& known, gang_index by,
                                                const rules<MayMove, Fits>& how) {
    std::vector<pod_index> movable;
    for (const auto& [key, pod] : known.pod_keys()) {
        // Who comes for a member of a gang below its minima could not start.
        const auto& group = known[known[pod].gang];
        const auto standing =
            std::count_if(group.members.begin(), group.members.end(),
                          [&](pod_index member) { return known[member].charged(); });
        if (known[pod].gang != by && known[pod].charged() && group.present &&
            group.spec.preemptible && (!group.queue || known[*group.queue].spec.preemptible) &&
            standing >= group.spec.tree[0].min_member && !over_quota(known, group.queue) &&
            how.may_move(known, pod))
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
                expect_applied(without.remove_pod(known.key(pod)));
            if (how.only_take_room && !how.fits(without, by))
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
                    const auto found = moved.find_node(known.key(to))->index;
                    const auto query = detail::query_for<core_of<world_traits>>(
                        known, known[pod].shape, std::nullopt);
                    right = right && detail::room_on(moved.accounts(), query, found, 1) == 1;
                    if (!right)
                        break;
                    auto spec = known.spec_of(pod);
                    expect_applied(moved.upsert_pod(known.key(pod), known.key(known[pod].gang),
                                                    spec, known.key(to)));
                }
                if (right && how.fits(moved, by))
                    return count;
            }
        }
    return std::nullopt;
}

inline const policy moving{best_fit{},        priority_then_age{}, priority_then_share{},
                           no_reservations{}, surplus_at_once{},   most_packed{},
                           no_eviction{},     move_preemptible{}};

/// The gang's members, nominated in `then`, came where they stand `now`: what is wrong with that in
/// every order, as far as terms between pods go.
[[nodiscard]] inline std::string came_too_early(world_state then, const world_state& now,
                                                gang_index which) {
    std::vector<placement> came;
    for (const pod_index member : now[which].members)
        if (then[member].nominated && now[member].assumed) {
            came.push_back({member, *now[member].node});
            expect_applied(then.forget(now.key(member)));
        }
    const auto earlier = [](const placement& lhs, const placement& rhs) {
        return lhs.pod < rhs.pod;
    };
    std::sort(came.begin(), came.end(), earlier);
    std::string fault;
    do {
        fault = fault_among_pods(then, which, came);
    } while (!fault.empty() && std::next_permutation(came.begin(), came.end(), earlier));
    return fault;
}

/// Empty when all is well. `counts`: worlds in which somebody moved, by how many did.
template<class MayMove, class Fits>
[[nodiscard]] std::string check(const world& from, const rules<MayMove, Fits>& by,
                                std::map<std::size_t, std::size_t>& counts) {
    world_state known = to_state(from);
    const auto found = known.find_gang("new");
    if (!found || known[found->index].members.empty())
        return {};
    const gang_index which = found->index;
    const world_state before = known;
    const cycle_result result = cycle(known, 0, moving);
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
        const auto expected = fewest(before, which, by);
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
    ++counts[moves.size()];
    // A gang comes before the others have moved where there is room and nobody keeps it off then.
    const auto accounts = known.accounts();
    for (std::int64_t now = 1; now < 4; ++now) {
        world_state then = known;
        if (cycle(known, now, moving).counters.pods_moved > 0 ||
            ((by.only_take_room || known[which].nominated > 0) && known.accounts() != accounts))
            return "again: a cycle on an unchanged cluster changes something";
        if (then[which].nominated > 0 && known[which].nominated == 0)
            if (const std::string fault = came_too_early(then, known, which); !fault.empty())
                return "came: " + fault;
    }
    for (const auto& [pod, node] : moves) {
        const std::string key = before.key(pod);
        auto spec = before.spec_of(pod);
        spec.phase = pod_phase::pending;
        expect_applied(known.remove_pod(key));
        expect_applied(known.upsert_pod(key + "-again", before.key(before[pod].gang), spec));
    }
    for (std::int64_t now = 4; now < 7; ++now)
        if (cycle(known, now, moving).counters.pods_moved > 0)
            return "again: others move before those who move have settled";
    if (known[which].nominated > 0 || known.migrations() > 0)
        return "bound: somebody who was nominated did not come";
    std::multimap<std::string, std::string> told;
    std::multimap<std::string, std::string> came;
    for (const auto& [pod, node] : moves) {
        const std::string gang = before.key(before[pod].gang);
        told.emplace(gang, before.key(node));
        const auto again = known.find_pod(before.key(pod) + "-again");
        if (!known[again->index].assumed)
            return "bound: a pod that moves did not come";
        came.emplace(gang, known.key(*known[again->index].node));
    }
    const auto sorted = [](const std::multimap<std::string, std::string>& of) {
        std::vector<std::pair<std::string, std::string>> all(of.begin(), of.end());
        std::sort(all.begin(), all.end());
        return all;
    };
    if (sorted(told) != sorted(came))
        return "promised: a pod came to another node than it was promised";
    for (const node_index node : known.node_order())
        if (known.accounts().free(node)[moved_kind] < 0)
            return "over-committed: " + known.key(node);
    return {};
}

} // namespace fewest_moves
