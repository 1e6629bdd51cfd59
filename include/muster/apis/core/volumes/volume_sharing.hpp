// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/volumes/claim_effects.hpp>
#include <muster/apis/core/volumes/storage_handout.hpp>
#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/apis/core/volumes/storage_pools.hpp>
#include <muster/apis/core/volumes/volume_contention.hpp>
#include <muster/apis/core/volumes/volume_demand.hpp>
#include <muster/apis/core/volumes/volumes_by_node.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Shares the free volumes of one class among claims, beside storage pools that have enough for all
/// of them.
class volume_sharing {
public:
    /// `volumes`, `pools` and `out` outlive it.
    volume_sharing(std::string storage_class, const std::vector<const volume_object*>& volumes,
                   const std::vector<storage_pool>& pools, claim_effects& out)
        : class_(std::move(storage_class)), volumes_(&volumes), pools_(&pools), out_(&out) {}

    /// Counts volumes by node if possible. If not, claims get what they would like where there are
    /// enough volumes for all, and the other volumes are handed out. `served` and `first`: as
    /// count_volumes_by_node() has them. Returns the claims that were handed a pool.
    std::vector<volume_demand> match(const std::vector<volume_demand>& demands,
                                     const std::vector<char>& served, std::size_t first) {
        std::vector<volume_demand> of_pools;
        if (demands.empty() ||
            count_volumes_by_node(demands, *volumes_, class_, served, first, *out_))
            return of_pools;
        const std::set<std::size_t> contended = contended_claims(demands, *volumes_, class_);
        std::vector<volume_demand> rest;
        for (std::size_t at = 0; at < demands.size(); ++at)
            if (contended.contains(at))
                rest.push_back(demands[at]);
            else
                reach_any(demands[at]);
        if (!rest.empty())
            for (const std::size_t at :
                 storage_handout(class_, *volumes_, *pools_, *out_).run(rest))
                of_pools.push_back(rest[at]);
        return of_pools;
    }

    /// What the claim may get, wherever that is.
    void reach_any(const volume_demand& of) {
        term_list terms;
        for (const storage_pool& each : *pools_)
            if (each.takes(*of.asks))
                terms.insert(terms.end(), each.nodes.begin(), each.nodes.end());
        for (const volume_object* const each : candidates_for(of, *volumes_, class_)) {
            if (!each->nodes)
                return;
            terms.insert(terms.end(), each->nodes->begin(), each->nodes->end());
        }
        const bool only_free = pools_->empty();
        out_->reach(of, terms,
                    (only_free ? "free volumes of class " : "free or new volumes of class ") +
                        class_,
                    only_free ? "can only be bound" : "can only be bound or provisioned");
    }

private:
    std::string class_;
    const std::vector<const volume_object*>* volumes_;
    const std::vector<storage_pool>* pools_;
    claim_effects* out_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
