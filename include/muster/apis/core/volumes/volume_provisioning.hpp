// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/volumes/claim_effects.hpp>
#include <muster/apis/core/volumes/pool_mismatch.hpp>
#include <muster/apis/core/volumes/storage_catalog.hpp>
#include <muster/apis/core/volumes/storage_handout.hpp>
#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/apis/core/volumes/storage_pools.hpp>
#include <muster/apis/core/volumes/volume_demand.hpp>
#include <muster/resource/quantity.hpp>
#include <muster/resource/storage_kinds.hpp>

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

    /// Precondition of the functions below: provisions().
    [[nodiscard]] const std::vector<storage_pool>& pools() {
        if (!pools_)
            pools_ = list_pools(*catalog_, *spec_, *out_);
        return *pools_;
    }

    /// Some node that all its pods that can start may be placed on can have a volume made for it.
    [[nodiscard]] bool can_make(const volume_demand& of) {
        if (of.askers.empty())
            return false;
        std::vector<char> pooled(out_->nodes().size(), 0);
        for (const storage_pool& each : pools())
            if (each.takes(*of.asks) && each.size() >= of.asks->bytes)
                for (const std::size_t node : out_->nodes_of(each.nodes, pooled.size()))
                    pooled[node] = 1;
        for (std::size_t node = 0; node < pooled.size(); ++node)
            if (pooled[node] != 0 && std::ranges::all_of(of.askers, [&](std::size_t user) {
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
                out_->reach(each, *spec_->topologies, "allowed topologies of class " + class_,
                            can_only_provision);
        if (!tracks_capacity(*catalog_, *spec_)) {
            for (const volume_demand& each : demands)
                keep_near(each);
            return;
        }
        const bool shared = std::ranges::any_of(demands, &volume_demand::is_shared);
        if (!shared && std::ranges::all_of(
                           pools(), [](const storage_pool& each) { return each.only.has_value(); }))
            count_pools(demands);
        else
            share_pools(demands, shared);
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
        // No node says by which labels the driver places volumes: the class does.
        if (keys.empty() && spec_->topologies)
            for (const node_term& each : *spec_->topologies)
                for (const label_requirement& one : each.labels.requirements)
                    keys.insert(one.key);
        out_->keep_near(of, keys);
    }

private:
    void count_pools(const std::vector<volume_demand>& demands) {
        const std::string kind = storage_kinds::bytes_of(class_);
        volume_supply& supply = out_->plan().kinds[kind];
        supply = count_bytes(pools());
        if (pools().empty())
            supply.lack = no_pool_text(*catalog_, *spec_, *out_);
        for (const volume_demand& each : demands) {
            out_->take(each, kind, each.asks->bytes);
            const bool limited = std::ranges::any_of(
                pools(), [&](const storage_pool& one) { return !one.takes(*each.asks); });
            if (limited)
                reach_pools(each);
        }
    }
    void reach_pools(const volume_demand& of) {
        term_list terms;
        for (const storage_pool& each : pools())
            if (each.takes(*of.asks))
                terms.insert(terms.end(), each.nodes.begin(), each.nodes.end());
        const std::string size = bytes_text(of.asks->bytes);
        const std::string what = terms.empty()
                                     ? "no storage pool of class " + class_ + " takes " + size +
                                           ": " + pools_text(pools())
                                     : "storage pools of class " + class_ + " with " + size;
        out_->reach(of, terms, what, can_only_provision);
    }

    /// Some pool is reached from several nodes, or pods share a claim.
    void share_pools(const std::vector<volume_demand>& demands, bool shared) {
        if (pools().empty()) {
            const std::string lack = no_pool_text(*catalog_, *spec_, *out_);
            for (const volume_demand& each : demands)
                out_->wait(each, lack);
            return;
        }
        int128 sum = 0;
        for (const volume_demand& each : demands)
            if (!each.askers.empty())
                sum += each.asks->bytes;
        const bool enough = std::ranges::all_of(
            pools(), [&](const storage_pool& each) { return sum <= each.size(); });
        if (enough && (!shared || pools().size() == 1))
            for (const volume_demand& each : demands)
                reach_pools(each);
        else
            storage_handout(class_, {}, pools(), *out_).run(demands);
    }

    static constexpr const char* can_only_provision = "can only be provisioned";

    const storage_catalog* catalog_;
    std::string class_;
    const storage_class_object* spec_;
    claim_effects* out_;
    std::optional<std::vector<storage_pool>> pools_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
