// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/claim_text.hpp>
#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/claims/extended_requests.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/kube/claim_allocation_json.hpp>
#include <muster/kube/held_claims.hpp>
#include <muster/kube/live_devices.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// The claims that pods need for their extended resources, on nodes where devices of a DeviceClass
/// serve these: one claim for each pod. Its name depends on the requests, so that a claim for other
/// requests is another one.
class extended_claims {
public:
    using object_key = codec::object_key;

    struct draft {
        codec::resource_claim_object claim;
        std::vector<codec::extended_mapping> mappings;
    };

    /// Some extended resource of the pod may be served by devices.
    [[nodiscard]] static bool is_served(const object_key& pod, const live_devices& devices) {
        const auto effects = devices.effects().find(pod);
        return effects != devices.effects().end() && !effects->second.served.empty();
    }

    void clear() {
        drafts_.clear();
        keys_.clear();
    }
    /// Plans the claims of pods. `wanted`: by pod, with its node's name in `node`. O(pods · log
    /// pods, and objects if a pod is served).
    template<class Wanted, class Pods, class NodeOf>
    void plan(const live_devices& devices, const Wanted& wanted, const Pods& pods,
              const NodeOf& node_of) {
        clear();
        std::optional<codec::device_catalog> catalog;
        for (const auto& [key, each] : wanted) {
            const auto pod = pods.find(key);
            const codec::node_object* const node = node_of(each.node);
            if (!is_served(key, devices) || pod == pods.end() || !node)
                continue;
            std::set<std::string> needed;
            for (const std::string& resource : devices.effects().at(key).served)
                if (const auto listed = node->allocatable.find(resource);
                    listed == node->allocatable.end() || listed->second == 0)
                    needed.insert(resource);
            if (needed.empty())
                continue;
            if (!catalog)
                catalog = devices.make_catalog();
            add(pod->second.object,
                codec::make_extended_claim(pod->second.object.extended, needed, *catalog));
        }
    }

    /// Returns what was planned for the pod, or nullptr.
    [[nodiscard]] const draft* find(const codec::pod_object& pod) const {
        const auto at = drafts_.find(pod.metadata.key);
        return at == drafts_.end() ? nullptr : &at->second;
    }
    [[nodiscard]] bool plans(const object_key& claim) const { return keys_.contains(claim); }

    /// Returns the names of the pod's claims, among them those for its extended resources: the one
    /// that its node needs, and the one that was made.
    [[nodiscard]] std::vector<std::string> claims_of(const codec::pod_object& pod,
                                                     const live_devices& devices) const {
        std::vector<std::string> names;
        for (const codec::pod_claim& each : pod.claims)
            if (!each.needs_none && !each.claim.empty())
                names.push_back(each.claim);
        const draft* const needed = find(pod);
        if (needed)
            names.push_back(needed->claim.metadata.key.name);
        if (const auto* const made = devices.extended_claim(pod.metadata.uid);
            made && (!needed || needed->claim.metadata.key != made->metadata.key))
            names.push_back(made->metadata.key.name);
        return names;
    }
    /// Returns the claim of this name, or what it will be if it is still to be made, or nullptr.
    [[nodiscard]] const codec::resource_claim_object* claim(const codec::pod_object& pod,
                                                            const std::string& name,
                                                            const live_devices& devices) const {
        const object_key key{pod.metadata.key.name_space, name};
        if (const auto* const known = devices.claim(key))
            return known;
        const draft* const needed = find(pod);
        return needed && needed->claim.metadata.key == key ? &needed->claim : nullptr;
    }
    /// True of a claim for extended resources that the pod does not need on its node.
    [[nodiscard]] bool is_of_no_use(const codec::pod_object& pod,
                                    const codec::resource_claim_object& claim,
                                    const live_devices& devices) const {
        if (!claim.is_extended || !is_held(pod, claim, devices))
            return false;
        const draft* const needed = find(pod);
        return !needed || needed->claim.metadata.key != claim.metadata.key;
    }
    /// Returns the name of the claim that the pod's status must get; empty = none, absent = the
    /// status is right as it is.
    [[nodiscard]] std::optional<std::string> name_to_tell(const codec::pod_object& pod,
                                                          const live_devices& devices) const {
        if (const draft* const needed = find(pod))
            return needed->claim.metadata.key.name == pod.extended_claim
                       ? std::nullopt
                       : std::optional(needed->claim.metadata.key.name);
        return !pod.extended_claim.empty() &&
                       !devices.claim({pod.metadata.key.name_space, pod.extended_claim})
                   ? std::optional(std::string())
                   : std::nullopt;
    }

private:
    /// The part of a pod's name that the name of its claim has.
    static constexpr std::size_t most_pod_name = 224;

    void add(const codec::pod_object& pod, codec::extended_claim asked) {
        const object_key& key = pod.metadata.key;
        draft& to = drafts_[key];
        const std::string text = pod.metadata.uid + "\n" + codec::claim_text(asked.asks);
        to.claim.metadata.key = {key.name_space, key.name.substr(0, most_pod_name) +
                                                     "-extended-resources-" +
                                                     detail::uuid_of(text).substr(0, 8)};
        to.claim.is_extended = true;
        to.claim.spec.asks = std::move(asked.asks);
        to.mappings = std::move(asked.mappings);
        keys_.insert(to.claim.metadata.key);
    }

    /// By pod.
    std::map<object_key, draft> drafts_;
    std::set<object_key> keys_;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
