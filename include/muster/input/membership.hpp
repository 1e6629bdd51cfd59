// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
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

#include <muster/apis/ack/labels.hpp>
#include <muster/apis/core/objects.hpp>
#include <muster/apis/gang_facts.hpp>
#include <muster/apis/kueue/queues.hpp>
#include <muster/apis/missing_group.hpp>
#include <muster/apis/t9k/group_tree.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/vocabulary/gang.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

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
    /// What another API or a job says of it, if that is where it comes from.
    const declared_gang* declared = nullptr;
    gang_tree tree;
    std::string queue;
    std::int64_t priority = 0;
    std::optional<timestamp> created;
    gang_fault fault = gang_fault::none;
    /// Of a fault: what exactly is wrong.
    std::string fault_detail;
    /// What is asked of the group as a whole and not modelled: its members wait.
    std::string unsupported;
    /// Positions in the manifests' pods, in the order of their names.
    std::vector<std::size_t> members;

    [[nodiscard]] vertex_index role_of(const pod_object& pod) const;
};

/// Of a job or a pod, and of a pod that Kueue has let go.
inline constexpr std::string_view kueue_queue_label = "kueue.x-k8s.io/queue-name";
inline constexpr std::string_view kueue_pod_queue_label = "kueue.x-k8s.io/local-queue-name";
inline constexpr std::string_view kueue_priority_label = "kueue.x-k8s.io/priority-class";
/// The queue of KAI's groups that ask for none. Where nobody made it, it admits everybody, as the
/// queue "default" does.
inline constexpr std::string_view kai_default_queue = "default-queue";

inline vertex_index group_facts::role_of(const pod_object& pod) const {
    if (tree.size() == 1)
        return vertex_index{0};
    if (declared)
        return declared->members.at(pod.metadata.key);
    const std::string* role = pod.metadata.labels.find(translate::keys::t9k_role);
    for (std::size_t leaf = 1; role && leaf + 1 < tree.size(); ++leaf)
        if (tree[leaf].name == *role)
            return vertex_index{leaf};
    return vertex_index{tree.size() - 1};
}

[[nodiscard]] inline const std::string* label(const pod_object& pod, std::string_view key) {
    return pod.metadata.labels.find(key);
}

/// Namespaces and priority classes by name.
class object_lookup {
public:
    explicit object_lookup(const manifests& objects) {
        for (const namespace_object& object : objects.namespaces)
            namespaces_.emplace(object.metadata.key.name, &object);
        for (const priority_class_object& object : objects.priority_classes) {
            classes_.emplace(object.metadata.key.name, object.value);
            if (object.never_preempts)
                never_preempting_.insert(object.metadata.key.name);
            // Of several default classes the lowest is one (Kubernetes' priority admission).
            if (object.global_default)
                default_priority_ =
                    std::min(object.value, default_priority_.value_or(object.value));
        }
        for (const workload_priority_object& object : objects.workload_priorities)
            workload_classes_.emplace(object.metadata.key.name, object.value);
        classes_["system-cluster-critical"] = 2'000'000'000;
        classes_["system-node-critical"] = 2'000'001'000;
    }

    /// The labels of a namespace, with the one that every namespace carries.
    [[nodiscard]] label_set namespace_labels(const std::string& name) const {
        label_set labels;
        if (const auto known = namespaces_.find(name); known != namespaces_.end())
            labels = known->second->metadata.labels;
        labels.set("kubernetes.io/metadata.name", name);
        return labels;
    }

    /// The priority of a pod that no PodGroup ranks: its own, else that of its class, else that of
    /// the default class, else 0. Nothing when there is no such class.
    [[nodiscard]] std::optional<std::int64_t> priority(const pod_object& pod) const {
        if (pod.priority)
            return pod.priority;
        if (pod.priority_class.empty())
            return default_priority_.value_or(0);
        const auto known = classes_.find(pod.priority_class);
        return known == classes_.end() ? std::nullopt : std::optional(known->second);
    }

    /// The number that a PriorityClass stands for; nothing when there is no such class.
    [[nodiscard]] std::optional<std::int64_t> class_value(std::string_view name) const {
        const auto known = classes_.find(name);
        return known == classes_.end() ? std::nullopt : std::optional(known->second);
    }

