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
#include <tuple>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/apis/core/claims/device_claims.hpp>
#include <muster/apis/core/claims/device_counter.hpp>
#include <muster/apis/core/claims/device_homes.hpp>
#include <muster/apis/core/claims/device_lacks.hpp>
#include <muster/apis/core/claims/device_sets.hpp>
#include <muster/apis/core/claims/node_devices.hpp>
#include <muster/apis/core/claims/pooled_devices.hpp>
#include <muster/apis/core/claims/possible_nodes.hpp>
#include <muster/apis/core/claims/shared_claims.hpp>
#include <muster/apis/core/claims/spread_claims.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/node.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Adds to a volume_plan the effects of the pods' ResourceClaims, the waits of pods for resources
/// that only agents of other schedulers give, and the amounts that nodes have of extended resources
/// served by DeviceClasses. A node serves such a resource from devices only
/// if its allocatable lists none of it (rules of kube-scheduler 1.37: DynamicResources).
///
/// Counts are of whole devices and never too high: devices that share counters with others are left
/// out, and a device that several nodes can use counts on one of them.
class device_planner {
public:
    /// The arguments must outlive the planner.
    device_planner(const device_catalog& catalog, std::span<const node_object* const> nodes,
                   device_writes writes)
        : catalog_(&catalog), nodes_(nodes), writes_(writes) {
        for (const node_object* const each : nodes) {
            auto& made = views_.emplace_back();
            made.name = each->metadata.key.name;
            made.labels = each->metadata.labels;
            by_name_.emplace(each->metadata.key.name, by_name_.size());
        }
    }

    /// Names kinds as plans before did. `names` outlives the planner.
    void keep_names(device_counter::kind_names& names) { names_ = &names; }

    /// Adds the effects to the plan. Counts the resources that `pods` request and those in `asked`.
    /// O(pods · log pods + resources × devices × nodes).
    void plan(std::span<const pod_object* const> pods, const std::set<std::string>& asked,
              volume_plan& into) && {
        pods_ = pods;
        into_ = &into;
        std::vector<const pod_object*> claiming;
        for (const pod_object* const pod : pods)
            if (waits(*pod) && !pod->claims.empty())
                claiming.push_back(pod);
        // A claim has a limit of reservations: older pods get theirs first.
        std::ranges::sort(claiming, {}, [](const pod_object* pod) {
            return std::tuple(pod->metadata.created.value_or(std::numeric_limits<timestamp>::max()),
                              pod->metadata.key);
        });
        std::vector<device_counter::demand> demands;
        for (const pod_object* const pod : claiming)
            plan_claims(*pod, demands);
        // Elsewhere the shared GPUs of these agents are planned: share_planner.
        if (writes_ == device_writes::extended_resources)
            hold_users_of_agents();
        std::set<std::string> resources;
        for (const std::string& each : asked)
            if (catalog_->class_of(each))
                resources.insert(each);
        for (const pod_object* const pod : pods)
            for (const auto& each : pod->requests)
                if (is_there(*pod) && catalog_->class_of(each.first))
                    resources.insert(each.first);
        if (resources.empty() && demands.empty())
            return;
        pooled_ = find_pooled_devices(catalog_->slices);
        find_users();
        std::vector<std::string> selectable;
        for (const std::string& each : resources)
            if (select(each, selected_[each]) && is_apart_or_nested(each))
                selectable.push_back(each);
            else
                selected_.erase(each);
        for (const std::string& each : selectable)
            serve(each);
        charge_nested();
        if (!demands.empty())
            count(demands);
    }

private:
    static bool is_there(const pod_object& pod) {
        return pod.phase != pod_phase::succeeded && pod.phase != pod_phase::failed;
    }
    static bool waits(const pod_object& pod) { return is_there(pod) && pod.node.empty(); }

    void plan_claims(const pod_object& pod, std::vector<device_counter::demand>& demands) {
        volume_effects made;
        device_counter::demand asked{&pod, {}, false};
        for (const pod_claim& each : pod.claims)
            plan_claim(*catalog_, each, pod, writes_, reserved_, asked.claims, made);
        asked.waits = !made.waits.empty();
        if (!asked.claims.empty())
            demands.push_back(std::move(asked));
        if (!(made == volume_effects{}))
            into_->pods[pod.metadata.key].add_devices(made);
    }

