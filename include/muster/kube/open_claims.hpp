// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include <muster/apis/core/claims/device_claims.hpp>
#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/input/membership.hpp>
#include <muster/kube/claim_choices.hpp>
#include <muster/kube/claim_sharers.hpp>
#include <muster/kube/device_choices.hpp>
#include <muster/kube/extended_claims.hpp>
#include <muster/kube/live_devices.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// Returns the claims of pods that are to start for which devices must be chosen, by gang.
/// `for_each_pod(use)` calls `use(pod, gang, node)` for these pods, all of which are in `sharers`.
/// `node_of(name)` returns nullptr if the node is not known. O(claims of the pods × pods that share
/// each).
template<class NodeOf, class ForEachPod>
[[nodiscard]] claim_choices::open_claims
open_claims_of(const live_devices& devices, const extended_claims& extended,
               const claim_sharers& sharers, const NodeOf& node_of,
               const ForEachPod& for_each_pod) {
    claim_choices::open_claims open;
    for_each_pod([&](const codec::pod_object& pod, const codec::group_key& gang,
                     const codec::node_object& node) {
        for (const std::string& name : extended.claims_of(pod, devices)) {
            const auto* const claim = extended.claim(pod, name, devices);
            if (!claim || claim->allocation || !sharers.leads(pod, *claim) ||
                extended.is_of_no_use(pod, *claim, devices))
                continue;
            unallocated_on& made = open[gang].emplace_back(unallocated_on{claim, &node, {}, {}});
            const auto own = sharers.nodes_of(claim->metadata.key, gang);
            for (const std::string& other : sharers.nodes_of(claim->metadata.key))
                if (const auto* const found = node_of(other);
                    found && other != node.metadata.key.name)
                    (own.contains(other) ? made.others : made.foreign).push_back(found);
        }
    });
    return open;
}

/// Returns the gangs with a pod on a node that does not reach the devices which are allocated to
/// one of its claims, or chosen for it. O(claims of the pods).
template<class ForEachPod>
[[nodiscard]] std::set<codec::group_key>
stranded_gangs(const live_devices& devices, const extended_claims& extended,
               const claim_choices& choices, const ForEachPod& for_each_pod) {
    std::set<codec::group_key> found;
    for_each_pod([&](const codec::pod_object& pod, const codec::group_key& gang,
                     const codec::node_object& node) {
        for (const std::string& name : extended.claims_of(pod, devices)) {
            const auto* const claim = extended.claim(pod, name, devices);
            if (!claim || extended.is_of_no_use(pod, *claim, devices))
                continue;
            const auto* const choice = choices.find(claim->metadata.key);
            if (claim->allocation ? !codec::reaches(*claim->allocation, node)
                                  : choice && !choice->choice.is_for(node.metadata.key.name))
                found.insert(gang);
        }
    });
    return found;
}

} // namespace kube
} // namespace v0_1
} // namespace muster
