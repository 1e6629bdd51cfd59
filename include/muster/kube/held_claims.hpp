// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include <muster/codec/device_objects.hpp>
#include <muster/codec/objects.hpp>
#include <muster/kube/live_devices.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// True if Muster allocated the claim for the pod, or is about to, and the pod alone uses it.
[[nodiscard]] inline bool is_held(const codec::pod_object& pod,
                                  const codec::resource_claim_object& claim) {
    return !claim.muster_pod.empty() && claim.muster_pod == pod.metadata.uid &&
           !claim.metadata.terminating &&
           std::ranges::all_of(claim.reserved_for, [&](const codec::claim_consumer& each) {
               return each.resource == "pods" && each.uid == pod.metadata.uid;
           });
}

/// True if a claim that is held for the pod meets the condition. O(claims of the pod · log claims).
template<class Meets>
[[nodiscard]] bool any_held(const codec::pod_object& pod, const live_devices& devices,
                            const Meets& meets) {
    const auto is_such = [&](const codec::resource_claim_object* claim) {
        return claim && is_held(pod, *claim) && meets(*claim);
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

} // namespace kube
} // namespace v0_1
} // namespace muster
