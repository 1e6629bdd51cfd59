// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/storage_catalog.hpp>
#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/apis/core/volumes/storage_pools.hpp>
#include <muster/apis/core/volumes/supply_assignment.hpp>
#include <muster/apis/core/volumes/volume_demand.hpp>
#include <muster/vocabulary/node.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// A claim whose pod has a node.
struct placed_claim {
    const codec::claim_object* claim = nullptr;
    const codec::node_object* node = nullptr;
};

/// Chooses free volumes for claims. Returns the name of the volume by claim: one that the claim's
/// node can use, and a different one for each claim. As many claims as possible get a volume, first
/// those for which none can be made on their nodes, and smaller volumes are preferred. `kept`:
/// claims that volumes are already reserved for, by volume.
/// O(claims × volumes) for each claim.
[[nodiscard]] inline std::map<codec::object_key, std::string>
choose_volumes(const codec::storage_catalog& catalog, const std::vector<placed_claim>& claims,
               const std::map<std::string, codec::object_key>& kept) {
    std::map<std::string_view, std::vector<const codec::volume_object*>> by_class;
    for (const auto& [name, each] : catalog.volumes)
        by_class[each->storage_class].push_back(each);
    std::vector<const codec::volume_object*> volumes;
    std::map<const codec::volume_object*, std::size_t> positions;
    std::vector<std::vector<std::size_t>> candidates;
    std::vector<bool> needs_one;
    for (const auto& [claim, place] : claims) {
        codec::volume_demand demand;
        demand.key = claim->metadata.key;
        demand.asks = &claim->asks;
        demand.uid = claim->metadata.uid;
        const std::string_view storage_class = catalog.class_of(claim->asks);
        muster::node<1> at;
        at.name = place->metadata.key.name;
        at.labels = place->metadata.labels;
        const auto* const known = codec::storage_catalog::find(catalog.classes, storage_class);
        needs_one.push_back(!known || !codec::can_make_on(at, claim->asks, *known, catalog));
        const bool has_one =
            std::ranges::any_of(kept, [&](const auto& each) { return each.second == demand.key; });
        auto& suited = candidates.emplace_back();
        for (const auto* const each :
             codec::candidates_for(demand, by_class[storage_class], storage_class)) {
            const auto keep = kept.find(each->metadata.key.name);
            const bool mine = keep != kept.end() && keep->second == demand.key;
            const bool others = keep != kept.end() && !mine;
            const bool reached =
                !each->nodes || std::ranges::any_of(*each->nodes, [&](const node_term& term) {
                    return term.matches(at);
                });
            if (!each->claim && (others || (has_one && !mine)))
                continue;
            if (!reached)
                continue;
            const auto [position, fresh] = positions.emplace(each, volumes.size());
            if (fresh)
                volumes.push_back(each);
            suited.push_back(position->second);
        }
    }
    codec::supply_assignment given(std::move(candidates), {},
                                   std::vector<codec::storage_supply>(volumes.size()));
    for (const bool first : {true, false})
        for (std::size_t at = 0; at < claims.size(); ++at)
            if (needs_one[at] == first)
                static_cast<void>(given.assign(at));
    std::map<codec::object_key, std::string> chosen;
    for (std::size_t at = 0; at < claims.size(); ++at)
        if (const auto volume = given.given_to(at))
            chosen.emplace(claims[at].claim->metadata.key, volumes[*volume]->metadata.key.name);
    return chosen;
}

} // namespace kube
} // namespace v0_1
} // namespace muster
