// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/apis/gang_definition.hpp>
#include <muster/apis/gang_member.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/gangs/gang_claims.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Whether a pod's marks make a gang when nothing else in the input describes it. ACK's and
/// Kueue's names without a minimum do not: both belong together.
[[nodiscard]] inline bool stands_alone(const translate::gang_claim& claim) {
    return claim.key != translate::keys::sigs_name && claim.key != translate::keys::koord_name &&
           claim.api != translate::gang_api::kueue;
}

/// A gang whose object the input does not hold, as far as a pod's marks tell: its API and name.
[[nodiscard]] inline gang_definition undescribed_gang(const translate::gang_claim& claim,
                                                      std::string name_space, object_place where) {
    using translate::gang_api;
    using translate::target;
    gang_definition made;
    made.gang.kind = "PodGroup";
    made.gang.name_space = std::move(name_space);
    made.gang.name = claim.group;
    made.where = std::move(where);
    switch (claim.api) {
    case gang_api::none:
    case gang_api::kueue:
        break;
    case gang_api::t9k:
        made.gang.origin = target::t9k;
        break;
    case gang_api::coscheduling:
        made.gang.origin = target::scheduler_plugins;
        break;
    case gang_api::volcano:
        made.gang.origin = target::volcano;
        break;
    case gang_api::kai:
        made.gang.origin = target::kai_0_15;
        break;
    case gang_api::workload:
        // In Kubernetes 1.35 the Workload is named, and a part of it.
        made.gang.origin =
            claim.key == "spec.workloadRef" ? target::workload_1_35 : target::workload_1_37;
        std::ranges::replace(made.gang.name, '/', '-');
        break;
    case gang_api::grove:
        made.gang.kind = "PodGang";
        made.gang.origin = target::grove;
        break;
    }
    return made;
}

/// Nobody says how many members such a gang takes: all pods that name it stand for that, and all
/// pods of a role for the role's minimum. Says so.
inline void require_all(gang_definition& to, const std::vector<gang_member>& members,
                        diagnostics& out) {
    const auto count = static_cast<std::int64_t>(members.size());
    gang_tree tree(count);
    std::vector<std::pair<std::string, std::int64_t>> roles;
    for (const gang_member& each : members) {
        const auto known =
            std::ranges::find(roles, each.role, &std::pair<std::string, std::int64_t>::first);
        if (known == roles.end())
            roles.emplace_back(each.role, 1);
        else
            ++known->second;
    }
    if (roles.size() > 1 || (!roles.empty() && !roles.front().first.empty()))
        for (const auto& [role, size] : roles)
            tree.add(vertex_index{0}, size, role);
    to.gang.tree = std::move(tree);
    report(out, severity::warning, to.where, {},
           "the input does not hold the group " + in_quotes(to.gang.name) +
               " that pods name: its " + std::to_string(count) + " " +
               (count == 1 ? "pod stands" : "pods stand") +
               " for its minimum (expected its object)");
}

} // namespace codec
} // namespace v0_1
} // namespace muster
