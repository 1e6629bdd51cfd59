// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include <muster/apis/core/claims/device_claims.hpp>
#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/kube/live_devices.hpp>
#include <muster/vocabulary/pod.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// True if Muster allocated the claim for the pod or for another pod that shares it, or is about to
/// allocate it for the pod.
[[nodiscard]] inline bool is_held(const codec::pod_object& pod,
                                  const codec::resource_claim_object& claim,
                                  const live_devices& devices) {
    if (claim.muster_pod.empty() || claim.metadata.terminating)
        return false;
    return claim.reserved_for.empty() ? claim.muster_pod == pod.metadata.uid
                                      : devices.is_reserved_for(claim, pod);
}

/// True if a claim that is held for the pod meets the condition. O(claims of the pod · log claims).
template<class Meets>
[[nodiscard]] bool any_held(const codec::pod_object& pod, const live_devices& devices,
                            const Meets& meets) {
    const auto is_such = [&](const codec::resource_claim_object* claim) {
        return claim && is_held(pod, *claim, devices) && meets(*claim);
    };
    return is_such(devices.extended_claim(pod.metadata.uid)) ||
           std::ranges::any_of(pod.claims, [&](const codec::pod_claim& each) {
               return is_such(devices.claim({pod.metadata.key.name_space, each.claim}));
           });
}
[[nodiscard]] inline bool holds_any(const codec::pod_object& pod, const live_devices& devices) {
    return any_held(pod, devices, [](const codec::resource_claim_object&) { return true; });
}
/// True if a device that was allocated for the pod cannot be used.
[[nodiscard]] inline bool has_failed_device(const codec::pod_object& pod,
                                            const live_devices& devices) {
    return any_held(pod, devices, [](const codec::resource_claim_object& claim) {
        return claim.allocation && !claim.allocation->failed.empty();
    });
}

/// True if `is_idle(key)` holds for every pod that the claim is reserved for and, if it is reserved
/// for a PodGroup, for every pod of the PodGroup that uses the claim and has not ended. `pods` has
/// records with an `object`, by key; a consumer that is not among them is not idle. O(consumers +
/// pods of the namespace).
template<class Pods, class IsIdle>
[[nodiscard]] bool are_users_idle(const codec::resource_claim_object& claim, const Pods& pods,
                                  const IsIdle& is_idle) {
    const std::string& home = claim.metadata.key.name_space;
    const auto uses = [&](const codec::pod_object& pod) {
        return pod.phase != pod_phase::succeeded && pod.phase != pod_phase::failed &&
               std::ranges::any_of(pod.claims, [&](const codec::pod_claim& each) {
                   return each.claim == claim.metadata.key.name;
               });
    };
    return std::ranges::all_of(claim.reserved_for, [&](const codec::claim_consumer& each) {
        if (each.resource == "pods") {
            const auto pod = pods.find({home, each.name});
            return pod != pods.end() && pod->second.object.metadata.uid == each.uid &&
                   is_idle(pod->first);
        }
        if (each.resource != "podgroups")
            return false;
        for (auto pod = pods.lower_bound({home, {}});
             pod != pods.end() && pod->first.name_space == home; ++pod)
            if (pod->second.object.pod_group == each.name && uses(pod->second.object) &&
                !is_idle(pod->first))
                return false;
        return true;
    });
}

} // namespace kube
} // namespace v0_1
} // namespace muster
