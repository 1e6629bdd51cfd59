// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/codec/diagnostic.hpp>
#include <muster/codec/storage_catalog.hpp>
#include <muster/codec/storage_objects.hpp>
#include <muster/codec/volume_assignment.hpp>
#include <muster/codec/volume_counts.hpp>
#include <muster/codec/volume_demand.hpp>
#include <muster/codec/volume_plan.hpp>
#include <muster/model/node.hpp>
#include <muster/resource/quantity.hpp>
#include <muster/resource/resources.hpp>

namespace muster::inline v0_1 {
namespace codec {

/// Matches the waiting claims of one storage class with the class's free volumes and storage pools.
/// No two claims get the same volume, and the sizes of claims in one pool add up.
///
/// If each volume or pool can be used from one node only, they become amounts of the nodes, which
/// the core counts exactly. Otherwise, if there is enough for all waiting claims, each claim may
/// use any suitable volume or pool. If there is not enough, volumes and pools are assigned before
/// nodes are chosen, gang by gang, to all claims of a gang or to none. No volume is assigned twice.
/// A gang may wait although another assignment would let it start.
class volume_matcher {
public:
    using node_list = std::vector<node<1>>;

    volume_matcher(const storage_catalog& catalog, const node_list& nodes,
                   std::string_view storage_class, std::vector<volume_effects>& effects,
                   volume_plan& plan)
        : catalog_(&catalog),
          nodes_(&nodes),
          class_(storage_class),
          spec_(storage_catalog::find(catalog.classes, storage_class)),
          effects_(&effects),
          plan_(&plan) {
        for (const auto& [name, volume] : catalog.volumes)
            if (volume->storage_class == class_)
                volumes_.push_back(volume);
    }

    void match(std::vector<volume_demand> demands) {
        std::vector<volume_demand> fixed;
        std::vector<volume_demand> made;
        for (volume_demand& each : demands) {
            const auto candidates = candidates_for(each, volumes_, class_);
            const bool kept = candidates.size() == 1 && is_kept_for(*candidates.front(), each);
            if (spec_ && spec_->provisions() && !kept) {
                each.provisions = true;
                made.push_back(std::move(each));
            } else if (candidates.empty()) {
                wait(each, "no free volume of class " + in_quotes(class_) + " matches");
            } else {
                fixed.push_back(std::move(each));
            }
        }
        match_volumes(fixed);
        provision(made);
    }

private:
    using term_list = std::vector<node_term>;

    void wait(const volume_demand& of, const std::string& why) {
        for (const std::size_t pod : of.users)
            (*effects_)[pod].wait(of.key.name, "is not bound: " + why);
    }
    void reach(const volume_demand& of, term_list terms, const std::string& what) {
        for (const std::size_t pod : of.users) {
            (*effects_)[pod].reach.push_back({terms, false});
            (*effects_)[pod].reach_of.push_back("claim " + of.key.name + " (" + what + ")");
        }
    }
    void take(const volume_demand& of, const std::string& kind, std::int64_t amount) {
        for (const std::size_t pod : of.users) {
            (*effects_)[pod].amounts[kind] += amount;
            (*effects_)[pod].growing.insert(kind);
        }
    }

    /// Returns the nodes that match at least one of the terms, or all nodes if there are no terms.
    /// Stops after `most` + 1 nodes.
    [[nodiscard]] std::vector<std::size_t> nodes_of(const std::optional<term_list>& terms,
                                                    std::size_t most) const {
        std::vector<std::size_t> found;
        for (std::size_t at = 0; at < nodes_->size() && found.size() <= most; ++at)
            if (!terms || std::ranges::any_of(*terms, [&](const node_term& term) {
                    return term.matches((*nodes_)[at]);
                }))
                found.push_back(at);
        return found;
    }

    // ---- volumes that exist --------------------------------------------------------------------

    void match_volumes(std::vector<volume_demand>& demands) {
        if (demands.empty() || count_by_node(demands))
            return;
        std::set<std::size_t> contended = contended_among(demands);
        std::vector<volume_demand> rest;
        for (std::size_t at = 0; at < demands.size(); ++at)
            if (contended.contains(at))
                rest.push_back(std::move(demands[at]));
            else
                reach_any(demands[at]);
        assign(rest);
    }

