// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/apis/core/claims/device_claims.hpp>
#include <muster/apis/core/claims/device_counter.hpp>
#include <muster/apis/core/volumes/volume_plan.hpp>
#include <muster/vocabulary/device_rule.hpp>
#include <muster/vocabulary/pod_terms.hpp>

namespace muster {
inline namespace v0_1 {
namespace codec {

/// Clears `shared_as` of each claim that only one waiting pod uses. Pods that wait for
/// another claim do not count. O(claims × log claims).
inline void find_shared_claims(std::vector<device_counter::demand>& demands) {
    std::map<std::string, std::set<const pod_object*>> users;
    for (const device_counter::demand& each : demands)
        for (const unallocated_claim& claim : each.claims)
            if (!claim.shared_as.empty() && !each.waits)
                users[claim.shared_as].insert(each.pod);
    for (device_counter::demand& each : demands)
        for (unallocated_claim& claim : each.claims)
            if (!claim.shared_as.empty() && users[claim.shared_as].size() < 2)
                claim.shared_as.clear();
}

/// Keeps pods that share a claim on one node: a claim is allocated once, and its devices are of one
/// node. Call after device_counter::count(). Pods that got no demand from it wait in any case, and
/// are left out. O(claims).
inline void keep_sharers_together(const std::vector<device_counter::demand>& demands,
                                  volume_plan& into) {
    for (const device_counter::demand& each : demands) {
        const auto effects = into.pods.find(each.pod->metadata.key);
        if (effects == into.pods.end() || effects->second.devices == device_demand::none)
            continue;
        volume_effects& to = effects->second;
        for (const unallocated_claim& claim : each.claims) {
            const std::string mark = std::string(shared_claim_mark) + claim.shared_as;
            if (claim.shared_as.empty() || claim.spec->asks.requests.empty() ||
                to.labels.find(mark))
                continue;
            to.labels.set(mark, "shared");
            affinity_term term;
            term.pods.labels.requirements.push_back({mark, label_operator::exists, {}});
            term.topology = volume_node_label;
            term.of_volume = true;
            to.near.push_back(std::move(term));
            into.marks_nodes = true;
        }
    }
}

} // namespace codec
} // namespace v0_1
} // namespace muster
