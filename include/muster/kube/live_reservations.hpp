// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/kai/fractions/node_devices.hpp>
#include <muster/apis/kai/fractions/pod_shares.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/document/object_metadata.hpp>
#include <muster/vocabulary/pod.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// The GPU groups of KAI in a live cluster: the reservation pods that hold their GPUs, and the pods
/// that share these.
class live_reservations {
public:
    using object_key = codec::object_key;

    /// A pod that holds the GPU of a group.
    struct reservation {
        std::string uid;
        std::string node;
        /// Index or UUID of the GPU; empty until the agent writes it.
        std::string gpu;
        /// Name of the Muster scheduler that made the pod; empty if none did.
        std::string made_by;
        /// The pod ended, or is being deleted.
        bool is_ending = false;
    };
    struct group {
        std::map<object_key, reservation> reservations;
        /// Pods with a node.
        std::set<object_key> sharers;
    };

    /// Makes the pods of this namespace reservation pods. By default, there are no groups.
    void serve(std::string name_space) { name_space_ = std::move(name_space); }

    /// Call when a pod was added or changed. O(labels + log groups).
    void put(const codec::pod_object& pod) {
        if (name_space_.empty())
            return;
        lose(pod.metadata.key);
        std::vector<std::string> named = codec::kai_groups(pod.metadata);
        const bool has_ended = pod.phase == pod_phase::succeeded || pod.phase == pod_phase::failed;
        const bool is_reservation = pod.metadata.key.name_space == name_space_;
        // The Binding adds the labels: those of a pod without a node come from elsewhere.
        if (named.empty() || (!is_reservation && (has_ended || pod.node.empty())))
            return;
        for (const std::string& each : named) {
            group& to = groups_[each];
            if (!is_reservation) {
                to.sharers.insert(pod.metadata.key);
                continue;
            }
            const auto text = [&](std::string_view key) {
                const std::string* const found = pod.metadata.annotations.find(key);
                return found ? *found : std::string();
            };
            to.reservations.emplace(pod.metadata.key,
                                    reservation{pod.metadata.uid, pod.node,
                                                text(codec::kai_fractions::gpu_key),
                                                text(codec::kai_fractions::reserved_by),
                                                has_ended || pod.metadata.terminating});
        }
        named_.emplace(pod.metadata.key, std::move(named));
    }
    void lose(const object_key& key) {
        const auto known = named_.find(key);
        if (known == named_.end())
            return;
        for (const std::string& each : known->second) {
            const auto at = groups_.find(each);
            at->second.reservations.erase(key);
            at->second.sharers.erase(key);
            if (at->second.reservations.empty() && at->second.sharers.empty())
                groups_.erase(at);
        }
        named_.erase(known);
    }

    [[nodiscard]] const std::map<std::string, group>& groups() const noexcept { return groups_; }
    /// Returns the reservation of a group on the node, preferably one that is not ending; nullptr
    /// if there is none.
    [[nodiscard]] const reservation* find(const std::string& name, const std::string& node) const {
        const auto known = groups_.find(name);
        if (known == groups_.end())
            return nullptr;
        const reservation* found = nullptr;
        for (const auto& [key, each] : known->second.reservations)
            if (each.node == node && (!found || found->is_ending))
                found = &each;
        return found;
    }
    [[nodiscard]] bool has_sharers(const std::string& name) const {
        const auto known = groups_.find(name);
        return known != groups_.end() && !known->second.sharers.empty();
    }
    /// Returns why no pod can get the GPU that the reservation of the group names; empty if pods
    /// can get the GPU, or if the reservation names none yet. The kubelet can give the GPU of an
    /// ended reservation to another pod while the sharers still use the GPU. O(groups).
    [[nodiscard]] std::string gpu_fault(const std::string& name, const reservation& of) const {
        if (of.gpu.empty())
            return {};
        if (!codec::names_kai_gpu(of.gpu))
            return "names " + codec::in_quotes(of.gpu) + " (expected the index or UUID of a GPU)";
        for (const auto& [other, held] : groups_)
            for (const auto& [key, each] : held.reservations)
                if (other != name && each.node == of.node && each.gpu == of.gpu &&
                    (!each.is_ending || !held.sharers.empty()))
                    return "names GPU " + of.gpu + ", as reservation pod " + key.name_space + "/" +
                           key.name + " does" +
                           (each.is_ending ? ", which has ended and has sharers" : "");
        return {};
    }
    /// Returns the GPUs of the groups on the node, as the ConfigMaps have them; empty if some group
    /// has no GPU that pods can get. O(groups of the pod × groups).
    [[nodiscard]] std::string gpus_of(const std::vector<std::string>& groups,
                                      const std::string& node) const {
        std::string list;
        for (const std::string& name : groups) {
            const reservation* const found = find(name, node);
            if (!found || found->gpu.empty() || found->is_ending ||
                !gpu_fault(name, *found).empty())
                return {};
            list += (list.empty() ? "" : ",") + found->gpu;
        }
        return list;
    }

private:
    std::string name_space_;
    std::map<std::string, group> groups_;
    /// The groups that the labels of each pod name.
    std::map<object_key, std::vector<std::string>> named_;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
