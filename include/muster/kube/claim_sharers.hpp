// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <muster/apis/core/claims/device_claims.hpp>
#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/input/membership.hpp>
#include <muster/kube/live_devices.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// The pods that are about to start, by the ResourceClaims that they use. A claim is allocated once
/// for all of them: the order of one pod makes the writes, and reserves the claim for all pods.
class claim_sharers {
public:
    using object_key = codec::object_key;

    void clear() { users_.clear(); }
    /// Adds a pod that is to start on the node, in the order of keys. The pod must exist until the
    /// next clear(). O(claims · log claims).
    void add(const codec::pod_object& pod, const std::string& node, const live_devices& devices,
             const codec::group_key& gang = {}) {
        for (const codec::pod_claim& each : pod.claims)
            if (!each.needs_none && !each.claim.empty())
                users_[{pod.metadata.key.name_space, each.claim}].push_back(
                    {&pod, consumer_of(pod, each, devices), node, gang});
    }

    /// True if a pod that is about to start uses the claim. O(log claims).
    [[nodiscard]] bool uses(const object_key& claim) const { return users_.contains(claim); }

    /// Returns the nodes on which pods are about to start with the claim. O(pods that share it).
    [[nodiscard]] std::set<std::string> nodes_of(const object_key& claim) const {
        std::set<std::string> nodes;
        if (const auto at = users_.find(claim); at != users_.end())
            for (const user& each : at->second)
                nodes.insert(each.node);
        return nodes;
    }

    /// Returns those of the nodes on which pods of the gang are about to start with the claim.
    /// O(pods that share it).
    [[nodiscard]] std::set<std::string> nodes_of(const object_key& claim,
                                                 const codec::group_key& gang) const {
        std::set<std::string> nodes;
        if (const auto at = users_.find(claim); at != users_.end())
            for (const user& each : at->second)
                if (each.gang == gang)
                    nodes.insert(each.node);
        return nodes;
    }
    struct place {
        std::string node;
        codec::group_key gang;
    };
    /// Returns where the pod is to start whose order allocates the claim, see leads(). O(pods that
    /// share it).
    [[nodiscard]] std::optional<place>
    place_of_leader(const codec::resource_claim_object& claim) const {
        if (const auto at = users_.find(claim.metadata.key); at != users_.end())
            for (const user& each : at->second)
                if (leads(*each.pod, claim))
                    return place{each.node, each.gang};
        return std::nullopt;
    }

    /// True if the order of this pod allocates the claim. It is the pod that the annotation of the
    /// claim names or, without such a pod, the first one. O(pods that share the claim).
    [[nodiscard]] bool leads(const codec::pod_object& pod,
                             const codec::resource_claim_object& claim) const {
        const auto at = users_.find(claim.metadata.key);
        if (at == users_.end())
            return true;
        const auto marked = std::ranges::find_if(at->second, [&](const user& each) {
            return each.pod->metadata.uid == claim.muster_pod;
        });
        const user& first = marked == at->second.end() ? at->second.front() : *marked;
        return first.is(pod);
    }

    /// Returns the consumers that the claim is reserved for when it is allocated for this pod: the
    /// pods that are to start on nodes for which `reaches(node)` holds, or their PodGroups; at most
    /// codec::detail::most_consumers.
    template<class Reaches>
    [[nodiscard]] std::vector<codec::claim_consumer>
    consumers(const codec::pod_object& pod, const codec::resource_claim_object& claim,
              const Reaches& reaches) const {
        const auto at = users_.find(claim.metadata.key);
        if (at == users_.end())
            return {of_pod(pod)};
        std::vector<codec::claim_consumer> all;
        for (const user& each : at->second)
            if (reaches(each.node) && all.size() < codec::detail::most_consumers &&
                std::ranges::find(all, each.consumer.uid, &codec::claim_consumer::uid) == all.end())
                all.push_back(each.consumer);
        return all;
    }
    /// Returns the consumer of the claim by which this pod uses it: the pod, or its PodGroup.
    [[nodiscard]] codec::claim_consumer consumer(const codec::pod_object& pod,
                                                 const codec::resource_claim_object& claim) const {
        if (const auto at = users_.find(claim.metadata.key); at != users_.end())
            for (const user& each : at->second)
                if (each.is(pod))
                    return each.consumer;
        return of_pod(pod);
    }

private:
    struct user {
        const codec::pod_object* pod = nullptr;
        codec::claim_consumer consumer;
        std::string node;
        codec::group_key gang;

        [[nodiscard]] bool is(const codec::pod_object& other) const {
            return pod->metadata.key == other.metadata.key;
        }
    };

    [[nodiscard]] static codec::claim_consumer of_pod(const codec::pod_object& pod) {
        return {"pods", pod.metadata.key.name, pod.metadata.uid};
    }
    [[nodiscard]] static codec::claim_consumer consumer_of(const codec::pod_object& pod,
                                                           const codec::pod_claim& entry,
                                                           const live_devices& devices) {
        const codec::group_claims_object* const group = devices.group_of(pod, entry);
        return group ? codec::claim_consumer{"podgroups", group->metadata.key.name,
                                             group->metadata.uid}
                     : of_pod(pod);
    }

    std::map<object_key, std::vector<user>> users_;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
