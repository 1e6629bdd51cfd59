// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/volumes/claim_effects.hpp>
#include <muster/apis/core/volumes/storage_catalog.hpp>
#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/resource/quantity.hpp>
#include <muster/resource/resources.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/labels.hpp>
#include <muster/vocabulary/node.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A store from which volumes of a class are made.
struct storage_pool {
    /// Absent = the driver does not say how much it has: enough for any claim.
    const storage_capacity_object* object = nullptr;
    /// The nodes that can use volumes from it.
    term_list nodes;
    std::optional<std::string> only; ///< the one node that reaches it
    bool of_node = false;            ///< and that its selector names

    /// False if the claim is larger than the pool makes volumes. Other claims do not matter.
    [[nodiscard]] bool takes(const claim_request& asks) const {
        return !object || asks.bytes <= object->largest.value_or(object->bytes.value_or(0));
    }
    [[nodiscard]] std::int64_t size() const {
        return object ? std::min(object->bytes.value_or(largest_allocatable), largest_allocatable)
                      : largest_allocatable;
    }
};

/// The nodes of a pool: its selector as a term of a node affinity. A selector without requirements
/// selects all nodes.
[[nodiscard]] inline node_term term_of(const label_selector& nodes) {
    node_term made{nodes, {}};
    if (made.labels.requirements.empty())
        made.name.push_back({"metadata.name", label_operator::exists, {}});
    return made;
}

/// True if the driver of a class says how much storage it has (`CSIDriver.spec.storageCapacity`).
[[nodiscard]] inline bool tracks_capacity(const storage_catalog& catalog,
                                          const storage_class_object& of) {
    const csi_driver_object* const driver = storage_catalog::find(catalog.drivers, of.provisioner);
    return driver && driver->tracks_capacity;
}

/// Returns a term for each pair: nodes that match a term of both lists.
[[nodiscard]] inline term_list both(const term_list& lhs, const term_list& rhs) {
    term_list made;
    for (const node_term& left : lhs)
        for (const node_term& right : rhs) {
            node_term& term = made.emplace_back(left);
            term.name.insert(term.name.end(), right.name.begin(), right.name.end());
            auto& labels = term.labels.requirements;
            labels.insert(labels.end(), right.labels.requirements.begin(),
                          right.labels.requirements.end());
        }
    return made;
}

/// Returns the pools of a class that some node reaches on which the class makes volumes
/// (`allowedTopologies`). One for all these nodes if the driver does not say how much it has.
[[nodiscard]] inline std::vector<storage_pool> list_pools(const storage_catalog& catalog,
                                                          const storage_class_object& of,
                                                          const claim_effects& nodes) {
    std::vector<storage_pool> pools;
    const auto allowed = nodes.reached_from(of.topologies);
    const auto within = [&](term_list terms) {
        const auto is_allowed = [&](std::size_t node) { return allowed[node] != 0; };
        if (of.topologies &&
            !std::ranges::all_of(nodes.nodes_of(terms, allowed.size()), is_allowed))
            return both(*of.topologies, terms);
        return terms;
    };
    if (!tracks_capacity(catalog, of)) {
        pools.push_back({nullptr, within({term_of({})}), std::nullopt, false});
        return pools;
    }
    const auto known = catalog.capacities.find(of.metadata.key.name);
    if (known == catalog.capacities.end())
        return pools;
    for (const storage_capacity_object* const each : known->second) {
        if (!each->nodes || !(each->bytes || each->largest))
            continue;
        term_list terms = within({term_of(*each->nodes)});
        const auto where = nodes.nodes_of(terms, 1);
        if (where.empty())
            continue;
        storage_pool& made = pools.emplace_back();
        made.object = each;
        made.nodes = std::move(terms);
        if (where.size() > 1)
            continue;
        made.only = nodes.nodes()[where.front()].name;
        made.of_node = nodes.are_of_node(made.nodes, where.front());
    }
    std::ranges::sort(pools, {},
                      [](const storage_pool& each) { return each.object->metadata.key; });
    return pools;
}

/// True if a volume of the class can be made for the claim on the node. Other claims do not matter.
/// O(pools of the class).
template<std::size_t Width>
[[nodiscard]] bool can_make_on(const node<Width>& target, const claim_request& asks,
                               const storage_class_object& of, const storage_catalog& catalog) {
    const auto matches = [&](const node_term& term) { return term.matches(target); };
    if (!of.provisions() || (of.topologies && !std::ranges::any_of(*of.topologies, matches)))
        return false;
    if (!tracks_capacity(catalog, of))
        return true;
    const auto known = catalog.capacities.find(of.metadata.key.name);
    return known != catalog.capacities.end() &&
           std::ranges::any_of(known->second, [&](const storage_capacity_object* each) {
               return each->nodes && storage_pool{each, {}, {}, false}.takes(asks) &&
                      matches(term_of(*each->nodes));
           });
}

/// Bytes that nodes have, by the node's name, of pools that one node each reaches (`only`). Of
/// several pools on a node the largest counts: a volume lies in one of them.
[[nodiscard]] inline volume_supply count_bytes(const std::vector<storage_pool>& pools) {
    volume_supply made;
    std::map<std::string, std::int64_t> of_node;
    for (const storage_pool& each : pools) {
        made.on[*each.only] = std::max(made.on[*each.only], each.size());
        if (each.of_node)
            of_node[*each.only] = std::max(of_node[*each.only], each.size());
    }
    for (const auto& [name, bytes] : made.on)
        if (bytes > of_node[name])
            made.not_of_node.emplace(name, bytes - of_node[name]);
    return made;
}

[[nodiscard]] inline std::string bytes_text(std::int64_t bytes) {
    return quantity_text(bytes, quantity_scale::units, quantity_format::binary_si);
}

/// Returns "15Gi free in pool-a (zone a), 5Gi in pool-b (zone b)": the largest pools first, at
/// most four. Precondition: the pools have objects.
[[nodiscard]] inline std::string pools_text(std::vector<storage_pool> pools) {
    if (pools.empty())
        return "none free";
    std::ranges::stable_sort(pools, std::ranges::greater{}, &storage_pool::size);
    constexpr std::size_t most = 4;
    std::string text;
    for (std::size_t at = 0; at < std::min(most, pools.size()); ++at) {
        const storage_capacity_object& each = *pools[at].object;
        text += (at > 0 ? ", " : "") + bytes_text(pools[at].size()) +
                (at > 0 ? " in " : " free in ") + each.metadata.key.name;
        std::string where;
        for (const label_requirement& one : each.nodes->requirements)
            if (one.op == label_operator::in && !one.values.empty())
                where += (where.empty() ? "" : ", ") +
                         (one.key.ends_with("kubernetes.io/zone") ? "zone " : one.key + "=") +
                         one.values.front();
        text += where.empty() ? "" : " (" + where + ")";
        if (each.largest && *each.largest < pools[at].size())
            text += " with at most " + bytes_text(*each.largest) + " per volume";
    }
    return text + more_text(pools.size() - std::min(most, pools.size()), "pool");
}

} // namespace codec
} // namespace v0_1
} // namespace muster