    /// The number that a WorkloadPriorityClass stands for; nothing when there is no such class.
    [[nodiscard]] std::optional<std::int64_t> workload_class_value(std::string_view name) const {
        const auto known = workload_classes_.find(name);
        return known == workload_classes_.end() ? std::nullopt : std::optional(known->second);
    }

    /// It or its class says that nobody is to be evicted for it.
    [[nodiscard]] bool never_preempts(const pod_object& pod) const {
        return pod.never_preempts || never_preempting_.contains(pod.priority_class);
    }

private:
    std::map<std::string_view, const namespace_object*> namespaces_;
    std::set<std::string_view> never_preempting_;
    std::map<std::string_view, std::int64_t> classes_;
    std::map<std::string_view, std::int64_t> workload_classes_;
    std::optional<std::int64_t> default_priority_;
};

[[nodiscard]] inline group_key key_of(const declared_gang& object) {
    return {object.metadata.key.name_space, object.metadata.key.name, object.origin};
}

namespace detail {

/// A pod that stood somewhere before its group was created (anew) is no member of it.
[[nodiscard]] inline bool outlived(const pod_object& pod, const pod_group_object& group) {
    return pod.scheduled && group.metadata.created && *pod.scheduled < *group.metadata.created;
}

/// Returns the queue that a pod names: that of a pod without a group, and of a group that names
/// none. Of several marks the first counts, in the order of gang_facts; Kueue's, which name a queue
/// of the namespace, come behind T9k's.
[[nodiscard]] inline std::string queue_of(const manifests& objects, const pod_object& pod) {
    const auto named_by = [&](const translate::api_facts& api) -> const std::string* {
        for (const translate::gang_mark& each : api.marks)
            if (each.use == translate::mark_use::queue)
                if (const std::string* queue = each.at == translate::mark_place::label
                                                   ? label(pod, each.key)
                                                   : pod.metadata.annotations.find(each.key))
                    return queue;
        return nullptr;
    };
    if (const std::string* queue = named_by(translate::t9k_facts))
        return *queue;
    for (const std::string_view key : {kueue_queue_label, kueue_pod_queue_label})
        if (const std::string* queue = objects.kueue ? label(pod, key) : nullptr)
            return queue_behind(objects, {pod.metadata.key.name_space, *queue});
    for (const translate::api_facts& api : translate::gang_facts)
        if (const std::string* queue = named_by(api))
            return *queue;
    return {};
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
    for (const declared_gang& object : objects.gangs) {
        group_facts facts;
        facts.declared = &object;
        facts.tree = object.tree;
        facts.queue = object.queue;
        facts.priority = object.priority;
        facts.created = object.metadata.created;
        facts.fault = object.fault;
        facts.fault_detail = object.fault_detail;
        facts.unsupported = object.unsupported;
        groups.emplace(key_of(object), std::move(facts));
    }
}

/// The group of every pod that a declared gang has for a member.
[[nodiscard]] inline std::map<object_key, std::map<group_key, group_facts>::value_type*>
members_of_declared(const manifests& objects, std::map<group_key, group_facts>& groups) {
    std::map<object_key, std::map<group_key, group_facts>::value_type*> joined;
    for (const declared_gang& object : objects.gangs) {
        const auto group = groups.find(key_of(object));
        for (const auto& [pod, leaf] : object.members)
            joined.emplace(pod, &*group);
    }
    return joined;
}

/// What the members of a labelled group must agree on.
inline void agree(const manifests& objects, const object_lookup& lookup, group_facts& facts) {
    // Pods of an earlier run that ended badly or are on their way out have no say.
    std::vector<std::size_t> heard;
    for (const std::size_t at : facts.members)
        if (!objects.pods[at].metadata.terminating && objects.pods[at].phase != pod_phase::failed)
            heard.push_back(at);
    if (heard.empty())
        heard = facts.members;
    const pod_object& first = objects.pods[heard.front()];
    const auto minimum = read_ack_labels(first)->min_available;
    facts.tree = gang_tree(minimum);
    facts.priority = lookup.priority(first).value_or(0);
    facts.queue = queue_of(objects, first);
    for (const std::size_t at : heard) {
        const pod_object& pod = objects.pods[at];
        const char* what = read_ack_labels(pod)->min_available != minimum       ? "min-available"
                           : lookup.priority(pod).value_or(0) != facts.priority ? "priority"
                           : queue_of(objects, pod) != facts.queue              ? "queue"
                                                                                : nullptr;
        if (!what)
            continue;
        facts.fault = gang_fault::disagreement;
        facts.fault_detail = "pods " + first.metadata.key.name + " and " + pod.metadata.key.name +
                             " disagree on " + what;
        break;
    }
}

/// The oldest member's age stands for that of a group without an object, and the first queue that a
/// member names, in the order of names, for that of a group that is missing.
inline void complete(const manifests& objects, const object_lookup& lookup, const group_key& key,
                     group_facts& facts) {
    std::ranges::sort(facts.members, {}, [&](std::size_t at) -> const object_key& {
        return objects.pods[at].metadata.key;
    });
    if (facts.object || (facts.declared && facts.created))
        return;
    for (const std::size_t at : facts.members) {
        const auto& created = objects.pods[at].metadata.created;
        if (created && (!facts.created || *created < *facts.created))
            facts.created = created;
        if (facts.queue.empty() && !facts.declared)
            facts.queue = queue_of(objects, objects.pods[at]);
    }
    if (key.origin == group_origin::labels)
        agree(objects, lookup, facts);
}

} // namespace detail

