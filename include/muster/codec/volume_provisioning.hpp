// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/codec/claim_effects.hpp>
#include <muster/codec/diagnostic.hpp>
#include <muster/codec/pool_assignment.hpp>
#include <muster/codec/storage_catalog.hpp>
#include <muster/codec/storage_objects.hpp>
#include <muster/codec/volume_demand.hpp>
#include <muster/codec/volume_plan.hpp>
#include <muster/model/constraints.hpp>
#include <muster/resource/quantity.hpp>
#include <muster/resource/resources.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Where volumes of one class can be made for claims: by the class's topologies, and from storage
/// pools, on which claims add up.
class volume_provisioner {
public:
    volume_provisioner(const storage_catalog& catalog, std::string_view storage_class,
                       claim_effects& out)
        : catalog_(&catalog),
          class_(storage_class),
          spec_(storage_catalog::find(catalog.classes, storage_class)),
          out_(&out) {}

    [[nodiscard]] bool provisions() const { return spec_ && spec_->provisions(); }

    /// Some node that all its pods may be placed on can have a volume made for it.
    [[nodiscard]] bool can_make(const volume_demand& of) {
        const csi_driver_object* const driver =
            storage_catalog::find(catalog_->drivers, spec_->provisioner);
        const bool counted = driver && driver->tracks_capacity;
        std::vector<char> possible = out_->reached_from(spec_->topologies);
        std::vector<char> pooled(out_->nodes().size(), counted ? 0 : 1);
        for (const pool& each : counted ? list_pools() : std::vector<pool>{}) {
            if (!takes(each, *of.asks) || size_of(each) < of.asks->bytes)
                continue;
            const auto reached = out_->reached_from(each.nodes);
            for (std::size_t node = 0; node < pooled.size(); ++node)
                pooled[node] = pooled[node] != 0 || reached[node] != 0 ? 1 : 0;
        }
        for (std::size_t node = 0; node < possible.size(); ++node)
            if (possible[node] != 0 && pooled[node] != 0 &&
                std::ranges::all_of(of.users, [&](std::size_t user) {
                    return out_->places().admitted(user)[node] != 0;
                }))
                return true;
        return false;
    }

