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
#include <muster/apis/core/volumes/claim_effects.hpp>
#include <muster/apis/core/volumes/storage_catalog.hpp>
#include <muster/apis/core/volumes/volume_attachments.hpp>
#include <muster/apis/core/volumes/volume_matching.hpp>
#include <muster/apis/core/volumes/volume_places.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/apis/core/volumes/volume_user.hpp>
#include <muster/apis/core/volumes/volume_zones.hpp>
#include <muster/document/diagnostic.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Makes a volume_plan: turns the volumes of pods into node terms, amounts and terms between pods,
/// which the core handles (rules of kube-scheduler 1.37: VolumeBinding, VolumeZone,
/// VolumeRestrictions, NodeVolumeLimits).
class volume_planner {
public:
    /// All outlive the planner. `gangs` are in the order in which they are handed volumes;
    /// `standing` are pods that hold room on nodes.
    volume_planner(const storage_catalog& catalog, std::span<const node_object* const> nodes,
                   std::span<const volume_user> users, std::span<const volume_gang> gangs,
                   std::vector<const pod_object*> standing = {})
        : catalog_(&catalog), users_(users), gangs_(gangs), effects_(users.size()) {
        nodes_.seen.reserve(nodes.size());
        for (const node_object* const each : nodes) {
            auto& made = nodes_.seen.emplace_back();
            made.name = each->metadata.key.name;
            made.labels = each->metadata.labels;
            made.taints = each->taints;
            nodes_.objects.push_back(each);
        }
        nodes_.standing = std::move(standing);
    }

    /// Returns the plan. O(volumes of pods · log objects + free volumes × nodes + waiting claims ×
    /// free volumes).
    [[nodiscard]] volume_plan plan() && {
        for (std::size_t at = 0; at < users_.size(); ++at)
            if (is_there(*users_[at].pod))
                for (const pod_volume& each : users_[at].pod->volumes)
                    look_at(at, each);
        for (auto& each : nodes_.seen)
            if (const auto marks = plan_.node_labels.find(each.name);
                marks != plan_.node_labels.end())
                for (const auto& [key, value] : marks->second)
                    each.labels.set(key, value);
        std::map<std::string_view, std::vector<volume_demand>> served;
        for (auto& [storage_class, demands] : demands_) {
            std::vector<volume_demand>& all = served[storage_class];
            for (auto& [key, demand] : demands)
                all.push_back(std::move(demand));
            claim_effects out(nodes_, users_, gangs_, effects_, stuck_, plan_);
            volume_matcher(*catalog_, storage_class, out).refuse(all);
        }
        for (auto& [storage_class, demands] : served) {
            claim_effects out(nodes_, users_, gangs_, effects_, stuck_, plan_);
            volume_matcher(*catalog_, storage_class, out).match(std::move(demands));
        }
        keep_apart();
        volume_attachments(*catalog_, nodes_.seen, users_, effects_, plan_)
            .count(attached_, lone_volumes_);
        for (std::size_t at = 0; at < users_.size(); ++at)
            if (!(effects_[at] == volume_effects{}))
                plan_.pods.emplace(users_[at].pod->metadata.key, std::move(effects_[at]));
        for (const auto& [key, each] : plan_.pods)
            plan_.marks_nodes |= !each.apart.empty();
        return std::move(plan_);
    }

private:
    static bool is_there(const pod_object& pod) {
        return pod.phase != pod_phase::succeeded && pod.phase != pod_phase::failed;
    }
    static bool waits(const pod_object& pod) { return pod.node.empty(); }