    /// Restricts the users of the claim to nodes that can use any of its candidate volumes.
    void reach_any(const volume_demand& of) {
        term_list terms;
        for (const volume_object* const each : candidates_for(of, volumes_, class_)) {
            if (!each->nodes)
                return;
            terms.insert(terms.end(), each->nodes->begin(), each->nodes->end());
        }
        reach(of, std::move(terms), "free volumes of class " + class_);
    }

    /// Turns volumes into amounts of nodes. Returns false and does nothing if several nodes can use
    /// a volume, if pods share a claim, or if the claims have too many shapes.
    bool count_by_node(const std::vector<volume_demand>& demands) {
        std::vector<claim_request> shapes;
        std::vector<std::size_t> shape_of;
        for (const volume_demand& each : demands) {
            // A claim with a reserved volume cannot use another one, so amounts do not describe it.
            if (each.is_shared() || std::ranges::any_of(volumes_, [&](const auto* volume) {
                    return volume->claim && volume->claim->key == each.key;
                }))
                return false;
            const auto known = std::ranges::find(shapes, *each.asks);
            shape_of.push_back(static_cast<std::size_t>(known - shapes.begin()));
            if (known == shapes.end())
                shapes.push_back(*each.asks);
        }
        if (shapes.size() > volume_counts::most_shapes)
            return false;
        std::map<std::string, std::map<volume_counts::shape_set, std::int64_t>> on;
        std::set<volume_counts::shape_set> suits;
        for (const volume_object* const volume : volumes_) {
            volume_counts::shape_set set = 0;
            for (std::size_t at = 0; at < shapes.size(); ++at) {
                const volume_demand asking{{}, &shapes[at], {}, {}};
                if (!volume->claim && satisfies(*volume, asking, class_))
                    set |= volume_counts::shape_set{1} << at;
            }
            if (set == 0)
                continue;
            const auto where = nodes_of(volume->nodes, 1);
            if (where.size() > 1)
                return false;
            if (where.empty())
                continue;
            ++on[(*nodes_)[where.front()].name][set];
            suits.insert(set);
        }
        const auto counts = volume_counts::make(shapes.size(), {suits.begin(), suits.end()});
        if (!counts)
            return false;
        for (std::size_t at = 0; at < counts->sets().size(); ++at) {
            const auto set = counts->sets()[at];
            const std::string kind =
                storage_catalog::volumes_of(class_) + (at > 0 ? "-" + std::to_string(at + 1) : "");
            volume_supply& supply = plan_->kinds[kind];
            for (const auto& [name, volumes] : on)
                for (const auto& [suited, count] : volumes)
                    supply.on[name] += (suited & set) != 0 ? count : 0;
            for (std::size_t of = 0; of < demands.size(); ++of)
                if ((set >> shape_of[of] & 1U) != 0)
                    take(demands[of], kind, 1);
        }
        return true;
    }

    /// Volumes with the same candidate claims and the same nodes.
    struct volume_group {
        std::vector<std::size_t> claims;
        std::size_t volumes = 0;
    };

    [[nodiscard]] std::vector<volume_group>
    group_volumes(const std::vector<volume_demand>& demands) const {
        std::map<claim_request, std::vector<std::size_t>> shapes;
        std::map<object_key, std::size_t> claims;
        for (std::size_t at = 0; at < demands.size(); ++at) {
            shapes[*demands[at].asks].push_back(at);
            claims.emplace(demands[at].key, at);
        }
        std::map<std::pair<std::vector<std::size_t>, std::optional<term_list>>, std::size_t> found;
        for (const volume_object* const volume : volumes_) {
            std::vector<std::size_t> suited;
            if (volume->claim) {
                const auto kept = claims.find(volume->claim->key);
                if (kept != claims.end() && satisfies(*volume, demands[kept->second], class_))
                    suited.push_back(kept->second);
            } else {
                for (const auto& [asks, of] : shapes)
                    if (satisfies(*volume, demands[of.front()], class_))
                        suited.insert(suited.end(), of.begin(), of.end());
            }
            if (!suited.empty())
                ++found[{std::move(suited), volume->nodes}];
        }
        std::vector<volume_group> groups;
        for (const auto& [group, count] : found)
            groups.push_back({group.first, count});
        return groups;
    }

