// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/volumes/claim_effects.hpp>
#include <muster/apis/core/volumes/storage_catalog.hpp>
#include <muster/apis/core/volumes/storage_handout.hpp>
#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/apis/core/volumes/storage_pools.hpp>
#include <muster/apis/core/volumes/volume_counts.hpp>
#include <muster/apis/core/volumes/volume_demand.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/apis/core/volumes/volume_provisioning.hpp>
#include <muster/apis/core/volumes/volume_sharing.hpp>
#include <muster/apis/core/volumes/volumes_by_node.hpp>
#include <muster/resource/quantity.hpp>
#include <muster/resource/resources.hpp>
#include <muster/resource/storage_kinds.hpp>
#include <muster/vocabulary/constraints.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Claims that get a free volume on some nodes and a new one on others, of one class.
class free_or_new_volumes {
public:
    /// `volumes`: the free volumes that these claims may get. All outlive it.
    free_or_new_volumes(std::string storage_class, std::vector<const volume_object*> volumes,
                        volume_provisioner& making, claim_effects& out)
        : class_(std::move(storage_class)),
          volumes_(std::move(volumes)),
          making_(&making),
          out_(&out) {
        for (const storage_pool& each : making.pools())
            add(each);
    }

    /// `made`: claims that no free volume suits. Where pools may have too little and nodes have
    /// both, claims of several sizes count as if free volumes had the smallest of these sizes.
    void match(std::vector<volume_demand> either, std::vector<volume_demand> made) {
        std::erase_if(pools_, [&](const storage_pool& each) {
            const auto takes = [&](const volume_demand& of) { return each.takes(*of.asks); };
            return std::ranges::none_of(either, takes) && std::ranges::none_of(made, takes);
        });
        const bool enough = have_enough(either, made);
        const std::vector<char> served =
            enough ? served_by_pools(either) : std::vector<char>(out_->nodes().size(), 0);
        std::erase_if(volumes_, [&](const volume_object* each) {
            return out_->nodes_of(each->nodes, 0, served).empty() ||
                   std::ranges::none_of(either, [&](const volume_demand& of) {
                       return satisfies(*each, of, class_);
                   });
        });
        std::erase_if(either, [&](volume_demand& each) {
            const bool useless = candidates_for(each, volumes_, class_).empty();
            if (useless)
                made.push_back(std::move(each));
            return useless;
        });
        if (either.empty() || enough) {
            making_->provision(made);
            // Free volumes matter on the other nodes only.
            for (const volume_demand& each :
                 volume_sharing(class_, volumes_, pools_, *out_).match(either, served, first_kind))
                keep_near(each);
        } else if (!count(either, made)) {
            either.insert(either.end(), made.begin(), made.end());
            for (const std::size_t at :
                 storage_handout(class_, volumes_, pools_, *out_).run(either))
                keep_near(either[at]);
        }
    }

private:
    void add(storage_pool pool) {
        const auto where = out_->nodes_of(pool.nodes, 1);
        if (where.empty())
            return;
        pool.only.reset();
        if (where.size() == 1)
            pool.only = out_->nodes()[where.front()].name;
        pools_.push_back(std::move(pool));
    }

    /// Each pool has enough for all claims together.
    [[nodiscard]] bool have_enough(const std::vector<volume_demand>& either,
                                   const std::vector<volume_demand>& made) {
        int128 sum = 0;
        for (const auto* const demands : {&either, &made})
            for (const volume_demand& each : *demands)
                if (!each.askers.empty())
                    sum += each.asks->bytes;
        return std::ranges::all_of(
            pools_, [&](const storage_pool& each) { return !each.object || sum <= each.size(); });
    }
    /// Per node: some pool takes any of the claims there.
    [[nodiscard]] std::vector<char>
    served_by_pools(const std::vector<volume_demand>& demands) const {
        std::vector<char> served(out_->nodes().size(), 0);
        for (const storage_pool& each : pools_)
            if (std::ranges::all_of(demands,
                                    [&](const volume_demand& of) { return each.takes(*of.asks); }))
                for (const std::size_t node : out_->nodes_of(each.nodes, served.size()))
                    served[node] = 1;
        return served;
    }

    /// A claim of several pods whose volume is made somewhere holds them to one place.
    void keep_near(const volume_demand& of) {
        if (!pools_.front().object)
            making_->keep_near(of);
    }

    /// Counts bytes on nodes with a pool, and free volumes on others. A free volume beside a pool
    /// counts as bytes of the smallest claim. False, and no change, when some volume or pool is
    /// reached from several nodes, pods share a claim, or claims differ too much.
    bool count(const std::vector<volume_demand>& either, const std::vector<volume_demand>& made) {
        if (std::ranges::any_of(either, &volume_demand::is_shared) ||
            std::ranges::any_of(made, &volume_demand::is_shared) ||
            !std::ranges::all_of(pools_,
                                 [](const storage_pool& each) { return each.only.has_value(); }))
            return false;
        volume_supply supply = count_bytes(pools_);
        std::vector<char> pooled(out_->nodes().size(), 0);
        for (const storage_pool& each : pools_)
            pooled[out_->nodes_of(each.nodes, 0).front()] = 1;
        std::int64_t smallest = largest_allocatable;
        for (const volume_demand& each : either)
            smallest = std::min(smallest, each.asks->bytes);
        std::vector<const volume_object*> elsewhere;
        for (const volume_object* const each : volumes_) {
            const auto where = out_->nodes_of(each->nodes, 1);
            if (where.size() > 1)
                return false;
            if (pooled[where.front()] == 0)
                elsewhere.push_back(each);
            else if (std::ranges::all_of(either, [&](const volume_demand& of) {
                         return satisfies(*each, of, class_);
                     }))
                for (auto* const to : {&supply.on, &supply.not_of_node}) {
                    std::int64_t& bytes = (*to)[out_->nodes()[where.front()].name];
                    bytes = std::min(saturate(int128{bytes} + smallest), largest_allocatable);
                }
        }
        if (!elsewhere.empty() &&
            !count_volumes_by_node(either, elsewhere, class_, pooled, first_kind, *out_))
            return false;
        making_->provision(made);
        const std::string kind = storage_kinds::bytes_of(class_) + (made.empty() ? "" : "-2");
        for (const volume_object* const each : elsewhere)
            supply.on[out_->nodes()[out_->nodes_of(each->nodes, 0).front()].name] =
                largest_allocatable;
        out_->plan().kinds[kind] = std::move(supply);
        for (const volume_demand& each : either) {
            out_->take(each, kind, each.asks->bytes);
            if (!std::ranges::all_of(
                    pools_, [&](const storage_pool& one) { return one.takes(*each.asks); }))
                volume_sharing(class_, elsewhere, pools_, *out_).reach_any(each);
        }
        for (const volume_demand& each : made)
            out_->take(each, kind, each.asks->bytes);
        return true;
    }

    /// Claims of the class that get free volumes only have kinds of smaller numbers.
    static constexpr std::size_t first_kind = volume_counts::most_sets + 1;

    std::string class_;
    std::vector<const volume_object*> volumes_;
    volume_provisioner* making_;
    claim_effects* out_;
    std::vector<storage_pool> pools_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
