// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <muster/apis/core/objects.hpp>
#include <muster/apis/core/reading_context.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/input/membership.hpp>
#include <muster/input/topology_reader.hpp>
#include <muster/vocabulary/topology.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

// What is well-formed object by object, and yet hardly meant as it stands in this cluster.

namespace detail {

/// Two levels of which the one that is listed as the coarser lies within the other: each of its
/// values on nodes of one value of the finer only, of which some has several.
[[nodiscard]] inline std::optional<std::pair<std::string, std::string>>
levels_turned_round(const manifests& objects, const topology& levels) {
    for (std::size_t at = 0; at + 1 < levels.levels.size(); ++at) {
        std::map<std::string_view, std::string_view> lies_in;
        std::map<std::string_view, std::string_view> holds;
        bool within = true;
        bool several = false;
        for (const node_object& node : objects.nodes) {
            const std::string* outer = node.metadata.labels.find(levels.levels[at]);
            const std::string* inner = node.metadata.labels.find(levels.levels[at + 1]);
            if (!outer || !inner)
                continue;
            within = within && lies_in.try_emplace(*outer, *inner).first->second == *inner;
            several = several || holds.try_emplace(*inner, *outer).first->second != *outer;
        }
        if (within && several)
            return std::pair(levels.levels[at], levels.levels[at + 1]);
    }
    return std::nullopt;
}

[[nodiscard]] inline std::string say_turned_round(const std::pair<std::string, std::string>& what) {
    return "level " + what.first + " stands before " + what.second + ", but each " + what.first +
           " lies in one " + what.second +
           ", so that both count as the former (expected levels from coarse to fine)";
}

inline void check_levels(const manifests& objects, const group_map& groups, diagnostics& out) {
    for (const topology_object& object : objects.topologies)
        if (const auto found = levels_turned_round(objects, object.levels))
            report(out, severity::warning, object.metadata.where, {"spec", "levels"},
                   say_turned_round(*found));
    for (const auto& [key, facts] : groups) {
        const auto& together = facts.tree[0].together;
        if (!together || !together->required || !together->preferred)
            continue;
        const object_metadata& of = facts.object     ? facts.object->metadata
                                    : facts.declared ? facts.declared->metadata
                                                     : objects.pods[facts.members.front()].metadata;
        const auto name = [&](std::size_t level) { return together->within.levels[level]; };
        const auto turned =
            levels_turned_round(objects, {{name(*together->required), name(*together->preferred)}});
        if (*together->preferred <= *together->required || turned)
            report(out, severity::warning, of.where, {"metadata", "annotations"},
                   "the preferred level " + name(*together->preferred) +
                       " is no finer than the required " + name(*together->required) +
                       ", so that it wishes for nothing (expected a finer one)");
    }
}

/// A node that nobody describes is there for its pods, and takes no others.
inline void check_nodes_of_pods(const manifests& objects, diagnostics& out) {
    std::set<std::string_view> known;
    for (const node_object& node : objects.nodes)
        known.insert(node.metadata.key.name);
    for (const pod_object& pod : objects.pods)
        if (!pod.node.empty() && pod.phase != pod_phase::succeeded &&
            pod.phase != pod_phase::failed && known.insert(pod.node).second)
            report(out, severity::warning, pod.metadata.where, {"spec", "nodeName"},
                   in_quotes(pod.node) + " is no node of the input (expected one; what its pods "
                                         "hold counts for their queues alone)");
}

inline void check_queues_of_pods(const manifests& objects, const group_map& groups,
                                 const std::string& queue_namespace, diagnostics& out) {
    std::map<std::string_view, const queue_object*> queues;
    for (const queue_object& queue : objects.queues)
        if (queue.counts(queue_namespace))
            queues.emplace(queue.metadata.key.name, &queue);
    for (const auto& [key, facts] : groups) {
        bool contradicts = false;
        std::set<std::string_view> missing;
        const auto queue = queues.find(facts.queue);
        for (const std::size_t at : facts.members) {
            const pod_object& pod = objects.pods[at];
            const std::string* own = label(pod, translate::keys::t9k_queue);
            if (facts.object && own && *own != facts.queue && !std::exchange(contradicts, true))
                report(out, severity::warning, pod.metadata.where,
                       {"metadata", "labels", translate::keys::t9k_queue},
                       in_quotes(*own) + " is not the queue of its group, which counts (expected " +
                           (facts.queue.empty() ? std::string("none") : in_quotes(facts.queue)) +
                           ")");
            // Only T9k's queues, which have a namespace, require requests for the kinds in a quota.
            if (queue == queues.end() || queue->second->of_cluster)
                continue;
            for (const std::string_view kind : {"cpu", "memory"})
                if (queue->second->quota.contains(std::string(kind)) &&
                    !pod.requests.contains(std::string(kind)) && missing.insert(kind).second)
                    report(out, severity::warning, pod.metadata.where, {"spec", "containers"},
                           "no container requests " + std::string(kind) + ", of which queue " +
                               facts.queue + " has a quota: it counts as 0 (expected a request)");
        }
    }
}

} // namespace detail

/// Warns of what contradicts itself in a cluster, once for each group, node and topology. O(objects
/// · log objects).
inline void check_cluster(const manifests& objects, const group_map& groups,
                          const std::string& queue_namespace, diagnostics& out) {
    detail::check_levels(objects, groups, out);
    detail::check_nodes_of_pods(objects, out);
    detail::check_queues_of_pods(objects, groups, queue_namespace, out);
}

} // namespace codec
} // namespace v0_1
} // namespace muster