    void look_at(std::size_t at, const pod_volume& volume) {
        const pod_object& pod = *users_[at].pod;
        switch (volume.from) {
        case pod_volume::source::csi:
            attached_[at][volume.driver].insert(
                volume_attachments::of_inline_volume(pod.metadata.key, volume.name));
            require_driver(at, volume.driver, "volume " + volume.name);
            return;
        case pod_volume::source::disk:
            attached_[at][volume.driver].insert(volume.handle);
            require_driver(at, volume.driver, "volume " + volume.name);
            if (volume.exclusive)
                disks_[volume.driver + "/" + volume.handle].push_back({at, volume.read_only});
            return;
        case pod_volume::source::claim:
        case pod_volume::source::ephemeral:
            break;
        }
        const object_key key{pod.metadata.key.name_space, volume.claim};
        const claim_object* const claim = storage_catalog::find(catalog_->claims, key);
        const bool drafted = volume.from == pod_volume::source::ephemeral;
        if (claim)
            return look_at_claim(at, volume, *claim);
        const storage_class_object* of_class = nullptr;
        if (drafted)
            of_class = storage_catalog::find(catalog_->classes, catalog_->class_of(volume.draft));
        // The claim of a pod that does not exist yet is made with it.
        if (drafted && pod.metadata.uid.empty() && waits(pod)) {
            if (of_class && !of_class->waits_for_consumer)
                return assume(at, plan_.assumed_drafts);
            ask(at, key, volume.draft, "", catalog_->knows_classes);
            if (!effects_[at].missing.empty() || !effects_[at].unbound.empty())
                effects_[at].drafts.insert(volume.claim);
            return;
        }
        if (!catalog_->knows_claims) {
            // A claim whose class does not exist never gets a volume.
            if (volume.draft.storage_class && !of_class && catalog_->knows_classes)
                return ask(at, key, volume.draft, "", true);
            return assume(at, plan_.assumed_claims);
        }
        wait(at, volume.claim,
             drafted ? "is still to be made for the pod"
                     : "does not exist (expected a "
                       "PersistentVolumeClaim of that name)");
        if (waits(pod))
            effects_[at].absent.insert(volume.claim);
    }

    void look_at_claim(std::size_t at, const pod_volume& volume, const claim_object& claim) {
        const pod_object& pod = *users_[at].pod;
        const std::string& name = claim.metadata.key.name;
        if (!claim.unread.empty())
            return wait_unusable(at, name, "cannot be read: " + claim.unread);
        if (volume.from == pod_volume::source::ephemeral) {
            const bool own = pod.metadata.uid.empty() || claim.owner_uid.empty()
                                 ? claim.owner_name == pod.metadata.key.name
                                 : claim.owner_uid == pod.metadata.uid;
            if (!own)
                return wait_unusable(at, name,
                                     "was not made for the pod (expected the pod as its "
                                     "controller): delete the claim, so that it is made anew");
        }
        if ((claim.asks.access & read_write_once_pod) != 0)
            note_lone(claim.metadata.key, at);
        if (claim.lost)
            return wait_unusable(at, name,
                                 "has lost its volume" +
                                     (claim.asks.volume.empty() ? "" : " " + claim.asks.volume) +
                                     " (phase Lost): replace the claim");
        if (claim.metadata.terminating)
            return wait_unusable(at, name, "is being deleted: create it again once it is gone");
        if (claim.bound)
            return look_at_bound(at, claim);
        if (!claim.selected_node.empty()) {
            node_term on;
            on.name.push_back({"metadata.name", label_operator::in, {claim.selected_node}});
            effects_[at].verbs.emplace(effects_[at].reach.size(), "can only be provisioned");
            effects_[at].reach.push_back({{std::move(on)}, false});
            effects_[at].reach_of.push_back("claim " + name + " (being provisioned for node " +
                                            claim.selected_node + ")");
        }
        if (claim.is_draft && waits(pod)) {
            const auto* const of_class =
                storage_catalog::find(catalog_->classes, catalog_->class_of(claim.asks));
            if (of_class && !of_class->waits_for_consumer)
                return assume(at, plan_.assumed_drafts);
        }
        const bool is_new = claim.metadata.uid.empty() && !claim.metadata.created;
        ask(at, claim.metadata.key, claim.asks, claim.metadata.uid,
            catalog_->knows_classes || catalog_->knows_volumes || !is_new,
            !claim.selected_node.empty());
    }

    void note_lone(const object_key& claim, std::size_t at) {
        std::vector<std::size_t>& users = lone_claims_[claim];
        if (users.empty() || users.back() != at)
            users.push_back(at);
    }

