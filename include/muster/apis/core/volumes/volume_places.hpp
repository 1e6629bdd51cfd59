// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/apis/core/volumes/volume_user.hpp>
#include <muster/resource/quantity.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/node.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// The nodes of an input as far as the choice of volumes needs them: `seen` has names, labels and
/// taints, `objects` has sizes, in the same order. `standing` are pods that hold room.
struct volume_nodes {
    std::vector<node<1>> seen;
    std::vector<const node_object*> objects;
    std::vector<const pod_object*> standing;
};

/// Some node is marked in both.
[[nodiscard]] inline bool have_common(const std::vector<char>& lhs, const std::vector<char>& rhs) {
    for (std::size_t at = 0; at < lhs.size(); ++at)
        if (lhs[at] != 0 && rhs[at] != 0)
            return true;
    return false;
}

/// Where pods with volumes may be placed, by their own constraints and by the volumes that are
/// chosen already.
class volume_places {
public:
    /// By resource kind.
    using amounts = std::map<std::string, std::int64_t>;
    /// Amounts that nodes have left, by node.
    using room = std::vector<amounts>;

    /// All outlive it.
    volume_places(const volume_nodes& nodes, std::span<const volume_user> users,
                  const std::vector<volume_effects>& effects, const std::set<std::size_t>& stuck)
        : nodes_(&nodes),
          users_(users),
          effects_(&effects),
          stuck_(&stuck),
          admitted_(users.size()) {}

    [[nodiscard]] std::size_t nodes() const noexcept { return nodes_->seen.size(); }

    /// Per node: the pod may be placed there when no other pod is. O(nodes × terms) at first.
    [[nodiscard]] const std::vector<char>& admitted(std::size_t user) {
        std::vector<char>& found = admitted_[user];
        if (!found.empty())
            return found;
        const room& all = emptied();
        for (std::size_t at = 0; at < nodes(); ++at)
            found.push_back(matches(user, nodes_->seen[at]) && fits(all[at], {}, user) ? 1 : 0);
        return found;
    }

    /// The pod can start if it is alone: it is not gated, waits for nothing else, and some node
    /// admits it and reaches something for each of its claims. O(nodes × terms) at first.
    [[nodiscard]] bool may_start(std::size_t user) {
        if (!is_ready(*users_[user].pod) || !(*effects_)[user].waits.empty() ||
            stuck_->contains(user))
            return false;
        const std::vector<char>& nodes = admitted(user);
        return std::ranges::find(nodes, 1) != nodes.end();
    }
    /// The same for a pod without volumes. O(nodes × terms).
    [[nodiscard]] bool may_start(const pod_object& pod) {
        if (!is_ready(pod))
            return false;
        const room& all = emptied();
        for (std::size_t at = 0; at < nodes(); ++at)
            if (is_admitted(pod, nodes_->seen[at]) && fits(all[at], {}, pod))
                return true;
        return false;
    }
    /// The gang's members by leaf, without those that wait and cannot start if they are alone.
    [[nodiscard]] std::vector<std::int64_t> startable_members(const volume_gang& gang,
                                                              std::size_t rank) {
        std::vector<std::int64_t> found = gang.members;
        const pod_object* last = nullptr;
        bool starts = false;
        for (const auto& [pod, role] : gang.without_volumes) {
            if (!last || !is_alike(*last, *pod))
                starts = may_start(*pod);
            last = pod;
            found[role.value()] -= starts ? 0 : 1;
        }
        for (const std::size_t user : users_of(rank)) {
            const pod_object& pod = *users_[user].pod;
            if (volume_gang::is_member(pod) && volume_gang::waits(pod) && !may_start(user))
                --found[users_[user].role.value()];
        }
        return found;
    }

