// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/allocate_across.hpp>
#include <muster/apis/core/claims/assigned_device.hpp>
#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/apis/core/claims/device_claims.hpp>
#include <muster/apis/core/claims/device_judge.hpp>
#include <muster/apis/core/claims/extended_requests.hpp>
#include <muster/apis/core/claims/node_devices.hpp>
#include <muster/apis/core/numa/numa_planner.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/apis/shares/share_demand.hpp>
#include <muster/apis/shares/share_planner.hpp>
#include <muster/devices/device_allocation.hpp>
#include <muster/devices/gpu_instance.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/vocabulary/node.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Allocates devices to all pods that a plan places, on each node for all of them at once. This
/// also verifies plans that only counted devices.
///
/// Pods in `gone` hold no devices. Allocated claims keep their devices.
class device_assignment {
public:
    using placements = std::map<object_key, std::string>;

    /// `placed`: the node of each placed pod. `gone`: pods that are evicted. The arguments must
    /// outlive this object. O(devices + pods), and an allocation for each node with such pods.
    device_assignment(const manifests& objects, const placements& placed,
                      const std::set<object_key>& gone)
        : objects_(&objects), placed_(&placed), catalog_(objects.devices) {
        std::erase_if(catalog_.claims, [&](const auto& each) {
            const auto& users = each.second->reserved_for;
            return !users.empty() && std::ranges::all_of(users, [&](const auto& user) {
                return user.resource == "pods" && gone.contains({each.first.name_space, user.name});
            });
        });
        for (const node_object& each : objects.nodes)
            nodes_.push_back(&each);
        for (const pod_object& each : objects.pods)
            if (!gone.contains(each.metadata.key))
                pods_.push_back(&each);
        assign_claims();
        assign_shares();
        check_zones();
    }

    /// Nodes of which the devices do not satisfy the placed pods.
    [[nodiscard]] const std::set<std::string>& lacking() const noexcept { return lacking_; }
    /// Nodes whose kubelet can reject a placed pod that it cannot align to NUMA zones.
    [[nodiscard]] const std::set<std::string>& misaligned() const noexcept { return misaligned_; }
    /// Returns the devices of a placed pod; nullptr if it gets none.
    [[nodiscard]] const std::vector<assigned_device>* of(const object_key& pod) const {
        const auto found = devices_.find(pod);
        return found == devices_.end() ? nullptr : &found->second;
    }
    /// True if the node has GPUs that a system of the plan shares, so that its devices limit the
    /// pods there.
    [[nodiscard]] bool shares_gpus(const std::string& node) const {
        return plan_.shares_gpus && plan_.judge->shares_of(plan_.stock_of(node)).system.has_value();
    }

private:
    struct asked {
        std::string shared_as;
        const device_claim* asks = nullptr;
        std::set<std::string> nodes;
        /// The pods, each with the name of its entry for the claim.
        std::vector<std::pair<object_key, std::string>> of;
    };

    /// Returns the claims of placed pods that are to be allocated, once for all pods that share
    /// them.
    [[nodiscard]] std::vector<asked> claims_to_allocate() const {
        std::vector<asked> all;
        std::map<std::string, std::size_t> shared;
        for (const pod_object& pod : objects_->pods) {
            const auto to = placed_->find(pod.metadata.key);
            if (to == placed_->end())
                continue;
            for (const pod_claim& each : pod.claims) {
                const auto claim = unallocated(pod, each);
                if (!claim)
                    continue;
                std::size_t at = all.size();
                if (!claim->shared_as.empty())
                    at = shared.emplace(claim->shared_as, at).first->second;
                if (at == all.size())
                    all.push_back({claim->shared_as, &claim->spec->asks, {}, {}});
                all[at].nodes.insert(to->second);
                all[at].of.emplace_back(pod.metadata.key, claim->entry);
            }
        }
        return all;
    }

    /// Adds the claims for extended resources that devices serve, on nodes that list none of them.
    void add_extended(std::vector<asked>& to) {
        if (catalog_.classes.empty())
            return;
        std::map<std::string_view, const node_object*> by_name;
        for (const node_object* const each : nodes_)
            by_name.emplace(each->metadata.key.name, each);
        for (const pod_object* const pod : pods_) {
            const auto placed = placed_->find(pod->metadata.key);
            const auto node =
                placed == placed_->end() ? by_name.end() : by_name.find(placed->second);
            if (node == by_name.end())
                continue;
            std::set<std::string> served;
            for (const extended_request& each : pod->extended) {
                const auto listed = node->second->allocatable.find(each.resource);
                if (catalog_.class_of(each.resource) &&
                    (listed == node->second->allocatable.end() || listed->second == 0))
                    served.insert(each.resource);
            }
            if (served.empty())
                continue;
            const auto made = extended_.emplace(
                pod->metadata.key, make_extended_claim(pod->extended, served, catalog_));
            asked& added = to.emplace_back();
            added.asks = &made.first->second.asks;
            added.nodes.insert(placed->second);
            added.of.emplace_back(pod->metadata.key, std::string());
        }
    }
    /// Returns the extended resource that a request of a pod's claim is for; empty for a claim of
    /// its own entries.
    [[nodiscard]] std::string resource_of(const object_key& pod, const std::string& entry,
                                          const std::string& request) const {
        const auto made = extended_.find(pod);
        if (!entry.empty() || made == extended_.end())
            return {};
        for (const extended_mapping& each : made->second.mappings)
            if (each.request == request)
                return each.resource;
        return {};
    }

