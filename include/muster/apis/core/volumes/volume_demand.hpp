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

#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/vocabulary/constraints.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// A claim that waits for its first consumer (volumeBindingMode WaitForFirstConsumer).
struct volume_demand {
    object_key key;
    const claim_request* asks = nullptr;
    std::string uid;
    /// Positions of the pods that use the claim.
    std::vector<std::size_t> users;
    /// Those of them for which its volume or storage is chosen (claim_effects::find_askers). The
    /// others do not keep them from starting, and take what was chosen.
    std::vector<std::size_t> askers{};
    /// Rank of the first of these pods' gangs in the order of assignment.
    std::size_t gang = 0;
    /// A node was selected for it, so it gets a new volume and no free one (kube-scheduler's
    /// FindPodVolumes).
    bool is_selected = false;

    [[nodiscard]] bool is_shared() const noexcept { return users.size() > 1; }
};

/// Orders free volumes: the smallest first, then by name (Kubernetes FindMatchingVolume).
[[nodiscard]] inline bool is_tried_before(const volume_object& lhs, const volume_object& rhs) {
    return std::tie(lhs.bytes, lhs.metadata.key.name) < std::tie(rhs.bytes, rhs.metadata.key.name);
}

/// True if the volume is reserved for this claim (`spec.claimRef`).
[[nodiscard]] inline bool is_kept_for(const volume_object& volume, const volume_demand& claim) {
    return volume.claim && volume.claim->key == claim.key &&
           (volume.claim->uid.empty() || claim.uid.empty() || volume.claim->uid == claim.uid);
}

/// True if the volume can be bound to the claim, regardless of nodes: it has the claim's class,
/// volume mode and attributes class, is large enough, and is reserved for the claim or is free and
/// has the claim's access modes and labels (kube-scheduler's FindMatchingVolume).
[[nodiscard]] inline bool satisfies(const volume_object& volume, const volume_demand& claim,
                                    std::string_view storage_class) {
    const claim_request& asks = *claim.asks;
    const bool open = volume.claim
                          ? is_kept_for(volume, claim)
                          : volume.available && (volume.access & asks.access) == asks.access &&
                                (!asks.labels || asks.labels->matches(volume.metadata.labels));
    return open && volume.unsupported.empty() && !volume.metadata.terminating &&
           volume.storage_class == storage_class && volume.bytes >= asks.bytes &&
           volume.block == asks.block && volume.attributes_class == asks.attributes_class &&
           (asks.volume.empty() || asks.volume == volume.metadata.key.name);
}

/// Returns the volumes of a class that can be bound to the claim, in the order of
/// is_tried_before(). A volume that is reserved for the claim is the only candidate, unless it is
/// too small or of another mode (kube-scheduler's FindMatchingVolume).
[[nodiscard]] inline std::vector<const volume_object*>
candidates_for(const volume_demand& claim, const std::vector<const volume_object*>& of_class,
               std::string_view storage_class) {
    std::vector<const volume_object*> found;
    if (claim.is_selected)
        return found;
    const claim_request& asks = *claim.asks;
    for (const volume_object* const each : of_class)
        if (is_kept_for(*each, claim) && each->bytes >= asks.bytes && each->block == asks.block &&
            each->attributes_class == asks.attributes_class)
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
} // namespace v0_1
} // namespace muster
