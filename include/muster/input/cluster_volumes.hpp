// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/device_catalog.hpp>
#include <muster/apis/core/claims/device_claims.hpp>
#include <muster/apis/core/claims/device_planner.hpp>
#include <muster/apis/core/numa/numa_planner.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/volumes/storage_catalog.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/apis/core/volumes/volume_planner.hpp>
#include <muster/apis/shares/share_planner.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/input/membership.hpp>
#include <muster/vocabulary/gang.hpp>
#include <muster/vocabulary/subtree_status.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

inline void tell_assumed(std::size_t count, const std::string& what, diagnostics& out) {
    if (count > 0)
        out.add({severity::warning,
                 {"(input)", 0, 0},
                 {},
                 std::to_string(count) + (count == 1 ? " volume" : " volumes") +
                     (count == 1 ? " of a pod counts" : " of pods count") +
                     " as usable on every node: " + what});
}

/// Some node has a resource that only the agent of another scheduler gives.
[[nodiscard]] inline bool has_agents(const manifests& objects) {
    return std::ranges::any_of(objects.nodes,
                               [](const node_object& each) { return !each.of_agents.empty(); });
}

/// Pointers to the objects in the order of their keys, so that the order of an input's objects does
/// not matter.
template<class Object>
[[nodiscard]] std::vector<const Object*> by_key(const std::vector<Object>& objects) {
    std::vector<const Object*> sorted;
    for (const Object& each : objects)
        sorted.push_back(&each);
    std::ranges::stable_sort(sorted, {}, [](const Object* each) { return each->metadata.key; });
    return sorted;
}

/// Adds the effects of the pods' ResourceClaims and extended resources on the input's devices.
inline void plan_devices(const manifests& objects, std::span<const pod_object* const> pods,
                         const std::set<std::string>& asked, device_writes writes,
                         volume_plan& into) {
    if (objects.devices.classes.empty() && !has_agents(objects) &&
        std::ranges::all_of(pods, [](const pod_object* each) { return each->claims.empty(); }))
        return;
    const std::vector<const node_object*> nodes = by_key(objects.nodes);
    const device_catalog catalog(objects.devices);
    device_planner(catalog, nodes, writes).plan(pods, asked, into);
}

} // namespace detail

/// True if a volume plan can have an entry for the pod. O(nodes).
[[nodiscard]] inline bool bears_on_plan(const manifests& objects, const pod_object& pod) {
    return !pod.volumes.empty() || !pod.claims.empty() || !objects.devices.classes.empty() ||
           detail::has_agents(objects);
}

/// Plans the volumes and devices of one pod that is not in the input, as if no other pod waited.
/// Its claims are not allocated: a pod that needs that waits.
/// O(nodes + storage objects + devices).
[[nodiscard]] inline volume_effects plan_volumes_of(const manifests& objects,
                                                    const pod_object& pod) {
    std::vector<const node_object*> nodes;
    for (const node_object& each : objects.nodes)
        nodes.push_back(&each);
    const storage_catalog catalog(objects.storage);
    const volume_user user{&pod, 0, vertex_index{0}};
    volume_gang alone{gang_tree(1)};
    alone.count(pod, user.role);
    volume_plan made = volume_planner(catalog, nodes, {&user, 1}, {&alone, 1}).plan();
    const pod_object* const pods[] = {&pod};
    detail::plan_devices(objects, pods, {}, device_writes::extended_resources, made);
    return made.pods.empty() ? volume_effects{} : std::move(made.pods.begin()->second);
}

namespace detail {

[[nodiscard]] inline volume_plan plan_storage(const manifests& objects, diagnostics& out) {
    if (std::ranges::all_of(objects.pods,
                            [](const pod_object& pod) { return pod.volumes.empty(); }))
        return {};
    // Volumes are assigned to gangs by priority, then age, then name.
    diagnostics ignored(0);
    std::vector<const group_map::value_type*> group_of;
    const group_map groups = find_groups(objects, object_lookup(objects), group_of, ignored);
    std::vector<const group_map::value_type*> order;
    for (const auto& each : groups)
        order.push_back(&each);
    std::ranges::stable_sort(order, {}, [](const auto* each) {
        return std::pair(~each->second.priority,
                         each->second.created.value_or(std::numeric_limits<timestamp>::max()));
    });
    std::map<const group_map::value_type*, std::size_t> rank;
    std::vector<volume_gang> gangs;
    for (std::size_t at = 0; at < order.size(); ++at) {
        rank.emplace(order[at], at);
        volume_gang& gang = gangs.emplace_back(order[at]->second.tree);
        for (const std::size_t member : order[at]->second.members)
            gang.count(objects.pods[member], order[at]->second.role_of(objects.pods[member]));
    }

    const std::vector<const node_object*> nodes = by_key(objects.nodes);
    std::vector<volume_user> users;
    for (std::size_t at = 0; at < objects.pods.size(); ++at)
        if (!objects.pods[at].volumes.empty())
            users.push_back({&objects.pods[at], rank.at(group_of[at]),
                             group_of[at]->second.role_of(objects.pods[at])});
    std::ranges::sort(users, {}, [](const volume_user& of) {
        return std::pair(of.pod->metadata.created.value_or(std::numeric_limits<timestamp>::max()),
                         of.pod->metadata.key);
    });
    const storage_catalog catalog(objects.storage);
    std::vector<const pod_object*> standing;
    for (const pod_object* const each : by_key(objects.pods))
        if (!each->node.empty() && each->phase != pod_phase::succeeded &&
            each->phase != pod_phase::failed)
            standing.push_back(each);
    volume_plan made = volume_planner(catalog, nodes, users, gangs, std::move(standing)).plan();
    detail::tell_assumed(made.assumed_claims, "the input holds no PersistentVolumeClaims", out);
    detail::tell_assumed(made.assumed_volumes, "the input holds no PersistentVolumes", out);
    detail::tell_assumed(made.assumed_classes,
                         "their claims are new, and the input holds no StorageClasses", out);
    detail::tell_assumed(made.assumed_drafts,
                         "their claims are made with the pods, and bound before pods are placed",
                         out);
    return made;
}

} // namespace detail

