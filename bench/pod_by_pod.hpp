// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cluster.hpp"

namespace bench {

/// What A and A2 share: one gang, one pod at a time, minima of all roles in their order, then what
/// is left role by role. False, and all undone, when a minimum is not met. `Nodes` chooses a node
/// and takes or gives back what one pod asks.
template<std::size_t Width, class Nodes>
[[nodiscard]] bool start_pod_by_pod(Nodes& nodes, const gang_spec<Width>& gang,
                                    std::vector<placed>& into) {
    into.clear();
    const auto place = [&](std::size_t role) {
        const amounts<Width>& request = gang.roles[role].request;
        const std::optional<std::uint32_t> node = nodes.choose(request, gang.pool);
        if (!node)
            return false;
        nodes.take(*node, request);
        into.push_back({static_cast<std::uint32_t>(role), *node});
        return true;
    };
    for (std::size_t role = 0; role < gang.roles.size(); ++role) {
        for (std::int64_t left = gang.roles[role].minimum; left > 0; --left) {
            if (place(role))
                continue;
            for (; !into.empty(); into.pop_back())
                nodes.give(into.back().node, gang.roles[into.back().role].request);
            return false;
        }
    }
    for (std::size_t role = 0; role < gang.roles.size(); ++role) {
        std::int64_t left = gang.roles[role].desired - gang.roles[role].minimum;
        while (left > 0 && place(role))
            --left;
    }
    return true;
}

/// Takes or gives back the room of a whole gang.
template<std::size_t Width, class Nodes>
void take_all(Nodes& nodes, const gang_spec<Width>& gang, const std::vector<placed>& members) {
    for (const placed& one : members)
        nodes.take(one.node, gang.roles[one.role].request);
}
template<std::size_t Width, class Nodes>
void give_all(Nodes& nodes, const gang_spec<Width>& gang, const std::vector<placed>& members) {
    for (const placed& one : members)
        nodes.give(one.node, gang.roles[one.role].request);
}

} // namespace bench
