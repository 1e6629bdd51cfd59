// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <muster/base/short_text.hpp>
#include <muster/vocabulary/pod_terms.hpp>
#include <muster/vocabulary/reason.hpp>
#include <muster/words/reason_context.hpp>
#include <muster/words/role_clauses.hpp>

namespace muster {
inline namespace v0_1 {
namespace words {
namespace detail {

/// Returns the noun for nodes with one value of a label: "zone" for topology.kubernetes.io/zone.
[[nodiscard]] inline std::string domain_noun(const std::string& label) {
    for (const char* noun : {"zone", "region"})
        if (label.ends_with("kubernetes.io/" + std::string(noun)))
            return noun;
    return label == "kubernetes.io/hostname" || label == volume_node_label ? "node"
                                                                           : "domain of " + label;
}

[[nodiscard]] inline std::string will_be_in_one(const std::string& noun) {
    return (noun == "node" ? " will be on one " : " will be in one ") + noun;
}

/// Returns, for each domain of the shared claims, the number of members that fit and the kinds of
/// which the domain has too little. Lists at most four domains, the roomiest first.
[[nodiscard]] inline std::string volume_domains(const reason& what, const reason_context& context) {
    std::string needed;
    for (const role_shortage& one : what.roles)
        if (one.role == *what.together)
            needed = " of " + std::to_string(one.needed);
    std::string out =
        role_prefix(context, *what.together) +
        (context.shared_claims.empty() ? "a volume that the pods share" : context.shared_claims) +
        will_be_in_one(domain_noun(what.topology)) + ": ";
    if (what.domains.empty())
        return out + "no node has the label " + what.topology;
    std::vector<domain_room> rooms = what.domains;
    std::ranges::stable_sort(rooms, std::ranges::greater{}, &domain_room::possible);
    constexpr std::size_t max_listed = 4;
    const std::size_t listed = std::min(max_listed, rooms.size());
    for (std::size_t at = 0; at < listed; ++at) {
        out += (at > 0 ? ", " : "") + rooms[at].name + (at > 0 ? " for " : " has room for ") +
               std::to_string(rooms[at].possible) + needed;
        std::string kinds;
        for (const kind_id kind : rooms[at].short_of)
            kinds += (kinds.empty() ? "" : ", ") + context.kinds->name(kind);
        out += kinds.empty() ? "" : " (too little " + kinds + ")";
    }
    return out + more_text(rooms.size() - listed, "other");
}

/// The text of `topology_fragmented`: how many of the vertex's members the roomiest domain takes.
[[nodiscard]] inline std::string topology_shortage(const reason& what,
                                                   const reason_context& context) {
    if (what.shares_volume)
        return volume_domains(what, context);
    const auto& how = *(*context.tree)[*what.together].together;
    const std::string domain = "one domain of " + how.within.levels[*how.required];
    if (what.spans_domains)
        return role_prefix(context, *what.together) + "the members that hold are not in " + domain +
               ", so no member can join them";
    const std::string lead =
        role_prefix(context, *what.together) + subject(context) + " must stand in " + domain;
    for (const role_shortage& one : what.roles)
        if (one.role == *what.together)
            return lead + ": " + needed_members(one, true) + " needed, the roomiest has room for " +
                   std::to_string(one.possible);
    return lead + role_shortages(what, context);
}

/// The text of `spread_uneven`, without the counts.
[[nodiscard]] inline std::string uneven_spread(const reason& what) {
    if (what.unlabelled == 0)
        return "nodes would make the spread over " + what.topology + " uneven";
    if (what.unlabelled == what.nodes)
        return "nodes lack the label " + what.topology + ", over which pods are spread";
    return "nodes would make the spread over " + what.topology + " uneven, or lack that label (" +
           std::to_string(what.unlabelled) + ")";
}

/// Says how many nodes a pod term rules out, and which roles are short.
[[nodiscard]] inline std::string ruled_out(const reason& what, const reason_context& context) {
    return ": " + std::to_string(what.nodes) + " that would do otherwise" +
           role_shortages(what, context);
}

} // namespace detail
} // namespace words
} // namespace v0_1
} // namespace muster