    void look_at_bound(std::size_t at, const claim_object& claim) {
        const std::string& name = claim.metadata.key.name;
        const volume_object* const volume =
            storage_catalog::find(catalog_->volumes, claim.asks.volume);
        if (!volume) {
            if (!catalog_->knows_volumes)
                return assume(at, plan_.assumed_volumes);
            return wait_unusable(at, name,
                                 "is bound to volume " + claim.asks.volume +
                                     ", which does not exist (expected a PersistentVolume of that "
                                     "name)");
        }
        if (!volume->unread.empty())
            return wait_unusable(at, name,
                                 "is bound to volume " + claim.asks.volume +
                                     ", which cannot be read: " + volume->unread);
        const std::string what = "claim " + name + " (volume " + claim.asks.volume + ")";
        if (!volume->driver.empty()) {
            const std::string& handle =
                volume->handle.empty() ? volume->metadata.key.name : volume->handle;
            attached_[at][volume->driver].insert(handle);
            if ((claim.asks.access & read_write_once_pod) != 0)
                lone_volumes_.insert(handle);
            require_driver(at, volume->driver, what);
        }
        if (!waits(*users_[at].pod))
            return;
        if (!volume->unsupported.empty())
            return wait_unusable(at, name,
                                 "is bound to volume " + claim.asks.volume +
                                     ", of which a part is not understood (" +
                                     volume->unsupported.front() + ")");
        if (volume->nodes)
            reach(at, *volume->nodes, what);
        if (auto zones = zone_terms(*volume))
            reach(at, std::move(*zones), what);
    }

    /// Handles a claim that is not bound yet.
    void ask(std::size_t at, const object_key& key, const claim_request& asks,
             const std::string& uid, bool must_know_class, bool is_selected = false) {
        const std::string storage_class(catalog_->class_of(asks));
        const storage_class_object* const known =
            storage_catalog::find(catalog_->classes, std::string_view(storage_class));
        const std::string name = key.name_space + "/" + key.name;
        if (known && known->provisions())
            attached_[at][known->provisioner].insert("claim:" + name);
        else if (const std::string driver = driver_of_free_volumes(key, uid, asks, storage_class);
                 !driver.empty())
            attached_[at][driver].insert(volume_attachments::of_free_volume(name));
        if (!waits(*users_[at].pod))
            return;
        if (!known && !must_know_class)
            return assume(at, plan_.assumed_classes);
        if (!asks.volume.empty())
            return wait_for_volume(at, key, uid, asks.volume);
        if (!known)
            return wait(at, key.name,
                        storage_class.empty()
                            ? "is not bound, and has no storage class"
                            : "is not bound, and there is no StorageClass " + storage_class);
        if (!known->waits_for_consumer)
            return wait(at, key.name,
                        "is not bound (volumes of class " + storage_class +
                            " are bound before pods are placed)");
        if (known->provisions())
            require_driver(at, known->provisioner, "claim " + key.name);
        effects_[at].unbound[storage_class].push_back(key.name);
        volume_demand& demand = demands_[storage_class][key];
        if (demand.users.empty()) {
            demand.key = key;
            demand.asks = &asks;
            demand.uid = uid;
            demand.is_selected = is_selected;
            demand.gang = users_[at].gang;
        }
        demand.gang = std::min(demand.gang, users_[at].gang);
        if (demand.users.empty() || demand.users.back() != at)
            demand.users.push_back(at);
    }

    /// Returns the CSI driver of the free volumes that suit the claim; empty if there are none, or
    /// not all have the same. O(volumes) for the first such request.
    [[nodiscard]] std::string driver_of_free_volumes(const object_key& claim,
                                                     const std::string& uid,
                                                     const claim_request& asks,
                                                     const std::string& storage_class) {
        const volume_demand own{claim, &asks, uid, {}, {}, 0};
        const auto [found, fresh] = drivers_.try_emplace({storage_class, asks});
        if (fresh) {
            for (const auto& [name, volume] : catalog_->volumes) {
                if (volume->claim)
                    kept_.try_emplace(volume->claim->key, volume);
                else if (satisfies(*volume, own, storage_class))
                    found->second.insert(volume->driver);
            }
        }
        if (const auto kept = kept_.find(claim);
            kept != kept_.end() && satisfies(*kept->second, own, storage_class))
            return kept->second->driver;
        return found->second.size() == 1 ? *found->second.begin() : "";
    }

