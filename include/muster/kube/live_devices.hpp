// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/apis/core/claims/device_claims.hpp>
#include <muster/apis/core/claims/device_counter.hpp>
#include <muster/apis/core/claims/device_judge.hpp>
#include <muster/apis/core/claims/device_objects.hpp>
#include <muster/apis/core/claims/device_planner.hpp>
#include <muster/apis/core/claims/device_taint_rules.hpp>
#include <muster/apis/core/numa/node_topology.hpp>
#include <muster/apis/core/numa/numa_planner.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/apis/shares/share_planner.hpp>
#include <muster/kube/live_gangs.hpp>
#include <muster/kube/live_reservations.hpp>

namespace muster {
inline namespace v0_1 {
namespace kube {

/// The device objects of a live cluster, and their effects on pods with ResourceClaims or extended
/// resources.
class live_devices {
public:
    using object_key = codec::object_key;

    /// Serves fractions of KAI, whose reservation pods are in this namespace. Of those without
    /// sharers, only the ones that `scheduler` made get pods. By default, pods with fractions wait.
    /// Call before the first object is put.
    void serve_fractions(const std::string& reservations, const std::string& scheduler) {
        shares_.served.insert(codec::share_system::kai);
        shares_.reservations = reservations;
        shares_.scheduler = scheduler;
        reservations_.serve(reservations);
    }

    void put(codec::resource_claim_object object, std::string version) {
        versions_[object.metadata.key] = std::move(version);
        if (object.is_extended && !object.owner_uid.empty()) {
            extended_.insert_or_assign(object.owner_uid, object.metadata.key);
            users_.insert({object.metadata.key.name_space, object.owner_name});
        }
        set(claims_, std::move(object));
    }
    void put(codec::resource_slice_object object) {
        ++supply_changes_;
        const object_key key = object.metadata.key;
        set(slices_, std::move(object));
        taint(slices_.at(key));
    }
    /// A server serves a rule in each of its API versions. It has an effect as long as one version
    /// (`api`) has it.
    void put(codec::device_taint_rule_object object, std::string_view api) {
        rule_key key{object.metadata.key, api};
        const auto known = taint_rules_.find(key);
        std::vector<codec::device_taint_rule_object> affected{object};
        if (known != taint_rules_.end())
            affected.push_back(std::move(known->second));
        taint_rules_.insert_or_assign(std::move(key), std::move(object));
        note_rules(affected);
    }
    void lose_taint_rule(const object_key& key, std::string_view api) {
        if (auto gone = taint_rules_.extract(rule_key{key, api}))
            note_rules({std::move(gone.mapped())});
    }
    void put(codec::group_claims_object object) { set(groups_, std::move(object)); }
    void put(codec::koordinator_device_object object) { set(gpus_, std::move(object)); }
    void put(codec::node_topology_object object) {
        object_key key = object.metadata.key;
        codec::node_topology_object& known = topologies_[key];
        const bool restricts = known.zones || object.zones;
        // The kubelets' agents write often, and mostly what the object said before.
        if (restricts && (known.zones != object.zones || known.reported != object.reported))
            note_topologies();
        restricting_ -= known.zones ? 1U : 0U;
        restricting_ += object.zones ? 1U : 0U;
        known = std::move(object);
    }
    void put(codec::device_class_object object) {
        judge_.reset();
        ++supply_changes_;
        set(classes_, std::move(object));
    }
    /// Removes an object. Returns false if the kind is not a device kind.
    bool lose(std::string_view kind, const object_key& key) {
        if (kind == "ResourceClaim") {
            claims_.erase(key);
            versions_.erase(key);
            std::erase_if(extended_, [&](const auto& each) { return each.second == key; });
            find_extended(key);
        } else if (kind == "ResourceSlice") {
            slices_.erase(key);
            tainted_.erase(key);
        } else if (kind == "Device") {
            gpus_.erase(key);
        } else if (kind == "NodeResourceTopology") {
            if (const auto at = topologies_.find(key); at != topologies_.end()) {
                if (at->second.zones) {
                    --restricting_;
                    note_topologies();
                }
                topologies_.erase(at);
            }
            return true;
        } else if (kind == "DeviceClass") {
            judge_.reset();
            classes_.erase(key);
        } else {
            return false;
        }
        supply_changes_ += kind == "ResourceClaim" ? 0U : 1U;
        ++changes_;
        is_old_ = true;
        return true;
    }

    /// Call when the PodGroup is gone, or has no claims.
    void lose_group(const object_key& key) {
        if (groups_.erase(key) > 0) {
            ++changes_;
            is_old_ = true;
        }
    }

    /// Call when a pod was added or changed.
    void note_pod(const codec::pod_object& pod) {
        const object_key& key = pod.metadata.key;
        const bool has_claims = !pod.claims.empty();
        note_sharer(pod);
        reservations_.put(pod);
        note_aligned(pod);
        const bool may_be_served = std::ranges::any_of(pod.requests, [](const auto& each) {
            return each.first.find('/') != std::string::npos;
        });
        if (!has_claims && (!pod.node.empty() || !may_be_served) &&
            !extended_.contains(pod.metadata.uid))
            return lose_user(key);
        users_.insert(key);
        is_old_ =
            is_old_ || has_claims || !classes_.empty() || any_agent_ || effects_.contains(key);
    }
    void lose_pod(const object_key& key) {
        is_old_ |= sharers_.erase(key) > 0 && shares_gpus_;
        share_marks_.erase(key);
        reservations_.lose(key);
        is_old_ |= aligned_.erase(key) > 0 && restricting_ > 0;
        lose_user(key);
    }
    /// Call when a node was added or removed, or its labels or allocatable changed.
    void note_nodes() { is_old_ = true; }

    /// Recomputes the effects if something changed. Returns true if they differ from before. O(1)
    /// if nothing changed, O(nodes) if no pod needs devices, else
    /// O(devices + pods of `users_` × nodes).
    template<std::size_t Width>
    [[nodiscard]] bool renew(const std::map<std::string, codec::node_object>& nodes,
                             const live_gangs<Width>& gangs) {
        if (!std::exchange(is_old_, false))
            return false;
        ++renewals_;
        any_agent_ = std::ranges::any_of(
            nodes, [](const auto& each) { return !each.second.of_agents.empty(); });
        warnings_.clear();
        if (users_.empty() && sharers_.empty() && (aligned_.empty() || restricting_ == 0) &&
            effects_.empty() && kinds_.empty())
            return false;
        const codec::device_catalog catalog = make_catalog();
        std::vector<const codec::node_object*> all;
        for (const auto& [name, node] : nodes)
            all.push_back(&node);
        const auto objects_of = [&](const std::set<object_key>& keys) {
            std::vector<const codec::pod_object*> found;
            for (const object_key& key : keys)
                if (const auto at = gangs.pods().find(key); at != gangs.pods().end())
                    found.push_back(&at->second.object);
            return found;
        };
        const std::vector<const codec::pod_object*> pods = objects_of(users_);
        codec::volume_plan made;
        if (judge_ && judge_->size() > most_kept_answers)
            judge_.reset();
        const bool is_new_judge = !judge_;
        if (is_new_judge) {
            device_classes classes;
            for (const auto& [name, each] : catalog.classes)
                classes.emplace(std::string(name), each->selectors);
            judge_ = std::make_shared<codec::device_judge>(std::move(classes));
        }
        made.judge = judge_;
        codec::device_planner planner(catalog, all, codec::device_writes::claims);
        planner.keep_names(names_);
        std::move(planner).plan(pods, {}, made);
        const std::vector<const codec::pod_object*> sharers = objects_of(sharers_);
        codec::diagnostics found;
        std::vector<codec::koordinator_device_object> gpus;
        for (const auto& [key, each] : gpus_)
            gpus.push_back(each);
        codec::share_planner(all, sharers, gpus, found, shares_).plan(made);
        for (const codec::diagnostic& each : found.findings())
            warnings_.insert(each.message);
        for (const codec::koordinator_device_object& each : gpus)
            for (const std::string& remark : each.shares.remarks)
                warnings_.insert("Device " + each.metadata.key.name + ": " + remark);
        shares_gpus_ = made.shares_gpus;
        if (restricting_ > 0) {
            std::vector<const codec::node_topology_object*> topologies;
            for (const auto& [key, each] : topologies_)
                topologies.push_back(&each);
            codec::numa_planner(all, objects_of(aligned_), topologies).plan(made);
        }
        const bool differs = made.pods != effects_ || made.marks_nodes != marks_nodes_ ||
                             made.node_labels != node_labels_ || made.kinds != kinds_ ||
                             made.stocks != stocks_ || is_new_judge || made.gpu_ids != gpu_ids_ ||
                             made.function_ids != function_ids_ ||
                             made.unread_registers != unread_registers_;
        judge_ = std::move(made.judge);
        stocks_ = std::move(made.stocks);
        marks_nodes_ = made.marks_nodes;
        node_labels_ = std::move(made.node_labels);
        gpu_ids_ = std::move(made.gpu_ids);
        function_ids_ = std::move(made.function_ids);
        unread_registers_ = std::move(made.unread_registers);
        effects_ = std::move(made.pods);
        unready_.clear();
        for (const auto& [key, each] : effects_)
            if (!each.unreserved.empty() || !each.served.empty())
                unready_.push_back(key);
        kinds_ = std::move(made.kinds);
        return differs;
    }

    /// The effects of devices on pods: reasons to wait, allowed nodes, and amounts.
    [[nodiscard]] const std::map<object_key, codec::volume_effects>& effects() const noexcept {
        return effects_;
    }
    /// The devices of nodes that do not add up, and what decides about them; null if nothing needs
    /// it. It stays the same as long as no DeviceClass changes, so that numbers keep their meaning.
    [[nodiscard]] const std::map<std::string, device_stock>& stocks() const noexcept {
        return stocks_;
    }
    [[nodiscard]] const std::shared_ptr<codec::device_judge>& judge() const noexcept {
        return judge_;
    }
    [[nodiscard]] const std::map<std::string, std::vector<std::string>>& gpu_ids() const noexcept {
        return gpu_ids_;
    }
    /// See `volume_plan::function_ids`.
    [[nodiscard]] const std::map<std::string, std::vector<std::vector<std::string>>>&
    function_ids() const noexcept {
        return function_ids_;
    }
    /// The GPU groups of KAI; empty unless fractions are served.
    [[nodiscard]] const live_reservations& reservations() const noexcept { return reservations_; }
    /// Some pods share a claim: `volume_plan::marks_nodes`.
    [[nodiscard]] bool marks_nodes() const noexcept { return marks_nodes_; }
    /// Node labels that keep pods with a shared claim together: `volume_plan::node_labels`.
    [[nodiscard]] const std::map<std::string, label_set>& node_labels() const noexcept {
        return node_labels_;
    }
    /// See `volume_plan::unread_registers`.
    [[nodiscard]] const std::map<std::string, std::string>& unread_registers() const noexcept {
        return unread_registers_;
    }
    /// What cannot be read of the GPU registers of nodes and of the annotations of pods that
    /// request GPUs, or holds their GPUs back. Each message names its node or pod.
    [[nodiscard]] const std::set<std::string>& warnings() const noexcept { return warnings_; }
    /// Some node has GPUs that pods share.
    [[nodiscard]] bool shares_gpus() const noexcept { return shares_gpus_; }
    /// The amounts that nodes have.
    [[nodiscard]] const std::map<std::string, codec::volume_supply>& kinds() const noexcept {
        return kinds_;
    }

    /// Waiting pods with claims that are to be allocated, to be reserved or to be looked at again.
    [[nodiscard]] const std::vector<object_key>& unready() const noexcept { return unready_; }
    /// Grows with every change of an object, except for NodeResourceTopologies that stay the same
    /// or restrict no pod.
    [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }
    /// Grows whenever the effects are recomputed.
    [[nodiscard]] std::uint64_t renewals() const noexcept { return renewals_; }
    /// Grows with every change of a ResourceSlice, DeviceClass or DeviceTaintRule.
    [[nodiscard]] std::uint64_t supply_changes() const noexcept { return supply_changes_; }

    /// Indexes the objects. The index is valid until one of them changes. O(objects).
    [[nodiscard]] codec::device_catalog make_catalog() const {
        codec::device_catalog catalog;
        for (const auto& [key, each] : claims_)
            catalog.claims.emplace(key, &each);
        for (const auto& [key, each] : groups_)
            catalog.groups.emplace(key, &each);
        for (const auto& [key, each] : slices_) {
            const auto tainted = tainted_.find(key);
            catalog.slices.push_back(tainted == tainted_.end() ? &each : &tainted->second);
        }
        for (const auto& [key, each] : classes_)
            catalog.add(each);
        return catalog;
    }

    /// Appends copies of all device objects.
    void append_copies(codec::device_objects& to) const {
        for (const auto& [key, each] : claims_)
            to.claims.push_back(each);
        for (const auto& [key, each] : groups_)
            to.groups.push_back(each);
        for (const auto& [key, each] : slices_)
            to.slices.push_back(each);
        for (const auto& [key, each] : classes_)
            to.classes.push_back(each);
        for (const auto& [key, each] : taint_rules_)
            to.taint_rules.push_back(each);
    }

    [[nodiscard]] const std::map<object_key, codec::resource_claim_object>&
    claims() const noexcept {
        return claims_;
    }
    /// See codec::find_group().
    [[nodiscard]] const codec::group_claims_object* group_of(const codec::pod_object& pod,
                                                             const codec::pod_claim& entry) const {
        const auto at = groups_.find({pod.metadata.key.name_space, pod.pod_group});
        return at != groups_.end() && codec::has_entry(at->second, entry) ? &at->second : nullptr;
    }
    /// The claim is reserved for the pod, or for the PodGroup by whose entry the pod uses it.
    [[nodiscard]] bool is_reserved_for(const codec::resource_claim_object& claim,
                                       const codec::pod_object& pod) const {
        const codec::group_claims_object* group = nullptr;
        for (const codec::pod_claim& each : pod.claims)
            if (!group && each.claim == claim.metadata.key.name)
                group = group_of(pod, each);
        return codec::is_reserved_for(claim, pod, group);
    }
    /// Returns Koordinator's GPUs of a node; nullptr if it has none.
    [[nodiscard]] const codec::koordinator_device_object* gpus_of(const std::string& node) const {
        const auto at = gpus_.find(object_key{{}, node});
        return at == gpus_.end() ? nullptr : &at->second;
    }
    [[nodiscard]] const std::map<object_key, codec::node_topology_object>&
    topologies() const noexcept {
        return topologies_;
    }
    /// Returns nullptr if there is no such ResourceClaim.
    [[nodiscard]] const codec::resource_claim_object* claim(const object_key& key) const {
        const auto at = claims_.find(key);
        return at == claims_.end() ? nullptr : &at->second;
    }
    /// Returns the claim that was made for the extended resources of the pod with this uid, or
    /// nullptr.
    [[nodiscard]] const codec::resource_claim_object* extended_claim(const std::string& pod) const {
        const auto at = extended_.find(pod);
        return at == extended_.end() ? nullptr : claim(at->second);
    }
    /// The resourceVersion of a claim; empty if there is no such claim.
    [[nodiscard]] std::string version_of(const object_key& claim) const {
        const auto at = versions_.find(claim);
        return at == versions_.end() ? std::string() : at->second;
    }

private:
    /// A DeviceTaintRule and the API version that it is from.
    using rule_key = std::pair<object_key, std::string>;

    /// Renews the copy of the slice with the taints of rules. O(rules + devices).
    void taint(const codec::resource_slice_object& slice) {
        std::vector<const codec::device_taint_rule_object*> rules;
        for (const auto& [key, each] : taint_rules_)
            if (codec::may_match(each, slice.slice))
                rules.push_back(&each);
        codec::resource_slice_object copy = rules.empty() ? codec::resource_slice_object{} : slice;
        if (!rules.empty() && codec::add_taints(rules, copy.slice))
            tainted_.insert_or_assign(slice.metadata.key, std::move(copy));
        else
            tainted_.erase(slice.metadata.key);
    }
    /// These rules are new, changed or gone. O(slices + rules and devices of slices that they
    /// match).
    void note_rules(const std::vector<codec::device_taint_rule_object>& rules) {
        for (const auto& [key, each] : slices_) {
            const device_slice& slice = each.slice;
            if (std::ranges::any_of(
                    rules, [&](const auto& rule) { return codec::may_match(rule, slice); }))
                taint(each);
        }
        ++supply_changes_;
        ++changes_;
        is_old_ = true;
    }

    /// A claim is gone: of the claims of a pod for extended resources, another one counts from now
    /// on. O(claims).
    void find_extended(const object_key& gone) {
        for (const auto& [key, each] : claims_)
            if (each.is_extended && !each.owner_uid.empty() && key.name_space == gone.name_space)
                extended_.emplace(each.owner_uid, key);
    }
    void lose_user(const object_key& key) {
        // The amounts of nodes count what the pod holds.
        is_old_ |= (users_.erase(key) > 0 && !kinds_.empty()) || effects_.contains(key);
    }
    /// A pod that requests GPUs or shares of them.
    void note_sharer(const codec::pod_object& pod) {
        const object_key& key = pod.metadata.key;
        const auto known = share_marks_.find(key);
        const bool is_changed = known == share_marks_.end() ? !pod.share_marks.empty()
                                                            : known->second != pod.share_marks;
        if (pod.share_marks.empty())
            share_marks_.erase(key);
        else if (is_changed)
            share_marks_.insert_or_assign(key, pod.share_marks);
        if (pod.share_containers.empty() && pod.share_marks.empty())
            is_old_ |= sharers_.erase(key) > 0;
        else
            is_old_ |= sharers_.insert(key).second || shares_gpus_ || is_changed;
    }

    /// A pod with requests that a kubelet may align to NUMA zones.
    void note_aligned(const codec::pod_object& pod) {
        const bool was_there = aligned_.erase(pod.metadata.key) > 0;
        if (!pod.aligned.empty())
            aligned_.insert(pod.metadata.key);
        is_old_ |= restricting_ > 0 && (was_there || !pod.aligned.empty());
    }

    /// The zones of a node that restricts pods changed. Without pods to align they have no effect.
    void note_topologies() {
        ++changes_;
        is_old_ = is_old_ || !aligned_.empty();
    }

    static constexpr std::size_t most_kept_answers = 200'000;

    template<class Object>
    void set(std::map<object_key, Object>& in, Object object) {
        object_key key = object.metadata.key;
        in.insert_or_assign(std::move(key), std::move(object));
        ++changes_;
        is_old_ = true;
    }

    std::map<object_key, codec::resource_claim_object> claims_;
    std::map<object_key, std::string> versions_;
    /// PodGroups with claims.
    std::map<object_key, codec::group_claims_object> groups_;
    /// The claims for extended resources, by the uid of the pod.
    std::map<std::string, object_key> extended_;
    std::map<object_key, codec::resource_slice_object> slices_;
    std::map<rule_key, codec::device_taint_rule_object> taint_rules_;
    /// Copies of slices of which a rule taints a device.
    std::map<object_key, codec::resource_slice_object> tainted_;
    std::map<object_key, codec::device_class_object> classes_;
    std::map<object_key, codec::koordinator_device_object> gpus_;
    std::map<object_key, codec::node_topology_object> topologies_;
    /// Number of `topologies_` whose policy rejects pods.
    std::size_t restricting_ = 0;
    /// Pods with claims, among them those for extended resources, and pods without a node that
    /// request a resource that a DeviceClass might serve.
    std::set<object_key> users_;
    /// Pods that request GPUs or shares of them.
    std::set<object_key> sharers_;
    /// The requests for shares of GPUs, of pods that have any.
    std::map<object_key, std::vector<std::string>> share_marks_;
    bool shares_gpus_ = false;
    codec::share_planner::options shares_{
        {codec::share_system::hami, codec::share_system::volcano, codec::share_system::koordinator},
        std::string(codec::kai_fractions::reservation_namespace),
        {},
        true};
    live_reservations reservations_;
    /// Pods with requests that a kubelet may align to NUMA zones.
    std::set<object_key> aligned_;
    bool marks_nodes_ = false;
    std::map<std::string, label_set> node_labels_;
    std::map<object_key, codec::volume_effects> effects_;
    std::map<std::string, codec::volume_supply> kinds_;
    std::map<std::string, device_stock> stocks_;
    std::map<std::string, std::vector<std::string>> gpu_ids_;
    std::map<std::string, std::vector<std::vector<std::string>>> function_ids_;
    std::map<std::string, std::string> unread_registers_;
    std::set<std::string> warnings_;
    std::shared_ptr<codec::device_judge> judge_;
    std::vector<object_key> unready_;
    codec::device_counter::kind_names names_;
    std::uint64_t changes_ = 0;
    std::uint64_t renewals_ = 0;
    std::uint64_t supply_changes_ = 0;
    /// Some node has a resource that only the agent of another scheduler gives.
    bool any_agent_ = false;
    bool is_old_ = false;
};

} // namespace kube
} // namespace v0_1
} // namespace muster