    void assign_claims() {
        std::vector<asked> all = claims_to_allocate();
        add_extended(all);
        if (all.empty())
            return;
        std::map<std::string, node<1>> views;
        for (const node_object& each : objects_->nodes) {
            node<1>& view = views[each.metadata.key.name];
            view.name = each.metadata.key.name;
            view.labels = each.metadata.labels;
        }
        std::vector<claim_on_nodes> wanted;
        for (const asked& each : all) {
            claim_on_nodes& made = wanted.emplace_back();
            made.asks = each.asks;
            for (const std::string& name : each.nodes)
                made.nodes.push_back(&views[name]);
        }
        const auto devices = devices_of(catalog_.slices);
        const allocations_across made =
            allocate_across(node_devices(catalog_, devices, {}), devices, wanted);
        for (const auto& [name, why] : made.lacking)
            lacking_.insert(name);
        for (std::size_t at = 0; at < all.size(); ++at)
            if (made.claims[at])
                for (const auto& [pod, entry] : all[at].of)
                    for (const allocated_device& one : made.claims[at]->devices)
                        devices_[pod].push_back({entry, resource_of(pod, entry, one.request),
                                                 one.request, one.id.driver, one.id.pool,
                                                 one.id.device, 0, 0});
    }

    /// Returns the claim to allocate for the entry, if there is one.
    [[nodiscard]] std::optional<unallocated_claim> unallocated(const pod_object& pod,
                                                               const pod_claim& of) const {
        volume_effects unsaid;
        claim_reservations unlimited;
        std::vector<unallocated_claim> found;
        plan_claim(catalog_, of, pod, device_writes::all, unlimited, found, unsaid);
        return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
    }

    void assign_shares() {
        diagnostics told_before(0);
        share_planner(nodes_, pods_, objects_->koordinator_devices, told_before, {}).plan(plan_);
        if (!plan_.shares_gpus)
            return;
        for (const auto& each : with_demands(plan_))
            assign_on(each.first, each.second);
    }

    /// Returns the pods with device demands, by the name of their node.
    [[nodiscard]] std::map<std::string, std::vector<const pod_object*>>
    with_demands(const volume_plan& plan) const {
        std::map<std::string, std::vector<const pod_object*>> on_node;
        for (const pod_object* const pod : pods_) {
            const auto to = placed_->find(pod->metadata.key);
            const std::string& node = to == placed_->end() ? pod->node : to->second;
            if (const auto* const effects = plan.find(pod->metadata.key);
                effects && effects->devices != device_demand::none && !node.empty())
                on_node[node].push_back(pod);
        }
        return on_node;
    }

    void check_zones() {
        volume_plan plan;
        std::vector<const node_topology_object*> topologies;
        for (const node_topology_object& each : objects_->node_topologies)
            topologies.push_back(&each);
        numa_planner(nodes_, pods_, topologies).plan(plan);
        for (const auto& [name, pods] : with_demands(plan)) {
            std::vector<device_demand> demands;
            for (const pod_object* const pod : pods)
                demands.push_back(plan.find(pod->metadata.key)->devices);
            std::ranges::sort(demands);
            for (std::size_t at = 0; at < demands.size(); ++at) {
                std::vector<device_demand> others = demands;
                others.erase(others.begin() + static_cast<std::ptrdiff_t>(at));
                if ((at == 0 || demands[at] != demands[at - 1]) &&
                    plan.judge->room(plan.stock_of(name), others, demands[at], 1) == 0)
                    misaligned_.insert(name);
            }
        }
    }

    void assign_on(const std::string& node, const std::vector<const pod_object*>& pods) {
        const device_stock has = plan_.stock_of(node);
        if (has == device_stock::none)
            return;
        const share_stock& on = plan_.judge->shares_of(has);
        const std::vector<std::string>& ids = plan_.gpu_ids.find(node)->second;
        std::vector<const share_demand*> demands;
        bool suit = true;
        for (const pod_object* const pod : pods) {
            demands.push_back(&plan_.judge->shares_of(plan_.find(pod->metadata.key)->devices));
            suit = suit && suits(on, *demands.back());
        }
        const share_allocation made = allocate_on(on, demands, device_judge::max_steps);
        if (!suit || made.outcome != share_outcome::allocated) {
            lacking_.insert(node);
            return;
        }
        std::size_t next = 0;
        for (std::size_t at = 0; at < pods.size(); ++at)
            for (const share_request& asks : requests_on(on, *demands[at], at)) {
                for (std::size_t share = 0; share < made.devices[next].size(); ++share) {
                    const std::size_t device = made.devices[next][share];
                    const std::size_t instance = made.instance_of(next, share);
                    const auto& instances = on.devices[device].instances;
                    const share_amounts used = amounts_of(
                        on.devices[device], part_for(asks, on.devices[device]), instance);
                    devices_[pods[at]->metadata.key].push_back(
                        {{},
                         {},
                         {},
                         {},
                         {},
                         ids[device] + (instance < instances.size()
                                            ? "[" + instance_id(instances, instance) + "]"
                                            : std::string()),
                         used.memory,
                         used.cores});
                }
                ++next;
            }
    }

    const manifests* objects_;
    const placements* placed_;
    device_catalog catalog_;
    std::vector<const node_object*> nodes_;
    /// The pods of the objects that are not in `gone`.
    std::vector<const pod_object*> pods_;
    volume_plan plan_;
    /// The claims for extended resources, by pod.
    std::map<object_key, extended_claim> extended_;
    std::map<object_key, std::vector<assigned_device>> devices_;
    std::set<std::string> lacking_;
    std::set<std::string> misaligned_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
