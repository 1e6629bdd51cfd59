// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/node.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// What is written of devices before a pod starts.
enum class device_writes : std::uint8_t {
    /// A plan of files: whatever the scheduler which starts the pods must write.
    all,
    /// A pod that is created during a simulation: the same, but claims are not allocated.
    extended_resources,
    /// A live cluster: Muster allocates claims that exist, and makes those for extended resources.
    claims,
};

/// The claim is reserved for the pod or, from Kubernetes 1.36 on, for its PodGroup. `group`: the
/// PodGroup by whose entry the pod uses the claim; null if it uses the claim by an entry of its
/// own.
[[nodiscard]] inline bool is_reserved_for(const resource_claim_object& claim, const pod_object& pod,
                                          const group_claims_object* group) {
    return std::ranges::any_of(claim.reserved_for, [&](const claim_consumer& each) {
        const auto is_of = [&](const object_metadata& user) {
            return each.uid.empty() || user.uid.empty() ? each.name == user.key.name
                                                        : each.uid == user.uid;
        };
        return each.resource == "pods"        ? is_of(pod.metadata)
               : each.resource == "podgroups" ? group && is_of(group->metadata)
                                              : false;
    });
}

/// True if pods on the node can use the allocated devices.
[[nodiscard]] inline bool reaches(const claim_status& allocation, const node_object& from) {
    if (!allocation.nodes)
        return true;
    node<1> view;
    view.name = from.metadata.key.name;
    view.labels = from.metadata.labels;
    return std::ranges::any_of(*allocation.nodes,
                               [&](const node_term& term) { return term.matches(view); });
}

/// True if the PodGroup has an entry whose fields all equal those of `entry` (KEP-5729).
/// O(entries).
[[nodiscard]] inline bool has_entry(const group_claims_object& group, const pod_claim& entry) {
    return std::ranges::any_of(group.claims, [&](const pod_claim& each) {
        return each.name == entry.name && each.from_template == entry.from_template &&
               (!entry.from_template.empty() || each.claim == entry.claim);
    });
}
/// Returns the PodGroup whose claim the pod uses by this entry; nullptr if the pod uses a claim of
/// its own. O(log groups).
[[nodiscard]] inline const group_claims_object*
find_group(const device_catalog& catalog, const pod_object& pod, const pod_claim& entry) {
    const auto group = catalog.groups.find({pod.metadata.key.name_space, pod.pod_group});
    return group != catalog.groups.end() && has_entry(*group->second, entry) ? group->second
                                                                             : nullptr;
}

namespace detail {

/// The maximum length of a claim's `status.reservedFor` (Kubernetes API limit).
inline constexpr std::size_t most_consumers = 256;

/// True if the PodGroup is the controller of the claim.
[[nodiscard]] inline bool controls(const group_claims_object& group,
                                   const resource_claim_object& claim) {
    return group.metadata.uid.empty() || claim.owner_uid.empty()
               ? claim.owner_name == group.metadata.key.name
               : claim.owner_uid == group.metadata.uid;
}
/// True if the pod is the controller of the claim.
[[nodiscard]] inline bool controls(const pod_object& pod, const resource_claim_object& claim) {
    if (claim.metadata.key.name_space != pod.metadata.key.name_space)
        return false;
    return pod.metadata.uid.empty() || claim.owner_uid.empty()
               ? claim.owner_name == pod.metadata.key.name
               : claim.owner_uid == pod.metadata.uid;
}

/// Returns why no allocation makes the claim usable by the pod; empty if one can.
[[nodiscard]] inline std::string why_unusable(const resource_claim_object& claim,
                                              const pod_claim& entry, const pod_object& pod,
                                              const group_claims_object* group) {
    if (!entry.from_template.empty() && group && !controls(*group, claim))
        return "was not made for PodGroup " + pod.pod_group +
               " (expected the PodGroup as its controller)";
    if (!entry.from_template.empty() && !group && !controls(pod, claim))
        return "was not made for the pod (expected the pod as its controller)";
    if (claim.metadata.terminating)
        return "is being deleted";
    if (claim.allocation && !claim.allocation->unsupported.empty())
        return "is allocated on nodes by a selector that is not understood (" +
               claim.allocation->unsupported.front() + ")";
    return {};
}

} // namespace detail

/// The consumers (resource and name) for which earlier waiting pods need a reservation, by claim.
using claim_reservations =
    std::map<const resource_claim_object*, std::set<std::pair<std::string, std::string>>>;

/// A claim of a waiting pod that must be allocated before the pod starts.
struct unallocated_claim {
    /// "claim NAME", or "template NAME" if the claim is still to be made.
    std::string name;
    /// The entry of the pod.
    std::string entry;
    const claim_spec* spec = nullptr;
    /// Null if the claim is still to be made from the template.
    const resource_claim_object* claim = nullptr;
    /// Name of a shared claim, equal for all pods that share it: "NAMESPACE/NAME", followed by
    /// " of PodGroup GROUP" if the claim is still to be made. Empty if the pod alone uses it.
    std::string shared_as = {};
};

