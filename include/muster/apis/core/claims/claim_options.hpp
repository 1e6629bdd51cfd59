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

#include <muster/apis/core/claims/allocate_across.hpp>
#include <muster/apis/core/claims/claim_text.hpp>
#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/apis/core/claims/device_homes.hpp>
#include <muster/apis/core/claims/device_sets.hpp>
#include <muster/apis/core/claims/node_devices.hpp>
#include <muster/devices/device_allocation.hpp>
#include <muster/vocabulary/node.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Positions of nodes, ascending.
using node_set = std::vector<std::size_t>;

/// Nodes that all reach devices for a claim, and the devices that the claim can have there.
struct claim_option {
    node_set nodes;
    std::set<device_id> among;
};

/// Returns the claim, limited to the devices of the option.
[[nodiscard]] inline device_claim claim_among(const device_claim& asks, const claim_option& in) {
    device_claim made = asks;
    made.among = in.among;
    return made;
}

/// Limits the allocations that one plan tries, and the devices that these try.
class allocation_budget {
public:
    static constexpr std::int64_t most_allocations = 2048;
    static constexpr std::int64_t most_steps = 2'000'000;

    [[nodiscard]] bool is_spent() const noexcept { return allocations_ <= 0 || steps_ <= 0; }
    /// Allocates, unless the budget is spent: then the outcome is `undecided`.
    [[nodiscard]] device_allocation allocate(const node_devices& from,
                                             const std::vector<device_claim>& claims) {
        device_allocation made;
        made.outcome = device_outcome::undecided;
        if (is_spent())
            return made;
        made = from.allocate(claims);
        --allocations_;
        steps_ -= made.steps;
        return made;
    }
    [[nodiscard]] bool fit(const node_devices& from, const std::vector<device_claim>& claims) {
        return allocate(from, claims).outcome == device_outcome::allocated;
    }

private:
    std::int64_t allocations_ = most_allocations;
    std::int64_t steps_ = most_steps;
};

/// Finds the options of claims: the largest sets of nodes of which all reach enough free devices.
///
/// If two such sets overlap and neither contains the other, the nodes that both have belong to the
/// larger one alone. A claim with a request for all devices has no option of nodes that reach a
/// pool which is being updated, and none of several nodes that reach different matching devices or
/// one that binds its claim to a node.
class claim_options {
public:
    /// Bounds for one claim: sets of nodes, and allocations that are tried.
    static constexpr std::size_t most_sets = 256;
    static constexpr std::size_t most_tries = 512;

    struct found {
        std::vector<claim_option> options;
        /// The search ended before all sets of nodes were tried.
        bool ended = false;
    };
    /// The devices that a claim can get.
    struct selection {
        /// By request and alternative.
        std::vector<std::vector<device_set>> of;
        /// Of all requests; of those without admin access; and of those for all devices.
        device_set any;
        device_set taken;
        device_set whole;
        bool asks_all = false;
    };

    /// The arguments must outlive this.
    claim_options(const device_catalog& catalog, const std::vector<pooled_device>& devices,
                  std::span<const node<1>> nodes, allocation_budget& budget)
        : catalog_(&catalog), devices_(&devices), nodes_(nodes), budget_(&budget) {}

    /// Returns the devices that the claim can get; nullptr if this is unknown. Equal claims have
    /// one answer. O(text), and O(devices × selectors) for a new text.
    [[nodiscard]] const selection* select(const device_claim& asks) {
        const auto [at, is_new] = selected_.try_emplace(claim_text(asks));
        if (is_new)
            at->second = select_now(asks);
        return at->second ? &*at->second : nullptr;
    }

    /// Returns the options beside the devices that `free` has in use. Precondition: select()
    /// returned the devices. Equal claims have one answer until forget().
    /// O(sets × devices × nodes) and up to `most_tries` allocations.
    [[nodiscard]] const found& find(const device_claim& asks, const node_devices& free) {
        const auto [at, is_new] = options_.try_emplace(claim_text(asks));
        if (is_new)
            at->second = find_now(asks, *select(asks), free);
        return at->second;
    }
    /// Call when other devices are free.
    void forget() { options_.clear(); }

    [[nodiscard]] const node_set& reach_of(std::size_t device) {
        const device_nodes* const nodes = (*devices_)[device].nodes;
        const auto [at, is_new] = reach_.try_emplace(nodes);
        if (is_new)
            for (std::size_t node = 0; node < nodes_.size(); ++node)
                if (reaches(nodes_[node], *nodes))
                    at->second.push_back(node);
        return at->second;
    }

private:
    [[nodiscard]] std::optional<selection> select_now(const device_claim& asks) const {
        selection made;
        for (const device_request& request : asks.requests) {
            auto& alternatives = made.of.emplace_back();
            for (const device_alternative& one : request.alternatives) {
                const auto of_class = catalog_->classes.find(one.class_name);
                if (of_class == catalog_->classes.end())
                    return std::nullopt;
                selected_devices selected =
                    select_devices(*devices_, of_class->second->selectors, &one);
                if (!selected.undecided.empty())
                    return std::nullopt;
                const auto add_to = [&](device_set& to) {
                    to.insert(to.end(), selected.devices.begin(), selected.devices.end());
                };
                add_to(made.any);
                if (!one.admin_access)
                    add_to(made.taken);
                if (one.mode == device_count_mode::all) {
                    made.asks_all = true;
                    add_to(made.whole);
                }
                alternatives.push_back(std::move(selected.devices));
            }
        }
        for (device_set* const each : {&made.any, &made.taken, &made.whole})
            sort_devices(*each);
        return made;
    }