    /// Counts the devices of claims that must be allocated.
    void count(std::vector<device_counter::demand>& demands) {
        find_shared_claims(demands);
        node_devices by_node(*catalog_, pooled_.usable, views_);
        device_set served;
        for (const auto& each : served_)
            served.push_back(each.first);
        const possible_nodes possible(nodes_, *into_);
        const std::set<device_id> set_aside =
            spread_claims(*catalog_, pooled_.usable, views_, served, possible, by_node)
                .plan(demands, *into_);
        const device_homes homes(*catalog_, pooled_.usable, views_, pods_, set_aside);
        device_counter counter(*catalog_, pooled_, homes, by_node, *into_, names_);
        for (const auto& [resource, devices] : counted_)
            counter.add_resource(resource, devices);
        counter.count(demands);
        keep_sharers_together(demands, *into_);
    }

    // ---- extended resources --------------------------------------------------------------------

    [[nodiscard]] static std::int64_t listed(const node_object& node, const std::string& resource) {
        const auto found = node.allocatable.find(resource);
        return found == node.allocatable.end() ? 0 : found->second;
    }

    /// True if a node that matches the pod's node selector meets the condition.
    template<class Condition>
    [[nodiscard]] bool selects_any(const pod_object& pod, const Condition& meets) const {
        for (std::size_t at = 0; at < nodes_.size(); ++at)
            if (meets(at) && (failed_filters(pod.where, views_[at]) & node_filter_selector) == 0)
                return true;
        return false;
    }
    /// True if some node that matches the pod's node selector lists as much as the pod requests.
    [[nodiscard]] bool is_listed_for(const pod_object& pod, const std::string& resource) const {
        const int128 milli = pod.requests.find(resource)->second.milli;
        return selects_any(pod, [&](std::size_t at) {
            return int128{listed(*nodes_[at], resource)} * 1000 >= milli;
        });
    }

    /// Keeps pods waiting if only agents of other schedulers could give them a resource.
    void hold_users_of_agents() {
        std::map<std::string, std::string> schedulers;
        for (const node_object* const each : nodes_)
            schedulers.insert(each->of_agents.begin(), each->of_agents.end());
        for (const auto& each : schedulers) {
            const auto has_agent = [&](std::size_t at) {
                return nodes_[at]->of_agents.contains(each.first);
            };
            hold(each.first,
                 " is given by " + each.second + "'s agent, to pods that " + each.second +
                     " placed",
                 [&](const pod_object& pod) { return selects_any(pod, has_agent); });
        }
    }

    [[nodiscard]] std::string served_by_class(const std::string& resource) const {
        return " is served by device class " + catalog_->class_of(resource)->metadata.key.name;
    }
    /// Keeps pods waiting, with the reason `why`, if only devices could serve the resource.
    void hold(const std::string& resource, const std::string& why) {
        hold(resource, served_by_class(resource) + why, [](const pod_object&) { return true; });
    }
    template<class Condition>
    void hold(const std::string& resource, const std::string& why, const Condition& concerns) {
        for (const pod_object* const pod : pods_) {
            if (!waits(*pod))
                continue;
            const auto asked = pod->requests.find(resource);
            if (asked == pod->requests.end() || asked->second.milli <= 0 ||
                is_listed_for(*pod, resource) || !concerns(*pod))
                continue;
            volume_effects& to = into_->pods[pod->metadata.key];
            to.waits.push_back(resource + why);
            to.unusable = true;
        }
    }

    /// Finds the user of each allocated device. If the claim was created for the extended resources
    /// of a running pod, that pod is the user: its request already counts the device. So is a
    /// pod that waits, if Muster allocates devices for it. Other allocated devices have no user
    /// (nullptr) and are never free.
    void find_users() {
        std::map<std::string_view, std::vector<const pod_object*>> standing;
        for (const pod_object* const pod : pods_)
            if (is_there(*pod) && (!pod->node.empty() || writes_ == device_writes::claims))
                standing[pod->metadata.key.name].push_back(pod);
        for (const auto& [key, claim] : catalog_->claims) {
            if (!claim->allocation)
                continue;
            const pod_object* user = nullptr;
            if (claim->is_extended)
                for (const pod_object* const pod : standing[claim->owner_name])
                    if (detail::controls(*pod, *claim))
                        user = pod;
            if (user && user->node.empty())
                confine(*user, *claim);
            for (const allocated_device& each : claim->allocation->devices) {
                if (each.admin_access)
                    continue;
                const auto [at, fresh] = users_.emplace(each.id, user);
                if (!fresh && at->second != user)
                    at->second = nullptr;
            }
        }
    }

