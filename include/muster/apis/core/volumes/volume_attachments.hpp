// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/storage_catalog.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/apis/core/volumes/volume_user.hpp>
#include <muster/resource/storage_kinds.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/node.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Counts volumes of CSI drivers on nodes, up to what the CSINodes say (Kubernetes
/// NodeVolumeLimits). An attachment is an amount that a pod takes of its node. Of a volume that
/// waiting pods share, or that is attached already, one attachment is set aside on each node that
/// has some left, and its pods take none, unless the nodes have enough free attachments for each
/// pod of the gang to take one for each of its volumes. Volumes that are set aside get at most half
/// of a node's free attachments, so that they do not keep other pods off all nodes, or as many as
/// the pods of one gang share if that leaves enough for the volumes that one other pod has alone. A
/// VolumeAttachment counts as one attachment on its node, once with the pods that use the volume
/// there.
class volume_attachments {
public:
    /// Per pod, by driver, the handles of its volumes.
    using handles = std::map<std::size_t, std::map<std::string, std::set<std::string>>>;

    /// Returns a handle for the free volume that the claim will be bound to. A volume of another
    /// driver may come to serve the claim, so such a handle never proves `never`.
    [[nodiscard]] static std::string of_free_volume(const std::string& claim) {
        return std::string(free_volume) + claim;
    }
    /// Returns a handle for an inline CSI volume of a pod. kube-scheduler does not count these, so
    /// such a handle never proves `never`.
    [[nodiscard]] static std::string of_inline_volume(const object_key& pod,
                                                      const std::string& name) {
        return std::string(inline_volume) + pod.name_space + "/" + pod.name + "/" + name;
    }

    volume_attachments(const storage_catalog& catalog, const std::vector<node<1>>& nodes,
                       std::span<const volume_user> users, std::vector<volume_effects>& effects,
                       volume_plan& plan)
        : catalog_(&catalog), nodes_(&nodes), users_(users), effects_(&effects), plan_(&plan) {}

    /// O(volumes of pods × limited nodes) for shared volumes, else O((volumes of pods +
    /// VolumeAttachments) · log).
    /// `lone`: volumes that at most one pod uses at a time (ReadWriteOncePod).
    void count(const handles& attached, std::set<std::string> lone = {}) {
        lone_ = std::move(lone);
        std::set<std::string> asked;
        for (const auto& [user, drivers] : attached)
            if (pod_of(user).node.empty())
                for (const auto& [driver, of_pod] : drivers)
                    asked.insert(driver);
        for (const std::string& driver : asked)
            count_driver(driver, attached);
    }

private:
    struct volume_use {
        std::vector<std::size_t> waiting;
        /// By node. A node without pods has a VolumeAttachment of the volume.
        std::map<std::string, std::vector<std::size_t>> standing;
        std::size_t first_gang = 0;
    };

    static constexpr std::string_view free_volume = "free:";
    static constexpr std::string_view inline_volume = "inline:";

    /// The volume needs an attachment of the driver whatever comes.
    [[nodiscard]] static bool lasts(const std::string& handle) {
        return !handle.starts_with(free_volume) && !handle.starts_with(inline_volume);
    }

    [[nodiscard]] const pod_object& pod_of(std::size_t user) const { return *users_[user].pod; }

