// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include <muster/codec/diagnostic.hpp>
#include <muster/codec/objects.hpp>

namespace cli {

/// Binds a claim, which some pod must use, to a volume of its own that every node reaches. Returns
/// what is wrong, or nothing.
[[nodiscard]] inline std::string bind_claim(const muster::codec::object_key& key,
                                            muster::codec::manifests& objects) {
    using namespace muster::codec;
    const pod_object* user = nullptr;
    const pod_volume* use = nullptr;
    for (const pod_object& pod : objects.pods)
        for (const pod_volume& each : pod.volumes)
            if (pod.metadata.key.name_space == key.name_space && each.claim == key.name) {
                user = &pod;
                use = &each;
            }
    if (!user)
        return "no pod uses a claim " + in_quotes(key.name);
    const auto known = std::ranges::find(
        objects.storage.claims, key, [](const claim_object& each) { return each.metadata.key; });
    claim_object& claim =
        known == objects.storage.claims.end() ? objects.storage.claims.emplace_back() : *known;
    claim.metadata.key = key;
    claim.metadata.terminating = false;
    claim.lost = false;
    claim.bound = true;
    claim.selected_node.clear();
    claim.asks.volume = "volume-for-" + key.name_space + "-" + key.name;
    if (use->from == pod_volume::source::ephemeral) {
        claim.owner_uid = user->metadata.uid;
        claim.owner_name = user->metadata.key.name;
    }
    // An input without volumes says nothing of them: all count as usable.
    if (objects.storage.volumes.empty())
        return {};
    volume_object volume;
    volume.metadata.key.name = claim.asks.volume;
    volume.available = false;
    objects.storage.volumes.push_back(std::move(volume));
    return {};
}

} // namespace cli