    /// A waiting pod for whose extended resources devices were allocated goes where these are.
    void confine(const pod_object& pod, const resource_claim_object& claim) {
        volume_effects& to = into_->pods[pod.metadata.key];
        if (const std::string& why = claim.allocation->failed; !why.empty())
            to.waits.push_back("resource claim " + claim.metadata.key.name +
                               " has a device that cannot be used: " + why);
        if (claim.allocation->nodes) {
            to.reach.push_back({*claim.allocation->nodes, true, true});
            to.reach_of.push_back("resource claim " + claim.metadata.key.name);
        }
    }

    /// Finds the devices of the class that serves the resource. Returns false if a selector of the
    /// class cannot be evaluated; then pods that request the resource wait.
    [[nodiscard]] bool select(const std::string& resource, device_set& found) {
        const device_class_object& of_class = *catalog_->class_of(resource);
        selected_devices selected = select_devices(pooled_.usable, of_class.selectors);
        if (!selected.undecided.empty()) {
            hold(resource, ", whose selector cannot be decided for " + selected.undecided);
            return false;
        }
        found = std::move(selected.devices);
        return true;
    }

    /// True if the devices of the resource serve no other resource, or can count for both
    /// resources: the devices of one contain those of the other, and no node lists either resource.
    /// Otherwise pods that request the resource wait.
    [[nodiscard]] bool is_apart_or_nested(const std::string& resource) {
        const device_set& mine = selected_.at(resource);
        for (const auto& each : selected_) {
            const std::string& other = each.first;
            const device_set& others = each.second;
            if (other == resource || are_apart(mine, others))
                continue;
            const bool is_listed = std::ranges::any_of(nodes_, [&](const node_object* node) {
                return listed(*node, resource) > 0 || listed(*node, other) > 0;
            });
            if (!is_listed && (is_within(mine, others) || is_within(others, mine)))
                continue;
            hold(resource, ", whose devices serve " + other +
                               " too, and they are counted for one of both only");
            return false;
        }
        return true;
    }

    /// Returns how many devices the pod requests of the resource and of others whose devices all
    /// serve it: as many as its amounts count (charge_nested()).
    [[nodiscard]] std::int64_t charged(const pod_object& pod, const std::string& resource) const {
        std::int64_t sum = 0;
        for (const auto& [name, asked] : pod.requests)
            if (name == resource || (selected_.contains(name) && is_nested(name, resource)))
                sum = saturating_add(sum, saturate((int128{asked.milli} + 999) / 1000));
        return sum;
    }
    [[nodiscard]] bool is_nested(const std::string& inner, const std::string& outer) const {
        const device_set& devices = selected_.at(inner);
        return inner != outer && !devices.empty() && is_within(devices, selected_.at(outer));
    }

    /// Counts a request for a resource also for each resource whose devices include all of its own.
    void charge_nested() {
        for (const auto& each_inner : selected_)
            for (const auto& each_outer : selected_) {
                const std::string& inner = each_inner.first;
                const std::string& outer = each_outer.first;
                if (!is_nested(inner, outer))
                    continue;
                for (const pod_object* const pod : pods_) {
                    const auto asked = pod->requests.find(inner);
                    if (!is_there(*pod) || asked == pod->requests.end())
                        continue;
                    volume_effects& to = into_->pods[pod->metadata.key];
                    to.amounts[outer] += saturate((int128{asked->second.milli} + 999) / 1000);
                    if (waits(*pod))
                        to.growing.insert(outer);
                }
            }
    }

