// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/volumes/claim_effects.hpp>
#include <muster/apis/core/volumes/storage_catalog.hpp>
#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/document/diagnostic.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Returns "CSIStorageCapacity a matches no node", or "CSIStorageCapacities a, b match no node".
/// Names at most three, and the number of further ones.
[[nodiscard]] inline std::string capacities_text(const std::vector<std::string>& names,
                                                 std::string_view one, std::string_view several) {
    constexpr std::size_t max_listed = 3;
    std::string text = names.size() == 1 ? "CSIStorageCapacity " : "CSIStorageCapacities ";
    for (std::size_t at = 0; at < std::min(max_listed, names.size()); ++at)
        text += (at > 0 ? ", " : "") + names[at];
    return text + more_text(names.size() - std::min(max_listed, names.size()), "other") + " " +
           std::string(names.size() == 1 ? one : several);
}

/// Returns why the driver of a class offers storage on no topology: no CSINode lists the driver or
/// a topology key of it, or no node has such a label. Empty if none of these holds.
[[nodiscard]] inline std::string no_topology_text(const storage_catalog& catalog,
                                                  std::string_view driver,
                                                  const claim_effects& nodes) {
    bool listed = false;
    std::set<std::string> keys;
    for (const auto& [name, each] : catalog.nodes)
        if (const auto known = each->drivers.find(driver); known != each->drivers.end()) {
            listed = true;
            keys.insert(known->second.topology_keys.begin(), known->second.topology_keys.end());
        }
    if (!listed)
        return "no CSINode lists driver " + std::string(driver);
    if (keys.empty())
        return "no CSINode lists topologyKeys of driver " + std::string(driver);
    for (const std::string& key : keys)
        if (std::ranges::none_of(nodes.nodes(), [&](const node<1>& each) {
                return each.labels.find(key) != nullptr;
            }))
            return "no node has the label " + key + ", a topology key of driver " +
                   std::string(driver);
    return {};
}

} // namespace detail

/// Returns why a class whose driver publishes CSIStorageCapacities has no storage pool that some
/// node reaches: `there is no CSIStorageCapacity of class fast, and no CSINode lists driver d`.
/// O(capacities of the class × nodes + CSINodes).
[[nodiscard]] inline std::string no_pool_text(const storage_catalog& catalog,
                                              const storage_class_object& of,
                                              const claim_effects& nodes) {
    enum property { topology, amount, nowhere };
    const std::string where =
        of.topologies ? " no node of the allowed topologies of class " + of.metadata.key.name
                      : " no node";
    const std::array<std::pair<std::string, std::string>, 3> texts{
        {{"has no nodeTopology", "have no nodeTopology"},
         {"has no capacity", "have no capacity"},
         {"matches" + where, "match" + where}}};
    std::array<std::vector<std::string>, texts.size()> names;
    if (const auto known = catalog.capacities.find(of.metadata.key.name);
        known != catalog.capacities.end())
        for (const storage_capacity_object* const each : known->second) {
            const property first = !each->nodes                      ? topology
                                   : !(each->bytes || each->largest) ? amount
                                                                     : nowhere;
            names[first].push_back(each->metadata.key.name);
        }
    std::string text;
    for (std::size_t at = 0; at < texts.size(); ++at)
        if (!names[at].empty())
            text += (text.empty() ? "" : ", ") +
                    detail::capacities_text(names[at], texts[at].first, texts[at].second);
    if (text.empty())
        text = "there is no CSIStorageCapacity of class " + of.metadata.key.name;
    const std::string lack = detail::no_topology_text(catalog, of.provisioner, nodes);
    return lack.empty() ? text : text + ", and " + lack;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