/// Keeps a pod waiting for claims of which no allocation is planned, because of `why`.
inline void wait_for_allocation(const std::vector<unallocated_claim>& claims,
                                const std::string& why, volume_effects& to) {
    for (const unallocated_claim& each : claims) {
        to.waits.push_back("resource " + each.name + " " + why);
        if (each.claim)
            to.missing_devices.push_back(each.claim->metadata.key.name);
        else
            to.unmade_devices.push_back(each.entry);
    }
}

/// Adds the effects of one ResourceClaim of a waiting pod: the nodes of the claim's allocation, or
/// the reason why the pod must wait; and the reservation that the pod needs. A claim that must be
/// allocated is added to `unallocated`, once for each pod, if that is planned, and else is a
/// reason. `unallocated` has no claims of other pods. O(log claims + consumers + claims of the
/// pod).
inline void plan_claim(const device_catalog& catalog, const pod_claim& entry, const pod_object& pod,
                       device_writes writes, claim_reservations& reserved,
                       std::vector<unallocated_claim>& unallocated, volume_effects& to) {
    if (entry.needs_none)
        return;
    const bool allocates = writes != device_writes::extended_resources;
    const group_claims_object* const group = find_group(catalog, pod, entry);
    const auto wait = [&](const std::string& name, const std::string& why) {
        to.waits.push_back("resource claim " + name + " " + why);
        to.missing_devices.push_back(name);
    };
    if (entry.claim.empty() && group && writes != device_writes::claims)
        for (const pod_claim& each : group->claims)
            if (each.name == entry.name && !each.claim.empty()) {
                // The claim is made, and the pod's status does not name it yet.
                pod_claim named = entry;
                named.claim = each.claim;
                return plan_claim(catalog, named, pod, writes, reserved, unallocated, to);
            }
    if (entry.claim.empty()) {
        const auto found =
            catalog.templates.find({pod.metadata.key.name_space, entry.from_template});
        if (writes == device_writes::all && found != catalog.templates.end()) {
            unallocated.push_back(
                {"template " + entry.from_template, entry.name, &found->second->spec});
            if (group)
                unallocated.back().shared_as = pod.metadata.key.name_space + "/" + entry.name +
                                               " of PodGroup " + pod.pod_group;
            return;
        }
        to.waits.push_back("the resource claim for " + entry.name +
                           " is still to be made from template " + entry.from_template +
                           (writes == device_writes::all
                                ? ", which does not exist (expected a ResourceClaimTemplate of "
                                  "that name)"
                            : allocates ? ""
                                        : ", and allocation is not simulated"));
        to.unmade_devices.push_back(entry.name);
        return;
    }
    const auto found = catalog.claims.find({pod.metadata.key.name_space, entry.claim});
    if (found == catalog.claims.end())
        return wait(entry.claim, "does not exist (expected a ResourceClaim of that name)");
    const resource_claim_object& claim = *found->second;
    if (const std::string why = detail::why_unusable(claim, entry, pod, group); !why.empty()) {
        to.unusable = true;
        return wait(entry.claim, why);
    }
    const bool is_reserved = is_reserved_for(claim, pod, group);
    if (!is_reserved) {
        auto& others = reserved[&claim];
        const auto consumer = group ? std::pair(std::string("podgroups"), pod.pod_group)
                                    : std::pair(std::string("pods"), pod.metadata.key.name);
        if (const std::size_t before = others.size();
            !others.contains(consumer) &&
            claim.reserved_for.size() + before >= detail::most_consumers) {
            to.unusable = true;
            const std::string pods = before == 1 ? " waiting pod comes" : " waiting pods come";
            return wait(
                entry.claim,
                "is reserved for " + std::to_string(claim.reserved_for.size()) + " others" +
                    (before == 0 ? "" : ", and " + std::to_string(before) + pods + " first") +
                    " (expected less than " + std::to_string(detail::most_consumers) + ")");
        }
        others.insert(consumer);
    }
    if (!claim.allocation && allocates) {
        // Another entry of the pod may name the same claim.
        if (std::ranges::find(unallocated, &claim, &unallocated_claim::claim) != unallocated.end())
            return;
        to.unreserved.push_back(entry.claim);
        unallocated.push_back({"claim " + entry.claim, entry.name, &claim.spec, &claim,
                               claim.metadata.key.name_space + "/" + entry.claim});
        return;
    }
    if (!claim.allocation)
        return wait(entry.claim, "is not allocated, and allocation is not simulated");
    if (!claim.allocation->failed.empty())
        wait(entry.claim, "has a device that cannot be used: " + claim.allocation->failed);
    if (!is_reserved || !claim.allocation->pending.empty() || !claim.muster_pod.empty())
        to.unreserved.push_back(entry.claim);
    if (claim.allocation->nodes) {
        to.reach.push_back({*claim.allocation->nodes, true, true});
        to.reach_of.push_back("resource claim " + entry.claim);
    }
}

} // namespace codec
} // namespace v0_1
} // namespace muster
