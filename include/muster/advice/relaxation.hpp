// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <muster/advice/change.hpp>
#include <muster/cluster/cluster_state.hpp>
#include <muster/problem/members.hpp>
#include <muster/vocabulary/labels.hpp>
#include <muster/vocabulary/node_names.hpp>

namespace muster {
inline namespace v0_1 {
namespace detail {

/// Returns tolerations for the taints of nodes that some member of the gang does not tolerate.
/// O(classes × taints).
template<class Traits>
[[nodiscard]] remedy tolerations_of(const cluster_state<Traits>& cluster,
                                    const gang_members<Traits::width>& members) {
    std::set<taint> taints;
    for (const auto& waiting_class : members.classes) {
        const constraints& where = cluster.constraint_sets()[waiting_class.where].value;
        for (const node_index node : cluster.node_order())
            for (const taint& one : cluster[node].spec.taints)
                if (one.effect != taint_effect::prefer_no_schedule && !one.is_condition() &&
                    !tolerated(one, where.tolerations))
                    taints.insert(one);
    }
    remedy all;
    for (const taint& one : taints)
        all.push_back(tolerate_taint{one});
    return all;
}

/// Node filters that a copy of the node would fail, too: all except cordons and conditions.
inline constexpr unsigned places_off =
    node_filter_selector | node_filter_taint | node_filter_volume | node_filter_unbound_volume;

/// True if a waiting member has a volume that is not ready and can become so. O(members).
template<class Traits>
[[nodiscard]] bool is_held_by_volumes(const cluster_state<Traits>& cluster, gang_index which) {
    return std::ranges::any_of(cluster[which].members, [&](pod_index member) {
        const constraints& where = cluster.where(member).value;
        return cluster[member].placeable() && where.volume_not_ready && !where.volume_unusable;
    });
}

/// The label says in which zone or region a node is.
[[nodiscard]] inline bool is_of_zone(const label_requirement& one) {
    return one.key.ends_with("/zone") || one.key.ends_with("/region");
}

/// Returns sets of labels for nodes to add, which members require and no node has that is large
/// enough for such a member. The first set has the labels of selectors, node affinity and volumes,
/// if any are missing. Each further set has these labels and a new domain for the topology label of
/// one required spread term. O(classes × requirements × nodes).
template<class Traits>
[[nodiscard]] std::vector<label_set> labels_that_lack(const cluster_state<Traits>& cluster,
                                                      const gang_members<Traits::width>& members) {
    const auto any_node = [&](const auto& meets) {
        return std::ranges::any_of(cluster.node_order(), [&](node_index node) {
            return cluster[node].present && meets(node, cluster[node].spec);
        });
    };
    label_set asked;
    std::set<std::string> spreads;
    const auto ask = [&](const label_selector& selector, const auto& request) {
        for (const label_requirement& one : selector.requirements)
            if (one.op == label_operator::in && !one.values.empty() && one.key != hostname_label &&
                !any_node([&](node_index node, const auto& spec) {
                    return one.matches(spec.labels.find(one.key)) &&
                           fits(request, cluster.accounts().allocatable(node));
                }))
                asked.set(one.key, one.values.front());
    };
    for (const auto& waiting_class : members.classes) {
        const constraints& where = cluster.constraint_sets()[waiting_class.where].value;
        ask(where.selector, waiting_class.request);
        if (where.affinity && !where.affinity->empty())
            ask(where.affinity->front().labels, waiting_class.request);
        // A node can be added to a zone, but not to the one node of a local volume.
        for (const volume_reach& volume : where.volumes)
            if (!volume.any_of.empty() &&
                std::ranges::all_of(volume.any_of.front().labels.requirements, is_of_zone))
                ask(volume.any_of.front().labels, waiting_class.request);
        if (!where.pods)
            continue;
        for (const auto& one : where.pods->spread)
            if (one.required && one.topology != hostname_label)
                spreads.insert(one.topology);
    }
    std::vector<label_set> found;
    if (asked.begin() != asked.end())
        found.push_back(asked);
    for (const std::string& key : spreads) {
        std::string fresh = "new";
        for (int number = 2; any_node([&](node_index, const auto& spec) {
                 const std::string* value = spec.labels.find(key);
                 return value && *value == fresh;
             });
             ++number)
            fresh = "new-" + std::to_string(number);
        found.push_back(asked);
        found.back().set(key, fresh);
    }
    return found;
}

/// Returns the changes that drop requirements of the gang and its members: node labels, node
/// affinity, terms on other pods, and shared domains. O(classes × requirements).
template<class Traits>
[[nodiscard]] remedy requirements_of(const cluster_state<Traits>& cluster,
                                     const gang_members<Traits::width>& members) {
    std::set<std::string> labels;
    bool node_affinity = false;
    bool affinity = false;
    bool anti_affinity = false;
    bool spread = false;
    for (const auto& waiting_class : members.classes) {
        const constraints& where = cluster.constraint_sets()[waiting_class.where].value;
        for (const label_requirement& one : where.selector.requirements)
            labels.insert(one.key);
        node_affinity = node_affinity || where.affinity.has_value();
        if (!where.pods)
            continue;
        const auto can_go = [](const affinity_term& one) { return !one.of_volume; };
        affinity = affinity || std::ranges::any_of(where.pods->affinity, can_go);
        anti_affinity = anti_affinity || std::ranges::any_of(where.pods->anti_affinity, can_go);
        spread = spread || std::ranges::any_of(where.pods->spread,
                                               [](const auto& one) { return one.required; });
    }
    remedy all;
    for (const std::string& key : labels)
        all.push_back(drop_label{key});
    if (node_affinity)
        all.push_back(drop_affinity{});
    if (affinity)
        all.push_back(drop_pod_terms{pod_term_kind::affinity});
    if (anti_affinity)
        all.push_back(drop_pod_terms{pod_term_kind::anti_affinity});
    if (spread)
        all.push_back(drop_pod_terms{pod_term_kind::spread});
    const gang_tree& tree = *members.tree;
    for (std::size_t at = 0; at < tree.size(); ++at)
        if (tree[at].together && tree[at].together->required)
            all.push_back(drop_domain{vertex_index{at}});
    return all;
}

} // namespace detail
} // namespace v0_1
} // namespace muster