    /// Returns the sets of nodes that devices of the claim are published for, and what these have
    /// in common, largest first.
    [[nodiscard]] std::vector<node_set> candidates(const selection& of, bool& ended) {
        std::set<node_set> known;
        std::vector<node_set> wide;
        for (const std::size_t device : of.any) {
            const node_set& nodes = reach_of(device);
            if (!is_of_all_its_nodes((*devices_)[device]))
                for (const std::size_t node : nodes)
                    known.insert({node});
            else if (!nodes.empty() && known.insert(nodes).second && nodes.size() > 1)
                wide.push_back(nodes);
        }
        for (std::size_t at = 0; at < wide.size(); ++at)
            for (std::size_t other = 0; other < at; ++other) {
                if (wide.size() >= most_sets) {
                    ended = true;
                    break;
                }
                node_set both;
                std::ranges::set_intersection(wide[at], wide[other], std::back_inserter(both));
                if (!both.empty() && known.insert(both).second)
                    wide.push_back(std::move(both));
            }
        std::vector<node_set> sets(known.begin(), known.end());
        std::ranges::stable_sort(sets, std::greater<>{}, &node_set::size);
        return sets;
    }

    [[nodiscard]] found find_now(const device_claim& asks, const selection& of,
                                 const node_devices& free) {
        found made;
        std::set<std::size_t> covered;
        std::size_t tries = 0;
        for (const node_set& nodes : candidates(of, made.ended)) {
            claim_option option;
            std::ranges::copy_if(nodes, std::back_inserter(option.nodes),
                                 [&](std::size_t node) { return !covered.contains(node); });
            if (option.nodes.empty() || (of.asks_all && !takes_all(of, nodes, free)))
                continue;
            device_set reached;
            for (const std::size_t device : of.any)
                if ((nodes.size() == 1 || is_of_all_its_nodes((*devices_)[device])) &&
                    std::ranges::includes(reach_of(device), nodes)) {
                    option.among.insert((*devices_)[device].id);
                    reached.push_back(device);
                }
            if (!has_enough(asks, of, reached, free))
                continue;
            if (++tries > most_tries || budget_->is_spent()) {
                made.ended = true;
                break;
            }
            if (!budget_->fit(free, {claim_among(asks, option)}))
                continue;
            covered.insert(option.nodes.begin(), option.nodes.end());
            made.options.push_back(std::move(option));
        }
        return made;
    }

    /// A request for all devices gets those that a node reaches, so all nodes must reach the same,
    /// and know all of them.
    [[nodiscard]] bool takes_all(const selection& of, const node_set& nodes,
                                 const node_devices& free) {
        for (const std::size_t node : nodes) {
            const auto [known, is_new] = has_unusable_pool_.try_emplace(node);
            if (is_new)
                known->second = free.has_unusable_pool(nodes_[node]);
            if (known->second)
                return false;
        }
        return std::ranges::all_of(of.whole, [&](std::size_t device) {
            const node_set& reached = reach_of(device);
            const auto is_reached = [&](std::size_t node) {
                return std::ranges::binary_search(reached, node);
            };
            return std::ranges::none_of(nodes, is_reached) ||
                   (std::ranges::all_of(nodes, is_reached) &&
                    (nodes.size() == 1 || is_of_all_its_nodes((*devices_)[device])));
        });
    }

    /// False if too few of the devices are free for some request alone.
    [[nodiscard]] bool has_enough(const device_claim& asks, const selection& of,
                                  const device_set& reached, const node_devices& free) const {
        for (std::size_t at = 0; at < asks.requests.size(); ++at) {
            bool any = false;
            for (std::size_t one = 0; one < of.of[at].size() && !any; ++one) {
                const device_alternative& alternative = asks.requests[at].alternatives[one];
                std::int64_t count = 0;
                device_set both;
                std::ranges::set_intersection(of.of[at][one], reached, std::back_inserter(both));
                for (const std::size_t device : both) {
                    const pooled_device& each = (*devices_)[device];
                    if (alternative.admin_access || !free.holds(each.id) ||
                        each.of->attributes.allows_multiple_allocations)
                        ++count;
                }
                any = alternative.mode == device_count_mode::all ? count > 0
                                                                 : count >= alternative.count;
            }
            if (!any)
                return false;
        }
        return true;
    }

    const device_catalog* catalog_;
    const std::vector<pooled_device>* devices_;
    std::span<const node<1>> nodes_;
    allocation_budget* budget_;
    /// By the text of the claim.
    std::map<std::string, std::optional<selection>> selected_;
    std::map<std::string, found> options_;
    std::map<const device_nodes*, node_set> reach_;
    std::map<std::size_t, bool> has_unusable_pool_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
