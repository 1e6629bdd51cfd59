// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <muster/apis/core/claims/device_judge.hpp>
#include <muster/document/object_metadata.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/device_rule.hpp>
#include <muster/vocabulary/labels.hpp>
#include <muster/vocabulary/pod_terms.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Prefix of the key of the label that all pods of a shared ResourceClaim have. The name of the
/// claim (`unallocated_claim::shared_as`) follows.
inline constexpr std::string_view shared_claim_mark = "resource-claim:";

/// The value of the label that marks the users of a ReadWriteOncePod claim.
inline constexpr std::string_view lone_claim = "alone";

/// The effects of a pod's volumes and devices on its placement.
struct volume_effects {
    /// Why the pod cannot be placed at all, one entry per volume or device claim that is not ready.
    std::vector<std::string> waits;
    /// Requests for shares of devices that are malformed or not modelled. If there are any, the pod
    /// waits (`unsupported_constraint`).
    std::vector<std::string> unmodelled;
    /// Names of the volume claims in `waits`, and of the ResourceClaims in it.
    std::vector<std::string> missing;
    std::vector<std::string> missing_devices;
    /// Names of the volume claims in `missing` that do not exist.
    std::set<std::string> absent;
    /// Names of the unbound claims that are made with the pod, which does not exist yet.
    std::set<std::string> drafts;
    /// Names of the ResourceClaims that are to be allocated, to be reserved for the pod or to be
    /// looked at again before the pod is bound.
    std::vector<std::string> unreserved;
    /// Extended resources that devices serve on nodes which list none of them.
    std::set<std::string> served;
    /// The pod's entries whose ResourceClaims are still to be made from templates.
    std::vector<std::string> unmade_devices;
    /// A claim in `waits` must be replaced: binding or allocating it is impossible or does not
    /// help.
    bool unusable = false;
    /// The nodes that can use each volume, and a description of it: "claim data (volume pv-1)".
    std::vector<volume_reach> reach;
    std::vector<std::string> reach_of;
    /// By position in `reach`, the verb between the description and the place of a volume that is
    /// not chosen or does not exist yet: "can only be provisioned".
    std::map<std::size_t, std::string> verbs;
    /// Amounts that the pod uses on its node, by the kinds of `volume_plan::kinds`.
    std::map<std::string, std::int64_t> amounts;
    /// Of these kinds, those of which a node may come to have more: `constraints::growing_kinds`.
    std::set<std::string> growing;
    /// Of these kinds, those that may count a volume once for each of several pods.
    std::set<std::string> repeated;
    /// Terms with pods that share a volume or a ResourceClaim: in the same domain (`near`), or
    /// never in the same one (`apart`).
    std::vector<affinity_term> near;
    std::vector<affinity_term> apart;
    /// Labels by which the terms of other pods select this pod.
    label_set labels;
    /// The claims that were handed a supply which other gangs were handed too, by its label.
    std::map<std::string, std::set<std::string>> handed;
    /// Claims that are bound once the pod has a node, by storage class.
    std::map<std::string, std::vector<std::string>> unbound;
    /// What the pod demands of `volume_plan::judge`.
    device_demand devices = device_demand::none;
    /// The shares of GPUs that the pod requests are part of `devices`.
    bool has_shares = false;
    /// The pod has a node, and the kubelet of some node could reject its replacement, since it
    /// aligns the pod's requests to NUMA zones.
    bool is_aligned = false;

    /// Returns the verb between a description and its place: "is" if the volume exists.
    [[nodiscard]] std::string verb_at(std::size_t position) const {
        const auto found = verbs.find(position);
        return found == verbs.end() ? "is" : found->second;
    }
    void wait(const std::string& claim, const std::string& why) {
        waits.push_back("claim " + claim + " " + why);
        missing.push_back(claim);
    }
    /// Adds the effects of the pod's devices: `waits`, `unmodelled`, `missing_devices`,
    /// `unreserved`, `unmade_devices`, `unusable`, `reach`, `reach_of`, `verbs`, `amounts`,
    /// `growing`, `served`, `devices`, `has_shares`, `is_aligned`, `near`, `apart` and `labels`.
    void add_devices(const volume_effects& more) {
        waits.insert(waits.end(), more.waits.begin(), more.waits.end());
        unmodelled.insert(unmodelled.end(), more.unmodelled.begin(), more.unmodelled.end());
        missing_devices.insert(missing_devices.end(), more.missing_devices.begin(),
                               more.missing_devices.end());
        unreserved.insert(unreserved.end(), more.unreserved.begin(), more.unreserved.end());
        unmade_devices.insert(unmade_devices.end(), more.unmade_devices.begin(),
                              more.unmade_devices.end());
        unusable = unusable || more.unusable;
        for (const auto& [position, verb] : more.verbs)
            verbs[reach.size() + position] = verb;
        reach.insert(reach.end(), more.reach.begin(), more.reach.end());
        reach_of.insert(reach_of.end(), more.reach_of.begin(), more.reach_of.end());
        for (const auto& [kind, amount] : more.amounts)
            amounts[kind] += amount;
        growing.insert(more.growing.begin(), more.growing.end());
        if (more.devices != device_demand::none)
            devices = more.devices;
        has_shares = has_shares || more.has_shares;
        is_aligned = is_aligned || more.is_aligned;
        served.insert(more.served.begin(), more.served.end());
        near.insert(near.end(), more.near.begin(), more.near.end());
        apart.insert(apart.end(), more.apart.begin(), more.apart.end());
        for (const auto& [key, value] : more.labels)
            labels.set(key, value);
    }
    [[nodiscard]] friend bool operator==(const volume_effects&, const volume_effects&) = default;
};

