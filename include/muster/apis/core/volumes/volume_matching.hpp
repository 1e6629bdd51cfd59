// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/volumes/claim_effects.hpp>
#include <muster/apis/core/volumes/free_or_new_volumes.hpp>
#include <muster/apis/core/volumes/storage_catalog.hpp>
#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/apis/core/volumes/storage_pools.hpp>
#include <muster/apis/core/volumes/volume_demand.hpp>
#include <muster/apis/core/volumes/volume_mismatch.hpp>
#include <muster/apis/core/volumes/volume_provisioning.hpp>
#include <muster/apis/core/volumes/volume_sharing.hpp>
#include <muster/document/diagnostic.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Matches the claims of one class that wait for their first consumers with the class's free
/// volumes and storage pools, all together: no two claims get one volume, and claims on one pool
/// add up.
///
/// Volumes and pools that one node reaches become amounts, which the core counts exactly. Of those
/// that several nodes reach, claims get what they would like when there is enough for all that
/// wait; otherwise volumes and pools are handed out before nodes are chosen (storage_handout). A
/// gang may wait where another way of handing them out would have let it start.
class volume_matcher {
public:
    volume_matcher(const storage_catalog& catalog, std::string_view storage_class,
                   claim_effects& out)
        : class_(storage_class), making_(catalog, storage_class, out), out_(&out) {
        for (const auto& [name, volume] : catalog.volumes)
            if (volume->storage_class == class_)
                volumes_.push_back(volume);
    }

    /// Makes claims wait that neither a free volume nor a new one can serve, and removes them;
    /// finds the pods that reach nothing for one of the others. For all classes before the first
    /// match: a pod that starts nowhere keeps nothing from others.
    void refuse(std::vector<volume_demand>& demands) {
        if (making_.provisions())
            return;
        std::erase_if(demands, [&](const volume_demand& each) {
            const auto candidates = candidates_for(each, volumes_, class_);
            if (candidates.empty())
                out_->wait(each, each.is_selected ? "a node is selected for it, and class " +
                                                        in_quotes(class_) + " makes no volumes"
                                                  : mismatch_text(each, volumes_, class_));
            else
                out_->find_stuck(each, reached_by(candidates));
            return candidates.empty();
        });
    }

    void match(std::vector<volume_demand> demands) {
        const std::vector<storage_pool> no_pools;
        volume_sharing existing(class_, volumes_, no_pools, *out_);
        std::vector<volume_demand> fixed;
        std::vector<volume_demand> made;
        std::vector<volume_demand> either;
        for (volume_demand& each : demands) {
            out_->find_askers(each);
            const auto candidates = candidates_for(each, volumes_, class_);
            if (candidates.size() == 1 && is_kept_for(*candidates.front(), each)) {
                // It is for no other claim.
                existing.reach_any(each);
            } else if (making_.provisions() && (candidates.empty() || making_.can_make(each))) {
                (candidates.empty() ? made : either).push_back(std::move(each));
            } else if (making_.provisions() && each.askers.empty()) {
                // The pods start nowhere as things are, so they keep no volume from others.
                existing.reach_any(each);
            } else {
                fixed.push_back(std::move(each));
            }
        }
        existing.match(fixed, {}, 1);
        if (either.empty())
            making_.provision(made);
        else
            free_or_new_volumes(class_, left_by(fixed), making_, *out_)
                .match(std::move(either), std::move(made));
    }

private:
    /// Per node: it reaches one of the volumes. O(volumes × nodes), or O(volumes) if the last call
    /// had the same.
    [[nodiscard]] const std::vector<char>&
    reached_by(const std::vector<const volume_object*>& candidates) {
        if (!reached_.empty() && candidates == reached_from_)
            return reached_;
        reached_from_ = candidates;
        reached_.assign(out_->nodes().size(), 0);
        for (const volume_object* const each : candidates) {
            const auto [known, fresh] = nodes_of_.try_emplace(each);
            if (fresh)
                known->second = out_->nodes_of(each->nodes, reached_.size());
            for (const std::size_t node : known->second)
                reached_[node] = 1;
        }
        return reached_;
    }
    /// The volumes that suit none of these claims.
    [[nodiscard]] std::vector<const volume_object*>
    left_by(const std::vector<volume_demand>& demands) const {
        std::vector<const volume_object*> left;
        for (const volume_object* const each : volumes_)
            if (std::ranges::none_of(
                    demands, [&](const volume_demand& of) { return satisfies(*each, of, class_); }))
                left.push_back(each);
        return left;
    }

    std::string class_;
    volume_provisioner making_;
    claim_effects* out_;
    std::vector<const volume_object*> volumes_;
    /// The last answer of reached_by(), and for which volumes.
    std::vector<char> reached_;
    std::vector<const volume_object*> reached_from_;
    std::map<const volume_object*, std::vector<std::size_t>> nodes_of_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
