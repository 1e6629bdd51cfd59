// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <muster/explain/affinity_refusal.hpp>
#include <muster/input/broken_objects.hpp>
#include <muster/input/cluster.hpp>
#include <muster/muster.hpp>
#include <muster/resource/storage_kinds.hpp>

#include "report.hpp"

namespace cli {

/// Returns kube-scheduler's message for a node that has too little of a resource.
[[nodiscard]] inline std::string shortage_text(const std::string& kind) {
    if (muster::storage_kinds::counts_storage(kind))
        return muster::storage_kinds::counts_bytes(kind)
                   ? "node(s) did not have enough free storage"
                   : "node(s) didn't find available persistent volumes to bind";
    if (kind.starts_with("attachable-volumes-"))
        return "node(s) exceed max volume count";
    return kind == "pods" ? "Too many pods" : "Insufficient " + kind;
}

/// True if the reason is about volumes, which the counts of nodes do not name.
[[nodiscard]] inline bool names_claims(const reason_line& why) {
    return why.code == name_of(muster::reason_code::volume_out_of_reach) ||
           why.code == muster::words::volume_in_use ||
           (why.code == name_of(muster::reason_code::insufficient_resource) && why.resource &&
            (muster::storage_kinds::counts_storage(*why.resource) ||
             !muster::storage_kinds::driver_in(*why.resource).empty()));
}

/// Returns kube-scheduler's message for a node that cannot use the pod's volumes or devices.
template<std::size_t Width>
[[nodiscard]] std::string volume_text(const muster::constraints& where,
                                      const muster::node<Width>& spec) {
    bool bound = false;
    bool devices = false;
    for (const muster::volume_reach& each : where.volumes) {
        const bool reached =
            std::ranges::any_of(each.any_of, [&](const auto& term) { return term.matches(spec); });
        bound = bound || (!reached && each.bound && !each.of_devices);
        devices = devices || (!reached && each.of_devices);
    }
    return bound     ? "node(s) had volume node affinity conflict"
           : devices ? "resourceclaim not available on the node"
                     : "node(s) didn't find available persistent volumes to bind";
}

/// kube-scheduler's message for a node that lacks devices. For a node that lacks room in NUMA
/// zones, the message of the plugin NodeResourceTopologyMatch is "cannot align pod".
inline constexpr const char* devices_taken_text = "cannot allocate all claims";

/// Adds what kube-scheduler would count for one node: the first of its filters that says no, and of
/// the last one every resource. Resources with the same message count once.
template<class Traits>
void count_refusals(const muster::state<Traits>& known, const muster::kind_table& kinds,
                    const muster::plan<Traits::width>& into,
                    const muster::member_class<Traits::width>& of,
                    const muster::node_query<Traits::width>& query, muster::node_index node,
                    std::set<std::string>& texts) {
    const muster::constraints& where = query.where->value;
    const auto& spec = known[node].spec;
    const unsigned found = query.where->failed_filters[node.value()];
    if ((found & muster::node_filter_cordon) != 0) {
        texts.insert("node(s) were unschedulable");
        return;
    }
    for (const muster::taint& taint : spec.taints)
        if (taint.effect != muster::taint_effect::prefer_no_schedule &&
            !muster::tolerated(taint, where.tolerations)) {
            texts.insert(taint.key == muster::unread_taint_key
                             ? "node(s) could not be read"
                             : "node(s) had untolerated taint {" + taint.key + ": " + taint.value +
                                   "}");
            return;
        }
    if ((found & (muster::node_filter_volume | muster::node_filter_unbound_volume)) != 0 &&
        (found & muster::node_filter_selector) == 0) {
        texts.insert(volume_text(where, spec));
        return;
    }
    if (!muster::eligible(query, node)) {
        texts.insert("node(s) didn't match Pod's node affinity/selector");
        return;
    }
    if (!muster::compatible(of.claims->ports, into.accounts().claims(node).ports())) {
        texts.insert("node(s) didn't have free ports for the requested pod ports");
        return;
    }
    const auto& free = into.accounts().free(node);
    for (std::size_t column = 0; column < Traits::width; ++column)
        if (of.request[column] > 0 && of.request[column] > free[column])
            texts.insert(shortage_text(kinds.name(muster::kind_id{column})));
    if (texts.empty() && !into.accounts().admits(node, *of.claims))
        texts.insert(devices_taken_text);
}

/// What kube-scheduler says of a term between pods.
[[nodiscard]] constexpr const char* term_text(muster::affinity_violation why) noexcept {
    switch (why) {
    case muster::affinity_violation::spread_label:
        return "node(s) didn't match pod topology spread constraints (missing required label)";
    case muster::affinity_violation::spread:
        return "node(s) didn't match pod topology spread constraints";
    case muster::affinity_violation::affinity:
        return "node(s) didn't match pod affinity rules";
    case muster::affinity_violation::anti_affinity:
        return "node(s) didn't match pod anti-affinity rules";
    case muster::affinity_violation::existing_anti_affinity:
        return "node(s) didn't satisfy existing pods anti-affinity rules";
    case muster::affinity_violation::none:
        break;
    }
    return "";
}

/// Returns kube-scheduler's message for a node that a pod term rules out. Terms for shared volumes
/// and ResourceClaims have no pod affinity in the pod's spec, so they get the message for these.
[[nodiscard]] inline std::string term_text(const muster::affinity_refusal::place& refused,
                                           const muster::constraints& where) {
    const auto seeks = [&](const muster::affinity_term& term) {
        return !term.of_volume && term.topology == refused.topology;
    };
    if (refused.why == muster::affinity_violation::affinity && where.pods &&
        std::ranges::none_of(where.pods->affinity, seeks))
        return refused.topology == muster::volume_node_label
                   ? "cannot allocate all claims"
                   : "node(s) didn't find available persistent volumes to bind";
    const bool apart = refused.why == muster::affinity_violation::anti_affinity ||
                       refused.why == muster::affinity_violation::existing_anti_affinity;
    if (apart && refused.topology == muster::volume_cluster_label)
        return "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod "
               "access mode";
    if (apart && refused.topology == muster::volume_node_label)
        return "node(s) had no available disk";
    if (apart && refused.topology == muster::volume_supply_label)
        return "node(s) didn't find available persistent volumes to bind";
    return term_text(refused.why);
}

/// The same as `refusals` for a gang on which terms between pods bear.
template<class Traits, class Score>
[[nodiscard]] std::map<std::string, std::size_t>
refusals_among_pods(const muster::state<Traits>& known, const muster::kind_table& kinds,
                    const muster::gang_members<Traits::width>& members, const Score& score) {
    auto accounts = known.accounts();
    muster::plan<Traits::width> into(accounts);
    std::map<std::string, std::size_t> counts;
    const auto refused = muster::first_refusal(known, members, into, score);
    if (!refused)
        return counts;
    const auto& of = members.classes[refused->member_class];
    const auto query = muster::detail::query_for(known, of.shape, members.queue_nodes);
    for (const auto& each : refused->nodes) {
        std::set<std::string> own;
        count_refusals(known, kinds, into, of, query, each.node, own);
        if (own.empty() && each.why != muster::affinity_violation::none)
            own.insert(term_text(each, query.where->value));
        for (const std::string& text : own)
            ++counts[text];
    }
    return counts;
}

/// What the nodes say to the first member that finds none, when those before it are placed one by
/// one as for a gang of no minimum. Empty when all members find one.
template<class Traits, class Score>
[[nodiscard]] std::map<std::string, std::size_t>
refusals(const muster::state<Traits>& known, const muster::kind_table& kinds,
         const muster::gang_members<Traits::width>& members, const Score& score) {
    if (muster::terms_bear_on(known, members))
        return refusals_among_pods(known, kinds, members, score);
    auto accounts = known.accounts();
    muster::plan<Traits::width> into(accounts);
    const auto weights = muster::weigh(accounts, known.pods_kind());
    std::map<std::string, std::size_t> counts;
    std::vector<std::size_t> used(members.classes.size(), 0);
    for (const std::size_t turn : members.turns) {
        const auto& of = members.classes[turn];
        const auto query = muster::detail::query_for(known, of.shape, members.queue_nodes);
        const auto node =
            muster::best_node(into.accounts(), known.node_order(), query, weights, score);
        if (node && into.try_place(members.of(of)[used[turn]++], *node, of.request, *of.claims, {}))
            continue;
        for (const muster::node_index each : known.node_order()) {
            std::set<std::string> own;
            if (known[each].present)
                count_refusals(known, kinds, into, of, query, each, own);
            for (const std::string& text : own)
                ++counts[text];
        }
        break;
    }
    return counts;
}

/// What is wrong with a node that would take the members one by one.
[[nodiscard]] inline std::string gang_refusal(const std::vector<reason_line>& why) {
    const auto names = [&](const char* code) {
        return std::ranges::find(why, code, &reason_line::code) != why.end();
    };
    return names("QuotaExceeded")        ? "node(s) would take the queue over its quota"
           : names("TopologyFragmented") ? "node(s) stood in no domain that takes the group"
           : names("RoomReserved")       ? "node(s) had room kept for other groups"
           : names("FitsByNow")          ? "node(s) are to be asked again"
                                         : "node(s) couldn't take the group with the others";
}

/// What the nodes say to a member when it is not they alone that say no: those that would take it
/// are refused in the gang's name.
template<class Traits>
[[nodiscard]] std::map<std::string, std::size_t>
refusals_of_gang(const muster::state<Traits>& known, const muster::kind_table& kinds,
                 const muster::gang_members<Traits::width>& members,
                 const std::vector<reason_line>& why) {
    auto accounts = known.accounts();
    const muster::plan<Traits::width> into(accounts);
    std::map<std::string, std::size_t> counts;
    if (members.turns.empty())
        return counts;
    const auto& of = members.classes[members.turns.front()];
    const auto query = muster::detail::query_for(known, of.shape, members.queue_nodes);
    for (const muster::node_index node : known.node_order()) {
        if (!known[node].present)
            continue;
        std::set<std::string> own;
        count_refusals(known, kinds, into, of, query, node, own);
        if (own.empty())
            own.insert(gang_refusal(why));
        for (const std::string& text : own)
            ++counts[text];
    }
    return counts;
}

/// Why the gang waits in the words of kube-scheduler: what each node says to the first member that
/// finds none. Where every member would find one, or a quota stands in the way, the first of the
/// gang's own reasons follows. Before any node is looked at it stands alone, as there does what a
/// PreFilter plugin says.
template<class Traits, class Score>
[[nodiscard]] std::string
headline(const muster::state<Traits>& known, const muster::kind_table& kinds,
         const muster::gang_members<Traits::width>& members, muster::gate at, const Score& score,
         const std::vector<reason_line>& why) {
    std::size_t nodes = 0;
    for (const muster::node_index node : known.node_order())
        nodes += known[node].present ? 1U : 0U;
    std::map<std::string, std::size_t> counts;
    bool nodes_alone = false;
    if (at == muster::gate::space || at == muster::gate::quota) {
        counts = refusals(known, kinds, members, score);
        nodes_alone = at == muster::gate::space && !counts.empty();
        if (counts.empty())
            counts = refusals_of_gang(known, kinds, members, why);
    }
    std::string listed;
    const bool aligns = std::ranges::any_of(why, &reason_line::is_about_zones);
    for (const auto& [text, count] : counts)
        listed += (listed.empty() ? "" : ", ") + std::to_string(count) + " " +
                  (aligns && text == devices_taken_text ? "cannot align pod" : text);
    // The counts of nodes do not name the claim, so the reason is added.
    for (const reason_line& each : why)
        if (nodes_alone ? names_claims(each) : &each == &why.front())
            listed += (listed.empty() ? "" : ". ") + each.message;
    return "0/" + std::to_string(nodes) + " nodes are available: " + listed + ".";
}

} // namespace cli