using group_map = std::map<group_key, group_facts>;

/// Sorts pods into groups; `group_of` gets the group of every pod, which stays where it is when the
/// map is moved. What is wrong with a pod's own labels makes the pod a malformed group of its own,
/// with a warning. O(pods · log pods).
[[nodiscard]] inline group_map find_groups(const manifests& objects, const object_lookup& lookup,
                                           std::vector<const group_map::value_type*>& group_of,
                                           diagnostics& out) {
    group_map groups;
    detail::take_declared(objects, groups);
    const auto joined = detail::members_of_declared(objects, groups);
    group_of.clear();
    group_of.reserve(objects.pods.size());
    for (std::size_t at = 0; at < objects.pods.size(); ++at) {
        const pod_object& pod = objects.pods[at];
        const object_key& own = pod.metadata.key;
        if (const auto known = joined.find(own); known != joined.end()) {
            known->second->second.members.push_back(at);
            group_of.push_back(known->second);
            continue;
        }
        const std::string* named = label(pod, translate::keys::t9k_group);
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
        const pod_group_object* left = nullptr;
        if (key.origin == group_origin::pod_group)
            if (const auto known = groups.find(key); known != groups.end())
                if (known->second.object && detail::outlived(pod, *known->second.object)) {
                    left = known->second.object;
                    key = {own.name_space, own.name, group_origin::single_pod};
                }
        if (key.origin != group_origin::pod_group && !lookup.priority(pod))
            report(out, severity::warning, pod.metadata.where, {"spec", "priorityClassName"},
                   "there is no PriorityClass " + in_quotes(pod.priority_class) +
                       ", its priority counts as 0 (expected a PriorityClass of the input)");
        const auto entry = groups.try_emplace(std::move(key)).first;
        group_facts& facts = entry->second;
        facts.members.push_back(at);
        group_of.push_back(&*entry);
        if (entry->first.origin == group_origin::single_pod) {
            facts.tree = gang_tree(1);
            facts.priority = lookup.priority(pod).value_or(0);
            facts.queue = left ? left->queue : detail::queue_of(objects, pod);
            if (!wrong.empty()) {
                facts.fault = gang_fault::malformed;
                facts.fault_detail = wrong;
                report(out, severity::warning, pod.metadata.where, {"metadata", "labels"},
                       "pod " + own.name + ": " + wrong);
            }
        } else if (entry->first.origin == group_origin::pod_group && !facts.object &&
                   facts.fault == gang_fault::none) {
            facts.fault = gang_fault::missing;
            facts.fault_detail =
                missing_group_text({.api = translate::gang_api::t9k, .group = entry->first.name},
                                   entry->first.name_space);
        }
    }
    for (auto& [key, facts] : groups) {
        detail::complete(objects, lookup, key, facts);
        if (facts.object && !facts.object->unread.empty()) {
            facts.fault = gang_fault::malformed;
            facts.fault_detail = facts.object->unread;
        }
    }
    return groups;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