    [[nodiscard]] const room& emptied() {
        if (!emptied_) {
            emptied_.emplace();
            for (const node_object* const each : nodes_->objects)
                emptied_->push_back(each->allocatable);
        }
        return *emptied_;
    }
    [[nodiscard]] const room& free_now() {
        if (free_)
            return *free_;
        free_ = emptied();
        std::map<std::string, std::size_t> by_name;
        for (std::size_t at = 0; at < nodes(); ++at)
            by_name.emplace(nodes_->seen[at].name, at);
        for (const pod_object* const pod : nodes_->standing)
            if (const auto on = by_name.find(pod->node); on != by_name.end())
                take((*free_)[on->second], *pod);
        return *free_;
    }

    /// `taken`: what other pods take of `left`.
    [[nodiscard]] bool fits(const amounts& left, const amounts& taken, std::size_t user) const {
        return fits(left, taken, *users_[user].pod);
    }
    /// Adds what the pod takes.
    void add(amounts& taken, std::size_t user) const {
        for (const auto& [kind, amount] : users_[user].pod->requests)
            taken[kind] = saturate(taken[kind] + units(kind, amount));
        ++taken["pods"];
    }

private:
    [[nodiscard]] static bool fits(const amounts& left, const amounts& taken,
                                   const pod_object& pod) {
        const auto has = [&](const std::string& kind, int128 amount) {
            const auto known = left.find(kind);
            const auto gone = taken.find(kind);
            return known != left.end() &&
                   known->second >= amount + (gone == taken.end() ? 0 : gone->second);
        };
        return has("pods", 1) && std::ranges::all_of(pod.requests, [&](const auto& each) {
                   return each.second.milli <= 0 || has(each.first, units(each.first, each.second));
               });
    }
    /// Neither gated nor refused for what it says.
    [[nodiscard]] static bool is_ready(const pod_object& pod) {
        return pod.unsupported.empty() && pod.phase != pod_phase::gated;
    }
    [[nodiscard]] static bool is_alike(const pod_object& lhs, const pod_object& rhs) {
        const auto same = [](const auto& one, const auto& other) {
            return one.first == other.first && one.second.milli == other.second.milli;
        };
        return is_ready(lhs) == is_ready(rhs) && lhs.where == rhs.where &&
               std::ranges::equal(lhs.requests, rhs.requests, same);
    }
    [[nodiscard]] const std::vector<std::size_t>& users_of(std::size_t gang) {
        if (users_of_.empty())
            for (std::size_t user = 0; user < users_.size(); ++user) {
                if (users_of_.size() <= users_[user].gang)
                    users_of_.resize(users_[user].gang + 1);
                users_of_[users_[user].gang].push_back(user);
            }
        return users_of_[gang];
    }
    [[nodiscard]] static int128 units(const std::string& kind, const named_amount& amount) {
        return kind == "cpu" ? amount.milli : (amount.milli + 999) / 1000;
    }
    static void take(amounts& left, const pod_object& pod) {
        for (const auto& [kind, amount] : pod.requests)
            if (const auto known = left.find(kind); known != left.end())
                known->second = saturate(known->second - units(kind, amount));
        if (const auto pods = left.find("pods"); pods != left.end())
            --pods->second;
    }
    [[nodiscard]] static bool is_admitted(const pod_object& pod, const node<1>& target) {
        constexpr unsigned fixed = node_filter_selector | node_filter_taint;
        return (failed_filters(pod.where, target) & fixed) == 0;
    }
    [[nodiscard]] bool matches(std::size_t user, const node<1>& target) const {
        if (!is_admitted(*users_[user].pod, target))
            return false;
        return std::ranges::all_of((*effects_)[user].reach, [&](const volume_reach& one) {
            return std::ranges::any_of(one.any_of,
                                       [&](const node_term& term) { return term.matches(target); });
        });
    }

    const volume_nodes* nodes_;
    std::span<const volume_user> users_;
    const std::vector<volume_effects>* effects_;
    /// Pods that reach nothing for one of their claims.
    const std::set<std::size_t>* stuck_;
    std::vector<std::vector<char>> admitted_;
    std::vector<std::vector<std::size_t>> users_of_;
    std::optional<room> emptied_;
    std::optional<room> free_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
