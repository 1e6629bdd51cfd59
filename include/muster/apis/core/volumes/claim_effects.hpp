// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/volumes/supply_assignment.hpp>
#include <muster/apis/core/volumes/volume_demand.hpp>
#include <muster/apis/core/volumes/volume_fit.hpp>
#include <muster/apis/core/volumes/volume_handout.hpp>
#include <muster/apis/core/volumes/volume_places.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/apis/core/volumes/volume_user.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/node.hpp>
#include <muster/vocabulary/node_names.hpp>
#include <muster/vocabulary/subtree_status.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

using term_list = std::vector<node_term>;

/// Writes down what claims that wait for their first consumers mean for their pods.
class claim_effects {
public:
    /// `stuck` collects pods that reach nothing for one of their claims.
    claim_effects(const volume_nodes& nodes, std::span<const volume_user> users,
                  std::span<const volume_gang> gangs, std::vector<volume_effects>& effects,
                  std::set<std::size_t>& stuck, volume_plan& plan)
        : nodes_(&nodes.seen),
          places_(nodes, users, effects, stuck),
          users_(users),
          gangs_(gangs),
          effects_(&effects),
          stuck_(&stuck),
          plan_(&plan) {}

    [[nodiscard]] const std::vector<node<1>>& nodes() const noexcept { return *nodes_; }
    [[nodiscard]] volume_places& places() noexcept { return places_; }
    [[nodiscard]] volume_plan& plan() noexcept { return *plan_; }

    void wait(const volume_demand& of, const std::string& why) {
        for (const std::size_t pod : of.users)
            (*effects_)[pod].wait(of.key.name, "is not bound: " + why);
    }
    /// `verb` says what may be done with the claim on nodes that match `terms`.
    void reach(const volume_demand& of, const term_list& terms, const std::string& what,
               const std::string& verb) {
        for (const std::size_t pod : of.users) {
            volume_effects& to = (*effects_)[pod];
            to.verbs.emplace(to.reach.size(), verb);
            to.reach.push_back({terms, false});
            to.reach_of.push_back("claim " + of.key.name + " (" + what + ")");
        }
    }
    void take(const volume_demand& of, const std::string& kind, std::int64_t amount) {
        for (const std::size_t pod : of.users) {
            (*effects_)[pod].amounts[kind] += amount;
            (*effects_)[pod].growing.insert(kind);
        }
    }

    /// The nodes that one of the terms matches; all without terms. Leaves out nodes that are
    /// marked in `except`; stops at `most` + 1.
    [[nodiscard]] std::vector<std::size_t> nodes_of(const std::optional<term_list>& terms,
                                                    std::size_t most,
                                                    std::span<const char> except = {}) const {
        std::vector<std::size_t> found;
        for (std::size_t at = 0; at < nodes_->size() && found.size() <= most; ++at)
            if ((except.empty() || except[at] == 0) &&
                (!terms || std::ranges::any_of(*terms, [&](const node_term& term) {
                    return term.matches((*nodes_)[at]);
                })))
                found.push_back(at);
        return found;
    }

    /// True if the terms name the node, so that what only this node reaches is a part of the node,
    /// like a local disk. A storage pool or volume of a zone with one node is not.
    [[nodiscard]] bool are_of_node(const std::optional<term_list>& terms, std::size_t at) const {
        const node<1>& target = (*nodes_)[at];
        const auto named = [&](const label_requirement& each) {
            return names_node(each, target.name, target.labels);
        };
        return terms && terms->size() == 1 &&
               (std::ranges::any_of(terms->front().labels.requirements, named) ||
                std::ranges::any_of(terms->front().name, named));
    }

    /// Per node: one of the terms matches it.
    [[nodiscard]] std::vector<char> reached_from(const std::optional<term_list>& terms) const {
        std::vector<char> found(nodes_->size(), 0);
        for (const std::size_t node : nodes_of(terms, nodes_->size()))
            found[node] = 1;
        return found;
    }

    /// Remembers the claim's pods that cannot be placed on any of the nodes `reached`: they start
    /// nowhere. O(users × nodes).
    void find_stuck(const volume_demand& of, const std::vector<char>& reached) {
        for (const std::size_t user : of.users)
            if (!have_common(places_.admitted(user), reached))
                stuck_->insert(user);
    }

    /// Sets the claim's `askers`: of its pods that can start, those of the first gang, which
    /// becomes the claim's gang. A pod can start if some node may have it and reaches something for
    /// each of its claims when no other pod is there, it waits for nothing else, and enough of its
    /// gang's pods can start for the gang's minima. O(users × nodes), and O(pods × nodes) at a
    /// gang's first claim.
    void find_askers(volume_demand& of) {
        std::vector<std::size_t> found;
        for (const std::size_t user : of.users)
            if (places_.may_start(user) && may_start(users_[user].gang))
                found.push_back(user);
        of.askers.clear();
        if (found.empty())
            return;
        const auto rank = [&](std::size_t user) { return users_[user].gang; };
        of.gang = rank(std::ranges::min(found, {}, rank));
        std::ranges::copy_if(found, std::back_inserter(of.askers),
                             [&](std::size_t user) { return rank(user) == of.gang; });
    }

