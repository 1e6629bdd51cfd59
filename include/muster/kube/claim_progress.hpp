// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <muster/apis/core/claims/device_claims.hpp>
#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/kube/claim_writes.hpp>
#include <muster/kube/extended_claims.hpp>
#include <muster/kube/live_devices.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// How far the claims of a pod are that is to start.
enum class claim_progress : std::uint8_t { ready, waiting, failed, cancelled };

struct claim_verdict {
    claim_progress what = claim_progress::ready;
    /// Why the pod waits or failed.
    std::string why;
};

/// Says how far one claim of a pod is that is to start on the node `on`. `lack`: why no devices
/// were found for the pod's gang; nullptr if there are some. `node`: nullptr if it is not known.
/// O(log claims + log writes + consumers).
[[nodiscard]] inline claim_verdict
judge_claim(const codec::pod_object& pod, const std::string& on, const std::string& of_name,
            const std::string* lack, const extended_claims& extended, const claim_writes& writes,
            const live_devices& devices, const codec::node_object* node) {
    const std::string name = "resource claim " + of_name;
    const auto* const known = extended.claim(pod, of_name, devices);
    if (!known)
        return {claim_progress::failed, name + " does not exist"};
    const codec::resource_claim_object& claim = *known;
    if (extended.is_of_no_use(pod, claim, devices))
        return {claim_progress::waiting, name + " is still to be deleted"};
    if (writes.is_leaving(claim.metadata.key, devices))
        return {claim_progress::waiting, name + " is being released"};
    for (const char* const what : {"creation", "protection", "allocation", "reservation"})
        if (const auto* const last =
                writes.find(detail::about_claim(pod, what, claim.metadata.key.name));
            last && !last->refused.empty() &&
            (!claim.allocation || !devices.is_reserved_for(claim, pod)))
            return {claim_progress::failed, name + " cannot be " +
                                                (claim.allocation ? "reserved: " : "allocated: ") +
                                                last->refused};
    if (!claim.allocation && lack)
        return {claim_progress::failed, name + " cannot be allocated: " + *lack};
    if (!claim.allocation)
        return {claim_progress::waiting, name + " is not allocated yet"};
    if (node && !codec::reaches(*claim.allocation, *node))
        return {claim_progress::failed, name + " is allocated on other nodes than node " + on};
    if (!claim.allocation->failed.empty())
        return {claim_progress::failed,
                name + " has a device that cannot be used: " + claim.allocation->failed};
    if (!devices.is_reserved_for(claim, pod))
        return {claim_progress::waiting, name + " is not reserved yet"};
    if (!claim.allocation->pending.empty())
        return {claim_progress::waiting, name + " waits for " + claim.allocation->pending.front()};
    return {};
}

} // namespace kube
} // namespace v0_1
} // namespace muster
