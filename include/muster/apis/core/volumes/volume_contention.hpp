// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/volumes/storage_objects.hpp>
#include <muster/apis/core/volumes/volume_demand.hpp>
#include <muster/vocabulary/constraints.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {
namespace detail {

/// Volumes that the same claims could get, at the same nodes.
struct volume_group {
    std::vector<std::size_t> claims;
    std::size_t volumes = 0;
};

[[nodiscard]] inline std::vector<volume_group>
group_volumes(const std::vector<volume_demand>& demands,
              const std::vector<const volume_object*>& volumes, std::string_view storage_class) {
    std::map<claim_request, std::vector<std::size_t>> shapes;
    for (std::size_t at = 0; at < demands.size(); ++at)
        shapes[*demands[at].asks].push_back(at);
    std::map<std::pair<std::vector<std::size_t>, std::optional<std::vector<node_term>>>,
             std::size_t>
        found;
    for (const volume_object* const volume : volumes) {
        std::vector<std::size_t> suited;
        for (const auto& [asks, of] : shapes)
            if (!volume->claim && satisfies(*volume, demands[of.front()], storage_class))
                suited.insert(suited.end(), of.begin(), of.end());
        if (!suited.empty())
            ++found[{std::move(suited), volume->nodes}];
    }
    std::vector<volume_group> groups;
    for (const auto& [group, count] : found)
        groups.push_back({group.first, count});
    return groups;
}

} // namespace detail

/// Returns the claims that may not all get what they would like: of some volumes that are alike
/// there are fewer than claims that could have one. Pods that share a claim must not get two
/// volumes. O(shapes of claims × volumes + claims²).
[[nodiscard]] inline std::set<std::size_t>
contended_claims(const std::vector<volume_demand>& demands,
                 const std::vector<const volume_object*>& volumes, std::string_view storage_class) {
    const auto groups = detail::group_volumes(demands, volumes, storage_class);
    std::set<std::size_t> found;
    for (const detail::volume_group& each : groups)
        for (const std::size_t claim : each.claims)
            if (each.claims.size() > each.volumes || demands[claim].is_shared())
                found.insert(claim);
    // A claim that has a choice in common with one of them takes part in sharing out.
    for (bool grew = !found.empty(); grew;) {
        grew = false;
        for (const detail::volume_group& each : groups)
            if (std::ranges::any_of(each.claims,
                                    [&](std::size_t claim) { return found.contains(claim); }))
                for (const std::size_t claim : each.claims)
                    grew |= found.insert(claim).second;
    }
    return found;
}

} // namespace codec
} // namespace v0_1
} // namespace muster
