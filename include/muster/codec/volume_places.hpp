// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <muster/codec/objects.hpp>
#include <muster/codec/volume_plan.hpp>
#include <muster/codec/volume_user.hpp>
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

/// Where pods with volumes may be placed, by their own constraints and by the volumes that are
/// chosen already.
class volume_places {
public:
    /// Amounts that nodes have left, by node and kind.
    using room = std::vector<std::map<std::string, std::int64_t>>;

    /// All outlive it.
    volume_places(const volume_nodes& nodes, std::span<const volume_user> users,
                  const std::vector<volume_effects>& effects)
        : nodes_(&nodes), users_(users), effects_(&effects), admitted_(users.size()) {}

    [[nodiscard]] std::size_t nodes() const noexcept { return nodes_->seen.size(); }

    /// Per node: the pod may be placed there when no other pod is. O(nodes × terms) at first.
    [[nodiscard]] const std::vector<char>& admitted(std::size_t user) {
        std::vector<char>& found = admitted_[user];
        if (!found.empty())
            return found;
        const room& all = emptied();
        for (std::size_t at = 0; at < nodes(); ++at)
            found.push_back(matches(user, nodes_->seen[at]) && fits(all[at], user) ? 1 : 0);
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

    [[nodiscard]] bool fits(const std::map<std::string, std::int64_t>& left,
                            std::size_t user) const {
        for (const auto& [kind, amount] : users_[user].pod->requests) {
            const auto known = left.find(kind);
            if (amount.milli > 0 && (known == left.end() || known->second < units(kind, amount)))
                return false;
        }
        const auto pods = left.find("pods");
        return pods != left.end() && pods->second > 0;
    }
    void take(std::map<std::string, std::int64_t>& left, std::size_t user) const {
        take(left, *users_[user].pod);
    }

private:
    [[nodiscard]] static int128 units(const std::string& kind, const named_amount& amount) {
        return kind == "cpu" ? amount.milli : (amount.milli + 999) / 1000;
    }
    static void take(std::map<std::string, std::int64_t>& left, const pod_object& pod) {
        for (const auto& [kind, amount] : pod.requests)
            if (const auto known = left.find(kind); known != left.end())
                known->second = saturate(known->second - units(kind, amount));
        if (const auto pods = left.find("pods"); pods != left.end())
            --pods->second;
    }
    [[nodiscard]] bool matches(std::size_t user, const node<1>& target) const {
        constexpr unsigned fixed = node_filter_selector | node_filter_taint;
        if ((failed_filters(users_[user].pod->where, target) & fixed) != 0)
            return false;
        return std::ranges::all_of((*effects_)[user].reach, [&](const volume_reach& one) {
            return std::ranges::any_of(one.any_of,
                                       [&](const node_term& term) { return term.matches(target); });
        });
    }

    const volume_nodes* nodes_;
    std::span<const volume_user> users_;
    const std::vector<volume_effects>* effects_;
    std::vector<std::vector<char>> admitted_;
    std::optional<room> emptied_;
    std::optional<room> free_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