    void provision(const std::vector<volume_demand>& demands) {
        if (demands.empty())
            return;
        for (const volume_demand& each : demands)
            if (spec_->topologies)
                out_->reach(each, *spec_->topologies, "allowed topologies of class " + class_);
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

private:
    struct pool {
        const storage_capacity_object* object = nullptr;
        term_list nodes;
        std::optional<std::string> only; ///< the one node that reaches it
        bool of_node = false;            ///< and that its selector names
    };

    /// Pools that some node reaches.
    [[nodiscard]] std::vector<pool> list_pools() const {
        std::vector<pool> pools;
        const auto known = catalog_->capacities.find(class_);
        if (known == catalog_->capacities.end())
            return pools;
        for (const storage_capacity_object* const each : known->second) {
            if (!each->nodes || !(each->bytes || each->largest))
                continue;
            // Of a selector without requirements are all nodes.
            node_term term{*each->nodes, {}};
            if (term.labels.requirements.empty())
                term.name.push_back({"metadata.name", label_operator::exists, {}});
            const auto where = out_->nodes_of(term_list{term}, 1);
            if (where.empty())
                continue;
            pool& made = pools.emplace_back();
            made.object = each;
            made.nodes = {term};
            if (where.size() > 1)
                continue;
            made.only = out_->nodes()[where.front()].name;
            made.of_node = out_->are_of_node(made.nodes, where.front());
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

    [[nodiscard]] static std::string bytes_text(std::int64_t bytes) {
        return quantity_text(bytes, quantity_scale::units, quantity_format::binary_si);
    }

    /// Returns "15Gi free in pool-a (zone a), 5Gi in pool-b (zone b)": the largest pools first, at
    /// most four.
    [[nodiscard]] static std::string list_text(std::vector<pool> pools) {
        if (pools.empty())
            return "none free";
        std::ranges::stable_sort(pools, std::ranges::greater{}, size_of);
        constexpr std::size_t most = 4;
        std::string text;
        for (std::size_t at = 0; at < std::min(most, pools.size()); ++at) {
            const storage_capacity_object& each = *pools[at].object;
            text += (at > 0 ? ", " : "") + bytes_text(size_of(pools[at])) +
                    (at > 0 ? " in " : " free in ") + each.metadata.key.name;
            std::string where;
            for (const label_requirement& one : each.nodes->requirements)
                if (one.op == label_operator::in && !one.values.empty())
                    where += (where.empty() ? "" : ", ") +
                             (one.key.ends_with("kubernetes.io/zone") ? "zone " : one.key + "=") +
                             one.values.front();
            text += where.empty() ? "" : " (" + where + ")";
            if (each.largest && *each.largest < size_of(pools[at]))
                text += " with at most " + bytes_text(*each.largest) + " per volume";
        }
        return text + more_text(pools.size() - std::min(most, pools.size()), "pool");
    }

    void count_pools(const std::vector<volume_demand>& demands, const std::vector<pool>& pools) {
        const std::string kind = storage_catalog::bytes_of(class_);
        volume_supply& supply = out_->plan().kinds[kind];
        // Of several pools on a node the largest counts: a volume lies in one of them.
        std::map<std::string, std::int64_t> of_node;
        for (const pool& each : pools) {
            supply.on[*each.only] = std::max(supply.on[*each.only], size_of(each));
            if (each.of_node)
                of_node[*each.only] = std::max(of_node[*each.only], size_of(each));
        }
        for (const auto& [name, bytes] : supply.on)
            if (bytes > of_node[name])
                supply.not_of_node.emplace(name, bytes - of_node[name]);
        for (const volume_demand& each : demands) {
            out_->take(each, kind, each.asks->bytes);
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
        const std::string size = bytes_text(of.asks->bytes);
        const std::string what =
            terms.empty()
                ? "no storage pool of class " + class_ + " takes " + size + ": " + list_text(pools)
                : "storage pools of class " + class_ + " with " + size;
        out_->reach(of, std::move(terms), what);
    }

    /// Some pool is reached from several nodes, or pods share a claim.
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
        std::vector<std::vector<std::size_t>> candidates;
        std::vector<std::vector<char>> reaches;
        std::vector<int128> left;
        for (const volume_demand& each : demands) {
            auto& of = candidates.emplace_back();
            for (std::size_t at = 0; at < pools.size(); ++at)
                if (takes(pools[at], *each.asks))
                    of.push_back(at);
        }
        for (const pool& each : pools) {
            left.push_back(size_of(each));
            reaches.push_back(out_->reached_from(each.nodes));
        }
        const auto make = [&](const std::vector<std::size_t>& claims, auto lists) {
            std::vector<std::int64_t> sizes;
            for (const std::size_t claim : claims)
                sizes.push_back(demands[claim].asks->bytes);
            return pool_assignment(std::move(lists), std::move(sizes), left);
        };
        const auto why = [&](const std::vector<std::size_t>& claims) {
            int128 needed = 0;
            for (const std::size_t claim : claims)
                needed += demands[claim].asks->bytes;
            return "storage pools of class " + in_quotes(class_) + " have no room for " +
                   std::to_string(claims.size()) + (claims.size() == 1 ? " claim" : " claims") +
                   " of the gang: " + bytes_text(saturate(needed)) + " needed, " + list_text(pools);
        };
        const auto given =
            out_->hand_out(demands, std::move(candidates), std::move(reaches), make, true, why);
        std::vector<int128> handed(pools.size(), 0);
        for (std::size_t at = 0; at < demands.size(); ++at)
            if (given.given[at])
                handed[*given.given[at]] += demands[at].asks->bytes;
        for (std::size_t at = 0; at < demands.size(); ++at)
            if (const auto chosen = given.given[at]) {
                const std::string& name = pools[*chosen].object->metadata.key.name;
                out_->reach(demands[at], pools[*chosen].nodes,
                            "storage pool " + name + " with " +
                                bytes_text(size_of(pools[*chosen])) + " free");
                if (handed[*chosen] > left[*chosen])
                    out_->keep_gangs_apart(demands, at, "pool:" + class_ + "/" + name,
                                           given.beside[at] == 0);
            }
    }

    /// Where a volume can be used depends on where it is made: pods that share one go there
    /// together.
    void keep_near(const volume_demand& of) {
        if (!of.is_shared())
            return;
        std::set<std::string> keys;
        for (const auto& [name, each] : catalog_->nodes)
            if (const auto driver = each->drivers.find(spec_->provisioner);
                driver != each->drivers.end())
                keys.insert(driver->second.topology_keys.begin(),
                            driver->second.topology_keys.end());
        out_->keep_near(of, keys);
    }

    const storage_catalog* catalog_;
    std::string class_;
    const storage_class_object* spec_;
    claim_effects* out_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