    /// Handles a claim that is not bound yet to the volume that it names.
    void wait_for_volume(std::size_t at, const object_key& key, const std::string& uid,
                         const std::string& name) {
        const volume_object* const volume = storage_catalog::find(catalog_->volumes, name);
        if (!volume && catalog_->knows_volumes)
            return wait_unusable(at, key.name,
                                 "is not bound to volume " + name +
                                     ", which does not exist (expected a PersistentVolume of that "
                                     "name)");
        const volume_demand own{key, nullptr, uid, {}, {}, 0};
        if (volume && volume->claim && !is_kept_for(*volume, own))
            return wait_unusable(at, key.name,
                                 "is not bound to volume " + name + ", which is kept for claim " +
                                     volume->claim->key.name_space + "/" + volume->claim->key.name);
        wait(at, key.name, "is not bound to volume " + name + " yet");
    }

    void wait(std::size_t at, const std::string& claim, const std::string& why) {
        if (waits(*users_[at].pod))
            effects_[at].wait(claim, why);
    }
    /// Binding the claim is impossible or does not help.
    void wait_unusable(std::size_t at, const std::string& claim, const std::string& why) {
        wait(at, claim, why);
        effects_[at].unusable = waits(*users_[at].pod);
    }
    void assume(std::size_t at, std::size_t& count) {
        if (waits(*users_[at].pod))
            ++count;
    }
    void reach(std::size_t at, std::vector<node_term> terms, const std::string& what) {
        effects_[at].reach.push_back({std::move(terms), true});
        effects_[at].reach_of.push_back(what);
    }

    /// Restricts the pod to nodes that have the CSI driver, if the driver requires that.
    void require_driver(std::size_t at, const std::string& driver, const std::string& what) {
        const csi_driver_object* const known = storage_catalog::find(catalog_->drivers, driver);
        if (!known || !known->required_on_node || !waits(*users_[at].pod))
            return;
        const std::string mark = "muster.dev/csi-driver:" + driver;
        if (marked_drivers_.insert(driver).second)
            for (const auto& [name, node] : catalog_->nodes)
                if (node->drivers.contains(driver))
                    plan_.node_labels[std::string(name)].set(mark, "here");
        node_term has;
        has.labels.requirements.push_back({mark, label_operator::exists, {}});
        reach(at, {std::move(has)}, what + ", which needs driver " + driver + " on the node");
    }

    // ---- pods that share a volume --------------------------------------------------------------

    static affinity_term apart_from(std::string mark, std::string_view topology) {
        affinity_term term;
        term.pods.labels.requirements.push_back({std::move(mark), label_operator::exists, {}});
        term.topology = topology;
        term.of_volume = true;
        return term;
    }

    void keep_apart() {
        for (const auto& [claim, users] : lone_claims_) {
            if (users.size() < 2)
                continue;
            const std::string mark = "claim:" + claim.name_space + "/" + claim.name;
            for (const std::size_t at : users) {
                effects_[at].labels.set(mark, std::string(lone_claim));
                effects_[at].apart.push_back(apart_from(mark, volume_cluster_label));
            }
        }
        for (const auto& [disk, users] : disks_) {
            if (users.size() < 2)
                continue;
            for (const auto& [at, read_only] : users) {
                effects_[at].labels.set("disk:" + disk, "used");
                if (!read_only)
                    effects_[at].labels.set("disk-writer:" + disk, "used");
                effects_[at].apart.push_back(
                    apart_from((read_only ? "disk-writer:" : "disk:") + disk, volume_node_label));
            }
        }
    }

    const storage_catalog* catalog_;
    std::span<const volume_user> users_;
    /// Handles of volumes with ReadWriteOncePod claims.
    std::set<std::string> lone_volumes_;
    /// Pods that reach nothing for one of their claims.
    std::set<std::size_t> stuck_;
    std::span<const volume_gang> gangs_;
    std::vector<volume_effects> effects_;
    volume_nodes nodes_;
    volume_plan plan_;
    std::map<std::string, std::map<object_key, volume_demand>> demands_;
    volume_attachments::handles attached_;
    std::map<object_key, std::vector<std::size_t>> lone_claims_;
    std::map<std::string, std::vector<std::pair<std::size_t, bool>>> disks_;
    std::set<std::string> marked_drivers_;
    /// Per storage class without a provisioner and request, the drivers of the free volumes that
    /// suit.
    std::map<std::pair<std::string, claim_request>, std::set<std::string>> drivers_;
    /// Volumes that name a claim, by that claim.
    std::map<object_key, const volume_object*> kept_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