    /// Counts the devices that serve the resource, on nodes whose allocatable lists none of it.
    void serve(const std::string& resource) {
        const device_set& selected = selected_.at(resource);
        volume_supply supply;
        device_set& counted = counted_[resource];
        // By user: how many more devices its amounts pay for. A device that it was allocated for
        // another resource is not added to what it uses of this one.
        std::map<const pod_object*, std::int64_t> paid;
        for (const node_object* const node : nodes_)
            supply.on.emplace(node->metadata.key.name, listed(*node, resource));
        std::size_t partitions = 0;
        std::size_t tainted = 0;
        for (const std::size_t at : selected) {
            served_.emplace(at, resource);
            const device& of = *pooled_.usable[at].of;
            partitions += of.consumes.empty() ? 0U : 1U;
            tainted += of.consumes.empty() && is_tainted(of) ? 1U : 0U;
            if (!is_tainted(of) && of.consumes.empty())
                counted.push_back(at);
            const auto user = users_.find(pooled_.usable[at].id);
            if (user != users_.end()) {
                if (!user->second)
                    continue;
                const auto [left, is_new] = paid.try_emplace(user->second);
                if (is_new)
                    left->second = charged(*user->second, resource);
                if (left->second <= 0)
                    continue;
                --left->second;
                if (user->second->node.empty())
                    place(at, resource, supply);
                else
                    add(supply, resource, user->second->node);
            } else if (!is_tainted(of) && of.consumes.empty()) {
                place(at, resource, supply);
            }
        }
        const device_class_object& of_class = *catalog_->class_of(resource);
        const std::string& class_name = of_class.metadata.key.name;
        const std::string pools = unusable_pools_text(pooled_.unusable, of_class.selectors);
        if (selected.empty() &&
            std::ranges::none_of(supply.on, [](const auto& each) { return each.second > 0; })) {
            supply.lack = "device class " + class_name + " serves it, and " +
                          (pools.empty() ? "selects no device of a complete pool" : pools);
        } else {
            if (partitions + tainted > 0)
                supply.lack = "not counted of device class " + class_name + ": " +
                              (tainted > 0 ? std::to_string(tainted) + " with taints" : "") +
                              (tainted > 0 && partitions > 0 ? ", " : "") +
                              (partitions > 0 ? std::to_string(partitions) +
                                                    " that share counters (partitions)"
                                              : "");
            add_part(supply.lack, pools);
        }
        into_->kinds.emplace(resource, std::move(supply));
        for (const pod_object* const pod : pods_) {
            const auto asked = pod->requests.find(resource);
            if (!waits(*pod) || asked == pod->requests.end())
                continue;
            // Claims of others end, taints go, and slices are published: there may come to be more.
            volume_effects& to = into_->pods[pod->metadata.key];
            to.growing.insert(resource);
            if (writes_ == device_writes::claims && asked->second.milli > 0)
                to.served.insert(resource);
        }
    }

    void add(volume_supply& supply, const std::string& resource, std::string_view name) const {
        const auto node = by_name_.find(name);
        if (node != by_name_.end() && listed(*nodes_[node->second], resource) == 0)
            ++supply.on.at(views_[node->second].name);
    }

    /// Counts a free device on one node that can use it: the node with the fewest of the first
    /// resource that the device serves. All resources count it there.
    void place(std::size_t device, const std::string& resource, volume_supply& supply) {
        const device_nodes& reached = *pooled_.usable[device].nodes;
        if (!reached.selector && !reached.all && reached.skips.empty())
            return add(supply, resource, reached.name);
        if (const auto known = home_.find(device); known != home_.end())
            return add(supply, resource, known->second);
        std::string_view home;
        std::int64_t* best = nullptr;
        for (std::size_t at = 0; at < nodes_.size(); ++at) {
            if (listed(*nodes_[at], resource) > 0 || !reaches(views_[at], reached))
                continue;
            std::int64_t& count = supply.on.at(nodes_[at]->metadata.key.name);
            if (!best || count < *best) {
                best = &count;
                home = views_[at].name;
            }
        }
        if (best) {
            ++*best;
            home_.emplace(device, home);
        }
    }

    const device_catalog* catalog_;
    std::span<const node_object* const> nodes_;
    device_writes writes_;
    claim_reservations reserved_;
    std::vector<node<1>> views_;
    std::map<std::string_view, std::size_t> by_name_;
    std::span<const pod_object* const> pods_;
    volume_plan* into_ = nullptr;
    device_counter::kind_names* names_ = nullptr;
    pooled_devices pooled_;
    std::map<device_id, const pod_object*> users_;
    /// The node that a device of several nodes counts on for extended resources, by position.
    std::map<std::size_t, std::string_view> home_;
    /// By resource that is counted, the devices that its class selects.
    std::map<std::string, device_set> selected_;
    /// By resource, the selected devices that can count for the resource.
    std::map<std::string, device_set> counted_;
    /// The resource that each device is counted for, by position.
    std::map<std::size_t, std::string> served_;
};

} // namespace codec
} // namespace v0_1
} // namespace muster