    void count_driver(const std::string& driver, const handles& attached) {
        volume_supply supply;
        supply.elsewhere = unlimited;
        for (const auto& [name, node] : catalog_->nodes)
            if (const auto known = node->drivers.find(driver);
                known != node->drivers.end() && known->second.most)
                supply.on.emplace(name, *known->second.most);
        if (supply.on.empty())
            return;
        std::map<std::string, volume_use> uses;
        for (const auto& [user, drivers] : attached)
            if (const auto own = drivers.find(driver); own != drivers.end())
                for (const std::string& handle : own->second)
                    note(uses[handle], user);
        note_attachments(driver, uses);
        free_ = supply.on;
        for (const auto& [handle, use] : uses)
            for (const auto& [name, pods] : use.standing)
                if (const auto known = free_.find(name); known != free_.end())
                    known->second = std::max<std::int64_t>(0, known->second - 1);
        repeats_.clear();
        share_out(uses);
        const std::string kind = storage_kinds::attachments_of(driver);
        std::vector<std::pair<std::size_t, const std::string*>> order;
        needed_.clear();
        at_least_.clear();
        for (const auto& [handle, use] : uses) {
            order.emplace_back(use.first_gang, &handle);
            needed_[use.first_gang] += needed(use);
            at_least_[use.first_gang] += least_needed(use);
        }
        std::ranges::stable_sort(order, {}, [](const auto& each) { return each.first; });
        bool lowered = false;
        std::set<std::size_t> takers;
        for (const auto& [gang, handle] : order) {
            const volume_use& use = uses.at(*handle);
            const bool apart = !use.waiting.empty() && !lone_.contains(*handle) &&
                               set_aside(driver, *handle, use, supply, lowered);
            for (const std::size_t user : apart ? std::vector<std::size_t>{} : use.waiting) {
                ++(*effects_)[user].amounts[kind];
                takers.insert(user);
                if (!lasts(*handle))
                    (*effects_)[user].growing.insert(kind);
                // More pods than one may count it on one node.
                if (use.waiting.size() > 1 || !use.standing.empty()) {
                    (*effects_)[user].growing.insert(kind);
                    (*effects_)[user].repeated.insert(kind);
                }
            }
            for (const auto& [name, pods] : use.standing)
                if (pods.size() == 1 && !apart) {
                    ++(*effects_)[pods.front()].amounts[kind];
                } else if (const auto known = supply.on.find(name); known != supply.on.end()) {
                    // It stays attached when a pod goes.
                    static_cast<void>(lower(supply, name));
                    lowered = true;
                }
        }
        for (const std::size_t user : lowered ? takers : std::set<std::size_t>{})
            (*effects_)[user].growing.insert(kind);
        for (const auto& [user, drivers] : attached)
            if (const auto own = drivers.find(driver);
                own != drivers.end() && pod_of(user).node.empty())
                keep_off_small_nodes(user, driver, own->second, uses);
        plan_->kinds.emplace(kind, std::move(supply));
    }

    /// A pod has the volume for itself: it is attached nowhere else until that pod goes.
    [[nodiscard]] bool is_in_lone_use(const std::string& handle, const volume_use& use) const {
        return lone_.contains(handle) && std::ranges::any_of(use.standing, [](const auto& each) {
                   return !each.second.empty();
               });
    }

    /// Determines how many attachments of each node may be set aside.
    void share_out(const std::map<std::string, volume_use>& uses) {
        std::map<std::size_t, std::int64_t>
            alone; // by pod, its volumes that no other one waits for
        std::map<std::size_t, std::int64_t> shared; // by gang
        for (const auto& [handle, use] : uses)
            if (use.waiting.size() == 1)
                ++alone[use.waiting.front()];
            else if (!use.waiting.empty())
                ++shared[use.first_gang];
        std::int64_t most_alone = 0;
        for (const auto& [user, count] : alone)
            most_alone = std::max(most_alone, count);
        may_set_aside_.clear();
        for (const auto& [name, count] : free_) {
            std::int64_t& most = may_set_aside_[name] = (count + 1) / 2;
            for (const auto& [gang, volumes] : shared)
                if (volumes <= count - most_alone)
                    most = std::max(most, volumes);
        }
        spare_ = may_set_aside_;
    }

