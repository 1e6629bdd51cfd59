// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/volumes/supply_assignment.hpp>
#include <muster/apis/core/volumes/supply_reach.hpp>
#include <muster/apis/core/volumes/volume_places.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Finds nodes for pods with claims, so that each pod's node reaches supplies for all of its
/// claims. Claims and pods are positions in the lists of volume_handout; supplies of a claim are in
/// ascending order, preferred ones first.
class volume_fit {
public:
    using supply_list = std::vector<std::size_t>;
    /// Supplies that claims may get, in the order of the claims.
    using candidate_lists = std::vector<supply_list>;
    /// Pods, with the positions of their claims.
    using claims_of_pods = std::map<std::size_t, std::vector<std::size_t>>;

    /// `reaches`: per supply, whether each node reaches it. `places` outlives it.
    volume_fit(const std::vector<std::vector<char>>& reaches, std::vector<storage_supply> supplies,
               volume_places& places)
        : reach_(reaches, places.nodes()), supplies_(std::move(supplies)), places_(&places) {}

    [[nodiscard]] const std::vector<storage_supply>& supplies() const noexcept { return supplies_; }
    [[nodiscard]] const supply_reach& reach() const noexcept { return reach_; }

    /// Groups with a node on which the pod may be placed if it is alone. O(nodes) at first.
    [[nodiscard]] const std::vector<std::size_t>& groups_of(std::size_t pod) {
        const auto [known, fresh] = groups_of_.try_emplace(pod);
        if (fresh) {
            const std::vector<char>& admitted = places_->admitted(pod);
            for (std::size_t group = 0; group < reach_.groups(); ++group)
                if (std::ranges::any_of(reach_.nodes_of(group),
                                        [&](std::size_t node) { return admitted[node] != 0; }))
                    known->second.push_back(group);
        }
        return known->second;
    }

    /// Keeps the supplies that the pod reaches from nodes on which it may be placed. False, and no
    /// change, if there are none. O(supplies of its groups · log supplies).
    [[nodiscard]] bool keep_reached(supply_list& supplies, std::size_t pod) {
        std::set<std::size_t> reached;
        for (const std::size_t group : groups_of(pod)) {
            const supply_list found = reach_.reached_from(group, supplies);
            reached.insert(found.begin(), found.end());
        }
        if (reached.empty())
            return false;
        supplies.assign(reached.begin(), reached.end());
        return true;
    }

    /// Some node on which the pod may be placed reaches different volumes, or enough storage, for
    /// claims with these candidates and sizes. O(groups of the pod × candidates).
    [[nodiscard]] bool reaches_all(std::size_t pod, const candidate_lists& lists,
                                   const std::vector<std::int64_t>& sizes) {
        return std::ranges::any_of(groups_of(pod), [&](std::size_t group) {
            candidate_lists few;
            std::map<std::size_t, std::size_t> position;
            std::vector<storage_supply> own;
            for (const supply_list& each : lists) {
                few.push_back(reach_.reached_from(group, each));
                if (few.back().empty())
                    return false;
                for (std::size_t& supply : few.back()) {
                    const auto [known, fresh] = position.try_emplace(supply, own.size());
                    if (fresh)
                        own.push_back(supplies_[supply]);
                    supply = known->second;
                }
            }
            supply_assignment trial(std::move(few), sizes, std::move(own));
            for (std::size_t at = 0; at < lists.size(); ++at)
                if (!trial.assign(at))
                    return false;
            return true;
        });
    }

    /// Of these claims, the candidates that the group reaches; empty if some claim has none.
    [[nodiscard]] candidate_lists narrowed(std::size_t group,
                                           const std::vector<std::size_t>& claims,
                                           const candidate_lists& lists) const {
        candidate_lists made;
        for (const std::size_t at : claims) {
            made.push_back(reach_.reached_from(group, lists[at]));
            if (made.back().empty())
                return {};
        }
        return made;
    }

    /// Places pods one by one, of pods that share claims the first one on a node of each group:
    /// beside those placed by keep() if possible, else with what is free now, or on emptied nodes.
    /// `assigned` gives each claim one of its candidates. Returns the candidates that the nodes
    /// leave; nothing if some pod finds no node, or after too many steps.
    [[nodiscard]] std::optional<candidate_lists> place(const claims_of_pods& pods,
                                                       const candidate_lists& lists,
                                                       const supply_assignment& assigned) {
        if (!left_)
            left_ = places_->free_now();
        for (const volume_places::room* const room :
             {&std::as_const(*left_), &places_->free_now(), &places_->emptied()})
            if (auto found = place(pods, lists, assigned, *room))
                return found;
        return std::nullopt;
    }
    /// Later pods are placed beside those of the last place().
    void keep() {
        for (auto& [node, amounts] : taken_)
            for (auto& [kind, amount] : amounts)
                if (const auto left = (*left_)[node].find(kind); left != (*left_)[node].end())
                    left->second -= amount;
        taken_.clear();
    }

private:
    /// Where placing has come to.
    struct progress {
        candidate_lists lists;
        supply_assignment assigned;
        /// By node, what the pods take.
        std::map<std::size_t, volume_places::amounts> taken;
    };

