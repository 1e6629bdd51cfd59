// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <muster/cluster/cluster_state.hpp>
#include <muster/explain/affinity_refusal.hpp>
#include <muster/index/flat_scan.hpp>
#include <muster/index/node_query.hpp>
#include <muster/index/weights.hpp>
#include <muster/plan/plan.hpp>
#include <muster/problem/members.hpp>
#include <muster/resource/kind_table.hpp>
#include <muster/vocabulary/constraints.hpp>
#include <muster/vocabulary/node_claims.hpp>
#include <muster/vocabulary/taints.hpp>
#include <muster/words/node_refusal.hpp>
#include <muster/words/told_reason.hpp>

namespace muster {
inline namespace v0_1 {
namespace words {
namespace detail {

/// Adds the message of kube-scheduler for the first filter that rejects the node. The filter of
/// resources has one message for each resource. Equal messages count once.
template<class Traits>
void count_refusals(const cluster_state<Traits>& cluster, const kind_table& kinds,
                    const plan<Traits::width>& into, const member_class<Traits::width>& of,
                    const node_query<Traits::width>& query, node_index node,
                    std::set<std::string>& texts) {
    const constraints& where = query.where->value;
    const auto& spec = cluster[node].spec;
    const unsigned found = query.where->failed_filters[node.value()];
    if ((found & node_filter_cordon) != 0) {
        texts.insert("node(s) were unschedulable");
        return;
    }
    for (const taint& taint : spec.taints)
        if (taint.effect != taint_effect::prefer_no_schedule &&
            !tolerated(taint, where.tolerations)) {
            texts.insert(taint.key == unread_taint_key ? "node(s) could not be read"
                                                       : "node(s) had untolerated taint {" +
                                                             taint.key + ": " + taint.value + "}");
            return;
        }
    if ((found & (node_filter_volume | node_filter_unbound_volume)) != 0 &&
        (found & node_filter_selector) == 0) {
        texts.insert(volume_text(where, spec));
        return;
    }
    if (!eligible(query, node)) {
        texts.insert("node(s) didn't match Pod's node affinity/selector");
        return;
    }
    if (!compatible(of.claims->ports, into.accounts().claims(node).ports())) {
        texts.insert("node(s) didn't have free ports for the requested pod ports");
        return;
    }
    const auto& free = into.accounts().free(node);
    for (std::size_t column = 0; column < Traits::width; ++column)
        if (of.request[column] > 0 && of.request[column] > free[column])
            texts.insert(shortage_text(kinds.name(kind_id{column})));
    if (texts.empty() && !into.accounts().admits(node, *of.claims))
        texts.insert(devices_taken_text);
}

/// Returns the same as `node_refusals` for a gang that pod terms affect.
template<class Traits, class Score>
[[nodiscard]] std::map<std::string, std::size_t>
node_refusals_by_terms(const cluster_state<Traits>& cluster, const kind_table& kinds,
                       const gang_members<Traits::width>& members, const Score& score) {
    auto accounts = cluster.accounts();
    plan<Traits::width> into(accounts);
    std::map<std::string, std::size_t> counts;
    const auto refused = first_refusal(cluster, members, into, score);
    if (!refused)
        return counts;
    const auto& of = members.classes[refused->member_class];
    const auto query = muster::detail::query_for(cluster, of.shape, members.queue_nodes);
    for (const auto& each : refused->nodes) {
        std::set<std::string> own;
        count_refusals(cluster, kinds, into, of, query, each.node, own);
        if (own.empty() && each.why != affinity_violation::none)
            own.insert(term_text(each, query.where->value));
        for (const std::string& text : own)
            ++counts[text];
    }
    return counts;
}

/// Places the members one by one, as for a gang without a minimum, and returns the number of nodes
/// with each message for the first member that finds no node. Empty if all members find one.
template<class Traits, class Score>
[[nodiscard]] std::map<std::string, std::size_t>
node_refusals(const cluster_state<Traits>& cluster, const kind_table& kinds,
              const gang_members<Traits::width>& members, const Score& score) {
    if (terms_bear_on(cluster, members))
        return node_refusals_by_terms(cluster, kinds, members, score);
    auto accounts = cluster.accounts();
    plan<Traits::width> into(accounts);
    const auto weights = weigh(accounts, cluster.pods_kind());
    std::map<std::string, std::size_t> counts;
    std::vector<std::size_t> used(members.classes.size(), 0);
    for (const std::size_t turn : members.turns) {
        const auto& of = members.classes[turn];
        const auto query = muster::detail::query_for(cluster, of.shape, members.queue_nodes);
        const auto node = best_node(into.accounts(), cluster.node_order(), query, weights, score);
        if (node && into.try_place(members.of(of)[used[turn]++], *node, of.request, *of.claims, {}))
            continue;
        for (const node_index each : cluster.node_order()) {
            std::set<std::string> own;
            if (cluster[each].present)
                count_refusals(cluster, kinds, into, of, query, each, own);
            for (const std::string& text : own)
                ++counts[text];
        }
        break;
    }
    return counts;
}

/// Returns the number of nodes with each message for one member. Nodes that could take the member
/// have the message of the gang, because the gang as a whole is stopped.
template<class Traits>
[[nodiscard]] std::map<std::string, std::size_t>
node_refusals_of_gang(const cluster_state<Traits>& cluster, const kind_table& kinds,
                      const gang_members<Traits::width>& members,
                      const std::vector<told_reason>& why) {
    auto accounts = cluster.accounts();
    const plan<Traits::width> into(accounts);
    std::map<std::string, std::size_t> counts;
    if (members.turns.empty())
        return counts;
    const auto& of = members.classes[members.turns.front()];
    const auto query = muster::detail::query_for(cluster, of.shape, members.queue_nodes);
    for (const node_index node : cluster.node_order()) {
        if (!cluster[node].present)
            continue;
        std::set<std::string> own;
        count_refusals(cluster, kinds, into, of, query, node, own);
        if (own.empty())
            own.insert(gang_refusal(why));
        for (const std::string& text : own)
            ++counts[text];
    }
    return counts;
}

} // namespace detail
} // namespace words
} // namespace v0_1
} // namespace muster
