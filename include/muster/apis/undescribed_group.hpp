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

#include <muster/apis/gang_apis.hpp>
#include <muster/apis/gang_definition.hpp>
#include <muster/apis/gang_member.hpp>
#include <muster/document/diagnostic.hpp>
#include <muster/gangs/gang_claims.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Whether a pod's marks make a gang when nothing else in the input describes it.
[[nodiscard]] inline bool stands_alone(const translate::gang_claim& claim) {
    bool alone = true;
    apis::find_api([&]<class Api>() {
        if constexpr (requires { Api::stands_alone(claim); })
            alone = alone && (Api::facts.api != claim.api || Api::stands_alone(claim));
        return false;
    });
    return alone;
}

/// A gang whose object the input does not hold, as far as a pod's marks tell: its API and name.
[[nodiscard]] inline gang_definition undescribed_gang(const translate::gang_claim& claim,
                                                      std::string name_space, object_place where) {
    gang_definition made;
    made.gang.kind = "PodGroup";
    made.gang.name_space = std::move(name_space);
    made.gang.name = claim.group;
    made.where = std::move(where);
    apis::find_api([&]<class Api>() {
        if constexpr (requires { Api::describe(claim, made); })
            if (Api::facts.api == claim.api)
                Api::describe(claim, made);
        return false;
    });
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