/// The amounts that nodes have of a kind that is counted for volumes or devices, by node name.
/// Nodes that are not in `on` have `elsewhere`.
struct volume_supply {
    std::map<std::string, std::int64_t> on;
    std::int64_t elsewhere = 0;
    /// Amounts that `on` excludes, since volumes that several pods share use them; by node name.
    std::map<std::string, std::int64_t> set_aside;
    /// Of `set_aside`, the amounts that are kept for volumes of waiting pods, and not in use yet.
    std::map<std::string, std::int64_t> kept;
    /// Amounts in `on` that another node like this one does not bring along: free volumes, and
    /// storage of a zone or another group of nodes. By node name.
    std::map<std::string, std::int64_t> not_of_node;
    /// Why no node has any storage or device of the kind, or which devices are not counted; empty =
    /// there is nothing to say.
    std::string lack;

    [[nodiscard]] std::int64_t at(const std::string& node) const {
        const auto known = on.find(node);
        return known == on.end() ? elsewhere : known->second;
    }
    [[nodiscard]] friend bool operator==(const volume_supply&, const volume_supply&) = default;
};

/// The effects of volumes and devices on the pods and nodes of a cluster.
struct volume_plan {
    /// Pods with any effect.
    std::map<object_key, volume_effects> pods;
    std::map<std::string, volume_supply> kinds;
    /// The devices of nodes that do not add up, by node name, and what decides about them; null if
    /// no pod demands any.
    std::map<std::string, device_stock> stocks;
    std::shared_ptr<device_judge> judge;
    /// By device class, the devices that the judge's demands cannot have although their selectors
    /// match, and why.
    std::map<std::string, std::string> uncounted;
    /// By node name, the shared GPUs of the node, in the order of the judge: nodes with equal GPUs
    /// have one `device_stock`, and GPUs with other ids.
    std::map<std::string, std::vector<std::string>> gpu_ids;
    /// By node name and device, in the same order, the bus ids of the device's virtual functions.
    /// Only nodes that have some.
    std::map<std::string, std::vector<std::vector<std::string>>> function_ids;
    /// Nodes of which a register of shared GPUs cannot be read, and why, with the node's name. They
    /// may come to have more GPUs.
    std::map<std::string, std::string> unread_registers;
    /// Some node has GPUs that pods share; then `node_object::agent_amounts` count.
    bool shares_gpus = false;
    /// Labels that Muster adds to nodes in its own view, by the node's name.
    std::map<std::string, label_set> node_labels;
    /// Some pod term uses `volume_node_label`, `volume_cluster_label` or `volume_supply_label`.
    bool marks_nodes = false;
    /// Some choice was made by what nodes have left.
    bool hands_out = false;
    /// Volumes that count as usable everywhere since the input says nothing of claims, of volumes,
    /// or of classes, or since their claims are made with the pods and bound at once.
    std::size_t assumed_claims = 0;
    std::size_t assumed_volumes = 0;
    std::size_t assumed_classes = 0;
    std::size_t assumed_drafts = 0;

    [[nodiscard]] device_stock stock_of(const std::string& node) const {
        const auto known = stocks.find(node);
        return known == stocks.end() ? device_stock::none : known->second;
    }
    [[nodiscard]] const volume_effects* find(const object_key& pod) const {
        const auto known = pods.find(pod);
        return known == pods.end() ? nullptr : &known->second;
    }
};

} // namespace codec
} // namespace v0_1
} // namespace muster
