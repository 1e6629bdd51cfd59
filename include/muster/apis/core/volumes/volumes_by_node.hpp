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
#include <muster/apis/core/volumes/storage_catalog.hpp>
#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/apis/core/volumes/volume_counts.hpp>
#include <muster/apis/core/volumes/volume_demand.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/resource/resources.hpp>
#include <muster/resource/storage_kinds.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Turns free volumes of a class that one node each reaches into amounts, which the core counts
/// exactly. `unlimited`: per node, all claims are served there without these volumes. The kinds are
/// numbered from `first` on; 1 goes without number. Returns
/// false, and changes nothing, when some volume is reached from several other nodes, no other node
/// reaches any, pods share a claim, or claims differ too much. O(shapes of claims × volumes +
/// volumes × nodes).
inline bool count_volumes_by_node(const std::vector<volume_demand>& demands,
                                  const std::vector<const volume_object*>& volumes,
                                  const std::string& storage_class,
                                  const std::vector<char>& unlimited, std::size_t first,
                                  claim_effects& out) {
    std::vector<claim_request> shapes;
    std::vector<std::size_t> shape_of;
    for (const volume_demand& each : demands) {
        if (each.is_shared())
            return false;
        const auto known = std::ranges::find(shapes, *each.asks);
        shape_of.push_back(static_cast<std::size_t>(known - shapes.begin()));
        if (known == shapes.end())
            shapes.push_back(*each.asks);
    }
    if (shapes.size() > volume_counts::most_shapes)
        return false;
    using counts_on = std::map<std::string, std::map<volume_counts::shape_set, std::int64_t>>;
    counts_on on;
    std::set<volume_counts::shape_set> suits;
    for (const volume_object* const volume : volumes) {
        volume_counts::shape_set set = 0;
        for (std::size_t at = 0; at < shapes.size(); ++at) {
            const volume_demand asking{{}, &shapes[at], {}, {}};
            if (!volume->claim && satisfies(*volume, asking, storage_class))
                set |= volume_counts::shape_set{1} << at;
        }
        if (set == 0)
            continue;
        const auto where = out.nodes_of(volume->nodes, 1, unlimited);
        if (where.size() > 1)
            return false;
        if (where.empty())
            continue;
        const std::string& name = out.nodes()[where.front()].name;
        ++on[name][set];
        suits.insert(set);
    }
    // No node reaches any: the terms of the volumes say which one would.
    if (on.empty())
        return false;
    const auto counts = volume_counts::make(shapes.size(), {suits.begin(), suits.end()});
    if (!counts)
        return false;
    for (std::size_t at = 0; at < counts->sets().size(); ++at) {
        const auto set = counts->sets()[at];
        const std::size_t number = first + at;
        const std::string kind = storage_kinds::volumes_of(storage_class) +
                                 (number > 1 ? "-" + std::to_string(number) : "");
        volume_supply& supply = out.plan().kinds[kind];
        for (const auto& [name, volumes_on] : on)
            for (const auto& [suited, count] : volumes_on)
                supply.on[name] += (suited & set) != 0 ? count : 0;
        // Another node like this one comes without such volumes.
        supply.not_of_node = supply.on;
        for (std::size_t node = 0; node < unlimited.size(); ++node)
            if (unlimited[node] != 0)
                supply.on[out.nodes()[node].name] = largest_allocatable;
        for (std::size_t of = 0; of < demands.size(); ++of)
            if ((set >> shape_of[of] & 1U) != 0)
                out.take(demands[of], kind, 1);
    }
    return true;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
