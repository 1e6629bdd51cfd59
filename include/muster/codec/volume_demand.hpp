// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <muster/codec/storage_objects.hpp>
#include <muster/model/constraints.hpp>

namespace muster::inline v0_1 {
namespace codec {

/// A claim that waits for its first consumer.
struct volume_demand {
    object_key key;
    const claim_request* asks = nullptr;
    std::string uid;
    /// Positions of the pods that use it.
    std::vector<std::size_t> users;
    /// The gang of these pods by its place in the order of gangs.
    std::size_t gang = 0;
    /// Some volume may be made for it where these nodes are; absent = no volume is made.
    bool provisions = false;

    [[nodiscard]] bool is_shared() const noexcept { return users.size() > 1; }
};

/// Free volumes as they are tried: the smallest first, then by name (Kubernetes
/// FindMatchingVolume).
[[nodiscard]] inline bool is_tried_before(const volume_object& lhs, const volume_object& rhs) {
    return std::tie(lhs.bytes, lhs.metadata.key.name) < std::tie(rhs.bytes, rhs.metadata.key.name);
}

/// The volume names this claim.
[[nodiscard]] inline bool is_kept_for(const volume_object& volume, const volume_demand& claim) {
    return volume.claim && volume.claim->key == claim.key &&
           (volume.claim->uid.empty() || claim.uid.empty() || volume.claim->uid == claim.uid);
}

/// The volume can be bound to the claim, wherever it is: it is free or kept for the claim, and of
/// the claim's class, at least its size, and its modes, labels and attributes.
[[nodiscard]] inline bool satisfies(const volume_object& volume, const volume_demand& claim,
                                    std::string_view storage_class) {
    const claim_request& asks = *claim.asks;
    const bool free = volume.claim ? is_kept_for(volume, claim) : volume.available;
    return free && volume.unsupported.empty() && !volume.metadata.terminating &&
           volume.storage_class == storage_class && volume.bytes >= asks.bytes &&
           volume.block == asks.block && (volume.access & asks.access) == asks.access &&
           volume.attributes_class == asks.attributes_class &&
           (asks.volume.empty() || asks.volume == volume.metadata.key.name) &&
           (!asks.labels || asks.labels->matches(volume.metadata.labels));
}

/// The volumes that can be bound to the claim, in the order in which they are tried. One that is
/// kept for the claim is the only one.
[[nodiscard]] inline std::vector<const volume_object*>
candidates_for(const volume_demand& claim, const std::vector<const volume_object*>& of_class,
               std::string_view storage_class) {
    std::vector<const volume_object*> found;
    for (const volume_object* const each : of_class)
        if (is_kept_for(*each, claim))
            return satisfies(*each, claim, storage_class) ? std::vector<const volume_object*>{each}
                                                          : std::vector<const volume_object*>{};
    for (const volume_object* const each : of_class)
        if (satisfies(*each, claim, storage_class))
            found.push_back(each);
    std::ranges::sort(found,
                      [](const auto* lhs, const auto* rhs) { return is_tried_before(*lhs, *rhs); });
    return found;
}

} // namespace codec
} // namespace muster::inline v0_1