    /// Returns the claims that need an assignment: those in a group with fewer volumes than claims,
    /// and those that several pods share, since these pods need the same volume.
    [[nodiscard]] std::set<std::size_t>
    contended_among(const std::vector<volume_demand>& demands) const {
        const std::vector<volume_group> groups = group_volumes(demands);
        std::set<std::size_t> found;
        for (const volume_group& each : groups)
            for (const std::size_t claim : each.claims)
                if (each.claims.size() > each.volumes || demands[claim].is_shared())
                    found.insert(claim);
        // Claims that share a group with one of these need an assignment too.
        for (bool grew = !found.empty(); grew;) {
            grew = false;
            for (const volume_group& each : groups)
                if (std::ranges::any_of(each.claims,
                                        [&](std::size_t claim) { return found.contains(claim); }))
                    for (const std::size_t claim : each.claims)
                        grew |= found.insert(claim).second;
        }
        return found;
    }

    void assign(const std::vector<volume_demand>& demands) {
        std::vector<std::vector<std::size_t>> candidates;
        for (const volume_demand& each : demands) {
            auto& of = candidates.emplace_back();
            for (const volume_object* const volume : candidates_for(each, volumes_, class_))
                of.push_back(static_cast<std::size_t>(std::ranges::find(volumes_, volume) -
                                                      volumes_.begin()));
        }
        volume_assignment given(std::move(candidates), volumes_.size());
        for (const auto& [gang, claims] : by_gang(demands)) {
            std::optional<std::size_t> missed;
            for (const std::size_t each : claims)
                if (!missed && !given.assign(each))
                    missed = each;
            for (const std::size_t each : claims) {
                const volume_demand& of = demands[each];
                if (missed) {
                    given.release(each);
                    wait(of, "free volumes of class " + in_quotes(class_) +
                                 " are too few for all claims of its gang, beside those for "
                                 "gangs before it (" +
                                 demands[*missed].key.name + " gets none)");
                }
            }
        }
        for (std::size_t at = 0; at < demands.size(); ++at)
            if (const auto volume = given.volume_of(at)) {
                const volume_object& of = *volumes_[*volume];
                if (of.nodes)
                    reach(demands[at], *of.nodes, "free volume " + of.metadata.key.name);
            }
    }

    /// Returns the claims by rank of their gang, smallest claim first.
    [[nodiscard]] static std::map<std::size_t, std::vector<std::size_t>>
    by_gang(const std::vector<volume_demand>& demands) {
        std::map<std::size_t, std::vector<std::size_t>> gangs;
        for (std::size_t at = 0; at < demands.size(); ++at)
            gangs[demands[at].gang].push_back(at);
        for (auto& [gang, claims] : gangs)
            std::ranges::stable_sort(claims, {}, [&](std::size_t at) {
                return std::pair(demands[at].asks->bytes, demands[at].key);
            });
        return gangs;
    }

    // ---- volumes to provision ------------------------------------------------------------------

    struct pool {
        const storage_capacity_object* object;
        term_list nodes;
        std::optional<std::string> only; ///< the node that can use it, if it is only one
    };

    void provision(const std::vector<volume_demand>& demands) {
        if (demands.empty())
            return;
        for (const volume_demand& each : demands)
            if (spec_->topologies)
                reach(each, *spec_->topologies, "allowed topologies of class " + class_);
        const csi_driver_object* const driver =
            storage_catalog::find(catalog_->drivers, spec_->provisioner);
        if (!driver || !driver->tracks_capacity) {
            for (const volume_demand& each : demands)
                keep_near(each);
            return;
        }
        const std::vector<pool> pools = list_pools();
        const bool shared = std::ranges::any_of(demands, &volume_demand::is_shared);
        if (!shared &&
            std::ranges::all_of(pools, [](const pool& each) { return each.only.has_value(); }))
            count_pools(demands, pools);
        else
            share_pools(demands, pools);
    }

    /// Returns the pools that at least one node can use, by key.
    [[nodiscard]] std::vector<pool> list_pools() const {
        std::vector<pool> pools;
        const auto known = catalog_->capacities.find(class_);
        if (known == catalog_->capacities.end())
            return pools;
        for (const storage_capacity_object* const each : known->second) {
            if (!each->nodes || !(each->bytes || each->largest))
                continue;
            // A selector without requirements matches all nodes, a node term without any matches
            // none.
            node_term term{*each->nodes, {}};
            if (term.labels.requirements.empty())
                term.name.push_back({"metadata.name", label_operator::exists, {}});
            const auto where = nodes_of(term_list{term}, 1);
            if (where.empty())
                continue;
            pools.push_back(
                {each,
                 {term},
                 where.size() == 1 ? std::optional((*nodes_)[where.front()].name) : std::nullopt});
        }
        std::ranges::sort(pools, {}, [](const pool& each) { return each.object->metadata.key; });
        return pools;
    }

