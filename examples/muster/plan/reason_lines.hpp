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
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/apis/core/volumes/volume_words.hpp>
#include <muster/base/short_text.hpp>
#include <muster/cluster/state.hpp>
#include <muster/explain/explain_member.hpp>
#include <muster/resource/kind_table.hpp>
#include <muster/resource/storage_kinds.hpp>
#include <muster/vocabulary/certificate.hpp>
#include <muster/vocabulary/pod_terms.hpp>
#include <muster/vocabulary/reason.hpp>
#include <muster/words/amount_text.hpp>
#include <muster/words/node_filter_text.hpp>
#include <muster/words/reason_context.hpp>
#include <muster/words/surplus_text.hpp>
#include <muster/words/told_reason.hpp>

#include "group_lines.hpp"
#include "report.hpp"

namespace cli {

/// Returns the scope in which the reasons of a gang with this answer are sought.
[[nodiscard]] constexpr muster::certificate_scope scope_of(muster::answer kind) noexcept {
    return kind == muster::answer::never ? muster::certificate_scope::empty_cluster
                                         : muster::certificate_scope::free_now;
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
    const bool attachments = !muster::storage_kinds::driver_in(name).empty();
    const auto supply = volumes.kinds.find(name);
    if (supply == volumes.kinds.end())
        return {};
    if (!supply->second.lack.empty())
        return supply->second.lack;
    if (!attachments && !muster::storage_kinds::counts_bytes(name))
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
            found.emplace_back(free, key + " " + muster::words::amount_text(name, free));
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
    text += muster::more_text(found.size() - std::min(most, found.size()), "node");
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

/// Adds to the context of a reason what the state lacks, from `facts` of the gang:
/// - `detail(code)`: what is wrong with the group, or which constraints are not modelled,
/// - `gates()`: the scheduling gates of its members,
/// - `volumes()`: the volume effects of its waiting members,
/// - `volume_plan()`: those of all pods,
/// - `queue()`: the name of its queue,
/// - `filter_text(key, write)`: `write()`, or what it returned for an equal `node_filter_key`.
template<class Traits, class Facts>
class reason_details {
public:
    reason_details(const muster::state<Traits>& known, muster::gang_index which,
                   muster::certificate_scope scope, const Facts& facts)
        : known_(&known), which_(which), scope_(scope), facts_(&facts) {}

    void operator()(const muster::reason& what, muster::words::reason_context& to) const {
        const auto& key = known_->key(which_);
        to.name_space = key.name_space;
        to.group = key.name;
        to.detail = facts_->detail(what.code);
        if (what.code == muster::reason_code::not_enough_members)
            to.gates = facts_->gates();
        if (!what.queue)
            to.queue = facts_->queue();
        if (what.resource)
            add_supply(to.kinds->name(*what.resource), *what.resource, to);
        if (what.code == muster::reason_code::volume_out_of_reach)
            add_reach(to);
        if (what.code == muster::reason_code::devices_taken)
            add_devices(to);
        if (what.shares_volume)
            to.shared_claims = muster::codec::shared_claims_text(facts_->volumes(), what.topology);
        add_conflicts(what, to);
    }

    template<class Write>
    [[nodiscard]] std::string filter_text(const muster::words::node_filter_key& key,
                                          const Write& write) const {
        return facts_->filter_text(key, write);
    }

private:
    void add_supply(const std::string& kind, muster::kind_id column,
                    muster::words::reason_context& to) const {
        to.by_node = supply_text(*known_, column, kind, scope_, facts_->volume_plan());
        to.counted_high = std::ranges::any_of(facts_->volumes(), [&](const auto& pod_volumes) {
            return pod_volumes.second->repeated.contains(kind);
        });
        to.claims = muster::codec::unbound_claims_text(facts_->volumes(), kind);
        const auto supply = facts_->volume_plan().kinds.find(kind);
        to.keeps_shared =
            supply != facts_->volume_plan().kinds.end() && !supply->second.kept.empty();
    }

    void add_reach(muster::words::reason_context& to) const {
        std::vector<const muster::node<Traits::width>*> nodes;
        for (const muster::node_index node : known_->node_order())
            if ((*known_)[node].present)
                nodes.push_back(&(*known_)[node].spec);
        to.only_devices = muster::codec::only_devices_restrict(facts_->volumes());
        to.volumes = muster::codec::volume_reach_text(facts_->volumes(), nodes);
    }

    void add_devices(muster::words::reason_context& to) const {
        const auto& volumes = facts_->volumes();
        const auto& plan = facts_->volume_plan();
        const auto zones = muster::codec::numa_share_of(volumes, plan);
        to.asks_devices = zones != muster::codec::numa_share::all;
        to.asks_zones = zones != muster::codec::numa_share::none;
        to.asked_devices = muster::codec::asked_devices_text(volumes, plan);
        to.unread_registers = muster::codec::unread_registers_text(volumes, plan);
        to.numa_room = muster::codec::numa_room_text(volumes, plan);
    }

    void add_conflicts(const muster::reason& what, muster::words::reason_context& to) const {
        const auto holds = [&](const muster::codec::object_key& pod) {
            const auto at = known_->pod_keys().find(pod);
            return at != known_->pod_keys().end() && (*known_)[at->second].charged();
        };
        if (what.topology == muster::volume_supply_label)
            to.taken_supplies = muster::codec::taken_supplies_text(
                facts_->volumes(), facts_->volume_plan(),
                [&](const muster::codec::object_key& pod) { return holder_text(*known_, pod); });
        if (what.topology == muster::volume_cluster_label)
            to.lone_claims =
                muster::codec::lone_claims_text(facts_->volumes(), facts_->volume_plan(), holds);
        if (what.topology == muster::volume_node_label)
            to.disks = muster::codec::disks_text(facts_->volumes(), facts_->volume_plan(), holds);
    }

    const muster::state<Traits>* known_;
    muster::gang_index which_;
    muster::certificate_scope scope_;
    const Facts* facts_;
};

/// Returns why a gang waits, as text. `found`: the reasons of that scope. `facts`: see
/// `reason_details`. With `only`, the reasons and facts are those of this member.
template<class Traits, class Facts>
[[nodiscard]] std::vector<reason_line>
reason_lines(const muster::state<Traits>& known, const muster::kind_table& kinds,
             muster::gang_index which, muster::certificate_scope scope,
             const std::vector<muster::reason>& found, const Facts& facts,
             std::optional<muster::pod_index> only = std::nullopt) {
    const bool single_pod = known.key(which).origin == muster::codec::group_origin::single_pod;
    return muster::words::tell_reasons(known, which, found, {&kinds, scope, only, single_pod},
                                       full_names(known),
                                       reason_details(known, which, scope, facts));
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

/// Returns which surplus members of a gang wait, in one line, each with its first reason.
[[nodiscard]] inline std::string surplus_text(const std::vector<surplus_line>& all) {
    std::string text;
    for (const surplus_line& each : all) {
        text += (text.empty() ? "" : "; ") + muster::words::surplus_text(each.pods);
        if (!each.reasons.empty())
            text += ": " + each.reasons.front().message;
    }
    return text;
}

} // namespace cli
