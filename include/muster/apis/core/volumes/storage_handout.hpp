// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/volumes/claim_effects.hpp>
#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/apis/core/volumes/storage_pools.hpp>
#include <muster/apis/core/volumes/supply_assignment.hpp>
#include <muster/apis/core/volumes/volume_demand.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Hands the free volumes and storage pools of one class to claims, before nodes are chosen
/// (volume_handout). Each claim's pods are then held to the nodes that reach its volume or pool.
/// Gangs that were handed the same are kept apart by terms between their pods.
class storage_handout {
public:
    storage_handout(std::string storage_class, std::vector<const volume_object*> volumes,
                    const std::vector<storage_pool>& pools, claim_effects& out)
        : class_(std::move(storage_class)),
          volumes_(std::move(volumes)),
          pools_(&pools),
          out_(&out) {
        std::ranges::sort(
            volumes_, [](const auto* lhs, const auto* rhs) { return is_tried_before(*lhs, *rhs); });
        for (std::size_t at = 0; at < volumes_.size(); ++at)
            position_.emplace(volumes_[at], at);
    }

    /// Claims that get nothing wait. Returns the claims that got a pool. O(claims × supplies ×
    /// (claims + nodes)).
    std::vector<std::size_t> run(const std::vector<volume_demand>& demands) {
        std::vector<std::vector<std::size_t>> candidates;
        std::vector<std::int64_t> sizes;
        for (const volume_demand& each : demands) {
            candidates.push_back(supplies_for(each));
            sizes.push_back(each.asks->bytes);
        }
        std::vector<std::vector<char>> reaches;
        std::vector<storage_supply> supplies;
        for (const volume_object* const each : volumes_) {
            reaches.push_back(out_->reached_from(each->nodes));
            supplies.push_back({});
        }
        for (const storage_pool& each : *pools_) {
            reaches.push_back(out_->reached_from(each.nodes));
            supplies.push_back({each.size()});
        }
        const auto why = [&](const std::vector<std::size_t>& claims) {
            return lack_text(demands, claims);
        };
        const handed_out made =
            out_->hand_out(demands, candidates, sizes, supplies, reaches, !pools_->empty(), why);
        std::vector<int128> handed(supplies.size(), 0);
        for (std::size_t at = 0; at < demands.size(); ++at)
            if (const auto supply = made.given[at])
                handed[*supply] += supplies[*supply].left ? sizes[at] : 1;
        std::vector<std::size_t> of_pools;
        for (std::size_t at = 0; at < demands.size(); ++at) {
            const auto supply = made.given[at];
            if (demands[at].askers.empty())
                reach_any(demands[at], candidates[at]);
            if (!supply)
                continue;
            reach(demands[at], *supply, candidates[at].size());
            if (supplies[*supply].left)
                of_pools.push_back(at);
            if (handed[*supply] > supplies[*supply].left.value_or(1))
                out_->keep_gangs_apart(demands, at, mark_of(*supply), made.beside[at] == 0);
        }
        return of_pools;
    }

private:
    /// Volumes come first among the supplies, in the order of is_tried_before(), then pools.
    [[nodiscard]] const storage_pool& pool_at(std::size_t supply) const {
        return (*pools_)[supply - volumes_.size()];
    }
    [[nodiscard]] std::vector<std::size_t> supplies_for(const volume_demand& of) const {
        std::vector<std::size_t> found;
        for (const volume_object* const each : candidates_for(of, volumes_, class_))
            found.push_back(position_.at(each));
        for (std::size_t at = 0; at < pools_->size(); ++at)
            if ((*pools_)[at].takes(*of.asks))
                found.push_back(volumes_.size() + at);
        return found;
    }

    /// Whichever of the supplies the claim may get one day.
    void reach_any(const volume_demand& of, const std::vector<std::size_t>& supplies) {
        term_list terms;
        for (const std::size_t each : supplies) {
            if (each < volumes_.size() && !(volumes_)[each]->nodes)
                return;
            const term_list& nodes =
                each < volumes_.size() ? *(volumes_)[each]->nodes : pool_at(each).nodes;
            terms.insert(terms.end(), nodes.begin(), nodes.end());
        }
        out_->reach(of, terms, "free or new volumes of class " + class_,
                    "can only be bound or provisioned");
    }
    void reach(const volume_demand& of, std::size_t supply, std::size_t choices) {
        if (supply >= volumes_.size()) {
            const storage_pool& pool = pool_at(supply);
            const std::string what =
                pool.object ? "storage pool " + pool.object->metadata.key.name + " with " +
                                  bytes_text(pool.size()) + " free" + count_text(choices)
                            : "a new volume of class " + class_;
            out_->reach(of, pool.nodes, what,
                        choices > 1 ? "is to be provisioned" : "can only be provisioned");
            return;
        }
        const volume_object& volume = *(volumes_)[supply];
        if (volume.nodes)
            out_->reach(of, *volume.nodes,
                        "free volume " + volume.metadata.key.name + count_text(choices), "is");
    }
    [[nodiscard]] static std::string count_text(std::size_t choices) {
        return choices > 1 ? ", one of " + std::to_string(choices) : "";
    }
    [[nodiscard]] std::string mark_of(std::size_t supply) const {
        if (supply < volumes_.size())
            return "volume:" + (volumes_)[supply]->metadata.key.name;
        const storage_pool& pool = pool_at(supply);
        return "pool:" + class_ + "/" + (pool.object ? pool.object->metadata.key.name : "");
    }

    [[nodiscard]] std::string lack_text(const std::vector<volume_demand>& demands,
                                        const std::vector<std::size_t>& claims) const {
        std::set<const volume_object*> matching;
        int128 needed = 0;
        for (const std::size_t claim : claims) {
            for (const volume_object* const each : candidates_for(demands[claim], volumes_, class_))
                matching.insert(each);
            needed += demands[claim].asks->bytes;
        }
        const std::string count =
            std::to_string(claims.size()) +
            (claims.size() == 1 ? " claim of the gang" : " claims of the gang");
        const std::string of_volumes = count + (claims.size() == 1 ? " matches " : " match ") +
                                       std::to_string(matching.size()) +
                                       (matching.size() == 1 ? " free volume" : " free volumes") +
                                       " of class " + in_quotes(class_);
        if (pools_->empty())
            return of_volumes;
        const std::string of_pools =
            "storage pools of class " + in_quotes(class_) + " have no room for " + count + ": " +
            bytes_text(saturate(needed)) + " needed, " + pools_text(*pools_);
        return matching.empty() ? of_pools : of_pools + "; and " + of_volumes;
    }

    std::string class_;
    std::vector<const volume_object*> volumes_;
    std::map<const volume_object*, std::size_t> position_;
    const std::vector<storage_pool>* pools_;
    claim_effects* out_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
