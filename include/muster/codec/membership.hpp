// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/codec/ack_labels.hpp>
#include <muster/codec/diagnostic.hpp>
#include <muster/codec/objects.hpp>
#include <muster/model/gang.hpp>

namespace muster::inline v0_1 {
namespace codec {

/// How a group is declared.
enum class group_origin : std::uint8_t {
    /// A T9k PodGroup object, or pods that name one.
    pod_group,
    /// ACK labels on its pods.
    labels,
    /// A pod of its own.
    single_pod,
};

struct group_key {
    std::string name_space;
    std::string name;
    group_origin origin = group_origin::single_pod;

    [[nodiscard]] friend auto operator<=>(const group_key&, const group_key&) = default;
};

/// What is known of a group before anything is decided.
struct group_facts {
    /// The PodGroup object, if there is one.
    const pod_group_object* object = nullptr;
    gang_tree tree;
    std::string queue;
    std::int64_t priority = 0;
    std::optional<timestamp> created;
    gang_fault fault = gang_fault::none;
    /// Of a fault: what exactly is wrong.
    std::string fault_detail;
    /// Positions in the manifests' pods, in the order of their names.
    std::vector<std::size_t> members;

    [[nodiscard]] vertex_index role_of(const pod_object& pod) const;
};

inline constexpr std::string_view t9k_group_label = "scheduler.tensorstack.dev/group-name";
inline constexpr std::string_view t9k_role_label = "scheduler.tensorstack.dev/role";
inline constexpr std::string_view t9k_queue_label = "scheduler.tensorstack.dev/queue";

/// A T9k PodGroup's tree: the root with minMember (absent or 0: the sum of the role minima, at
/// least 1), a leaf per role, and a last leaf for members of no listed role. Without roles the root
/// is the only role.
[[nodiscard]] inline gang_tree tree_of(const pod_group_object& object) {
    std::int64_t sum = 0;
    for (const role_minimum& role : object.roles)
        sum += role.min_member;
    gang_tree tree(object.min_member > 0 ? object.min_member : std::max<std::int64_t>(1, sum));
    for (const role_minimum& role : object.roles)
        tree.add(vertex_index{0}, role.min_member, role.name);
    if (!object.roles.empty())
        tree.add(vertex_index{0}, 0);
    return tree;
}

inline vertex_index group_facts::role_of(const pod_object& pod) const {
    if (tree.size() == 1)
        return vertex_index{0};
    const std::string* role = pod.metadata.labels.find(t9k_role_label);
    for (std::size_t leaf = 1; role && leaf + 1 < tree.size(); ++leaf)
        if (tree[leaf].name == *role)
            return vertex_index{leaf};
    return vertex_index{tree.size() - 1};
}

[[nodiscard]] inline const std::string* label(const pod_object& pod, std::string_view key) {
    return pod.metadata.labels.find(key);
}

/// The labels of a namespace, with the one that every namespace carries.
[[nodiscard]] inline label_set namespace_labels(const manifests& objects, const std::string& name) {
    label_set labels;
    for (const namespace_object& object : objects.namespaces)
        if (object.metadata.key.name == name)
            labels = object.metadata.labels;
    labels.set("kubernetes.io/metadata.name", name);
    return labels;
}

/// The priority of a pod that no PodGroup ranks: its own, else that of its class, else that of the
/// default class, else 0.
[[nodiscard]] inline std::int64_t pod_priority(const manifests& objects, const pod_object& pod) {
    if (pod.priority)
        return *pod.priority;
    if (pod.priority_class == "system-cluster-critical")
        return 2'000'000'000;
    if (pod.priority_class == "system-node-critical")
        return 2'000'001'000;
    for (const priority_class_object& object : objects.priority_classes)
        if (pod.priority_class.empty() ? object.global_default
                                       : object.metadata.key.name == pod.priority_class)
            return object.value;
    return 0;
}

/// Pods that required anti-affinity of a standing pod keeps at a distance that is not modelled.
[[nodiscard]] inline std::set<object_key> repelled_pods(const manifests& objects) {
    std::set<object_key> found;
    for (const pod_object& standing : objects.pods) {
        if (standing.repels.empty() || standing.node.empty())
            continue;
        for (const pod_object& other : objects.pods) {
            if (!other.node.empty() || other.phase != pod_phase::pending)
                continue;
            for (const pod_object::repulsion& term : standing.repels) {
                const std::string& home = other.metadata.key.name_space;
                const bool here =
                    std::ranges::find(term.namespaces, home) != term.namespaces.end() ||
                    (term.namespace_selector &&
                     term.namespace_selector->matches(namespace_labels(objects, home))) ||
                    (term.namespaces.empty() && !term.namespace_selector &&
                     home == standing.metadata.key.name_space);
                if (here && term.pods.matches(other.metadata.labels))
                    found.insert(other.metadata.key);
            }
        }
    }
    return found;
}

namespace detail {

/// A pod that stood somewhere before its group was created (anew) is no member of it.
[[nodiscard]] inline bool outlived(const pod_object& pod, const pod_group_object& group) {
    return pod.scheduled && group.metadata.created && *pod.scheduled < *group.metadata.created;
}

inline void take_declared(const manifests& objects, std::map<group_key, group_facts>& groups) {
    for (const pod_group_object& object : objects.pod_groups) {
        group_facts facts;
        facts.object = &object;
        facts.tree = tree_of(object);
        facts.queue = object.queue;
        facts.priority = object.priority;
        facts.created = object.metadata.created;
        groups.emplace(group_key{object.metadata.key.name_space, object.metadata.key.name,
                                 group_origin::pod_group},
                       std::move(facts));
    }
}

/// What the members of a labelled group must agree on.
inline void agree(const manifests& objects, group_facts& facts) {
    const pod_object& first = objects.pods[facts.members.front()];
    const auto minimum = read_ack_labels(first)->min_available;
    facts.tree = gang_tree(minimum);
    facts.priority = pod_priority(objects, first);
    const std::string* queue = label(first, t9k_queue_label);
    facts.queue = queue ? *queue : "";
    for (const std::size_t at : facts.members) {
        const pod_object& pod = objects.pods[at];
        if (pod.metadata.created && (!facts.created || *pod.metadata.created < *facts.created))
            facts.created = pod.metadata.created;
        const std::string* own_queue = label(pod, t9k_queue_label);
        const char* what = read_ack_labels(pod)->min_available != minimum ? "min-available"
                           : pod_priority(objects, pod) != facts.priority ? "priority"
                           : (own_queue ? *own_queue : "") != facts.queue ? "queue"
                                                                          : nullptr;
        if (!what || facts.fault != gang_fault::none)
            continue;
        facts.fault = gang_fault::disagreement;
        facts.fault_detail = "pods " + first.metadata.key.name + " and " + pod.metadata.key.name +
                             " disagree on " + what;
    }
}

} // namespace detail

/// Sorts pods into groups; `group_of` gets the group of every pod. What is wrong with a pod's own
/// labels makes the pod a malformed group of its own, with a warning.
[[nodiscard]] inline std::map<group_key, group_facts>
find_groups(const manifests& objects, std::vector<group_key>& group_of, diagnostics& out) {
    std::map<group_key, group_facts> groups;
    detail::take_declared(objects, groups);
    group_of.assign(objects.pods.size(), {});
    for (std::size_t at = 0; at < objects.pods.size(); ++at) {
        const pod_object& pod = objects.pods[at];
        const object_key& own = pod.metadata.key;
        const std::string* named = label(pod, t9k_group_label);
        const auto ack = read_ack_labels(pod);
        group_key key{own.name_space, own.name, group_origin::single_pod};
        std::string wrong;
        if (named && ack)
            wrong = "the labels of two gang APIs name a group (expected one)";
        else if (ack && !ack->error.empty())
            wrong = ack->error;
        else if (named)
            key = {own.name_space, *named, group_origin::pod_group};
        else if (ack)
            key = {own.name_space, ack->name, group_origin::labels};
        const auto declared = groups.find(key);
        const bool late = key.origin == group_origin::pod_group && declared != groups.end() &&
                          declared->second.object &&
                          detail::outlived(pod, *declared->second.object);
        if (late)
            key = {own.name_space, own.name, group_origin::single_pod};
        group_facts& facts = groups[key];
        facts.members.push_back(at);
        group_of[at] = key;
        const std::string* queue = label(pod, t9k_queue_label);
        if (key.origin == group_origin::single_pod) {
            facts.tree = gang_tree(1);
            facts.priority = pod_priority(objects, pod);
            facts.created = pod.metadata.created;
            facts.queue = late ? declared->second.object->queue : queue ? *queue : "";
            if (!wrong.empty()) {
                facts.fault = gang_fault::malformed;
                facts.fault_detail = wrong;
                out.add({severity::warning, pod.metadata.where, "metadata.labels",
                         "pod " + own.name + ": " + wrong});
            }
        } else if (key.origin == group_origin::pod_group && !facts.object) {
            facts.fault = gang_fault::missing;
            if (queue && facts.queue.empty())
                facts.queue = *queue;
            facts.created = facts.created ? facts.created : pod.metadata.created;
        }
    }
    for (auto& [key, facts] : groups) {
        std::ranges::sort(facts.members, {}, [&](std::size_t at) -> const object_key& {
            return objects.pods[at].metadata.key;
        });
        if (key.origin == group_origin::labels)
            detail::agree(objects, facts);
    }
    return groups;
}

} // namespace codec
} // namespace muster::inline v0_1