/// Plans the volumes and devices of an input's pods. If the input may have left out its claims,
/// volumes or storage classes (storage_listing), volumes that need them count as usable on every
/// node, with one warning per kind. Pods whose device claims are missing wait. Extended resources
/// that pods of `foreseen` request are counted too. O(pods) if no pod has relevant volumes or
/// claims and there is no DeviceClass.
[[nodiscard]] inline volume_plan plan_volumes(const manifests& objects, diagnostics& out,
                                              const manifests* foreseen = nullptr) {
    volume_plan made = detail::plan_storage(objects, out);
    const std::vector<const pod_object*> pods = detail::by_key(objects.pods);
    std::set<std::string> asked;
    if (foreseen)
        for (const pod_object& each : foreseen->pods)
            for (const auto& request : each.requests)
                asked.insert(request.first);
    detail::plan_devices(objects, pods, asked, device_writes::all, made);
    const std::vector<const node_object*> nodes = detail::by_key(objects.nodes);
    share_planner(nodes, pods, objects.koordinator_devices, out, {}).plan(made);
    numa_planner(nodes, pods, detail::by_key(objects.node_topologies)).plan(made);
    return made;
}

namespace detail {

/// Pods of which at most one is placed: they use one ReadWriteOncePod claim. Per role.
using lone_users = std::map<std::size_t, std::int64_t>;

/// Some choice of one pod for each claim meets the minima, beside pods of which all may be placed.
/// Also true after too many choices.
[[nodiscard]] inline bool meets_minima(const gang_tree& tree, std::vector<std::int64_t>& counts,
                                       std::span<const lone_users> claims, std::size_t& tries) {
    if (claims.empty())
        return tries-- == 0 || reaches_minima(tree, counts);
    for (const auto& [role, users] : claims.front()) {
        ++counts[role];
        const bool met = tries == 0 || meets_minima(tree, counts, claims.subspan(1), tries);
        --counts[role];
        if (met)
            return true;
    }
    return false;
}

} // namespace detail

/// Marks a gang as malformed when its minima need two pods at a time that use one ReadWriteOncePod
/// claim: it never starts. A pod with several such claims is held to one of them.
inline void check_lone_claims(const manifests& objects, const volume_plan& volumes,
                              group_facts& facts) {
    if (volumes.pods.empty() || facts.fault != gang_fault::none)
        return;
    std::vector<std::int64_t> counts(facts.tree.size(), 0);
    std::map<std::string, detail::lone_users> users;
    for (const std::size_t member : facts.members) {
        const pod_object& pod = objects.pods[member];
        if (pod.metadata.terminating || pod.phase == pod_phase::failed)
            continue;
        const std::size_t role = facts.role_of(pod).value();
        const std::string* claim = nullptr;
        if (const volume_effects* const own = volumes.find(pod.metadata.key))
            for (const auto& [mark, value] : own->labels)
                if (value == lone_claim && !claim)
                    claim = &mark;
        if (claim)
            ++users[*claim][role];
        else
            ++counts[role];
    }
    std::vector<detail::lone_users> shared;
    std::vector<std::int64_t> all = counts;
    std::string claims;
    for (const auto& [mark, roles] : users) {
        std::int64_t sum = 0;
        for (const auto& [role, count] : roles) {
            sum += count;
            all[role] += count;
        }
        if (sum < 2) {
            ++counts[roles.begin()->first];
            continue;
        }
        shared.push_back(roles);
        claims += (claims.empty() ? "" : ", ") + mark.substr(mark.find('/') + 1);
    }
    constexpr std::size_t most_tries = 1000;
    std::size_t tries = most_tries;
    if (shared.empty() || !reaches_minima(facts.tree, all) ||
        detail::meets_minima(facts.tree, counts, shared, tries))
        return;
    facts.fault = gang_fault::malformed;
    facts.fault_detail = "the minimum of the gang requires several pods that use " +
                         std::string(shared.size() == 1 ? "claim " : "claims ") + claims +
                         " at a time, and access mode ReadWriteOncePod allows one pod (expected "
                         "another access mode, or a lower minimum)";
}

} // namespace codec
} // namespace v0_1
} // namespace muster
