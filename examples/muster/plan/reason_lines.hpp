// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/device_words.hpp>
#include <muster/apis/core/numa/numa_words.hpp>
#include <muster/apis/core/volumes/storage_catalog.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/apis/core/volumes/volume_words.hpp>
#include <muster/cluster/state.hpp>
#include <muster/explain/explain_member.hpp>
#include <muster/resource/kind_table.hpp>
#include <muster/vocabulary/certificate.hpp>
#include <muster/vocabulary/reason.hpp>

#include "group_lines.hpp"
#include "node_filter_text.hpp"
#include "reason_text.hpp"
#include "report.hpp"

namespace cli {

/// Returns the scope in which the reasons of a gang with this answer are sought.
[[nodiscard]] constexpr muster::certificate_scope scope_of(muster::answer kind) noexcept {
    return kind == muster::answer::never ? muster::certificate_scope::empty_cluster
                                         : muster::certificate_scope::free_now;
}

/// Returns, for each vertex of a gang's tree, the number of members with scheduling gates at or
/// below the vertex.
template<class Traits>
[[nodiscard]] std::vector<std::int64_t> gated_members(const muster::state<Traits>& known,
                                                      muster::gang_index which) {
    const muster::gang_tree& tree = known[which].spec.tree;
    std::vector<std::int64_t> counts(tree.size(), 0);
    for (const muster::pod_index member : known[which].members)
        if (is_gated(known[member]) && known[member].role.value() < counts.size())
            ++counts[known[member].role.value()];
    for (std::size_t vertex = tree.size(); vertex-- > 1;)
        counts[tree[vertex].parent] += counts[vertex];
    return counts;
}

/// Returns the nodes to which other schedulers have nominated members of the gang.
template<class Traits>
[[nodiscard]] std::set<std::string> nominated_to(const muster::state<Traits>& known,
                                                 muster::gang_index which) {
    std::set<std::string> found;
    for (const muster::pod_index member : known[which].members)
        if (const auto& pod = known[member]; is_gated(pod) && pod.nominated && pod.node)
            found.insert(known.key(*pod.node));
    return found;
}

/// Returns the supply of each node for a kind that counts attachments or bytes of storage:
/// attached volumes and those that attachments are kept for ("a 1+1 of 2, b 0 of 1"), limits of
/// attachments in scope `emptied` ("a 2, b 1"), or free bytes ("a 15Gi, b 5Gi"). Lists at most four
/// nodes, those with the most free first. If no node has any storage or device, returns why. Empty
/// for other kinds and if no node has a limit.
template<class Traits>
[[nodiscard]] std::string supply_text(const muster::state<Traits>& known, muster::kind_id kind,
                                      const std::string& name, muster::certificate_scope scope,
                                      const muster::codec::volume_plan& volumes) {
    const bool attachments = !muster::codec::storage_catalog::driver_in(name).empty();
    const auto supply = volumes.kinds.find(name);
    if (supply == volumes.kinds.end())
        return {};
    if (!supply->second.lack.empty())
        return supply->second.lack;
    if (!attachments && !muster::codec::storage_catalog::counts_bytes(name))
        return {};
    const bool now = scope == muster::certificate_scope::free_now;
    std::vector<std::pair<std::int64_t, std::string>> found;
    std::size_t others = 0;
    for (const muster::node_index node : known.node_order()) {
        const std::string& key = known.key(node);
        if (!known[node].present || !supply->second.on.contains(key)) {
            others += known[node].present ? 1U : 0U;
            continue;
        }
        const std::int64_t free = known.accounts().free(node)[kind];
        std::int64_t limit = supply->second.at(key);
        if (const auto apart = supply->second.set_aside.find(key);
            apart != supply->second.set_aside.end())
            limit += apart->second;
        const auto kept = supply->second.kept.find(key);
        const std::int64_t reserved = kept == supply->second.kept.end() ? 0 : kept->second;
        if (!attachments)
            found.emplace_back(free, key + " " + amount_text(name, free));
        else if (now)
            found.emplace_back(free, key + " " + std::to_string(limit - free - reserved) +
                                         (reserved > 0 ? "+" + std::to_string(reserved) : "") +
                                         " of " + std::to_string(limit));
        else
            found.emplace_back(limit, key + " " + std::to_string(limit));
    }
    std::ranges::stable_sort(found, std::ranges::greater{},
                             &std::pair<std::int64_t, std::string>::first);
    constexpr std::size_t most = 4;
    std::string text;
    for (std::size_t at = 0; at < std::min(most, found.size()); ++at)
        text += (at > 0 ? ", " : "") + found[at].second;
    text += muster::codec::more_text(found.size() - std::min(most, found.size()), "node");
    if (attachments && others > 0 && !text.empty())
        text += "; no limit on " + std::to_string(others) +
                (others == 1 ? " other node" : " other nodes");
    return text;
}

/// Returns "gang NAMESPACE/NAME" for a pod that holds room on a node, "pod NAMESPACE/NAME" if it is
/// of no gang, and an empty text for a pod that holds none.
template<class Traits>
[[nodiscard]] std::string holder_text(const muster::state<Traits>& known,
                                      const muster::codec::object_key& pod) {
    const auto at = known.pod_keys().find(pod);
    if (at == known.pod_keys().end() || !known[at->second].charged())
        return {};
    const auto& key = known.key(known[at->second].gang);
    return (key.origin == muster::codec::group_origin::single_pod ? "pod " : "gang ") +
           full_name(key);
}

/// Returns the lines of the reasons why a gang waits, which were found in that scope. `facts` has
/// what the state lacks:
/// - `detail(code)`: what is wrong with the group, or not modelled of its members,
/// - `gates()`: the scheduling gates of its members,
/// - `volumes()`: the volume effects of its waiting members,
/// - `volume_plan()`: those of all pods,
/// - `queue()`: the name of its queue,
/// - `filter_text(key, write)`: `write()`, or what it returned for an equal `node_filter_key`.
/// With `only`, the reasons and facts are those of this member.
template<class Traits, class Facts>
[[nodiscard]] std::vector<reason_line>
reason_lines(const muster::state<Traits>& known, const muster::kind_table& kinds,
             muster::gang_index which, muster::certificate_scope scope,
             const std::vector<muster::reason>& found, const Facts& facts,
             std::optional<muster::pod_index> only = std::nullopt) {
    const auto& gang = known[which];
    const auto& key = known.key(which);
    reason_context context;
    context.kinds = &kinds;
    context.tree = &gang.spec.tree;
    context.scope = scope;
    context.no_nodes = std::ranges::none_of(
        known.node_order(), [&](muster::node_index node) { return known[node].present; });
    context.single_pod = only || key.origin == muster::codec::group_origin::single_pod;
    context.name_space = key.name_space;
    context.group = key.name;
    const bool with_unready = std::ranges::find(found, reason_code::volume_not_ready,
                                                &muster::reason::code) != found.end();
    std::vector<reason_line> lines;
    for (const muster::reason& each : found) {
        reason_line line;
        for (const muster::gang_index owner : each.owners)
            line.kept_for.push_back(full_name(known.key(owner)));
        context.owners = line.kept_for;
        line.code = code_name(each);
        line.kind = kind_name(each.kind);
        line.not_minimal = each.not_minimal;
        context.detail = facts.detail(each.code);
        if (each.code == reason_code::not_enough_members) {
            context.gated = gated_members(known, which);
            context.gates = facts.gates();
            context.nominated_to = nominated_to(known, which);
        }
        // That of another queue may stand in the way.
        context.queue = each.queue ? known.key(*each.queue) : facts.queue();
        if (each.queue && speaks_of_queue(each.code))
            line.queue = context.queue;
        if (each.resource) {
            line.resource = kinds.name(*each.resource);
            line.needed = amount_text(*line.resource, each.amount_needed);
            line.left = amount_text(*line.resource, each.amount_left);
            context.by_node =
                supply_text(known, *each.resource, *line.resource, scope, facts.volume_plan());
            context.counted_high =
                std::ranges::any_of(facts.volumes(), [&](const auto& pod_volumes) {
                    return pod_volumes.second->repeated.contains(*line.resource);
                });
            context.claims = muster::codec::unbound_claims_text(facts.volumes(), *line.resource);
            const auto supply = facts.volume_plan().kinds.find(*line.resource);
            context.keeps_shared =
                supply != facts.volume_plan().kinds.end() && !supply->second.kept.empty();
        }
        if (speaks_of_node_filter(each.code)) {
            const node_filter_key filter{filtered_pods_of(known, which, only, with_unready), scope,
                                         each.code};
            context.node_filter =
                facts.filter_text(filter, [&] { return node_filter_text(known, filter); });
        }
        if (each.code == reason_code::volume_out_of_reach) {
            std::vector<const muster::node<Traits::width>*> nodes;
            for (const muster::node_index node : known.node_order())
                if (known[node].present)
                    nodes.push_back(&known[node].spec);
            context.only_devices = muster::codec::only_devices_restrict(facts.volumes());
            context.volumes = muster::codec::volume_reach_text(facts.volumes(), nodes);
        }
        if (each.code == reason_code::devices_taken) {
            context.numa = muster::codec::numa_share_of(facts.volumes(), facts.volume_plan());
            line.is_about_zones = context.numa == muster::codec::numa_share::all;
            context.asked_devices =
                muster::codec::asked_devices_text(facts.volumes(), facts.volume_plan());
            context.unread_registers =
                muster::codec::unread_registers_text(facts.volumes(), facts.volume_plan());
            context.numa_room = muster::codec::numa_room_text(facts.volumes(), facts.volume_plan());
        }
        if (each.shares_volume)
            context.shared_claims =
                muster::codec::shared_claims_text(facts.volumes(), each.topology);
        if (each.topology == muster::codec::supply_mark)
            context.taken_supplies = muster::codec::taken_supplies_text(
                facts.volumes(), facts.volume_plan(),
                [&](const muster::codec::object_key& pod) { return holder_text(known, pod); });
        const auto holds = [&](const muster::codec::object_key& pod) {
            const auto at = known.pod_keys().find(pod);
            return at != known.pod_keys().end() && known[at->second].charged();
        };
        if (each.topology == muster::codec::cluster_mark)
            context.lone_claims =
                muster::codec::lone_claims_text(facts.volumes(), facts.volume_plan(), holds);
        if (each.topology == muster::codec::node_mark)
            context.disks = muster::codec::disks_text(facts.volumes(), facts.volume_plan(), holds);
        line.message = reason_text(each, context);
        for (const muster::role_shortage& one : each.roles)
            line.roles.push_back({role_name(gang.spec.tree, one.role), one.needed, one.possible});
        lines.push_back(std::move(line));
    }
    return lines;
}

/// Explains the waiting members of a gang that meets its minima, members alike together. `options`
/// names the kinds; `facts_of(pod)` returns the facts of a pod, as reason_lines() needs them.
template<class Traits, class FactsOf>
[[nodiscard]] std::vector<surplus_line>
surplus_lines(const muster::state<Traits>& known, muster::gang_index which,
              muster::explain_options options, const FactsOf& facts_of) {
    options.scope = muster::certificate_scope::free_now;
    std::map<std::pair<muster::vertex_index, muster::shape_index>, std::size_t> line_of;
    std::vector<surplus_line> lines;
    for (const muster::pod_index member : known[which].members) {
        const auto& pod = known[member];
        if (!pod.placeable())
            continue;
        const auto& key = known.key(member);
        const auto [line, fresh] =
            line_of.try_emplace(std::pair(pod.role, pod.shape), lines.size());
        if (fresh)
            lines.push_back({{},
                             reason_lines(known, *options.kinds, which, *options.scope,
                                          muster::explain_member(known, member, options),
                                          facts_of(key), member)});
        lines[line->second].pods.push_back(key.name);
    }
    return lines;
}

/// Returns which surplus members wait, e.g. "a, b wait beyond the minimum".
[[nodiscard]] inline std::string surplus_headline(const surplus_line& of) {
    constexpr std::size_t most = 3;
    std::string pods;
    for (std::size_t at = 0; at < std::min(most, of.pods.size()); ++at)
        pods += (at > 0 ? ", " : "") + of.pods[at];
    if (of.pods.size() > most)
        pods += muster::codec::more_text(of.pods.size() - most, "pod");
    return pods + (of.pods.size() == 1 ? " waits" : " wait") + " beyond the minimum";
}

/// Returns the same for all surplus members of a gang in one line, each with its first reason.
[[nodiscard]] inline std::string surplus_text(const std::vector<surplus_line>& all) {
    std::string text;
    for (const surplus_line& each : all) {
        text += (text.empty() ? "" : "; ") + surplus_headline(each);
        if (!each.reasons.empty())
            text += ": " + each.reasons.front().message;
    }
    return text;
}

} // namespace cli