    /// Restricts a pod to nodes that have all of its volumes attached, or attach them all when the
    /// nodes are empty, unless the pod's amount already does.
    void keep_off_small_nodes(std::size_t user, const std::string& driver,
                              const std::set<std::string>& of_pod,
                              const std::map<std::string, volume_use>& uses) {
        const auto count = static_cast<std::size_t>(std::ranges::count_if(of_pod, lasts));
        volume_effects& to = (*effects_)[user];
        const std::string kind = storage_kinds::attachments_of(driver);
        const auto needed = static_cast<std::int64_t>(count);
        const auto counted = to.amounts.find(kind);
        if (counted != to.amounts.end() && counted->second == needed && !to.growing.contains(kind))
            return;
        node_term large;
        large.name.push_back({"metadata.name", label_operator::not_in, {}});
        std::vector<std::string>& small = large.name.front().values;
        std::int64_t most = 0;
        for (const auto& [name, node] : catalog_->nodes) {
            const auto known = node->drivers.find(driver);
            if (known == node->drivers.end() || known->second.most.value_or(needed) >= needed ||
                are_attached(of_pod, std::string(name), uses))
                continue;
            small.emplace_back(name);
            most = std::max(most, *known->second.most);
        }
        if (small.empty())
            return;
        const bool everywhere = most == 0 && std::ranges::all_of(*nodes_, [&](const auto& each) {
                                    return std::ranges::binary_search(small, each.name);
                                });
        const std::string limit = most > 0     ? "attach at most " + std::to_string(most)
                                  : everywhere ? "attaches any"
                                               : "attach none";
        const std::string_view nodes = everywhere ? "no node " : "other nodes ";
        to.reach.push_back({{std::move(large)}, true});
        to.reach_of.push_back(std::to_string(count) +
                              (count == 1 ? " volume of CSI driver " : " volumes of CSI driver ") +
                              driver + ", of which " + std::string(nodes) + limit);
    }

    [[nodiscard]] static bool are_attached(const std::set<std::string>& volumes,
                                           const std::string& node,
                                           const std::map<std::string, volume_use>& uses) {
        return std::ranges::all_of(volumes, [&](const std::string& handle) {
            return uses.at(handle).standing.contains(node);
        });
    }

    void note(volume_use& use, std::size_t user) const {
        const std::string& node = pod_of(user).node;
        if (use.waiting.empty() && use.standing.empty())
            use.first_gang = users_[user].gang;
        use.first_gang = std::min(use.first_gang, users_[user].gang);
        if (node.empty())
            use.waiting.push_back(user);
        else
            use.standing[node].push_back(user);
    }

    void note_attachments(const std::string& driver, std::map<std::string, volume_use>& uses) {
        const auto known = catalog_->attachments.find(driver);
        if (known == catalog_->attachments.end())
            return;
        for (const attachment_object* const each : known->second) {
            const volume_object* const volume =
                storage_catalog::find(catalog_->volumes, each->volume);
            std::string handle = each->volume.empty() ? each->handle : each->volume;
            if (volume && !volume->handle.empty())
                handle = volume->handle;
            if (handle.empty())
                handle = "attachment:" + each->metadata.key.name;
            uses[handle].standing[each->node];
        }
    }

    /// False when each pod that waits takes an attachment instead.
    [[nodiscard]] bool set_aside(const std::string& driver, const std::string& handle,
                                 const volume_use& use, volume_supply& supply, bool& lowered) {
        if (use.waiting.size() < 2 ? may_repeat(use) : use.standing.empty() && suffices(use))
            return false;
        node_term reached;
        reached.name.push_back({"metadata.name", label_operator::not_in, {}});
        std::vector<std::string>& out_of_reach = reached.name.front().values;
        std::vector<std::string> chosen;
        bool usable = false;
        for (const node<1>& each : *nodes_) {
            const auto limited = free_.find(each.name);
            if (use.standing.contains(each.name) || limited == free_.end())
                usable = true;
            else if (spare_.at(each.name) > 0 && is_for_some(use, each))
                chosen.push_back(each.name);
            else
                out_of_reach.push_back(each.name);
        }
        if (!usable && chosen.empty())
            return false;
        needed_.at(use.first_gang) -= needed(use);
        at_least_.at(use.first_gang) -= least_needed(use);
        for (const std::string& name : chosen) {
            --spare_.at(name);
            if (lower(supply, name))
                ++supply.kept[name];
            lowered = true;
        }
        if (out_of_reach.empty())
            return true;
        for (const std::size_t user : use.waiting) {
            (*effects_)[user].reach.push_back({{reached}, false});
            (*effects_)[user].reach_of.push_back("volume " + handle + " of driver " + driver +
                                                 " (where it is or can be attached)");
        }
        return true;
    }