    [[nodiscard]] static bool takes(const pool& into, const claim_request& asks) {
        const std::int64_t most = into.object->largest.value_or(into.object->bytes.value_or(0));
        return asks.bytes <= most;
    }
    [[nodiscard]] static std::int64_t size_of(const pool& of) {
        return std::min(of.object->bytes.value_or(largest_allocatable), largest_allocatable);
    }

    void count_pools(const std::vector<volume_demand>& demands, const std::vector<pool>& pools) {
        const std::string kind = storage_catalog::bytes_of(class_);
        volume_supply& supply = plan_->kinds[kind];
        // If a node has several pools, the largest counts: a volume lies in one pool.
        for (const pool& each : pools)
            supply.on[*each.only] = std::max(supply.on[*each.only], size_of(each));
        for (const volume_demand& each : demands) {
            take(each, kind, each.asks->bytes);
            const bool limited = std::ranges::any_of(
                pools, [&](const pool& one) { return !takes(one, *each.asks); });
            if (limited)
                reach_pools(each, pools);
        }
    }
    void reach_pools(const volume_demand& of, const std::vector<pool>& pools) {
        term_list terms;
        for (const pool& each : pools)
            if (takes(each, *of.asks))
                terms.insert(terms.end(), each.nodes.begin(), each.nodes.end());
        reach(of, std::move(terms), "storage pools of class " + class_);
    }

    /// Handles pools that several nodes can use, and claims that several pods share.
    void share_pools(const std::vector<volume_demand>& demands, const std::vector<pool>& pools) {
        int128 sum = 0;
        for (const volume_demand& each : demands)
            sum += each.asks->bytes;
        const bool enough =
            std::ranges::all_of(pools, [&](const pool& each) { return sum <= size_of(each); });
        const bool shared = std::ranges::any_of(demands, &volume_demand::is_shared);
        if (enough && (!shared || pools.size() == 1)) {
            for (const volume_demand& each : demands)
                reach_pools(each, pools);
            return;
        }
        std::vector<int128> left;
        for (const pool& each : pools)
            left.push_back(size_of(each));
        for (const auto& [gang, claims] : by_gang(demands)) {
            std::vector<int128> after = left;
            std::vector<std::size_t> chosen;
            for (auto at = claims.rbegin(); at != claims.rend(); ++at) {
                const auto found = roomiest(pools, after, *demands[*at].asks);
                if (!found)
                    break;
                after[*found] -= demands[*at].asks->bytes;
                chosen.push_back(*found);
            }
            if (chosen.size() < claims.size()) {
                const volume_demand& missed = demands[claims[claims.size() - 1 - chosen.size()]];
                for (const std::size_t each : claims)
                    wait(demands[each], "storage pools of class " + in_quotes(class_) +
                                            " have no room for all claims of its gang, beside "
                                            "those for gangs before it (" +
                                            missed.key.name + " gets none)");
                continue;
            }
            left = std::move(after);
            for (std::size_t at = 0; at < chosen.size(); ++at) {
                const pool& into = pools[chosen[at]];
                reach(demands[claims[claims.size() - 1 - at]], into.nodes,
                      "storage pool " + into.object->metadata.key.name);
            }
        }
    }
    [[nodiscard]] static std::optional<std::size_t> roomiest(const std::vector<pool>& pools,
                                                             const std::vector<int128>& left,
                                                             const claim_request& asks) {
        std::optional<std::size_t> found;
        for (std::size_t at = 0; at < pools.size(); ++at)
            if (takes(pools[at], asks) && left[at] >= asks.bytes &&
                (!found || left[at] > left[*found]))
                found = at;
        return found;
    }

    /// Keeps pods that share a claim in one topology domain, because the volume is provisioned in
    /// one.
    void keep_near(const volume_demand& of) {
        if (!of.is_shared())
            return;
        std::set<std::string> keys;
        for (const auto& [name, each] : catalog_->nodes)
            if (const auto driver = each->drivers.find(spec_->provisioner);
                driver != each->drivers.end())
                keys.insert(driver->second.topology_keys.begin(),
                            driver->second.topology_keys.end());
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

    const storage_catalog* catalog_;
    const node_list* nodes_;
    std::string class_;
    const storage_class_object* spec_;
    std::vector<volume_effects>* effects_;
    volume_plan* plan_;
    std::vector<const volume_object*> volumes_;
};

} // namespace codec
} // namespace muster::inline v0_1