    [[nodiscard]] std::optional<candidate_lists> place(const claims_of_pods& pods,
                                                       const candidate_lists& lists,
                                                       const supply_assignment& assigned,
                                                       const volume_places::room& room) {
        taken_.clear();
        steps_ = most_steps;
        progress all{lists, assigned, {}};
        for (const std::vector<std::size_t>& sharers : sharers_of(pods)) {
            const std::vector<std::size_t>& groups = groups_of(sharers.front());
            const bool placed = std::ranges::any_of(groups, [&](std::size_t first) {
                progress trial = all;
                const bool fits = std::ranges::all_of(sharers, [&](std::size_t pod) {
                    const bool is_first = pod == sharers.front();
                    return is_first ? place_in(pod, pods.at(pod), first, room, trial)
                                    : std::ranges::any_of(groups_of(pod), [&](std::size_t group) {
                                          return place_in(pod, pods.at(pod), group, room, trial);
                                      });
                });
                if (fits)
                    all = std::move(trial);
                return fits;
            });
            if (!placed)
                return std::nullopt;
        }
        taken_ = std::move(all.taken);
        return std::move(all.lists);
    }
    /// Places one pod on a node of the group. False, and no change, if none fits or after too many
    /// steps.
    [[nodiscard]] bool place_in(std::size_t pod, const std::vector<std::size_t>& own,
                                std::size_t group, const volume_places::room& room, progress& all) {
        candidate_lists narrow = narrowed(group, own, all.lists);
        const std::size_t cost = all.lists.size() + supplies_.size();
        if (narrow.empty() || steps_ < cost)
            return false;
        const auto node = find_node(pod, group, room, all.taken);
        if (!node)
            return false;
        steps_ -= cost;
        supply_assignment after = all.assigned;
        for (const std::size_t at : own)
            after.release(at);
        for (std::size_t at = 0; at < own.size(); ++at)
            after.set_candidates(own[at], narrow[at]);
        if (!std::ranges::all_of(own, [&](std::size_t at) { return after.assign(at); }))
            return false;
        all.assigned = std::move(after);
        for (std::size_t at = 0; at < own.size(); ++at)
            all.lists[own[at]] = std::move(narrow[at]);
        places_->add(all.taken[*node], pod);
        return true;
    }
    /// The pods, grouped by the claims that they share: of such pods, the first one's node decides
    /// where the others can be placed.
    [[nodiscard]] static std::vector<std::vector<std::size_t>>
    sharers_of(const claims_of_pods& pods) {
        std::map<std::size_t, std::vector<std::size_t>> pods_of; // by claim
        for (const auto& [pod, own] : pods)
            for (const std::size_t claim : own)
                pods_of[claim].push_back(pod);
        std::vector<std::vector<std::size_t>> found;
        std::set<std::size_t> seen;
        for (const auto& [first, claims] : pods) {
            if (!seen.insert(first).second)
                continue;
            std::vector<std::size_t>& together = found.emplace_back(1, first);
            for (std::size_t at = 0; at < together.size(); ++at)
                for (const std::size_t claim : pods.at(together[at]))
                    for (const std::size_t pod : std::exchange(pods_of[claim], {}))
                        if (seen.insert(pod).second)
                            together.push_back(pod);
        }
        return found;
    }
    /// The first node of the group that has room for the pod.
    [[nodiscard]] std::optional<std::size_t>
    find_node(std::size_t pod, std::size_t group, const volume_places::room& room,
              const std::map<std::size_t, volume_places::amounts>& all) {
        const std::vector<char>& admitted = places_->admitted(pod);
        const volume_places::amounts none;
        for (const std::size_t node : reach_.nodes_of(group)) {
            const auto taken = all.find(node);
            if (admitted[node] != 0 &&
                places_->fits(room[node], taken == all.end() ? none : taken->second, pod))
                return node;
        }
        return std::nullopt;
    }

    /// Steps of one place(). Beyond them, the choice ignores how pods fit nodes: a gang may then
    /// wait although another choice would let it start.
    static constexpr std::size_t most_steps = std::size_t{1} << 24;

    supply_reach reach_;
    std::vector<storage_supply> supplies_;
    volume_places* places_;
    std::map<std::size_t, std::vector<std::size_t>> groups_of_;
    /// What nodes have left beside the pods of keep().
    std::optional<volume_places::room> left_;
    /// By node, what the pods of the last place() take.
    std::map<std::size_t, volume_places::amounts> taken_;
    /// Steps left for place().
    std::size_t steps_ = 0;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
