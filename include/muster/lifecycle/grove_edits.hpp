// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/grove/set.hpp>
#include <muster/lifecycle/edits.hpp>

namespace muster {
inline namespace v0_1 {
namespace lifecycle {
namespace detail {

[[nodiscard]] inline bool same(const translate::grove_packing& lhs,
                               const translate::grove_packing& rhs) {
    return lhs.topology == rhs.topology && lhs.required == rhs.required &&
           lhs.preferred == rhs.preferred;
}

/// By name: cliques may stand elsewhere after an edit.
[[nodiscard]] inline std::vector<std::string_view>
names_of(const translate::grove_set& set, const std::vector<std::size_t>& cliques) {
    std::vector<std::string_view> made;
    for (const std::size_t at : cliques)
        made.push_back(set.cliques[at].name);
    std::ranges::sort(made);
    return made;
}

} // namespace detail

/// What is wrong with editing a PodCliqueSet; nothing when it is allowed. How many there are of
/// everything, templates of pods and what scales may change; who belongs together, minima, the
/// order of the start, the scheduler, topology and resource claims may not.
[[nodiscard]] inline std::vector<edit_fault> check_edit(const translate::grove_set& before,
                                                        const translate::grove_set& after) {
    std::vector<edit_fault> faults;
    const auto immutable = [&](bool kept, std::string field) {
        if (!kept)
            faults.push_back({std::move(field), "is immutable (expected it as it was)"});
    };
    if (before.name_space != after.name_space || before.name != after.name) {
        faults.push_back({"metadata.name", "is another set's (expected an edit of the same set)"});
        return faults;
    }
    const std::string inner = "spec.template.";
    immutable(before.startup == after.startup, inner + "cliqueStartupType");
    immutable(detail::same(before.packing, after.packing), inner + "topologyConstraint");
    immutable(detail::same(before.claim_templates, after.claim_templates),
              inner + "resourceClaimTemplates");
    immutable(detail::same(before.sharing, after.sharing), inner + "resourceSharing");
    immutable(before.scheduler == after.scheduler, inner + "cliques[].spec.podSpec.schedulerName");
    const auto find = [](const auto& list, std::string_view name) {
        return std::ranges::find_if(list, [&](const auto& each) { return each.name == name; });
    };
    const auto same_names = [&](const auto& lhs, const auto& rhs) {
        return lhs.size() == rhs.size() && std::ranges::all_of(lhs, [&](const auto& each) {
                   return find(rhs, each.name) != rhs.end();
               });
    };
    if (!same_names(before.cliques, after.cliques)) {
        faults.push_back({inner + "cliques", "no clique may come or go (expected those that there "
                                             "were)"});
        return faults;
    }
    const bool ordered = before.startup != translate::grove_startup::any_order;
    immutable(!ordered || std::ranges::equal(before.cliques, after.cliques, {},
                                             &translate::grove_clique::name,
                                             &translate::grove_clique::name),
              inner + "cliques");
    for (const translate::grove_clique& was : before.cliques) {
        const auto is = find(after.cliques, was.name);
        const std::string at = inner + "cliques[" + std::string(was.name) + "].";
        immutable(was.role == is->role, at + "spec.roleName");
        immutable(was.min_available == is->min_available, at + "spec.minAvailable");
        immutable(detail::names_of(before, was.starts_after) ==
                      detail::names_of(after, is->starts_after),
                  at + "spec.startsAfter");
        immutable(detail::same(was.packing, is->packing), at + "topologyConstraint");
        immutable(detail::same(was.sharing, is->sharing), at + "resourceSharing");
    }
    if (!same_names(before.groups, after.groups)) {
        faults.push_back({inner + "podCliqueScalingGroups",
                          "no scaling group may come or go (expected those that there were)"});
        return faults;
    }
    for (const translate::grove_scaling_group& was : before.groups) {
        const auto is = find(after.groups, was.name);
        const std::string at = inner + "podCliqueScalingGroups[" + std::string(was.name) + "].";
        immutable(detail::names_of(before, was.cliques) == detail::names_of(after, is->cliques),
                  at + "cliqueNames");
        immutable(was.min_available == is->min_available, at + "minAvailable");
        immutable(detail::same(was.packing, is->packing), at + "topologyConstraint");
        immutable(detail::same(was.sharing, is->sharing), at + "resourceSharing");
    }
    return faults;
}

} // namespace lifecycle
} // namespace v0_1
} // namespace muster