    /// Assigns supplies to the claims of gangs, but not to claims of which no pod can start. The
    /// other claims that get none wait; `why(claims)` returns
    /// what the claims of their gang lack.
    template<class Why>
    [[nodiscard]] handed_out
    hand_out(const std::vector<volume_demand>& demands,
             std::vector<std::vector<std::size_t>> candidates, std::vector<std::int64_t> sizes,
             std::vector<storage_supply> supplies, const std::vector<std::vector<char>>& reaches,
             bool largest_first, const Why& why) {
        plan_->hands_out = true;
        auto gangs = by_gang(demands);
        if (largest_first)
            for (auto& [gang, claims] : gangs)
                std::ranges::reverse(claims);
        volume_handout handout(demands, std::move(candidates), std::move(sizes),
                               volume_fit(reaches, std::move(supplies), places_), places_, users_,
                               gangs_);
        auto made = handout.run(gangs);
        for (const auto& [gang, claims] : gangs)
            for (const std::size_t claim : claims)
                if (!made.given[claim])
                    wait(demands[claim],
                         made.split[claim] != 0
                             ? "no node reaches free volumes or storage for all claims of the pod"
                             : why(claims) + (made.behind[claim] != 0
                                                  ? ", some or all of which go to gangs before it"
                                                  : ""));
        return made;
    }

    /// More than one gang was handed the supply, which has too little for all of them: the claim's
    /// pods are known by the mark, and if the claim was served as if its gang were alone, they
    /// start only where no pods of another gang have the mark. A pod with claims of two gangs that
    /// were handed it waits.
    void keep_gangs_apart(const std::vector<volume_demand>& demands, std::size_t claim,
                          const std::string& mark, bool excludes) {
        const volume_demand* first = &demands[claim];
        for (const volume_demand& each : demands)
            if (each.gang == first->gang && each.key < first->key)
                first = &each;
        const std::string own = first->key.name_space + "/" + first->key.name;
        affinity_term term;
        term.pods.labels.requirements.push_back({mark, label_operator::exists, {}});
        term.pods.labels.requirements.push_back({mark, label_operator::not_in, {own}});
        term.topology = volume_supply_label;
        term.of_volume = true;
        for (const std::size_t pod : demands[claim].users) {
            volume_effects& to = (*effects_)[pod];
            if (const std::string* const other = to.labels.find(mark); other && *other != own)
                to.wait(demands[claim].key.name,
                        "is not bound: another claim of the pod was to get the same volume or "
                        "storage");
            to.labels.set(mark, own);
            to.handed[mark].insert(demands[claim].key.name);
            if (excludes && std::ranges::find(to.apart, term) == to.apart.end())
                to.apart.push_back(term);
        }
    }

    /// Pods that share the claim are placed in one domain of each of these labels of nodes.
    void keep_near(const volume_demand& of, const std::set<std::string>& keys) {
        const std::string mark = "claim:" + of.key.name_space + "/" + of.key.name;
        for (const std::size_t pod : of.users) {
            volume_effects& to = (*effects_)[pod];
            for (const std::string& key : keys) {
                to.labels.set(mark, "shared");
                affinity_term term;
                term.pods.labels.requirements.push_back({mark, label_operator::exists, {}});
                term.topology = key;
                term.of_volume = true;
                to.near.push_back(std::move(term));
            }
        }
    }

private:
    [[nodiscard]] bool may_start(std::size_t gang) {
        const auto [known, fresh] = startable_.try_emplace(gang);
        if (fresh)
            known->second =
                reaches_minima(gangs_[gang].tree, places_.startable_members(gangs_[gang], gang));
        return known->second;
    }
    /// Claims with pods that can start, by gang, of a gang those that ask least first.
    [[nodiscard]] static std::map<std::size_t, std::vector<std::size_t>>
    by_gang(const std::vector<volume_demand>& demands) {
        std::map<std::size_t, std::vector<std::size_t>> gangs;
        for (std::size_t at = 0; at < demands.size(); ++at)
            if (!demands[at].askers.empty())
                gangs[demands[at].gang].push_back(at);
        for (auto& [gang, claims] : gangs)
            std::ranges::stable_sort(claims, {}, [&](std::size_t at) {
                return std::pair(demands[at].asks->bytes, demands[at].key);
            });
        return gangs;
    }

    const std::vector<node<1>>* nodes_;
    volume_places places_;
    std::span<const volume_user> users_;
    std::span<const volume_gang> gangs_;
    std::vector<volume_effects>* effects_;
    std::set<std::size_t>* stuck_;
    volume_plan* plan_;
    /// By gang: enough of its pods can start for its minima.
    std::map<std::size_t, bool> startable_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
