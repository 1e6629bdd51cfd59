// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/serve/api_store.hpp>
#include <muster/serve/claim_checks.hpp>
#include <muster/serve/controller_client.hpp>
#include <muster/serve/storage_objects.hpp>
#include <muster/serve/volume_topology.hpp>

namespace muster {
inline namespace v0_1 {
namespace testing {
namespace api_server {

/// The controllers of claims and volumes of a server, and a provisioner for every class that names
/// one. The controllers create the claims of ephemeral volumes, set the default class, bind each
/// claim to a volume that is reserved for the claim, or to the smallest free volume, and write
/// phases and events as kube-controller-manager does. A claim whose class has WaitForFirstConsumer
/// is provisioned for the node in the annotation `volume.kubernetes.io/selected-node`. Provisioned
/// volumes have no contents, and use no capacity of CSIStorageCapacities.
class volume_controller {
public:
    explicit volume_controller(api_store& of)
        : store_(&of), client_(of, "persistentvolume-controller") {}

    /// If false, claims are bound but no volumes are provisioned (default: true).
    bool provisions = true;

    /// Handles the changes since the last call. Returns true if it wrote anything.
    /// O(claims × volumes + pods) if a claim, a volume, a class or a pod with claims changed, else
    /// O(changes).
    bool step() {
        const std::uint64_t before = store_->objects().version();
        // A write that is refused again and again must not occupy the caller.
        for (int round = 0; round < 8 && see_changes(); ++round)
            reconcile();
        return store_->objects().version() != before;
    }

private:
    using objects = object_store::objects;

    [[nodiscard]] std::size_t kind(std::string_view plural, std::string_view group = {}) const {
        return store_->kinds().at(group, "v1", plural);
    }
    [[nodiscard]] const objects& all(std::string_view plural, std::string_view group = {}) const {
        return store_->objects().all(kind(plural, group));
    }
    [[nodiscard]] shared_object find_class(std::string_view name) const {
        return store_->objects().find(kind("storageclasses", "storage.k8s.io"),
                                      {"", std::string(name)});
    }

    /// True if something changed that this controller acts on.
    [[nodiscard]] bool see_changes() {
        const object_store& from = store_->objects();
        bool changed = seen_ < from.forgotten();
        if (changed)
            seen_ = from.version();
        for (std::size_t at = from.first_after(seen_); at < from.history().size(); ++at) {
            const change& each = from.history()[at];
            seen_ = each.version;
            const kind_info& of = store_->kinds()[each.kind];
            const bool is_pod = of.group.empty() && of.plural == "pods";
            changed = changed || is_claim(of) || is_volume(of) || is_storage_class(of) ||
                      (is_pod && !claims_of(*each.object).empty());
        }
        return changed;
    }

    void reconcile() {
        users_.clear();
        in_use_.clear();
        // Writes replace objects, so the lists are copied.
        const objects pods = all("pods");
        for (const auto& [key, pod] : pods) {
            const auto phase = text_at(*pod, {"status", "phase"});
            const bool has_ended = phase == "Succeeded" || phase == "Failed";
            const bool has_node = !text_at(*pod, {"spec", "nodeName"}).empty();
            for (const std::string& claim : claims_of(*pod)) {
                if (!has_ended)
                    users_[{key.first, claim}].push_back(key.second);
                if (has_node && !is_shut_down(*pod))
                    in_use_.insert({key.first, claim});
            }
            if (!has_ended)
                create_ephemeral_claims(key, *pod);
        }
        const objects volumes = all("persistentvolumes");
        for (const auto& [key, volume] : volumes)
            sync_volume(key, *volume);
        const objects claims = all("persistentvolumeclaims");
        for (const auto& [key, claim] : claims)
            sync_claim(key, *claim);
    }

    // ---- claims of pods ----------------------------------------------------------------------

    /// True if only finalizers keep the pod: its kubelet is done with the volumes of the pod.
    [[nodiscard]] static bool is_shut_down(const json::object& pod) {
        return value_at(pod, {"metadata", "deletionTimestamp"}) &&
               integer_at(pod, {"metadata", "deletionGracePeriodSeconds"}) == 0;
    }

    /// Returns the names of the claims that a pod mounts.
    [[nodiscard]] static std::vector<std::string> claims_of(const json::object& pod) {
        std::vector<std::string> names;
        if (const json::array* const volumes = array_at(pod, {"spec", "volumes"}))
            for (const json::value& each : *volumes) {
                const json::object* const one = each.if_object();
                if (!one)
                    continue;
                if (const auto name = text_at(*one, {"persistentVolumeClaim", "claimName"});
                    !name.empty())
                    names.emplace_back(name);
                else if (object_at(*one, {"ephemeral", "volumeClaimTemplate"}))
                    names.push_back(std::string(text_at(pod, {"metadata", "name"})) + "-" +
                                    std::string(text_at(*one, {"name"})));
            }
        return names;
    }

    void create_ephemeral_claims(const object_key& key, const json::object& pod) {
        const json::array* const volumes = array_at(pod, {"spec", "volumes"});
        if (!volumes || value_at(pod, {"metadata", "deletionTimestamp"}))
            return;
        for (const json::value& each : *volumes) {
            const json::object* const from =
                each.is_object()
                    ? object_at(each.get_object(), {"ephemeral", "volumeClaimTemplate"})
                    : nullptr;
            const object_key claim{key.first,
                                   from ? key.second + "-" +
                                              std::string(text_at(each.get_object(), {"name"}))
                                        : std::string()};
            if (!from || all("persistentvolumeclaims").contains(claim))
                continue;
            json::object made = *from;
            json::object& metadata = make_object(made, "metadata");
            metadata["name"] = claim.second;
            metadata["ownerReferences"] =
                json::array{json::object{{"apiVersion", "v1"},
                                         {"kind", "Pod"},
                                         {"name", key.second},
                                         {"uid", text_at(pod, {"metadata", "uid"})},
                                         {"controller", true},
                                         {"blockOwnerDeletion", true}}};
            client_.send("POST", claims_path(key.first), std::move(made));
        }
    }

    // ---- volumes -----------------------------------------------------------------------------

    void sync_volume(const object_key& key, const json::object& volume) {
        const json::object* const reference = object_at(volume, {"spec", "claimRef"});
        if (value_at(volume, {"metadata", "deletionTimestamp"})) {
            if (!reference || !claim_named_by(*reference))
                release_finalizers(volumes_path + key.second, volume);
            return;
        }
        if (!reference)
            return client_.set_phase(volumes_path + key.second, volume, "Available");
        const shared_object claim = claim_named_by(*reference);
        if (!claim) {
            if (text_at(*reference, {"uid"}).empty())
                return client_.set_phase(volumes_path + key.second, volume, "Available");
            if (provisions &&
                text_at(volume, {"spec", "persistentVolumeReclaimPolicy"}) == "Delete" &&
                !text_at(volume, {"metadata", "annotations", provisioned_by}).empty())
                return client_.send("DELETE", volumes_path + key.second);
            return client_.set_phase(volumes_path + key.second, volume, "Released");
        }
        const std::string_view bound = text_at(*claim, {"spec", "volumeName"});
        if (bound == key.second || (bound.empty() && serves_reserved(volume, *claim)))
            return bind(key.second, volume, *claim);
        // The claim is bound to another volume.
        if (!bound.empty() &&
            text_at(volume, {"metadata", "annotations", bound_by_controller}) == "yes")
            return client_.merge(volumes_path + key.second,
                                 {{"metadata", noted(bound_by_controller, nullptr)},
                                  {"spec", json::object{{"claimRef", nullptr}}}});
        client_.set_phase(volumes_path + key.second, volume, "Available");
    }

    /// Returns the claim that a volume is reserved for; null if there is no such claim any more.
    [[nodiscard]] shared_object claim_named_by(const json::object& reference) const {
        shared_object found = store_->objects().find(
            kind("persistentvolumeclaims"), {std::string(text_at(reference, {"namespace"})),
                                             std::string(text_at(reference, {"name"}))});
        const std::string_view uid = text_at(reference, {"uid"});
        if (found && !uid.empty() && uid != text_at(*found, {"metadata", "uid"}))
            return nullptr;
        return found;
    }

    [[nodiscard]] static bool serves_reserved(const json::object& volume,
                                              const json::object& claim) {
        return serves(volume, claim) && !value_at(claim, {"metadata", "deletionTimestamp"});
    }

    /// Completes the binding of a volume that is reserved for the claim.
    void bind(const std::string& name, const json::object& volume, const json::object& claim) {
        const std::string_view uid = text_at(claim, {"metadata", "uid"});
        if (text_at(volume, {"spec", "claimRef", "uid"}) != uid)
            client_.merge(volumes_path + name,
                          {{"spec", json::object{{"claimRef", json::object{{"uid", uid}}}}}});
        client_.set_phase(volumes_path + name, volume, "Bound");
        const std::string path = path_of(claim);
        if (text_at(claim, {"spec", "volumeName"}) != name ||
            text_at(claim, {"metadata", "annotations", bind_completed}).empty())
            client_.merge(
                path, {{"metadata",
                        json::object{{"annotations", json::object{{bind_completed, "yes"},
                                                                  {bound_by_controller, "yes"}}}}},
                       {"spec", json::object{{"volumeName", name}}}});
        json::object status{{"phase", "Bound"}};
        for (const std::string_view field : {"accessModes", "capacity"})
            if (const json::value* const value = value_at(volume, {"spec", field}))
                status[field] = *value;
        if (const json::object* const known = object_at(claim, {"status"});
            !known || *known != status)
            client_.merge(path + "/status", {{"status", std::move(status)}});
    }

    // ---- claims ------------------------------------------------------------------------------

    void sync_claim(const object_key& key, const json::object& found) {
        if (value_at(found, {"metadata", "deletionTimestamp"})) {
            if (!in_use_.contains(key))
                release_finalizers(path_of(found), found);
            return;
        }
        // Volumes may have been bound since the list was copied.
        shared_object claim = store_->objects().find(kind("persistentvolumeclaims"), key);
        if (!claim)
            return;
        if (const std::string_view name = text_at(*claim, {"spec", "volumeName"}); !name.empty())
            return sync_named(*claim, name);
        claim = with_default_class(std::move(claim));
        if (reserved_for(*claim))
            return; // sync_volume() completes the binding.
        const std::string_view class_name = class_name_of(*claim);
        const shared_object storage_class = find_class(class_name);
        const bool delayed = storage_class && waits_for_consumer(*storage_class);
        const std::string_view node = text_at(*claim, {"metadata", "annotations", selected_node});
        if (delayed && node.empty())
            return say_waits(key, *claim);
        if (!delayed)
            if (const std::string volume = smallest_free(*claim); !volume.empty())
                return reserve(volume, *claim);
        if (class_name.empty())
            return client_.say(
                *claim, "Normal", "FailedBinding",
                "no persistent volumes available for this claim and no storage class is set");
        if (!storage_class)
            return client_.say(*claim, "Warning", "ProvisioningFailed",
                               "storageclass.storage.k8s.io \"" + std::string(class_name) +
                                   "\" not found");
        if (provisioner_of(*storage_class).empty())
            return client_.say(*claim, "Warning", "ProvisioningFailed",
                               "no persistent volumes available for this claim, and class \"" +
                                   std::string(class_name) + "\" makes none");
        if (provisions)
            return provision(*claim, *storage_class, std::string(node));
        client_.say(*claim, "Normal", "ExternalProvisioning",
                    "Waiting for a volume to be created by the provisioner " +
                        std::string(provisioner_of(*storage_class)));
    }

    /// Handles a claim that names its volume.
    void sync_named(const json::object& claim, std::string_view name) {
        const bool was_bound =
            !text_at(claim, {"metadata", "annotations", bind_completed}).empty() ||
            text_at(claim, {"status", "phase"}) == "Bound";
        const shared_object volume =
            store_->objects().find(kind("persistentvolumes"), {"", std::string(name)});
        const json::object* const reference =
            volume ? object_at(*volume, {"spec", "claimRef"}) : nullptr;
        if (reference && claim_named_by(*reference) && names(*reference, claim))
            return; // sync_volume() completes the binding.
        if (was_bound) {
            client_.set_phase(path_of(claim), claim, "Lost");
            return client_.say(
                claim, "Warning", "ClaimLost",
                "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
        }
        if (!volume)
            return client_.say(claim, "Warning", "FailedBinding",
                               "volume \"" + std::string(name) + "\" not found");
        if (reference)
            return client_.say(claim, "Warning", "FailedBinding",
                               "volume \"" + std::string(name) +
                                   "\" already bound to a different claim.");
        if (!serves(*volume, claim))
            return client_.say(claim, "Warning", "VolumeMismatch",
                               "Cannot bind to requested volume \"" + std::string(name) +
                                   "\": its class, size or modes do not match");
        reserve(std::string(name), claim);
    }

    [[nodiscard]] static bool names(const json::object& reference, const json::object& claim) {
        return text_at(reference, {"namespace"}) == text_at(claim, {"metadata", "namespace"}) &&
               text_at(reference, {"name"}) == text_at(claim, {"metadata", "name"});
    }

    [[nodiscard]] bool reserved_for(const json::object& claim) const {
        for (const auto& [key, volume] : all("persistentvolumes"))
            if (const json::object* const reference = object_at(*volume, {"spec", "claimRef"}))
                if (names(*reference, claim) && claim_named_by(*reference) &&
                    serves(*volume, claim))
                    return true;
        return false;
    }

    /// Gives a claim that names no class the default class: the newest one, if there are several.
    [[nodiscard]] shared_object with_default_class(shared_object claim) {
        if (value_at(*claim, {"spec", "storageClassName"}) || !class_name_of(*claim).empty())
            return claim;
        const json::object* found = nullptr;
        for (const auto& [key, each] : all("storageclasses", "storage.k8s.io"))
            if (is_default_class(*each) &&
                (!found || text_at(*each, {"metadata", "creationTimestamp"}) >
                               text_at(*found, {"metadata", "creationTimestamp"})))
                found = each.get();
        if (!found)
            return claim;
        const std::string name(text_at(*found, {"metadata", "name"}));
        client_.merge(path_of(*claim), {{"spec", json::object{{"storageClassName", name}}}});
        shared_object now =
            store_->objects().find(kind("persistentvolumeclaims"),
                                   {std::string(text_at(*claim, {"metadata", "namespace"})),
                                    std::string(text_at(*claim, {"metadata", "name"}))});
        return now ? now : claim;
    }

    /// Returns the smallest free volume that serves the claim; empty if there is none.
    [[nodiscard]] std::string smallest_free(const json::object& claim) const {
        std::string best;
        std::int64_t least = 0;
        for (const auto& [key, volume] : all("persistentvolumes")) {
            if (object_at(*volume, {"spec", "claimRef"}) ||
                value_at(*volume, {"metadata", "deletionTimestamp"}) || !serves(*volume, claim))
                continue;
            if (const std::int64_t size = size_of_volume(*volume); best.empty() || size < least) {
                best = key.second;
                least = size;
            }
        }
        return best;
    }

    void reserve(const std::string& volume, const json::object& claim) {
        client_.merge(volumes_path + volume,
                      {{"metadata", noted(bound_by_controller, "yes")},
                       {"spec", json::object{{"claimRef", reference_to(claim)}}}});
    }

    [[nodiscard]] static json::object reference_to(const json::object& claim) {
        return {{"apiVersion", "v1"},
                {"kind", "PersistentVolumeClaim"},
                {"namespace", text_at(claim, {"metadata", "namespace"})},
                {"name", text_at(claim, {"metadata", "name"})},
                {"uid", text_at(claim, {"metadata", "uid"})}};
    }

    void say_waits(const object_key& key, const json::object& claim) {
        const auto found = users_.find(key);
        if (found == users_.end())
            return client_.say(claim, "Normal", "WaitForFirstConsumer",
                               "waiting for first consumer to be created before binding");
        std::string list;
        for (const std::string& pod : found->second)
            list += (list.empty() ? "" : ",") + pod;
        // One event, however many pods mount the claim later.
        client_.say(claim, "Normal", "WaitForPodScheduled",
                    "waiting for pod" + std::string(found->second.size() == 1 ? " " : "s ") + list +
                        " to be scheduled",
                    "WaitForPodScheduled");
    }

    // ---- provisioning ------------------------------------------------------------------------

    /// Creates a volume for a claim. `node`: the selected node; empty if the class does not wait
    /// for one.
    void provision(const json::object& claim, const json::object& storage_class,
                   const std::string& node) {
        const object_store& from = store_->objects();
        const shared_object place = from.find(kind("nodes"), {"", node});
        const shared_object csi = from.find(kind("csinodes", "storage.k8s.io"), {"", node});
        const auto where = choose_topology(storage_class, place.get(), csi.get());
        if (!where || (!node.empty() && !place)) {
            client_.say(
                claim, "Warning", "ProvisioningFailed",
                "failed to provision volume with StorageClass \"" +
                    std::string(text_at(storage_class, {"metadata", "name"})) + "\": " +
                    (place ? "node \"" + node + "\" is in none of the class's allowed topologies"
                           : "node \"" + node + "\" not found"));
            // The scheduler selects another node.
            return client_.merge(path_of(claim), {{"metadata", noted(selected_node, nullptr)}});
        }
        const std::string name = "pvc-" + std::string(text_at(claim, {"metadata", "uid"}));
        const std::string provisioner(provisioner_of(storage_class));
        json::object spec{
            {"capacity", json::object{}},
            {"claimRef", reference_to(claim)},
            {"csi", json::object{{"driver", provisioner}, {"volumeHandle", name}}},
            {"persistentVolumeReclaimPolicy", text_at(storage_class, {"reclaimPolicy"})},
            {"storageClassName", text_at(storage_class, {"metadata", "name"})}};
        if (const json::value* const size =
                value_at(claim, {"spec", "resources", "requests", "storage"}))
            spec["capacity"] = json::object{{"storage", *size}};
        for (const std::string_view field :
             {"accessModes", "volumeMode", "volumeAttributesClassName"})
            if (const json::value* const value = value_at(claim, {"spec", field}))
                spec[field] = *value;
        if (const json::value* const options = value_at(storage_class, {"mountOptions"}))
            spec["mountOptions"] = *options;
        if (!where->empty())
            spec["nodeAffinity"] = affinity_of(*where);
        json::object annotations{{provisioned_by, provisioner}};
        client_.send(
            "POST", "/api/v1/persistentvolumes",
            {{"metadata", json::object{{"name", name}, {"annotations", std::move(annotations)}}},
             {"spec", std::move(spec)}});
        client_.say(claim, "Normal", "ProvisioningSucceeded",
                    "Successfully provisioned volume " + name);
    }

    // ---- writes ------------------------------------------------------------------------------

    static constexpr std::string_view selected_node = "volume.kubernetes.io/selected-node";
    static constexpr std::string_view bind_completed = "pv.kubernetes.io/bind-completed";
    static constexpr std::string_view bound_by_controller = "pv.kubernetes.io/bound-by-controller";
    static constexpr std::string_view provisioned_by = "pv.kubernetes.io/provisioned-by";
    inline static const std::string volumes_path = "/api/v1/persistentvolumes/";

    [[nodiscard]] static std::string claims_path(std::string_view in_namespace) {
        return "/api/v1/namespaces/" + std::string(in_namespace) + "/persistentvolumeclaims";
    }
    [[nodiscard]] static std::string path_of(const json::object& claim) {
        return claims_path(text_at(claim, {"metadata", "namespace"})) + "/" +
               std::string(text_at(claim, {"metadata", "name"}));
    }

    /// Returns metadata with one annotation; null removes it.
    [[nodiscard]] static json::object noted(std::string_view name, const json::value& value) {
        json::object annotations{{name, value}};
        return {{"annotations", std::move(annotations)}};
    }

    /// Removes the finalizers of a deleted object that is no longer used, for controllers that this
    /// server does not have. Otherwise the object would never be deleted.
    void release_finalizers(const std::string& path, const json::object& object) {
        const json::array* const all_of_it = array_at(object, {"metadata", "finalizers"});
        if (!all_of_it)
            return;
        json::array kept;
        for (const json::value& each : *all_of_it) {
            const std::string_view name = each.is_string() ? view(each.get_string()) : "";
            if (name != claim_protection && name != volume_protection &&
                name != "external-provisioner.volume.kubernetes.io/finalizer")
                kept.push_back(each);
        }
        if (kept.size() != all_of_it->size())
            client_.merge(path, {{"metadata", json::object{{"finalizers", std::move(kept)}}}});
    }

    api_store* store_;
    controller_client client_;
    std::uint64_t seen_ = 0;
    /// The pods that mount a claim and have not ended.
    std::map<object_key, std::vector<std::string>> users_;
    /// The claims of pods with a node, also of pods that have ended.
    std::set<object_key> in_use_;
};

} // namespace api_server
} // namespace testing
} // namespace v0_1
} // namespace muster