    /// True if no pod has the volume attached, and the only pod that waits may take one more
    /// attachment on each node that has the volume attached.
    [[nodiscard]] bool may_repeat(const volume_use& use) {
        const auto is_full = [&](const auto& attached) {
            const auto limited = free_.find(attached.first);
            return !attached.second.empty() ||
                   (limited != free_.end() && repeats_[attached.first] >= limited->second);
        };
        if (std::ranges::any_of(use.standing, is_full))
            return false;
        for (const auto& [name, pods] : use.standing)
            ++repeats_[name];
        return true;
    }
    /// Returns the attachments that the pods of a volume take unless it is set aside.
    [[nodiscard]] static std::int64_t needed(const volume_use& use) {
        return use.standing.empty() ? static_cast<std::int64_t>(use.waiting.size()) : 0;
    }
    /// Returns the attachments that a volume takes: of its pods, or one of each node.
    [[nodiscard]] std::int64_t least_needed(const volume_use& use) const {
        return std::min(needed(use), static_cast<std::int64_t>(nodes_->size()));
    }
    /// The nodes have an attachment for each pod that waits. They also have one for each of the
    /// gang's other volumes, or would have too few for these if this volume were set aside.
    [[nodiscard]] bool suffices(const volume_use& use) const {
        std::int64_t sum = 0;
        std::int64_t left = 0;
        std::int64_t settable = 0;
        for (const node<1>& each : *nodes_) {
            if (!is_for_some(use, each))
                continue;
            const auto limited = free_.find(each.name);
            if (limited == free_.end())
                return true;
            const std::int64_t spare = spare_.at(each.name);
            sum += limited->second;
            left += limited->second - (may_set_aside_.at(each.name) - spare);
            settable += spare > 0 ? 1 : 0;
        }
        return sum >= needed(use) &&
               (left >= needed_.at(use.first_gang) || settable == 0 ||
                left - settable < at_least_.at(use.first_gang) - least_needed(use));
    }
    /// Some of the waiting pods may be placed on the node, by its own selector and its volumes.
    [[nodiscard]] bool is_for_some(const volume_use& use, const node<1>& target) const {
        const auto admits = [&](const volume_reach& one) {
            return std::ranges::any_of(one.any_of,
                                       [&](const node_term& term) { return term.matches(target); });
        };
        return std::ranges::any_of(use.waiting, [&](std::size_t user) {
            return (failed_filters(pod_of(user).where, target) & node_filter_selector) == 0 &&
                   std::ranges::all_of((*effects_)[user].reach, admits);
        });
    }
    /// Sets aside one attachment of a node with a limit. Returns false if it has none left.
    [[nodiscard]] static bool lower(volume_supply& of, const std::string& node) {
        std::int64_t& count = of.on.at(node);
        if (count == 0)
            return false;
        --count;
        ++of.set_aside[node];
        return true;
    }

    /// More than any node attaches.
    static constexpr std::int64_t unlimited = std::int64_t{1} << 20;

    const storage_catalog* catalog_;
    const std::vector<node<1>>* nodes_;
    std::span<const volume_user> users_;
    std::vector<volume_effects>* effects_;
    volume_plan* plan_;
    std::set<std::string> lone_;
    /// Per node with a limit: free attachments, how many of them may be set aside, and how many of
    /// these are not yet.
    std::map<std::string, std::int64_t> free_;
    std::map<std::string, std::int64_t> may_set_aside_;
    std::map<std::string, std::int64_t> spare_;
    /// Per node, the volumes attached to it of which a pod may take a second attachment there.
    std::map<std::string, std::int64_t> repeats_;
    /// Per gang, the attachments that its pods take unless further volumes are set aside.
    std::map<std::size_t, std::int64_t> needed_;
    /// The same if each of them is set aside where that takes fewer.
    std::map<std::size_t, std::int64_t> at_least_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
